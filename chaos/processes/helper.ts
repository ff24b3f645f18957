// The helper: a sub-agent that is handed a task in some steps, and does it by one call that must not run twice.
import type { ModelOutcome } from '../../src/inference/index.ts';
import type { Message, ToolOutput } from '../../src/messages/index.ts';
import { Usage } from '../../src/entry/index.ts';
import { unknownText } from '../plan.ts';

/** The tool that starts it, and its own. */
export const spawn = 'spawn_subagent' as const;
export const innerTool = 'help' as const;

export const toText = (output: ToolOutput): string =>
  'value' in output && typeof output.value === 'string' ? output.value : JSON.stringify(output);

export const createTask = (session: string, step: number): string => `Session ${session}: help in step ${step}.`;
const createHelp = (heard: string): string => `I have helped, and I have read this: ${heard}`;

/** Returns the answer of its model. */
export function planHelp(messages: readonly Message[]): ModelOutcome {
  const [, session = '', step = ''] = /^Session (\S+): help in step (\d+)\.$/.exec(messages[0]?.text ?? '') ?? [];
  const results = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [toText(part.output)] : [])));
  const [heard] = results;
  const usage = Usage.of({ input: 10, output: 5 });
  if (heard !== undefined)
    return { ok: true, response: { parts: [{ type: 'text', text: createHelp(heard) }], usage, finishReason: 'stop' } };
  const args = { session, step: Number(step), heard: 'nothing' };
  const call = { type: 'tool-call' as const, toolCallId: `${innerTool}-${step}`, toolName: innerTool, args };
  return { ok: true, response: { parts: [call], usage, finishReason: 'tool_calls' } };
}

/** Returns what the tool that starts it gives back. */
export const planHelpOutput = (heard: string): ToolOutput => ({
  type: 'json',
  value: { text: createHelp(heard), stop_reason: 'completed', partial: false },
});

/** True if it has not seen the end of its call. */
export const isUnknownHelp = (output: ToolOutput): boolean => toText(output) === toText(planHelpOutput(unknownText));
