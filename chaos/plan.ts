// What every session says and does. The worker acts by it, and the check knows by it what must have come of it.
// Everything follows from the session's id, the step and what was read: whoever goes on after a kill comes to the same.
import type { ModelOutcome } from '../src/inference/index.ts';
import type { ToolOutput } from '../src/messages/index.ts';
import { Message, Usage } from '../src/entry/index.ts';

/** Result that a model reads for a `once` call whose end nobody saw. */
export const unknownText = 'The call was interrupted. It may or may not have taken effect: find out before you repeat it.';

/** The tools by name: one of each effect class. */
export const toolNames = { once: 'act', idempotent: 'put', pure: 'look' } as const;
export type ToolName = (typeof toolNames)[keyof typeof toolNames];

export interface PlannedCall {
  readonly toolCallId: string;
  readonly toolName: ToolName;
  readonly args: { readonly session: string; readonly step: number; readonly heard: string };
}

export const sessionIds = (sessions: number): readonly string[] =>
  Array.from({ length: sessions }, (_, index) => `s-${String(index + 1).padStart(4, '0')}`);

export const toRequestId = (session: string): string => `request-of-${session}`;
export const toQuestion = (session: string, steps: number): string => `Session ${session}: take ${steps} steps.`;
export const toResult = (name: ToolName, session: string, step: number): string => `${name} ${session}/${step}: done`;

/** The key under which a call must reach the outside world. All of it happens in the first execution. */
export const toKey = (session: string, { args, toolCallId }: PlannedCall): string => `${session}/1/${args.step}/${toolCallId}`;

/** The calls of a step: one `once` call, and now and then one of the other classes beside it. */
export function planCalls(session: string, step: number, heard: string): readonly PlannedCall[] {
  const names = [toolNames.once, ...(step % 5 === 0 ? [toolNames.idempotent] : []), ...(step % 3 === 0 ? [toolNames.pure] : [])];
  return names.map((toolName) => ({ toolCallId: `${toolName}-${step}`, toolName, args: { session, step, heard } }));
}

const toWords = (step: number, heard: string): string => `Step ${step}, having heard: ${heard}.`;
const lastWords = (heard: string): string => `All done, having heard: ${heard}.`;

interface Read {
  readonly session: string;
  readonly steps: number;
  /** The step that comes now. */
  readonly step: number;
  /** Returns the result of the last `once` call. */
  readonly heard: string;
}

const toText = (output: ToolOutput): string =>
  'value' in output && typeof output.value === 'string' ? output.value : JSON.stringify(output);

function read(messages: readonly Message[]): Read {
  const [, session, steps] = /^Session (\S+): take (\d+) steps\.$/.exec(messages[0]?.text ?? '') ?? [];
  if (session === undefined) throw new Error('The model was not told which session it is in.');
  const results = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part] : [])));
  const last = results.findLast(({ toolName }) => toolName === toolNames.once);
  const step = messages.filter((message) => message.isAssistant()).length + 1;
  return { session, steps: Number(steps), step, heard: last === undefined ? 'nothing' : toText(last.output) };
}

/** Returns the model's answer to these messages. */
export function answerTo(messages: readonly Message[]): ModelOutcome {
  const { session, steps, step, heard } = read(messages);
  const usage = Usage.of({ input: 10, output: 5 });
  if (step >= steps) return { ok: true, response: { parts: [{ type: 'text', text: lastWords(heard) }], usage, finishReason: 'stop' } };
  const calls = planCalls(session, step, heard).map((call) => ({ type: 'tool-call' as const, ...call }));
  return { ok: true, response: { parts: [{ type: 'text', text: toWords(step, heard) }, ...calls], usage, finishReason: 'tool_calls' } };
}

/** Returns the expected conversation if the ends of these calls are unknown. */
export function expectedMessages(session: string, steps: number, isUnknown: (toolCallId: string) => boolean): readonly Message[] {
  const messages = [Message.user(toQuestion(session, steps))];
  let heard = 'nothing';
  for (let step = 1; step < steps; step += 1) {
    const calls = planCalls(session, step, heard);
    messages.push(
      Message.assistant([{ type: 'text', text: toWords(step, heard) }, ...calls.map((call) => ({ type: 'tool-call' as const, ...call }))]),
    );
    for (const { toolCallId, toolName } of calls) {
      const isLost = isUnknown(toolCallId);
      const value = isLost ? unknownText : toResult(toolName, session, step);
      if (toolName === toolNames.once) heard = value;
      messages.push(Message.tool({ toolCallId, toolName, output: { type: isLost ? 'error' : 'text', value } }));
    }
  }
  return [...messages, Message.assistant(lastWords(heard))];
}
