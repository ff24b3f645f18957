import type { Message, Part, ToolCall } from '../messages/index.ts';
import type { ToolUseStep } from './tool-use-step.ts';

/** A name for the next one of the same: `call~2`. */
function freshName(id: string, taken: ReadonlySet<string>): string {
  let count = 2;
  while (taken.has(`${id}~${count}`)) count += 1;
  return `${id}~${count}`;
}

/** The step with an id for each of its calls. Answers, results and idempotency keys go by it, and not every model minds. */
export function withUniqueCalls(step: ToolUseStep): ToolUseStep {
  const ids = step.toolCalls.map(({ id }) => id);
  if (new Set(ids).size === ids.length) return step;
  const [inCalls, inParts] = [new Set<string>(), new Set<string>()];
  const renamed = (id: string, taken: Set<string>): string => {
    const name = taken.has(id) ? freshName(id, taken) : id;
    taken.add(name);
    return name;
  };
  const toolCalls = step.toolCalls.map((call): ToolCall => ({ ...call, id: renamed(call.id, inCalls) }));
  // Both walks meet the calls in the same order.
  const part = (given: Part): Part =>
    given.type === 'tool-call' && given.providerExecuted !== true ? { ...given, toolCallId: renamed(given.toolCallId, inParts) } : given;
  const outputMessages = step.outputMessages.map((message): Message => message.withParts(message.parts.map(part)));
  return { ...step, toolCalls, outputMessages };
}
