import { describe } from 'vitest';
import type { Breaking } from '../../tests/support/broken-stores.ts';
import { testSuite, withChange, writing } from '../../tests/support/broken-stores.ts';
import { readChecks } from './session-store-reads.ts';

const broken: Readonly<Record<string, Breaking>> = {
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
  'reads effects by the start of their keys, and from one on': withChange((store) => ({
    log: { ...store.log, effects: (id, { skip: _, ...query } = {}) => store.log.effects(id, query) },
  })),
  'gives odd texts back as they were': writing(({ entries = [], ...write }) => ({
    ...write,
    entries: entries.map((entry) => ({ ...entry, body: entry.body.trim().normalize() })),
  })),
};

describe('the cases of reads', () => testSuite(readChecks, broken));
