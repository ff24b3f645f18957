import type { Message, Messages } from '../../messages/index.ts';
import type { Conversation } from '../index.ts';
import type { PromptMessage } from './prompt.ts';
import type { Reporter } from './prompt-writer.ts';
import { countInstructions, PromptWriter } from './prompt-writer.ts';
import type { Reader } from './to-file-part.ts';

interface Entry {
  readonly writer: WeakRef<PromptWriter>;
  /** Keeps the writer in memory; undefined while nobody is expected to continue the conversation soon. */
  kept: PromptWriter | undefined;
}

const getWriter = ({ kept, writer }: Entry): PromptWriter | undefined => kept ?? writer.deref();

/** Conversations with the same first message among which those that may be over are still looked for. */
const mostEntries = 32;

/**
 * The prompts of one model, each with what was converted for its conversation before. A conversation is known by its messages, so
 * it does not matter who drives it, and what is kept for it is dropped with its messages.
 */
export class PromptCache {
  readonly #reader: Reader;
  /** By the first message after the instructions. A run that is begun again has the same; so have branches of one conversation. */
  readonly #entries = new WeakMap<Message, Entry[]>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** Writes the prompt of a conversation, and reports what was left out. */
  write(conversation: Conversation, reporter: Reporter): readonly PromptMessage[] {
    const entry = this.#find(conversation.messages);
    const writer = (entry && getWriter(entry)) ?? this.#add(conversation.messages);
    if (entry !== undefined) entry.kept = writer;
    return writer.write(conversation, reporter);
  }

  /** Lets go of what was converted if memory is needed: the conversation may be over, and idle ones would hold it twice. */
  release({ messages }: Conversation): void {
    const entry = this.#find(messages);
    if (entry !== undefined) entry.kept = undefined;
  }

  #find(messages: Messages): Entry | undefined {
    const instructions = countInstructions(messages);
    const first = messages.at(instructions);
    const entries = first && this.#entries.get(first);
    if (entries === undefined) return undefined;
    return (
      entries.findLast((entry) => getWriter(entry)?.isContinuedBy(messages, instructions)) ??
      // Changed in the middle, or taken up again at an earlier step. Others that only begin alike keep what they have.
      entries.findLast((entry) => getWriter(entry)?.hasMostIn(messages, instructions))
    );
  }

  #add(messages: Messages): PromptWriter {
    const writer = new PromptWriter(this.#reader);
    const first = messages.at(countInstructions(messages));
    if (first === undefined) return writer;
    const entries = this.#entries.get(first) ?? [];
    const current = entries.length < mostEntries ? entries : entries.filter(({ kept }) => kept !== undefined);
    current.push({ writer: new WeakRef(writer), kept: writer });
    this.#entries.set(first, current);
    return writer;
  }
}
