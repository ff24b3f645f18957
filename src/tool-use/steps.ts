// The steps that come out of a model's answer.
import type { Failure } from '../errors/index.ts';
import type { ToolCall } from '../messages/index.ts';
import { Message } from '../messages/index.ts';
import type { Answered, AnswerFacts, Turn } from './driver.ts';
import { checkOutput } from './check-output.ts';
import type { ToolUseStep } from './tool-use-step.ts';
import { StepType } from './tool-use-step.ts';

/** What a step is made of beside what the answer cost. */
interface Content {
  readonly messages: readonly Message[];
  readonly calls?: readonly ToolCall[];
  readonly errors?: readonly Failure[];
}

/** A step as it comes out of an answer: no call has been carried out yet. */
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

/** A question without an answer. The words that had come stay where the run was cut off: nobody will ask again. */
export function createUnansweredStep(turn: Turn, { failure, text, facts }: Extract<Answered, { readonly ok: false }>): ToolUseStep {
  const wasCutOff = turn.scope.interruption !== undefined;
  const messages = wasCutOff && text !== '' ? [Message.assistant(text, { ids: turn.scope.ids })] : [];
  return createStep(turn, facts, { messages, errors: [{ ...failure, readable: false }] });
}

/** A final answer: checked where a schema asks for it. What does not fit is a failure, with a word to the model on how to repair it. */
export async function createFinalStep(turn: Turn, facts: AnswerFacts, answer: Message): Promise<ToolUseStep> {
  if (turn.output === undefined) return createStep(turn, facts, { messages: [answer] });
  const checked = await checkOutput(turn.output, answer.text, turn.scope);
  if (checked === undefined)
    return { ...createStep(turn, facts, { messages: [answer] }), interrupted: turn.scope.interruption ?? 'signal' };
  if (checked.ok) return { ...createStep(turn, facts, { messages: [answer] }), output: checked.value };
  const request = `Your last answer cannot be used: ${checked.problem} Answer again with JSON that fits the schema, and nothing else.`;
  const repair = Message.user(request, { ids: turn.scope.ids, metadata: { purpose: 'repair' } });
  const failure: Failure = { type: 'validation', code: 'invalid-output', message: checked.problem, retryable: true, readable: false };
  return createStep(turn, facts, { messages: [answer, repair], errors: [failure] });
}
