// The material that a critic judges: the user's questions, and the calls of the run as evidence.
import { pluralize } from '../../lib/index.ts';
import type { ContentPart, Message, Part } from '../../messages/index.ts';
import { toolResultText } from '../../messages/index.ts';
import type { ToolUseState, ToolUseStep } from '../../tool-use/index.ts';
import type { ToolExecution } from '../../tools/index.ts';

/** Cuts a text to `length` UTF-16 units (1 or more) with a mark at its end; a character is never cut in two. */
export function truncateText(text: string, length: number): string {
  if (text.length <= length) return text;
  // The mark takes one.
  const lastUnit = text.charCodeAt(length - 2);
  const splitsPair = lastUnit >= 0xd800 && lastUnit <= 0xdbff;
  return `${text.slice(0, splitsPair ? length - 2 : length - 1)}…`;
}

const toEntry = (call: { readonly name: string; readonly args: unknown }, result: string): string =>
  `${call.name} ${JSON.stringify(call.args)}\n→ ${result}`;

function describeExecution({ toolName: name, args, status, output }: ToolExecution): string {
  const text = toolResultText(output);
  return toEntry({ name, args }, status === 'succeeded' ? text : `${status}: ${text}`);
}

/** Lists the calls that the provider ran itself: they are in the answer, not among our executions. */
function listProviderCalls(message: Message): readonly string[] {
  const results = message.toolResults.filter(({ providerExecuted }) => providerExecuted === true);
  return results.map(({ toolCallId, toolName: name, output }) => {
    const args = message.toolCalls.find(({ id }) => id === toolCallId)?.args ?? {};
    const text = toolResultText(output);
    return toEntry({ name, args }, output.type === 'error' ? `failed: ${text}` : text);
  });
}

const listEntries = ({ outputMessages, executions }: ToolUseStep): readonly string[] => [
  ...outputMessages.filter((message) => message.isAssistant()).flatMap(listProviderCalls),
  ...executions.map(describeExecution),
];

const gap = '\n\n';

/**
 * Collects the calls of these steps with their results, oldest first, in at most `length` characters. The newest are kept; one that
 * does not fit loses its end, and those before it are left out, which is said on top of that length.
 */
export function collectEvidence(steps: readonly ToolUseStep[], length: number): string {
  const entries = steps.flatMap(listEntries);
  if (entries.length === 0) return 'No tools were called.';
  const kept: string[] = [];
  let left = length;
  for (const text of entries.toReversed()) {
    // A piece of a call that does not even name the tool is of no use; any piece of the newest one is.
    if (left <= (kept.length === 0 ? 0 : text.indexOf('\n'))) break;
    kept.unshift(truncateText(text, left));
    left -= text.length + gap.length;
  }
  const missing = entries.length - kept.length;
  return [...(missing > 0 ? [`(${pluralize(missing, 'earlier call')} left out)`] : []), ...kept].join(gap);
}

const isContent = (part: Part): part is ContentPart => part.type === 'text' || part.type === 'image' || part.type === 'file';

/** Describes pictures and files by name: the critic reads words. */
const describeMessage = ({ parts }: Message): string => toolResultText({ type: 'content', parts: parts.filter(isContent) });

/**
 * Collects what the user asked in this execution: everything since others last spoke. Requests that steps add to the conversation,
 * such as a critique, are not the user's.
 */
export function collectQuestions({ messagesForInference: messages, steps }: ToolUseState): string {
  const own = new Set(steps.flatMap(({ outputMessages }) => outputMessages.map(({ id }) => id)));
  const others = messages.filter(({ id }) => !own.has(id));
  const before = others.findLastIndex((message) => message.isAssistant() || message.isTool());
  const asked = others.slice(before + 1).filter((message) => message.isUser() && message.metadata['purpose'] === undefined);
  return asked.length === 0 ? '(The question is no longer in the conversation.)' : asked.map(describeMessage).join('\n\n');
}
