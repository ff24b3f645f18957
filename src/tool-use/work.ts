import type { Failure } from '../errors/index.ts';
import type { Wait } from '../step-by-step/index.ts';
import type { ToolExecution } from '../tools/index.ts';
import type { OpenTurn } from './open-turn.ts';
import type { Setup } from './setup.ts';
import type { NestedMemo, ToolUseStep } from './tool-use-step.ts';

/** A step that is being worked on. */
export interface Work {
  readonly setup: Setup;
  readonly turn: OpenTurn;
  readonly step: ToolUseStep;
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
