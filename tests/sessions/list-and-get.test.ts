import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { pickSubjects } from '../support/test-scale.ts';
import type { SessionQuery, EmbeddedRuntime, SessionStore } from '../../src/sessions/index.ts';
import { ann, bob, createGate, places, refusal, sqlitePlace, stageOn, until, getWait } from './stage.ts';

const listIds = async (runtime: EmbeddedRuntime, query?: SessionQuery): Promise<readonly string[]> =>
  (await runtime.list(query)).sessions.map(({ id }) => id);

describe.each(pickSubjects(places))('list and get over %s', (_, makePlace) => {
  async function office() {
    const stage = stageOn(makePlace());
    const agents = [stage.agent(), stage.agent({ id: 'short', limits: { steps: 1 } })];
    const runtime = stage.start({ agents });
    await runtime.create({ id: 'done', agent: 'desk', tenant: 't', owner: 'ann', tags: ['a', 'b'] }, { by: ann });
    await runtime.create({ id: 'waits', agent: 'desk', tenant: 't', owner: 'bob', tags: ['b'] }, { by: ann });
    await runtime.create({ id: 'limit', agent: 'short', tenant: 'u', owner: 'ann', tags: ['a'] }, { by: ann });
    await runtime.create({ id: 'fresh', agent: 'desk', tenant: 'u' }, { by: ann });
    await runtime.create({ id: 'ended', agent: 'desk', tenant: 'u' }, { by: ann });
    await runtime.send('done', 'look 1', { by: ann });
    await runtime.send('waits', 'pay 1', { by: ann });
    await runtime.send('limit', 'look 1; look 2', { by: ann });
    await runtime.send('ended', 'pay 1', { by: ann });
    await runtime.cancel('ended', 'enough', { by: ann });
    return { ...stage, agents, runtime };
  }

  test.each<readonly [string, SessionQuery, readonly string[]]>([
    ['everything, newest first', {}, ['ended', 'fresh', 'limit', 'waits', 'done']],
    ['a tenant', { tenant: 't' }, ['waits', 'done']],
    ['an agent', { agentName: 'short' }, ['limit']],
    ['an owner', { owner: 'ann' }, ['limit', 'done']],
    ['a tag', { tag: 'b' }, ['waits', 'done']],
    ['what waits', { status: 'waiting' }, ['waits']],
    ['what has not begun', { status: 'pending' }, ['fresh']],
    ['what is done', { status: 'completed' }, ['done']],
    ['what was stopped', { status: 'stopped' }, ['ended', 'limit']],
    ['a stop reason', { stopReason: 'steps_limit' }, ['limit']],
    ['another stop reason', { stopReason: 'user_requested' }, ['ended']],
    ['what is left to do', { isOpen: true }, []],
    ['several of them', { tenant: 'u', owner: 'ann', tag: 'a', status: 'stopped' }, ['limit']],
    ['what nobody has', { tenant: 'nobody' }, []],
  ])('finds %s, also after a restart', async (_what, query, expected) => {
    const { runtime, start, agents } = await office();
    expect(await listIds(runtime, query)).toStrictEqual(expected);
    expect(await listIds(start({ agents }), query)).toStrictEqual(expected);
  });

  test('gives pages, each session once, also where more are made meanwhile', async () => {
    const { runtime } = await office();
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await runtime.list({ limit: 2, ...(cursor !== undefined && { cursor }) });
      expect(page.sessions.length).toBeLessThanOrEqual(2);
      seen.push(...page.sessions.map(({ id }) => id));
      ({ cursor } = page);
      await runtime.create({ agent: 'desk' }, { by: ann });
    } while (cursor !== undefined);
    expect(seen).toStrictEqual(['ended', 'fresh', 'limit', 'waits', 'done']);
    const exact = await runtime.list({ tenant: 't', limit: 2 });
    expect([exact.sessions.length, exact.cursor]).toStrictEqual([2, undefined]);
  });

  test('shows what it waits for, without the arguments', async () => {
    const { runtime } = await office();
    expect((await runtime.list({ status: 'waiting' })).sessions).toMatchObject([
      { id: 'waits', waitingFor: [{ type: 'approval', id: 'c1-0', toolName: 'pay' }], executions: 1, stepCount: 0, owner: 'bob' },
    ]);
    expect(JSON.stringify((await runtime.list()).sessions)).not.toContain('amount');
  });

  test('a list and the session itself say the same', async () => {
    const { runtime, start, agents, clock } = await office();
    await clock.advance(5000);
    await runtime.send('done', 'look 2', { by: ann });
    for (const each of [runtime, start({ agents })]) {
      for (const summary of (await each.list()).sessions) {
        const {
          state: _state,
          explain: _explain,
          text: _text,
          usage: _usage,
          approvals,
          mailbox,
          waitingFor,
          ...rest
        } = await each.get(summary.id);
        const shown = waitingFor.map((wait) => ({ type: wait.type, id: wait.id, ...('toolName' in wait && { toolName: wait.toolName }) }));
        expect({ ...rest, waitingFor: shown }).toStrictEqual(summary);
        expect([mailbox, approvals]).toStrictEqual([[], []]);
      }
    }
  });

  test('get gives the whole session, also after a restart', async () => {
    const { runtime, start, agents } = await office();
    const session = await runtime.get('done');
    expect(session).toMatchObject({
      id: 'done',
      status: 'completed',
      stopReason: 'completed',
      text: 'Done.',
      tags: ['a', 'b'],
      stepCount: 2,
      usage: { total: 30 },
      waitingFor: [],
    });
    expect(session.explain()).toContain('Completed in step 2');
    const { explain: _before, state, ...again } = await start({ agents }).get('done');
    expect(session).toMatchObject(again);
    expect(JSON.stringify(state)).toBe(JSON.stringify(session.state));
  });

  test('a session whose first step runs is in progress, in the list too', async () => {
    const stage = stageOn(makePlace());
    const runtime = stage.start();
    await runtime.create({ id: 'one' }, { by: ann });
    const sending = runtime.send('one', 'slow 1', { by: ann });
    await stage.gate.current.reached;
    const [status, listed] = [(await runtime.get('one')).status, await listIds(runtime, { status: 'in_progress' })];
    stage.gate.current.open();
    await sending;
    expect([status, listed]).toStrictEqual(['in_progress', ['one']]);
  });

  test('a session that runs is found as open, and one that has come to rest is not', async () => {
    const stage = stageOn(makePlace());
    const runtime = stage.start();
    await runtime.create({ id: 'one' }, { by: ann });
    const sending = runtime.send('one', 'slow 1', { by: ann });
    await stage.gate.current.reached;
    expect(await listIds(runtime, { isOpen: true })).toStrictEqual(['one']);
    stage.gate.current.open();
    await sending;
    expect(await listIds(runtime, { isOpen: true })).toStrictEqual([]);
  });

  test('get shows nothing that is not stored yet', async () => {
    const stage = stageOn(makePlace());
    const inner = stage.place.open();
    const hold = { next: undefined as ReturnType<typeof createGate> | undefined };
    const store: SessionStore = {
      ...inner,
      log: {
        ...inner.log,
        write: async (write) => {
          const gate = write.clearsEffects === true ? hold.next : undefined;
          gate?.reach();
          await gate?.passed;
          return inner.log.write(write);
        },
      },
    };
    const runtime = stage.start({ store });
    await runtime.create({ id: 'one' }, { by: ann });
    const gate = (hold.next = createGate());
    const sending = runtime.send('one', 'say Hello', { by: ann });
    await gate.reached;
    const shown = await runtime.get('one');
    const { sessions } = await runtime.list();
    hold.next = undefined;
    gate.open();
    await sending;
    // What a reader has seen must not be gone, or be another, after a crash.
    expect([shown.status, shown.text]).toStrictEqual([(sessions[0] as { readonly status?: string }).status, '']);
  });

  test('a turn says how its own execution ended, not a later one', async () => {
    const stage = stageOn(makePlace());
    const runtime = stage.start();
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'say First', { by: ann, requestId: 'r' });
    await runtime.send('one', 'pay 1', { by: ann });
    expect(await runtime.send('one', 'say First', { by: ann, requestId: 'r' })).toMatchObject({
      isRepeated: true,
      execution: 1,
      status: 'completed',
      text: 'First',
      waitingFor: [],
      usage: { total: 15 },
    });
  });

  test('more sessions than stay in memory can all be used', async () => {
    const stage = stageOn(makePlace());
    const runtime = stage.start({ keepInMemory: 2 });
    for (let index = 1; index <= 6; index += 1) {
      await runtime.create({ id: `s${index}` }, { by: ann });
      await runtime.send(`s${index}`, 'pay 1', { by: ann });
    }
    for (let index = 1; index <= 6; index += 1) {
      const wait = await getWait(runtime, `s${index}`);
      expect((await runtime.approve(`s${index}`, wait, { by: bob })).status).toBe('completed');
    }
    expect(stage.ran).toHaveLength(6);
  });

  test('a session that cannot be read when it is to be carried on is set aside, and the others are carried on', async () => {
    const stage = stageOn(makePlace());
    const first = stage.start();
    for (const id of ['one', 'two']) {
      await first.create({ id }, { by: ann });
      await first.send(id, 'slow 1; say End', { by: ann, until: 'accepted' });
    }
    await stage.gate.current.reached;
    await until(async () => expect((await stage.place.open().log.load('two'))?.effects.length).toBeGreaterThan(1));
    const inner = stage.place.open();
    const store: SessionStore = {
      ...inner,
      log: {
        ...inner.log,
        load: async (id) => {
          const stored = await inner.log.load(id);
          return id === 'one' && stored !== undefined
            ? { ...stored, entries: stored.entries.map((entry) => ({ ...entry, body: '{' })) }
            : stored;
        },
      },
    };
    stage.gate.current = createGate();
    const runtime = stage.start({ store });
    const { resumed, failed } = await runtime.ready;
    expect([resumed, failed]).toMatchObject([['two'], [{ sessionId: 'one', error: { code: 'session-damaged' } }]]);
    await until(async () => expect((await runtime.get('two')).text).toBe('End'));
    const { sessions } = await runtime.list();
    expect(sessions.find(({ id }) => id === 'one')).toStrictEqual({ id: 'one', damage: expect.any(String) as string });
    expect(stage.problems).toMatchObject([{ code: 'session-damaged' }]);
    // Once its data can be read again, the next start carries it on, and the note is taken away.
    const next = stage.start();
    expect(await next.ready).toStrictEqual({ resumed: ['one'], failed: [] });
    expect((await next.list()).sessions.find(({ id }) => id === 'one')).toMatchObject({ id: 'one', status: 'in_progress' });
  });
});

test('a damaged row of SQLite is listed as damaged, and the others with it', async () => {
  const stage = stageOn(sqlitePlace());
  const runtime = stage.start();
  for (const id of ['one', 'two', 'three']) {
    await runtime.create({ id, tags: ['a'] }, { by: ann });
    await runtime.send(id, 'look 1', { by: ann });
  }
  await runtime.drain();
  const raw = new DatabaseSync(stage.place.path ?? '');
  raw.exec("UPDATE sessions SET details = '{' WHERE id = 'two'");
  raw.close();
  const next = stage.start();
  const { sessions } = await next.list();
  expect(sessions).toMatchObject([
    { id: 'three', status: 'completed' },
    { id: 'two', damage: expect.any(String) as string },
    { id: 'one', status: 'completed' },
  ]);
  await refusal(next.get('two'), 'session-damaged');
  expect((await next.send('one', 'say Fine', { by: ann })).text).toBe('Fine');
});

describe.each(pickSubjects(places))('what waits for somebody over %s', (_, makePlace) => {
  test('is listed page by page, by tenant and owner, in any role, and can be answered from the list', async () => {
    const stage = stageOn(makePlace());
    const { clock, place } = stage;
    const agents = [stage.agent(), stage.agent({ id: 'short', limits: { steps: 1, onLimit: 'pause' } })];
    const runtime = stage.start({ agents, approvals: { expireAfterMs: 60_000 } });
    const orders = ['pay 1 & pay 2', 'ask 3', 'look 1; look 2', 'say Hello'];
    for (const [index, order] of orders.entries()) {
      await clock.advance(1000);
      const agent = index === 2 ? 'short' : 'desk';
      await runtime.create({ id: `s${index}`, agent, tenant: index === 1 ? 'u' : 't', owner: `o${index}` }, { by: ann });
      await runtime.send(`s${index}`, order, { by: ann });
    }
    const client = stage.start({ agents, store: place.open(), role: 'client', approvals: { expireAfterMs: 60_000 } });
    for (const each of [runtime, client]) {
      const pages = [await each.waits({ limit: 1 })];
      for (let last = pages.at(-1); last?.cursor !== undefined; last = pages.at(-1))
        pages.push(await each.waits({ limit: 1, cursor: last.cursor }));
      expect(
        pages.map(({ waits }) => waits.map(({ sessionId, wait }) => `${sessionId} ${wait.type} ${wait.toolName ?? String(wait.limit)}`)),
      ).toStrictEqual([['s2 grant steps'], ['s1 client-tool ask'], ['s0 approval pay', 's0 approval pay']]);
      expect((await each.waits({ tenant: 'u' })).waits).toMatchObject([
        { sessionId: 's1', tenant: 'u', owner: 'o1', agent: { id: 'desk' } },
      ]);
      expect((await each.waits({ owner: 'o2' })).waits.map(({ sessionId }) => sessionId)).toStrictEqual(['s2']);
      const [first] = (await each.waits({ owner: 'o0' })).waits;
      const { waitingFor } = await each.get('s0');
      expect(first?.wait).toStrictEqual({
        id: waitingFor[0]?.id,
        type: 'approval',
        sessionId: 's0',
        digest: waitingFor[0]?.digest,
        expiresAt: waitingFor[0]?.expiresAt,
        toolName: 'pay',
      });
      expect([first?.summary, (first?.since ?? 0) + 60_000]).toStrictEqual(['{"amount":1}', waitingFor[0]?.expiresAt]);
    }
    for (const { sessionId, wait } of (await client.waits({ owner: 'o0' })).waits) await runtime.approve(sessionId, wait, { by: bob });
    expect((await runtime.get('s0')).status).toBe('completed');
    expect((await client.waits({ owner: 'o0' })).waits).toStrictEqual([]);
    await refusal(runtime.waits({ limit: 0 }), 'invalid-argument');
    // @ts-expect-error: only what waits is listed.
    await refusal(runtime.waits({ status: 'completed' }), 'invalid-argument');
  });
});
