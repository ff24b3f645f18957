// An action whose row in the mailbox is damaged: the worker reports it, and its sender gets an error.
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import type { EmbeddedRuntime } from '../../src/sessions/index.ts';
import type { Stage } from './stage.ts';
import { ann, readActions, refusal, sqlitePlace, stageOn, until } from './stage.ts';

interface Mailbox {
  readonly stage: Stage;
  readonly client: EmbeddedRuntime;
  readonly damage: (statement: string) => void;
}

/** A session, a client that can leave actions for it, and no worker. */
async function openMailbox(): Promise<Mailbox> {
  const place = sqlitePlace();
  const stage = stageOn(place);
  const first = stage.start();
  await first.create({ id: 's', agent: 'desk' }, { by: ann });
  await first.drain();
  const raw = new DatabaseSync(place.path ?? '');
  onTestFinished(() => raw.close());
  return {
    stage,
    client: stage.start({ role: 'client' }),
    damage: (statement) => expect(raw.prepare(statement).run().changes).toBe(1),
  };
}

const isDamageReport = (problem: unknown): boolean => String(problem).includes('in the mailbox');

test.each([
  ['its text', `UPDATE mail SET body = '{}'`],
  ['its checksum', 'UPDATE mail SET sum = 7'],
  ['the id of its session', `UPDATE mail SET session_id = 'other'`],
  ['the id of its request', `UPDATE mail SET request_id = 'other'`],
])('is reported once, and refused to the sender who waits: %s', async (_, statement) => {
  const { stage, client, damage } = await openMailbox();
  const waiting = client.send('s', 'say Hello', { by: ann, requestId: 'r' });
  waiting.catch(() => undefined);
  await until(async () => expect((await client.get('s')).mailbox).toHaveLength(1));
  damage(statement);
  const worker = stage.start();
  const error = await refusal(waiting, 'store-unavailable');
  expect(error.message).toContain('action 1 in the mailbox for session "s", request "r" was not applied');
  expect(error.message).toContain('Send it again with the same request id.');
  await until(() => expect(stage.problems.filter(isDamageReport)).toHaveLength(1));
  await stage.clock.advance(5_000);
  await worker.send('s', 'say Something', { by: ann });
  expect(stage.problems.filter(isDamageReport)).toHaveLength(1);
});

test.each([
  ['removed', 'DELETE FROM mail', 'its row is gone'],
  ['given a number that no mail has', 'UPDATE mail SET num = -1', 'its row does not match its checksum'],
  ['given a number that comes later', 'UPDATE mail SET num = 7', 'its row does not match its checksum'],
])('is reported once, and refused to the sender who waits, also if its row was %s', async (_, statement, why) => {
  const { stage, client, damage } = await openMailbox();
  const waiting = client.send('s', 'say Hello', { by: ann, requestId: 'r' });
  waiting.catch(() => undefined);
  await until(async () => expect((await client.get('s')).mailbox).toHaveLength(1));
  damage(statement);
  const worker = stage.start();
  expect((await refusal(waiting, 'store-unavailable')).message).toContain(`request "r" was not applied: ${why}`);
  await until(async () => expect((await stage.place.open().heads.read('s'))?.lastMail).toBeUndefined());
  expect((await worker.send('s', 'say Something', { by: ann })).text).toBe('Something');
  expect(stage.problems.filter(isDamageReport)).toHaveLength(1);
  expect((await client.send('s', 'say Hello', { by: ann, requestId: 'r' })).text).toBe('Hello');
});

test('is posted again by the same request, and applied once', async () => {
  const { stage, client, damage } = await openMailbox();
  const options = { by: ann, requestId: 'r' } as const;
  await client.send('s', 'say Hello', { ...options, until: 'accepted' });
  damage(`UPDATE mail SET body = '{}'`);
  stage.start();
  await until(() => expect(stage.problems.some(isDamageReport)).toBe(true));
  expect(await client.send('s', 'say Hello', { ...options, until: 'accepted' })).toMatchObject({ isPending: true });
  expect((await client.send('s', 'say Hello', options)).text).toBe('Hello');
  expect(await readActions(stage.place.open(), 's')).toMatchObject([{ type: 'create' }, { type: 'send' }]);
});
