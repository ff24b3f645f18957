import type { Message } from '../../messages/index.ts';
import type { PromptMessage } from './prompt.ts';
import { countInstructions, PromptWriter } from './prompt-writer.ts';
import type { Reader } from './to-file-part.ts';

interface Entry {
  readonly writer: PromptWriter;
  /** The messages under which the entry is found. */
  keys: readonly Message[];
}

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
  write(messages: readonly Message[], warn: (message: string) => void): readonly PromptMessage[] {
    const instructions = countInstructions(messages);
    const entry = this.#find(messages, instructions) ?? { writer: new PromptWriter(this.#reader), keys: [] };
    const prompt = entry.writer.write(messages, warn);
    this.#register(entry, messages[instructions]);
    return prompt;
  }

  #find(messages: readonly Message[], instructions: number): Entry | undefined {
    // By its newest message first: it survives compaction, and conversations that begin alike do not share it.
    const oldest = Math.max(instructions, messages.length - searchedMessages);
    for (let index = messages.length - 1; index >= oldest; index -= 1) {
      const message = messages[index];
      const entry = message && this.#entries.get(message);
      if (entry?.writer.last === message) return entry;
    }
    const first = messages[instructions];
    const entry = first && this.#entries.get(first);
    // Another conversation that began with the same message keeps what it has.
    const isSame = entry !== undefined && entry.writer.countCommon(messages, instructions) * 2 > entry.writer.length;
    return isSame ? entry : undefined;
  }

  #register(entry: Entry, first: Message | undefined): void {
    const { last } = entry.writer;
    for (const key of entry.keys) if (this.#entries.get(key) === entry) this.#entries.delete(key);
    entry.keys = [first, last].filter((key) => key !== undefined);
    for (const key of entry.keys) this.#entries.set(key, entry);
  }
}
