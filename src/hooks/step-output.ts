import { stableStringify } from '../lib/index.ts';
import { findUnreadable, Message } from '../messages/index.ts';
import type { Step } from '../step-by-step/index.ts';

/** Returns the problem with messages returned by a hook, if any. */
export function findMessageProblem(given: unknown): string | undefined {
  if (!Array.isArray(given) || given.length === 0) return 'must be a list with at least one Message.';
  const messages: readonly unknown[] = given;
  if (!messages.every((message) => message instanceof Message))
    return 'must be instances of Message. Create them with Message.user() or Message.assistant().';
  return findUnreadableMessage(messages);
}

/** Returns the problem with the first attachment that no model can read. */
export function findUnreadableMessage(messages: readonly Message[]): string | undefined {
  for (const [index, { parts }] of messages.entries()) {
    const problem = findUnreadable(parts);
    if (problem !== undefined) return `have an attachment that no model can read: [${index}].${problem}.`;
  }
  return undefined;
}

/** Returns the calls and results in messages, in their order, as text. */
function listCalls(messages: readonly Message[]): string {
  const parts = messages.flatMap((message) => message.parts.filter(({ type }) => type === 'tool-call' || type === 'tool-result'));
  return stableStringify(parts);
}

const isSpoken = (message: Message): boolean => message.isAssistant();

/** Returns the problem with the step output returned by a hook, if any. */
export function findOutputProblem({ outputMessages }: Step, output: unknown): string | undefined {
  if (typeof output === 'string') return outputMessages.some(isSpoken) ? undefined : 'the step has no text that could be changed.';
  const problem = Array.isArray(output) ? findMessageProblem(output) : 'must be a string or a list of messages.';
  if (problem !== undefined) return `its output ${problem}`;
  return listCalls(output as readonly Message[]) === listCalls(outputMessages)
    ? undefined
    : 'its output must keep all tool calls and their results: a model cannot read a call without its result.';
}

function replaceText(message: Message, text: string): Message {
  const rest = message.parts.filter(({ type }) => type !== 'text' && type !== 'reasoning');
  return new Message({ ...message, parts: [{ type: 'text', text }, ...rest] });
}

/** Replaces the messages of a step; text replaces the text of its last answer. */
export function replaceOutput<S extends Step>(step: S, output: string | readonly Message[]): S {
  if (typeof output !== 'string') return { ...step, outputMessages: [...output] };
  const last = step.outputMessages.findLastIndex(isSpoken);
  return {
    ...step,
    outputMessages: step.outputMessages.map((message, index) => (index === last ? replaceText(message, output) : message)),
  };
}
