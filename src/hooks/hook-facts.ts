import type { Effects } from '../effects/index.ts';
import type { ContinuationOutcome, StopReason } from '../continuation/index.ts';
import type { Failure } from '../errors/index.ts';
import type { Model, ModelOutcome, ModelRequest, ModelResponse, ModelSettings } from '../inference/index.ts';
import type { Clock, IdSource, JsonObject } from '../lib/index.ts';
import type { Message, ToolCall } from '../messages/index.ts';
import type { RunState, StepOf } from '../step-by-step/index.ts';
import type { ToolExecution } from '../tools/index.ts';
import type { HookPoint } from './hook-point.ts';

/** Facts that a hook receives at every point. Read only: a hook returns its changes. */
export interface SeenFacts<State, Context> {
  readonly point: HookPoint;
  readonly state: State;
  /** The host's own objects. Passed with each run, never stored. */
  readonly context: Context;
}

/** Facts and services for a hook before the judgement. */
export interface HookFacts<State, Context> extends SeenFacts<State, Context> {
  readonly executionId: string;
  /** 0 before the first step. */
  readonly stepNumber: number;
  /** Aborts when the run is interrupted. */
  readonly signal: AbortSignal;
  /** Use it for all I/O. Keys belong to the hook: they must be unique only within one call of the hook. */
  readonly effects: Effects;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Emits an event HookReported. */
  readonly report: (message: string, data?: JsonObject) => void;
  /** Calls a model. Its usage counts toward this step. Never rejects. */
  readonly ask: (model: Model, request: ModelRequest) => Promise<ModelOutcome>;
}

/** Request that is about to be sent to the model. */
export interface InferenceRequestFacts {
  readonly messages: readonly Message[];
  readonly settings: ModelSettings;
  /** Names of the tools offered to the model. */
  readonly tools: readonly string[];
  /** Distinguishes a second model call of the same step from the first. */
  readonly purpose?: string | undefined;
}

export interface BeforeInferenceFacts<State, Context> extends HookFacts<State, Context>, InferenceRequestFacts {}

export interface AfterInferenceFacts<State, Context> extends HookFacts<State, Context> {
  readonly response: ModelResponse;
}

export interface BeforeToolFacts<State, Context> extends HookFacts<State, Context> {
  /** The call as changed by the hooks before this one. */
  readonly call: ToolCall;
  /** True if a person has approved exactly this call; changed arguments need a new approval. */
  readonly approved: boolean;
}

export interface AfterToolFacts<State, Context> extends HookFacts<State, Context> {
  readonly call: ToolCall;
  readonly execution: ToolExecution;
}

export interface AfterStepFacts<State, Context> extends HookFacts<State, Context> {
  readonly step: StepOf<State>;
}

export interface OnErrorFacts<State, Context> extends HookFacts<State, Context> {
  readonly step: StepOf<State>;
  readonly errors: readonly Failure[];
}

/** A recorded step, for a hook that changes nothing. */
export interface SeenStepFacts<State, Context> extends SeenFacts<State, Context> {
  readonly step: StepOf<State>;
  readonly outcome: ContinuationOutcome;
}

export interface SeenErrorFacts<State, Context> extends SeenStepFacts<State, Context> {
  readonly errors: readonly Failure[];
}

/** The end of an execution. */
export interface ExecutionEndFacts<State, Context> extends SeenFacts<State, Context> {
  readonly stopReason: StopReason;
  readonly outcome: ContinuationOutcome;
}

/** Facts at each point, for a hook that makes changes and for one that only observes. */
export interface FactsAt<State extends RunState, Context> {
  readonly execution_start: HookFacts<State, Context>;
  readonly before_step: HookFacts<State, Context>;
  readonly before_inference: BeforeInferenceFacts<State, Context>;
  readonly after_inference: AfterInferenceFacts<State, Context>;
  readonly before_tool: BeforeToolFacts<State, Context>;
  readonly after_tool: AfterToolFacts<State, Context>;
  readonly after_step: AfterStepFacts<State, Context>;
  readonly on_error: OnErrorFacts<State, Context>;
  readonly execution_end: ExecutionEndFacts<State, Context>;
}

export interface SeenFactsAt<State extends RunState, Context> extends Omit<FactsAt<State, Context>, 'after_step' | 'on_error'> {
  readonly after_step: SeenStepFacts<State, Context>;
  readonly on_error: SeenErrorFacts<State, Context>;
}
