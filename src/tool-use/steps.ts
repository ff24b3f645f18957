// The steps that come out of a model's answer.
import type { Failure } from '../errors/index.ts';
import type { ToolCall } from '../messages/index.ts';
import { Message } from '../messages/index.ts';
import type { Answered, AnswerFacts, Turn } from './driver.ts';
import { checkOutput } from './check-output.ts';
import type { ToolUseStep } from './tool-use-step.ts';
import { StepType } from './tool-use-step.ts';

/** Content of a step, beside the facts about its answer. */
interface Content {
  readonly messages: readonly Message[];
  readonly calls?: readonly ToolCall[];
  readonly errors?: readonly Failure[];
}

/** Creates a step from an answer: no call has run yet. */
export function createStep({ scope }: Turn, facts: AnswerFacts, { messages, calls = [], errors = [] }: Content): ToolUseStep {
  return {
    id: scope.ids(),
    outputMessages: messages,
    errors,
    hasToolCalls: calls.length > 0,
    stepType: errors.length > 0 ? StepType.Error : calls.length > 0 ? StepType.ToolExecution : StepType.FinalResponse,
    toolCalls: calls,
    executions: [],
    ...facts,
  };
}

/** Creates a step for a question without an answer. If the run was interrupted, the text that had come stays: nobody will ask again. */
export function createUnansweredStep(turn: Turn, { failure, text, facts }: Extract<Answered, { readonly ok: false }>): ToolUseStep {
  const messages = turn.scope.control.interruption !== undefined && text !== '' ? [Message.assistant(text, { ids: turn.scope.ids })] : [];
  return createStep(turn, facts, { messages, errors: [{ ...failure, readable: false }] });
}

/** Creates the step of a final answer. If a schema asks for it, the answer is checked; one that does not fit is a failure, with a message to the model to repair it. */
export async function createFinalStep(turn: Turn, facts: AnswerFacts, answer: Message): Promise<ToolUseStep> {
  const { output: schema, scope } = turn;
  const messages = [answer];
  if (schema === undefined) return createStep(turn, facts, { messages });
  const checked = await checkOutput(schema, answer.text, scope);
  if (checked === undefined) return { ...createStep(turn, facts, { messages }), interrupted: scope.control.interruption ?? 'signal' };
  if (checked.ok) return { ...createStep(turn, facts, { messages }), output: checked.value };
  const request = `Your last answer cannot be used: ${checked.problem} Answer again with JSON that fits the schema, and nothing else.`;
  const repair = Message.user(request, { ids: scope.ids, metadata: { purpose: 'repair' } });
  const failure: Failure = { type: 'validation', code: 'invalid-output', message: checked.problem, retryable: true, readable: false };
  return createStep(turn, facts, { messages: [answer, repair], errors: [failure] });
}
