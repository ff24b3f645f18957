import type { SessionHeader, SessionWrite } from '../../src/sessions/index.ts';

export const header = (id: string, changes: Partial<SessionHeader> = {}): SessionHeader => ({
  id,
  agentName: 'a',
  tags: [],
  status: 'in_progress',
  isOpen: true,
  createdAt: 1,
  updatedAt: 1,
  details: '{}',
  ...changes,
});

/** Creates a session with one entry. */
export const creating = (id: string, epoch: number): SessionWrite => ({
  sessionId: id,
  epoch,
  after: 0,
  header: header(id),
  entries: [{ n: 1, at: 1, isSnapshot: true, body: '1' }],
});

/** Adds entry `n`. */
export const adding = (id: string, epoch: number, n: number): SessionWrite => ({
  sessionId: id,
  epoch,
  after: n - 1,
  entries: [{ n, at: n, isSnapshot: false, body: String(n) }],
});
