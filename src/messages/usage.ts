import type { JsonObject } from '../lib/index.ts';
import { DamagedDataError, describeValue, InvalidArgumentError, readObject } from '../lib/index.ts';

/** Token usage of model calls. Cached and reasoning tokens are a breakdown of input and output, not counted on top. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly total: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly reasoning?: number;
  /** Calls that reported no usage: what they cost is unknown, which is not zero. */
  readonly unknownCalls?: number;
}

/** Counts that a provider reported; `total` is calculated from them. */
export type UsageCounts = Omit<Usage, 'total'>;

const breakdown = ['cacheRead', 'cacheWrite', 'reasoning', 'unknownCalls'] as const;
const none: Usage = Object.freeze({ input: 0, output: 0, total: 0 });
const unknown: Usage = Object.freeze({ ...none, unknownCalls: 1 });

type Draft = { -readonly [Key in keyof Usage]: Usage[Key] };

function isCount(value: number): boolean {
  return Number.isFinite(value) && value >= 0;
}

/** Token counts of one call as its provider reports them; any may be missing, or not be a count at all. */
export type ReportedUsage = { readonly [Key in keyof Omit<UsageCounts, 'unknownCalls'>]?: number | null | undefined };

/** Reads the usage of one call. If input or output is missing the call counts as unknown, which is not zero. */
export function toUsage(reported: ReportedUsage): Usage {
  const input = toCount(reported.input);
  const output = toCount(reported.output);
  const cacheRead = toCount(reported.cacheRead);
  const cacheWrite = toCount(reported.cacheWrite);
  const reasoning = toCount(reported.reasoning);
  const usage = create(input ?? 0, output ?? 0, reasoning);
  if (cacheRead !== undefined) usage.cacheRead = cacheRead;
  if (cacheWrite !== undefined) usage.cacheWrite = cacheWrite;
  if (reasoning !== undefined) usage.reasoning = reasoning;
  if (input === undefined || output === undefined) usage.unknownCalls = 1;
  return usage;
}

const toCount = (value: number | null | undefined): number | undefined => (typeof value === 'number' && isCount(value) ? value : undefined);

function create(input: number, reported: number, reasoning = 0): Draft {
  // Some providers count reasoning beside the output instead of within it.
  const output = reasoning > reported ? reported + reasoning : reported;
  return { input, output, total: input + output };
}

function readCount(counts: UsageCounts, key: keyof UsageCounts): number | undefined {
  const value = counts[key];
  if (value === undefined || isCount(value)) return value;
  throw new InvalidArgumentError(`Usage.${key} must be a number of 0 or more, not ${describeValue(value)}.`);
}

/** Reads what a call reported. Reasoning that exceeds the output was not counted in it, and is added. */
function of(counts: UsageCounts): Usage {
  const usage = create(readCount(counts, 'input') ?? 0, readCount(counts, 'output') ?? 0, readCount(counts, 'reasoning'));
  for (const key of breakdown) {
    const count = readCount(counts, key);
    if (count !== undefined) usage[key] = count;
  }
  return usage;
}

function isNone(usage: Usage): boolean {
  return usage === none || (usage.input === 0 && usage.output === 0 && breakdown.every((key) => (usage[key] ?? 0) === 0));
}

/** Adds; returns the other operand itself if one is none. */
function add(left: Usage, right: Usage): Usage {
  if (left.total === 0 && isNone(left)) return right;
  if (right.total === 0 && isNone(right)) return left;
  const sum: Draft = { input: left.input + right.input, output: left.output + right.output, total: left.total + right.total };
  for (const key of breakdown) {
    if (left[key] !== undefined || right[key] !== undefined) sum[key] = (left[key] ?? 0) + (right[key] ?? 0);
  }
  return Object.freeze(sum);
}

/** Subtracts a part; never goes below zero. */
function minus(whole: Usage, part: Usage): Usage {
  const subtract = (key: keyof UsageCounts): number => Math.max(0, (whole[key] ?? 0) - (part[key] ?? 0));
  const rest: Draft = { input: subtract('input'), output: subtract('output'), total: subtract('input') + subtract('output') };
  for (const key of breakdown) if (subtract(key) > 0) rest[key] = subtract(key);
  return rest;
}

/** Reads stored usage; the total is calculated again. */
function fromJSON(value: unknown, path = 'usage'): Usage {
  const reader = readObject(value, path);
  const counts: Draft = { input: reader.number('input'), output: reader.number('output'), total: 0 };
  for (const key of breakdown) {
    const count = reader.optionalNumber(key);
    if (count !== undefined) counts[key] = count;
  }
  const wrong = (['input', 'output', ...breakdown] as const).find((key) => !isCount(counts[key] ?? 0));
  if (wrong !== undefined) throw new DamagedDataError(`${path}.${wrong}`, `expected 0 or above, found ${String(counts[wrong])}`);
  return of(counts);
}

/** Makes, adds and stores usage. */
interface UsageCompanion {
  /** Returns the usage of nothing; always the same frozen value. */
  none(): Usage;
  of(counts: UsageCounts): Usage;
  /** Returns the usage of a call that reported nothing: zero counts, visibly unknown. */
  unknown(): Usage;
  add(left: Usage, right: Usage): Usage;
  /** Subtracts a part; never goes below zero. */
  minus(whole: Usage, part: Usage): Usage;
  isNone(usage: Usage): boolean;
  toJSON(usage: Usage): JsonObject;
  /** Reads stored usage; the total is calculated again. */
  readonly fromJSON: (value: unknown, path?: string) => Usage;
}

export const Usage: UsageCompanion = {
  none: () => none,
  of,
  unknown: () => unknown,
  add,
  minus,
  isNone,
  toJSON: (usage) => ({ ...usage }),
  fromJSON,
};
