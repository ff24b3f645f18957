// A primary whose commits wait for a standby.
import { expect, onTestFinished, test } from 'vitest';
import { postgresStore } from '../../src/sessions/postgres/index.ts';
import { creating, join } from './samples.ts';
import { openPool, startServer } from './server.ts';
import { startStandby } from './standby.ts';

test('a place in the feed that was read is on the standby too', async () => {
  const primary = await startServer();
  onTestFinished(() => primary.dispose());
  const standby = await startStandby(primary);
  onTestFinished(() => standby.dispose());
  const [pool, reading] = [await openPool(primary.url), await openPool(standby.url)];
  const store = postgresStore({ pool, endsPool: true });
  onTestFinished(async () => {
    await store.close();
    await reading.end();
  });
  await join(store);
  for (let each = 1; each <= 20; each += 1) {
    const write = creating(`s${String(each)}`);
    await store.log.write({ ...write, entries: (write.entries ?? []).map((entry) => ({ ...entry, events: '[]', lastSeq: 1 })) });
    const { cursor } = await store.feed.read();
    const { rows } = await reading.query('SELECT max(num)::int AS num FROM stepline.feed');
    expect([cursor, rows]).toStrictEqual([`f${String(each)}`, [{ num: each }]]);
  }
}, 60_000);
