import { holds, same } from './conformance.ts';
import type { StoreCheck } from './session-store-sample.ts';
import {
  adding,
  changesNothing,
  listedIds,
  makeSession,
  making,
  refused,
  sameData,
  sampleEffect,
  sampleEntry,
  sampleHeader,
} from './session-store-sample.ts';

/** What a store promises about writing. */
export const writeChecks: Readonly<Record<string, StoreCheck>> = {
  'keeps all that a write says': async ({ store, epoch }) => {
    const header = sampleHeader('s', {
      tenant: 't',
      owner: 'o',
      tags: ['b', 'a'],
      status: 'stopped',
      stopReason: 'steps_limit',
      isOpen: false,
      wakeAt: 5000,
      updatedAt: 1001.5,
      details: '{"title":"x"}',
    });
    const entry = sampleEntry(1, { execution: 1, step: 2, requestId: 'r', events: '[1]', lastSeq: 3 });
    const effects = [sampleEffect('model/1', 'intent'), sampleEffect('model/1'), sampleEffect('a-tool')];
    await store.write(making('s', epoch, { header, entries: [entry], effects }));
    sameData(await store.load('s'), { header, head: 1, entries: [entry], effects }, 'session');
  },
  'keeps what was written for whoever opens the place next': async (stage) => {
    await makeSession(stage, 's', 3);
    await stage.store.write({ sessionId: 's', epoch: stage.epoch, after: 3, effects: [sampleEffect('a')] });
    const written = await stage.store.load('s');
    await stage.store.close();
    const next = await stage.reopen();
    holds(written?.head === 3, 'the session was not read back');
    sameData(await next.load('s'), written, 'session in the next store');
  },
  'shows another store what is safe': async (stage) => {
    const other = await stage.reopen();
    await makeSession(stage, 's', 2);
    same((await other.load('s'))?.head, 2, 'head in the other store');
  },
  'keeps the copy that it was given': async ({ store, epoch }) => {
    const tags = ['a'];
    const entry = { ...sampleEntry(1) };
    await store.write(making('s', epoch, { header: sampleHeader('s', { tags }), entries: [entry] }));
    tags.push('b');
    entry.body = '"changed"';
    const session = await store.load('s');
    sameData([session?.header.tags, session?.entries], [['a'], [sampleEntry(1)]], 'session');
  },
  'keeps writes of one session in the order in which they were asked for': async ({ store, epoch }) => {
    const writes = [making('s', epoch), ...[2, 3, 4, 5].map((n) => adding('s', epoch, n))];
    const settled: number[] = [];
    await Promise.all(writes.map((write, index) => store.write(write).then(() => settled.push(index))));
    same(settled, [0, 1, 2, 3, 4], 'order in which the writes were safe');
    same(
      (await store.entries('s')).map(({ n }) => n),
      [1, 2, 3, 4, 5],
      'order of the entries',
    );
  },
  'leaves the header where a write has none': async ({ store, epoch }) => {
    const header = sampleHeader('s', { owner: 'o', tags: ['a'] });
    await store.write(making('s', epoch, { header }));
    await store.write(adding('s', epoch, 2));
    sameData((await store.load('s'))?.header, header, 'header');
  },
  'replaces the whole header': async ({ store, epoch }) => {
    await store.write(making('s', epoch, { header: sampleHeader('s', { owner: 'o', wakeAt: 5, stopReason: 'guard', tags: ['a'] }) }));
    const header = sampleHeader('s', { status: 'completed', isOpen: false, tags: ['b'] });
    await store.write({ sessionId: 's', epoch, after: 1, header });
    sameData((await store.load('s'))?.header, header, 'header');
  },
  'replaces the tags that a session is found by': async ({ store, epoch }) => {
    await store.write(making('s', epoch, { header: sampleHeader('s', { tags: ['a', 'b', 'b'] }) }));
    await store.write({ sessionId: 's', epoch, after: 1, header: sampleHeader('s', { tags: ['b', 'c'] }) });
    const found = await Promise.all(['a', 'b', 'c'].map(async (tag) => (await listedIds(store, { tag })).length));
    same(found, [0, 1, 1], 'sessions found by the tags a, b, c');
  },
  'drops effects in the write that records their step': async ({ store, epoch }) => {
    await store.write(making('s', epoch, { effects: [sampleEffect('a')] }));
    await store.write({ sessionId: 's', epoch, after: 1, effects: [sampleEffect('b')] });
    await store.write({ ...adding('s', epoch, 2), clearsEffects: true, effects: [sampleEffect('a')] });
    const session = await store.load('s');
    sameData([session?.head, session?.effects], [2, [sampleEffect('a')]], 'head and effects');
  },
  'drops effects that were asked for in the same moment': async ({ store, epoch }) => {
    await Promise.all([
      store.write(making('s', epoch)),
      store.write({ sessionId: 's', epoch, after: 1, effects: [sampleEffect('a', 'intent')] }),
      store.write({ sessionId: 's', epoch, after: 1, effects: [sampleEffect('a')] }),
      store.write({ ...adding('s', epoch, 2), clearsEffects: true }),
      store.write({ sessionId: 's', epoch, after: 2, effects: [sampleEffect('a', 'intent')] }),
    ]);
    sameData((await store.load('s'))?.effects, [sampleEffect('a', 'intent')], 'effects');
  },
  'keeps effects where the write that would drop them is refused': async ({ store, epoch }) => {
    await store.write(making('s', epoch, { effects: [sampleEffect('z')] }));
    const kept = store.write({ sessionId: 's', epoch, after: 1, effects: [sampleEffect('a')] });
    await refused(store.write({ ...adding('s', epoch, 3), clearsEffects: true }), 'session-conflict', 'a write after the wrong entry');
    await kept;
    sameData((await store.load('s'))?.effects, [sampleEffect('z'), sampleEffect('a')], 'effects');
  },
  'refuses a write that does not follow the last entry, and changes nothing': async (stage) => {
    const { store, epoch } = stage;
    await makeSession(stage, 's', 2);
    for (const after of [1, 3]) {
      const write = {
        ...adding('s', epoch, after + 1),
        header: sampleHeader('s', { owner: 'x', tags: ['x'] }),
        effects: [sampleEffect('x')],
      };
      await changesNothing(stage, 's', () => refused(store.write(write), 'session-conflict', `a write after entry ${after} of 2`));
    }
    same(await listedIds(store, { tag: 'x' }), [], 'sessions with the tag of a refused write');
  },
  'refuses to make a session that exists': async (stage) => {
    await makeSession(stage, 's');
    const again = making('s', stage.epoch, { header: sampleHeader('s', { owner: 'x' }) });
    await changesNothing(stage, 's', () => refused(stage.store.write(again), 'session-conflict', 'making it again'));
  },
  'refuses to go on with a session that does not exist': async ({ store, epoch }) => {
    await refused(
      store.write({ ...adding('s', epoch, 2), header: sampleHeader('s') }),
      'session-conflict',
      'a write after entry 1 of none',
    );
    same([await store.load('s'), (await listedIds(store)).length], [undefined, 0], 'what is there');
  },
  'does not let a refused write fail others': async ({ store, epoch }) => {
    await store.write(making('a', epoch));
    const good = [store.write(adding('a', epoch, 2)), store.write(making('b', epoch))];
    const bad = refused(store.write(adding('a', epoch, 2)), 'session-conflict', 'the second entry 2');
    const behind = store.write(adding('a', epoch, 3));
    await Promise.all([...good, bad, behind]);
    same([(await store.load('a'))?.head, (await store.load('b'))?.head], [3, 1], 'heads');
  },
  'refuses to answer a request twice, and changes nothing': async (stage) => {
    const { store, epoch } = stage;
    await store.write(making('s', epoch, { entries: [sampleEntry(1, { requestId: 'r' })] }));
    await store.write(making('other', epoch, { entries: [sampleEntry(1, { requestId: 'r' })] }));
    const again = { ...adding('s', epoch, 2), entries: [sampleEntry(2), sampleEntry(3, { requestId: 'r' })] };
    await changesNothing(stage, 's', () => refused(store.write(again), 'invalid-argument', 'a second answer'));
    const twice = { ...again, entries: [sampleEntry(2, { requestId: 'q' }), sampleEntry(3, { requestId: 'q' })] };
    await changesNothing(stage, 's', () => refused(store.write(twice), 'invalid-argument', 'two answers in one write'));
  },
  'refuses an effect that is kept already, and changes nothing': async (stage) => {
    const { store, epoch } = stage;
    await store.write(making('s', epoch, { effects: [sampleEffect('a')] }));
    const again = { ...adding('s', epoch, 2), effects: [sampleEffect('b'), sampleEffect('a')] };
    await changesNothing(stage, 's', () => refused(store.write(again), 'invalid-argument', 'the same effect again'));
  },
  'refuses a write that makes no sense': async (stage) => {
    const { store, epoch } = stage;
    await makeSession(stage, 's');
    const { header, ...headless } = making('new', epoch);
    const senseless = {
      'a session without a header': headless,
      'a session without an entry': { ...headless, header: sampleHeader('new'), entries: [] },
      'the header of another session': { ...adding('s', epoch, 2), header: header ?? sampleHeader('new') },
      'an entry with the wrong number': { ...adding('s', epoch, 2), entries: [sampleEntry(3)] },
      'a gap between entries': { ...adding('s', epoch, 2), entries: [sampleEntry(2), sampleEntry(4)] },
      'a time that is no number': { ...adding('s', epoch, 2), entries: [sampleEntry(2, { at: Number.NaN })] },
    };
    for (const [what, write] of Object.entries(senseless)) {
      await changesNothing(stage, 's', () => refused(store.write(write), 'invalid-argument', what));
    }
    same(await listedIds(store), ['s'], 'sessions');
  },
};
