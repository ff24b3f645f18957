import type { HookChain } from '../hooks/index.ts';
import type { StepScope } from '../step-by-step/index.ts';
import type { AnswerSchema } from '../tools/index.ts';
import { checkOutput } from './check-output.ts';
import type { ToolUseState } from './tool-use-state.ts';
import type { ToolUseStep } from './tool-use-step.ts';
import { StepType } from './tool-use-step.ts';

const spoken = ({ outputMessages }: ToolUseStep): string => outputMessages.findLast((message) => message.isAssistant())?.text ?? '';

/** The JSON of an answer whose words a hook changed, read anew: what is stored must be what was said. */
async function reread(step: ToolUseStep, schema: AnswerSchema, scope: StepScope): Promise<ToolUseStep> {
  const { output: _, ...rest } = step;
  const checked = await checkOutput(schema, spoken(step), scope);
  if (checked === undefined) return rest;
  if (checked.ok) return { ...rest, output: checked.value };
  const message = `A hook changed the answer to one that does not fit: ${checked.problem}`;
  const failure = { type: 'validation', code: 'invalid-output', message, retryable: false, readable: false } as const;
  return { ...rest, stepType: StepType.Error, errors: [...rest.errors, failure] };
}

/** Lets hooks look at a step before it is judged. */
export function inspect({ hooks, output }: Looking, candidate: ToolUseState, scope: StepScope): ToolUseStep | Promise<ToolUseStep> {
  // Holds: a candidate carries the step that is being judged.
  const given = candidate.execution.judgedStep as ToolUseStep;
  const step = hooks.inspect({ state: candidate, scope }, given);
  if (step === given) return given;
  return step instanceof Promise ? step.then((late) => judged(given, late, { output, scope })) : judged(given, step, { output, scope });
}

interface Looking {
  readonly hooks: HookChain;
  readonly output: AnswerSchema | undefined;
}

function judged(
  given: ToolUseStep,
  step: ToolUseStep,
  { output, scope }: { readonly output: AnswerSchema | undefined; readonly scope: StepScope },
): ToolUseStep | Promise<ToolUseStep> {
  const typed = step.errors.length > 0 && step.stepType !== StepType.Error ? { ...step, stepType: StepType.Error } : step;
  const isReworded = output !== undefined && given.output !== undefined && spoken(step) !== spoken(given);
  return isReworded ? reread(typed, output, scope) : typed;
}
