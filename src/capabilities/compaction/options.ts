import type { Model } from '../../inference/index.ts';
import { InvalidArgumentError } from '../../lib/index.ts';
import type { Message } from '../../messages/index.ts';
import { checkOptions, optionRule } from '../../tool-use/index.ts';
import { estimateTokens } from './estimate-tokens.ts';

/** Options of compaction. */
export interface CompactionOptions {
  /** Asked for the summary. What it uses counts as the step's. */
  readonly model: Model;
  /** Tokens that the section `messages` may hold before its oldest move to the buffer. @default 4096 */
  readonly maxTokens?: number;
  /** Tokens that the buffer may hold before it is folded into the summary; the last words of the user do not count. @default 8192 */
  readonly maxBufferTokens?: number;
  /** Tokens that a summary may have: the model is told so, and its output is limited to it. @default 512 */
  readonly maxSummaryTokens?: number;
  /** Counts the tokens of a message. Called once for each message. @default estimateTokens */
  readonly countTokens?: (message: Message) => number;
  /** Instructions for the model that writes the summary: what matters in this conversation. */
  readonly instructions?: string;
}

/** The options with their defaults, checked. */
export type Settings = CompactionOptions & Required<Omit<CompactionOptions, 'instructions'>>;

const { model, count, callback, text } = optionRule;
const rules = {
  model,
  maxTokens: count,
  maxBufferTokens: count,
  maxSummaryTokens: count,
  countTokens: callback,
  instructions: text,
};

/** Counts each message once: messages never change. */
function withMemory(countTokens: (message: Message) => number): (message: Message) => number {
  const known = new WeakMap<Message, number>();
  return (message) => {
    const before = known.get(message);
    if (before !== undefined) return before;
    const tokens = countTokens(message);
    if (!(Number.isFinite(tokens) && tokens >= 0))
      throw new InvalidArgumentError(`countTokens() must return a number of 0 or above, not ${String(tokens)}.`);
    known.set(message, tokens);
    return tokens;
  };
}

/** Checks the options and adds the defaults. */
export function toSettings(options: CompactionOptions): Settings {
  checkOptions('compaction()', options, { rules, required: ['model'] });
  const { maxTokens = 4096, maxBufferTokens = 8192, maxSummaryTokens = 512, countTokens = estimateTokens } = options;
  return { ...options, maxTokens, maxBufferTokens, maxSummaryTokens, countTokens: withMemory(countTokens) };
}
