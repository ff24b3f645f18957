import { describe, expect, test } from 'vitest';
import type { SessionHeader, SessionQuery, SessionStore, SessionWrite } from '../sessions/index.ts';
import type { MemoryPlace } from '../sessions/index.ts';
import { createMemoryPlace, createMemoryStore } from '../sessions/index.ts';
import type { ConformanceCase } from './conformance.ts';
import { sessionStoreConformance } from './session-store-conformance.ts';
import { deletionChecks } from './session-store-deletion.ts';
import { feedChecks, noteChecks } from './session-store-feed.ts';
import { mailChecks } from './session-store-mail.ts';
import { watchChecks } from './session-store-watch.ts';

/** Opens a broken store on a place. */
type Breaking = (place: MemoryPlace) => () => SessionStore;
type Change = (whole: SessionStore) => Partial<SessionStore>;

const whole: Breaking = (place) => () => place.open();
const withChange =
  (change: Change): Breaking =>
  (place) =>
  () => {
    const store = place.open();
    return { ...store, ...change(store) };
  };
const writing = (change: (write: SessionWrite, store: SessionStore) => Promise<SessionWrite> | SessionWrite): Breaking =>
  withChange((store) => ({ log: { ...store.log, write: async (write) => store.log.write(await change(write, store)) } }));
const listing = (change: (query: SessionQuery) => SessionQuery): Breaking =>
  withChange((store) => ({ heads: { ...store.heads, list: (query = {}) => store.heads.list(change(query)) } }));

const alone: Breaking = () => () => createMemoryStore();
const neverRefusing = withChange((store) => ({ log: { ...store.log, write: (write) => store.log.write(write).catch(() => undefined) } }));
const neverClearing = writing(({ clearsEffects: _, ...write }) => write);
const emptyHeader = (id: string): SessionHeader => ({
  id,
  agentName: 'agent',
  tags: [],
  status: 'in_progress',
  isOpen: true,
  createdAt: 1000,
  updatedAt: 1000,
  details: '{}',
});

/** Keeps the part of a write that fits, whatever becomes of the rest. */
const halfWriting = writing(async (write, store) => {
  const head = (await store.log.load(write.sessionId))?.head ?? 0;
  const { sessionId, epoch, header } = write;
  if (head > 0 && header !== undefined) await store.log.write({ sessionId, epoch, after: head, header });
  return write;
});

const clearingFirst = writing(async (write, store) => {
  const { sessionId, epoch } = write;
  const head = (await store.log.load(sessionId))?.head ?? 0;
  if (write.clearsEffects === true) await store.log.write({ sessionId, epoch, after: head, clearsEffects: true });
  return write;
});

const failingTogether = withChange((store) => {
  let broken: Promise<void> | undefined;
  return {
    log: {
      ...store.log,
      write: (write) => {
        const done = broken ?? store.log.write(write);
        done.catch(() => {
          broken = done;
        });
        return Promise.resolve().then(() => broken ?? done);
      },
    },
  };
});

const sharing = withChange((store) => {
  let last: SessionWrite | undefined;
  return {
    log: {
      ...store.log,
      write: (write) => store.log.write((last = write)),
      load: async (id) => {
        const session = await store.log.load(id);
        return session && { ...session, header: last?.header ?? session.header, entries: last?.entries ?? session.entries };
      },
    },
  };
});

/** Remembers pages by how many sessions came before. */
const countingPages = withChange((store) => ({
  heads: {
    ...store.heads,
    list: async ({ cursor = '0', limit = 100, ...query } = {}) => {
      const skipped = Number(cursor);
      const { sessions } = await store.heads.list({ ...query, limit: 1000 });
      const more = skipped + limit < sessions.length;
      return { sessions: sessions.slice(skipped, skipped + limit), ...(more && { cursor: String(skipped + limit) }) };
    },
  },
}));

const broken: Readonly<Record<string, Breaking>> = {
  'keeps all that a write says': writing(({ effects: _, ...write }) => write),
  'keeps what was written for whoever opens the place next': alone,
  'shows another store what is safe': alone,
  'keeps the copy that it was given': sharing,
  'keeps writes of one session in the order in which they were asked for': writing(async (write) => {
    if (write.after === 2) await new Promise((resolve) => setTimeout(resolve));
    return write;
  }),
  'leaves the header where a write has none': writing((write) => ({ ...write, header: write.header ?? emptyHeader(write.sessionId) })),
  'replaces the whole header': writing(async (write, store) => {
    const before = (await store.log.load(write.sessionId))?.header;
    return write.header === undefined ? write : { ...write, header: { ...before, ...write.header } };
  }),
  'replaces the tags that a session is found by': listing(({ tag: _, ...query }) => query),
  'drops effects in the write that records their step': neverClearing,
  'drops effects that were asked for in the same moment': neverClearing,
  'keeps effects where the write that would drop them is refused': clearingFirst,
  'refuses a write that does not follow the last entry, and changes nothing': halfWriting,
  'refuses to make a session that exists': halfWriting,
  'refuses to go on with a session that does not exist': neverRefusing,
  'does not let a refused write fail others': failingTogether,
  'refuses to answer a request twice, and changes nothing': writing(({ entries = [], ...write }) => ({
    ...write,
    entries: entries.map(({ requestId: _, ...entry }) => entry),
  })),
  'refuses an effect that is kept already, and changes nothing': neverRefusing,
  'refuses a write that makes no sense': neverRefusing,
  'says that a session is not there': withChange((store) => ({ log: { ...store.log, entries: () => Promise.reject(new Error('none')) } })),
  'loads a session from its last snapshot on': withChange((store) => ({
    log: {
      ...store.log,
      load: async (id) => {
        const session = await store.log.load(id);
        return session && { ...session, entries: await store.log.entries(id) };
      },
    },
  })),
  'loads a session without a snapshot from the start': withChange((store) => ({
    log: {
      ...store.log,
      load: async (id) => {
        const session = await store.log.load(id);
        return session && { ...session, entries: session.entries.filter(({ n }) => n > 1) };
      },
    },
  })),
  'reads entries from one to another': withChange((store) => ({
    log: { ...store.log, entries: (id, { to: _, ...query } = {}) => store.log.entries(id, query) },
  })),
  'reads entries with events after a number': withChange((store) => ({
    log: { ...store.log, entries: (id, { afterSeq: _, ...query } = {}) => store.log.entries(id, query) },
  })),
  'finds the entry that answered a request': withChange((store) => ({
    log: { ...store.log, findRequest: async (id) => (await store.log.entries(id))[0] },
  })),
  'lists sessions by what they are found by': listing(({ owner: _, ...query }) => query),
  'lists by the last header only': listing(({ wakeBefore: _, ...query }) => query),
  'lists 100 at most unless told otherwise': listing((query) => ({ limit: 1000, ...query })),
  'pages stay as they are while sessions are written': countingPages,
  'pages through what fits': withChange((store) => ({
    heads: {
      ...store.heads,
      list: async (query) => {
        const { cursor: _, ...page } = await store.heads.list(query);
        return page;
      },
    },
  })),
  'refuses a page that makes no sense': listing(({ cursor: _, ...query }) => query),
  'lists a session in quarantine with its damage, and changes nothing of it': withChange((store) => ({
    heads: { ...store.heads, quarantine: () => Promise.resolve() },
  })),
  'takes the note of a damage away again': withChange((store) => ({
    heads: { ...store.heads, quarantine: (id, damage) => (damage === undefined ? Promise.resolve() : store.heads.quarantine(id, damage)) },
  })),
  'gives odd texts back as they were': writing(({ entries = [], ...write }) => ({
    ...write,
    entries: entries.map((entry) => ({ ...entry, body: entry.body.trim().normalize() })),
  })),
  'gives each claim a higher number': withChange((store) => ({ claims: { ...store.claims, claim: () => Promise.resolve(1) } })),
  'says who holds it, and how often that one gave a sign of life': withChange((store) => ({
    claims: { ...store.claims, beat: () => Promise.resolve() },
  })),
  'takes no sign of life from an older claim': withChange((store) => ({
    claims: { ...store.claims, release: () => Promise.resolve(), beat: () => Promise.resolve() },
  })),
  'refuses a claim that follows another one than the last': withChange((store) => ({
    claims: { ...store.claims, claim: ({ after: _, ...request } = {}) => store.claims.claim(request) },
  })),
  'refuses every kind of write of an older claim': (place) => {
    let current = 0;
    return () => {
      const store = place.open();
      return {
        ...store,
        claims: { ...store.claims, claim: async () => (current = await store.claims.claim()) },
        // Only looks at claims if the log grows.
        log: { ...store.log, write: (write) => store.log.write(write.entries === undefined ? { ...write, epoch: current } : write) },
      };
    };
  },
  'refuses a write of a claim that nobody made': (place) => {
    let current = 0;
    return () => {
      const store = place.open();
      return {
        ...store,
        claims: { ...store.claims, claim: async () => (current = await store.claims.claim()) },
        log: { ...store.log, write: (write) => store.log.write({ ...write, epoch: Math.min(current, write.epoch) }) },
      };
    };
  },
  'lets two stores take turns': withChange((store) => {
    const heads = new Map<string, number>();
    return {
      log: {
        ...store.log,
        write: async (write) => {
          const known = heads.get(write.sessionId) ?? write.after;
          await store.log.write({ ...write, after: known });
          heads.set(write.sessionId, known + (write.entries?.length ?? 0));
        },
      },
    };
  }),
  'keeps many writes to many sessions': withChange((store) => {
    let count = 0;
    return { log: { ...store.log, write: async (write) => ((count += 1) % 100 === 0 ? undefined : store.log.write(write)) } };
  }),
  'writes what was asked for before it closes': withChange((store) => {
    let isClosed = false;
    return {
      log: {
        ...store.log,
        write: async (write) => {
          await Promise.resolve();
          if (!isClosed) await store.log.write(write);
        },
      },
      close: async () => {
        isClosed = true;
        await store.close();
      },
    };
  }),
  'can be closed twice, and is of no use then': withChange(() => ({ close: () => Promise.resolve() })),
};

const createSuite = (breaking: Breaking): readonly ConformanceCase[] =>
  sessionStoreConformance(() => {
    const open = breaking(createMemoryPlace());
    return Promise.resolve({ open: () => Promise.resolve(open()) });
  });

async function fails(name: string, breaking: Breaking): Promise<boolean> {
  const found = createSuite(breaking).find((each) => each.name === name);
  if (found === undefined) throw new Error(`There is no case "${name}".`);
  return Promise.resolve()
    .then(found.run)
    .then(
      () => false,
      () => true,
    );
}

describe('the suite of the SessionStore port', () => {
  test.each(Object.entries(broken))('"%s" fails where it is broken, and only there', async (name, breaking) => {
    expect([await fails(name, breaking), await fails(name, whole)]).toStrictEqual([true, false]);
  });

  test('has a store that breaks it for every case', () => {
    const others = new Set(Object.keys({ ...mailChecks, ...deletionChecks, ...watchChecks, ...feedChecks, ...noteChecks }));
    const names = createSuite(whole).map(({ name }) => name);
    expect(names.filter((name) => !others.has(name))).toStrictEqual(Object.keys(broken));
  });

  test('disposes of the place when the stores on it are closed', async () => {
    const told: string[] = [];
    const place = createMemoryPlace();
    const [first] = sessionStoreConformance(() =>
      Promise.resolve({
        open: () => {
          const store = place.open();
          return Promise.resolve({ ...store, close: () => (told.push('close'), store.close()) });
        },
        dispose: () => {
          told.push('dispose');
          return Promise.resolve();
        },
      }),
    );
    await first?.run();
    expect(told).toStrictEqual(['close', 'dispose']);
  });
});
