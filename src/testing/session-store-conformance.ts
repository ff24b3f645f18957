import type { SessionWrite } from '../sessions/index.ts';
import type { ConformanceCase } from './conformance.ts';
import { holds, same } from './conformance.ts';
import { deletionChecks } from './session-store-deletion.ts';
import { feedChecks, noteChecks } from './session-store-feed.ts';
import { mailChecks } from './session-store-mail.ts';
import { readChecks } from './session-store-reads.ts';
import type { SessionStorePlace, Stage, StoreCheck } from './session-store-sample.ts';
import { newSession, nextEntry, assertRefused, runCheck, sampleEffect, sampleEntry, sampleHeader } from './session-store-sample.ts';
import { watchChecks } from './session-store-watch.ts';
import { writeChecks } from './session-store-writes.ts';

const kindsOfWrites = (epoch: number): Readonly<Record<string, SessionWrite>> => ({
  'a new session': newSession('new', epoch),
  'an entry': nextEntry('s', epoch, 3),
  'a header': { sessionId: 's', epoch, after: 2, header: sampleHeader('s', { owner: 'x' }) },
  'an effect': { sessionId: 's', epoch, after: 2, effects: [sampleEffect('x')] },
  'clearing effects': { sessionId: 's', epoch, after: 2, clearsEffects: true },
  // The claim is looked at first: whoever lost it has nothing to read again.
  'a conflict': nextEntry('s', epoch, 9),
});

/** Every way to use a store. */
const uses = ({ store, create }: Stage): Readonly<Record<string, () => Promise<unknown>>> => ({
  claim: () => store.claims.claim(),
  readClaim: () => store.claims.read(),
  beat: () => store.claims.beat(1),
  release: () => store.claims.release(1),
  write: () => create('new'),
  load: () => store.log.load('s'),
  entries: () => store.log.entries('s'),
  findRequest: () => store.log.findRequest('s', 'r'),
  head: () => store.heads.read('s'),
  list: () => store.heads.list(),
  quarantine: () => store.heads.quarantine('s', 'x'),
  rewrite: () => store.log.rewrite({ sessionId: 's', epoch: 1, after: 1, entries: [] }),
  delete: () => store.log.delete({ sessionId: 's', epoch: 1, at: 1 }),
  effects: () => store.log.effects('s'),
  post: () => store.inbox.post({ sessionId: 's', requestId: 'r', at: 1, body: '' }),
  readMail: () => store.inbox.read(),
  answerMail: () => store.inbox.answer({ epoch: 1, num: 1 }),
  feed: () => store.feed.read(),
  readNote: () => store.notes.read('n'),
  listNotes: () => store.notes.list({ prefix: '' }),
  writeNote: () => store.notes.write({ name: 'n', version: 0, body: '' }),
  watch: async () => store.changes.watch(() => undefined),
});

const lifeChecks: Readonly<Record<string, StoreCheck>> = {
  'gives each claim a higher number': async ({ store, epoch, reopen }) => {
    const other = await (await reopen()).claims.claim();
    const again = await store.claims.claim();
    holds(epoch < other && other < again, `claims were ${epoch}, ${other}, ${again}`);
  },
  'says who holds it, and how often that one gave a sign of life': async ({ store, epoch, reopen }) => {
    const other = await reopen();
    same(await other.claims.read(), { epoch, beats: 0 }, 'claim of a holder that did not say who it is');
    const holder = { id: 'h', name: 'wörker "1"', host: 'a', pid: 7, claimedAt: 1000 };
    const claimed = await store.claims.claim({ holder });
    await store.claims.beat(claimed);
    await store.claims.beat(claimed);
    same(await other.claims.read(), { epoch: claimed, holder, beats: 2 }, 'claim');
    await store.claims.release(claimed);
    same(await other.claims.read(), { epoch: claimed, beats: 0 }, 'claim after it was released');
    await store.log.write(newSession('s', claimed));
  },
  'takes no sign of life from an older claim': async ({ store, epoch, reopen }) => {
    const other = await reopen();
    const holder = { id: 'other', claimedAt: 2000 };
    const claimed = await other.claims.claim({ holder });
    await assertRefused(store.claims.beat(epoch), 'store-fenced', 'a heartbeat');
    await assertRefused(store.claims.release(epoch), 'store-fenced', 'a release');
    same(await store.claims.read(), { epoch: claimed, holder, beats: 0 }, 'claim');
  },
  'refuses a claim that follows another one than the last': async ({ store, epoch, reopen, create }) => {
    const other = await reopen();
    const claims = await Promise.allSettled([store.claims.claim({ after: epoch }), other.claims.claim({ after: epoch })]);
    same(claims.filter(({ status }) => status === 'fulfilled').length, 1, 'claims that were granted');
    const { epoch: last } = await store.claims.read();
    holds(last > epoch, `the last claim is ${last}`);
    await assertRefused(store.claims.claim({ after: epoch }), 'store-fenced', 'a claim');
    same((await store.claims.read()).epoch, last, 'last claim');
    await assertRefused(create('s'), 'store-fenced', 'a write of the first claim');
  },
  'refuses every kind of write of an older claim': async ({ store, epoch, reopen, fill, write, refuses, listIds }) => {
    await fill('s', 2);
    await write('s', 2, { effects: [sampleEffect('a')] });
    const other = await reopen();
    const claimed = await other.claims.claim();
    for (const [name, late] of Object.entries(kindsOfWrites(epoch))) await refuses(() => store.log.write(late), 'store-fenced', name);
    same(await listIds(), ['s'], 'sessions');
    await other.log.write(nextEntry('s', claimed, 3));
    same((await store.log.load('s'))?.head, 3, 'head after the write of the last claim');
  },
  'refuses a write of a claim that nobody made': async ({ store, epoch }) => {
    await assertRefused(store.log.write(newSession('s', epoch + 1)), 'store-fenced', 'a write');
  },
  'lets two stores take turns': async ({ store, reopen, create }) => {
    await create('s');
    const other = await reopen();
    for (let n = 2; n < 8; n += 2) {
      await other.log.write(nextEntry('s', await other.claims.claim(), n));
      await store.log.write({ ...nextEntry('s', await store.claims.claim(), n + 1), header: sampleHeader('s', { owner: `${n}` }) });
    }
    const session = await other.log.load('s');
    same([session?.head, session?.header.owner], [7, '6'], 'head and owner');
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
    for (const id of ids) {
      same(await store.log.load(id), { header: sampleHeader(id, { updatedAt: 10 }), head: 10, entries, effects: [] }, `session ${id}`);
    }
    same((await listIds()).length, ids.length, 'sessions');
  },
  'writes what was asked for before it closes': async ({ store, create, append, reopen }) => {
    const writes = [create('s'), append('s', 2)];
    await Promise.all([store.close(), ...writes]);
    same((await (await reopen()).log.load('s'))?.head, 2, 'head');
  },
  'can be closed twice, and is of no use then': async (stage) => {
    await stage.store.close();
    await stage.store.close();
    for (const [what, use] of Object.entries(uses(stage))) {
      const error = await assertRefused(Promise.resolve().then(use), 'store-unavailable', `${what} of a closed store`);
      same('problem' in error && error.problem, 'closed', 'problem');
    }
    same((await (await stage.reopen()).heads.list()).sessions, [], 'sessions');
  },
};

/** Promises that every implementation of the SessionStore port must keep. Each case gets a place with nothing in it. */
export function sessionStoreConformance(make: () => Promise<SessionStorePlace>): readonly ConformanceCase[] {
  const checks = Object.entries({
    ...writeChecks,
    ...readChecks,
    ...lifeChecks,
    ...mailChecks,
    ...deletionChecks,
    ...watchChecks,
    ...feedChecks,
    ...noteChecks,
  });
  return checks.map(([name, check]) => ({ name, run: async () => runCheck(await make(), check) }));
}
