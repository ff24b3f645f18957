// How many sessions run at once, and in which order the others follow.
import { describe, expect, test } from 'vitest';
import { defineTool } from '../../src/entry/index.ts';
import type { EmbeddedRuntime, SessionRuntimeOptions } from '../../src/sessions/index.ts';
import { createMemoryPlace } from '../../src/sessions/index.ts';
import { createFakeClock } from '../../src/testing/index.ts';
import type { Place } from './stage.ts';
import { ann, stageOn, until } from './stage.ts';

const input = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } as const;

function setUp(place: Place = createMemoryPlace()) {
  const stage = stageOn(place);
  /** Open calls of the tool `slow`, in the order in which they came. */
  const open: { readonly amount: number; readonly end: (text: string) => void }[] = [];
  const slow = defineTool({
    name: 'slow',
    description: 'Takes its time.',
    input,
    effect: 'pure',
    run: ({ amount }) => new Promise<string>((end) => open.push({ amount, end })),
  });
  const agents = [stage.agent({ tools: [...Object.values(stage.tools).filter(({ name }) => name !== 'slow'), slow] })];
  const start = (more: Partial<SessionRuntimeOptions> = {}): EmbeddedRuntime => stage.start({ agents, ...more });
  const amounts = (): readonly number[] => open.map(({ amount }) => amount);
  const send = async (runtime: EmbeddedRuntime, amount: number) => {
    await runtime.create({ id: `s${amount}` }, { by: ann });
    return runtime.send(`s${amount}`, `slow ${amount}; say End`, { by: ann });
  };
  const waitUntilOpen = (...wanted: readonly number[]): Promise<unknown> => until(() => expect(amounts()).toStrictEqual(wanted));
  const end = (amount: number): void => open.splice(amounts().indexOf(amount), 1)[0]?.end('done');
  return { ...stage, start, send, amounts, opened: waitUntilOpen, end };
}

/** A place with sessions that a process left open. */
async function leaveOpen(count: number) {
  const place = createMemoryPlace();
  const before = setUp(place);
  const runtime = before.start();
  for (let amount = 1; amount <= count; amount += 1) {
    void before.send(runtime, amount).catch(() => undefined);
    await until(() => expect(before.amounts()).toHaveLength(amount));
  }
  return place;
}

describe('sessions above maxConcurrent', () => {
  test('wait, and follow in the order in which they came', async () => {
    const { start, send, opened, end } = setUp();
    const runtime = start({ maxConcurrent: 2 });
    const sent = [];
    for (const amount of [1, 2, 3, 4, 5]) {
      sent.push(send(runtime, amount));
      await until(async () => expect((await runtime.list()).sessions).toHaveLength(amount));
    }
    await opened(1, 2);
    end(2);
    await opened(1, 3);
    end(1);
    await opened(3, 4);
    expect((await runtime.get('s5')).status).toBe('in_progress');
    end(3);
    end(4);
    await opened(5);
    end(5);
    expect((await Promise.all(sent)).map(({ status }) => status)).toStrictEqual(Array(5).fill('completed'));
  });

  test('read messages that came while they waited', async () => {
    const { start, send, opened, end, model } = setUp();
    const runtime = start({ maxConcurrent: 1 });
    const first = send(runtime, 1);
    await opened(1);
    const second = send(runtime, 2);
    await until(async () => expect(await runtime.actions('s2')).toHaveLength(2));
    const joined = runtime.send('s2', 'say Never mind', { by: ann });
    await until(async () => expect(await runtime.actions('s2')).toHaveLength(3));
    end(1);
    expect(await joined).toMatchObject({ status: 'completed', text: 'Never mind', execution: 1 });
    expect((await Promise.all([first, second])).map(({ status }) => status)).toStrictEqual(['completed', 'completed']);
    expect(model.calls.at(-1)?.messages.filter((message) => message.isUser())).toHaveLength(2);
  });

  test('can be cancelled at once', async () => {
    const { start, send, opened } = setUp();
    const runtime = start({ maxConcurrent: 1 });
    void send(runtime, 1).catch(() => undefined);
    await opened(1);
    const second = send(runtime, 2);
    await until(async () => expect(await runtime.actions('s2')).toHaveLength(2));
    expect(await runtime.cancel('s2', 'changed my mind', { by: ann })).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect((await second).status).toBe('stopped');
    await opened(1);
  });

  test('are left to the next runtime by a drain', async () => {
    const { start, send, opened, end, clock } = setUp();
    const runtime = start({ maxConcurrent: 1 });
    const first = Promise.allSettled([send(runtime, 1)]);
    await opened(1);
    const second = Promise.allSettled([send(runtime, 2)]);
    await until(async () => expect(await runtime.actions('s2')).toHaveLength(2));
    const draining = runtime.drain();
    await clock.advance(0);
    end(1);
    await draining;
    await first;
    await second;
    const next = start();
    expect((await next.ready).resumed).toStrictEqual(['s1']);
    await opened(2);
    end(2);
    await until(async () => expect((await next.list({ status: 'completed' })).sessions).toHaveLength(2));
  });

  test('are taken by another worker that has room', async () => {
    const { start, send, opened, end } = setUp();
    const heartbeatClock = createFakeClock();
    const alive = { silenceMs: 15_000, maxConcurrent: 1, heartbeatClock };
    const full = start(alive);
    const first = send(full, 1);
    await opened(1);
    const second = send(full, 2);
    await until(async () => expect(await full.actions('s2')).toHaveLength(2));
    // Its next sign of life says that it has no room.
    await heartbeatClock.advance(500);
    start(alive);
    await opened(1, 2);
    end(2);
    expect(await second).toMatchObject({ status: 'completed', text: 'End' });
    end(1);
    expect((await first).status).toBe('completed');
  });

  test('free their place if their store fails', async () => {
    const { start, send, opened, end, place } = setUp();
    const store = place.open();
    const runtime = start({
      maxConcurrent: 1,
      store: {
        ...store,
        log: {
          ...store.log,
          write: (write) =>
            write.sessionId === 's1' && write.clearsEffects === true ? Promise.reject(new Error('unplugged')) : store.log.write(write),
        },
      },
    });
    const first = send(runtime, 1).catch((error: unknown) => error);
    await opened(1);
    const second = send(runtime, 2);
    end(1);
    expect(await first).toMatchObject({ message: 'unplugged' });
    await opened(2);
    end(2);
    expect((await second).status).toBe('completed');
  });
});

describe('recovery', () => {
  test('takes what there is room for, and then the rest', async () => {
    const { start, opened, end } = setUp(await leaveOpen(5));
    const runtime = start({ maxConcurrent: 4 });
    const { resumed } = await runtime.ready;
    expect(resumed).toStrictEqual(['s1', 's2', 's3', 's4']);
    await opened(1, 2, 3, 4);
    end(3);
    await opened(1, 2, 4, 5);
    for (const amount of [1, 2, 4, 5]) end(amount);
    await until(async () => expect((await runtime.list({ status: 'completed' })).sessions).toHaveLength(5));
  });

  test('leaves the rest to other workers', async () => {
    const { start, opened, end, place } = setUp(await leaveOpen(5));
    const first = start({ maxConcurrent: 2 });
    await first.ready;
    await opened(1, 2);
    start({ silenceMs: 15_000 });
    await opened(1, 2, 3, 4, 5);
    for (const amount of [1, 2, 3, 4, 5]) end(amount);
    await until(async () => expect((await place.open().heads.list({ isOpen: true })).sessions).toStrictEqual([]));
  });

  test('comes after what has cost no worker yet', async () => {
    const { start, send, opened, end } = setUp(await leaveOpen(2));
    const runtime = start({ maxConcurrent: 1 });
    await opened(1);
    const sent = send(runtime, 9);
    await until(async () => expect(await runtime.actions('s9')).toHaveLength(2));
    end(1);
    await opened(9);
    end(9);
    expect((await sent).status).toBe('completed');
    await opened(2);
    end(2);
    await until(async () => expect((await runtime.list({ status: 'completed' })).sessions).toHaveLength(3));
  });

  test('does not keep anybody waiting who asks for something else', async () => {
    const place = await leaveOpen(3);
    const { start } = setUp(place);
    const store = place.open();
    // The list of what is open never comes.
    const runtime = start({
      store: {
        ...store,
        heads: { ...store.heads, list: (query) => (query?.isOpen === true ? new Promise(() => undefined) : store.heads.list(query)) },
      },
    });
    expect((await runtime.get('s1')).status).toBe('in_progress');
    expect((await runtime.create({ id: 'new' }, { by: ann })).id).toBe('new');
    expect((await runtime.send('new', 'say Hello', { by: ann })).text).toBe('Hello');
  });
});

test.each([0, -1, 1.5, Number.NaN, '5'])('maxConcurrent: %s is refused', (maxConcurrent) => {
  expect(() => setUp().start({ maxConcurrent: maxConcurrent as number })).toThrow(
    /maxConcurrent must be a whole number of 1 or more, or Infinity, not/,
  );
});

test('a runtime whose list of open sessions cannot be read says so, and resumes them all the same', async () => {
  const place = await leaveOpen(1);
  const { start, opened, end } = setUp(place);
  const store = place.open();
  const runtime = start({ store: { ...store, heads: { ...store.heads, list: () => Promise.reject(new Error('unplugged')) } } });
  await expect(runtime.ready).rejects.toThrow('unplugged');
  await opened(1);
  end(1);
  await until(async () => expect((await runtime.get('s1')).text).toBe('End'));
  expect((await runtime.send('s1', 'say Hello', { by: ann })).text).toBe('Hello');
});
