import type { Message, MessageStore } from '../../messages/index.ts';
import { SectionName } from '../../messages/index.ts';
import { listCuts, findBegin } from './move-messages.ts';
import type { Settings } from './options.ts';

/** Plan for a conversation that has outgrown its bounds. */
export interface Plan {
  /** Leave the window for the buffer. */
  readonly moved: readonly Message[];
  /** Stay in the window. */
  readonly kept: readonly Message[];
  /** The whole buffer, with what moved. */
  readonly buffer: readonly Message[];
  /** Become the summary, together with the old one; none if the buffer has room. */
  readonly folded: readonly Message[];
}

/** Counts the tokens of messages together. */
export function countAll(messages: Iterable<Message>, { countTokens }: Pick<Settings, 'countTokens'>): number {
  let sum = 0;
  for (const message of messages) sum += countTokens(message);
  return sum;
}

/** Words of a person: not what tools gave, nor what the runtime said in the user's place. */
const isFromUser = (message: Message): boolean => message.isUser() && message.metadata['purpose'] === undefined;

/** Plans a compaction; undefined if everything fits. */
export function createPlan(store: MessageStore, settings: Settings): Plan | undefined {
  const { maxTokens, maxBufferTokens, countTokens: count } = settings;
  const [buffer, messages] = [store.section(SectionName.Buffer), store.section(SectionName.Messages)];
  const isTooLarge = countAll(messages, settings) > maxTokens;
  if (!isTooLarge && countAll(buffer, settings) <= maxBufferTokens) return undefined;
  const conversation = [...buffer, ...messages];
  const begin = findBegin({ conversation, begin: buffer.length, maxTokens, count });
  // A call at the end of the buffer whose result came later is left there with it.
  const foldTo = listCuts(conversation).findLast((place) => place <= begin) ?? 0;
  const lastWords = conversation.findLast(isFromUser);
  const foldable = conversation.slice(0, foldTo).filter((message) => message !== lastWords);
  const isFull = countAll(foldable, settings) > maxBufferTokens;
  if (!isTooLarge && !isFull) return undefined;
  return {
    moved: conversation.slice(buffer.length, begin),
    kept: conversation.slice(begin),
    buffer: conversation.slice(0, begin),
    folded: isFull ? foldable : [],
  };
}

/** Returns the conversation with the moved messages in the buffer; the same one if none moved. */
export function withMoved(store: MessageStore, { moved, kept, buffer }: Plan): MessageStore {
  return moved.length === 0 ? store : store.withSection(SectionName.Buffer, buffer).withSection(SectionName.Messages, kept);
}

/** Returns the conversation with a summary instead of the messages that were folded into it. */
export function withSummary(store: MessageStore, { buffer, folded }: Plan, summary: Message): MessageStore {
  const gone = new Set(folded);
  const left = buffer.filter((message) => !gone.has(message));
  return store.withSection(SectionName.Summary, [summary]).withSection(SectionName.Buffer, left);
}
