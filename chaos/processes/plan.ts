// The conversation of every session. Workers act by it, and the check computes by it what the log must hold.
// Everything follows from the session's id, the step and what was read: whoever continues after a kill does the same.
import type { ModelOutcome } from '../../src/inference/index.ts';
import type { ToolOutput } from '../../src/messages/index.ts';
import type { JsonObject } from '../../src/entry/index.ts';
import { Message, Usage } from '../../src/entry/index.ts';
import { unknownText } from '../plan.ts';
import { createTask, innerTool, planHelpOutput, spawn, toText } from './helper.ts';

/**
 * The tools: one of each effect class, one that must not run twice and needs an approval, and one that must not run twice and that only
 * the helper has.
 */
export const tools = { once: 'act', idempotent: 'put', pure: 'look', gated: 'sign', inner: innerTool } as const;
export type ToolName = (typeof tools)[keyof typeof tools];

const onceTools: readonly string[] = [tools.once, tools.gated, tools.inner];
export const isOnce = (tool: string): boolean => onceTools.includes(tool);

export const createSessionIds = (sessions: number): readonly string[] =>
  Array.from({ length: sessions }, (_, index) => `s-${String(index + 1).padStart(4, '0')}`);

export const getIndex = (session: string): number => Number(session.slice(2)) - 1;

export interface PlannedCall {
  readonly toolCallId: string;
  readonly toolName: ToolName | typeof spawn;
  readonly args: JsonObject;
}

/** Ways of approving a call. */
export const approvalWays = [
  'once', // by one client
  'same-request', // twice by one client at once, with the same request id
  'two-clients', // by two clients at once
  'two-clients-same-request', // by two clients at once, with the same request id
] as const;
export type ApprovalWay = (typeof approvalWays)[number];

/** True if a step asks for an approval. */
export const isGated = (session: string, step: number): boolean => (getIndex(session) + step) % 6 === 0;

export const getApprovalWay = (session: string, step: number): ApprovalWay =>
  approvalWays[(getIndex(session) + 3 * step) % approvalWays.length] ?? 'once';

/** True if the answers of a session come slowly, piece by piece. */
export const isSlow = (session: string): boolean => getIndex(session) % 4 === 0;

export const createQuestion = (session: string, steps: number): string => `Session ${session}: take ${steps} steps.`;
export const createResult = (name: ToolName, session: string, step: number): string => `${name} ${session}/${step}: done`;

/** The key under which a call must reach the outside world. Everything happens in the first execution. */
export const createKey = (session: string, step: number, toolCallId: string): string => {
  const key = `${session}/1/${step}/${toolCallId}`;
  // The call of the helper: in the first step of its first run, whose id is the fourth that is drawn inside the call.
  return toolCallId === `${spawn}-${step}` ? `${key}/1/4/1/${tools.inner}-${step}` : key;
};

/** True if a step asks the helper. */
const isHelped = (session: string, step: number): boolean => (getIndex(session) + step) % 7 === 3;

/** The calls of a step: one `once` call, and some of the other kinds beside it. */
export function planCalls(session: string, step: number, heard: string): readonly PlannedCall[] {
  const names = [
    tools.once,
    ...(isGated(session, step) ? [tools.gated] : []),
    ...(step % 5 === 0 ? [tools.idempotent] : []),
    ...(step % 3 === 0 ? [tools.pure] : []),
    ...(isHelped(session, step) ? [spawn] : []),
  ];
  return names.map((toolName) => ({
    toolCallId: `${toolName}-${step}`,
    toolName,
    args: toolName === spawn ? { subagent: 'helper', prompt: createTask(session, step) } : { session, step, heard },
  }));
}

interface PlannedEnd {
  readonly toolName: PlannedCall['toolName'];
  /** True if nobody has seen the end. */
  readonly isLost: boolean;
  readonly session: string;
  readonly step: number;
}

function planOutput({ toolName, isLost, session, step }: PlannedEnd): ToolOutput {
  if (toolName === spawn) return planHelpOutput(isLost ? unknownText : createResult(tools.inner, session, step));
  return isLost ? { type: 'error', value: unknownText } : { type: 'text', value: createResult(toolName, session, step) };
}

const createWords = (step: number, heard: string): string => `This is step ${step} of the session, after I have read this: ${heard}.`;
const createLastWords = (heard: string): string => `All steps are done, and the last thing that I have read is this: ${heard}.`;

interface Progress {
  readonly session: string;
  readonly steps: number;
  /** The step that comes now. */
  readonly step: number;
  /** The result of the last `once` call. */
  readonly heard: string;
}

/** Reads how far a conversation has come. */
export function readProgress(messages: readonly Message[]): Progress {
  const [, session, steps] = /^Session (\S+): take (\d+) steps\.$/.exec(messages[0]?.text ?? '') ?? [];
  if (session === undefined) throw new Error('The first message does not name the session.');
  const results = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part] : [])));
  const last = results.findLast(({ toolName }) => toolName === tools.once);
  const step = messages.filter((message) => message.isAssistant()).length + 1;
  return { session, steps: Number(steps), step, heard: last === undefined ? 'nothing' : toText(last.output) };
}

/** The answer of the model, with its text. */
export interface PlannedAnswer {
  readonly text: string;
  readonly outcome: ModelOutcome;
}

export function planAnswer({ session, steps, step, heard }: Progress): PlannedAnswer {
  const isLast = step >= steps;
  const text = isLast ? createLastWords(heard) : createWords(step, heard);
  const calls = isLast ? [] : planCalls(session, step, heard).map((call) => ({ type: 'tool-call' as const, ...call }));
  const usage = Usage.of({ input: 10, output: 5 });
  return {
    text,
    outcome: { ok: true, response: { parts: [{ type: 'text', text }, ...calls], usage, finishReason: isLast ? 'stop' : 'tool_calls' } },
  };
}

/** Returns the whole conversation, given the calls whose ends are unknown. */
export function planMessages(session: string, steps: number, isUnknown: (toolCallId: string) => boolean): readonly Message[] {
  const messages = [Message.user(createQuestion(session, steps))];
  let heard = 'nothing';
  for (let step = 1; step < steps; step += 1) {
    const calls = planCalls(session, step, heard);
    const parts = calls.map((call) => ({ type: 'tool-call' as const, ...call }));
    messages.push(Message.assistant([{ type: 'text', text: createWords(step, heard) }, ...parts]));
    for (const { toolCallId, toolName } of calls) {
      const output = planOutput({ toolName, isLost: isUnknown(toolCallId), session, step });
      if (toolName === tools.once) heard = toText(output);
      messages.push(Message.tool({ toolCallId, toolName, output }));
    }
  }
  return [...messages, Message.assistant(createLastWords(heard))];
}
