// The plan of every session: four calls in each step, all derived from the session, the step and the results read so far.
import type { ScriptedAnswer } from '../../../../src/testing/index.ts';
import type { Message } from '../../../../src/entry/index.ts';

/** Calls of a step: the tool, and whether it may run only once. */
export const callNames = ['act', 'pay', 'put', 'look'] as const;
export type CallName = (typeof callNames)[number];
export const isOnce = (name: string): boolean => name === 'act' || name === 'pay';

export const sessionIds = (sessions: number): readonly string[] => Array.from({ length: sessions }, (_, index) => `s-${index + 1}`);
export const toResult = (name: string, session: string, step: number): string => `${name} ${session}/${step}: done`;

const readResults = (messages: readonly Message[]): readonly string[] =>
  messages.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.type === 'tool-result' && 'value' in part.output ? [`${part.toolCallId}: ${String(part.output.value)}`] : [],
    ),
  );

/** A checksum of everything that was read: it changes if an answer skips or repeats anything. */
const toSum = (texts: readonly string[]): string => {
  let sum = 7;
  for (const text of texts) for (const letter of text) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003;
  return String(sum);
};

/** Returns the model's answer to these messages. */
export function answerTo(messages: readonly Message[]): ScriptedAnswer {
  const [, session = '', steps = '0'] =
    /^Session (\S+): take (\d+) steps\.$/.exec(messages.find((each) => each.isUser())?.text ?? '') ?? [];
  const step = messages.filter((message) => message.isAssistant()).length + 1;
  const results = readResults(messages);
  const usage = { input: 10, output: 5 };
  if (step >= Number(steps)) return { text: `All done: ${results.length} results, ${toSum(results)}.`, usage };
  return {
    text: `Step ${step}, ${toSum(results)}.`,
    toolCalls: callNames.map((name, index) => ({ name, id: `c${step}-${index}`, args: { session, step } })),
    usage,
  };
}

/** The expected last text if the results of some calls are unknown. */
export function toLastWords(session: string, steps: number, isUnknown: (toolCallId: string) => boolean): string {
  const results: string[] = [];
  for (let step = 1; step < steps; step += 1)
    for (const [index, name] of callNames.entries()) {
      const id = `c${step}-${index}`;
      results.push(`${id}: ${isUnknown(id) ? unknownText : toResult(name, session, step)}`);
    }
  return `All done: ${results.length} results, ${toSum(results)}.`;
}

/** Result that the model reads for a `once` call whose result is unknown. */
const unknownText = 'The call was interrupted. It may or may not have taken effect: find out before you repeat it.';

/** A call that a session makes. */
export interface PlannedCall {
  readonly session: string;
  readonly name: string;
  readonly toolCallId: string;
  /** The tool, and the key under which the call reaches the outside world. */
  readonly key: string;
}

/** Returns all calls of a session. */
export const planCalls = (session: string, steps: number): readonly PlannedCall[] =>
  Array.from({ length: steps - 1 }, (_, before) => before + 1).flatMap((step) =>
    callNames.map((name, index) => {
      const toolCallId = `c${step}-${index}`;
      return { session, name, toolCallId, key: `${name} ${session}/${step}/${toolCallId}` };
    }),
  );
