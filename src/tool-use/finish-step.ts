import type { IdSource } from '../lib/index.ts';
import { systemIds } from '../lib/index.ts';
import type { ToolExecution } from '../tools/index.ts';
import { blockedCode } from '../tools/index.ts';
import { toResultMessages } from './result-messages.ts';
import type { ToolUseStep } from './tool-use-step.ts';
import { StepType } from './tool-use-step.ts';

// A blocked call is for the model to read; it is not a failure that a policy would judge.
const listFailures = (executions: readonly ToolExecution[]) =>
  executions.flatMap(({ failure }) => (failure === undefined || failure.code === blockedCode ? [] : [failure]));

function sortByCall({ toolCalls }: ToolUseStep, executions: readonly ToolExecution[]): readonly ToolExecution[] {
  const places = new Map(toolCalls.map(({ id }, index) => [id, index]));
  return executions.toSorted((left, right) => (places.get(left.toolCallId) ?? 0) - (places.get(right.toolCallId) ?? 0));
}

/** The step with the results of all its calls, in the order of the calls. */
export function finishStep(step: ToolUseStep, executions: readonly ToolExecution[], ids: IdSource = systemIds): ToolUseStep {
  const inOrder = executions.length < 2 ? executions : sortByCall(step, executions);
  const failures = listFailures(inOrder);
  return {
    ...step,
    executions: inOrder,
    outputMessages: [...step.outputMessages, ...toResultMessages(step, inOrder, ids)],
    errors: failures.length === 0 ? step.errors : [...step.errors, ...failures],
    stepType: failures.length === 0 && step.errors.length === 0 ? StepType.ToolExecution : StepType.Error,
  };
}
