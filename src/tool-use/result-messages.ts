import type { IdSource } from '../lib/index.ts';
import type { ToolOutput } from '../messages/index.ts';
import { Message, toolResultText } from '../messages/index.ts';
import type { ToolExecution } from '../tools/index.ts';
import { toolMessages } from '../tools/index.ts';
import type { ToolUseStep } from './tool-use-step.ts';

const [plain, failed] = ['Observation: ', 'Observation: ERROR: '];

/** What a model observed of each call that succeeded, in plain words. */
export function observedIn(messages: readonly Message[]): ReadonlyMap<string, string> {
  return new Map(
    messages.flatMap((message) => {
      const { purpose, toolCallId } = message.metadata;
      const isObservation = purpose === 'observation' && typeof toolCallId === 'string';
      return isObservation && !message.text.startsWith(failed) ? [[toolCallId, message.text.slice(plain.length)] as const] : [];
    }),
  );
}

function observation(execution: ToolExecution, ids: IdSource): Message {
  const { status, output, toolCallId } = execution;
  const words = (status === 'succeeded' ? plain : failed) + toolResultText(output);
  return Message.user(words, { ids, metadata: { purpose: 'observation', toolCallId } });
}

/**
 * Results in the form in which the model reads them: as answers to calls that stand in its own message as calls, and in plain words
 * where it made them in plain words.
 */
export function resultMessages(step: ToolUseStep, executions: readonly ToolExecution[], ids: IdSource): readonly Message[] {
  const isCall = (id: string): boolean =>
    step.outputMessages.some(({ parts }) => parts.some((part) => part.type === 'tool-call' && part.toolCallId === id));
  const edited = new Set(step.answers?.filter(({ type }) => type === 'edited').map(({ id }) => id));
  return executions.flatMap((execution) => {
    const told = edited.has(execution.toolCallId) ? withEditTold(execution) : execution;
    return isCall(told.toolCallId) ? toolMessages([told], { ids }) : [observation(told, ids)];
  });
}

/** The model said other arguments than those that the call was made with: its own words stay, and the result says so. */
function withEditTold(execution: ToolExecution): ToolExecution {
  const { args, output } = execution;
  const note = `A person changed the arguments to ${JSON.stringify(args)}.`;
  const told: ToolOutput =
    output.type === 'content'
      ? { type: 'content', parts: [{ type: 'text', text: note }, ...output.parts] }
      : { type: output.type === 'error' ? 'error' : 'text', value: `${note}\n${toolResultText(output)}` };
  return { ...execution, output: told };
}
