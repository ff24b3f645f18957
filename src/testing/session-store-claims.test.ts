import { describe } from 'vitest';
import type { ClaimQuery } from '../sessions/index.ts';
import type { Breaking } from '../../tests/support/broken-stores.ts';
import { testSuite, withMethod, writing } from '../../tests/support/broken-stores.ts';
import { claimChecks } from './session-store-claims.ts';
import { sampleWorker } from './session-store-sample.ts';

/** A store that claims something else than it is asked for. */
const claiming = (change: (query: ClaimQuery) => ClaimQuery): Breaking =>
  withMethod('leases', (leases) => ({ claim: (query) => leases.claim(change(query)) }));

const withoutReleases = (query: ClaimQuery): ClaimQuery => ({ ...query, agents: query.agents.map(({ name }) => ({ name })) });

const broken: Readonly<Record<string, Breaking>> = {
  'claims sessions that are ready, up to a limit': claiming((query) => ({ ...query, limit: 100 })),
  // It forgets who owns them.
  'gives each session to one of the workers that claim at once': withMethod('leases', (leases) => ({
    claim: async (query) => {
      const claimed = await leases.claim(query);
      const ids = claimed.sessions.map(({ sessionId }) => sessionId);
      await leases.leave(query.worker, ids);
      return claimed;
    },
  })),
  'claims nothing for a worker that has not joined': withMethod('leases', (leases) => ({
    claim: async (query) => {
      if ((await leases.workers()).every(({ id }) => id !== query.worker)) await leases.join(sampleWorker(query.worker), { room: 1 });
      return leases.claim(query);
    },
  })),
  'claims sessions of the agents and releases of a worker': claiming(withoutReleases),
  'claims sessions in formats that the worker can read': claiming((query) => ({ ...query, maxFormat: 99 })),
  'claims sessions that are to be woken, by the clock of the worker': claiming((query) => ({ ...query, now: 5001 })),
  'names the next time at which a session is to be woken that the worker could claim': withMethod('leases', (leases) => ({
    claim: async (query) => {
      const { sessions } = await leases.claim(query);
      const { nextWakeAt } = await leases.claim({ ...withoutReleases(query), limit: 0 });
      return { sessions, ...(nextWakeAt !== undefined && { nextWakeAt }) };
    },
  })),
  'never claims a session in quarantine': withMethod('heads', () => ({ quarantine: () => Promise.resolve() })),
  'claims only sessions that are asked for, and none that is excepted': claiming(({ except: _, ...query }) => query),
  'claims sessions with urgent mail beyond the limit': withMethod('inbox', (inbox) => ({
    post: ({ isUrgent: _, ...mail }) => inbox.post(mail),
  })),
  // All sessions are of one tenant.
  'gives each tenant its turn': writing((write) => {
    if (write.header === undefined) return write;
    const { tenant: _, ...header } = write.header;
    return { ...write, header };
  }),
  'claims sessions with attempts last': writing(({ isStepping: _, ...write }) => write),
  // It gives each session to whoever comes first.
  'leaves a session for a while to the worker that had it last': withMethod('leases', (leases, store) => ({
    claim: async (query) => {
      const { sessions } = await store.heads.list({ limit: 1000 });
      return leases.claim({ sessionIds: sessions.map(({ id }) => id), ...query });
    },
  })),
};

describe('the cases of claims', () => testSuite(claimChecks, broken));
