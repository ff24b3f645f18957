import { hasEnded } from './execution.ts';
import type { RunState } from './run-state.ts';

/** True where there is something to do: not ended, and, where it waits, with at least one answer to work on. */
export function canBegin(state: RunState): boolean {
  const { pendingStep } = state.execution;
  return pendingStep === undefined ? !hasEnded(state.execution) : pendingStep.answers.length > 0;
}
