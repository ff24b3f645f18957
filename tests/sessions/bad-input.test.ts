// What is refused: with an error that has a code, says what to do, and leaves what is stored as it was.
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { pickSubjects } from '../support/test-scale.ts';
import { defineContext, defineTool, SteplineError } from '../../src/entry/index.ts';
import type { EmbeddedRuntime, SessionStore, SessionWait, StoredSession } from '../../src/sessions/index.ts';
import { createMemoryPlace, createSessionRuntime, StoreUnavailableError } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { withChecksum } from '../../src/sessions/table/index.ts';
import type { Place, Stage } from './stage.ts';
import { readActions, ann, createGate, dump, readEvents, newPath, places, refusal, sqlitePlace, stageOn, until } from './stage.ts';

const headings = new Set(
  [...readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8').matchAll(/^## `(.+)`$/gm)].map(([, code]) => code),
);

test.each([
  'agent-changed',
  'already-answered',
  'foreign-approval',
  'forged-approval',
  'invalid-argument',
  'late-answer',
  'lease-lost',
  'newer-schema',
  'not-waiting',
  'request-reused',
  'runtime-closed',
  'session-conflict',
  'session-damaged',
  'stale-approval',
  'store-unavailable',
  'unknown-agent',
  'unknown-session',
  'unknown-step',
  'wrong-kind',
])('docs/errors.md has a heading for %s', (code) => {
  expect([...headings]).toContain(code);
});

type Way = (runtime: EmbeddedRuntime, sessionId: string, options: never) => Promise<unknown>;
const wait = { id: 'c1-0', digest: 'x' } as SessionWait;

/** Everything that can be done to a session. */
const actions: Readonly<Record<string, Way>> = {
  send: (runtime, id, options) => runtime.send(id, 'Hello.', options),
  resume: (runtime, id, options) => runtime.resume(id, options),
  cancel: (runtime, id, options) => runtime.cancel(id, 'enough', options),
  approve: (runtime, id, options) => runtime.approve(id, wait, options),
  reject: (runtime, id, options) => runtime.reject(id, wait, options),
  answer: (runtime, id, options) => runtime.answer(id, wait, options),
  grant: (runtime, id, options) => runtime.grant(id, { steps: 1 }, options),
  fork: (runtime, id, options) => runtime.fork(id, { execution: 1, step: 1 }, options),
};
const reads: Readonly<Record<string, (runtime: EmbeddedRuntime, sessionId: string) => Promise<unknown>>> = {
  get: (runtime, id) => runtime.get(id),
  events: (runtime, id) => readEvents(runtime, id),
};
const asAnn = { by: ann } as never;

interface StartedStage extends Stage {
  readonly runtime: EmbeddedRuntime;
  readonly reader: SessionStore;
}

/** A runtime with a session in which one thing was said. */
async function startSession(place: Place): Promise<StartedStage> {
  const stage = stageOn(place);
  const runtime = stage.start();
  await runtime.create({ id: 'one', tags: ['a'] }, { by: ann });
  expect((await runtime.send('one', 'look 1', { by: ann })).status).toBe('completed');
  return { ...stage, runtime, reader: place.open() };
}

async function expectRefusalWithoutTrace(
  { reader }: Pick<StartedStage, 'reader'>,
  code: string,
  work: () => Promise<unknown>,
): Promise<SteplineError> {
  const before = await dump(reader);
  const error = await refusal(work(), code);
  expect(error.message.length).toBeGreaterThan(20);
  expect(await dump(reader)).toStrictEqual(before);
  return error;
}

describe('a runtime is not made', () => {
  const { agent, place } = stageOn(places[0]?.[1]() as Place);
  const store = place.open();
  test.each<readonly [string, unknown, RegExp]>([
    ['from nothing', undefined, /agents, store/],
    ['without agents', { store }, /agents/],
    ['with an empty list of agents', { agents: [], store }, /at least one/],
    ['with one agent that is no list', { agents: agent(), store }, /list/],
    ['with something else among the agents', { agents: [agent(), undefined], store }, /agent/],
    ['with things that are no agents', { agents: [{ id: 'x' }], store }, /agent/],
    ['with two agents under one id', { agents: [agent(), agent()], store }, /agents\[0\] and agents\[1\].*"desk" and no version/],
    ['with two agents of one version', { agents: [agent({ version: '1' }), agent({ version: '1' })], store }, /"desk" and version "1"/],
    ['without a store', { agents: [agent()] }, /createMemoryStore/],
    ['with half a store', { agents: [agent()], store: { load: () => undefined } }, /store/],
    ['with a context that is no function', { agents: [agent()], store, context: { db: 1 } }, /context/],
    ['with an unknown rule for versions', { agents: [agent()], store, onVersionChange: 'newest' }, /"pin", "continue" or "refuse"/],
    ['with an unknown end of approvals', { agents: [agent()], store, approvals: { expireAfterMs: 1, whenExpired: 'no' } }, /whenExpired/],
    ['with a strange number of sessions in memory', { agents: [agent()], store, keepInMemory: Number.NaN }, /keepInMemory/],
    ['with a misspelt option', { agents: [agent()], store, onVersionChanged: 'pin' }, /onVersionChanged/],
  ])('%s', (_, options, words) => {
    expect(() => createSessionRuntime(options as never)).toThrow(expect.objectContaining({ code: 'invalid-argument' }) as Error);
    expect(() => createSessionRuntime(options as never)).toThrow(words);
  });
});

describe.each(Object.entries(actions))('%s, whatever the store,', (_, action) => {
  const makePlace = createMemoryPlace;
  test.each<readonly [string, unknown]>([
    ['no options', undefined],
    ['null', null],
    ['no `by`', {}],
    ['`by` that is text', { by: 'ann' }],
    ['`by` without a kind', { by: { id: 'ann' } }],
    ['`by` without an id', { by: { kind: 'user' } }],
    ['`by` with an empty id', { by: { id: '', kind: 'user' } }],
    ['`by` that claims to be the system', { by: { id: 'expiry', kind: 'system' } }],
    ['`by` that claims to be the system in other letters', { by: { id: 'expiry', kind: ' System' } }],
    ['an empty requestId', { by: ann, requestId: '' }],
    ['a requestId that is no text', { by: ann, requestId: 7 }],
    ['a bad `until`', { by: ann, until: 'forever' }],
  ])('refuses %s', async (_what, options) => {
    const stage = await startSession(makePlace());
    await expectRefusalWithoutTrace(stage, 'invalid-argument', () => action(stage.runtime, 'one', options as never));
  });
});

describe.each(pickSubjects(places))('bad input over %s', (_, makePlace) => {
  describe.each(Object.entries(actions))('%s', (_name, action) => {
    test('refuses an unknown session', async () => {
      const stage = await startSession(makePlace());
      const { message } = await expectRefusalWithoutTrace(stage, 'unknown-session', () => action(stage.runtime, 'nobody', asAnn));
      expect(message).toContain('"nobody"');
    });

    test.each([undefined, '', 5, null])('refuses %j as a session id', async (id) => {
      const stage = await startSession(makePlace());
      const [settled] = await Promise.allSettled([action(stage.runtime, id as never, asAnn)]);
      expect(settled).toMatchObject({
        status: 'rejected',
        reason: { code: expect.stringMatching(/^(?:unknown-session|invalid-argument)$/) as string },
      });
    });
  });

  test.each(Object.entries(reads))('%s refuses an unknown session', async (_name, read) => {
    const stage = await startSession(makePlace());
    await expectRefusalWithoutTrace(stage, 'unknown-session', () => read(stage.runtime, 'nobody'));
  });

  test.each<readonly [string, unknown]>([
    ['negative', { steps: -1 }],
    ['zero', { steps: 0 }],
    ['NaN', { steps: Number.NaN }],
    ['endless', { tokens: Number.POSITIVE_INFINITY }],
    ['text', { steps: '5' }],
    ['empty', {}],
    ['only undefined', { steps: undefined }],
    ['of something unknown', { patience: 5 }],
    ['missing', undefined],
    ['null', null],
    ['a number', 5],
  ])('a grant that is %s is refused', async (_what, amounts) => {
    const stage = await startSession(makePlace());
    await expectRefusalWithoutTrace(stage, 'invalid-argument', () => stage.runtime.grant('one', amounts as never, { by: ann }));
  });

  test('a grant for an execution that has ended is refused', async () => {
    const stage = await startSession(makePlace());
    await expectRefusalWithoutTrace(stage, 'invalid-argument', () => stage.runtime.grant('one', { steps: 5 }, { by: ann }));
  });

  test.each<readonly [string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a number', 5],
    ['an empty object', {}],
    ['an empty list', []],
    ['a part without its text', { type: 'text' }],
    ['a part of an unknown type', { type: 'smell', text: 'x' }],
    ['empty text', ''],
  ])('sending %s is refused', async (_what, content) => {
    const stage = await startSession(makePlace());
    await expectRefusalWithoutTrace(stage, 'invalid-argument', () => stage.runtime.send('one', content as never, { by: ann }));
  });

  test.each([undefined, '', 5])('cancelling for the reason %j is refused', async (reason) => {
    const stage = await startSession(makePlace());
    await expectRefusalWithoutTrace(stage, 'invalid-argument', () => stage.runtime.cancel('one', reason as never, { by: ann }));
  });

  test('cancelling what has ended changes nothing of it', async () => {
    const { runtime } = await startSession(makePlace());
    const before = await runtime.get('one');
    const [settled] = await Promise.allSettled([runtime.cancel('one', 'too late', { by: ann })]);
    expect(settled).toMatchObject(
      settled.status === 'rejected'
        ? { reason: { code: 'invalid-argument' } }
        : { value: { status: 'completed', stopReason: 'completed' } },
    );
    const after = await runtime.get('one');
    expect([after.status, after.stepCount, after.lastSeq]).toStrictEqual([before.status, before.stepCount, before.lastSeq]);
  });

  describe('create', () => {
    test('with an id that is taken is refused, and the session stays', async () => {
      const stage = await startSession(makePlace());
      const { message } = await expectRefusalWithoutTrace(stage, 'session-conflict', () =>
        stage.runtime.create({ id: 'one' }, { by: ann }),
      );
      expect(message).toContain('already exists');
      expect((await stage.runtime.send('one', 'say Still here', { by: ann })).text).toBe('Still here');
    });

    test('with an id that is taken is refused after a restart, and in a race', async () => {
      const stage = await startSession(makePlace());
      const next = stage.start();
      await next.ready;
      await expectRefusalWithoutTrace(stage, 'session-conflict', () => next.create({ id: 'one' }, { by: ann }));
      const settled = await Promise.allSettled([next.create({ id: 'two' }, { by: ann }), next.create({ id: 'two' }, { by: ann })]);
      expect(settled.map(({ status }) => status).sort()).toStrictEqual(['fulfilled', 'rejected']);
      expect((await next.send('two', 'say Hello', { by: ann })).text).toBe('Hello');
    });

    test('again with the same request gives what it gave', async () => {
      const { runtime } = await startSession(makePlace());
      const first = await runtime.create({ tags: ['new'] }, { by: ann, requestId: 'r' });
      const again = await runtime.create({ tags: ['new'] }, { by: ann, requestId: 'r' });
      expect(again.id).toBe(first.id);
    });

    test.each<readonly [string, unknown, string]>([
      ['an unknown agent', { agent: 'nobody' }, 'unknown-agent'],
      ['an empty id', { id: '' }, 'invalid-argument'],
      ['an id that is no text', { id: 5 }, 'invalid-argument'],
      ['tags that are no list', { tags: 'a' }, 'invalid-argument'],
      ['an empty tag', { tags: [''] }, 'invalid-argument'],
      ['an empty tenant', { tenant: '' }, 'invalid-argument'],
      ['an owner that is no text', { owner: { id: 'ann' } }, 'invalid-argument'],
      ['nothing at all', undefined, 'invalid-argument'],
      ['null', null, 'invalid-argument'],
    ])('with %s is refused', async (_what, session, code) => {
      const stage = await startSession(makePlace());
      await expectRefusalWithoutTrace(stage, code, () => stage.runtime.create(session as never, { by: ann }));
    });

    test('says which agents there are to choose from', async () => {
      const stage = stageOn(makePlace());
      const runtime = stage.start({ agents: [stage.agent(), stage.agent({ id: 'other' })] });
      const { message } = await refusal(runtime.create({}, { by: ann }), 'invalid-argument');
      expect(message).toMatch(/desk, other/);
      const unknown = await refusal(runtime.create({ agent: 'third' }, { by: ann }), 'unknown-agent');
      expect(unknown.message).toMatch(/"third".*desk, other/);
    });

    test.each(Object.entries({ none: undefined, 'without kind': { by: { id: 'ann' } }, 'bad until': { by: ann, until: 'x' } }))(
      'with options that say nothing (%s) is refused',
      async (_what, options) => {
        const stage = await startSession(makePlace());
        await expectRefusalWithoutTrace(stage, 'invalid-argument', () => stage.runtime.create({}, options as never));
      },
    );
  });

  test.each<readonly [string, unknown, string]>([
    ['an execution that is not there', { execution: 2, step: 1 }, 'unknown-step'],
    ['a step that is not there', { execution: 1, step: 3 }, 'unknown-step'],
    ['step 0 of an execution that is not there', { execution: 2, step: 0 }, 'unknown-step'],
    ['a step before step 0', { execution: 1, step: -1 }, 'unknown-step'],
    ['NaN', { execution: 1, step: Number.NaN }, 'unknown-step'],
    ['a step without an execution', { step: 1 }, 'invalid-argument'],
    ['nothing', undefined, 'invalid-argument'],
  ])('forking at %s is refused', async (_what, at, code) => {
    const stage = await startSession(makePlace());
    const { message } = await expectRefusalWithoutTrace(stage, code, () => stage.runtime.fork('one', at as never, { by: ann, id: 'fork' }));
    if (code === 'unknown-step') expect(message).toContain('"one"');
    await refusal(stage.runtime.get('fork'), 'unknown-session');
  });

  test('forking to an id that is taken is refused', async () => {
    const stage = await startSession(makePlace());
    await expectRefusalWithoutTrace(stage, 'session-conflict', () =>
      stage.runtime.fork('one', { execution: 1, step: 1 }, { by: ann, id: 'one' }),
    );
  });

  test.each<readonly [string, unknown]>([
    ['a limit of 0', { limit: 0 }],
    ['half a limit', { limit: 1.5 }],
    ['a cursor that nobody gave', { cursor: 'abc' }],
    ['a cursor that is not text', { cursor: 5 }],
    ['a list of tenants', { tenant: ['x'] }],
    ['an object as the owner', { owner: { id: 'ann' } }],
    ['a number as the agent', { agentId: 5 }],
    ['null as the tag', { tag: null }],
    ['an empty tenant', { tenant: '' }],
    ['an unknown status', { status: 'asleep' }],
    ['a list of statuses', { status: ['waiting'] }],
    ['an unknown stop reason', { stopReason: 'bored' }],
    ['text as isOpen', { isOpen: 'yes' }],
    ['text as wakeBefore', { wakeBefore: '5' }],
    ['NaN as wakeBefore', { wakeBefore: Number.NaN }],
    ['text as the limit', { limit: '5' }],
    ['an unknown filter', { tenants: 'x' }],
    ['null', null],
    ['text', 'acme'],
  ])('listing with %s is refused', async (_what, query) => {
    const stage = await startSession(makePlace());
    await expectRefusalWithoutTrace(stage, 'invalid-argument', () => stage.runtime.list(query as never));
  });

  test.each<readonly [unknown, string]>([
    [{ fromSeq: -1 }, 'events(): fromSeq must be the number of an event, or 0 to read all, not -1.'],
    [{ fromSeq: Number.NaN }, 'not NaN.'],
    [{ fromSeq: '3' }, 'not "3".'],
    [{ fromSeq: null }, 'not null.'],
    [{ follow: 'yes' }, 'events(): follow must be true or false, not "yes".'],
    [{ redact: 1 }, 'events(): redact must be true or false, not 1.'],
    [{ signal: {} }, 'events(): signal must be an AbortSignal, not an object.'],
    [{ from: 3 }, 'Unknown option "from" in events(). Use fromSeq.'],
    [3, 'must be an object, not 3. Use { fromSeq: 3 }.'],
    [null, 'must be an object, not null.'],
  ])('reading events with %j is refused', async (options, message) => {
    const { runtime } = await startSession(makePlace());
    expect(() => runtime.events('one', options as never)).toThrow(message);
    expect(() => runtime.events('one', options as never)).toThrow(expect.objectContaining({ code: 'invalid-argument' }) as Error);
  });

  describe('what is stored is not what it should be:', () => {
    /** The same store, except that one session loads as something else. */
    const tamperWith = (store: SessionStore, change: (stored: StoredSession) => StoredSession): SessionStore => ({
      ...store,
      log: {
        ...store.log,
        load: async (id) => {
          const stored = await store.log.load(id);
          return id === 'one' && stored !== undefined ? change(stored) : stored;
        },
      },
    });
    const withBody =
      (change: (body: string) => string) =>
      (stored: StoredSession): StoredSession => ({
        ...stored,
        entries: stored.entries.map((entry) => ({ ...entry, body: change(entry.body) })),
      });
    // Holds: a snapshot has its state as text.
    const withState = (change: (state: Record<string, unknown>) => object) =>
      withBody((text) => {
        const body = JSON.parse(text) as { readonly state?: string };
        return body.state === undefined
          ? text
          : JSON.stringify({ ...body, state: JSON.stringify(change(JSON.parse(body.state) as never)) });
      });
    const withDetails =
      (change: (details: Record<string, unknown>) => object) =>
      (stored: StoredSession): StoredSession => ({
        ...stored,
        header: { ...stored.header, details: JSON.stringify(change(JSON.parse(stored.header.details) as never)) },
      });

    test.each<readonly [string, string, (stored: StoredSession) => StoredSession]>([
      ['another kind of state', 'wrong-kind', withDetails((details) => ({ ...details, kind: 'chat-state' }))],
      ['another kind of state in the log', 'wrong-kind', withState((state) => ({ ...state, kind: 'chat-state' }))],
      ['a newer schema', 'newer-schema', withState((state) => ({ ...state, schema: 99 }))],
      ['an agent that nobody has', 'unknown-agent', (stored) => ({ ...stored, header: { ...stored.header, agentName: 'gone' } })],
    ])('%s is refused, is not damage, and can be read where it is known', async (_what, code, change) => {
      const stage = await startSession(makePlace());
      const runtime = stage.start({ store: tamperWith(stage.place.open(), change) });
      await runtime.ready;
      for (const way of [...Object.values(actions), ...Object.values(reads)])
        if (way !== actions['answer'] && way !== reads['events'])
          await expectRefusalWithoutTrace(stage, code, () => way(runtime, 'one', asAnn));
      const { sessions } = await runtime.list();
      expect(sessions).toMatchObject([{ id: 'one', status: 'completed' }]);
      // Events are stored whole.
      expect((await readEvents(runtime, 'one')).at(-1)?.type).toBe('AgentFinished');
      const healthy = stage.start();
      expect((await healthy.send('one', 'say Back', { by: ann })).text).toBe('Back');
    });

    test.each<readonly [string, (stored: StoredSession) => StoredSession]>([
      ['truncated JSON', withBody((body) => body.slice(0, -5))],
      ['a truncated state', withBody((body) => body.replace(/"state":"[^"]*/, '"state":"'))],
      ['an entry that is no object', withBody(() => '7')],
      ['a state without its messages', withState((state) => ({ ...state, data: {} }))],
      [
        'a step that began at a time that no date has',
        withBody((body) => body.replace(/"startedAt":\d+/g, '"startedAt":8640000000000001')),
      ],
      ['an action at a time that no date has', withBody((body) => body.replace(/"at":\d+/, '"at":-8640000000000001'))],
      ['a header with a time that no date has', (stored) => ({ ...stored, header: { ...stored.header, updatedAt: 8.64e15 + 1 } })],
      ['no snapshot', (stored) => ({ ...stored, entries: stored.entries.slice(1) })],
      ['details that cannot be read', (stored) => ({ ...stored, header: { ...stored.header, details: '{' } })],
      ['an effect that cannot be read', (stored) => ({ ...stored, effects: [{ key: 'tool/1/0', phase: 'result', body: '{' }] })],
    ])('%s is damage: the session is set aside, and others go on', async (_what, change) => {
      const stage = await startSession(makePlace());
      await stage.runtime.create({ id: 'two' }, { by: ann });
      const entries = await stage.reader.log.entries('one');
      const runtime = stage.start({ store: tamperWith(stage.place.open(), change) });
      const { message } = await refusal(runtime.send('one', 'Hello.', { by: ann }), 'session-damaged');
      expect(message).toMatch(/"one".*backup/s);
      expect((await runtime.send('two', 'say Fine', { by: ann })).text).toBe('Fine');
      const { sessions } = await runtime.list();
      expect(sessions.find(({ id }) => id === 'one')).toStrictEqual({ id: 'one', damage: expect.any(String) as string });
      expect(await stage.reader.log.entries('one')).toStrictEqual(entries);
    });
  });

  describe('the store', () => {
    test('that is closed says so, in every method', async () => {
      const stage = stageOn(makePlace());
      const store = stage.place.open();
      const runtime = stage.start({ store });
      await runtime.create({ id: 'one' }, { by: ann });
      await runtime.send('one', 'pay 5', { by: ann });
      const before = await dump(stage.place.open());
      await store.close();
      for (const way of [...Object.values(reads), actions['send'], actions['resume']]) {
        const [settled] = await Promise.allSettled([way?.(runtime, 'one', asAnn)]);
        if (settled.status === 'rejected') expect(settled.reason).toMatchObject({ code: 'store-unavailable', problem: 'closed' });
      }
      await refusal(runtime.send('one', 'Hello.', { by: ann }), 'store-unavailable');
      await refusal(runtime.list(), 'store-unavailable');
      await refusal(runtime.create({}, { by: ann }), 'store-unavailable');
      const late = stage.start({ store });
      await refusal(late.ready, 'store-unavailable');
      await refusal(late.get('one'), 'store-unavailable');
      await refusal(late.send('one', 'Hello.', { by: ann }), 'store-unavailable');
      await late.drain();
      expect(await dump(stage.place.open())).toStrictEqual(before);
    });

    test('that can only be read is refused at the start', async () => {
      const stage = await startSession(makePlace());
      const readOnly = async (): Promise<never> => {
        throw new StoreUnavailableError('read-only', 'the disk is write-protected');
      };
      const open = stage.place.open();
      const store =
        stage.place.path === undefined
          ? { ...open, leases: { ...open.leases, join: readOnly }, log: { ...open.log, write: readOnly } }
          : sqliteStore({ database: new DatabaseSync(stage.place.path, { readOnly: true }) });
      const before = await dump(stage.reader);
      const runtime = stage.start({ store });
      expect(await refusal(runtime.ready, 'store-unavailable')).toMatchObject({ problem: 'read-only' });
      expect(await refusal(runtime.send('one', 'Hello.', { by: ann }), 'store-unavailable')).toMatchObject({ problem: 'read-only' });
      expect(await dump(stage.reader)).toStrictEqual(before);
    });

    /** Refuses one write, or all from there on until it is mended. */
    function fullAt(store: SessionStore, at: number) {
      let writes = 0;
      const disk = { isMended: false, failed: 0 };
      let before: Promise<unknown> = Promise.resolve();
      const failing: SessionStore = {
        ...store,
        log: {
          ...store.log,
          write: (write) => {
            writes += 1;
            if (writes < at || disk.isMended) {
              const written = store.log.write(write);
              before = Promise.allSettled([before, written]);
              return written;
            }
            disk.failed += 1;
            // Refused in its order, as stores do.
            return before.then(() => {
              throw new StoreUnavailableError('full', 'no space left on device');
            });
          },
        },
      };
      return { disk, store: failing };
    }

    test.each(Array.from({ length: 14 }, (_gone, index) => index + 1))(
      'that is full from write %i on loses nothing, does nothing twice, and goes on when there is room',
      async (at) => {
        const stage = stageOn(makePlace());
        const first = stage.start();
        await first.create({ id: 'one' }, { by: ann });
        await first.drain();
        const { disk, store } = fullAt(stage.place.open(), at);
        const runtime = stage.start({ store });
        const [sent] = await Promise.allSettled([runtime.send('one', 'note 1; look 2; note 3; say All done', { by: ann, requestId: 'r' })]);
        if (disk.failed === 0) expect(sent).toMatchObject({ status: 'fulfilled', value: { text: 'All done' } });
        else expect(sent).toMatchObject({ status: 'rejected', reason: { code: 'store-unavailable', problem: 'full' } });
        disk.isMended = true;
        const wasKept = (await readActions(stage.place.open(), 'one')).some(({ type }) => type === 'send');
        // Whoever repeats the request gets what came of it, whether it was kept or not.
        if (wasKept) await runtime.resume('one', { by: ann });
        const turn = await runtime.send('one', 'note 1; look 2; note 3; say All done', { by: ann, requestId: 'r' });
        expect(turn).toMatchObject({ status: 'completed', text: 'All done', execution: 1 });
        const notes = stage.ran.filter((each) => each.startsWith('note'));
        expect(notes).toStrictEqual([...new Set(notes)]);
        const { state } = await runtime.get('one');
        expect(state.messages.toArray().filter((message) => message.isUser())).toHaveLength(1);
        expect(state.stepCount).toBe(4);
        const events = await readEvents(runtime, 'one');
        expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_event, index) => index + 1));
      },
    );

    test('that is full while a session is made makes none', async () => {
      const stage = stageOn(makePlace());
      const { disk, store } = fullAt(stage.place.open(), 1);
      const runtime = stage.start({ store });
      await refusal(runtime.create({ id: 'one' }, { by: ann }), 'store-unavailable');
      await refusal(runtime.get('one'), 'unknown-session');
      disk.isMended = true;
      expect((await runtime.create({ id: 'one' }, { by: ann })).status).toBe('pending');
    });

    test('that is full tells whoever else waits, and others go on', async () => {
      const stage = stageOn(makePlace());
      const inner = stage.place.open();
      let isFull = false;
      const store: SessionStore = {
        ...inner,
        log: {
          ...inner.log,
          write: async (write) => {
            if (isFull && write.sessionId === 'one') throw new StoreUnavailableError('full', 'no space left on device');
            return inner.log.write(write);
          },
        },
      };
      const runtime = stage.start({ store });
      for (const id of ['one', 'two']) await runtime.create({ id }, { by: ann });
      const first = runtime.send('one', 'slow 1', { by: ann });
      await stage.gate.current.reached;
      const second = runtime.send('one', 'say Two', { by: ann });
      await until(async () => expect(await readActions(inner, 'one')).toHaveLength(3));
      isFull = true;
      const refused = [refusal(first, 'store-unavailable'), refusal(second, 'store-unavailable')];
      stage.gate.current.open();
      await Promise.all(refused);
      expect((await runtime.send('two', 'say Fine', { by: ann })).text).toBe('Fine');
      isFull = false;
      stage.gate.current = createGate();
      expect(await runtime.resume('one', { by: ann })).toMatchObject({ status: 'completed' });
      await until(async () => expect((await runtime.get('one')).text).toBe('Two'));
      expect(stage.problems).toHaveLength(1);
    });
  });

  describe('the context', () => {
    test.each<readonly [string, () => unknown]>([
      [
        'that throws',
        () => {
          throw new Error('no database');
        },
      ],
      ['that rejects', () => Promise.reject(new Error('no database'))],
    ])('%s keeps what was said, and the session can be resumed later', async (_what, broken) => {
      const stage = stageOn(makePlace());
      let isBroken = true;
      const runtime = stage.start({ context: () => (isBroken ? broken() : {}) });
      await runtime.create({ id: 'one' }, { by: ann });
      await expect(runtime.send('one', 'look 1', { by: ann })).rejects.toThrow('no database');
      expect((await runtime.get('one')).state.messages.length).toBe(1);
      expect((await runtime.list({ isOpen: true })).sessions).toHaveLength(1);
      isBroken = false;
      expect(await runtime.resume('one', { by: ann })).toMatchObject({ status: 'completed', text: 'Done.' });
      expect(stage.ran).toStrictEqual(['look 1']);
    });

    test('that throws is told as an error of this package, with the cause', async () => {
      const stage = stageOn(makePlace());
      const cause = new Error('no database');
      const runtime = stage.start({ context: () => Promise.reject(cause) });
      await runtime.create({ id: 'one' }, { by: ann });
      const [settled] = await Promise.allSettled([runtime.send('one', 'look 1', { by: ann })]);
      const error: unknown = settled.status === 'rejected' ? settled.reason : undefined;
      expect(SteplineError.is(error)).toBe(true);
      expect(error).toMatchObject({ cause });
    });

    test('that a tool needs and nobody gives is refused in words', async () => {
      const stage = stageOn(makePlace());
      const needy = defineTool({
        name: 'look',
        description: 'Looks.',
        input: { type: 'object', properties: { amount: { type: 'number' } } } as const,
        context: defineContext<{ readonly db: string }>(),
        run: (_args, { context }) => context.db,
      });
      const runtime = stage.start({ agents: [stage.agent({ tools: [needy] })] });
      await runtime.create({ id: 'one' }, { by: ann });
      const { message } = await refusal(runtime.send('one', 'look 1', { by: ann }), 'invalid-argument');
      expect(message).toContain('context');
      const next = stage.start({ agents: [stage.agent({ tools: [needy] })], context: () => ({ db: 'here' }) });
      await until(async () => expect((await next.get('one')).status).toBe('completed'));
    });
  });
});

describe('a SQLite file', () => {
  test('of a newer release is refused, and left as it is', async () => {
    const { place, runtime, ...stage } = await startSession(sqlitePlace());
    await runtime.drain();
    const raw = new DatabaseSync(place.path ?? '');
    const [, value, sum] = withChecksum('meta', ['schema', 99]);
    raw.prepare("UPDATE meta SET value = ?, sum = ? WHERE name = 'schema'").run(value ?? 0, sum ?? 0);
    const rows = () => JSON.stringify(['meta', 'sessions', 'log'].map((table) => raw.prepare(`SELECT * FROM ${table}`).all()));
    const before = rows();
    const next = stage.start({ store: place.open() });
    expect(await refusal(next.ready, 'store-unavailable')).toMatchObject({ problem: 'newer-schema' });
    await refusal(next.send('one', 'Hello.', { by: ann }), 'store-unavailable');
    expect(rows()).toBe(before);
    raw.close();
  });

  test('with a row that was cut off: the session is set aside, others go on, and the row stays', async () => {
    const { place, runtime, start } = await startSession(sqlitePlace());
    await runtime.create({ id: 'two' }, { by: ann });
    await runtime.drain();
    const raw = new DatabaseSync(place.path ?? '');
    raw.exec("UPDATE log SET body = substr(body, 1, 20) WHERE n = 2 AND session = (SELECT num FROM sessions WHERE id = 'one')");
    const rows = () =>
      JSON.stringify(
        ['sessions', 'log'].map((table) => raw.prepare(`SELECT * FROM ${table} WHERE ${table === 'log' ? 'session' : 'num'} = 1`).all()),
      );
    const before = rows();
    const next = start();
    await refusal(next.send('one', 'Hello.', { by: ann }), 'session-damaged');
    expect((await next.send('two', 'say Fine', { by: ann })).text).toBe('Fine');
    expect((await next.list()).sessions).toMatchObject([{ id: 'two' }, { id: 'one', damage: 'entry 2 does not match its checksum' }]);
    expect(rows()).toBe(before);
    raw.close();
  });

  test('on a disk that gets full: resume goes on when there is room', async () => {
    const database = new DatabaseSync(newPath());
    const store = sqliteStore({ database });
    const stage = stageOn({ open: () => store });
    const runtime = stage.start();
    await runtime.create({ id: 'one' }, { by: ann });
    const words = `note 1; note 2; note 3; say ${'All done. '.repeat(2000)}`;
    const { page_count: pages } = database.prepare('PRAGMA page_count').get() as { readonly page_count: number };
    database.exec(`PRAGMA max_page_count = ${pages + 8}`);
    const [sent] = await Promise.allSettled([runtime.send('one', words, { by: ann, requestId: 'r' })]);
    expect(sent).toMatchObject({ status: 'rejected', reason: { code: 'store-unavailable', problem: 'full' } });
    database.exec('PRAGMA max_page_count = 100000');
    const turn = await runtime.send('one', words, { by: ann, requestId: 'r' });
    const rested = turn.status === 'completed' ? turn : await runtime.resume('one', { by: ann });
    expect(rested.status).toBe('completed');
    expect(stage.ran).toStrictEqual([...new Set(stage.ran)]);
    await store.close();
  });
});
