// The steps of a conversation with tools: made from an answer of the model, completed with the results of its calls or parked.
import type { Failure } from '../errors/index.ts';
import { omitUndefined } from '../lib/index.ts';
import type { Part, ToolCall } from '../messages/index.ts';
import { Message, Usage } from '../messages/index.ts';
import type { ToolExecution } from '../tools/index.ts';
import type { EmptyStep, ProducedStep } from '../step-by-step/index.ts';
import { addCost } from '../step-by-step/index.ts';
import type { AnswerMessages } from './answer-messages.ts';
import type { ModelAnswer, AnswerFacts, DriverContext } from './driver.ts';
import { finishStep } from './finish-step.ts';
import { checkOutput } from './output.ts';
import type { CallResults, ToolUseStep } from './tool-use-step.ts';
import { StepType } from './tool-use-step.ts';

/** Content of a step, beside the facts about its answer. */
interface Content {
  readonly messages: readonly Message[];
  readonly calls?: readonly ToolCall[];
  readonly errors?: readonly Failure[];
}

const noErrors: readonly Failure[] = Object.freeze([]);
const noExecutions: readonly ToolExecution[] = Object.freeze([]);

/** Creates a step in which the model was not asked. */
export const createEmptyStep = (facts: EmptyStep): ToolUseStep => ({
  ...facts,
  outputMessages: [],
  usage: Usage.none(),
  stepType: StepType.Error,
  toolCalls: [],
  executions: [],
});

/** Creates a step from an answer: no call has run yet. */
export function createStep(
  { scope }: DriverContext,
  facts: AnswerFacts,
  { messages, calls = [], errors = noErrors }: Content,
): ToolUseStep {
  const { usage, model, finishReason, cost, fallbacks } = facts;
  const hasToolCalls = calls.length > 0;
  const step = {
    id: scope.ids(),
    outputMessages: messages,
    errors,
    hasToolCalls,
    stepType: errors.length > 0 ? StepType.Error : hasToolCalls ? StepType.ToolExecution : StepType.FinalResponse,
    // A copy, because a list that grew reserves room for more items, and this one is stored.
    toolCalls: calls.slice(),
    executions: noExecutions,
    usage,
    model,
    finishReason,
  };
  const isUsual = model !== undefined && finishReason !== undefined && cost === undefined && fallbacks === undefined;
  // Holds: no field of a usual step is undefined. A single literal takes the least memory.
  return isUsual ? (step as ToolUseStep) : omitUndefined({ ...step, cost, fallbacks });
}

/** Creates a step for a question without an answer. If the run was interrupted, the text that had come stays: nobody will ask again. */
export function createUnansweredStep(
  turn: DriverContext,
  { failure, text, facts }: Extract<ModelAnswer, { readonly ok: false }>,
): ToolUseStep {
  const { control, ids } = turn.scope;
  const messages = control.interruption !== undefined && text !== '' ? [Message.assistant(text, { ids })] : [];
  return createStep(turn, facts, { messages, errors: [{ ...failure, readable: false }] });
}

type FinalAnswer = Pick<AnswerMessages, 'answer'> & Partial<AnswerMessages>;

/** Creates the step of a final answer, with the results that came in it. One that does not fit the output schema is a failure, with a message to the model to repair it. */
export async function createFinalStep(
  turn: DriverContext,
  facts: AnswerFacts,
  { answer, results = [] }: FinalAnswer,
): Promise<ToolUseStep> {
  const { output: schema, scope } = turn;
  const messages = [answer, ...results];
  if (schema === undefined) return createStep(turn, facts, { messages });
  const checked = await checkOutput(schema, answer.text, scope);
  if (checked === undefined) return { ...createStep(turn, facts, { messages }), interrupted: scope.control.interruption ?? 'signal' };
  if (checked.ok) return { ...createStep(turn, facts, { messages }), output: checked.value };
  const request = `Your last answer cannot be used: ${checked.problem} Answer again with JSON that fits the schema, and nothing else.`;
  const repair = Message.user(request, { ids: scope.ids, metadata: { purpose: 'repair' } });
  const failure: Failure = { type: 'validation', code: 'invalid-output', message: checked.problem, retryable: true, readable: false };
  return createStep(turn, facts, { messages: [...messages, repair], errors: [failure] });
}

/** Returns the usage and cost of two answers of one step, and the model of the second. */
export function joinFacts(first: AnswerFacts, second: AnswerFacts): AnswerFacts {
  const cost = addCost(first.cost, second.cost);
  return { ...first, ...second, usage: Usage.add(first.usage, second.usage), ...(cost !== undefined && { cost }) };
}

/** Returns the step with a different id for each of its calls: answers, results and idempotency keys depend on it, and not every model cares. */
export function withUniqueCalls(step: ToolUseStep): ToolUseStep {
  // Most steps have one call.
  if (step.toolCalls.length < 2 || new Set(step.toolCalls.map(({ id }) => id)).size === step.toolCalls.length) return step;
  const claimId = (id: string, taken: Set<string>): string => {
    let free = id;
    for (let count = 2; taken.has(free); count += 1) free = `${id}~${count}`;
    taken.add(free);
    return free;
  };
  // Both walks meet the calls in the same order.
  const [inCalls, inParts] = [new Set<string>(), new Set<string>()];
  const rename = (part: Part): Part =>
    part.type === 'tool-call' && part.providerExecuted !== true ? { ...part, toolCallId: claimId(part.toolCallId, inParts) } : part;
  return {
    ...step,
    toolCalls: step.toolCalls.map((call) => ({ ...call, id: claimId(call.id, inCalls) })),
    outputMessages: step.outputMessages.map((message) => message.withParts(message.parts.map(rename))),
  };
}

/** Returns the step without the runs inside its calls. */
function withoutNested(step: ToolUseStep): ToolUseStep {
  if (step.nested === undefined) return step;
  const { nested: _, ...rest } = step;
  return rest;
}

/** Completes the step with its results, or parks it if calls wait for somebody. */
export function toProducedStep(turn: DriverContext, step: ToolUseStep, results: CallResults): ProducedStep<ToolUseStep> {
  const { executions, waits, nested, failures } = results;
  const rest = withoutNested(step);
  const known: ToolUseStep = failures === undefined || failures.length === 0 ? rest : { ...rest, errors: [...rest.errors, ...failures] };
  if (waits.length > 0) return { type: 'waiting', partial: omitUndefined({ ...known, executions, nested }), waits };
  const finished = finishStep(known, executions, turn.scope.ids);
  const { forbidding, interruption } = turn.scope.control;
  const wasHeldBack = forbidding !== undefined && interruption === undefined && executions.some(({ status }) => status === 'cancelled');
  if (wasHeldBack) return toWholeStep({ ...finished, interrupted: 'vote' });
  // A run inside that was interrupted returns what it has: a result, but not a whole one.
  const hasRunInside = interruption !== undefined && step.toolCalls.some(({ name }) => turn.tools.get(name)?.type === 'nested');
  return toWholeStep(hasRunInside ? { ...finished, interrupted: interruption } : finished);
}

/** Hands a step to the loop, and says if any of it was interrupted. */
export function toWholeStep(step: ToolUseStep): ProducedStep<ToolUseStep> {
  const { errors, executions, interrupted } = step;
  const wasInterrupted =
    interrupted !== undefined ||
    errors.some(({ code }) => code === 'cancelled') ||
    executions.some(({ status }) => status === 'cancelled' || status === 'unknown');
  return { type: 'step', step, isWhole: !wasInterrupted };
}
