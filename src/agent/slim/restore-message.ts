// Messages from what a lossy payload shows of them.
import type { Json } from '../../lib/index.ts';
import { omitUndefined } from '../../lib/index.ts';
import type { Part, ToolCall, ToolOutput } from '../../messages/index.ts';
import { Message, textPart, toolCallPart, toolResultPart } from '../../messages/index.ts';
import type { SlimArgs, SlimAttachment, SlimMessage, SlimToolResult } from './slim-message.ts';

/** Returns the arguments of a call; those that were left out are empty, and those that were cut are text. */
export function restoreCall(id: string, name: string, { args, args_text }: SlimArgs): ToolCall {
  if (args_text !== undefined) return { id, name, args: null, rawArgs: args_text };
  const none: Json = {};
  return { id, name, args: args ?? none };
}

/** True if the arguments are those that the model gave. */
export const hasWholeArgs = ({ args, args_redacted }: SlimArgs): boolean => args !== undefined && args_redacted !== true;

function restoreOutput({ status, content }: SlimToolResult): ToolOutput {
  switch (status) {
    case 'ok':
      return { type: 'text', value: content };
    case 'error':
      return { type: 'error', value: content };
    case 'rejected':
      return { type: 'rejected', reason: content.replace(/^The call was rejected(?:: |\.$)/, '') };
  }
}

// The model reads that there was something.
function describeAttachment({ type, media_type, filename, title, url }: SlimAttachment): Part {
  const about = [media_type, filename, title, url].filter((text) => text !== undefined);
  return textPart(`[${[type, ...about].join(' ')}: left out]`);
}

/** Returns a message with the parts that a payload shows. */
export function restoreMessage(slim: SlimMessage): Message {
  const { id, role, name, content, reasoning, tool_calls = [], tool_results = [], attachments = [], metadata } = slim;
  const others: readonly Part[] = [
    ...attachments.map(describeAttachment),
    ...tool_calls.map((call) => toolCallPart(restoreCall(call.id, call.name, call))),
    ...tool_results.map((result) =>
      toolResultPart({ toolCallId: result.tool_call_id, toolName: result.tool_name, output: restoreOutput(result) }),
    ),
  ];
  const thought: readonly Part[] = reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning }];
  const isSilent = content === '' && thought.length + others.length > 0;
  const parts = [...thought, ...(isSilent ? [] : [textPart(content)]), ...others];
  return new Message({ id, role, parts, ...omitUndefined({ name, metadata }) });
}
