import type { Effects } from '../effects/index.ts';
import type { ContinuationOutcome, StopReason } from '../continuation/index.ts';
import type { Failure } from '../errors/index.ts';
import type { Model, ModelOutcome, ModelRequest, ModelResponse, ModelSettings } from '../inference/index.ts';
import type { Clock, IdSource, JsonObject } from '../lib/index.ts';
import type { Message, ToolCall } from '../messages/index.ts';
import type { RunState, StepOf } from '../step-by-step/index.ts';
import type { ToolExecution } from '../tools/index.ts';
import type { HookPoint } from './hook-point.ts';

/** What a hook is told at every point. To read: a change is what a hook gives back. */
export interface SeenFacts<State, Context> {
  readonly point: HookPoint;
  readonly state: State;
  /** The host's own things. Given per run, never stored. */
  readonly context: Context;
}

/** What a hook can work with before the judgement. */
export interface HookFacts<State, Context> extends SeenFacts<State, Context> {
  readonly executionId: string;
  /** 0 before the first step. */
  readonly stepNumber: number;
  /** Aborts when the run is interrupted. */
  readonly signal: AbortSignal;
  /** The door for I/O. Keys are the hook's own: they need to differ only within one call of the hook. */
  readonly effects: Effects;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Says what the hook did, as an event HookReported. */
  readonly report: (message: string, data?: JsonObject) => void;
  /** Asks a model. What it uses counts as this step's. Never rejects. */
  readonly ask: (model: Model, request: ModelRequest) => Promise<ModelOutcome>;
}

/** What the model is about to be asked. */
export interface InferenceRequestFacts {
  readonly messages: readonly Message[];
  readonly settings: ModelSettings;
  /** The names of the tools that are offered. */
  readonly tools: readonly string[];
  /** Tells a second question of the same step from the first. */
  readonly purpose?: string | undefined;
}

export interface BeforeInferenceFacts<State, Context> extends HookFacts<State, Context>, InferenceRequestFacts {}

export interface AfterInferenceFacts<State, Context> extends HookFacts<State, Context> {
  readonly response: ModelResponse;
}

export interface BeforeToolFacts<State, Context> extends HookFacts<State, Context> {
  /** The call as it stands after the hooks before this one. */
  readonly call: ToolCall;
  /** True where a person has agreed to this very call; other arguments then wait for a new approval. */
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

/** A recorded step, as a hook sees it that changes nothing. */
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

/** What each point tells, to a hook that changes something and to one that only looks. */
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
