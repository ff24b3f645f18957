// Finishing a step: the results of its calls, and the messages in which the model reads them.
// F1. A step that nobody will answer is closed: every open call gets a result that says so.
import type { Failure } from '../errors/index.ts';
import type { IdSource } from '../lib/index.ts';
import { omitUndefined, systemIds } from '../lib/index.ts';
import type { ToolCall, ToolOutput } from '../messages/index.ts';
import { Message, toolResultText } from '../messages/index.ts';
import type { PendingStep } from '../step-by-step/index.ts';
import type { ToolExecution } from '../tools/index.ts';
import { blockedCode, toCancelledExecution, toRejectedExecution, toSucceededExecution, toSupersededExecution } from '../tools/index.ts';
import { toToolMessages, toUnknownExecution } from '../tools/index.ts';
import type { CallAnswer, ToolUseStep } from './tool-use-step.ts';
import { StepType } from './tool-use-step.ts';

const [plain, failed] = ['Observation: ', 'Observation: ERROR: '];

/** Observations of each call that succeeded, by the call's id. */
export function readObservations(messages: readonly Message[]): ReadonlyMap<string, string> {
  return new Map(
    messages.flatMap((message) => {
      const { purpose, toolCallId } = message.metadata;
      const isObservation = purpose === 'observation' && typeof toolCallId === 'string';
      return isObservation && !message.text.startsWith(failed) ? [[toolCallId, message.text.slice(plain.length)] as const] : [];
    }),
  );
}

function toObservation(execution: ToolExecution, ids: IdSource): Message {
  const { status, output, toolCallId } = execution;
  const words = (status === 'succeeded' ? plain : failed) + toolResultText(output);
  return Message.user(words, { ids, metadata: { purpose: 'observation', toolCallId } });
}

/** Converts results to messages for the model: tool messages for calls that are tool-call parts of its message, plain text for others. */
function toResultMessages(step: ToolUseStep, executions: readonly ToolExecution[], ids: IdSource): readonly Message[] {
  const calls = listCallIds(step.outputMessages);
  // Most often the place is the same, and no other has to be looked at.
  const isCall = ({ toolCallId }: ToolExecution, place: number): boolean => calls[place] === toolCallId || calls.includes(toolCallId);
  const shown = step.answers === undefined ? executions : executions.map((execution) => showEdit(execution, step.answers ?? []));
  if (shown.every(isCall)) return toToolMessages(shown, { ids });
  return shown.flatMap((execution, place) =>
    isCall(execution, place) ? toToolMessages([execution], { ids }) : [toObservation(execution, ids)],
  );
}

/** Ids of the calls that are parts of messages. */
function listCallIds(messages: readonly Message[]): readonly string[] {
  const ids: string[] = [];
  for (const { parts } of messages) for (const part of parts) if (part.type === 'tool-call') ids.push(part.toolCallId);
  return ids;
}

const showEdit = (execution: ToolExecution, answers: readonly CallAnswer[]): ToolExecution =>
  answers.some(({ id, type }) => type === 'edited' && id === execution.toolCallId) ? withEditNote(execution) : execution;

/** Says in the result that a person changed the arguments: the model's own message stays as it is. */
function withEditNote(execution: ToolExecution): ToolExecution {
  const { args, output } = execution;
  const note = `A person changed the arguments to ${JSON.stringify(args)}.`;
  const shown: ToolOutput =
    output.type === 'content'
      ? { type: 'content', parts: [{ type: 'text', text: note }, ...output.parts] }
      : { type: output.type === 'error' ? 'error' : 'text', value: `${note}\n${toolResultText(output)}` };
  return { ...execution, output: shown };
}

// A blocked call is for the model to read; it is not a failure that a policy would judge.
function listFailures(executions: readonly ToolExecution[]): readonly Failure[] {
  const failures: Failure[] = [];
  for (const { failure } of executions) if (failure !== undefined && failure.code !== blockedCode) failures.push(failure);
  return failures;
}

function sortByCall({ toolCalls }: ToolUseStep, executions: readonly ToolExecution[]): readonly ToolExecution[] {
  // Calls that ran side by side are in order already.
  if (executions.every(({ toolCallId }, index) => toolCalls[index]?.id === toolCallId)) return executions;
  const places = new Map(toolCalls.map(({ id }, index) => [id, index]));
  return executions.toSorted((left, right) => (places.get(left.toolCallId) ?? 0) - (places.get(right.toolCallId) ?? 0));
}

/** Returns the step with the results of all its calls, in the order of the calls. */
export function finishStep(step: ToolUseStep, executions: readonly ToolExecution[], ids: IdSource = systemIds): ToolUseStep {
  const inOrder = executions.length < 2 ? executions : sortByCall(step, executions);
  const failures = listFailures(inOrder);
  return {
    ...step,
    executions: inOrder,
    // No spread, because the stored array would then reserve room for more items.
    outputMessages: step.outputMessages.concat(toResultMessages(step, inOrder, ids)),
    errors: failures.length === 0 ? step.errors : [...step.errors, ...failures],
    stepType: failures.length === 0 && step.errors.length === 0 ? StepType.ToolExecution : StepType.Error,
  };
}

/** Text for the model about a run inside a call that was given up: it may have done something. */
export const describeGivenUp = (why: 'superseded' | 'interrupted'): string =>
  `The task was begun, waited for somebody, and was given up ${why === 'superseded' ? 'for a new message' : 'with the run'}. What it did until then stands.`;

/** The execution of a call that will not run any more. */
function closeCall(
  call: ToolCall,
  { answers, parkedAt, partial }: PendingStep<ToolUseStep>,
  why: 'superseded' | 'interrupted',
): ToolExecution {
  const timing = { startedAt: parkedAt };
  // A run of its own has started, and done what it did.
  if (partial.nested?.[call.id] !== undefined) return toUnknownExecution(call, { ...timing, text: describeGivenUp(why) });
  const answer = answers.find(({ id }) => id === call.id);
  switch (answer?.type) {
    case 'rejected':
      return toRejectedExecution(call, answer.reason, timing);
    case 'answered':
      return toSucceededExecution(call, { value: answer.value }, timing);
    // Approved, but it never ran.
    case 'approved':
    case undefined:
      return why === 'superseded' ? toSupersededExecution(call, timing) : toCancelledExecution(call, timing);
  }
}

/** Closes a step that waited and that nobody will answer: every open call gets a result that says so. */
export function closeStep(pending: PendingStep<ToolUseStep>, why: 'superseded' | 'interrupted', ids?: IdSource): ToolUseStep {
  // A run inside a call ends with the call.
  const { nested: _, ...partial } = pending.partial;
  const ended = new Set(partial.executions.map(({ toolCallId }) => toolCallId));
  const closed = partial.toolCalls.filter(({ id }) => !ended.has(id)).map((call) => closeCall(call, pending, why));
  const answers = [...(partial.answers ?? []), ...closed.map(({ toolCallId: id }) => ({ id, type: 'closed' as const }))];
  return omitUndefined({
    ...finishStep(partial, [...partial.executions, ...closed], ids),
    answers: answers.length > 0 ? answers : undefined,
  });
}
