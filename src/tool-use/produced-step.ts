import type { Produced } from '../step-by-step/index.ts';
import { cancelledExecution } from '../tools/index.ts';
import { finishStep } from './finish-step.ts';
import type { CallResults } from './run-tool-calls.ts';
import type { ToolUseStep } from './tool-use-step.ts';
import type { Work } from './work.ts';

const noMoreTools = 'The call was not made: a limit has been reached, and no tool can be called any more.';

/** Results of calls in a step that may only sum up: none of them runs. */
export function cancelCalls<Context>({ turn, step }: Work<Context>): CallResults {
  const startedAt = turn.scope.time.clock.now();
  return { executions: step.toolCalls.map((call) => cancelledExecution(call, { startedAt, text: noMoreTools })), waits: [] };
}

/** The step with its results, or, if calls wait for somebody, as it is parked. */
export function toProduced<Context>({ turn, step }: Work<Context>, results: CallResults): Produced<ToolUseStep> {
  const { executions, waits, nested, failures = [] } = results;
  const { nested: _, ...rest } = step;
  const known: ToolUseStep = failures.length === 0 ? rest : { ...rest, errors: [...rest.errors, ...failures] };
  if (waits.length > 0) return { type: 'waiting', partial: { ...known, executions, ...(nested !== undefined && { nested }) }, waits };
  const finished = finishStep(known, executions, turn.scope.ids);
  const { forbidding, interruption } = turn.scope.control;
  const wasHeldBack = forbidding !== undefined && interruption === undefined && executions.some(({ status }) => status === 'cancelled');
  if (wasHeldBack) return toWholeStep({ ...finished, interrupted: 'vote' });
  // A run inside that was interrupted returns what it has: a result, but not a whole one.
  const hasRunInside = interruption !== undefined && step.toolCalls.some(({ name }) => turn.tools.get(name)?.type === 'nested');
  return toWholeStep(hasRunInside ? { ...finished, interrupted: interruption } : finished);
}

/** A step as it is handed to the loop: it says if any of it was interrupted. */
export function toWholeStep(step: ToolUseStep): Produced<ToolUseStep> {
  const { errors, executions, interrupted } = step;
  const wasInterrupted =
    interrupted !== undefined ||
    errors.some(({ code }) => code === 'cancelled') ||
    executions.some(({ status }) => status === 'cancelled' || status === 'unknown');
  return { type: 'step', step, isWhole: !wasInterrupted };
}
