import type { Soon } from '../lib/index.ts';
import type { HookChain } from '../hooks/index.ts';
import type { StepScope } from '../step-by-step/index.ts';
import type { AnswerSchema } from '../tools/index.ts';
import { checkOutput } from './output.ts';
import type { ToolUseState } from './tool-use-state.ts';
import type { ToolUseStep } from './tool-use-step.ts';
import { StepType } from './tool-use-step.ts';

const getAnswerText = ({ outputMessages }: ToolUseStep): string => outputMessages.findLast((message) => message.isAssistant())?.text ?? '';

/** Reads the JSON of an answer again whose words a hook changed: the stored output must be what was said. */
async function rereadOutput(step: ToolUseStep, schema: AnswerSchema, scope: StepScope): Promise<ToolUseStep> {
  const { output: _, ...rest } = step;
  const checked = await checkOutput(schema, getAnswerText(step), scope);
  if (checked === undefined) return rest;
  if (checked.ok) return { ...rest, output: checked.value };
  const message = `A hook changed the answer to one that does not fit: ${checked.problem}`;
  const failure = { type: 'validation', code: 'invalid-output', message, retryable: false, readable: false } as const;
  return { ...rest, stepType: StepType.Error, errors: [...rest.errors, failure] };
}

/** Shows a step to the hooks before it is judged. */
export function inspectStep(
  { hooks, output }: { readonly hooks: HookChain; readonly output: AnswerSchema | undefined },
  candidate: ToolUseState,
  scope: StepScope,
): Soon<ToolUseStep> {
  const given = candidate.execution.judgedStep;
  if (given === undefined) throw new TypeError('A candidate has the step that is judged.');
  const check = (step: ToolUseStep): Soon<ToolUseStep> => {
    const typed = step.errors.length > 0 && step.stepType !== StepType.Error ? { ...step, stepType: StepType.Error } : step;
    const isReworded = output !== undefined && given.output !== undefined && getAnswerText(step) !== getAnswerText(given);
    return isReworded ? rereadOutput(typed, output, scope) : typed;
  };
  const step = hooks.inspect({ state: candidate, scope }, given);
  if (step === given) return given;
  return step instanceof Promise ? step.then(check) : check(step);
}
