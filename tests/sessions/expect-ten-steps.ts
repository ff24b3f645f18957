// What a ten-step run must have come to, whatever its processes lived through.
import { expect } from 'vitest';
import { readField } from '../../src/lib/index.ts';
import type { Json } from '../../src/entry/index.ts';
import type { Lived } from './client-of-ten-steps.ts';
import { plan } from './ten-steps.ts';

/** The tools that must not do their work twice. */
const once: ReadonlySet<string> = new Set(['charge', 'book', 'pay']);

const unknown = {
  type: 'error',
  value: 'The call was interrupted. It may or may not have taken effect: find out before you repeat it.',
} as const;
const notHappened = {
  type: 'error',
  value: 'The call was interrupted before it took effect. Call it again if it is still wanted.',
} as const;

/** The calls that were begun by a process that died before their result was kept: their ids by the keys of their effects. */
export function listInterrupted(open: Lived['open']): ReadonlySet<string> {
  const ids = open.flat().flatMap((row) => {
    // The rows of a session name the execution first.
    const key = row.replace(/^1\//, '');
    if (key === 'nested/7/0/1/tool/1/0') return ['i1'];
    const [, step, index] = /^tool\/(\d+)\/(\d+)$/.exec(key) ?? [];
    const call = plan[Number(step) - 1]?.[Number(index)];
    return call?.id !== undefined && once.has(call.name) ? [call.id] : [];
  });
  return new Set(ids);
}

interface Line {
  readonly role: string;
  readonly text: string;
  readonly calls: readonly Json[];
  readonly results: readonly { readonly toolCallId: string; readonly output: unknown }[];
}

/** The conversation without ids that each run draws anew. */
export function transcript({ session }: Lived): readonly Line[] {
  return session.state.messages.toArray().map(({ role, text, toolCalls, toolResults }) => ({
    role,
    text,
    calls: toolCalls.map(({ id, name, args }) => ({ id, name, args: args })),
    results: toolResults.map(({ toolCallId, output }) => ({ toolCallId, output })),
  }));
}

const toText = (output: unknown): string => JSON.stringify(output);

/** Results of an interrupted call. */
function findOutput(id: string, { world: { done } }: Lived): unknown {
  const step = plan.findIndex((calls) => calls.some((call) => call.id === id)) + 1;
  const call = plan[step - 1]?.find((each) => each.id === id);
  if (call?.name !== 'book') return unknown;
  const key = `s/1/${step}/${id}`;
  return done.has(`book ${key}`) ? { type: 'text', value: `found ${key}` } : notHappened;
}

/** The conversation of a run without deaths, with nothing changed but the results of the calls that were cut off. */
function expectedFrom(quiet: Lived, lived: Lived): readonly Line[] {
  const cut = listInterrupted(lived.open);
  const inside = { type: 'json', value: { text: `Filed: ${toText(unknown)}`, stop_reason: 'completed', partial: false } };
  return transcript(quiet).map((line) => ({
    ...line,
    results: line.results.map(({ toolCallId, output }) => {
      if (toolCallId === 'c7' && cut.has('i1')) return { toolCallId, output: inside };
      return { toolCallId, output: cut.has(toolCallId) ? findOutput(toolCallId, lived) : output };
    }),
  }));
}

function expectSameWork(quiet: Lived, lived: Lived): void {
  const cut = listInterrupted(lived.open);
  expect([...lived.world.done.keys()].filter((key) => !quiet.world.done.has(key))).toStrictEqual([]);
  for (const work of quiet.world.done.keys()) {
    const times = lived.world.done.get(work) ?? 0;
    const isOnce = once.has(work.split(' ')[0]!);
    if (isOnce) expect(times, work).toBeLessThanOrEqual(1);
    if (!isOnce || !cut.has(work.split('/').at(-1)!)) expect(times, work).toBeGreaterThanOrEqual(1);
  }
}

/** Events without what differs between two runs: that a run was taken up again is told once more for each process. */
function eventLines({ events }: Lived): readonly string[] {
  const kept = events.filter((event) => !(event.type === 'AgentExecutionStarted' && event.resumed));
  return kept.map((event) => JSON.stringify([event.stepNumber, event.type, readField(event, 'toolCallId'), event.agentId === 's'])).sort();
}

const atCommit: readonly string[] = [
  'ContinuationEvaluated',
  'AgentStateUpdated',
  'AgentStepCompleted',
  'TokenUsageReported',
  'AgentFinished',
];

function expectSameEvents(quiet: Lived, lived: Lived): void {
  const { events } = lived;
  expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_, index) => index + 1));
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  expect(eventLines(lived)).toStrictEqual(eventLines(quiet));
  // A decision that was told is kept, and what is kept of it is what was told.
  for (const event of lived.told.flat()) {
    if (!atCommit.includes(event.type) || (event.parentAgentId ?? null) !== null) continue;
    expect(events[event.seq - 1]).toStrictEqual(JSON.parse(JSON.stringify(event)));
  }
}

/** Compares a run with one in which no process died. */
export function expectSameEnd(quiet: Lived, lived: Lived): void {
  const { session } = lived;
  expect(transcript(lived)).toStrictEqual(expectedFrom(quiet, lived));
  expect([session.status, session.stopReason, session.executions, session.stepCount]).toStrictEqual(['completed', 'completed', 1, 10]);
  expect(session.usage).toStrictEqual(quiet.session.usage);
  expect(session.state.metadata).toStrictEqual(quiet.session.state.metadata);
  const ids = session.state.messages.toArray().map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(lived.actions.filter((type) => type !== 'resume')).toStrictEqual(['create', 'send', 'approve']);
  expectSameWork(quiet, lived);
  expectSameEvents(quiet, lived);
}

const findCall = (key: string): string | undefined => [...listInterrupted([[key]])][0];

/** Says from the moments until a death alone which calls had begun whose end was not kept, and holds the session to it. */
export function expectCutOffAt(moments: readonly string[], { open }: Lived): void {
  const cut = listInterrupted(open);
  const seen = new Set(moments);
  for (const moment of moments) {
    const [, key = ''] = /^after write intent (\S+)$/.exec(moment) ?? [];
    const id = findCall(key);
    if (id === undefined) continue;
    if (seen.has(`after write result ${key}`)) expect(cut.has(id), `the end of ${key} was kept`).toBe(false);
    const isEnding = seen.has(`before write result ${key}`) && moments.at(-1) !== `before write result ${key}`;
    if (!isEnding) expect(cut.has(id), `the end of ${key} was not kept`).toBe(true);
  }
}
