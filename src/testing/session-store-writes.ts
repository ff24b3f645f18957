import type { LogEntry } from '../sessions/index.ts';
import { holds, same } from './conformance.ts';
import type { StoreCheck } from './session-store-sample.ts';
import { assertRefused, toHeldLease, owned, sampleEffect, sampleEntry, sampleHeader } from './session-store-sample.ts';

const fullEntry = (n: number): LogEntry =>
  sampleEntry(n, { execution: n, step: n + 1, requestId: `r${n}`, events: `["${n}"]`, lastSeq: n * 10 });

/** Promises of the log of a store about writing. */
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
    same(await store.log.load('s'), { ...owned, header, head: 1, entries: [entry], effects }, 'session');
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
    const senseless: Readonly<Record<string, () => Promise<unknown>>> = {
      'a session without a header': () => write('new', 0, { entries: [sampleEntry(1)] }),
      'a session without an entry': () => create('new', { entries: [] }),
      'the header of another session': () => append('s', 2, { header: sampleHeader('new') }),
      'an entry with the wrong number': () => append('s', 2, { entries: [sampleEntry(3)] }),
      'a gap between entries': () => append('s', 2, { entries: [sampleEntry(2), sampleEntry(4)] }),
      'a time that is no number': () => append('s', 2, { entries: [sampleEntry(2, { at: Number.NaN })] }),
      'a fence that is no number': () => append('s', 2, { lease: toHeldLease(0.5) }),
      'a format that is no number': () => append('s', 2, { header: sampleHeader('s', { format: Number.NaN }) }),
      'a new text for an entry that is not there': () => write('s', 1, { rewrites: [{ n: 2, body: '' }] }),
      'two new texts for one entry': () => write('s', 1, { rewrites: [1, 1].map((n) => ({ n, body: '' })) }),
    };
    for (const [name, work] of Object.entries(senseless)) await refuses(work, 'invalid-argument', name);
    same(await listIds(), ['s'], 'sessions');
  },
  'replaces texts of entries, and nothing else': async ({ store, reopen, create, append, write, listIds }) => {
    const header = sampleHeader('s', { tags: ['a'], details: '{"title":"secret"}' });
    const effects = [sampleEffect('a')];
    await create('s', { header, entries: [1, 2, 3].map(fullEntry), effects });
    const rewrites = [
      { n: 3, body: '"erased"' },
      { n: 1, body: '"ä"', events: '[]' },
    ];
    await write('s', 3, { rewrites });
    const { events: _, ...third } = fullEntry(3);
    const entries = [{ ...fullEntry(1), body: '"ä"', events: '[]' }, fullEntry(2), { ...third, body: '"erased"' }];
    same(await store.log.load('s'), { ...owned, header, head: 3, entries, effects }, 'session');
    const renamed = sampleHeader('s', { tags: ['b'] });
    const behind = [4, 2].map((n) => ({ n, body: `"new ${n}"` }));
    await Promise.all([append('s', 4), write('s', 4, { header: renamed, rewrites: behind, entries: [sampleEntry(5)] })]);
    const session = await (await reopen()).log.load('s');
    same([session?.header, session?.head], [renamed, 5], 'header and head');
    const bodies = session?.entries.map(({ body }) => body);
    same(bodies, ['"ä"', '"new 2"', '"erased"', '"new 4"', '{"n":5}'], 'texts');
    same([(await store.log.findRequest('s', 'r2'))?.body, await listIds({ tag: 'b' })], ['"new 2"', ['s']], 'what is found');
  },
  'replaces no text if the write is refused': async ({ write, append, fill, refuses }) => {
    await fill('s', 2);
    const rewrites = [{ n: 1, body: '"x"' }];
    await refuses(() => write('s', 3, { rewrites }), 'session-conflict', 'a rewrite after entry 3 of 2');
    await refuses(() => write('s', 2, { rewrites, lease: toHeldLease(2) }), 'lease-lost', 'a rewrite with another fence');
    await refuses(
      () => append('s', 3, { rewrites, effects: [1, 2].map(() => sampleEffect('a')) }),
      'invalid-argument',
      'a senseless write',
    );
  },
  'keeps many writes to many sessions': async ({ store, create, append, write, listIds }) => {
    const ids = Array.from({ length: 40 }, (_, index) => `s${index}`);
    const writeAll = async (id: string): Promise<void> => {
      await create(id);
      for (let n = 2; n <= 10; n += 1) {
        if (n % 2 === 0) await write(id, n - 1, { effects: [sampleEffect(`${n}`, 'intent')] });
        await Promise.all([
          write(id, n - 1, { effects: [sampleEffect(`${n}`)] }),
          append(id, n, { clearsEffects: true, header: sampleHeader(id, { updatedAt: n }) }),
        ]);
      }
    };
    await Promise.all(ids.map(writeAll));
    const entries = Array.from({ length: 10 }, (_, index) => sampleEntry(index + 1));
    for (const id of ids)
      same(
        await store.log.load(id),
        { ...owned, header: sampleHeader(id, { updatedAt: 10 }), head: 10, entries, effects: [] },
        `session ${id}`,
      );
    same((await listIds()).length, ids.length, 'sessions');
  },
};
