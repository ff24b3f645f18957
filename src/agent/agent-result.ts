import type { StopReason } from '../continuation/index.ts';
import type { Failure } from '../errors/index.ts';
import type { Usage } from '../messages/index.ts';
import type { Cost, ExplainStateOptions, Wait } from '../step-by-step/index.ts';
import type { AgentState } from './agent-state.ts';
import type { AgentTypes } from './agent-types.ts';

interface ResultBase {
  /** The last words of the agent; '' where it said nothing. */
  readonly text: string;
  readonly usage: Usage;
  /** What it cost; absent where no prices are watched. */
  readonly cost?: Cost | undefined;
  /** Everything: go on from here, or store it. */
  readonly state: AgentState;
  /** Why it stands where it stands, in a few lines. */
  explain(options?: ExplainStateOptions): string;
}

/** It came to an end by itself. */
export interface CompletedResult<Types extends AgentTypes> extends ResultBase {
  readonly status: 'completed';
  readonly stopReason: StopReason;
  /** The final answer, parsed by the output schema; undefined where there is none. */
  readonly output: Types['output'];
}

/** A limit, a guard, a finish reason or a person ended it. */
export interface StoppedResult extends ResultBase {
  readonly status: 'stopped';
  readonly stopReason: StopReason;
}

/** Somebody has to act: approve, reject, answer or grant on the state, and start that. */
export interface WaitingResult extends ResultBase {
  readonly status: 'waiting';
  readonly waitingFor: readonly Wait[];
}

/** A failure ended it; or it ended without an answer that fits the output schema (`no-output`), although its state says completed. */
export interface FailedResult extends ResultBase {
  readonly status: 'failed';
  readonly stopReason: StopReason;
  /** What went wrong; the state has all failures of the last step. */
  readonly error: Failure;
}

/** How a run ended. */
export type AgentResult<Types extends AgentTypes = AgentTypes> = CompletedResult<Types> | StoppedResult | WaitingResult | FailedResult;
