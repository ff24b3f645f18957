import { systemClock } from '../lib/index.ts';
import type { SessionStore, StoreChange } from '../sessions/index.ts';
import { same } from './conformance.ts';
import { ConformanceError } from './conformance-error.ts';
import type { Stage, StoreCheck } from './session-store-sample.ts';
import { sampleEffect, sampleHeader } from './session-store-sample.ts';

// Much longer than a store may take.
const longestWaitMs = 2500;

interface ExpectedChange {
  readonly hasMail: boolean;
  readonly worker?: string;
}

/** Somebody who watches a store. */
interface Listener {
  /** Changes since the last one that was waited for. */
  readonly changes: StoreChange[];
  readonly stop: () => void;
  /** Waits for a change that may be of this session, and, with a worker, that is for this worker too. */
  readonly hear: (sessionId: string, expected: ExpectedChange, name: string) => Promise<void>;
}

function listen(store: SessionStore): Listener {
  const changes: StoreChange[] = [];
  let check = (): void => undefined;
  const stop = store.changes.watch((change) => {
    changes.push(change);
    check();
  });
  return {
    changes,
    stop,
    hear: async (sessionId, { hasMail, worker }, name) => {
      const fits = (change: StoreChange): boolean =>
        (change.sessionIds === undefined || change.sessionIds.includes(sessionId)) &&
        (change.hasMail || !hasMail) &&
        (worker === undefined || change.workers?.includes(worker) !== false);
      await new Promise<void>((resolve, reject) => {
        const cancel = systemClock.schedule(longestWaitMs, () => {
          reject(new ConformanceError(`nobody was called back within ${longestWaitMs} ms of ${name}, but with ${JSON.stringify(changes)}`));
        });
        check = () => {
          if (!changes.some(fits)) return;
          cancel();
          resolve();
        };
        check();
      });
      changes.length = 0;
    },
  };
}

interface Use extends Partial<ExpectedChange> {
  readonly run: () => Promise<unknown>;
}

/** Everything that changes what others can read, in an order that works. The worker `v` is there to take over. */
function listChanges({ store, create, createFree, append, write, post, claim, freeWorker }: Stage): Readonly<Record<string, Use>> {
  const claimFor = (worker: string, work: () => Promise<unknown>) => async (): Promise<unknown> => {
    await claim(worker);
    return work();
  };
  return {
    'a new session': { run: () => create('s') },
    'an entry': { run: () => append('s', 2) },
    'an effect': { run: () => write('s', 2, { effects: [sampleEffect('a')] }) },
    'a rewrite': { run: () => write('s', 2, { rewrites: [{ n: 1, body: '""' }] }) },
    'a mail for the worker that owns the session': { run: () => post('r'), hasMail: true, worker: 'w' },
    'a reply': { run: () => write('s', 2, { mail: { num: 1, reply: '""' } }) },
    'a session that goes to rest': { run: () => write('s', 2, { keepsLease: false, header: sampleHeader('s', { isOpen: false }) }) },
    'a mail for a session at rest': { run: () => post('q'), hasMail: true, worker: 'v' },
    'an announced note': { run: () => store.notes.write({ name: 'n', version: 0, body: '', isAnnounced: true }) },
    'an announced note that is removed': { run: () => store.notes.write({ name: 'n', version: 1, isAnnounced: true }) },
    'a note of damage': { run: () => store.heads.quarantine('s', 'x') },
    'no note of damage': { run: () => store.heads.quarantine('s', undefined) },
    'a session that is left': { run: claimFor('w', () => store.leases.leave('w', ['s'])), hasMail: true, worker: 'v' },
    'a session that is freed': { run: claimFor('w', () => freeWorker('w')), hasMail: true, worker: 'v' },
    'a session that a worker leaves with': { run: claimFor('v', () => store.leases.leave('v')), hasMail: true },
    'a new session that is ready': { run: () => createFree('t'), hasMail: true },
    'a deletion': { run: () => store.log.delete({ sessionId: 's', at: 1 }), hasMail: true },
  };
}

async function expectAllChanges(watched: SessionStore, stage: Stage): Promise<void> {
  const listener = listen(watched);
  await stage.join('v');
  // From here on, the watch has begun.
  await watched.heads.list();
  for (const [name, { run, hasMail = false, worker }] of Object.entries(listChanges(stage))) {
    await run();
    const sessionId = name === 'a new session that is ready' ? 't' : 's';
    await listener.hear(sessionId, { hasMail, ...(worker !== undefined && { worker }) }, name);
  }
}

/** Promises of a store to those who watch it. */
export const changeChecks: Readonly<Record<string, StoreCheck>> = {
  'calls those who watch after each change': async (stage) => expectAllChanges(stage.store, stage),
  'calls those who watch after each change of another store': async (stage) => expectAllChanges(await stage.reopen(), stage),
  'calls nobody who has left, or whose store is closed': async ({ store, reopen, create }) => {
    const [other, third] = [await reopen(), await reopen()];
    const [gone, closed] = [listen(store), listen(other)];
    const [here, there] = [listen(store), listen(third)];
    await Promise.all([other.heads.list(), third.heads.list()]);
    await create('s');
    for (const each of [gone, closed, here, there]) await each.hear('s', { hasMail: false }, 'a new session');
    gone.stop();
    gone.stop();
    await other.close();
    await create('t');
    for (const each of [here, there]) await each.hear('t', { hasMail: false }, 'a second session');
    same([gone.changes, closed.changes], [[], []], 'changes that those who left were called with');
  },
  'is not harmed by a listener that throws': async ({ store, reopen, create }) => {
    const other = await reopen();
    for (const each of [store, other])
      each.changes.watch(() => {
        throw new Error('a listener failed');
      });
    const [here, there] = [listen(store), listen(other)];
    await other.heads.list();
    await create('s');
    for (const each of [here, there]) await each.hear('s', { hasMail: false }, 'a new session');
    await create('t');
    for (const each of [here, there]) await each.hear('t', { hasMail: false }, 'a second session');
    same((await other.log.load('t'))?.head, 1, 'head');
  },
};
