import type { Failure } from '../errors/index.ts';
import type { Json } from '../lib/index.ts';
import type { ToolCall } from '../messages/index.ts';
import type { Step, Wait } from '../step-by-step/index.ts';
import type { ToolExecution } from '../tools/index.ts';

/** Kind of a recorded step. */
export const StepType = {
  /** Tools were called, and none failed. */
  ToolExecution: 'tool_execution',
  /** The model answered. */
  FinalResponse: 'final_response',
  /** Something failed, or the model was not asked. */
  Error: 'error',
} as const;
export type StepType = (typeof StepType)[keyof typeof StepType];

/** Decision of a person about a call that waited. */
export interface CallAnswer {
  readonly id: string;
  /** `edited`: approved with other arguments. `answered`: its result was given. `closed`: nobody decided; it was given up. */
  readonly type: 'approved' | 'edited' | 'rejected' | 'answered' | 'closed';
  /** Person who decided, if known. */
  readonly by?: string;
  /** Tool of a call that was rejected in a run inside this step, and the reason. */
  readonly toolName?: string;
  readonly reason?: string;
}

/** A run inside a call that waits for somebody. */
export interface NestedMemo {
  /** Number of times it has been worked on. */
  readonly round: number;
  /** Arguments at its start: a hook may have changed those of the call. */
  readonly args: Json;
  /** Ids of its waits, as they are known outside. */
  readonly waits: readonly string[];
  /** Its own state, needed to resume. */
  readonly memo: Json;
}

/** A model that failed, so that another one was asked. */
export interface FailedModel {
  readonly model: string;
  readonly problem: string;
}

/** One answer of a model, with the results of its calls. Plain data. */
export interface ToolUseStep extends Step {
  readonly stepType: StepType;
  /** Calls that are ours to run, in the order of the answer. */
  readonly toolCalls: readonly ToolCall[];
  /** Their executions, in the same order; while the step waits, only those that have ended. */
  readonly executions: readonly ToolExecution[];
  /** Decisions of people about its calls, oldest first. */
  readonly answers?: readonly CallAnswer[];
  /** Runs inside its calls that wait for somebody, by the call's id; only while the step waits. */
  readonly nested?: Readonly<Record<string, NestedMemo>>;
  /** Model that really answered, as `provider/model`. */
  readonly model?: string;
  /** Models that failed before that, in their order. */
  readonly fallbacks?: readonly FailedModel[];
  /** Final answer as JSON, if a schema asked for it and it fits. */
  readonly output?: Json;
}

/** Results of some of a step's calls. */
export interface CallResults {
  readonly executions: readonly ToolExecution[];
  readonly waits: readonly Wait[];
  /** Runs inside calls that wait, by the call's id. */
  readonly nested?: Readonly<Record<string, NestedMemo>>;
  /** Failures of hooks that looked at results. */
  readonly failures?: readonly Failure[];
}
