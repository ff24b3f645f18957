import { holds, same } from './conformance.ts';
import type { StoreCheck } from './session-store-sample.ts';
import { assertRefused, sampleEffect, sampleEntry, sampleHeader } from './session-store-sample.ts';

/** Promises of a store about writing. */
export const writeChecks: Readonly<Record<string, StoreCheck>> = {
  'keeps all that a write says': async ({ store, create }) => {
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
    await create('s', { header, entries: [entry], effects });
    same(await store.log.load('s'), { header, head: 1, entries: [entry], effects }, 'session');
  },
  'keeps what was written for whoever opens the place next': async ({ store, reopen, write, fill }) => {
    await fill('s', 3);
    await write('s', 3, { effects: [sampleEffect('a')] });
    const written = await store.log.load('s');
    await store.close();
    const next = await reopen();
    holds(written?.head === 3, 'the session was not read back');
    same(await next.log.load('s'), written, 'session in the next store');
  },
  'shows another store what is safe': async ({ reopen, fill }) => {
    const other = await reopen();
    await fill('s', 2);
    same((await other.log.load('s'))?.head, 2, 'head in the other store');
  },
  'keeps the copy that it was given': async ({ store, create }) => {
    const tags = ['a'];
    const entry = { ...sampleEntry(1) };
    await create('s', { header: sampleHeader('s', { tags }), entries: [entry] });
    tags.push('b');
    entry.body = '"changed"';
    const session = await store.log.load('s');
    same([session?.header.tags, session?.entries], [['a'], [sampleEntry(1)]], 'session');
  },
  'keeps writes of one session in the order in which they were asked for': async ({ store, create, append }) => {
    const numbers = [1, 2, 3, 4, 5];
    const settled: number[] = [];
    await Promise.all(numbers.map((n) => (n === 1 ? create('s') : append('s', n)).then(() => settled.push(n))));
    same(settled, numbers, 'order in which the writes were safe');
    const stored = (await store.log.entries('s')).map(({ n }) => n);
    same(stored, numbers, 'order of the entries');
  },
  'leaves the header where a write has none': async ({ store, create, append }) => {
    const header = sampleHeader('s', { owner: 'o', tags: ['a'] });
    await create('s', { header });
    await append('s', 2);
    same((await store.log.load('s'))?.header, header, 'header');
  },
  'replaces the whole header': async ({ store, create, write }) => {
    await create('s', { header: sampleHeader('s', { owner: 'o', wakeAt: 5, stopReason: 'guard', tags: ['a'] }) });
    const header = sampleHeader('s', { status: 'completed', isOpen: false, tags: ['b'] });
    await write('s', 1, { header });
    same((await store.log.load('s'))?.header, header, 'header');
  },
  'replaces the tags that a session is found by': async ({ create, write, listIds }) => {
    await create('s', { header: sampleHeader('s', { tags: ['a', 'b', 'b'] }) });
    await write('s', 1, { header: sampleHeader('s', { tags: ['b', 'c'] }) });
    const found = await Promise.all(['a', 'b', 'c'].map(async (tag) => (await listIds({ tag })).length));
    same(found, [0, 1, 1], 'sessions found by the tags a, b, c');
  },
  'drops effects in the write that records their step': async ({ store, create, append, write }) => {
    await create('s', { effects: [sampleEffect('a')] });
    await write('s', 1, { effects: [sampleEffect('b')] });
    await append('s', 2, { clearsEffects: true, effects: [sampleEffect('a')] });
    const session = await store.log.load('s');
    same([session?.head, session?.effects], [2, [sampleEffect('a')]], 'head and effects');
  },
  'drops effects that were asked for in the same moment': async ({ store, create, append, write }) => {
    await Promise.all([
      create('s'),
      write('s', 1, { effects: [sampleEffect('a', 'intent')] }),
      write('s', 1, { effects: [sampleEffect('a')] }),
      append('s', 2, { clearsEffects: true }),
      write('s', 2, { effects: [sampleEffect('a', 'intent')] }),
    ]);
    same((await store.log.load('s'))?.effects, [sampleEffect('a', 'intent')], 'effects');
  },
  'keeps effects where the write that would drop them is refused': async ({ store, create, append, write }) => {
    await create('s', { effects: [sampleEffect('z')] });
    const kept = write('s', 1, { effects: [sampleEffect('a')] });
    await assertRefused(append('s', 3, { clearsEffects: true }), 'session-conflict', 'a write after the wrong entry');
    await kept;
    same((await store.log.load('s'))?.effects, [sampleEffect('z'), sampleEffect('a')], 'effects');
  },
  'refuses a write that does not follow the last entry, and changes nothing': async ({ append, fill, listIds, refuses }) => {
    await fill('s', 2);
    const change = { header: sampleHeader('s', { owner: 'x', tags: ['x'] }), effects: [sampleEffect('x')] };
    for (const after of [1, 3])
      await refuses(() => append('s', after + 1, change), 'session-conflict', `a write after entry ${after} of 2`);
    same(await listIds({ tag: 'x' }), [], 'sessions with the tag of a refused write');
  },
  'refuses to make a session that exists': async ({ create, refuses }) => {
    await create('s');
    const header = sampleHeader('s', { owner: 'x' });
    await refuses(() => create('s', { header }), 'session-conflict', 'making it again');
  },
  'refuses to go on with a session that does not exist': async ({ store, append, listIds, refuses }) => {
    await refuses(() => append('s', 2, { header: sampleHeader('s') }), 'session-conflict', 'a write after entry 1 of none');
    same([await store.log.load('s'), (await listIds()).length], [undefined, 0], 'what is there');
  },
  'does not let a refused write fail others': async ({ store, create, append }) => {
    await create('a');
    const good = [append('a', 2), create('b')];
    const bad = assertRefused(append('a', 2), 'session-conflict', 'the second entry 2');
    const behind = append('a', 3);
    await Promise.all([...good, bad, behind]);
    same([(await store.log.load('a'))?.head, (await store.log.load('b'))?.head], [3, 1], 'heads');
  },
  'refuses to answer a request twice, and changes nothing': async ({ create, append, refuses }) => {
    await create('s', { entries: [sampleEntry(1, { requestId: 'r' })] });
    await create('other', { entries: [sampleEntry(1, { requestId: 'r' })] });
    const again = [sampleEntry(2), sampleEntry(3, { requestId: 'r' })];
    await refuses(() => append('s', 2, { entries: again }), 'invalid-argument', 'a second answer');
    const twice = [sampleEntry(2, { requestId: 'q' }), sampleEntry(3, { requestId: 'q' })];
    await refuses(() => append('s', 2, { entries: twice }), 'invalid-argument', 'two answers in one write');
  },
  'refuses an effect that is kept already, and changes nothing': async ({ create, append, refuses }) => {
    await create('s', { effects: [sampleEffect('a')] });
    const effects = [sampleEffect('b'), sampleEffect('a')];
    await refuses(() => append('s', 2, { effects }), 'invalid-argument', 'the same effect again');
  },
  'refuses a write that makes no sense': async ({ create, append, write, listIds, refuses }) => {
    await create('s');
    const senseless: Readonly<Record<string, () => Promise<void>>> = {
      'a session without a header': () => write('new', 0, { entries: [sampleEntry(1)] }),
      'a session without an entry': () => create('new', { entries: [] }),
      'the header of another session': () => append('s', 2, { header: sampleHeader('new') }),
      'an entry with the wrong number': () => append('s', 2, { entries: [sampleEntry(3)] }),
      'a gap between entries': () => append('s', 2, { entries: [sampleEntry(2), sampleEntry(4)] }),
      'a time that is no number': () => append('s', 2, { entries: [sampleEntry(2, { at: Number.NaN })] }),
    };
    for (const [name, work] of Object.entries(senseless)) await refuses(work, 'invalid-argument', name);
    same(await listIds(), ['s'], 'sessions');
  },
};
