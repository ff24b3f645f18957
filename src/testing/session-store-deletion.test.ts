import { describe } from 'vitest';
import type { Breaking } from '../../tests/support/broken-stores.ts';
import { countingPages, neverRefusing, testSuite, withChange, withMethod } from '../../tests/support/broken-stores.ts';
import type { Mail } from '../sessions/index.ts';
import { deletionChecks } from './session-store-deletion.ts';

const broken: Readonly<Record<string, Breaking>> = {
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
  'never uses the id of a deleted session again': withMethod('inbox', (inbox) => ({
    post: async (mail) => inbox.post(mail).catch(() => ({ ...mail, num: 1 })),
  })),
  'leaves other sessions, and pages of them, as they are when one is deleted': countingPages,
  'deletes what was asked for in the same moment': withMethod('log', (log) => ({
    delete: async (deletion) => {
      await new Promise((resolve) => setTimeout(resolve));
      await log.delete(deletion);
    },
  })),
  'needs no lease to delete, and refuses the next write of the owner': neverRefusing,
};

describe('the cases of deletions', () => testSuite(deletionChecks, broken));
