import { endFailure, redacted } from '../agent/index.ts';
import { StopReason } from '../continuation/index.ts';
import type { Failure } from '../errors/index.ts';
import type { Usage } from '../messages/index.ts';
import type { Cost, ExplainStateOptions, Wait } from '../step-by-step/index.ts';
import type { TurnState } from './turn-state.ts';

interface ResultBase<State> {
  /** The last words of this execution; '' where nothing was said. */
  readonly text: string;
  /** Who said that. */
  readonly speaker?: string;
  /** Whose turn it is, or was last. */
  readonly participant?: string;
  readonly usage: Usage;
  /** What it cost; absent where no prices are watched. */
  readonly cost?: Cost;
  /** Everything: go on from here, or store it. */
  readonly state: State;
  /** Why it stands where it stands, in a few lines. */
  readonly explain: (options?: ExplainStateOptions) => string;
}

/** It came to an end by itself. */
export interface CompletedConversation<State> extends ResultBase<State> {
  readonly status: 'completed';
  readonly stopReason: StopReason;
}

/** A limit, a guard, a finish reason or a person ended it. */
export interface StoppedConversation<State> extends ResultBase<State> {
  readonly status: 'stopped';
  readonly stopReason: StopReason;
}

/** Somebody has to act: approve, reject, answer or grant on the state, and start that. */
export interface WaitingConversation<State> extends ResultBase<State> {
  readonly status: 'waiting';
  readonly waitingFor: readonly Wait[];
}

/** A failure ended it. */
export interface FailedConversation<State> extends ResultBase<State> {
  readonly status: 'failed';
  readonly stopReason: StopReason;
  /** What went wrong; `participant` says in whose turn. */
  readonly error: Failure;
}

/** How a run ended. */
export type ConversationResult<State> =
  CompletedConversation<State> | StoppedConversation<State> | WaitingConversation<State> | FailedConversation<State>;

/** The end of a run as a result. */
export function toResult<State extends TurnState>(state: State): ConversationResult<State> {
  const { text, usage, cost, speaker, participant, stopReason = StopReason.Completed } = state;
  const base = {
    text,
    usage,
    state,
    explain: (options?: ExplainStateOptions) => state.explain(options),
    ...(speaker !== undefined && { speaker }),
    ...(participant !== undefined && { participant }),
    ...(cost !== undefined && { cost }),
  };
  switch (state.status) {
    case 'completed':
    case 'stopped':
      return { ...base, status: state.status, stopReason };
    case 'failed':
      return { ...base, status: 'failed', stopReason, error: redacted(endFailure(state)) };
    // A run ends in one of the others, or with something to wait for.
    case 'waiting':
    case 'pending':
    case 'in_progress':
      return { ...base, status: 'waiting', waitingFor: state.waitingFor };
  }
}
