import type { SessionStore, SessionWrite } from '../sessions/index.ts';
import type { ConformanceCase } from './conformance.ts';
import { holds, same } from './conformance.ts';
import { readChecks } from './session-store-reads.ts';
import type { SessionStorePlace, StoreCheck } from './session-store-sample.ts';
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
import { writeChecks } from './session-store-writes.ts';

const kindsOfWrites = (epoch: number): Readonly<Record<string, SessionWrite>> => ({
  'a new session': making('new', epoch),
  'an entry': adding('s', epoch, 3),
  'a header': { sessionId: 's', epoch, after: 2, header: sampleHeader('s', { owner: 'x' }) },
  'an effect': { sessionId: 's', epoch, after: 2, effects: [sampleEffect('x')] },
  'clearing effects': { sessionId: 's', epoch, after: 2, clearsEffects: true },
  // The claim is looked at first: whoever lost it has nothing to read again.
  'a conflict': adding('s', epoch, 9),
});

/** Every way to use a store. */
const uses = (store: SessionStore, epoch: number): Readonly<Record<string, () => Promise<unknown>>> => ({
  claim: () => store.claim(),
  write: () => store.write(making('new', epoch)),
  load: () => store.load('s'),
  entries: () => store.entries('s'),
  findRequest: () => store.findRequest('s', 'r'),
  list: () => store.list(),
  quarantine: () => store.quarantine('s', 'x'),
});

const lifeChecks: Readonly<Record<string, StoreCheck>> = {
  'gives each claim a higher number': async ({ store, epoch, reopen }) => {
    const other = await (await reopen()).claim();
    const again = await store.claim();
    holds(epoch < other && other < again, `claims were ${epoch}, ${other}, ${again}`);
  },
  'refuses every kind of write of an older claim': async (stage) => {
    const { store, epoch } = stage;
    await makeSession(stage, 's', 2);
    await store.write({ sessionId: 's', epoch, after: 2, effects: [sampleEffect('a')] });
    const other = await stage.reopen();
    const claimed = await other.claim();
    for (const [what, write] of Object.entries(kindsOfWrites(epoch))) {
      await changesNothing(stage, 's', () => refused(store.write(write), 'store-fenced', what));
    }
    same(await listedIds(store), ['s'], 'sessions');
    await other.write(adding('s', claimed, 3));
    same((await store.load('s'))?.head, 3, 'head after the write of the last claim');
  },
  'refuses a write of a claim that nobody made': async ({ store, epoch }) => {
    await refused(store.write(making('s', epoch + 1)), 'store-fenced', 'a write');
  },
  'lets two stores take turns': async (stage) => {
    const { store } = stage;
    await makeSession(stage, 's');
    const other = await stage.reopen();
    for (let n = 2; n < 8; n += 2) {
      await other.write(adding('s', await other.claim(), n));
      await store.write({ ...adding('s', await store.claim(), n + 1), header: sampleHeader('s', { owner: `${n}` }) });
    }
    const session = await other.load('s');
    same([session?.head, session?.header.owner], [7, '6'], 'head and owner');
  },
  'keeps many writes to many sessions': async ({ store, epoch }) => {
    const ids = Array.from({ length: 40 }, (_, index) => `s${index}`);
    const writeAll = async (id: string): Promise<void> => {
      await store.write(making(id, epoch));
      for (let n = 2; n <= 10; n += 1) {
        const effects = (phase: 'intent' | 'result'): SessionWrite => ({
          sessionId: id,
          epoch,
          after: n - 1,
          effects: [sampleEffect(`${n}`, phase)],
        });
        const step = { ...adding(id, epoch, n), clearsEffects: true, header: sampleHeader(id, { updatedAt: n }) };
        if (n % 2 === 0) await store.write(effects('intent'));
        await Promise.all([store.write(effects('result')), store.write(step)]);
      }
    };
    await Promise.all(ids.map(writeAll));
    const entries = Array.from({ length: 10 }, (_, index) => sampleEntry(index + 1));
    for (const id of ids) {
      sameData(await store.load(id), { header: sampleHeader(id, { updatedAt: 10 }), head: 10, entries, effects: [] }, `session ${id}`);
    }
    same((await listedIds(store)).length, ids.length, 'sessions');
  },
  'writes what was asked for before it closes': async (stage) => {
    const { store, epoch } = stage;
    const writes = [store.write(making('s', epoch)), store.write(adding('s', epoch, 2))];
    await Promise.all([store.close(), ...writes]);
    same((await (await stage.reopen()).load('s'))?.head, 2, 'head');
  },
  'can be closed twice, and is of no use then': async ({ store, epoch, reopen }) => {
    await store.close();
    await store.close();
    for (const [what, use] of Object.entries(uses(store, epoch))) {
      const error = await refused(Promise.resolve().then(use), 'store-unavailable', `${what} of a closed store`);
      same('problem' in error && error.problem, 'closed', 'problem');
    }
    same(await listedIds(await reopen()), [], 'sessions');
  },
};

const checks: Readonly<Record<string, StoreCheck>> = { ...writeChecks, ...readChecks, ...lifeChecks };

async function runOn(place: SessionStorePlace, check: StoreCheck): Promise<void> {
  const opened: SessionStore[] = [];
  const reopen = async (): Promise<SessionStore> => {
    const store = await place.open();
    opened.push(store);
    return store;
  };
  try {
    const store = await reopen();
    await check({ store, epoch: await store.claim(), reopen });
  } finally {
    for (const store of opened) await store.close();
    await place.dispose?.();
  }
}

/** What every implementation of the SessionStore port must do. Each case is given a place with nothing in it. */
export function sessionStoreConformance(make: () => Promise<SessionStorePlace>): readonly ConformanceCase[] {
  return Object.entries(checks).map(([name, check]) => ({ name, run: async () => runOn(await make(), check) }));
}
