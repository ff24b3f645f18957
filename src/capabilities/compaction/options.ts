import type { Model } from '../../inference/index.ts';
import { checkKeys, InvalidArgumentError, isRecord } from '../../lib/index.ts';
import type { Message } from '../../messages/index.ts';
import { estimateTokens } from './estimate-tokens.ts';

/** How a conversation is kept within bounds. */
export interface CompactionOptions {
  /** Asked for the summary. What it uses counts as the step's. */
  readonly model: Model;
  /** What the section `messages` may hold before its oldest move on to the buffer. @default 4096 */
  readonly maxTokens?: number;
  /** What the buffer may hold before it is folded into the summary; the last words of the user do not count. @default 8192 */
  readonly maxBufferTokens?: number;
  /** How long a summary may be: the model is told so, and its output is limited to it. @default 512 */
  readonly maxSummaryTokens?: number;
  /** What a message takes. Called once for each message: its answer is remembered. @default estimateTokens */
  readonly countTokens?: (message: Message) => number;
  /** More words for the model that writes the summary: what matters in this conversation. */
  readonly instructions?: string;
}

/** The options with their defaults, checked. */
export interface Settings extends CompactionOptions {
  readonly maxTokens: number;
  readonly maxBufferTokens: number;
  readonly maxSummaryTokens: number;
  readonly countTokens: (message: Message) => number;
}

const knownOptions = ['model', 'maxTokens', 'maxBufferTokens', 'maxSummaryTokens', 'countTokens', 'instructions'];
const sizes = ['maxTokens', 'maxBufferTokens', 'maxSummaryTokens'];

const wordsOf = (value: unknown): string =>
  typeof value === 'number' ? String(value) : typeof value === 'string' ? JSON.stringify(value) : typeof value;

const isSize = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0;

function findProblem(given: Readonly<Record<string, unknown>>): string | undefined {
  const { model, countTokens, instructions } = given;
  checkKeys('compaction()', given, { known: knownOptions });
  if (!isRecord(model) || typeof model['generate'] !== 'function') return 'needs a model, which is asked for the summary.';
  const wrong = sizes.find((name) => given[name] !== undefined && !isSize(given[name]));
  if (wrong !== undefined) return `needs a whole number above 0 as ${wrong}, not ${wordsOf(given[wrong])}.`;
  if (countTokens !== undefined && typeof countTokens !== 'function') return 'needs a function as countTokens.';
  return instructions === undefined || typeof instructions === 'string' ? undefined : 'needs text as its instructions.';
}

/** Counts each message once: messages never change. */
function remembering(countTokens: (message: Message) => number): (message: Message) => number {
  const known = new WeakMap<Message, number>();
  return (message) => {
    const before = known.get(message);
    if (before !== undefined) return before;
    const tokens = countTokens(message);
    if (!(Number.isFinite(tokens) && tokens >= 0))
      throw new InvalidArgumentError(`countTokens() must return a number of 0 or above, not ${wordsOf(tokens)}.`);
    known.set(message, tokens);
    return tokens;
  };
}

/** Refuses options that could not work. */
export function toSettings(options: CompactionOptions): Settings {
  const given: unknown = options;
  const problem = isRecord(given) ? findProblem(given) : 'needs options: compaction({ model }).';
  if (problem !== undefined) throw new InvalidArgumentError(`compaction() ${problem}`);
  const { maxTokens = 4096, maxBufferTokens = 8192, maxSummaryTokens = 512, countTokens = estimateTokens, ...rest } = options;
  return { ...rest, maxTokens, maxBufferTokens, maxSummaryTokens, countTokens: remembering(countTokens) };
}
