// Workers and leases of stores in memory.
import { claimLease, forgiveLease, freeLease, mostUrgent, stickyMs } from './lease-row.ts';
import type { MemorySession, MemoryWorker, Place } from './memory-place.ts';
import { notify } from './memory-place.ts';
import type { ClaimedSessions, ClaimQuery, Leases, StoredWorker } from './session-store.ts';

const listOwned = ({ sessions }: Place, worker: string): readonly MemorySession[] =>
  [...sessions.values()].filter(({ lease }) => lease.owner === worker);

/** Makes sessions ready, and tells everybody. */
function free(place: Place, sessions: readonly MemorySession[], blames: boolean): number {
  for (const session of sessions) session.lease = freeLease(session.lease, { blames, now: place.clock.now() });
  if (sessions.length > 0) notify(place, { sessionIds: sessions.map(({ header }) => header.id), hasMail: true });
  return sessions.length;
}

const toStoredWorker = (place: Place, { info, room, beats, beatAt }: MemoryWorker): StoredWorker => ({
  ...info,
  ...{ room, beats, silentMs: place.clock.now() - beatAt, sessions: listOwned(place, info.id).length },
});

/** True if the worker that had a session last is to get it again. */
function isLeftToLast({ workers, clock }: Place, { lease }: MemorySession, worker: string): boolean {
  const last = lease.last === undefined || lease.last === worker ? undefined : workers.get(lease.last);
  return last !== undefined && last.room > 0 && clock.now() - lease.readyAt < stickyMs;
}

/** True if the worker may own the session once that is ready, or to be woken. */
function isFor({ damages }: Place, { header, lease }: MemorySession, { agents, maxFormat, sessionIds, except }: ClaimQuery): boolean {
  const { id, agentName, agentRelease, format } = header;
  if (lease.owner !== undefined || format > maxFormat || damages.has(id) || except?.includes(id) === true) return false;
  if (sessionIds?.includes(id) === false) return false;
  return agents.some(({ name, releases }) => name === agentName && releases?.includes(agentRelease) !== false);
}

const isDue = ({ lease, header: { wakeAt } }: MemorySession, now: number): boolean =>
  lease.isReady || (wakeAt !== undefined && wakeAt <= now);

/** Sorts sessions so that each tenant has its turn. Those that have cost workers come last. */
function sortFairly(sessions: readonly MemorySession[]): readonly MemorySession[] {
  const seen = new Map<string | undefined, number>();
  return [...sessions]
    .sort((one, other) => one.lease.readyAt - other.lease.readyAt || one.num - other.num)
    .map((session) => {
      const { tenant } = session.header;
      const rank = (seen.get(tenant) ?? 0) + 1;
      seen.set(tenant, rank);
      return { session, rank: session.lease.attempts > 0 ? Infinity : rank };
    })
    .sort((one, other) => (one.rank === other.rank ? 0 : one.rank - other.rank))
    .map(({ session }) => session);
}

function claim(place: Place, query: ClaimQuery): ClaimedSessions {
  const { worker, limit, now, sessionIds } = query;
  if (!place.workers.has(worker)) return { sessions: [] };
  const all = [...place.sessions.values()].filter((session) => isFor(place, session, query));
  const due = all.filter((session) => isDue(session, now));
  const ready = sortFairly(due.filter((session) => sessionIds !== undefined || !isLeftToLast(place, session, worker)));
  const urgent = ready.filter(({ lease }) => lease.isUrgent).slice(0, mostUrgent);
  const chosen = [...urgent, ...ready.filter(({ lease }) => !lease.isUrgent).slice(0, Math.max(0, limit - urgent.length))];
  for (const session of chosen) session.lease = claimLease(session.lease, worker);
  const wakes = all.flatMap((session) => (isDue(session, now) ? [] : (session.header.wakeAt ?? [])));
  return {
    sessions: chosen.map(({ header, lease: { fence, attempts, posted, applied }, entries }) => ({
      ...{ sessionId: header.id, fence, head: entries.length, attempts, hasMail: posted > applied },
    })),
    ...(wakes.length > 0 && { nextWakeAt: Math.min(...wakes) }),
  };
}

/** Returns the leases of a place. */
export function createLeases(open: () => Place): Leases {
  return {
    join: async (info, { room, before }) => {
      const { workers, sessions, clock } = open();
      workers.set(info.id, { info, room, beats: 1, beatAt: clock.now() });
      for (const session of sessions.values())
        if (before !== undefined && session.lease.blamed === before) session.lease = forgiveLease(session.lease);
    },
    beat: async (id, room) => {
      const { workers, clock } = open();
      const known = workers.get(id);
      if (known !== undefined) workers.set(id, { ...known, room, beats: known.beats + 1, beatAt: clock.now() });
      return known !== undefined;
    },
    workers: async () => {
      const place = open();
      return [...place.workers.values()]
        .sort((one, other) => one.info.joinedAt - other.info.joinedAt)
        .map((worker) => toStoredWorker(place, worker));
    },
    free: async (gone) => {
      const place = open();
      if (gone === undefined) {
        const orphans = [...place.sessions.values()].filter(({ lease: { owner } }) => owner !== undefined && !place.workers.has(owner));
        return free(place, orphans, true);
      }
      const { worker, beats } = gone;
      if (place.workers.get(worker)?.beats !== beats) return 0;
      place.workers.delete(worker);
      return free(place, listOwned(place, worker), true);
    },
    claim: async (query) => claim(open(), query),
    leave: async (worker, sessionIds) => {
      const place = open();
      if (sessionIds === undefined) place.workers.delete(worker);
      free(
        place,
        listOwned(place, worker).filter(({ header }) => sessionIds === undefined || sessionIds.includes(header.id)),
        false,
      );
    },
  };
}
