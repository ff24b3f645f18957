import type { Message } from '../../messages/index.ts';
import type { PromptMessage } from './prompt.ts';
import type { Reporter } from './prompt-writer.ts';
import { countInstructions, PromptWriter } from './prompt-writer.ts';
import type { Reader } from './to-file-part.ts';

interface Entry {
  readonly writer: WeakRef<PromptWriter>;
  /** Keeps the writer in memory; undefined while nobody is expected to continue the conversation soon. */
  kept: PromptWriter | undefined;
  /** The messages under which the entry is found: the first of the conversation, and the newest that is converted for good. */
  first: Message | undefined;
  last: Message | undefined;
}

const getWriter = ({ kept, writer }: Entry): PromptWriter | undefined => kept ?? writer.deref();

/** The new messages of a step stand between the end and the newest message that was converted: so many calls are made at once. */
const searchedMessages = 100;

/**
 * The prompts of one model, each with what was converted for its conversation before. A conversation is known by its messages, so
 * it does not matter who drives it, and what is kept for it is dropped with its messages.
 */
export class PromptCache {
  readonly #reader: Reader;
  readonly #entries = new WeakMap<Message, Entry>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** Writes the prompt of a conversation, and reports what was left out. */
  write(messages: readonly Message[], reporter: Reporter): readonly PromptMessage[] {
    const instructions = countInstructions(messages);
    const found = this.#find(messages, instructions);
    const writer = (found && getWriter(found)) ?? new PromptWriter(this.#reader);
    const entry: Entry = found ?? { writer: new WeakRef(writer), kept: writer, first: undefined, last: undefined };
    entry.kept = writer;
    const prompt = writer.write(messages, reporter);
    this.#register(entry, messages[instructions], writer.last);
    return prompt;
  }

  /** Lets go of what was converted if memory is needed: the conversation may be over, and idle ones would hold it twice. */
  release(messages: readonly Message[]): void {
    const entry = this.#find(messages, countInstructions(messages));
    if (entry !== undefined) entry.kept = undefined;
  }

  #find(messages: readonly Message[], instructions: number): Entry | undefined {
    // By its newest message first: it survives compaction, and conversations that begin alike do not share it.
    const oldest = Math.max(instructions, messages.length - searchedMessages);
    for (let index = messages.length - 1; index >= oldest; index -= 1) {
      const message = messages[index];
      const entry = message && this.#entries.get(message);
      if (entry !== undefined && entry.last === message && getWriter(entry) !== undefined) return entry;
    }
    const first = messages[instructions];
    const entry = first && this.#entries.get(first);
    const writer = entry && getWriter(entry);
    // Another conversation that began with the same message keeps what it has.
    return writer !== undefined && writer.countCommon(messages, instructions) * 2 > writer.length ? entry : undefined;
  }

  #register(entry: Entry, first: Message | undefined, last: Message | undefined): void {
    const before = { first: entry.first, last: entry.last };
    entry.first = first;
    entry.last = last;
    if (first !== before.first) this.#forget(before.first, entry);
    if (last !== before.last) this.#forget(before.last, entry);
    if (first !== undefined && first !== before.first) this.#entries.set(first, entry);
    if (last !== undefined && last !== before.last) this.#entries.set(last, entry);
  }

  #forget(key: Message | undefined, entry: Entry): void {
    if (key === undefined || key === entry.first || key === entry.last) return;
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }
}
