// Several processes on one store: who holds it, who waits, and what the others can do meanwhile.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createAgent } from '../../src/entry/index.ts';
import type { FakeClock } from '../../src/lib/index.ts';
import { isProcessGone, readProcessIdentity } from '../../src/lib/index.ts';
import type { SessionRuntimeOptions, SessionStore } from '../../src/sessions/index.ts';
import { createSessionRuntime, StoreUnavailableError } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { createFakeClock, scriptedModel } from '../../src/testing/index.ts';
import type { Place } from './stage.ts';
import { ann, newPath, places, refusal } from './stage.ts';

function setUp(place: Place) {
  const heartbeatClock = createFakeClock();
  const problems: unknown[] = [];
  const agent = createAgent({ model: scriptedModel(['Hello.'], { repeatLast: true }) });
  const start = (name: string, more: Partial<SessionRuntimeOptions> = {}) => {
    const onProblem = (error: unknown): void => void problems.push(error);
    return createSessionRuntime({ agents: [agent], store: place.open(), heartbeatClock, name, onProblem, ...more });
  };
  return { start, heartbeatClock, problems };
}

/** Lets time pass until a promise has settled. */
async function settle<Value>(clock: FakeClock, work: Promise<Value>): Promise<Value> {
  const seen = { isOver: false };
  const note = (): void => void (seen.isOver = true);
  work.then(note, note);
  for (let turns = 0; !seen.isOver && turns < 200; turns += 1) await clock.advance(50);
  expect(seen.isOver).toBe(true);
  return work;
}

/** A clock that stands still: a runtime with it gives no sign of life, as a frozen process does. */
const frozen = (): FakeClock => createFakeClock();

describe.each(places)('a second runtime over %s', (_, makePlace) => {
  test('is refused while the first is alive, and says who has the store; the first goes on undisturbed', async () => {
    const { start, heartbeatClock, problems } = setUp(makePlace());
    const first = start('server');
    await first.ready;
    const { id } = await first.create({}, { by: ann });
    const second = start('script');
    const error = await refusal(settle(heartbeatClock, second.ready), 'store-in-use');
    expect(error.message).toContain('in use by "server" (process ');
    expect((await first.send(id, 'Hi.', { by: ann })).text).toBe('Hello.');
    expect(problems).toStrictEqual([]);
    await first.drain();
  });

  test('reads everything meanwhile, and follows events as they are stored', async () => {
    const { start, heartbeatClock } = setUp(makePlace());
    const first = start('server');
    const { id } = await first.create({ owner: 'ann' }, { by: ann });
    const second = start('script', { standby: true });
    expect((await second.list({ owner: 'ann' })).sessions).toHaveLength(1);
    expect((await second.get(id)).status).toBe('pending');
    const types: string[] = [];
    const reading = (async () => {
      for await (const event of second.events(id, { follow: true })) {
        types.push(event.type);
        if (event.type === 'AgentFinished') break;
      }
    })();
    await first.send(id, 'Hi.', { by: ann });
    await settle(heartbeatClock, reading);
    const stored: string[] = [];
    for await (const { type } of first.events(id)) stored.push(type);
    expect(types).toStrictEqual(stored);
    expect([(await second.get(id)).text, (await second.actions(id)).map(({ type }) => type)]).toStrictEqual(['Hello.', ['create', 'send']]);
    await second.drain();
    await first.drain();
  });

  test('gets the store at once after the first was drained', async () => {
    const { start, heartbeatClock } = setUp(makePlace());
    const first = start('first');
    await first.ready;
    await first.drain();
    const second = start('second');
    await second.ready;
    expect(heartbeatClock.monotonic()).toBe(0);
    await second.drain();
  });

  test('gets the store when the first has missed three heartbeats', async () => {
    const { start, heartbeatClock } = setUp(makePlace());
    const first = start('first', { heartbeatClock: frozen() });
    await first.ready;
    const second = start('second');
    await settle(heartbeatClock, second.ready);
    expect(heartbeatClock.monotonic()).toBeGreaterThanOrEqual(1500);
    expect(heartbeatClock.monotonic()).toBeLessThanOrEqual(1700);
    await refusal(first.create({}, { by: ann }), 'store-fenced');
    await second.drain();
  });

  test('takes the store over if it is told to; the first finds out by its heartbeat', async () => {
    const { start, heartbeatClock, problems } = setUp(makePlace());
    const first = start('first');
    await first.ready;
    const second = start('second', { takeOver: true });
    await second.ready;
    await heartbeatClock.advance(500);
    expect(problems).toMatchObject([{ code: 'store-fenced' }]);
    await refusal(first.create({}, { by: ann }), 'runtime-closed');
    await second.create({}, { by: ann });
    await second.drain();
  });

  test.each([
    ['is drained', true],
    ['stands still', false],
  ])('that stands by takes the place of the first when that %s, with its open sessions', async (_how, isDrained) => {
    const { start, heartbeatClock } = setUp(makePlace());
    const firstClock = createFakeClock();
    const first = start('first', { heartbeatClock: firstClock });
    const { id } = await first.create({}, { by: ann });
    const second = start('second', { standby: true });
    let isReady = false;
    void second.ready.then(() => (isReady = true));
    for (let turns = 0; turns < 20; turns += 1) {
      await firstClock.advance(500);
      await heartbeatClock.advance(500);
    }
    expect(isReady).toBe(false);
    const left = heartbeatClock.monotonic();
    if (isDrained) await first.drain();
    await settle(heartbeatClock, second.ready);
    expect(heartbeatClock.monotonic() - left).toBeLessThanOrEqual(isDrained ? 200 : 1700);
    expect((await second.send(id, 'Hi.', { by: ann })).text).toBe('Hello.');
    await second.drain();
  });

  test('that stands by waits through an outage of the store', async () => {
    const place = makePlace();
    const { start, heartbeatClock } = setUp(place);
    const first = start('first', { heartbeatClock: createFakeClock() });
    const { id } = await first.create({}, { by: ann });
    const outage = { isOn: true };
    const store = place.open();
    const flaky: SessionStore = {
      ...store,
      claims: {
        ...store.claims,
        read: () => (outage.isOn ? Promise.reject(new StoreUnavailableError('failed', 'the server is restarting')) : store.claims.read()),
      },
    };
    const second = start('second', { store: flaky, standby: true });
    await heartbeatClock.advance(5000);
    outage.isOn = false;
    await settle(heartbeatClock, second.ready);
    expect((await second.send(id, 'Hi.', { by: ann })).text).toBe('Hello.');
    await second.drain();
  });

  test('that stands by can be drained, and rejects what waited for its turn', async () => {
    const { start, heartbeatClock } = setUp(makePlace());
    const first = start('first');
    await first.ready;
    const second = start('second', { role: 'worker', standby: true });
    const sent = second.create({}, { by: ann });
    await heartbeatClock.advance(200);
    await second.drain();
    await refusal(sent, 'runtime-closed');
    await first.create({}, { by: ann });
    await first.drain();
  });

  test('and a third that want it at once: one gets it', async () => {
    const { start, heartbeatClock } = setUp(makePlace());
    const runtimes = ['a', 'b', 'c'].map((name) => start(name));
    const results = await settle(heartbeatClock, Promise.allSettled(runtimes.map(({ ready }) => ready)));
    expect(results.map(({ status }) => status).sort()).toStrictEqual(['fulfilled', 'rejected', 'rejected']);
    for (const runtime of runtimes) await runtime.drain();
  });

  test('that was refused acts as soon as the store is free', async () => {
    const { start, heartbeatClock } = setUp(makePlace());
    const first = start('first');
    await first.ready;
    const second = start('second');
    await refusal(settle(heartbeatClock, second.ready), 'store-in-use');
    await first.drain();
    await expect(settle(heartbeatClock, second.create({}, { by: ann }))).resolves.toMatchObject({ status: 'pending' });
    await second.drain();
  });
});

test.each(places)('a runtime over %s whose store the host has closed reports nothing, and refuses what is asked', async (_, makePlace) => {
  const { start, heartbeatClock, problems } = setUp(makePlace());
  const clock = createFakeClock();
  const store = makePlace().open();
  const runtime = start('server', { store, clock });
  await runtime.ready;
  await store.close();
  for (let seconds = 0; seconds < 5; seconds += 1) {
    await clock.advance(1000);
    await heartbeatClock.advance(1000);
  }
  expect(problems).toStrictEqual([]);
  await refusal(runtime.create({}, { by: ann }), 'store-unavailable');
});

test('a process that was killed holds the store no longer, and the next one does not wait', async () => {
  const path = newPath();
  const source = new URL('../../src/entry/sqlite.ts', import.meta.url).href;
  const lib = new URL('../../src/lib/index.ts', import.meta.url).href;
  const script = `
    const { sqliteStore } = await import(${JSON.stringify(source)});
    const { readProcessIdentity } = await import(${JSON.stringify(lib)});
    const store = sqliteStore(${JSON.stringify(path)});
    await store.claims.claim({ holder: { ...readProcessIdentity(), id: 'x', claimedAt: Date.now() } });
    console.log('claimed');
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const { holder } = await sqliteStore(path).claims.read();
  expect([holder?.pid, isProcessGone(holder ?? {})]).toStrictEqual([child.pid, false]);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const { start, heartbeatClock } = setUp({ open: () => sqliteStore(path) });
  const next = start('next');
  await next.ready;
  expect(heartbeatClock.monotonic()).toBe(0);
  await next.drain();
});

describe('a process', () => {
  test('is not gone while it runs', () => {
    expect(isProcessGone(readProcessIdentity())).toBe(false);
  });

  test.each([
    ['of another start of the machine', { bootId: 'other' }],
    ['in another container', { pidNamespace: 'pid:[1]' }],
    ['that nothing is known of', { startedAt: undefined }],
  ])('%s does not count as gone', (_, change) => {
    expect(isProcessGone({ ...readProcessIdentity(), pid: 2 ** 22 + 1, ...change } as never)).toBe(false);
  });

  test('is gone if its number belongs to another one now', () => {
    expect(isProcessGone({ ...readProcessIdentity(), startedAt: '1' })).toBe(process.platform === 'linux');
  });
});
