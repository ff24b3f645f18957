import { awaitedGrants, hasEnded } from './execution.ts';
import type { RunState } from './run-state.ts';

/** True where there is something to do: not ended, and, where it waits, with an answer or a grant to work on. */
export function canBegin(state: RunState): boolean {
  const { pendingStep } = state.execution;
  if (pendingStep !== undefined) return pendingStep.answers.length > 0;
  return !hasEnded(state.execution) && awaitedGrants(state.execution).length === 0;
}
