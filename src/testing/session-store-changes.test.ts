import { describe } from 'vitest';
import type { Breaking } from '../../tests/support/broken-stores.ts';
import { testSuite, withChange } from '../../tests/support/broken-stores.ts';
import type { StoreChange } from '../sessions/index.ts';
import { createMemoryStore } from '../sessions/index.ts';
import { changeChecks } from './session-store-changes.ts';

const broken: Readonly<Record<string, Breaking>> = {
  'calls those who watch after each change': withChange((store) => ({
    changes: { ...store.changes, watch: (listener) => store.changes.watch((change) => (change.hasMail ? undefined : listener(change))) },
  })),
  'calls those who watch after each change of another store': () => createMemoryStore,
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
          const receipt = await store.log.write(write);
          for (const listener of listeners) listener({ sessionIds: [write.sessionId], hasMail: false });
          return receipt;
        },
      },
    };
  }),
};

describe('the cases of changes', () => testSuite(changeChecks, broken));
