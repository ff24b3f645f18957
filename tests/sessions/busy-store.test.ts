// A SQLite file that another process holds for a while.
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import type { Stage } from './stage.ts';
import { ann, newPath, refusal, sqlitePlace, stageOn, until } from './stage.ts';

interface Lock {
  readonly hold: () => void;
  readonly free: () => void;
}

/** Another process that can keep everybody else from writing. */
function createLock(path: string): Lock {
  const other = new DatabaseSync(path);
  onTestFinished(() => other.close());
  return { hold: () => other.exec('BEGIN IMMEDIATE'), free: () => other.exec('ROLLBACK') };
}

const busyTimeoutMs = 5000;

async function setUp(): Promise<Stage & { readonly lock: Lock; readonly open: () => ReturnType<typeof sqliteStore> }> {
  const path = newPath();
  const stage = stageOn(sqlitePlace(path));
  const open = () => {
    const store = sqliteStore({ path, busyTimeoutMs, clock: stage.clock });
    onTestFinished(() => store.close().catch(() => undefined));
    return store;
  };
  // Creates the file.
  await stage.start().drain();
  return { ...stage, lock: createLock(path), open };
}

/** Lets time pass until the work has ended. */
async function settle<Value>({ clock }: Stage, work: Promise<Value>, mostMs: number): Promise<Value> {
  const progress = { isOver: false };
  const over = work.finally(() => (progress.isOver = true));
  over.catch(() => undefined);
  for (let passed = 0; passed < mostMs && !progress.isOver; passed += 100) await clock.advance(100);
  expect(progress.isOver).toBe(true);
  return over;
}

test('a runtime that starts while another process writes works when that has ended', async () => {
  const stage = await setUp();
  stage.lock.hold();
  const runtime = stage.start({ store: stage.open() });
  const creating = runtime.create({ id: 'one' }, { by: ann });
  await stage.clock.advance(1000);
  stage.lock.free();
  expect(await settle(stage, creating, 2000)).toMatchObject({ id: 'one' });
  expect((await runtime.send('one', 'say Hello', { by: ann })).text).toBe('Hello');
  expect(stage.problems).toStrictEqual([]);
});

test('a message that is sent while another process writes is stored when that has ended', async () => {
  const stage = await setUp();
  const runtime = stage.start({ store: stage.open() });
  await runtime.create({ id: 'one' }, { by: ann });
  stage.lock.hold();
  const sent = runtime.send('one', 'note 1; say Hello', { by: ann });
  await stage.clock.advance(1000);
  expect(stage.ran).toStrictEqual([]);
  stage.lock.free();
  expect(await settle(stage, sent, 2000)).toMatchObject({ status: 'completed', text: 'Hello' });
  expect([stage.ran, stage.problems]).toStrictEqual([['note 1'], []]);
});

test('writes of a session stay in their order over a time in which the store is busy', async () => {
  const stage = await setUp();
  const runtime = stage.start({ store: stage.open() });
  await runtime.create({ id: 'one' }, { by: ann });
  stage.lock.hold();
  const all = ['say One', 'say Two', 'say Three'].map((words) => runtime.send('one', words, { by: ann }));
  await stage.clock.advance(1000);
  stage.lock.free();
  await settle(stage, Promise.all(all), 2000);
  const { messages } = (await runtime.get('one')).state;
  expect(messages.toArray().flatMap((message) => (message.isUser() ? [message.text] : []))).toStrictEqual([
    'say One',
    'say Two',
    'say Three',
  ]);
});

test('a store that is never free refuses with the time that was waited, and the session goes on later', async () => {
  const stage = await setUp();
  const runtime = stage.start({ store: stage.open() });
  await runtime.create({ id: 'one' }, { by: ann });
  stage.lock.hold();
  const refused = refusal(runtime.send('one', 'say Hello', { by: ann }), 'store-unavailable');
  const { message } = await settle(stage, refused, 10_000);
  expect(message).toMatch(/^The session store cannot be used: another process has held it for 5 s \(\d+ attempts\)\./);
  expect(message).toMatch(/Nothing was written/);
  stage.lock.free();
  expect(await runtime.send('one', 'say Hello', { by: ann })).toMatchObject({ status: 'completed', text: 'Hello' });
});

test('a step that cannot be stored goes on by itself once the store is free', async () => {
  const stage = await setUp();
  const runtime = stage.start({ store: stage.open() });
  await runtime.create({ id: 'one' }, { by: ann });
  const sent = runtime.send('one', 'slow 1; say Hello', { by: ann });
  sent.catch(() => undefined);
  await stage.gate.current.reached;
  stage.lock.hold();
  stage.gate.current.open();
  await settle(stage, refusal(sent, 'store-unavailable'), 10_000);
  stage.lock.free();
  await stage.clock.advance(20_000);
  await until(async () => expect(await runtime.get('one')).toMatchObject({ status: 'completed', text: 'Hello' }));
});

test('a runtime that could not join the workers of its store tries again with the next request, and then resumes what was open', async () => {
  const stage = await setUp();
  const before = stage.start({ store: stage.open() });
  await before.create({ id: 'one' }, { by: ann });
  void before.send('one', 'slow 1; say Hello', { by: ann }).catch(() => undefined);
  await stage.gate.current.reached;
  stage.lock.hold();
  const runtime = stage.start({ store: stage.open() });
  await settle(stage, refusal(runtime.ready, 'store-unavailable'), 10_000);
  // Reading takes no part in it.
  expect((await runtime.get('one')).status).toBe('in_progress');
  await settle(stage, refusal(runtime.create({ id: 'two' }, { by: ann }), 'store-unavailable'), 10_000);
  stage.lock.free();
  expect(await runtime.create({ id: 'two' }, { by: ann })).toMatchObject({ id: 'two' });
  expect(await runtime.resume('one', { by: ann })).toMatchObject({ status: 'completed', text: 'Hello' });
});
