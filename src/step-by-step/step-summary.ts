import type { Failure } from '../errors/index.ts';

/** A tool call of a step, as an explanation shows it. */
export interface CallSummary {
  readonly tool: string;
  readonly status: 'succeeded' | 'failed' | 'blocked' | 'rejected' | 'cancelled' | 'unknown';
  /** Present if it failed. */
  readonly failure?: Failure;
  /** Reason why it was blocked or rejected. */
  readonly reason?: string;
  /** Sub-agent that made the call, if it is not the agent itself. */
  readonly caller?: string;
  /** Person who rejected it, or hook that blocked it, if known. */
  readonly by?: string;
}

/** Work of a step beyond its own fields, as an explanation shows it. */
export interface StepSummary {
  readonly calls: readonly CallSummary[];
  /** Further facts worth a line: models that failed, runs inside that ended early. */
  readonly notes: readonly string[];
}

export const emptySummary: StepSummary = { calls: [], notes: [] };
