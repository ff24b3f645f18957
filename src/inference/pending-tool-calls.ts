import type { ToolCall } from '../messages/index.ts';
import { toToolCall } from '../messages/index.ts';
import type { ModelResponse } from './model.ts';

/** The calls that are ours to carry out: not the provider's own, and without a result in the same answer. */
export function pendingToolCalls({ parts }: Pick<ModelResponse, 'parts'>): readonly ToolCall[] {
  const calls: ToolCall[] = [];
  for (const part of parts) {
    if (part.type !== 'tool-call' || part.providerExecuted === true) continue;
    const isAnswered = parts.some((other) => other.type === 'tool-result' && other.toolCallId === part.toolCallId);
    if (!isAnswered) calls.push(toToolCall(part));
  }
  return calls;
}
