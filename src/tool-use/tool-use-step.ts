import type { Json } from '../lib/index.ts';
import type { ToolCall } from '../messages/index.ts';
import type { Step } from '../step-by-step/index.ts';
import type { ToolExecution } from '../tools/index.ts';

/** What a step came to. */
export const StepType = {
  /** Tools were called, and none failed. */
  ToolExecution: 'tool_execution',
  /** The model answered. */
  FinalResponse: 'final_response',
  /** Something failed, or nothing came of it. */
  Error: 'error',
} as const;
export type StepType = (typeof StepType)[keyof typeof StepType];

/** What somebody decided about a call that waited. */
export interface CallAnswer {
  readonly id: string;
  /** `edited`: approved with other arguments. `answered`: its result was given. `closed`: nobody decided; it was given up. */
  readonly type: 'approved' | 'edited' | 'rejected' | 'answered' | 'closed';
}

/** A run inside a call that waits for somebody. */
export interface NestedMemo {
  /** How often it has been worked on. */
  readonly round: number;
  /** The arguments that it was begun with: a hook may have changed those of the call. */
  readonly args: Json;
  /** What it waits for, by the ids under which that is waited for outside. */
  readonly waits: readonly string[];
  /** What it needs to go on: its own state. */
  readonly memo: Json;
}

/** One answer of a model, and what became of the calls in it. Plain data. */
export interface ToolUseStep extends Step {
  readonly stepType: StepType;
  /** The calls that are ours to carry out, in the order of the answer. */
  readonly toolCalls: readonly ToolCall[];
  /** What became of them, in the same order; while the step waits, only those that have ended. */
  readonly executions: readonly ToolExecution[];
  /** What people decided about its calls, in the order in which they did. */
  readonly answers?: readonly CallAnswer[];
  /** Runs inside its calls that wait for somebody, by the call's id; only while the step waits. */
  readonly nested?: Readonly<Record<string, NestedMemo>>;
  /** Who really answered, as `provider/model`. */
  readonly model?: string;
  /** The final answer as JSON, where a schema asked for it and it fits. */
  readonly output?: Json;
}
