import type { ToolCall } from '../messages/index.ts';
import { toToolCall } from '../messages/index.ts';
import type { ModelResponse } from './model.ts';

/** The calls that are ours to carry out: not the provider's own, and without a result in the same answer. */
export function pendingToolCalls({ parts }: Pick<ModelResponse, 'parts'>): readonly ToolCall[] {
  const answered = new Set(parts.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : [])));
  return parts.flatMap((part) =>
    part.type === 'tool-call' && part.providerExecuted !== true && !answered.has(part.toolCallId) ? [toToolCall(part)] : [],
  );
}
