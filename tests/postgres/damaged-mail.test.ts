// An action whose row in the mailbox is damaged: its sender, who waits in another process, gets an error.
import { expect, test } from 'vitest';
import { ann, refusal, stageOn, until } from '../sessions/stage.ts';
import { usePool } from './place.ts';

const { pool, newClosingPlace: newPlace } = usePool();

test.each([
  ['its text', `SET body = '{}'`],
  ['its checksum', 'SET sum = 7'],
  ['the id of its session', `SET session_id = 'other'`],
  ['its row', undefined],
])('is reported once, and refused to the sender who waits: %s', async (_, change) => {
  const place = newPlace();
  const stage = stageOn(place);
  const first = stage.start();
  await first.create({ id: 's' }, { by: ann });
  await first.drain();
  const client = stage.start({ role: 'client' });
  const waiting = client.send('s', 'say Hello', { by: ann, requestId: 'r' });
  waiting.catch(() => undefined);
  await until(async () => expect((await client.get('s')).mailbox).toHaveLength(1));
  const table = `${place.schema}.mail`;
  const { rowCount } = await pool().query(change === undefined ? `DELETE FROM ${table}` : `UPDATE ${table} ${change}`);
  expect(rowCount).toBe(1);
  const worker = stage.start();
  expect((await refusal(waiting, 'store-unavailable')).message).toContain('request "r" was not applied');
  expect((await worker.send('s', 'say Something', { by: ann })).text).toBe('Something');
  await until(() => expect(stage.problems.filter((problem) => String(problem).includes('in the mailbox'))).toHaveLength(1));
  expect((await client.send('s', 'say Hello', { by: ann, requestId: 'r' })).text).toBe('Hello');
  await Promise.all([worker.drain(), client.drain()]);
});
