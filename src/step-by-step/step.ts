import type { ContinuationEvaluation } from '../continuation/index.ts';
import type { Failure } from '../errors/index.ts';
import type { Message, Usage } from '../messages/index.ts';

/** What cut a step short: a signal, a request to stop, a time limit, or a new message that made it pointless. */
export const Interruption = { Signal: 'signal', Request: 'request', Deadline: 'deadline', Superseded: 'superseded' } as const;
export type Interruption = (typeof Interruption)[keyof typeof Interruption];

/** What model calls have cost, as far as it is known. */
export interface Cost {
  readonly usd: number;
  /** Calls whose price or usage is not known; what they cost is not in `usd`. */
  readonly unknownCalls?: number;
}

/** The sum; undefined where nothing has a price. */
export function addCost(left: Cost | undefined, right: Cost | undefined): Cost | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const unknownCalls = (left.unknownCalls ?? 0) + (right.unknownCalls ?? 0);
  return { usd: left.usd + right.usd, ...(unknownCalls > 0 && { unknownCalls }) };
}

/**
 * What the loop must know of any step. Plain readonly data: rooms above add fields of their own.
 * A step is made once, by its producer, and never changed after it was recorded.
 */
export interface Step {
  readonly id: string;
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
  /** Votes already cast; they join the judgement beside the criteria. */
  readonly evaluations?: readonly ContinuationEvaluation[];
}

/** What the loop asks a process to make a step of, when there is nothing else to make it of. */
export interface EmptyStep {
  readonly id: string;
  readonly errors: readonly Failure[];
  readonly interrupted?: Interruption;
}

/** The step with one more failure on it. */
export const withFailure = <S extends Step>(step: S, failure: Failure): S => ({ ...step, errors: [...step.errors, failure] });
