// Compares every session with its plan, and every call with the effects that really happened.
import type { Figure } from '../../../../chaos/figures.ts';
import { atMost, info, none } from '../../../../chaos/figures.ts';
import type { AgentState } from '../../../../src/entry/index.ts';
import type { SessionRuntime } from '../../../../src/sessions/index.ts';
import { callNames, isOnce, sessionIds, toLastWords } from '../../dbos/chaos/plan.ts';

interface SessionEnd {
  readonly isWrong: boolean;
  readonly hasGap: boolean;
  readonly unknown: number;
}

async function readEnd(runtime: SessionRuntime<AgentState>, id: string, steps: number): Promise<SessionEnd> {
  const { status, text, state, executions, lastSeq } = await runtime.get(id);
  const calls = state.steps.flatMap((step) => step.executions);
  const unknown = calls.filter((call) => call.status === 'unknown').map(({ toolCallId }) => toolCallId);
  const isMeant = status === 'completed' && executions === 1 && state.stepCount === steps;
  const haveFailed = calls.some((call) => call.status !== 'succeeded' && call.status !== 'unknown');
  const areOnce = unknown.every((call) => isOnce(callNames[Number(call.split('-')[1])] ?? ''));
  const isRight = isMeant && !haveFailed && areOnce && text === toLastWords(id, steps, (call) => unknown.includes(call));
  const numbers: number[] = [];
  for await (const { seq } of runtime.events(id)) numbers.push(seq);
  const hasGap = numbers.length !== lastSeq || numbers.some((seq, index) => seq !== index + 1);
  return { isWrong: !isRight, hasGap, unknown: unknown.length };
}

interface Work {
  readonly sessions: number;
  readonly steps: number;
  /** Lines of the effects on the outside world. */
  readonly world: string;
}

export async function checkSessions(runtime: SessionRuntime<AgentState>, { sessions, steps, world }: Work): Promise<readonly Figure[]> {
  const ends = new Map<string, SessionEnd>();
  for (const id of sessionIds(sessions)) ends.set(id, await readEnd(runtime, id, steps));
  const times = new Map<string, number>();
  for (const line of world.split('\n').filter((each) => each !== '')) {
    const [, name = '', key = ''] = line.split('\t');
    times.set(`${name} ${key}`, (times.get(`${name} ${key}`) ?? 0) + 1);
  }
  const listEnds = (isIt: (end: SessionEnd) => boolean): readonly string[] => [...ends].filter(([, end]) => isIt(end)).map(([id]) => id);
  const isOnceKey = (key: string): boolean => isOnce(key.split(' ')[0] ?? '');
  const once = [...times].filter(([key]) => isOnceKey(key));
  const unknown = [...ends.values()].reduce((sum, end) => sum + end.unknown, 0);
  const repeated = [...times].reduce((sum, [key, count]) => sum + (isOnceKey(key) ? 0 : count - 1), 0);
  const calls = sessions * (steps - 1) * callNames.filter(isOnce).length;
  return [
    none(
      'sessions with a wrong end',
      listEnds(({ isWrong }) => isWrong),
    ),
    none(
      'sessions whose events have a gap',
      listEnds(({ hasGap }) => hasGap),
    ),
    none(
      '`once` effects run twice',
      once.filter(([, count]) => count > 1).map(([key]) => key),
    ),
    atMost('`once` calls without an effect that are not of unknown end', Math.max(0, calls - once.length - unknown), 0),
    info('`once` calls', calls),
    info('  of unknown end', unknown),
    info('other effects repeated', repeated),
    // Otherwise no kill interrupted anything.
    { what: 'calls that a kill has cut off', value: unknown + repeated, wanted: 'some', isRight: unknown + repeated > 0 },
  ];
}
