import type { DriverStep } from './driver-step.ts';
import type { Setup } from './setup.ts';
import type { ToolUseStep } from './tool-use-step.ts';

/** A step that is being worked on. */
export interface Work {
  readonly setup: Setup;
  readonly turn: DriverStep;
  readonly step: ToolUseStep;
}
