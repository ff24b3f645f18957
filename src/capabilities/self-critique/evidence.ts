import { pluralize } from '../../lib/index.ts';
import type { Message } from '../../messages/index.ts';
import { toolResultText } from '../../messages/index.ts';
import type { ToolUseStep } from '../../tool-use/index.ts';
import type { ToolExecution } from '../../tools/index.ts';
import { cutText } from './cut-text.ts';

const entry = (call: { readonly name: string; readonly args: unknown }, result: string): string =>
  `${call.name} ${JSON.stringify(call.args)}\n→ ${result}`;

function executed({ toolName: name, args, status, output }: ToolExecution): string {
  const text = toolResultText(output);
  return entry({ name, args }, status === 'succeeded' ? text : `${status}: ${text}`);
}

/** What tools gave that the provider ran itself: it stands in the answer, not among our executions. */
function executedByProvider(message: Message): readonly string[] {
  const results = message.toolResults.filter(({ providerExecuted }) => providerExecuted === true);
  return results.map(({ toolCallId, toolName: name, output }) => {
    const args = message.toolCalls.find(({ id }) => id === toolCallId)?.args ?? {};
    const text = toolResultText(output);
    return entry({ name, args }, output.type === 'error' ? `failed: ${text}` : text);
  });
}

const entriesOf = ({ outputMessages, executions }: ToolUseStep): readonly string[] => [
  ...outputMessages.filter((message) => message.isAssistant()).flatMap(executedByProvider),
  ...executions.map(executed),
];

const gap = '\n\n';

/**
 * The calls of these steps with what came of them, oldest first, in at most `length` characters. The newest are kept; one that does
 * not fit loses its end, and those before it are left out, which is said on top of that length.
 */
export function evidenceOf(steps: readonly ToolUseStep[], length: number): string {
  const entries = steps.flatMap(entriesOf);
  if (entries.length === 0) return 'No tools were called.';
  const kept: string[] = [];
  let left = length;
  for (const text of entries.toReversed()) {
    // A piece of a call that does not even say what was called tells nothing; of the newest one any piece does.
    if (left <= (kept.length === 0 ? 0 : text.indexOf('\n'))) break;
    kept.unshift(cutText(text, left));
    left -= text.length + gap.length;
  }
  const missing = entries.length - kept.length;
  return [...(missing > 0 ? [`(${pluralize(missing, 'earlier call')} left out)`] : []), ...kept].join(gap);
}
