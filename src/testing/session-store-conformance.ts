import type { SessionStore } from '../sessions/index.ts';
import { same } from './conformance.ts';
import type { ConformanceCase } from './conformance.ts';
import { changeChecks } from './session-store-changes.ts';
import { claimChecks } from './session-store-claims.ts';
import { deletionChecks } from './session-store-deletion.ts';
import { feedChecks } from './session-store-feed.ts';
import { headChecks } from './session-store-heads.ts';
import { inboxChecks } from './session-store-inbox.ts';
import { leaseChecks } from './session-store-leases.ts';
import { noteChecks } from './session-store-notes.ts';
import { readChecks } from './session-store-reads.ts';
import type { SessionStorePlace, Stage, StoreCheck } from './session-store-sample.ts';
import { assertRefused, runCheck, sampleMail, sampleWorker } from './session-store-sample.ts';
import { writeChecks } from './session-store-writes.ts';

/** Every way to use a store. */
const uses = ({ store, create, claim }: Stage): Readonly<Record<string, () => Promise<unknown>>> => ({
  write: () => create('new'),
  load: () => store.log.load('s'),
  entries: () => store.log.entries('s'),
  findRequest: () => store.log.findRequest('s', 'r'),
  effects: () => store.log.effects('s'),
  delete: () => store.log.delete({ sessionId: 's', at: 1 }),
  head: () => store.heads.read('s'),
  list: () => store.heads.list(),
  quarantine: () => store.heads.quarantine('s', 'x'),
  join: () => store.leases.join(sampleWorker('v'), { room: 1 }),
  beat: () => store.leases.beat('w', 1),
  workers: () => store.leases.workers(),
  free: () => store.leases.free(),
  'free one': () => store.leases.free({ worker: 'w', beats: 1 }),
  claim: () => claim('w'),
  leave: () => store.leases.leave('w'),
  'leave one': () => store.leases.leave('w', ['s']),
  post: () => store.inbox.post(sampleMail('r')),
  readMail: () => store.inbox.read(),
  prune: () => store.inbox.prune(1),
  feed: () => store.feed.read(),
  readNote: () => store.notes.read('n'),
  listNotes: () => store.notes.list({ prefix: '' }),
  writeNote: () => store.notes.write({ name: 'n', version: 0, body: '' }),
  watch: async () => store.changes.watch(() => undefined),
});

/** Promises of a store about its end. */
export const closeChecks: Readonly<Record<string, StoreCheck>> = {
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

/** The cases of each port, and those about the end of a store. A case that needs several ports stands where the promise is. */
const storeChecks: Readonly<Record<keyof SessionStore, Readonly<Record<string, StoreCheck>>>> = {
  log: { ...writeChecks, ...readChecks, ...deletionChecks },
  heads: headChecks,
  leases: { ...leaseChecks, ...claimChecks },
  inbox: inboxChecks,
  notes: noteChecks,
  feed: feedChecks,
  changes: changeChecks,
  close: closeChecks,
};

/**
 * Promises that every implementation of the SessionStore port must keep: a suite for each of its ports, and one for its end. `port` names
 * the suite that a case belongs to. Each case gets a place with nothing in it.
 */
export const sessionStoreConformance = (
  make: () => Promise<SessionStorePlace>,
): readonly (ConformanceCase & { readonly port: keyof SessionStore })[] =>
  Object.entries(storeChecks).flatMap(([port, checks]) =>
    // Holds: the names of the suites are the keys of a store.
    Object.entries(checks).map(([name, check]) => ({
      port: port as keyof SessionStore,
      name,
      run: async () => runCheck(await make(), check),
    })),
  );
