// Where the answers of a session are in its log: each begins with a message, and ends before the next.
import type { SessionRuntime, StoredEvent, StoredEventOf } from '../../../sessions/index.ts';

/** The place of an answer in the log of its session. */
export interface AnswerPlace {
  /** Id of the assistant's message. The same whenever it is read, and never used for another answer. */
  readonly id: string;
  /** Id of the message that it answers. */
  readonly messageId: string;
  /** The event of that message. */
  readonly message: StoredEventOf<'UserMessageReceived'>;
}

const isMessage = (event: StoredEvent): event is AnswerPlace['message'] => event.type === 'UserMessageReceived';

const prefix = 'answer/';

/** True for an id that an answer has, or may get. */
export const isAnswerId = (id: string): boolean => id.startsWith(prefix);

/** Returns the place of the answer to a message. */
export const toAnswerPlace = (message: AnswerPlace['message']): AnswerPlace => ({
  id: `${prefix}${message.id}`,
  messageId: message.messageId,
  message,
});

/** Lists the answers of a session in their order. */
export async function listAnswers(runtime: Pick<SessionRuntime, 'events'>, sessionId: string): Promise<readonly AnswerPlace[]> {
  const places: AnswerPlace[] = [];
  for await (const event of runtime.events(sessionId)) if (isMessage(event)) places.push(toAnswerPlace(event));
  return places;
}

/** Waits until a message has joined the conversation, and returns the place of its answer; undefined if the reader leaves before. */
export async function awaitAnswer(
  runtime: Pick<SessionRuntime, 'events'>,
  sessionId: string,
  { messageId, fromSeq, signal }: { readonly messageId?: string; readonly fromSeq: number; readonly signal: AbortSignal },
): Promise<AnswerPlace | undefined> {
  for await (const event of runtime.events(sessionId, { fromSeq, follow: true, signal }))
    if (isMessage(event) && (messageId === undefined || event.messageId === messageId)) return toAnswerPlace(event);
  return undefined;
}
