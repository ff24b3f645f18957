import type { OpenTurn } from './open-turn.ts';
import type { Setup } from './setup.ts';
import type { ToolUseStep } from './tool-use-step.ts';

/** A step that is being worked on. */
export interface Work {
  readonly setup: Setup;
  readonly turn: OpenTurn;
  readonly step: ToolUseStep;
}
