import { describe, expect, test } from 'vitest';
import type { Mail, MemoryPlace, SessionStore, StoreChange } from '../sessions/index.ts';
import { createMemoryPlace, createMemoryStore } from '../sessions/index.ts';
import type { StoreCheck } from './session-store-sample.ts';
import { runCheck } from './session-store-sample.ts';
import { deletionChecks } from './session-store-deletion.ts';
import { mailChecks } from './session-store-mail.ts';
import { watchChecks } from './session-store-watch.ts';

/** Opens a broken store on a place. */
type Breaking = (place: MemoryPlace) => SessionStore;

const withChange =
  (change: (whole: SessionStore) => Partial<SessionStore>): Breaking =>
  (place) => {
    const store = place.open();
    return { ...store, ...change(store) };
  };
const withoutFencing =
  <Request extends { readonly epoch: number }>(store: SessionStore, work: (request: Request) => Promise<void>) =>
  async (request: Request): Promise<void> =>
    work({ ...request, epoch: (await store.claims.read()).epoch });

const broken: Readonly<Record<string, Breaking>> = {
  'keeps a mail until a write takes it': withChange((store) => ({
    log: { ...store.log, write: ({ takesMail: _, ...write }) => store.log.write(write) },
  })),
  'numbers mails in the order in which they were posted, and no two alike': withChange((store) => ({
    inbox: {
      ...store.inbox,
      post: async (mail) => {
        const posted = await store.inbox.post(mail);
        return { ...posted, num: (await store.inbox.read()).length };
      },
    },
  })),
  'keeps one mail for each request of a session': withChange((store) => {
    let count = 0;
    return { inbox: { ...store.inbox, post: (mail) => store.inbox.post({ ...mail, requestId: `${mail.requestId}${(count += 1)}` }) } };
  }),
  'takes mail from stores without a claim, for sessions that do not exist yet': withChange((store) => ({
    inbox: {
      ...store.inbox,
      post: async (mail) => {
        if ((await store.log.load(mail.sessionId)) === undefined) throw new Error('There is no such session.');
        return store.inbox.post(mail);
      },
    },
  })),
  'keeps a mail if the write that takes it is refused': withChange((store) => ({
    log: {
      ...store.log,
      write: async (write) => {
        for (const num of write.takesMail ?? []) await store.inbox.answer({ epoch: write.epoch, num });
        await store.log.write(write);
      },
    },
  })),
  'keeps the reply to a mail until the mail is removed': withChange((store) => ({
    inbox: { ...store.inbox, answer: ({ epoch, num }) => store.inbox.answer({ epoch, num }) },
  })),
  'refuses the reply of an older claim': withChange((store) => ({
    inbox: { ...store.inbox, answer: withoutFencing(store, store.inbox.answer) },
  })),
  'finds mails by what is asked for': withChange((store) => ({
    inbox: { ...store.inbox, read: ({ isWaiting: _, ...query } = {}) => store.inbox.read(query) },
  })),
  'refuses a mail that makes no sense': withChange((store) => ({
    inbox: { ...store.inbox, post: (mail) => store.inbox.post({ ...mail, at: 1 }) },
  })),

  'reads effects by the start of their keys, and from one on': withChange((store) => ({
    log: { ...store.log, effects: (id, { skip: _, ...query } = {}) => store.log.effects(id, query) },
  })),
  'replaces texts of entries, and nothing else': withChange((store) => ({
    log: {
      ...store.log,
      rewrite: (rewrite) => store.log.rewrite({ ...rewrite, entries: rewrite.entries.map((entry) => ({ events: '[]', ...entry })) }),
    },
  })),
  'refuses a rewrite that does not fit, and changes nothing': withChange((store) => ({
    log: {
      ...store.log,
      rewrite: async (rewrite) => {
        const { sessionId, epoch, header } = rewrite;
        const head = (await store.log.load(sessionId))?.head ?? 0;
        if (head > 0 && header !== undefined) await store.log.write({ sessionId, epoch, after: head, header });
        await store.log.rewrite(rewrite);
      },
    },
  })),
  'removes everything of a deleted session': withChange((store) => {
    const left: Mail[] = [];
    return {
      log: {
        ...store.log,
        delete: async (deletion) => {
          left.push(...(await store.inbox.read({ sessionId: deletion.sessionId })));
          await store.log.delete(deletion);
        },
      },
      inbox: { ...store.inbox, read: async (query) => [...left, ...(await store.inbox.read(query))] },
    };
  }),
  'never uses the id of a deleted session again': withChange((store) => ({
    inbox: { ...store.inbox, post: async (mail) => store.inbox.post(mail).catch(() => ({ ...mail, num: 1 })) },
  })),
  'leaves other sessions, and pages of them, as they are when one is deleted': withChange((store) => ({
    heads: {
      ...store.heads,
      list: async ({ cursor = '0', limit = 100, ...query } = {}) => {
        const skipped = Number(cursor);
        const { sessions } = await store.heads.list({ ...query, limit: 1000 });
        const hasMore = skipped + limit < sessions.length;
        return { sessions: sessions.slice(skipped, skipped + limit), ...(hasMore && { cursor: String(skipped + limit) }) };
      },
    },
  })),
  'deletes what was asked for in the same moment': withChange((store) => ({
    log: {
      ...store.log,
      delete: async (deletion) => {
        await new Promise((resolve) => setTimeout(resolve));
        await store.log.delete(deletion);
      },
    },
  })),
  'refuses rewrites and deletions of an older claim': withChange((store) => ({
    log: { ...store.log, delete: withoutFencing(store, store.log.delete) },
  })),

  'calls those who watch after each change': withChange((store) => ({
    changes: { ...store.changes, watch: (listener) => store.changes.watch((change) => (change.hasMail ? undefined : listener(change))) },
  })),
  'calls those who watch after each change of another store': () => createMemoryStore(),
  'calls nobody who has left, or whose store is closed': withChange((store) => ({
    changes: {
      ...store.changes,
      watch: (listener) => {
        store.changes.watch(listener);
        return () => undefined;
      },
    },
  })),
  'is not harmed by a listener that throws': withChange((store) => {
    const listeners: ((change: StoreChange) => void)[] = [];
    return {
      changes: {
        ...store.changes,
        watch: (listener) => {
          listeners.push(listener);
          return () => undefined;
        },
      },
      log: {
        ...store.log,
        write: async (write) => {
          await store.log.write(write);
          for (const listener of listeners) listener({ sessionIds: [write.sessionId], hasMail: false });
        },
      },
    };
  }),
};

const checks: Readonly<Record<string, StoreCheck>> = { ...mailChecks, ...deletionChecks, ...watchChecks };

async function fails(name: string, breaking: Breaking): Promise<boolean> {
  const check = checks[name];
  if (check === undefined) throw new Error(`There is no case "${name}".`);
  const place = createMemoryPlace();
  return runCheck({ open: () => Promise.resolve(breaking(place)) }, check).then(
    () => false,
    () => true,
  );
}

describe('the suite of the SessionStore port, for mails, deletions and watching', () => {
  test.each(Object.entries(broken))('"%s" fails where it is broken, and only there', async (name, breaking) => {
    expect([await fails(name, breaking), await fails(name, (place) => place.open())]).toStrictEqual([true, false]);
  });

  test('has a store that breaks it for every case', () => {
    expect(Object.keys(checks)).toStrictEqual(Object.keys(broken));
  });
});
