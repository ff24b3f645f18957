// Several runtimes on one schema, each with a store of its own: who holds it, who waits, and who takes over.
import { describe, expect, test, vi } from 'vitest';
import { createAgent } from '../../src/entry/index.ts';
import type { SessionRuntimeOptions } from '../../src/sessions/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import type { FakeClock } from '../../src/testing/index.ts';
import { createFakeClock, scriptedModel } from '../../src/testing/index.ts';
import { ann, refusal } from '../sessions/stage.ts';
import { usePool } from './place.ts';

const { newClosingPlace } = usePool();

const until = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { timeout: 20_000, interval: 5 });

function setUp() {
  const place = newClosingPlace();
  const heartbeatClock = createFakeClock();
  const problems: unknown[] = [];
  const agent = createAgent({ model: scriptedModel(['Hello.'], { repeatLast: true }) });
  const start = (name: string, more: Partial<SessionRuntimeOptions> = {}) => {
    const onProblem = (error: unknown): void => void problems.push(error);
    return createSessionRuntime({ agents: [agent], store: place.open(), heartbeatClock, name, onProblem, ...more });
  };
  return { start, heartbeatClock, problems, observer: place.open() };
}

/** Lets time pass until a promise has settled. The server answers in its own time, so each turn waits for it a little. */
async function settle<Value>(clock: FakeClock, work: Promise<Value>): Promise<Value> {
  let isOver = false;
  const note = (): void => void (isOver = true);
  work.then(note, note);
  await until(async () => {
    await clock.advance(50);
    expect(isOver).toBe(true);
  });
  return work;
}

describe('a second runtime on the same schema', () => {
  test('is refused while the first is alive, and says who has the store; the first goes on undisturbed', async () => {
    const { start, heartbeatClock, problems } = setUp();
    const first = start('server');
    const { id } = await first.create({}, { by: ann });
    const second = start('script');
    const error = await refusal(settle(heartbeatClock, second.ready), 'store-in-use');
    expect(error.message).toContain('in use by "server" (process ');
    expect((await first.send(id, 'Hi.', { by: ann })).text).toBe('Hello.');
    expect((await second.get(id)).text).toBe('Hello.');
    expect(problems).toStrictEqual([]);
    await second.drain();
    await first.drain();
  });

  test.each([
    ['drains', true],
    ['gives no more signs of life', false],
  ])('that stands by takes over after the first %s, with its sessions', async (_, isDrained) => {
    const { start, heartbeatClock, observer } = setUp();
    const firstClock = createFakeClock();
    const first = start('first', { heartbeatClock: firstClock });
    const { id } = await first.create({}, { by: ann });
    await first.send(id, 'Hi.', { by: ann });
    const second = start('second', { standby: true });
    let isReady = false;
    void second.ready.then(() => (isReady = true));
    for (let turns = 1; turns <= 10; turns += 1) {
      await firstClock.advance(500);
      // Stored before the one who waits looks again.
      await until(async () => expect((await observer.claims.read()).beats).toBeGreaterThanOrEqual(turns));
      for (let looks = 0; looks < 5; looks += 1) await heartbeatClock.advance(100);
      expect(isReady).toBe(false);
    }
    if (isDrained) await first.drain();
    await settle(heartbeatClock, second.ready);
    expect((await second.send(id, 'Again.', { by: ann })).text).toBe('Hello.');
    expect((await second.actions(id)).map(({ type }) => type)).toStrictEqual(['create', 'send', 'send']);
    if (!isDrained) await refusal(first.create({}, { by: ann }), 'store-fenced');
    await second.drain();
  });

  test('takes the store over if it is told to; the first finds out by its heartbeat', async () => {
    const { start, heartbeatClock, problems } = setUp();
    const first = start('first');
    await first.ready;
    const second = start('second', { takeOver: true });
    await second.ready;
    await heartbeatClock.advance(500);
    await until(() => expect(problems).toMatchObject([{ code: 'store-fenced' }]));
    await refusal(first.create({}, { by: ann }), 'runtime-closed');
    await second.create({}, { by: ann });
    await second.drain();
  });

  test('and a third that want it at once: one gets it', async () => {
    const { start, heartbeatClock } = setUp();
    const runtimes = ['a', 'b', 'c'].map((name) => start(name));
    const results = await settle(heartbeatClock, Promise.allSettled(runtimes.map(({ ready }) => ready)));
    expect(results.map(({ status }) => status).sort()).toStrictEqual(['fulfilled', 'rejected', 'rejected']);
    for (const runtime of runtimes) await runtime.drain();
  });
});

test('a client acts through the mailbox, and the worker is woken by it', async () => {
  const { start, observer } = setUp();
  const worker = start('worker', { role: 'worker' });
  const client = start('client', { role: 'client' });
  const { id } = await client.create({}, { by: ann });
  expect((await client.send(id, 'Hi.', { by: ann })).text).toBe('Hello.');
  expect((await worker.actions(id)).map(({ type }) => type)).toStrictEqual(['create', 'send']);
  await client.delete(id, { by: ann });
  await refusal(client.send(id, 'Hi?', { by: ann }), 'session-deleted');
  expect(await observer.inbox.read({ isWaiting: true })).toStrictEqual([]);
  await client.drain();
  await worker.drain();
});
