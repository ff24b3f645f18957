// Messages that the server has accepted and nobody has applied yet, by session. They outlive a reload: one that is refused after all goes
// back to the field.
import { keep, readKept } from '../app/tab-storage.ts';

/** A message that the server has accepted. */
export interface SentMessage {
  readonly text: string;
  readonly requestId: string;
  /** Number of messages by people that were shown before it. */
  readonly before: number;
}

const toName = (sessionId: string): string => `sent ${sessionId}`;

/** Reads the messages of a session that are not settled. */
export function readSent(sessionId: string): readonly SentMessage[] {
  try {
    // Holds: keepSent() wrote them.
    return JSON.parse(readKept(toName(sessionId)) || '[]') as readonly SentMessage[];
  } catch {
    return [];
  }
}

/** Keeps the messages of a session that are not settled. */
export const keepSent = (sessionId: string, sent: readonly SentMessage[]): void =>
  keep(toName(sessionId), sent.length === 0 ? '' : JSON.stringify(sent));
