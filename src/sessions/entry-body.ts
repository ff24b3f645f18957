// What stands in an entry of the log.
// B1. An entry holds what somebody did, what it made of the state, or both.
import type { JsonObject } from '../lib/index.ts';
import { readObject } from '../lib/index.ts';
import type { Act, RecordedAct } from './act.ts';
import type { LogEntry, SessionStore } from './session-store.ts';

export interface EntryBody {
  readonly act?: Act;
  /** True where the act came while a run was under way: it waits until an entry takes it in. */
  readonly isQueued?: boolean;
  /** The entries whose acts are taken in here. */
  readonly taken?: readonly number[];
  /** The execution that took the act in, or the acts. */
  readonly execution?: number;
  /** The entries whose acts could not be used, and why. */
  readonly dropped?: readonly { readonly entry: number; readonly why: string; readonly code?: string }[];
  /** What has become of the state. */
  readonly change?: JsonObject;
  /** The whole state as text, in an entry that is a snapshot. */
  readonly state?: string;
}

export const writeBody = (body: EntryBody): string => JSON.stringify(body);

/** Reads a body. That an act is whole is for its writer to know: the store has checked that nothing was changed. */
export function readBody(text: string): EntryBody {
  return readObject(JSON.parse(text), 'entry').raw;
}

/** All entries from one on, page by page. */
export async function entriesFrom(store: SessionStore, sessionId: string, first: number): Promise<readonly LogEntry[]> {
  const all: LogEntry[] = [];
  for (;;) {
    const page = await store.entries(sessionId, { from: first + all.length });
    if (page.length === 0) return all;
    all.push(...page);
  }
}

/** What was done to a session, in its order, with what became of what could not be used. */
export function recordedActs(entries: readonly LogEntry[]): readonly RecordedAct[] {
  const bodies = entries.map(({ n, body, requestId }) => ({ n, requestId, ...readBody(body) }));
  const refused = new Map(bodies.flatMap(({ dropped = [] }) => dropped.map(({ entry, why }) => [entry, why] as const)));
  return bodies.flatMap(({ n: entry, act, requestId }) => {
    if (act === undefined) return [];
    const why = refused.get(entry);
    return [{ ...act, entry, ...(requestId !== undefined && { requestId }), ...(why !== undefined && { refused: why }) }];
  });
}
