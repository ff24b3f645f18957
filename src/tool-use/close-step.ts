import type { IdSource } from '../lib/index.ts';
import type { ToolCall } from '../messages/index.ts';
import type { PendingStep } from '../step-by-step/index.ts';
import type { ToolExecution } from '../tools/index.ts';
import { cancelledExecution, rejectedExecution, succeededExecution, supersededExecution, unknownExecution } from '../tools/index.ts';
import { finishStep } from './finish-step.ts';
import type { ToolUseStep } from './tool-use-step.ts';

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
  if (partial.nested?.[call.id] !== undefined) return unknownExecution(call, { ...timing, text: describeGivenUp(why) });
  const answer = answers.find(({ id }) => id === call.id);
  switch (answer?.type) {
    case 'rejected':
      return rejectedExecution(call, answer.reason, timing);
    case 'answered':
      return succeededExecution(call, { value: answer.value }, timing);
    // Approved, but it never ran.
    case 'approved':
    case undefined:
      return why === 'superseded' ? supersededExecution(call, timing) : cancelledExecution(call, timing);
  }
}

/** Closes a step that waited and that nobody will answer: every open call gets a result that says so. */
export function closeStep(pending: PendingStep<ToolUseStep>, why: 'superseded' | 'interrupted', ids?: IdSource): ToolUseStep {
  // A run inside a call ends with the call.
  const { nested: _, ...partial } = pending.partial;
  const ended = new Set(partial.executions.map(({ toolCallId }) => toolCallId));
  const closed = partial.toolCalls.filter(({ id }) => !ended.has(id)).map((call) => closeCall(call, pending, why));
  const answers = [...(partial.answers ?? []), ...closed.map(({ toolCallId: id }) => ({ id, type: 'closed' as const }))];
  return { ...finishStep(partial, [...partial.executions, ...closed], ids), ...(answers.length > 0 && { answers }) };
}
