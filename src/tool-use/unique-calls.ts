import type { Message, Part, ToolCall } from '../messages/index.ts';
import type { ToolUseStep } from './tool-use-step.ts';

/** An id that is not taken yet: `call~2`. */
function createFreshId(id: string, taken: ReadonlySet<string>): string {
  let count = 2;
  while (taken.has(`${id}~${count}`)) count += 1;
  return `${id}~${count}`;
}

/** The step with a different id for each of its calls: answers, results and idempotency keys depend on it, and not every model cares. */
export function withUniqueCalls(step: ToolUseStep): ToolUseStep {
  const ids = step.toolCalls.map(({ id }) => id);
  if (new Set(ids).size === ids.length) return step;
  const [inCalls, inParts] = [new Set<string>(), new Set<string>()];
  const claimId = (id: string, taken: Set<string>): string => {
    const free = taken.has(id) ? createFreshId(id, taken) : id;
    taken.add(free);
    return free;
  };
  const toolCalls = step.toolCalls.map((call): ToolCall => ({ ...call, id: claimId(call.id, inCalls) }));
  // Both walks meet the calls in the same order.
  const part = (given: Part): Part =>
    given.type === 'tool-call' && given.providerExecuted !== true ? { ...given, toolCallId: claimId(given.toolCallId, inParts) } : given;
  const outputMessages = step.outputMessages.map((message): Message => message.withParts(message.parts.map(part)));
  return { ...step, toolCalls, outputMessages };
}
