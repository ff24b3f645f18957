import type { EntryQuery, LogEntry, SessionStore } from '../sessions/index.ts';
import { same } from './conformance.ts';
import type { StoreCheck } from './session-store-sample.ts';
import { assertRefused, owned, sampleEffect, sampleEntry, sampleHeader } from './session-store-sample.ts';

const numbers = (entries: readonly LogEntry[] | undefined): readonly number[] => (entries ?? []).map(({ n }) => n);

async function checkEntries(store: SessionStore, cases: readonly (readonly [EntryQuery, string])[]): Promise<void> {
  for (const [query, expected] of cases)
    same(numbers(await store.log.entries('s', query)).join(''), expected, `entries for ${JSON.stringify(query)}`);
}

/** Promises of the log of a store about reading. */
export const readChecks: Readonly<Record<string, StoreCheck>> = {
  'says that a session is not there': async ({ store }) => {
    const found = [await store.log.load('none'), await store.log.entries('none'), await store.log.findRequest('none', 'r')];
    same([...found, await store.log.effects('none')], [undefined, [], undefined, undefined], 'what was found');
  },
  'loads a session from its last snapshot on': async ({ store, append, fill }) => {
    await fill('s', 3);
    same(numbers((await store.log.load('s'))?.entries), [1, 2, 3], 'entries');
    await append('s', 4, { entries: [sampleEntry(4, { isSnapshot: true }), sampleEntry(5)] });
    const session = await store.log.load('s');
    same([session?.head, numbers(session?.entries)], [5, [4, 5]], 'head and entries');
    same(numbers(await store.log.entries('s')), [1, 2, 3, 4, 5], 'entries, asked for by themselves');
  },
  'loads a session without a snapshot from the start': async ({ store, create }) => {
    await create('s', { entries: [sampleEntry(1, { isSnapshot: false }), sampleEntry(2)] });
    same(numbers((await store.log.load('s'))?.entries), [1, 2], 'entries');
  },
  'reads entries from one to another': async ({ store, fill }) => {
    await fill('s', 5);
    await checkEntries(store, [
      [{ from: 2, to: 4 }, '234'],
      [{ from: 4 }, '45'],
      [{ to: 2 }, '12'],
      [{ from: 4, to: 99 }, '45'],
      [{ from: 6 }, ''],
      [{ from: 3, to: 2 }, ''],
      [{ limit: 2 }, '12'],
      [{ from: 3, limit: 1 }, '3'],
    ]);
    await assertRefused(store.log.entries('s', { limit: 0 }), 'invalid-argument', 'a limit of 0');
  },
  'reads entries with events after a number': async ({ store, create }) => {
    const entryWithEvents = (n: number, lastSeq: number): LogEntry => sampleEntry(n, { events: '[]', lastSeq });
    await create('s', { entries: [entryWithEvents(1, 3), sampleEntry(2), entryWithEvents(3, 7), sampleEntry(4), entryWithEvents(5, 9)] });
    await checkEntries(store, [
      [{ afterSeq: 0 }, '135'],
      [{ afterSeq: 3 }, '35'],
      [{ afterSeq: 6 }, '35'],
      [{ afterSeq: 9 }, ''],
      [{ afterSeq: 0, limit: 2 }, '13'],
      [{ afterSeq: 0, from: 2, to: 4 }, '3'],
    ]);
  },
  'finds the entry that answered a request': async ({ store, create }) => {
    const entry = sampleEntry(2, { requestId: 'r' });
    await create('s', { entries: [sampleEntry(1, { requestId: 'q' }), entry] });
    await create('other');
    same(await store.log.findRequest('s', 'r'), entry, 'entry');
    same([await store.log.findRequest('s', 'x'), await store.log.findRequest('other', 'r')], [undefined, undefined], 'other requests');
  },
  'reads effects by the start of their keys, and from one on': async ({ store, create, append }) => {
    const keys = ['text/1', 'tool/ä%', 'text/2', 'TEXT/3', 'text/', 'tex'];
    await create('s', { effects: keys.map((key) => sampleEffect(key)) });
    await append('s', 2);
    const read = async (query: object): Promise<string> => {
      const found = await store.log.effects('s', query);
      return [found?.head, ...(found?.effects ?? []).map(({ key }) => key)].join(' ');
    };
    same(
      (await store.log.effects('s'))?.effects,
      keys.map((key) => sampleEffect(key)),
      'effects',
    );
    same(await read({ prefix: 'text/' }), '2 text/1 text/2 text/', 'effects by prefix');
    same(await read({ prefix: 'text/', skip: 1 }), '2 text/2 text/', 'effects from the second on');
    same(await read({ prefix: 'tool/ä%' }), '2 tool/ä%', 'effects by a prefix with odd characters');
    same(await read({ skip: 4 }), '2 text/ tex', 'effects from the fifth on');
    same(await read({ skip: 9 }), '2', 'effects from the tenth on');
    await assertRefused(store.log.effects('s', { skip: -1 }), 'invalid-argument', 'skipping -1');
  },
  'gives odd texts back as they were': async ({ store, create, listIds }) => {
    const odd = ['🦊 \u{1F468}\u200D\u{1F469}', `'"\\;--%_`, ' \t\n\r ', '', 'Ä O\u0308', '\u2028\uFEFFx', 'x'.repeat(1_000_000)];
    for (const [index, text] of odd.entries()) {
      const id = `${index}${text.slice(0, 100)}`;
      const short = text.slice(0, 100);
      const header = sampleHeader(id, { owner: short, tenant: short, tags: [short], details: JSON.stringify(text) });
      const entry = sampleEntry(1, { requestId: short, body: JSON.stringify(text), events: text });
      const effect = { ...sampleEffect(short), body: text };
      await create(id, { header, entries: [entry], effects: [effect] });
      same(await store.log.load(id), { ...owned, header, head: 1, entries: [entry], effects: [effect] }, `session ${index}`);
      same(await store.log.findRequest(id, short), entry, `request ${index}`);
      same(await listIds({ tag: short, owner: short, tenant: short }), [id], `list ${index}`);
    }
  },
};
