import type { Failure } from '../errors/index.ts';
import type { Message, Usage } from '../messages/index.ts';

/** Cause of an interrupted step. */
export const Interruption = {
  Signal: 'signal',
  /** Somebody asked to stop. */
  Request: 'request',
  /** A time limit. */
  Deadline: 'deadline',
  /** A new message superseded it. */
  Superseded: 'superseded',
  /** An evaluation stopped the run before the step was complete. */
  Vote: 'vote',
} as const;
export type Interruption = (typeof Interruption)[keyof typeof Interruption];

/** Known cost of model calls. */
export interface Cost {
  readonly usd: number;
  /** Number of calls whose price or usage is unknown; their cost is not in `usd`. */
  readonly unknownCalls?: number;
}

// Sums of prices are stored with every step; anything below a billionth of a dollar is noise.
const withoutNoise = (usd: number): number => Math.round(usd * 1_000_000_000) / 1_000_000_000;

/** Adds two costs; undefined if both are. */
export function addCost(left: Cost | undefined, right: Cost | undefined): Cost | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const unknownCalls = (left.unknownCalls ?? 0) + (right.unknownCalls ?? 0);
  return { usd: withoutNoise(left.usd + right.usd), ...(unknownCalls > 0 && { unknownCalls }) };
}

/** Subtracts a part from a cost. */
export function minusCost(whole: Cost | undefined, part: Cost | undefined): Cost | undefined {
  if (whole === undefined || part === undefined) return whole;
  const unknownCalls = (whole.unknownCalls ?? 0) - (part.unknownCalls ?? 0);
  return { usd: Math.max(0, whole.usd - part.usd), ...(unknownCalls > 0 && { unknownCalls }) };
}

/**
 * Fields that the loop needs in every step. Plain readonly data: other modules add fields of their own.
 * A step is created once, by its producer, and never changes after it is recorded.
 */
export interface Step {
  readonly id: string;
  /** Participant whose turn it was, if several take turns. */
  readonly participant?: string;
  /** Added to the conversation when the step is committed. */
  readonly outputMessages: readonly Message[];
  readonly usage: Usage;
  readonly errors: readonly Failure[];
  /** Not a failure: the step keeps its output so far. */
  readonly interrupted?: Interruption;
  readonly finishReason?: string;
  /** True if calls were made whose results no model has read. */
  readonly hasToolCalls?: boolean;
  /** Cost of the step; absent if nothing was charged. */
  readonly cost?: Cost;
  /** Set by the loop if a limit was reached and this step writes the summary. */
  readonly finalizing?: boolean;
  /** Set by the loop if a process ended in this step and another one resumed it. */
  readonly resumed?: boolean;
}

/** Finds the last message of a step with text for readers: the assistant's, or that of the participant whose turn it was. */
export function findSpokenMessage({ outputMessages, participant }: Pick<Step, 'outputMessages' | 'participant'>): Message | undefined {
  // A loop, because it runs for every step.
  for (let index = outputMessages.length - 1; index >= 0; index -= 1) {
    const message = outputMessages[index];
    const isSpoken = message?.isAssistant() === true || (participant !== undefined && message?.isUser() === true);
    if (isSpoken && message.text !== '' && message.metadata['purpose'] === undefined) return message;
  }
  return undefined;
}

/** Input for a step that has no output of its own, such as one that failed early. */
export interface EmptyStep {
  readonly id: string;
  readonly errors: readonly Failure[];
  readonly interrupted?: Interruption;
  readonly participant?: string;
}

/** Adds a failure to a step. */
export const withFailure = <S extends Step>(step: S, failure: Failure): S => ({ ...step, errors: [...step.errors, failure] });
