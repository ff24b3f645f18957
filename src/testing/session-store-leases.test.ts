import { describe } from 'vitest';
import type { Breaking } from '../../tests/support/broken-stores.ts';
import { claimingOpen, testSuite, withMethod, writing } from '../../tests/support/broken-stores.ts';
import { leaseChecks } from './session-store-leases.ts';
import { findWorker, sampleWorker } from './session-store-sample.ts';

const broken: Readonly<Record<string, Breaking>> = {
  // It looks at no lease.
  'lets only the worker that owns a session write to it': writing(async (write, store) => {
    const head = await store.heads.read(write.sessionId);
    if (head === undefined) return write;
    const { fence, worker = write.lease.worker } = head;
    return { ...write, lease: { worker, fence, type: head.worker === undefined ? 'free' : 'held' } };
  }),
  // It keeps no lease that was not claimed.
  'takes the lease with a write to a session that nobody owns': writing((write) =>
    write.lease.type === 'free' && write.after > 0 ? { ...write, keepsLease: false } : write,
  ),
  'lets workers in two stores take turns': withMethod('log', (log) => {
    const heads = new Map<string, number>();
    return {
      write: async (write) => {
        const known = heads.get(write.sessionId) ?? write.after;
        const receipt = await log.write({ ...write, after: known });
        heads.set(write.sessionId, known + (write.entries?.length ?? 0));
        return receipt;
      },
    };
  }),
  // It looks at the owner only.
  'refuses a write with an earlier fence, also after the same worker claimed again': writing(async (write, store) => {
    const head = await store.heads.read(write.sessionId);
    return head?.worker === write.lease.worker ? { ...write, lease: { ...write.lease, fence: head.fence } } : write;
  }),
  'keeps no session for a worker that has not joined': writing(async (write, store) => {
    const { worker } = write.lease;
    const isKnown = (await store.leases.workers()).some(({ id }) => id === worker);
    if (!isKnown) await store.leases.join(sampleWorker(worker), { room: 0 });
    return write;
  }),
  'gives a session up at rest': writing((write) => ({ ...write, keepsLease: true })),
  'leaves a session ready if mail comes while it goes to rest': claimingOpen,
  // The worker stays among the workers.
  'frees the sessions of a worker that is gone': withMethod('leases', (leases) => ({
    free: async (gone) => {
      const count = await leases.free(gone);
      if (gone !== undefined) await leases.join(sampleWorker(gone.worker), { room: 1 });
      return count;
    },
  })),
  'does not free a worker that has given a sign of life since': withMethod('leases', (leases, store) => ({
    free: async (gone) => leases.free(gone?.worker === 'v' ? { worker: 'v', beats: (await findWorker(store, 'v')).beats } : gone),
  })),
  'counts an attempt only for sessions with an open step': writing((write) => ({ ...write, isStepping: true })),
  'counts attempts until the step is recorded': writing(({ resetsAttempts: _, ...write }) => write),
  'takes an attempt back if the worker that was taken for gone joins again': withMethod('leases', (leases) => ({
    join: (worker, { room }) => leases.join(worker, { room }),
  })),
  // It takes whoever leaves for gone.
  'counts nothing if a worker leaves': withMethod('leases', (leases) => ({
    leave: async (worker, sessionIds) => {
      const known = (await leases.workers()).find(({ id }) => id === worker);
      if (sessionIds !== undefined || known === undefined) await leases.leave(worker, sessionIds);
      else await leases.free({ worker, beats: known.beats });
    },
  })),
  'shows who the workers are, and their signs of life': withMethod('leases', (leases) => ({ beat: (worker) => leases.beat(worker, 3) })),
  // It measures from the time at which they joined.
  'measures how long a worker has been silent': withMethod('leases', (leases) => {
    const openedAt = performance.now();
    return {
      workers: async () => (await leases.workers()).map((worker) => ({ ...worker, silentMs: performance.now() - openedAt })),
    };
  }),
};

describe('the cases of leases', () => testSuite(leaseChecks, broken));
