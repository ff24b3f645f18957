import { stableStringify, toCanonical } from '../lib/index.ts';
import { Message } from '../messages/index.ts';
import type { Step } from '../step-by-step/index.ts';

/** Returns the problem with messages returned by a hook, if any. */
export function checkedMessages(given: unknown): string | undefined {
  if (!Array.isArray(given) || given.length === 0) return 'must be a list with at least one Message.';
  return given.every((message) => message instanceof Message)
    ? undefined
    : 'must all be of the class Message; make them with Message.user() and its like.';
}

// The messages of a step are stored; messages for one model call are not.
function storageProblem(messages: readonly Message[]): string | undefined {
  const canonical = toCanonical(
    messages.map((message) => message.toJSON()),
    { maxBytes: Infinity },
  );
  return canonical.ok ? undefined : `its output cannot be stored: ${canonical.path} ${canonical.problem}.`;
}

/** Returns the calls and results in messages, in their order, as text. */
function callsIn(messages: readonly Message[]): string {
  const parts = messages.flatMap((message) => message.parts.filter(({ type }) => type === 'tool-call' || type === 'tool-result'));
  return stableStringify(parts);
}

const isSpoken = (message: Message): boolean => message.isAssistant();

/** Returns the problem with the step output returned by a hook, if any. */
export function findOutputProblem({ outputMessages }: Step, output: unknown): string | undefined {
  if (typeof output === 'string')
    return outputMessages.some(isSpoken) ? undefined : 'the step says nothing, so its words cannot be changed.';
  const problem = Array.isArray(output) ? checkedMessages(output) : 'must be text or a list of messages.';
  if (problem !== undefined) return `its output ${problem}`;
  const unstorable = storageProblem(output as readonly Message[]);
  if (unstorable !== undefined) return unstorable;
  return callsIn(output as readonly Message[]) === callsIn(outputMessages)
    ? undefined
    : 'its output must keep the calls of tools and their results as they are: a call without its result cannot be sent to a model.';
}

function reworded(message: Message, text: string): Message {
  const rest = message.parts.filter(({ type }) => type !== 'text' && type !== 'reasoning');
  return new Message({ ...message, parts: [{ type: 'text', text }, ...rest] });
}

/** Replaces the messages of a step; text replaces the text of its last answer. */
export function changedOutput<S extends Step>(step: S, output: string | readonly Message[]): S {
  if (typeof output !== 'string') return { ...step, outputMessages: [...output] };
  const last = step.outputMessages.findLastIndex(isSpoken);
  return { ...step, outputMessages: step.outputMessages.map((message, index) => (index === last ? reworded(message, output) : message)) };
}
