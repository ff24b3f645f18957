import { isRecord } from '../lib/index.ts';
import { Message } from '../messages/index.ts';
import type { Step } from '../step-by-step/index.ts';

/** What is wrong with messages that a hook gave, if anything. */
export function checkedMessages(given: unknown): string | undefined {
  if (!Array.isArray(given) || given.length === 0) return 'must be a list with at least one Message.';
  return given.every((message) => message instanceof Message)
    ? undefined
    : 'must all be of the class Message; make them with Message.user() and its like.';
}

/** The calls and results in messages, in their order. */
function callIds(messages: readonly Message[]): string {
  const ids = messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool-call' || part.type === 'tool-result' ? [[part.type, part.toolCallId]] : [])),
  );
  return JSON.stringify(ids);
}

const isSpoken = (message: Message): boolean => message.isAssistant();

/** What is wrong with the output that a hook wants a step to have, if anything. */
export function outputProblem({ outputMessages }: Step, output: unknown): string | undefined {
  if (typeof output === 'string')
    return outputMessages.some(isSpoken) ? undefined : 'the step says nothing, so its words cannot be changed.';
  const problem = isRecord(output) ? checkedMessages(output) : 'must be text or a list of messages.';
  if (problem !== undefined) return `its output ${problem}`;
  return callIds(output as readonly Message[]) === callIds(outputMessages)
    ? undefined
    : 'its output must keep the calls of tools and their results as they are: a call without its result cannot be sent to a model.';
}

function reworded(message: Message, text: string): Message {
  const rest = message.parts.filter(({ type }) => type !== 'text' && type !== 'reasoning');
  return new Message({ ...message, parts: [{ type: 'text', text }, ...rest] });
}

/** The step with other messages; text replaces the words of its last answer. */
export function changedOutput<S extends Step>(step: S, output: string | readonly Message[]): S {
  if (typeof output !== 'string') return { ...step, outputMessages: [...output] };
  const last = step.outputMessages.findLastIndex(isSpoken);
  return { ...step, outputMessages: step.outputMessages.map((message, index) => (index === last ? reworded(message, output) : message)) };
}
