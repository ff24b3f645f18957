// What happens at once in several processes, or in several calls of one.
import { describe, expect, test } from 'vitest';
import { defineHook } from '../../src/entry/index.ts';
import type { EmbeddedRuntime, SessionRuntimeOptions, SessionStore, SessionWrite, WriteReceipt } from '../../src/sessions/index.ts';
import { createMemoryPlace, createSessionRuntime, StoreUnavailableError } from '../../src/sessions/index.ts';
import { createFakeClock } from '../../src/testing/index.ts';
import type { Stage } from './stage.ts';
import { ann, bob, createGate, readEvents, refusal, stageOn, until } from './stage.ts';

interface Desk extends Stage {
  readonly worker: (more?: Partial<SessionRuntimeOptions>) => EmbeddedRuntime;
  readonly client: (more?: Partial<SessionRuntimeOptions>) => EmbeddedRuntime;
}

function setUp(): Desk {
  const place = createMemoryPlace();
  const stage = stageOn(place);
  const start = (more: Partial<SessionRuntimeOptions>): EmbeddedRuntime => {
    const { clock, ids, problems } = stage;
    const onProblem = (error: unknown): void => void problems.push(error);
    return createSessionRuntime({ agents: [stage.agent()], store: place.open(), clock, ids, onProblem, ...more });
  };
  return {
    ...stage,
    worker: (more = {}) => start({ role: 'worker', ...more }),
    client: (more = {}) => start({ role: 'client', ...more }),
  };
}

/** A store whose calls of one method wait at a gate. */
function withGate(
  store: SessionStore,
  method: 'rewrite' | 'delete' | 'listNotes',
): { readonly store: SessionStore; readonly gate: ReturnType<typeof createGate> } {
  const gate = createGate();
  const wait = async (): Promise<void> => {
    gate.reach();
    await gate.passed;
  };
  const { log, notes } = store;
  const gated = {
    rewrite: {
      log: { ...log, write: async (write) => (write.rewrites === undefined ? Promise.resolve() : wait()).then(() => log.write(write)) },
    },
    delete: { log: { ...log, delete: async (deletion) => wait().then(() => log.delete(deletion)) } },
    listNotes: { notes: { ...notes, list: async (query) => wait().then(() => notes.list(query)) } },
  } satisfies Record<typeof method, Partial<SessionStore>>;
  return { store: { ...store, ...gated[method] }, gate };
}

/** Turns of the event loop. */
const pass = async (turns = 20): Promise<void> => {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  let is = false;
  promise.then(
    () => (is = true),
    () => (is = true),
  );
  await pass();
  return is;
};

describe('erasing a message', () => {
  test('lets a message that is sent meanwhile wait, and both are done', async () => {
    const { worker, place, problems } = setUp();
    const { store, gate } = withGate(place.open(), 'rewrite');
    const running = worker({ store });
    await running.create({ id: 's' }, { by: ann });
    await running.send('s', 'say Secret.', { by: ann });
    const messageId = String((await running.get('s')).state.messages.at(-1)?.id);
    const erased = running.eraseMessage('s', messageId, { by: bob });
    await gate.reached;
    const sent = running.send('s', 'say Two.', { by: ann });
    await pass();
    gate.open();
    await erased;
    expect(await sent).toMatchObject({ status: 'completed', text: 'Two.', execution: 2 });
    expect(JSON.stringify(await place.open().log.entries('s'))).toContain('[erased]');
    expect(problems).toStrictEqual([]);
    await running.drain();
  });

  test('settles for a client once the message is gone', async () => {
    const { worker, client, place } = setUp();
    const { store, gate } = withGate(place.open(), 'rewrite');
    const running = worker({ store });
    const asking = client();
    await asking.create({ id: 's' }, { by: ann });
    await asking.send('s', 'say Secret.', { by: ann });
    const messageId = String((await asking.get('s')).state.messages.at(-1)?.id);
    const erased = asking.eraseMessage('s', messageId, { by: bob, requestId: 'e' });
    await gate.reached;
    expect(await isSettled(erased)).toBe(false);
    expect(await isSettled(asking.eraseMessage('s', messageId, { by: bob, requestId: 'e' }))).toBe(false);
    gate.open();
    await erased;
    expect(JSON.stringify(await place.open().log.entries('s'))).toContain('[erased]');
    await asking.eraseMessage('s', messageId, { by: bob, requestId: 'e' });
    await running.drain();
  });

  test('does not keep a cancel behind it waiting', async () => {
    const { worker, client, gate } = setUp();
    const running = worker();
    const asking = client();
    await asking.create({ id: 's' }, { by: ann });
    await asking.send('s', 'say Secret.', { by: ann });
    const messageId = String((await asking.get('s')).state.messages.at(-1)?.id);
    const sent = asking.send('s', 'slow 1; say Done.', { by: ann });
    await gate.current.reached;
    const erased = asking.eraseMessage('s', messageId, { by: bob });
    await until(async () => expect((await asking.actions('s')).at(-1)).toMatchObject({ type: 'erase', entry: 5 }));
    expect(await asking.cancel('s', 'enough', { by: ann })).toMatchObject({ status: 'stopped' });
    gate.current.open();
    await Promise.all([sent, erased]);
    await running.drain();
  });
});

describe('deleting a session', () => {
  test('leaves nothing of it in memory for somebody who reads it meanwhile', async () => {
    const { worker, place } = setUp();
    const { store, gate } = withGate(place.open(), 'delete');
    const running = worker({ store });
    await running.create({ id: 's' }, { by: ann });
    const deleted = running.delete('s', { by: ann });
    await gate.reached;
    await running.get('s');
    gate.open();
    await deleted;
    await refusal(running.get('s'), 'session-deleted');
    await running.drain();
  });

  test('ends the expiry of its approvals', async () => {
    const { worker, clock, problems } = setUp();
    const running = worker({ approvals: { expireAfterMs: 1000 } });
    await running.create({ id: 's' }, { by: ann });
    await running.send('s', 'pay 5', { by: ann });
    await running.delete('s', { by: ann });
    await clock.advance(1000);
    await pass();
    await clock.advance(60_000);
    await pass();
    expect(problems).toStrictEqual([]);
    await running.drain();
  });

  test('is the answer to a client whose message is queued', async () => {
    const { worker, client, gate } = setUp();
    const running = worker();
    const asking = client();
    await asking.create({ id: 's' }, { by: ann });
    const first = refusal(asking.send('s', 'slow 1; say Done.', { by: ann }), 'session-deleted');
    await gate.current.reached;
    const second = refusal(asking.send('s', 'say More.', { by: ann }), 'session-deleted');
    await until(async () => expect(await asking.actions('s')).toMatchObject([{}, {}, { entry: 3 }]));
    await running.delete('s', { by: bob });
    await Promise.all([first, second]);
    gate.current.open();
    await running.drain();
  });
});

describe('a client without a worker', () => {
  test('forks a session', async () => {
    const { worker, client } = setUp();
    const running = worker();
    await running.create({ id: 's', owner: 'ann' }, { by: ann });
    await running.send('s', 'say One.', { by: ann });
    await running.drain();
    const asking = client();
    const fork = await asking.fork('s', { execution: 1, step: 1 }, { by: bob, id: 'f', until: 'accepted' });
    expect(fork).toMatchObject({ id: 'f', owner: 'ann', text: 'One.', forkedFrom: { sessionId: 's' }, mailbox: [] });
    expect(await asking.get('f')).toMatchObject({ id: 'f', owner: 'ann', text: 'One.' });
    await asking.drain();
  });

  test('creates no session of an agent that it does not know', async () => {
    const { client, place } = setUp();
    const asking = client({ agents: [] });
    await refusal(asking.create({ agent: 'desk' }, { by: ann, until: 'accepted' }), 'unknown-agent');
    expect((await place.open().heads.list()).sessions).toStrictEqual([]);
    await asking.drain();
  });
});

describe('a hold', () => {
  test('is known before the first action of a worker runs', async () => {
    const { worker, place, model } = setUp();
    const first = worker();
    await first.create({ id: 's' }, { by: ann });
    await first.hold({}, 'maintenance');
    await first.drain();
    const { store, gate } = withGate(place.open(), 'listNotes');
    const running = worker({ store });
    const sent = running.send('s', 'say One.', { by: ann });
    await gate.reached;
    await pass();
    gate.open();
    expect(await isSettled(sent)).toBe(false);
    expect(model.calls).toHaveLength(0);
    const [hold] = await running.holds();
    await running.release(String(hold?.id));
    expect((await sent).text).toBe('One.');
    await running.drain();
  });

  test('is obeyed at once by the process that put it, though the store says nothing', async () => {
    const { worker, place, model } = setUp();
    const running = worker({ store: { ...place.open(), changes: { ...place.open().changes, watch: () => () => undefined } } });
    await running.create({ id: 's' }, { by: ann });
    await running.hold({}, 'maintenance');
    const sent = running.send('s', 'say One.', { by: ann, until: 'accepted' });
    await sent;
    await pass();
    expect(model.calls).toHaveLength(0);
    await running.drain();
  });

  test('shows events that were emitted before it to a reader in the same process', async () => {
    const { worker } = setUp();
    const starting = createGate();
    const context = async (): Promise<void> => {
      starting.reach();
      await starting.passed;
    };
    const running = worker({ context });
    await running.create({ id: 's' }, { by: ann });
    await running.send('s', 'say One.', { by: ann, until: 'accepted' });
    await starting.reached;
    const seqs: number[] = [];
    const leaving = new AbortController();
    const following = (async () => {
      for await (const { seq } of running.events('s', { follow: true, signal: leaving.signal })) seqs.push(seq);
    })();
    await pass();
    await running.hold({}, 'maintenance');
    starting.open();
    await pass();
    const stored = await readEvents(running, 's');
    expect(stored.at(-1)?.type).toBe('AgentExecutionStarted');
    expect(seqs).toStrictEqual(stored.map(({ seq }) => seq));
    leaving.abort();
    await following;
    await running.drain();
  });

  test('is not broken by a worker that is drained while an open step waits for its end', async () => {
    const { worker, model, clock, agent } = setUp();
    const asking = createGate();
    const hook = defineHook({
      name: 'gate',
      beforeInference: async () => {
        asking.reach();
        await asking.passed;
      },
    });
    const agents = [agent({ hooks: [hook] })];
    const first = worker({ agents });
    await first.create({ id: 's' }, { by: ann });
    const sent = refusal(first.send('s', 'say One.', { by: ann }), 'runtime-closed');
    await asking.reached;
    const { id } = await first.hold({}, 'maintenance');
    asking.open();
    await pass();
    const draining = first.drain({ timeoutMs: 1000 });
    await pass();
    await clock.advance(1000);
    await draining;
    await sent;
    expect(model.calls).toHaveLength(0);
    const second = worker({ agents });
    await second.ready;
    await pass();
    expect(model.calls).toHaveLength(0);
    await second.release(id);
    await until(async () => expect((await second.get('s')).text).toBe('One.'));
    await second.drain();
  });

  test('of one tenant does not keep the sessions of another from being resumed', async () => {
    const { worker, gate, model } = setUp();
    const first = worker();
    for (const tenant of ['free', 'held']) {
      await first.create({ id: tenant, tenant }, { by: ann });
      await first.send(tenant, 'slow 1; say Done.', { by: ann, until: 'accepted' });
    }
    await gate.current.reached;
    await pass();
    await first.hold({ tenant: 'held' }, 'maintenance');
    const draining = first.drain();
    gate.current.open();
    await draining;
    const asked = model.calls.length;
    const second = worker({ maxConcurrent: 2 });
    expect((await second.ready).resumed).toStrictEqual(['free', 'held']);
    await until(async () => expect((await second.get('free')).status).toBe('completed'));
    expect((await second.get('held')).status).toBe('in_progress');
    expect(model.calls.length).toBe(asked + 1);
    await second.drain();
  });
});

describe('the mailbox', () => {
  /** A store that fails to write once. */
  function failingOnce(store: SessionStore): SessionStore & { fails: boolean } {
    const failing = {
      ...store,
      fails: false,
      log: {
        ...store.log,
        write: async (write: SessionWrite): Promise<WriteReceipt> => {
          if (!failing.fails) return store.log.write(write);
          failing.fails = false;
          throw new StoreUnavailableError('full', 'no space');
        },
      },
    };
    return failing;
  }

  test('is applied in its order, though the store fails at its first mail', async () => {
    const { worker, client, place, clock, problems } = setUp();
    const store = failingOnce(place.open());
    const asking = client();
    const running = worker({ store });
    await asking.create({ id: 's' }, { by: ann });
    await running.drain();
    await asking.send('s', 'say One.', { by: ann, until: 'accepted' });
    await asking.send('s', 'say Two.', { by: ann, until: 'accepted' });
    store.fails = true;
    const next = worker({ store });
    await until(() => expect(problems).toMatchObject([{ code: 'store-unavailable' }]));
    await clock.advance(10_000);
    await until(async () => expect((await asking.get('s')).mailbox).toStrictEqual([]));
    const actions = await asking.actions('s');
    expect(actions.map((action) => (action.type === 'send' ? action.message['content'] : action.type))).toStrictEqual([
      'create',
      'say One.',
      'say Two.',
    ]);
    await next.drain();
  });

  test('is read again after a second, though the store says nothing', async () => {
    const { worker, client, place } = setUp();
    const heartbeatClock = createFakeClock();
    const running = worker({
      store: { ...place.open(), changes: { ...place.open().changes, watch: () => () => undefined } },
      heartbeatClock,
    });
    await running.ready;
    const asking = client();
    await asking.create({ id: 's' }, { by: ann });
    const sent = asking.send('s', 'say Hello.', { by: ann });
    await until(async () => expect((await asking.get('s')).mailbox).toHaveLength(1));
    await heartbeatClock.advance(1000);
    expect((await sent).text).toBe('Hello.');
    await running.drain();
  });

  test('loses refusals after a day, though the worker never stops', async () => {
    const { worker, place, clock } = setUp();
    const heartbeatClock = createFakeClock();
    let skippedMs = 0;
    const running = worker({ heartbeatClock: { ...heartbeatClock, monotonic: () => heartbeatClock.monotonic() + skippedMs } });
    await running.create({ id: 's' }, { by: ann });
    const { inbox } = place.open();
    const body = JSON.stringify({ request: { type: 'reject', waitId: 'none', reason: 'no' }, by: ann });
    // One was posted a day ago, to save the test a day.
    for (const hours of [25, 23]) await inbox.post({ sessionId: 's', requestId: `${hours}`, at: clock.now() - hours * 3_600_000, body });
    await until(async () => expect(await inbox.read({ isWaiting: false })).toHaveLength(2));
    // An hour of signs of life takes long.
    skippedMs = 3_600_000;
    await heartbeatClock.advance(500);
    await until(async () => expect(await inbox.read()).toMatchObject([{ requestId: '23' }]));
    await running.drain();
  });
});

test('a client whose message is queued settles if the session then waits for a person after a crash', async () => {
  const { worker, client, gate, problems } = setUp();
  const first = worker({ heartbeatClock: createFakeClock() });
  const asking = client();
  await first.create({ id: 's' }, { by: ann });
  const sent = asking.send('s', 'slow 1; say Done.', { by: ann });
  await gate.current.reached;
  const queued = asking.send('s', 'say More.', { by: ann });
  await until(async () => expect(await asking.actions('s')).toMatchObject([{}, {}, { entry: 3 }]));
  // The first process is as good as dead: it gives no signs of life, and its tool never returns.
  const second = worker({ silenceMs: 0, maxRecoveries: 0 });
  expect((await sent).status).toBe('waiting');
  expect((await queued).status).toBe('waiting');
  expect(problems).toMatchObject([{ code: 'crash-loop' }]);
  await second.drain();
});

test('a runtime that was drained reads what another process stores', async () => {
  const { worker } = setUp();
  const first = worker();
  await first.create({ id: 's' }, { by: ann });
  await first.drain();
  expect((await first.get('s')).text).toBe('');
  const second = worker();
  await second.send('s', 'say One.', { by: ann });
  expect((await first.get('s')).text).toBe('One.');
  await second.drain();
});
