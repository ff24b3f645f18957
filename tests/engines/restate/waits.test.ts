// Waits that outlive workers, on a real server and in real time.
import { afterAll, describe, expect, test } from 'vitest';
import type { RuntimeWorld } from '../../../src/testing/index.ts';
import { startRestate } from './server.ts';
import { createRestateWorlds } from './worlds.ts';

const server = await startRestate();
afterAll(() => server.dispose());
const createWorld = createRestateWorlds(server);

const ann = { id: 'ann', kind: 'user' };

async function until<Value>(read: () => Promise<Value | undefined>): Promise<Value> {
  for (;;) {
    const value = await read();
    if (value !== undefined) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const becomes = (world: RuntimeWorld, id: string, status: string) =>
  until(async () => {
    const session = await world.runtime.get(id);
    return session.status === status ? session : undefined;
  });

const countLines = async (world: RuntimeWorld, start: string): Promise<number> =>
  (await world.records()).filter((line) => line.startsWith(start)).length;

/** Four calls in one step, one of which needs an approval. */
const order = 'look 1 & put 2 & note 3 & pay 4; say Paid';

describe('waits on Restate', () => {
  test('an approval survives a kill of the worker, can be given while no worker runs, and runs its call once', async () => {
    const world = await createWorld({});
    await world.runtime.create({ id: 'one', agent: 'desk' }, { by: ann });
    const { waitingFor } = await world.runtime.send('one', order, { by: ann });
    await world.kill?.();
    const [wait] = waitingFor;
    if (wait === undefined) throw new Error('Nothing waits.');
    const accepted = await world.runtime.approve('one', wait, { by: ann, until: 'accepted' });
    expect(accepted.status).toBe('waiting');
    expect((await world.runtime.get('one')).mailbox.map(({ type }) => type)).toStrictEqual(['approve']);
    expect(await countLines(world, 'pay 4')).toBe(0);
    await world.restart?.();
    expect((await becomes(world, 'one', 'completed')).text).toBe('Paid');
    expect([await countLines(world, 'pay 4'), await countLines(world, 'note 3')]).toStrictEqual([1, 1]);
    await world.dispose();
  });

  test('an unanswered approval expires by the server clock, even if the worker is killed in the meantime', async () => {
    const world = await createWorld({ approvals: { expireAfterMs: 3000 } });
    await world.runtime.create({ id: 'one', agent: 'desk' }, { by: ann });
    expect((await world.runtime.send('one', order, { by: ann })).status).toBe('waiting');
    await world.kill?.();
    await world.restart?.();
    const session = await becomes(world, 'one', 'completed');
    expect(await countLines(world, 'pay 4')).toBe(0);
    expect((await world.runtime.actions('one')).at(-1)).toMatchObject({ type: 'reject', by: { id: 'expiry', kind: 'system' } });
    expect(session.executions).toBe(1);
    await world.dispose();
  });

  test('a session that waits for its provider is retried by itself after the worker is killed', async () => {
    const world = await createWorld({ onOutage: 'park' });
    await world.runtime.create({ id: 'one', agent: 'desk' }, { by: ann });
    const parked = await world.runtime.send('one', 'look 1 & put 2 & note 3 & note 4; down@up', { by: ann });
    expect(parked.waitingFor.map(({ type }) => type)).toStrictEqual(['provider']);
    await world.kill?.();
    await world.open('up');
    await world.restart?.();
    expect((await becomes(world, 'one', 'completed')).text).toBe('Up again.');
    expect([await countLines(world, 'note 3'), await countLines(world, 'note 4')]).toStrictEqual([1, 1]);
    await world.dispose();
  });

  test('a cancel interrupts four running calls within a second', async () => {
    const world = await createWorld({});
    await world.runtime.create({ id: 'one', agent: 'desk' }, { by: ann });
    await world.runtime.send('one', 'look 1@never & put 2@never & note 3@never & note 4@never; say End', { by: ann, until: 'accepted' });
    for (const line of ['look 1', 'put 2', 'note 3', 'note 4'])
      await until(async () => ((await countLines(world, line)) > 0 ? true : undefined));
    const began = performance.now();
    const { status, stopReason } = await world.runtime.cancel('one', 'enough', { by: ann });
    expect([status, stopReason]).toStrictEqual(['stopped', 'user_requested']);
    expect(performance.now() - began).toBeLessThan(1000);
    await world.dispose();
  });
});
