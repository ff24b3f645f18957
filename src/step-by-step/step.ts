import type { Failure } from '../errors/index.ts';
import type { Message, Usage } from '../messages/index.ts';

/** What cut a step short. */
export const Interruption = {
  Signal: 'signal',
  /** Somebody asked to stop. */
  Request: 'request',
  /** A time limit. */
  Deadline: 'deadline',
  /** A new message made it pointless. */
  Superseded: 'superseded',
  /** Somebody voted against going on before all of it was done. */
  Vote: 'vote',
} as const;
export type Interruption = (typeof Interruption)[keyof typeof Interruption];

/** What model calls have cost, as far as it is known. */
export interface Cost {
  readonly usd: number;
  /** Calls whose price or usage is not known; what they cost is not in `usd`. */
  readonly unknownCalls?: number;
}

// Sums of prices are stored with every step; what stands behind a billionth of a dollar is noise.
const withoutNoise = (usd: number): number => Math.round(usd * 1_000_000_000) / 1_000_000_000;

/** The sum; undefined where nothing has a price. */
export function addCost(left: Cost | undefined, right: Cost | undefined): Cost | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const unknownCalls = (left.unknownCalls ?? 0) + (right.unknownCalls ?? 0);
  return { usd: withoutNoise(left.usd + right.usd), ...(unknownCalls > 0 && { unknownCalls }) };
}

/** What is left of a sum without a part of it. */
export function minusCost(whole: Cost | undefined, part: Cost | undefined): Cost | undefined {
  if (whole === undefined || part === undefined) return whole;
  const unknownCalls = (whole.unknownCalls ?? 0) - (part.unknownCalls ?? 0);
  return { usd: Math.max(0, whole.usd - part.usd), ...(unknownCalls > 0 && { unknownCalls }) };
}

/**
 * What the loop must know of any step. Plain readonly data: rooms above add fields of their own.
 * A step is made once, by its producer, and never changed after it was recorded.
 */
export interface Step {
  readonly id: string;
  /** Whose turn it was, where several take turns. */
  readonly participant?: string;
  /** Joined to the conversation when the step is committed. */
  readonly outputMessages: readonly Message[];
  readonly usage: Usage;
  readonly errors: readonly Failure[];
  /** Not a failure: the step has what it had produced so far. */
  readonly interrupted?: Interruption;
  readonly finishReason?: string;
  /** True where calls were made whose results no model has read. */
  readonly hasToolCalls?: boolean;
  /** What it cost; absent where nothing was paid for. */
  readonly cost?: Cost;
  /** Set by the loop: a limit had been reached, and this step was to sum up. */
  readonly finalizing?: boolean;
}

/** What the loop asks a process to make a step of, when there is nothing else to make it of. */
export interface EmptyStep {
  readonly id: string;
  readonly errors: readonly Failure[];
  readonly interrupted?: Interruption;
  readonly participant?: string;
}

/** The step with one more failure on it. */
export const withFailure = <S extends Step>(step: S, failure: Failure): S => ({ ...step, errors: [...step.errors, failure] });
