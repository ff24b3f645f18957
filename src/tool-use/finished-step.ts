import type { IdSource } from '../lib/index.ts';
import { systemIds } from '../lib/index.ts';
import type { ToolExecution } from '../tools/index.ts';
import { blockedCode } from '../tools/index.ts';
import { resultMessages } from './result-messages.ts';
import type { ToolUseStep } from './tool-use-step.ts';
import { StepType } from './tool-use-step.ts';

// What was held back is for the model to read; it is no failure that a policy would judge.
const failuresOf = (executions: readonly ToolExecution[]) =>
  executions.flatMap(({ failure }) => (failure === undefined || failure.code === blockedCode ? [] : [failure]));

function ordered({ toolCalls }: ToolUseStep, executions: readonly ToolExecution[]): readonly ToolExecution[] {
  const place = new Map(toolCalls.map(({ id }, index) => [id, index]));
  const placeOf = ({ toolCallId }: ToolExecution): number => place.get(toolCallId) ?? 0;
  return [...executions].sort((left, right) => placeOf(left) - placeOf(right));
}

/** The step with the results of all its calls, in the order of the calls. */
export function finishedStep(step: ToolUseStep, executions: readonly ToolExecution[], ids: IdSource = systemIds): ToolUseStep {
  const inOrder = executions.length < 2 ? executions : ordered(step, executions);
  const failures = failuresOf(inOrder);
  return {
    ...step,
    executions: inOrder,
    outputMessages: [...step.outputMessages, ...resultMessages(step, inOrder, ids)],
    errors: failures.length === 0 ? step.errors : [...step.errors, ...failures],
    stepType: failures.length === 0 && step.errors.length === 0 ? StepType.ToolExecution : StepType.Error,
  };
}
