// Several workers on one store: who runs a session, and what happens when one of them is slow, gone or full.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { FakeClock } from '../../src/lib/index.ts';
import { isProcessGone, readProcessIdentity } from '../../src/lib/index.ts';
import type { EmbeddedRuntime, SessionRuntimeOptions, SessionStore } from '../../src/sessions/index.ts';
import { createMemoryPlace, StoreUnavailableError } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { createFakeClock } from '../../src/testing/index.ts';
import { ann, createGate, newPath, sqlitePlace, stageOn, until } from './stage.ts';

/** Workers in one process, with a clock that their store shares with those that are awake. */
function setUp() {
  const heartbeatClock = createFakeClock();
  const stage = stageOn(createMemoryPlace({ clock: heartbeatClock }));
  const start = (name: string, more: Partial<SessionRuntimeOptions> = {}): EmbeddedRuntime =>
    stage.start({ silenceMs: 15_000, heartbeatClock, name, ...more });
  /** Starts a worker that gives no sign of life until its own clock is moved. */
  const startFrozen = (name: string, more: Partial<SessionRuntimeOptions> = {}): { runtime: EmbeddedRuntime; clock: FakeClock } => {
    const clock = createFakeClock();
    return { runtime: start(name, { heartbeatClock: clock, ...more }), clock };
  };
  const store = stage.place.open();
  const findOwner = async (id: string): Promise<string | undefined> => {
    const worker = (await store.heads.read(id))?.worker;
    return (await store.leases.workers()).find((each) => each.id === worker)?.name;
  };
  return { ...stage, stage, start, startFrozen, heartbeatClock, store, findOwner };
}

/** Lets the machines' time pass, a sign of life at a time. */
async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) await clock.advance(500);
}

test('two workers share a store: each runs sessions, and whoever asks gets the same answer', async () => {
  const { start, gate, findOwner } = setUp();
  const [first, second] = [start('first'), start('second')];
  await first.create({ id: 'one' }, { by: ann });
  await second.create({ id: 'two' }, { by: ann });
  const sent = first.send('one', 'slow 1; say One', { by: ann });
  await gate.current.reached;
  expect(await findOwner('one')).toBe('first');
  expect([(await first.get('one')).worker?.name, (await second.get('one')).worker?.name]).toStrictEqual(['first', 'first']);
  // The other one asks the owner.
  const joined = second.send('one', 'And more', { by: ann });
  expect((await second.send('two', 'say Two', { by: ann })).text).toBe('Two');
  gate.current.open();
  expect((await sent).status).toBe('completed');
  expect((await joined).execution).toBe((await sent).execution);
  expect(await findOwner('one')).toBeUndefined();
  expect((await second.get('one')).worker).toBeUndefined();
  expect((await second.send('one', 'say Again', { by: ann })).text).toBe('Again');
});

describe('a worker that stands still', () => {
  test('loses nothing within the silence that is allowed', async () => {
    const { startFrozen, start, gate, heartbeatClock, findOwner } = setUp();
    const { runtime: first } = startFrozen('first');
    start('second');
    await first.create({ id: 'one' }, { by: ann });
    const sent = first.send('one', 'slow 1; say One', { by: ann });
    await gate.current.reached;
    await pass(heartbeatClock, 14_000);
    expect(await findOwner('one')).toBe('first');
    gate.current.open();
    expect((await sent).text).toBe('One');
  });

  test('is fenced after that: its session goes on elsewhere, and its caller gets the result from there', async () => {
    const { startFrozen, start, gate, heartbeatClock, findOwner, ran, model } = setUp();
    const { runtime: first } = startFrozen('first');
    start('second');
    await first.create({ id: 'one' }, { by: ann });
    const sent = first.send('one', 'slow 1; say One', { by: ann });
    await gate.current.reached;
    const passed = gate.current;
    gate.current = createGate();
    await pass(heartbeatClock, 16_000);
    // The call may have taken effect, and is not repeated.
    await until(() => expect(model.calls.length).toBe(2));
    await until(async () => expect(await findOwner('one')).toBeUndefined());
    passed.open();
    expect([(await sent).text, ran]).toStrictEqual(['One', ['slow 1']]);
  });

  test('joins again, and takes back what was counted against it', async () => {
    const { startFrozen, start, gate, heartbeatClock, store } = setUp();
    const { runtime: first, clock } = startFrozen('first');
    start('second');
    await first.create({ id: 'one' }, { by: ann });
    void first.send('one', 'slow 1; slow 2; say One', { by: ann }).catch(() => undefined);
    await gate.current.reached;
    const passed = gate.current;
    gate.current = createGate();
    await pass(heartbeatClock, 16_000);
    await until(async () => expect((await store.heads.read('one'))?.attempts).toBe(0));
    passed.open();
    await gate.current.reached;
    await clock.advance(500);
    await until(async () => expect((await store.leases.workers()).map(({ name }) => name)).toStrictEqual(['second', 'first']));
    gate.current.open();
    await until(async () => expect((await first.get('one')).status).toBe('completed'));
  });

  test('is not judged by one whose own signs of life have stopped, as after an outage of the store', async () => {
    const { startFrozen, start, gate, heartbeatClock, findOwner, place } = setUp();
    const { runtime: first } = startFrozen('first');
    const outage = { isOn: false };
    const open = place.open();
    const failing: SessionStore = {
      ...open,
      leases: {
        ...open.leases,
        beat: async (...args) => {
          if (outage.isOn) throw new StoreUnavailableError('failed', 'the server is down');
          return open.leases.beat(...args);
        },
      },
    };
    const second = start('second', { store: failing });
    await second.ready;
    await first.create({ id: 'one' }, { by: ann });
    const sent = first.send('one', 'slow 1; say One', { by: ann });
    await gate.current.reached;
    await pass(heartbeatClock, 5000);
    outage.isOn = true;
    await pass(heartbeatClock, 20_000);
    outage.isOn = false;
    await pass(heartbeatClock, 10_000);
    expect(await findOwner('one')).toBe('first');
    gate.current.open();
    expect((await sent).text).toBe('One');
  });
});

test('a full worker leaves messages to others', async () => {
  const { start, gate, findOwner, heartbeatClock } = setUp();
  const first = start('first', { maxConcurrent: 1 });
  await first.create({ id: 'one' }, { by: ann });
  await first.create({ id: 'two' }, { by: ann });
  const sent = first.send('one', 'slow 1; say One', { by: ann });
  await gate.current.reached;
  const waiting = first.send('two', 'say Two', { by: ann });
  await until(async () => expect((await first.health()).waitingActions).toBe(1));
  start('second');
  // The one that had it last shows that it has no room, and then it is anybody's.
  await pass(heartbeatClock, 1500);
  expect((await waiting).text).toBe('Two');
  expect(await findOwner('one')).toBe('first');
  gate.current.open();
  expect((await sent).text).toBe('One');
});

test('a cancel reaches a session whose owner is full', async () => {
  const { start, gate } = setUp();
  const first = start('first', { maxConcurrent: 1 });
  const client = start('client', { role: 'client' });
  await first.create({ id: 'one' }, { by: ann });
  void first.send('one', 'slow 1; say One', { by: ann });
  await gate.current.reached;
  const cancelled = client.cancel('one', 'enough', { by: ann });
  gate.current.open();
  expect((await cancelled).stopReason).toBe('user_requested');
});

test('a worker that is drained hands its sessions over between two steps, and nothing is counted', async () => {
  const { start, gate, findOwner, store, ran } = setUp();
  const first = start('first');
  await first.create({ id: 'one' }, { by: ann });
  void first.send('one', 'slow 1; slow 2; say One', { by: ann }).catch(() => undefined);
  await gate.current.reached;
  const passed = gate.current;
  gate.current = createGate();
  const drained = first.drain();
  const second = start('second');
  passed.open();
  await drained;
  await gate.current.reached;
  expect([await findOwner('one'), (await store.heads.read('one'))?.attempts]).toStrictEqual(['second', 0]);
  gate.current.open();
  await until(async () => expect((await second.get('one')).text).toBe('One'));
  expect(ran).toStrictEqual(['slow 1', 'slow 2']);
});

test('a session that is pinned to a version is left to a worker that has it', async () => {
  const { start, stage, findOwner } = setUp();
  const versions = { old: stage.agent({ version: '1' }), new: stage.agent({ version: '2' }) };
  const first = start('first', { agents: [versions.old], onVersionChange: 'pin' });
  await first.create({ id: 'one' }, { by: ann });
  await first.drain();
  const second = start('second', { agents: [versions.new], onVersionChange: 'pin' });
  const client = start('client', { agents: [versions.new], role: 'client' });
  const sent = client.send('one', 'say One', { by: ann });
  await second.ready;
  await until(async () => expect((await client.health()).waitingActions).toBe(1));
  expect(await findOwner('one')).toBeUndefined();
  start('third', { agents: [versions.new, versions.old], onVersionChange: 'pin' });
  expect((await sent).text).toBe('One');
});

test('a worker whose process was killed is noticed at once', async () => {
  const path = newPath();
  const source = new URL('../../src/entry/sqlite.ts', import.meta.url).href;
  const lib = new URL('../../src/lib/index.ts', import.meta.url).href;
  const script = `
    const { sqliteStore } = await import(${JSON.stringify(source)});
    const { readProcessIdentity } = await import(${JSON.stringify(lib)});
    const store = sqliteStore(${JSON.stringify(path)});
    await store.leases.join({ ...readProcessIdentity(), id: 'x', joinedAt: Date.now(), agents: ['desk'] }, { room: 1 });
    console.log('joined');
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const store = sqliteStore(path);
  const [worker] = await store.leases.workers();
  expect([worker?.pid, isProcessGone(worker ?? {})]).toStrictEqual([child.pid, false]);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const next = stageOn(sqlitePlace(path)).start({ silenceMs: 15_000, name: 'next' });
  await next.ready;
  expect((await next.health()).workers.map(({ name }) => name)).toStrictEqual(['next']);
  await next.drain();
  await store.close();
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
