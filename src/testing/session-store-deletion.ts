import type { LogEntry, SessionStore } from '../sessions/index.ts';
import { holds, same } from './conformance.ts';
import type { StoreCheck } from './session-store-sample.ts';
import { assertRefused, sampleEffect, sampleEntry, sampleHeader } from './session-store-sample.ts';

const post = (store: SessionStore, sessionId: string, requestId = 'r'): Promise<unknown> =>
  store.inbox.post({ sessionId, requestId, at: 1000, body: '{}' });

/** Everything that a store can say about a session. */
const readAll = async (store: SessionStore, sessionId: string): Promise<unknown> => ({
  session: await store.log.load(sessionId),
  entries: await store.log.entries(sessionId),
  answer: await store.log.findRequest(sessionId, 'r'),
  effects: await store.log.effects(sessionId),
  mail: await store.inbox.read({ sessionId }),
  listed: (await store.heads.list()).sessions.find(({ id }) => id === sessionId),
});

const fullEntry = (n: number): LogEntry =>
  sampleEntry(n, { execution: n, step: n + 1, requestId: `r${n}`, events: `["${n}"]`, lastSeq: n * 10 });

/** Promises of a store about the open step, and about texts and sessions that are to be erased. */
export const deletionChecks: Readonly<Record<string, StoreCheck>> = {
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
    same(await store.log.effects('none'), undefined, 'effects of a session that is not there');
    await assertRefused(store.log.effects('s', { skip: -1 }), 'invalid-argument', 'skipping -1');
  },
  'replaces texts of entries, and nothing else': async ({ store, epoch, reopen, create, append }) => {
    const header = sampleHeader('s', { tags: ['a'], details: '{"title":"secret"}' });
    const effects = [sampleEffect('a')];
    await create('s', { header, entries: [1, 2, 3].map(fullEntry), effects });
    const texts = [
      { n: 3, body: '"erased"' },
      { n: 1, body: '"ä"', events: '[]' },
    ];
    await store.log.rewrite({ sessionId: 's', epoch, after: 3, entries: texts });
    const { events: _, ...third } = fullEntry(3);
    const entries = [{ ...fullEntry(1), body: '"ä"', events: '[]' }, fullEntry(2), { ...third, body: '"erased"' }];
    same(await store.log.load('s'), { header, head: 3, entries, effects }, 'session');
    const renamed = sampleHeader('s', { tags: ['b'] });
    const rewrite = {
      sessionId: 's',
      epoch,
      after: 4,
      header: renamed,
      entries: [
        { n: 4, body: '"at once"' },
        { n: 2, body: '2' },
      ],
    };
    await Promise.all([append('s', 4), store.log.rewrite(rewrite)]);
    const session = await (await reopen()).log.load('s');
    same([session?.header, session?.head], [renamed, 4], 'header and head');
    same(
      session?.entries.map(({ body }) => body),
      ['"ä"', '2', '"erased"', '"at once"'],
      'texts',
    );
    same(
      [(await store.log.findRequest('s', 'r2'))?.body, (await store.heads.list({ tag: 'b' })).sessions.length],
      ['2', 1],
      'what is found',
    );
  },
  'refuses a rewrite that does not fit, and changes nothing': async ({ store, epoch, fill, refuses }) => {
    await fill('s', 2);
    const header = sampleHeader('s', { owner: 'x' });
    const entries = [{ n: 1, body: '"x"' }];
    for (const after of [1, 3])
      await refuses(
        () => store.log.rewrite({ sessionId: 's', epoch, after, header, entries }),
        'session-conflict',
        `after entry ${after} of 2`,
      );
    const none = store.log.rewrite({ sessionId: 'none', epoch, after: 1, entries });
    await assertRefused(none, 'session-conflict', 'a session that is not there');
    const missing = { sessionId: 's', epoch, after: 2, header, entries: [...entries, { n: 3, body: '' }] };
    await refuses(() => store.log.rewrite(missing), 'invalid-argument', 'an entry that is not there');
    const twice = { sessionId: 's', epoch, after: 2, entries: [...entries, ...entries] };
    await refuses(() => store.log.rewrite(twice), 'invalid-argument', 'two texts for one entry');
  },
  'removes everything of a deleted session': async ({ store, epoch, reopen, create, listIds }) => {
    const entries = [sampleEntry(1, { requestId: 'r' }), sampleEntry(2)];
    await create('s', { header: sampleHeader('s', { tags: ['a'], owner: 'o' }), entries, effects: [sampleEffect('a')] });
    await create('t', { header: sampleHeader('t', { tags: ['a'] }) });
    await post(store, 's');
    const taken = await store.inbox.post({ sessionId: 't', requestId: 'q', at: 1, body: '' });
    await post(store, 't');
    await store.heads.quarantine('s', 'damaged');
    await store.log.delete({ sessionId: 's', epoch, at: 5000, takesMail: [taken.num] });
    for (const each of [store, await reopen()]) {
      const found = [
        await each.log.entries('s'),
        await each.log.findRequest('s', 'r'),
        await each.log.effects('s'),
        await each.log.effects('s', { prefix: 'a' }),
      ];
      same(found, [[], undefined, undefined, undefined], 'what is left');
      same(
        (await each.inbox.read()).map(({ sessionId, requestId }) => sessionId + requestId),
        ['tr'],
        'mails',
      );
      same(
        await assertRefused(each.log.load('s'), 'session-deleted', 'loading it').then((error) => 'deletedAt' in error && error.deletedAt),
        5000,
        'time',
      );
    }
    same([await listIds(), await listIds({ tag: 'a' }), await listIds({ owner: 'o' })], [['t'], ['t'], []], 'sessions');
  },
  'never uses the id of a deleted session again': async ({ store, epoch, reopen, create, append, listIds }) => {
    await create('s');
    await store.log.delete({ sessionId: 's', epoch, at: 1000 });
    await store.log.delete({ sessionId: 'never', epoch, at: 1000 });
    await store.log.delete({ sessionId: 's', epoch, at: 2000 });
    const other = await reopen();
    for (const id of ['s', 'never']) {
      const uses: Readonly<Record<string, () => Promise<unknown>>> = {
        creating: () => create(id),
        writing: () => append(id, 2),
        rewriting: () => store.log.rewrite({ sessionId: id, epoch, after: 1, entries: [] }),
        posting: () => post(other, id),
        loading: () => other.log.load(id),
      };
      for (const [name, use] of Object.entries(uses)) {
        const error = await assertRefused(use(), 'session-deleted', `${name} it`);
        same('deletedAt' in error && error.deletedAt, 1000, 'time of the first deletion');
      }
      await store.heads.quarantine(id, 'x');
    }
    same([await listIds(), await store.inbox.read()], [[], []], 'sessions and mails');
    await (await reopen()).claims.claim();
    await assertRefused(create('s'), 'store-fenced', 'a write of an older claim');
  },
  'leaves other sessions, and pages of them, as they are when one is deleted': async ({ store, epoch, create, append, listIds }) => {
    for (const id of ['a', 'b', 'c', 'd', 'e'])
      await create(id, { effects: [sampleEffect('x')], entries: [sampleEntry(1, { requestId: 'r' })] });
    await post(store, 'b');
    const before = await readAll(store, 'b');
    const first = await store.heads.list({ limit: 2 });
    for (const sessionId of ['c', 'd', 'e']) await store.log.delete({ sessionId, epoch, at: 1000 });
    same(await readAll(store, 'b'), before, 'another session');
    const second = await store.heads.list({ limit: 1, cursor: first.cursor ?? '' });
    const third = await store.heads.list({ limit: 1, cursor: second.cursor ?? '' });
    const ids = [second, third].map(({ sessions }) => sessions.map(({ id }) => id).join());
    same([ids, third.cursor], [['b', 'a'], undefined], 'pages after the first');
    await create('f');
    await append('b', 2);
    same(
      [await listIds(), await listIds({ limit: 1 })],
      [
        ['f', 'b', 'a'],
        ['f', 'b', 'a'],
      ],
      'sessions',
    );
    same(
      (await store.heads.list()).sessions.filter(({ damage }) => damage !== undefined),
      [],
      'damage',
    );
    same([(await store.log.load('f'))?.head, (await store.log.load('b'))?.head], [1, 2], 'heads');
  },
  'deletes what was asked for in the same moment': async ({ store, epoch, reopen, create, append, listIds }) => {
    await create('old');
    const deleteBoth = ['new', 'old'].map((sessionId) => ({ sessionId, epoch, at: 1000 }));
    const before = [create('new'), append('new', 2), append('old', 2), post(store, 'new'), post(store, 'old')];
    const deletions = deleteBoth.map((deletion) => store.log.delete(deletion));
    const late = ['new', 'old'].map((id) => assertRefused(post(store, id, 'late'), 'session-deleted', 'a mail behind the deletion'));
    const again = assertRefused(create('new'), 'session-deleted', 'creating it behind the deletion');
    await Promise.all([...before, ...deletions, ...late, again]);
    await create('next');
    const other = await reopen();
    same([await listIds(), await other.inbox.read(), (await other.log.load('next'))?.head], [['next'], [], 1], 'what is left');
    await assertRefused(other.log.load('new'), 'session-deleted', 'loading it');
  },
  'refuses rewrites and deletions of an older claim': async ({ store, epoch, reopen, fill, refuses, listIds }) => {
    await fill('s', 2);
    await (await reopen()).claims.claim();
    const rewrite = { sessionId: 's', epoch, after: 2, entries: [{ n: 1, body: '' }] };
    await refuses(() => store.log.rewrite(rewrite), 'store-fenced', 'a rewrite');
    await refuses(() => store.log.delete({ sessionId: 's', epoch, at: 1 }), 'store-fenced', 'a deletion');
    await refuses(
      () => store.log.delete({ sessionId: 'none', epoch, at: 1 }),
      'store-fenced',
      'the deletion of a session that is not there',
    );
    holds((await store.log.load('none')) === undefined, 'a refused deletion left something behind');
    same(await listIds(), ['s'], 'sessions');
  },
};
