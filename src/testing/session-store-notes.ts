import type { SessionStore } from '../sessions/index.ts';
import { same } from './conformance.ts';
import type { StoreCheck } from './session-store-sample.ts';
import { assertRefused } from './session-store-sample.ts';

/** Promises of a store about the notes that processes share. */
export const noteChecks: Readonly<Record<string, StoreCheck>> = {
  'keeps a note, and counts the times that it was written': async ({ store, reopen }) => {
    same(await store.notes.read('n'), undefined, 'a note that is not there');
    same(await store.notes.write({ name: 'n', version: 0, body: 'ä "1"' }), true, 'a new note');
    const other = await reopen();
    same(await other.notes.read('n'), { name: 'n', version: 1, body: 'ä "1"' }, 'note');
    same(await other.notes.write({ name: 'n', version: 1, body: '' }), true, 'a note that is replaced');
    same(await store.notes.read('n'), { name: 'n', version: 2, body: '' }, 'note that was replaced');
  },
  'writes no note whose version is another': async ({ store, reopen }) => {
    const other = await reopen();
    const wrote = await Promise.all([store, other].map((each, index) => each.notes.write({ name: 'n', version: 0, body: `${index}` })));
    same(wrote.filter(Boolean).length, 1, 'writers of a new note that won');
    const before = await store.notes.read('n');
    for (const version of [0, 2])
      same(await store.notes.write({ name: 'n', version, body: 'late' }), false, `writing after version ${version}`);
    same(await store.notes.write({ name: 'n', version: 2 }), false, 'removing after version 2');
    same(await store.notes.write({ name: 'none', version: 1, body: 'x' }), false, 'replacing a note that is not there');
    same([await store.notes.read('n'), await store.notes.read('none')], [before, undefined], 'notes');
    const again = await Promise.all([store, other].map((each, index) => each.notes.write({ name: 'n', version: 1, body: `${index}` })));
    same(again.filter(Boolean).length, 1, 'writers of a new version that won');
  },
  'removes a note': async ({ store, reopen }) => {
    await store.notes.write({ name: 'n', version: 0, body: '1' });
    same(await store.notes.write({ name: 'n', version: 1 }), true, 'removing');
    same(await (await reopen()).notes.read('n'), undefined, 'note');
    same(await store.notes.write({ name: 'n', version: 0, body: '2' }), true, 'a note of the same name');
  },
  'lists notes by the start of their names': async ({ store }) => {
    for (const name of ['b/2', 'a/1', 'b/1', 'b', 'b/%', 'B/1', 'b/3']) await store.notes.write({ name, version: 0, body: name });
    const list = async (query: Parameters<SessionStore['notes']['list']>[0]): Promise<readonly string[]> =>
      (await store.notes.list(query)).map(({ body }) => body);
    same(await list({ prefix: 'b/' }), ['b/%', 'b/1', 'b/2', 'b/3'], 'notes');
    same(await list({ prefix: 'b/', limit: 2 }), ['b/%', 'b/1'], 'first page');
    same(await list({ prefix: 'b/', after: 'b/1', limit: 2 }), ['b/2', 'b/3'], 'second page');
    same(await list({ prefix: 'none' }), [], 'notes that are not there');
  },
  'removes the notes about a session with it, and takes no more of them': async ({ store, create, reopen }) => {
    await create('s');
    const other = await reopen();
    const about = (name: string, sessionId: string) => ({ name, version: 0, body: name, sessionId });
    for (const note of [about('n/1', 's'), about('n/2', 't'), { name: 'n/3', version: 0, body: 'n/3' }])
      same(await store.notes.write(note), true, `writing ${note.name}`);
    same(await other.notes.read('n/1'), { name: 'n/1', version: 1, body: 'n/1', sessionId: 's' }, 'a note about a session');
    same(await other.notes.write({ ...about('n/1', 's'), version: 1, body: 'new' }), true, 'replacing it');
    same(await other.notes.write({ ...about('n/1', 's'), version: 1 }), false, 'replacing it after an earlier version');
    const list = async (): Promise<string> => (await other.notes.list({ prefix: 'n/' })).map(({ body }) => body).join(' ');
    same(await list(), 'new n/2 n/3', 'notes');
    await store.log.delete({ sessionId: 's', at: 1000 });
    same(await list(), 'n/2 n/3', 'notes after the deletion');
    for (const each of [store, other]) await assertRefused(each.notes.write(about('n/1', 's')), 'session-deleted', 'a note about it');
    same(await store.notes.write({ name: 'n/2', version: 1, sessionId: 't' }), true, 'removing a note about another session');
    same(await list(), 'n/3', 'notes that are left');
  },
  'ties a note to a session that it did not name before': async ({ store, create, reopen }) => {
    await create('s');
    await store.notes.write({ name: 'n', version: 0, body: '1' });
    same(await store.notes.write({ name: 'n', version: 0, body: '2', sessionId: 's' }), false, 'a new note of the same name');
    same(await store.notes.write({ name: 'n', version: 1, body: '2', sessionId: 's' }), true, 'tying it');
    same(await (await reopen()).notes.list({ prefix: 'n' }), [{ name: 'n', version: 2, body: '2', sessionId: 's' }], 'notes');
    await store.log.delete({ sessionId: 's', at: 1000 });
    same(await store.notes.read('n'), undefined, 'the note after the deletion');
  },
  'refuses a note that makes no sense': async ({ store }) => {
    for (const version of [-1, 0.5, Number.NaN])
      await assertRefused(store.notes.write({ name: 'n', version, body: '' }), 'invalid-argument', `the version ${version}`);
    await assertRefused(store.notes.list({ prefix: '', limit: 0 }), 'invalid-argument', 'a limit of 0');
  },
};
