// The prompts of one model
// Owns:     what was converted for each conversation before, and how long it is kept.
// Does not: know who drives a conversation. It is known by its messages.
// K1. While a model calls tools, its conversation is kept for as long as its messages are: it continues.
// K2. After any other answer it may be over, and an idle one would hold its messages twice. Only the last of these is kept.
// K3. Of conversations that begin with the same message, the latest are kept, up to a number: that message may live as long as the program.
// K4. No WeakRef is made: an engine keeps what it refers to until the event loop turns, and many conversations may end before that.
import type { Message, Messages } from '../../messages/index.ts';
import type { Conversation } from '../index.ts';
import type { PromptMessage } from './prompt.ts';
import type { Reporter } from './prompt-writer.ts';
import { countInstructions, PromptWriter } from './prompt-writer.ts';
import type { Reader } from './to-file-part.ts';

const mostBranches = 100;

interface Entry {
  /** First message after the instructions. */
  readonly first: Message;
  readonly writer: PromptWriter;
}

/** The prompts of one model, each with what was converted for its conversation before. */
export class PromptCache {
  readonly #reader: Reader;
  /** By the first message after the instructions. A run that is begun again has the same; so have branches of one conversation. */
  readonly #entries = new WeakMap<Message, Entry[]>();
  /** The last conversation that may be over. */
  #resting: Entry | undefined;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** Writes the prompt of a conversation, and reports what was left out. */
  write(conversation: Conversation, reporter: Reporter): readonly PromptMessage[] {
    const entry = this.#find(conversation.messages);
    if (entry !== undefined && entry === this.#resting) this.#resting = undefined;
    const writer = entry?.writer ?? this.#add(conversation.messages);
    return writer.write(conversation, reporter);
  }

  /** Notes that a conversation may be over. */
  release({ messages }: Conversation): void {
    const entry = this.#find(messages);
    if (entry === undefined || entry === this.#resting) return;
    if (this.#resting !== undefined) this.#drop(this.#resting);
    this.#resting = entry;
  }

  #find(messages: Messages): Entry | undefined {
    const instructions = countInstructions(messages);
    const first = messages.at(instructions);
    const entries = first && this.#entries.get(first);
    if (entries === undefined) return undefined;
    return (
      entries.findLast(({ writer }) => writer.isContinuedBy(messages, instructions)) ??
      // Changed in the middle, or taken up again at an earlier step. Others that only begin alike keep what they have.
      entries.findLast(({ writer }) => writer.hasMostIn(messages, instructions))
    );
  }

  #add(messages: Messages): PromptWriter {
    const writer = new PromptWriter(this.#reader);
    const first = messages.at(countInstructions(messages));
    if (first === undefined) return writer;
    const entries = this.#entries.get(first);
    if (entries === undefined) this.#entries.set(first, [{ first, writer }]);
    else {
      if (entries.length === mostBranches) entries.shift();
      entries.push({ first, writer });
    }
    return writer;
  }

  #drop(dropped: Entry): void {
    const others = this.#entries.get(dropped.first)?.filter((entry) => entry !== dropped) ?? [];
    if (others.length > 0) this.#entries.set(dropped.first, others);
    else this.#entries.delete(dropped.first);
  }
}
