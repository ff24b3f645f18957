// Workers run sessions; clients ask for it through the inbox of each session.
import { describe, expect, test } from 'vitest';
import type { EmbeddedRuntime, SessionRuntimeOptions } from '../../src/sessions/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import type { Place, Stage } from './stage.ts';
import { ann, bob, createGate, places, refusal, stageOn, until as retry, getWait } from './stage.ts';

/** Waits until something is true. */
const until = (check: () => boolean | Promise<boolean>): Promise<unknown> => retry(async () => expect(await check()).toBe(true));

function setUp(place: Place): Stage & {
  readonly worker: (more?: Partial<SessionRuntimeOptions>) => EmbeddedRuntime;
  readonly client: (more?: Partial<SessionRuntimeOptions>) => EmbeddedRuntime;
} {
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

describe.each(places)('a client over %s', (_, makePlace) => {
  test('creates sessions and gets answers from the worker', async () => {
    const { worker, client, problems } = setUp(makePlace());
    const running = worker();
    const asking = client();
    const { id } = await asking.create({ owner: 'ann', tags: ['new'] }, { by: ann });
    const result = await asking.send(id, 'look 1; say Found.', { by: ann });
    expect(result).toMatchObject({ status: 'completed', text: 'Found.', execution: 1, sessionId: id });
    expect((await asking.get(id)).mailbox).toStrictEqual([]);
    expect(await asking.get(id)).toMatchObject({ status: 'completed', owner: 'ann', tags: ['new'] });
    expect((await running.get(id)).text).toBe('Found.');
    expect(problems).toStrictEqual([]);
    await running.drain();
    await asking.drain();
  });

  test('is not among the workers', async () => {
    const place = makePlace();
    const { client } = setUp(place);
    const asking = client();
    await asking.ready;
    await asking.list();
    expect(await place.open().leases.workers()).toStrictEqual([]);
    await asking.drain();
  });

  test('leaves actions for a worker that starts later, and shows them meanwhile', async () => {
    const { worker, client } = setUp(makePlace());
    const asking = client();
    const created = await asking.create({ id: 's' }, { by: ann, until: 'accepted' });
    expect(created).toMatchObject({ id: 's', status: 'pending' });
    const sent = await asking.send('s', 'say Hello.', { by: ann, requestId: 'r1', until: 'accepted' });
    expect(sent).toMatchObject({ status: 'in_progress', execution: 1 });
    const before = await asking.get('s');
    expect(before.status).toBe('in_progress');
    expect(before.mailbox).toMatchObject([{ type: 'send', by: ann, requestId: 'r1' }]);
    expect(await asking.actions('s')).toMatchObject([{ type: 'create' }, { type: 'send', requestId: 'r1' }]);
    const result = asking.send('s', 'say Hello.', { by: ann, requestId: 'r1' });
    const running = worker();
    expect(await result).toMatchObject({ status: 'completed', text: 'Hello.', isRepeated: true });
    expect(await asking.actions('s')).toMatchObject([
      { type: 'create', entry: 1 },
      { type: 'send', requestId: 'r1', entry: 2 },
    ]);
    await running.drain();
  });

  test('approves what the worker asked for, and the call runs once', async () => {
    const { worker, client, ran } = setUp(makePlace());
    const running = worker();
    const asking = client();
    const { id } = await asking.create({}, { by: ann });
    const waiting = await asking.send(id, 'pay 5; say Paid.', { by: ann });
    expect(waiting.status).toBe('waiting');
    const [wait] = (await asking.get(id)).waitingFor;
    expect(waiting.waitingFor).toStrictEqual([wait]);
    const shown = await getWait(asking, id);
    const results = await Promise.all(Array.from({ length: 5 }, () => asking.approve(id, shown, { by: bob, requestId: 'approve' })));
    for (const result of results) expect(result).toMatchObject({ status: 'completed', text: 'Paid.' });
    expect(ran).toStrictEqual(['pay 5']);
    await running.drain();
  });

  test.each([
    ['a session that does not exist', 'unknown-session', (asking: EmbeddedRuntime) => asking.send('nobody', 'Hi.', { by: ann })],
    [
      'an approval that was not asked for',
      'not-waiting',
      (asking: EmbeddedRuntime) => asking.approve('s', { id: 'x', digest: 'x' }, { by: ann }),
    ],
    ['a session that exists', 'session-conflict', (asking: EmbeddedRuntime) => asking.create({ id: 's' }, { by: ann })],
    ['an unknown agent', 'unknown-agent', (asking: EmbeddedRuntime) => asking.create({ agent: 'nobody' }, { by: ann })],
    ['a step that does not exist', 'unknown-step', (asking: EmbeddedRuntime) => asking.fork('s', { execution: 7, step: 1 }, { by: ann })],
    [
      'a request that was something else',
      'request-reused',
      (asking: EmbeddedRuntime) => asking.send('s', 'Other.', { by: ann, requestId: 'r' }),
    ],
  ])('gets the error of %s', async (_, code, act) => {
    const { worker, client, problems } = setUp(makePlace());
    const running = worker();
    const asking = client();
    await asking.create({ id: 's' }, { by: ann });
    await asking.send('s', 'say Hi.', { by: ann, requestId: 'r' });
    await refusal(act(asking), code);
    expect(problems).toStrictEqual([]);
    await running.drain();
  });

  test('gets the error of an answer that is late when the worker comes to it', async () => {
    const { worker, client } = setUp(makePlace());
    const running = worker();
    const asking = client();
    const { id } = await asking.create({}, { by: ann });
    await asking.send(id, 'pay 5; say Paid.', { by: ann });
    const wait = await getWait(asking, id);
    await running.drain();
    const first = asking.reject(id, wait, { by: bob, reason: 'no' });
    await until(async () => (await asking.get(id)).mailbox.length === 1);
    const second: Promise<unknown> = asking.approve(id, wait, { by: ann }).catch((thrown: unknown) => thrown);
    await until(async () => (await asking.get(id)).mailbox.length === 2);
    const next = worker();
    expect((await first).status).toBe('completed');
    // Whether the step has ended by then is a matter of time.
    const error = await second;
    expect(error).toMatchObject({ code: expect.stringMatching(/^(?:already-answered|late-answer)$/) as string });
    expect(await asking.actions(id)).toMatchObject([
      { type: 'create' },
      { type: 'send' },
      { type: 'reject', by: bob },
      { type: 'approve', by: ann, refused: (error as Error).message },
    ]);
    await next.drain();
  });

  test('cancels a call that runs in the worker', async () => {
    const { worker, client, gate } = setUp(makePlace());
    gate.current = createGate();
    const running = worker();
    const asking = client();
    const { id } = await asking.create({}, { by: ann });
    const sent = asking.send(id, 'slow 1; say Done.', { by: ann });
    await gate.current.reached;
    const cancelled = await asking.cancel(id, 'changed my mind', { by: bob });
    expect(cancelled).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect((await sent).status).toBe('stopped');
    await running.drain();
  });

  test('follows events as the worker stores them', async () => {
    const { worker, client } = setUp(makePlace());
    const running = worker();
    const asking = client();
    const { id } = await asking.create({}, { by: ann });
    const seqs: number[] = [];
    const leaving = new AbortController();
    const following = (async () => {
      for await (const { seq } of asking.events(id, { follow: true, signal: leaving.signal })) seqs.push(seq);
    })();
    await asking.send(id, 'look 1; look 2; say Done.', { by: ann });
    const { lastSeq } = await asking.get(id);
    await until(() => seqs.at(-1) === lastSeq);
    leaving.abort();
    await following;
    expect(seqs).toStrictEqual(Array.from({ length: lastSeq }, (_, index) => index + 1));
    await running.drain();
  });

  test('keeps waiting over a change of workers', async () => {
    const { worker, client, gate } = setUp(makePlace());
    gate.current = createGate();
    const first = worker();
    const asking = client();
    const { id } = await asking.create({}, { by: ann });
    const sent = asking.send(id, 'slow 1; say Done.', { by: ann });
    await gate.current.reached;
    const draining = first.drain({ timeoutMs: 0 });
    gate.current.open();
    await draining;
    const second = worker();
    expect(await sent).toMatchObject({ status: 'completed' });
    await second.drain();
  });
});

describe.each(places)('two workers over %s', (_, makePlace) => {
  test('both act, and say who works', async () => {
    const { worker } = setUp(makePlace());
    const first = worker({ name: 'first' });
    const second = worker({ name: 'second' });
    await Promise.all([first.ready, second.ready]);
    const { id } = await second.create({}, { by: ann });
    expect((await second.send(id, 'say One.', { by: ann })).text).toBe('One.');
    expect((await first.send(id, 'say Two.', { by: ann })).text).toBe('Two.');
    const { role, isDraining, workers } = await second.health();
    expect([role, isDraining, workers.map(({ name }) => name).sort()]).toStrictEqual(['worker', false, ['first', 'second']]);
    await first.drain();
    expect((await second.send(id, 'say Three.', { by: ann })).text).toBe('Three.');
    await second.drain();
    expect(await second.health()).toMatchObject({ isDraining: true, workers: [] });
  });
});

describe.each(places)('deleting over %s', (_, makePlace) => {
  test.each(['worker', 'client'] as const)('ends a session that runs, and it stays deleted (asked by a %s)', async (who) => {
    const { worker, client, gate, problems } = setUp(makePlace());
    gate.current = createGate();
    const running = worker();
    const asking = who === 'worker' ? running : client();
    const { id } = await asking.create({}, { by: ann });
    const sent = asking.send(id, 'slow 1; say Done.', { by: ann });
    const ended = refusal(sent, 'session-deleted');
    await gate.current.reached;
    await asking.delete(id, { by: bob });
    await ended;
    gate.current.open();
    await refusal(asking.get(id), 'session-deleted');
    await refusal(asking.send(id, 'Hi.', { by: ann }), 'session-deleted');
    await refusal(asking.create({ id }, { by: ann }), 'session-deleted');
    expect((await asking.list()).sessions).toStrictEqual([]);
    await asking.delete(id, { by: bob });
    // The tool did not honour its signal; one that ends before its worker has noticed the deletion is not late.
    if (who === 'worker') expect(problems).toHaveLength(1);
    for (const problem of problems) expect(problem).toMatchObject({ code: 'late-result' });
    await running.drain();
  });

  test('deletes forks on request, and those of a filter', async () => {
    const { worker } = setUp(makePlace());
    const running = worker();
    const make = async (id: string, owner: string): Promise<void> => {
      await running.create({ id, owner }, { by: ann });
      await running.send(id, 'say Hi.', { by: ann });
    };
    await make('a', 'ann');
    await make('b', 'bob');
    await running.fork('a', { execution: 1, step: 1 }, { by: ann, id: 'f', owner: 'carl' });
    await running.fork('f', { execution: 1, step: 1 }, { by: ann, id: 'g', owner: 'carl' });
    await running.delete('a', { by: ann, forks: true });
    expect((await running.list()).sessions.map(({ id }) => id)).toStrictEqual(['b']);
    expect(await running.deleteAll({ owner: 'nobody' }, { by: ann })).toBe(0);
    expect(await running.deleteAll({ owner: 'bob' }, { by: ann })).toBe(1);
    await refusal(running.deleteAll({}, { by: ann }), 'invalid-argument');
    expect((await running.list()).sessions).toStrictEqual([]);
    await running.drain();
  });
});

describe.each(places)('a hold over %s', (_, makePlace) => {
  test('keeps sessions of a tenant from asking a model, uses up no time, and ends with its release', async () => {
    const { worker, client, model, clock } = setUp(makePlace());
    const running = worker();
    const asking = client();
    const hold = await asking.hold({ tenant: 't' }, 'the budget is checked', { by: bob });
    expect(await asking.holds()).toStrictEqual([hold]);
    await running.create({ id: 'held', tenant: 't' }, { by: ann });
    await running.create({ id: 'free', tenant: 'u' }, { by: ann });
    await until(async () => (await running.health()).holds.length === 1);
    const held = running.send('held', 'look 1; say Held.', { by: ann });
    expect((await running.send('free', 'say Free.', { by: ann })).text).toBe('Free.');
    const asked = model.calls.length;
    await clock.advance(9 * 3_600_000);
    expect(model.calls.length).toBe(asked);
    expect(await asking.release(hold.id)).toBe(true);
    expect(await asking.release(hold.id)).toBe(false);
    expect(await held).toMatchObject({ status: 'completed', text: 'Held.' });
    await running.drain();
  });

  test('stops a run before its next step, and a held session can be cancelled', async () => {
    const { worker, gate, model } = setUp(makePlace());
    gate.current = createGate();
    const running = worker();
    const { id } = await running.create({}, { by: ann });
    const sent = running.send(id, 'slow 1; look 1; say Done.', { by: ann });
    await gate.current.reached;
    await running.hold({}, 'maintenance');
    await until(async () => (await running.holds()).length === 1);
    gate.current.open();
    await until(async () => (await running.get(id)).stepCount === 1);
    expect(model.calls).toHaveLength(1);
    expect(await running.cancelAll({ status: 'in_progress' }, 'not today', { by: bob })).toBe(1);
    expect(await sent).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    await running.drain();
  });
});
