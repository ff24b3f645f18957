import type { Lease, SessionHeader, SessionStore, SessionWrite } from '../../src/sessions/index.ts';

export const header = (id: string, changes: Partial<SessionHeader> = {}): SessionHeader => ({
  id,
  agentName: 'a',
  agentRelease: '1',
  format: 1,
  tags: [],
  status: 'in_progress',
  isOpen: true,
  createdAt: 1,
  updatedAt: 1,
  details: '{}',
  ...changes,
});

/** Adds a worker to a store: `w`, who owns what these samples create. */
export const join = (store: SessionStore, id = 'w', room = 10): Promise<void> =>
  store.leases.join({ id, joinedAt: 1, agents: ['a'] }, { room });

export const heldBy = (worker: string, fence: number): Lease => ({ worker, fence, type: 'held' });
export const free = (fence: number, worker = 'w'): Lease => ({ worker, fence, type: 'free' });

/** Writes nothing to a session that `w` has created. */
export const touching = (sessionId: string, after: number): SessionWrite => ({ sessionId, lease: heldBy('w', 1), keepsLease: true, after });

/** Creates a session with one entry. */
export const creating = (id: string): SessionWrite => ({
  ...{ sessionId: id, lease: free(0), keepsLease: true, after: 0 },
  header: header(id),
  entries: [{ n: 1, at: 1, isSnapshot: true, body: '1' }],
});

/** Adds entry `n` to a session that `w` has created. */
export const adding = (id: string, n: number): SessionWrite => ({
  ...touching(id, n - 1),
  entries: [{ n, at: n, isSnapshot: false, body: String(n) }],
});

/** Claims these sessions; returns their ids with their fences. */
export async function claim(store: SessionStore, worker: string, sessionIds?: readonly string[]): Promise<readonly string[]> {
  const query = { worker, limit: 1000, agents: [{ name: 'a' }], maxFormat: 1, now: 0, ...(sessionIds !== undefined && { sessionIds }) };
  return (await store.leases.claim(query)).sessions.map(({ sessionId, fence }) => `${sessionId} ${String(fence)}`);
}
