import type { Model } from '../../inference/index.ts';
import { checkModel } from '../../inference/index.ts';
import { describeValue, InvalidArgumentError } from '../../lib/index.ts';
import type { Message } from '../../messages/index.ts';
import { checkOptions, optionRule } from '../../tool-use/index.ts';
import { estimateTokens } from './estimate-tokens.ts';

/** Options of compaction. */
export interface CompactionOptions {
  /** Asked for the summary. What it uses counts as the step's. */
  readonly model: Model;
  /** Context window, in tokens, of the model that reads the conversation. @default the window that `model` reports, or 128,000 */
  readonly contextWindow?: number;
  /** Tokens that the section `messages` may hold before its oldest move to the buffer. @default 40 % of the context window */
  readonly maxTokens?: number;
  /** Tokens that the buffer may hold before it is folded into the summary; the last words of the user do not count. @default maxTokens */
  readonly maxBufferTokens?: number;
  /** Tokens that a summary may have: the model is told so, and its output is limited to it. @default 5 % of maxTokens, at least 512 */
  readonly maxSummaryTokens?: number;
  /** Counts the tokens of a message. Called once for each message. @default estimateTokens */
  readonly countTokens?: (message: Message) => number;
  /** Instructions for the model that writes the summary: what matters in this conversation. */
  readonly instructions?: string;
}

/** The options with their defaults, checked. */
export type Settings = CompactionOptions & Required<Omit<CompactionOptions, 'instructions' | 'contextWindow'>>;

/** Context window if nobody tells it: large models have at least this much. */
const usualWindow = 128_000;
// Buffer and messages together are 80 % of the window when a summary is due; the rest is for instructions, tools, the answer, and an
// estimate that is too low. After it 40 % are left: each summary changes the beginning of the prompt, which providers then read again,
// so it should be rare, and still leave the newest messages as they are.
const share = 0.4;
const summaryShare = 0.05;
const leastSummaryTokens = 512;

const { count, callback, text } = optionRule;
const rules = {
  contextWindow: count,
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
      throw new InvalidArgumentError(`countTokens() of compaction() must return a number of 0 or more, not ${describeValue(tokens)}.`);
    known.set(message, tokens);
    return tokens;
  };
}

/** Checks the options and adds the defaults. */
export function toSettings(options: CompactionOptions): Settings {
  checkOptions('compaction()', options, { rules, known: ['model', ...Object.keys(rules)] });
  checkModel('compaction()', options.model);
  const { contextWindow = getWindow(options.model), countTokens = estimateTokens } = options;
  const { maxTokens = Math.max(1, Math.floor(contextWindow * share)) } = options;
  const { maxBufferTokens = maxTokens, maxSummaryTokens = Math.max(leastSummaryTokens, Math.floor(maxTokens * summaryShare)) } = options;
  return { ...options, maxTokens, maxBufferTokens, maxSummaryTokens, countTokens: withMemory(countTokens) };
}

function getWindow({ contextWindow = usualWindow }: Model): number {
  checkOptions('compaction()', { 'model.contextWindow': contextWindow }, { rules: { 'model.contextWindow': count } });
  return contextWindow;
}
