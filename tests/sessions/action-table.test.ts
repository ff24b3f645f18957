// Every action in every situation, by each way in: what the table of actions says is what the caller gets.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readField } from '../../src/lib/index.ts';
import type { ActionAnswer, ActionType, SessionCondition } from '../../src/sessions/core/action-table.ts';
import { actionTable } from '../../src/sessions/core/action-table.ts';
import type { EmbeddedRuntime } from '../../src/sessions/index.ts';
import type { ReachedSession, Situation } from './conditions.ts';
import { actionTypes, deeds, isRefusal, listCells, reach } from './conditions.ts';
import { refusal, until } from './stage.ts';

const requestId = 'deed';

/** Answer of the table with the arguments of the deeds: there is no approval to revoke, which the session says if the table does not. */
const toExpected = (type: ActionType, answer: ActionAnswer): ActionAnswer =>
  type === 'revoke' && !isRefusal(answer) ? 'invalid-argument' : answer;

/** Waits until an action has had its effect, and returns which: it is in the log, applied or queued. */
async function findStored({ store, id }: ReachedSession): Promise<string> {
  return until(async () => {
    const entry = await store.log.findRequest(id, requestId);
    if (entry === undefined) throw new Error('it is not in the log yet');
    return readField(JSON.parse(entry.body), 'isQueued') === true ? 'queued' : 'applied';
  }) as Promise<string>;
}

/** Checks that an action that was accepted has this effect. */
async function expectAccepted(session: ReachedSession, type: ActionType, answer: ActionAnswer): Promise<void> {
  const { id, worker } = session;
  if (type === 'delete') await until(async () => refusal(worker.get(id), 'session-deleted'));
  else if (type === 'create') await until(async () => expect((await worker.get(id)).status).toBe('pending'));
  else if (type === 'fork') await until(async () => expect((await worker.get('fork')).forkedFrom?.sessionId).toBe(id));
  else expect(await findStored(session)).toBe(answer === 'queued' ? 'queued' : 'applied');
}

/** Does a deed and compares what the caller gets with the table; a repeat gets the same. */
async function expectAnswer(runtime: EmbeddedRuntime, session: ReachedSession, [type, answer]: [ActionType, ActionAnswer]): Promise<void> {
  const expected = toExpected(type, answer);
  const deed = deeds[type](runtime, session, requestId);
  if (isRefusal(expected)) {
    await refusal(deed, expected);
    await refusal(deeds[type](runtime, session, requestId), expected);
    return;
  }
  await deed;
  await expectAccepted(session, type, expected);
}

describe('a call in the process that runs the session', () => {
  test.each(listCells(actionTypes))('%s: %s is %s', async (situation, type, answer) => {
    const session = await reach(situation);
    await expectAnswer(session.worker, session, [type, answer]);
  });
});

/** True for what only the worker can refuse, because the step is open. */
const isLate = (situation: Situation, type: ActionType): boolean =>
  (situation === 'running' || situation === 'held') && (type === 'approve' || type === 'revoke');

describe('a call of a client', () => {
  test.each(listCells(actionTypes))('%s: %s is %s', async (situation, type, answer) => {
    const session = await reach(situation);
    if (!isLate(situation, type)) return expectAnswer(session.client, session, [type, answer]);
    await deeds[type](session.client, session, requestId);
    const expected = toExpected(type, answer);
    await until(async () => expect((await session.store.inbox.read({ sessionId: 's' }))[0]?.reply).toContain(expected));
    await refusal(deeds[type](session.client, session, requestId), expected);
  });
});

test('docs/sessions.md shows these answers', () => {
  const text = readFileSync(new URL('../../docs/sessions.md', import.meta.url), 'utf8');
  const lines = text.split('\n');
  const toCells = (line: string): readonly string[] =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll('`', '').trim());
  const first = lines.findIndex((line) => line.startsWith('| the session'));
  const [, ...actions] = toCells(lines[first] ?? '');
  const rows = lines.slice(first + 2, lines.indexOf('', first)).map(toCells);
  expect([actions.length, rows.length]).toStrictEqual([9, 10]);
  for (const [condition = '', ...answers] of rows) {
    // Holds: another name would have no answer.
    const expected = actions.map((action) => actionTable[action as ActionType][condition as SessionCondition]);
    expect([condition, ...answers]).toStrictEqual([condition, ...expected]);
  }
});
