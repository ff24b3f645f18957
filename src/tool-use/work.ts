import type { OpenTurn } from './open-turn.ts';
import type { Setup } from './setup.ts';
import type { ToolUseStep } from './tool-use-step.ts';

/** A step that is being worked on. */
export interface Work<Context> {
  readonly setup: Setup<Context>;
  readonly turn: OpenTurn<Context>;
  readonly step: ToolUseStep;
}
