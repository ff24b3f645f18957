import { systemClock } from '../lib/index.ts';
import type { SessionStore, StoreChange } from '../sessions/index.ts';
import { same } from './conformance.ts';
import { ConformanceError } from './conformance-error.ts';
import type { Stage, StoreCheck } from './session-store-sample.ts';
import { newSession, nextEntry, sampleEffect } from './session-store-sample.ts';

// Much longer than a store may take.
const longestWaitMs = 2500;

/** Somebody who watches a store. */
interface Listener {
  /** Changes since the last one that was waited for. */
  readonly changes: StoreChange[];
  readonly stop: () => void;
  /** Waits for a change that may be of this session. */
  readonly hear: (sessionId: string, expected: { readonly hasMail: boolean }, name: string) => Promise<void>;
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
    hear: async (sessionId, { hasMail }, name) => {
      const fits = (change: StoreChange): boolean =>
        (change.sessionIds === undefined || change.sessionIds.includes(sessionId)) && (change.hasMail || !hasMail);
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

interface Use {
  readonly run: () => Promise<unknown>;
  readonly hasMail?: boolean;
}

/** Everything that changes what others can read, in an order that works. */
function listChanges(store: SessionStore, epoch: number): Readonly<Record<string, Use>> {
  let num = 0;
  const mail = { sessionId: 's', at: 1, body: '{}' };
  return {
    'a new session': { run: () => store.log.write(newSession('s', epoch)) },
    'an entry': { run: () => store.log.write(nextEntry('s', epoch, 2)) },
    'an effect': { run: () => store.log.write({ sessionId: 's', epoch, after: 2, effects: [sampleEffect('a')] }) },
    'a rewrite': { run: () => store.log.rewrite({ sessionId: 's', epoch, after: 2, entries: [{ n: 1, body: '""' }] }) },
    'a mail': { run: async () => ({ num } = await store.inbox.post({ ...mail, requestId: 'r' })), hasMail: true },
    'a reply': { run: () => store.inbox.answer({ epoch, num, reply: '""' }) },
    'an announced note': { run: () => store.notes.write({ name: 'n', version: 0, body: '', isAnnounced: true }) },
    'an announced note that is removed': { run: () => store.notes.write({ name: 'n', version: 1, isAnnounced: true }) },
    'a note of damage': { run: () => store.heads.quarantine('s', 'x') },
    'a deletion': { run: () => store.log.delete({ sessionId: 's', epoch, at: 1 }) },
  };
}

async function expectAllChanges(watched: SessionStore, { store, epoch }: Pick<Stage, 'store' | 'epoch'>): Promise<void> {
  const listener = listen(watched);
  // From here on, the watch has begun.
  await watched.heads.list();
  for (const [name, { run, hasMail = false }] of Object.entries(listChanges(store, epoch))) {
    await run();
    await listener.hear('s', { hasMail }, name);
  }
}

/** Promises of a store to those who watch it. */
export const watchChecks: Readonly<Record<string, StoreCheck>> = {
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
