import { describe, expect, test } from 'vitest';
import type { LogEntry, SessionHeader, SessionStore } from '../index.ts';
import { createMemoryStore, SessionConflictError } from '../index.ts';
import { applyReports, findWorkers } from './desk-copy.ts';
import type { TurnChange, TurnReport } from './protocol.ts';

const toHeader = (updatedAt: number, isOpen = true): SessionHeader => ({
  ...{ id: 'a', agentName: 'desk', tags: [], createdAt: 0, details: '{}' },
  ...{ status: isOpen ? ('in_progress' as const) : ('completed' as const), isOpen, updatedAt },
});
const toEntry = (n: number): LogEntry => ({ n, at: n, isSnapshot: false, execution: 1, step: n, body: '{}' });

/** A step that a turn has recorded. */
const toStep = (n: number, isOpen = true): TurnChange => ({
  type: 'write',
  after: n - 1,
  header: toHeader(n, isOpen),
  entries: [toEntry(n)],
  clearsEffects: true,
});

const toReport = (changes: readonly TurnChange[], more: Partial<TurnReport> = {}): TurnReport => ({ sessionId: 'a', changes, ...more });

const apply = async (store: SessionStore, ...changes: readonly TurnChange[]) => (await applyReports(store, [toReport(changes)]))[0];

describe('the copy of the desk', () => {
  test('has what was reported', async () => {
    const store = createMemoryStore();
    expect(await apply(store, toStep(1), toStep(2))).toStrictEqual({ isWhole: true, hasMail: false });
    expect(await store.load('a')).toMatchObject({ head: 2, header: { updatedAt: 2 } });
  });

  test.each([
    ['an earlier report', [toStep(1)]],
    ['the last report', [toStep(2)]],
    ['all reports in one', [toStep(1), toStep(2)]],
  ])('changes nothing for %s that comes again', async (_, changes) => {
    const store = createMemoryStore();
    await apply(store, toStep(1));
    await apply(store, toStep(2));
    const text: TurnChange = { type: 'write', after: 2, effects: [{ key: 'open/2/1/0', phase: 'intent', body: '{}' }] };
    await apply(store, text);
    const before = await store.load('a');
    expect(await apply(store, ...changes)).toMatchObject({ isWhole: true });
    expect(await store.load('a')).toStrictEqual(before);
  });

  test('keeps the rows of the open step if a step comes again together with something new', async () => {
    const store = createMemoryStore();
    await applyReports(store, [toReport([toStep(1)], { worker: 'one' })]);
    const effects = [{ key: 'open/1/1/0', phase: 'intent' as const, body: '{}' }];
    await apply(store, { ...toStep(1), effects } as TurnChange);
    expect((await store.effects('a'))?.effects.map(({ key }) => key)).toStrictEqual(['worker/one', 'open/1/1/0']);
  });

  test('takes only what is new of a report that it has in part', async () => {
    const store = createMemoryStore();
    await apply(store, toStep(1), toStep(2));
    await apply(store, toStep(2), toStep(3), toStep(4));
    expect((await store.entries('a')).map(({ n }) => n)).toStrictEqual([1, 2, 3, 4]);
  });

  test('says that it lacks entries, and leaves out what comes after them', async () => {
    const store = createMemoryStore();
    await apply(store, toStep(1));
    expect(await apply(store, toStep(3))).toMatchObject({ isWhole: false });
    expect(await store.load('a')).toMatchObject({ head: 1 });
  });

  test('names the worker of a session until it rests', async () => {
    const store = createMemoryStore();
    const report = (changes: readonly TurnChange[], worker: string) => applyReports(store, [toReport(changes, { worker })]);
    await report([toStep(1)], 'one');
    expect(await findWorkers(store, 'a')).toStrictEqual(['one']);
    // Another worker has taken over, and has nothing to report yet.
    await report([{ type: 'write', after: 1 }], 'two');
    expect(await findWorkers(store, 'a')).toStrictEqual(['one', 'two']);
    await report([toStep(2)], 'two');
    expect(await findWorkers(store, 'a')).toStrictEqual(['two']);
    // A report of the first worker that was held up.
    await report([toStep(2)], 'two');
    await report([toStep(1)], 'one');
    expect(await findWorkers(store, 'a')).toStrictEqual(['two']);
    await applyReports(store, [toReport([toStep(3, false)])]);
    expect(await findWorkers(store, 'a')).toStrictEqual([]);
  });

  test('tells a worker that is new to a session whether mails wait for it', async () => {
    const store = createMemoryStore();
    await apply(store, toStep(1));
    await store.post({ sessionId: 'a', requestId: 'r', at: 0, body: '{}' });
    const announce = async (more: Partial<TurnReport>) => (await applyReports(store, [toReport([{ type: 'write', after: 1 }], more)]))[0];
    expect(await announce({ worker: 'one' })).toStrictEqual({ isWhole: true, hasMail: true });
    expect(await announce({ worker: 'one', isKnown: true })).toStrictEqual({ isWhole: true, hasMail: false });
    expect(await announce({})).toStrictEqual({ isWhole: true, hasMail: false });
  });

  test('an erasure that comes again changes nothing, also after later entries', async () => {
    const store = createMemoryStore();
    const erasure: TurnChange = { type: 'rewrite', after: 1, entries: [{ n: 1, body: '"erased"' }] };
    await apply(store, toStep(1), erasure);
    await apply(store, toStep(2));
    expect(await apply(store, toStep(1), erasure, toStep(2), toStep(3))).toMatchObject({ isWhole: true });
    expect((await store.entries('a')).map(({ body }) => body)).toStrictEqual(['"erased"', '{}', '{}']);
  });

  test('an erasure that comes too late is left to the session, and the rest of the report is stored', async () => {
    const store = createMemoryStore();
    await apply(store, toStep(1), toStep(2));
    const erasure: TurnChange = { type: 'rewrite', after: 1, entries: [{ n: 1, body: '"erased"' }] };
    expect(await apply(store, erasure, toStep(3))).toMatchObject({ isWhole: false });
    expect(await store.load('a')).toMatchObject({ head: 3 });
  });

  test('stores the reports of other sessions if one cannot be stored', async () => {
    const store = createMemoryStore();
    const faulty: SessionStore = {
      ...store,
      write: async (write) => {
        if (write.sessionId === 'a') throw new SessionConflictError('a', { expected: 0, found: 5 });
        await store.write(write);
      },
    };
    const step = { ...toStep(1), header: { ...toHeader(1), id: 'b' } } as TurnChange;
    const replies = await applyReports(faulty, [toReport([toStep(1)]), { sessionId: 'b', changes: [step] }]);
    expect(replies.map((reply) => 'error' in reply)).toStrictEqual([true, false]);
    expect(await store.load('b')).toMatchObject({ head: 1 });
  });

  test('rejects if the store cannot be used, so that the reports are sent again', async () => {
    const store = createMemoryStore();
    await store.close();
    await expect(apply(store, toStep(1))).rejects.toMatchObject({ code: 'store-unavailable' });
  });

  test('writes under a claim that another process has taken meanwhile', async () => {
    const store = createMemoryStore();
    await apply(store, toStep(1));
    let isTaken = false;
    const contested: SessionStore = {
      ...store,
      write: async (write) => {
        if (!isTaken) await store.claim();
        isTaken = true;
        await store.write(write);
      },
    };
    await apply(contested, toStep(2));
    expect(await store.load('a')).toMatchObject({ head: 2 });
  });
});
