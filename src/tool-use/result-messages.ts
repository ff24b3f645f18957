import type { IdSource } from '../lib/index.ts';
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
  return executions.flatMap((execution) =>
    isCall(execution.toolCallId) ? toolMessages([execution], { ids }) : [observation(execution, ids)],
  );
}
