// Events that are delivered to other programs: order, failures, dead letters, and processes that end.
import { describe, expect, onTestFinished, test } from 'vitest';
import type { DeliverOptions, EmbeddedRuntime, EventDelivery, SendEvents, SessionStore } from '../../src/sessions/index.ts';
import { createMemoryPlace, createSessionRuntime, StoreUnavailableError } from '../../src/sessions/index.ts';
import type { FakeClock } from '../../src/testing/index.ts';
import { createFakeClock } from '../../src/testing/index.ts';
import type { Stage } from './stage.ts';
import { ann, createGate, places, readEvents, stageOn } from './stage.ts';

/** A receiver that keeps what it accepts, and refuses what a test tells it to. */
function createReceiver(refuses: (delivery: EventDelivery) => unknown = () => false) {
  const accepted: EventDelivery[] = [];
  const attempts: string[] = [];
  const receiver = {
    accepted,
    attempts,
    refuses,
    send: (async (delivery) => {
      attempts.push(`${delivery.sessionId} ${delivery.attempt}`);
      if (receiver.refuses(delivery) === true) throw new Error('the receiver is down, token sk-abcdefghijklmnopqrstuvwxyz012345');
      accepted.push(delivery);
    }) satisfies SendEvents,
    /** Events of a session in the order in which they were accepted. */
    seqs: (sessionId: string) =>
      accepted.filter((each) => each.sessionId === sessionId).flatMap(({ events }) => events.map(({ seq }) => seq)),
  };
  return receiver;
}

const until = (check: () => unknown): Promise<unknown> => expect.poll(check, { timeout: 10_000, interval: 5 }).toBe(true);

async function runSession(runtime: EmbeddedRuntime, id: string, text = 'look 1; look 2; say Found.'): Promise<number> {
  await runtime.create({ id }, { by: ann });
  await runtime.send(id, text, { by: ann });
  return (await readEvents(runtime, id)).length;
}

/** Steps that store more entries without a message than a delivery reads at once. */
const manySteps = `${Array.from({ length: 24 }, (_, index) => `look ${index}`).join('; ')}; say Found.`;

async function readMessageSeqs(runtime: EmbeddedRuntime, id: string): Promise<readonly number[]> {
  return (await readEvents(runtime, id)).filter(({ type }) => type === 'UserMessageReceived').map(({ seq }) => seq);
}

const dense = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

/** Moves a clock until something holds. */
async function advanceUntil(clock: FakeClock, ms: number, check: () => boolean): Promise<void> {
  await until(async () => {
    if (!check()) await clock.advance(ms);
    return check();
  });
}

/** A process that only delivers. */
function startClient(stage: Stage, heartbeatClock = createFakeClock(), store = stage.place.open()): EmbeddedRuntime {
  const onProblem = (error: unknown): void => void stage.problems.push(error);
  const { clock } = stage;
  const runtime = createSessionRuntime({ agents: [stage.agent()], store, role: 'client', clock, heartbeatClock, onProblem });
  onTestFinished(() => runtime.drain());
  return runtime;
}

describe.each(places)('deliver() on a store in %s', (_, newPlace) => {
  test('sends every event once, those of a session in their order, under an id that stays the same', async () => {
    const stage = stageOn(newPlace());
    const runtime = stage.start();
    const count = await runSession(runtime, 'a');
    const { send, seqs, accepted } = createReceiver();
    const delivery = runtime.deliver('desk', send);
    await runSession(runtime, 'b');
    await until(() => seqs('a').length === count && seqs('b').length === count);
    expect([seqs('a'), seqs('b')]).toStrictEqual([dense(count), dense(count)]);
    expect(new Set(accepted.map(({ id }) => id)).size).toBe(accepted.length);
    expect(accepted[0]).toMatchObject({ name: 'desk', attempt: 1, sessionId: 'a', agent: { id: 'desk' } });
    await delivery.stop();
    const again = createReceiver();
    const other = runtime.deliver('desk', again.send);
    await runSession(runtime, 'c', 'say Hello.');
    await until(() => again.seqs('c').length > 0);
    expect(again.accepted.every(({ sessionId }) => sessionId === 'c')).toBe(true);
    await other.stop();
    const fresh = createReceiver();
    runtime.deliver('fresh', fresh.send);
    await until(() => fresh.accepted.length > accepted.length);
    expect(fresh.accepted.map(({ id }) => id)).not.toContain(accepted[0]?.id);
    await runtime.drain();
  });

  test('sends only what was asked for, redacted, from now on if asked', async () => {
    const stage = stageOn(newPlace());
    const runtime = stage.start();
    await runSession(runtime, 'a', 'pay 1');
    const late = createReceiver();
    runtime.deliver('late', late.send, { startAt: 'now', types: ['UserMessageReceived'] });
    const { send, accepted } = createReceiver();
    runtime.deliver('desk', send, { types: ['ToolApprovalRequested', 'UserMessageReceived'] });
    await until(() => accepted.length === 2);
    await runSession(runtime, 'b', 'say My password is sk-abcdefghijklmnopqrstuvwxyz012345');
    await until(() => accepted.length === 3 && late.accepted.length === 1);
    expect(late.accepted.map(({ sessionId }) => sessionId)).toStrictEqual(['b']);
    expect(accepted.flatMap(({ events }) => events.map(({ type }) => type)).sort()).toStrictEqual([
      'ToolApprovalRequested',
      'UserMessageReceived',
      'UserMessageReceived',
    ]);
    expect(JSON.stringify(accepted)).not.toContain('sk-abcdef');
    await runtime.drain();
  });

  test('a session whose receiver fails waits alone, keeps its order, and is caught up on (L2)', async () => {
    const stage = stageOn(newPlace());
    const { clock } = stage;
    const runtime = stage.start();
    const receiver = createReceiver(({ sessionId }) => sessionId === 'bad');
    runtime.deliver('desk', receiver.send, { firstDelayMs: 1000, maxDelayMs: 60_000 });
    const count = await runSession(runtime, 'bad');
    expect(await runSession(runtime, 'good')).toBe(count);
    await until(() => receiver.seqs('good').length === count);
    expect(receiver.seqs('bad')).toStrictEqual([]);
    const countTries = (): number => receiver.attempts.filter((each) => each.startsWith('bad')).length;
    await advanceUntil(clock, 500, () => countTries() >= 4);
    expect(receiver.attempts.filter((each) => each.startsWith('bad')).slice(0, 4)).toStrictEqual(['bad 1', 'bad 2', 'bad 3', 'bad 4']);
    await runtime.send('bad', 'say More.', { by: ann });
    const all = (await readEvents(runtime, 'bad')).length;
    receiver.refuses = () => false;
    await advanceUntil(clock, 5000, () => receiver.seqs('bad').length >= all);
    expect(receiver.seqs('bad')).toStrictEqual(dense(all));
    await runSession(runtime, 'later', 'say Hello.');
    await until(() => receiver.seqs('later').length > 0);
    await runtime.drain();
  });

  test('catches up across many commits of other types than those asked for (L1)', async () => {
    const stage = stageOn(newPlace());
    const runtime = stage.start();
    const receiver = createReceiver(() => true);
    runtime.deliver('desk', receiver.send, { types: ['UserMessageReceived'], maxDelayMs: 1000 });
    await runSession(runtime, 'a', manySteps);
    await runtime.send('a', manySteps, { by: ann });
    await runtime.send('a', 'say Hello.', { by: ann });
    await until(() => receiver.attempts.length > 0);
    receiver.refuses = () => false;
    // Comes after everything that 'a' is behind with: the cursor has passed it.
    await runSession(runtime, 'b', 'say Hello.');
    await until(() => receiver.seqs('b').length === 1);
    const expected = await readMessageSeqs(runtime, 'a');
    expect(expected).toHaveLength(3);
    await advanceUntil(stage.clock, 1000, () => receiver.seqs('a').length > 0);
    await until(() => receiver.seqs('a').at(-1) === expected.at(-1));
    expect(receiver.seqs('a')).toStrictEqual(expected);
    await runtime.drain();
  });

  test('what failed too often is a dead letter, can be listed and sent again; the session goes on without it', async () => {
    const stage = stageOn(newPlace());
    const { clock } = stage;
    const problems: unknown[] = [];
    const runtime = stage.start({ onProblem: (error) => problems.push(error) });
    const receiver = createReceiver(({ events }) => events.some(({ type }) => type === 'UserMessageReceived'));
    runtime.deliver('desk', receiver.send, { maxAttempts: 3, firstDelayMs: 1000 });
    await runtime.create({ id: 'a', tenant: 't' }, { by: ann });
    await runtime.send('a', 'look 1; say Found.', { by: ann });
    const count = (await readEvents(runtime, 'a')).length;
    await advanceUntil(clock, 1000, () => receiver.seqs('a').at(-1) === count);
    const letters = await runtime.deadLetters('desk');
    expect(letters).toMatchObject([{ name: 'desk', sessionId: 'a', tenant: 't', afterSeq: 0, attempts: 3 }]);
    expect(letters[0]?.error).toContain('the receiver is down');
    expect(letters[0]?.error).not.toContain('sk-abcdef');
    expect(receiver.seqs('a')).toStrictEqual(dense(count).slice(Number(letters[0]?.lastSeq)));
    expect(problems).toHaveLength(1);
    const id = String(letters[0]?.id);
    await runtime.retryDeadLetter('desk', id);
    await until(() => receiver.attempts.at(-1) === 'a 4');
    await until(async () => (await runtime.deadLetters('desk'))[0]?.attempts === 4);
    receiver.refuses = () => false;
    await runtime.retryDeadLetter('desk', id);
    await until(() => receiver.seqs('a').length === count);
    await until(async () => (await runtime.deadLetters('desk')).length === 0);
    expect(receiver.accepted.at(-1)).toMatchObject({ id, attempt: 5 });
    await expect(runtime.retryDeadLetter('desk', id)).rejects.toMatchObject({ code: 'invalid-argument' });
    await runtime.drain();
  });

  test('one process delivers; when it is gone another continues, and the one that comes back sends nothing more (H1, H2)', async () => {
    const stage = stageOn(newPlace());
    const worker = stage.start();
    const count = await runSession(worker, 'a');
    const [firstClock, secondClock] = [createFakeClock(), createFakeClock()];
    const [first, second] = [createReceiver(), createReceiver()];
    startClient(stage, firstClock).deliver('desk', first.send);
    await until(() => first.seqs('a').length === count);
    await firstClock.advance(1500);
    startClient(stage, secondClock).deliver('desk', second.send);
    for (let turn = 0; turn < 20; turn += 1) {
      await firstClock.advance(1000);
      await secondClock.advance(1000);
    }
    expect(second.attempts).toStrictEqual([]);
    // The first gives no more signs of life, and does not know it.
    await advanceUntil(secondClock, 1000, () => second.attempts.length > 0 || secondClock.monotonic() > 40_000);
    await runSession(worker, 'b', 'say Hello.');
    await until(() => second.seqs('b').length > 0);
    await firstClock.advance(5000);
    await runSession(worker, 'c', 'say Hello.');
    await until(() => second.seqs('c').length > 0);
    expect(second.seqs('a')).toStrictEqual([]);
    expect(first.seqs('c')).toStrictEqual([]);
    await worker.drain();
  });

  test('nothing is lost if a process ends after sending and before noting it: it is sent again under the same id (L1)', async () => {
    const stage = stageOn(newPlace());
    const worker = stage.start();
    const count = await runSession(worker, 'a');
    const first = createReceiver();
    startClient(stage).deliver('desk', first.send);
    await until(() => first.seqs('a').length === count);
    // Its clock stands still: nothing was stored since, and it gives no sign of life.
    const clock = createFakeClock();
    const second = createReceiver();
    startClient(stage, clock).deliver('desk', second.send);
    await advanceUntil(clock, 1000, () => second.seqs('a').length >= count);
    expect(second.seqs('a')).toStrictEqual(dense(count));
    expect(second.accepted.map(({ id }) => id)).toStrictEqual(first.accepted.map(({ id }) => id));
    await worker.drain();
  });

  test('a deleted session that is behind holds nothing up', async () => {
    const stage = stageOn(newPlace());
    const runtime = stage.start();
    const receiver = createReceiver(({ sessionId }) => sessionId === 'gone');
    runtime.deliver('desk', receiver.send, { maxAttempts: 1000 });
    await runSession(runtime, 'gone', 'say Hello.');
    await until(() => receiver.attempts.includes('gone 1'));
    await runtime.delete('gone', { by: ann });
    receiver.refuses = () => false;
    await stage.clock.advance(600_000);
    await runSession(runtime, 'next', 'say Hello.');
    await until(() => receiver.seqs('next').length > 0);
    expect(receiver.seqs('gone')).toStrictEqual([]);
    await runtime.drain();
  });
});

test('keeps what the cursor passes while a session is being read (L1)', async () => {
  const stage = stageOn(createMemoryPlace());
  const worker = stage.start();
  const store = stage.place.open();
  const gate = createGate();
  let reads = 0;
  const slow: SessionStore = {
    ...store,
    // The second page of the session has no message.
    log: {
      ...store.log,
      entries: async (id, query) => {
        const found = await store.log.entries(id, query);
        if (id === 'a' && query?.afterSeq !== undefined && (reads += 1) === 2) {
          gate.reach();
          await gate.passed;
        }
        return found;
      },
    },
  };
  const receiver = createReceiver(() => true);
  await runSession(worker, 'a', manySteps);
  await worker.send('a', 'say Hello.', { by: ann });
  startClient(stage, createFakeClock(), slow).deliver('desk', receiver.send, { types: ['UserMessageReceived'] });
  await until(() => receiver.attempts.length === 1);
  receiver.refuses = () => false;
  await advanceUntil(stage.clock, 1000, () => receiver.seqs('a').length === 1);
  await gate.reached;
  await worker.send('a', 'say More.', { by: ann });
  await runSession(worker, 'b', 'say Hello.');
  await until(() => receiver.seqs('b').length === 1);
  gate.open();
  const expected = await readMessageSeqs(worker, 'a');
  expect(expected).toHaveLength(3);
  await until(() => receiver.seqs('a').length === 3);
  expect(receiver.seqs('a')).toStrictEqual(expected);
  await worker.drain();
});

/** A store whose notes cannot be read or written while it is cut off. */
function createCutStore(store: SessionStore) {
  const cut = { isCut: false };
  const check = (): void => {
    if (cut.isCut) throw new StoreUnavailableError('failed', 'it is cut off');
  };
  const wrapped: SessionStore = {
    ...store,
    notes: {
      ...store.notes,
      read: async (name) => (check(), store.notes.read(name)),
      write: async (note) => (check(), store.notes.write(note)),
    },
  };
  return { cut, store: wrapped };
}

describe('a process that cannot store that it is alive (L4, H3)', () => {
  async function startCutOff() {
    const stage = stageOn(createMemoryPlace());
    const worker = stage.start();
    const count = await runSession(worker, 'a');
    const clock = createFakeClock();
    const { cut, store } = createCutStore(stage.place.open());
    const gate = createGate();
    const first = createReceiver();
    const send: SendEvents = async (delivery) => {
      await first.send(delivery);
      gate.reach();
      await gate.passed;
    };
    // One failure would be a dead letter: what is not sent is not a failure.
    startClient(stage, clock, store).deliver('desk', send, { timeoutMs: 1_000_000_000, maxAttempts: 1 });
    await gate.reached;
    cut.isCut = true;
    return { stage, worker, count, clock, cut, gate, first };
  }

  test('sends nothing beside its successor', async () => {
    const { stage, worker, count, clock, cut, gate, first } = await startCutOff();
    const second = createReceiver();
    const successor = startClient(stage, clock).deliver('desk', second.send);
    await advanceUntil(clock, 1000, () => second.seqs('a').length === count);
    gate.open();
    await until(() => stage.problems.length > 0);
    const all = await runSession(worker, 'b', 'say Hello.');
    await until(() => second.seqs('b').length === all);
    expect(first.attempts).toHaveLength(1);
    expect(second.seqs('a')).toStrictEqual(dense(count));
    expect(await worker.deadLetters('desk')).toStrictEqual([]);
    // It continues where the successor stopped.
    cut.isCut = false;
    await successor.stop();
    await runSession(worker, 'c', 'say Hello.');
    await advanceUntil(stage.clock, 1000, () => (void clock.advance(1000), first.seqs('c').length > 0));
    expect(first.seqs('b')).toStrictEqual([]);
    await worker.drain();
  });

  test('continues if nobody has taken its place', async () => {
    const { stage, worker, count, clock, cut, gate, first } = await startCutOff();
    for (let second = 0; second < 7; second += 1) await clock.advance(1000);
    cut.isCut = false;
    gate.open();
    await until(() => first.seqs('a').length === count);
    expect(first.seqs('a')).toStrictEqual(dense(count));
    expect(await worker.deadLetters('desk')).toStrictEqual([]);
    expect(stage.problems.length).toBeGreaterThan(0);
    await worker.drain();
  });

  test('delivers again after it lost its place and got it back', async () => {
    const { stage, worker, count, clock, cut, gate, first } = await startCutOff();
    const second = createReceiver();
    const successor = startClient(stage, clock).deliver('desk', second.send);
    await advanceUntil(clock, 1000, () => second.seqs('a').length === count);
    // It finds out by a write that is refused.
    cut.isCut = false;
    await clock.advance(1000);
    gate.open();
    await clock.advance(3000);
    await successor.stop();
    await runSession(worker, 'c', 'say Hello.');
    const all = (await readEvents(worker, 'c')).length;
    await advanceUntil(clock, 1000, () => first.seqs('c').length >= all);
    for (let turn = 0; turn < 10; turn += 1) await clock.advance(1000);
    expect(first.seqs('c')).toStrictEqual(dense(all));
    await worker.drain();
  });
});

test('a receiver that never answers is given up on in time', async () => {
  const stage = stageOn(createMemoryPlace());
  const runtime = stage.start();
  let attempts = 0;
  const signals: AbortSignal[] = [];
  const send: SendEvents = (_, { signal }) => {
    signals.push(signal);
    return (attempts += 1) === 1 ? new Promise(() => undefined) : undefined;
  };
  runtime.deliver('desk', send, { timeoutMs: 5000, types: ['UserMessageReceived'] });
  await runSession(runtime, 'a', 'say Hello.');
  await until(() => attempts === 1);
  await advanceUntil(stage.clock, 1000, () => attempts === 2);
  expect(signals.map(({ aborted }) => aborted)).toStrictEqual([true, false]);
  await runtime.drain();
});

test('arguments that make no sense are refused', async () => {
  const runtime = stageOn(createMemoryPlace()).start();
  const send: SendEvents = () => undefined;
  const bad: readonly (readonly [string, unknown, unknown])[] = [
    ['', send, {}],
    ['a/b', send, {}],
    ['a', 'send', {}],
    ['a', send, { maxAttempts: 0 }],
    ['a', send, { startAt: 'end' }],
    ['a', send, { types: [] }],
    ['a', send, { retries: 3 }],
    ['a', send, { after: 'f1' }],
  ];
  for (const [name, given, options] of bad)
    expect(() => runtime.deliver(name, given as SendEvents, options as DeliverOptions)).toThrow(
      expect.objectContaining({ code: 'invalid-argument' }),
    );
  runtime.deliver('twice', send);
  expect(() => runtime.deliver('twice', send)).toThrow('This runtime delivers under the name "twice" already');
  await runtime.drain();
});
