// A server that goes away while sessions are written. It has a server of its own.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SessionStore } from '../../src/sessions/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { postgresStore } from '../../src/sessions/postgres/index.ts';
import { createAgent, defineTool } from '../../src/entry/index.ts';
import { obedientModel } from '../sessions/stage.ts';
import { newSchema } from './place.ts';
import { adding, creating, join } from './samples.ts';
import type { Pool, Server } from './server.ts';
import { openPool, startServer } from './server.ts';

let server: Server;
let pool: Pool;

beforeAll(async () => {
  server = await startServer();
  pool = await openPool(server.url);
});
afterAll(async () => {
  await pool.end();
  await server.dispose();
});

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const openStore = (): SessionStore => postgresStore({ pool, schema: newSchema(), timeoutMs: 30_000 });

test.each(['stop', 'crash'] as const)(
  'nothing is lost and nothing is stored twice when the server restarts during writes: %s',
  async (way) => {
    const store = openStore();
    await join(store);
    const progress = { isOver: false };
    const ids = Array.from({ length: 20 }, (_, index) => `s${String(index)}`);
    const heads = new Map<string, number>();
    const writing = Promise.all(
      ids.map(async (id) => {
        await store.log.write(creating(id));
        heads.set(id, 1);
        for (let n = 2; !progress.isOver; n += 1) {
          await store.log.write(adding(id, n));
          heads.set(id, n);
        }
      }),
    );
    // A write that fails ends the waiting, and then the test.
    writing.catch(() => (progress.isOver = true));
    const reach = async (least: number): Promise<void> => {
      const isReached = (): boolean => heads.size === ids.length && Math.min(...heads.values()) >= least;
      while (!isReached() && !progress.isOver) await wait(10);
    };
    for (let round = 1; round <= 3; round += 1) {
      // Every session is written to between two restarts, however slow the machine is.
      await reach(4 * round);
      await server[way]();
      await wait(100);
      await server.start();
    }
    await reach(16);
    progress.isOver = true;
    await writing;
    for (const id of ids) {
      const entries = await store.log.entries(id, { limit: 100_000 });
      expect(entries.map(({ n }) => n)).toStrictEqual(Array.from({ length: heads.get(id) ?? 0 }, (_, index) => index + 1));
    }
    expect(Math.min(...heads.values())).toBeGreaterThan(10);
    await store.close();
  },
);

test('a runtime goes on by itself when the server comes back, and no tool runs twice', async () => {
  const store = openStore();
  const ran: string[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } as const,
    run: async ({ amount }, { idempotencyKey }) => {
      ran.push(idempotencyKey);
      await wait(5);
      return { paid: amount };
    },
  });
  const runtime = createSessionRuntime({
    agents: [createAgent({ id: 'desk', model: obedientModel(), tools: [pay], limits: { steps: 100 } })],
    store,
  });
  const by = { id: 'ann', kind: 'user' };
  const ids = Array.from({ length: 10 }, (_, index) => `s${String(index)}`);
  await Promise.all(ids.map((id) => runtime.create({ id }, { by })));
  const words = `${Array.from({ length: 30 }, (_, index) => `pay ${String(index)}`).join(';')}; say Done.`;
  const sending = Promise.all(ids.map((id) => runtime.send(id, words, { by })));
  await wait(200);
  await server.stop();
  await wait(200);
  await server.start();
  const results = await sending;
  expect(results.map(({ status, text }) => [status, text])).toStrictEqual(ids.map(() => ['completed', 'Done.']));
  expect([ran.length, new Set(ran).size]).toStrictEqual([300, 300]);
  await runtime.drain();
  await store.close();
});

test('a server that stays away is reported, and the store works again when it is back', async () => {
  const store = postgresStore({ pool, schema: newSchema(), timeoutMs: 300 });
  await join(store);
  await server.stop();
  await expect(store.log.write(creating('s'))).rejects.toMatchObject({ code: 'store-unavailable', problem: 'failed' });
  await expect(store.log.load('s')).rejects.toMatchObject({ code: 'store-unavailable', problem: 'failed' });
  await server.start();
  await store.log.write(creating('s'));
  expect((await store.log.load('s'))?.head).toBe(1);
  await store.close();
});
