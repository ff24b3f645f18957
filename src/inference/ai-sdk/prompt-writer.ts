// The prompt of one conversation
// Owns:     what was converted for the requests before, and how much of it the next request can use.
// Does not: know whose conversation it is.
// P1. A prompt is the same whether it was converted in one go or step by step.
// P2. Each message is converted once, and once more while it is among the last: a step costs what is new.
// P3. Whoever gets a prompt may change its list, its instructions and its last message; the rest is frozen. Nothing of it is in the next one.
// P4. What was left out is reported with every request.
import type { Message, Messages } from '../../messages/index.ts';
import type { Conversation } from '../index.ts';
import { getIdForm } from './call-names.ts';
import type { PromptMessage } from './prompt.ts';
import { copyPlain, freezePart } from './prompt.ts';
import { SentCalls } from './sent-calls.ts';
import type { Reader } from './to-file-part.ts';
import type { PromptContext } from './to-prompt.ts';
import { toPromptMessages, toSystemMessage } from './to-prompt.ts';

/** Progress of a conversion. */
interface Mark {
  readonly sources: number;
  readonly written: number;
  readonly calls: number;
  readonly warnings: number;
  readonly withUrls: number;
}

/** Takes what was left out of a prompt. */
export interface Reporter {
  warn(message: string): void;
}

const start: Mark = { sources: 0, written: 0, calls: 0, warnings: 0, withUrls: 0 };

/** Returns the number of instructions at the front: they may change with every request. */
export function countInstructions(messages: Messages): number {
  let count = 0;
  while (messages.at(count)?.isSystem() === true) count += 1;
  return count;
}

function findUnitEnd(messages: Messages, begin: number): number {
  let end = begin + 1;
  if (messages.at(begin)?.isTool() === true) while (messages.at(end)?.isTool() === true) end += 1;
  return end;
}

export class PromptWriter {
  readonly #context: PromptContext;
  readonly #calls: SentCalls;
  /** Warnings about the messages that were converted last. */
  readonly #leftOut: string[] = [];
  /** The messages that are converted for good: all but the last one, or but the results of the last turn. */
  readonly #sources: Message[] = [];
  /** The conversation that they stand in. */
  #conversation: Messages | undefined;
  readonly #written: PromptMessage[] = [];
  readonly #warnings: string[] = [];
  /** Indexes of prompt messages that hold a URL, which cannot be frozen. */
  readonly #withUrls: number[] = [];
  /** One after each message, or after all results of a turn. */
  readonly #marks: Mark[] = [];

  constructor(reader: Reader) {
    const { version, provider } = reader;
    this.#calls = new SentCalls(getIdForm(provider));
    this.#context = { version, provider, calls: this.#calls, warn: (message) => void this.#leftOut.push(message) };
  }

  /** True if a conversation has the newest message that is converted for good in the same place: it seems to be the same one. */
  isContinuedBy(messages: Messages, instructions: number): boolean {
    const { length } = this.#sources;
    return length === 0 || messages.at(instructions + length - 1) === this.#sources[length - 1];
  }

  /** True if a conversation begins with more than half of the converted messages. */
  hasMostIn(messages: Messages, instructions: number): boolean {
    return this.#countCommon(messages, instructions) * 2 > this.#sources.length;
  }

  /** Returns how many of the converted messages a conversation begins with, after its instructions. */
  #countCommon(messages: Messages, instructions: number): number {
    // Versions of one list have the same instructions at the front, unless nothing has followed them yet.
    if (this.#conversation?.hasSameOrigin(messages) === true) return Math.min(this.#sources.length, messages.length - instructions);
    return messages.countSame(this.#sources, instructions);
  }

  /** Writes the prompt of a conversation, and reports what was left out. */
  write({ instructions: first, messages }: Conversation, reporter: Reporter): readonly PromptMessage[] {
    const instructions = countInstructions(messages);
    this.#rewind(this.#countUsable(messages, instructions));
    this.#conversation = messages;
    let begin = instructions + this.#sources.length;
    let end = findUnitEnd(messages, begin);
    while (end < messages.length) {
      this.#keep(messages.slice(begin, end));
      begin = end;
      end = findUnitEnd(messages, begin);
    }
    const system = first.concat(messages.slice(0, instructions)).map(toSystemMessage);
    const last = this.#convertLast(messages.slice(begin));
    // Not a spread: a list of thousands is copied for every request.
    const prompt = system.concat(this.#written, last);
    for (const index of this.#withUrls) {
      const message = this.#written[index];
      if (message !== undefined) prompt[system.length + index] = copyPlain(message);
    }
    for (const message of this.#warnings) reporter.warn(message);
    for (const message of this.#leftOut) reporter.warn(message);
    return prompt;
  }

  #keep(unit: readonly Message[]): void {
    for (const message of this.#convert(unit)) {
      if (freezePart(message)) this.#withUrls.push(this.#written.length);
      this.#written.push(message);
    }
    for (const message of this.#leftOut) this.#warnings.push(message);
    for (const message of unit) this.#sources.push(message);
    this.#marks.push({
      sources: this.#sources.length,
      written: this.#written.length,
      calls: this.#calls.mark(),
      warnings: this.#warnings.length,
      withUrls: this.#withUrls.length,
    });
  }

  // More results may join the last ones, and a request may end with a message that the next one has not.
  #convertLast(unit: readonly Message[]): readonly PromptMessage[] {
    const mark = this.#calls.mark();
    const converted = this.#convert(unit);
    this.#calls.rewind(mark);
    return converted;
  }

  #convert(unit: readonly Message[]): readonly PromptMessage[] {
    const mark = this.#calls.mark();
    this.#leftOut.length = 0;
    try {
      return toPromptMessages(unit, this.#context);
    } catch (error) {
      // Whatever a part holds: the next request begins where this one did.
      this.#calls.rewind(mark);
      throw error;
    }
  }

  #countUsable(messages: Messages, instructions: number): number {
    // The last message of a request is always converted for it: whoever gets it may change it.
    let count = Math.min(this.#countCommon(messages, instructions), Math.max(0, messages.length - instructions - 1));
    // Results that were the last of their turn join those that follow now.
    if (messages.at(count + instructions)?.isTool() === true) while (this.#sources[count - 1]?.isTool() === true) count -= 1;
    return count;
  }

  /** Forgets what follows the first messages. */
  #rewind(sources: number): void {
    if (sources >= this.#sources.length) return;
    while ((this.#marks.at(-1)?.sources ?? 0) > sources) this.#marks.pop();
    const mark = this.#marks.at(-1) ?? start;
    this.#sources.length = mark.sources;
    this.#written.length = mark.written;
    this.#warnings.length = mark.warnings;
    this.#withUrls.length = mark.withUrls;
    this.#calls.rewind(mark.calls);
  }
}
