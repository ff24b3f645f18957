import { describe } from 'vitest';
import type { Breaking } from '../../tests/support/broken-stores.ts';
import { countingPages, listing, testSuite, withChange, withMethod } from '../../tests/support/broken-stores.ts';
import { headChecks } from './session-store-heads.ts';

const broken: Readonly<Record<string, Breaking>> = {
  'reads the head of a session, and who owns it': withMethod('heads', (heads) => ({
    read: async (id) => {
      const { worker: _, ...head } = (await heads.read(id)) ?? {};
      return 'header' in head ? head : undefined;
    },
  })),
  'lists sessions by what they are found by': listing(({ owner: _, ...query }) => query),
  'lists by the last header only': listing(({ wakeBefore: _, ...query }) => query),
  'replaces the tags that a session is found by': listing(({ tag: _, ...query }) => query),
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
};

describe('the cases of heads', () => testSuite(headChecks, broken));
