import type { IdSource } from '../lib/index.ts';
import type { ToolOutput } from '../messages/index.ts';
import { Message, toolResultText } from '../messages/index.ts';
import type { ToolExecution } from '../tools/index.ts';
import { toolMessages } from '../tools/index.ts';
import type { ToolUseStep } from './tool-use-step.ts';

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
export function toResultMessages(step: ToolUseStep, executions: readonly ToolExecution[], ids: IdSource): readonly Message[] {
  const isCall = (id: string): boolean =>
    step.outputMessages.some(({ parts }) => parts.some((part) => part.type === 'tool-call' && part.toolCallId === id));
  const edited = new Set(step.answers?.filter(({ type }) => type === 'edited').map(({ id }) => id));
  return executions.flatMap((execution) => {
    const told = edited.has(execution.toolCallId) ? withEditNote(execution) : execution;
    return isCall(told.toolCallId) ? toolMessages([told], { ids }) : [toObservation(told, ids)];
  });
}

/** Says in the result that a person changed the arguments: the model's own message stays as it is. */
function withEditNote(execution: ToolExecution): ToolExecution {
  const { args, output } = execution;
  const note = `A person changed the arguments to ${JSON.stringify(args)}.`;
  const told: ToolOutput =
    output.type === 'content'
      ? { type: 'content', parts: [{ type: 'text', text: note }, ...output.parts] }
      : { type: output.type === 'error' ? 'error' : 'text', value: `${note}\n${toolResultText(output)}` };
  return { ...execution, output: told };
}
