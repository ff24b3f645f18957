// The worker that the copy names as the one running sessions.
import type { SessionStore, StoreHolder } from '../index.ts';
import type { Heartbeat } from './protocol.ts';

/** Time without a heartbeat after which another worker is named. */
const silenceMs = 5000;

interface KnownBeats {
  readonly now: number;
  /** Times of the last heartbeats, by worker. */
  readonly beats: Readonly<Record<string, number>>;
}

/** Records a heartbeat. Several workers run sessions; the copy names one of them. */
export async function noteHeartbeat(list: SessionStore, heartbeat: Heartbeat, { now, beats }: KnownBeats): Promise<void> {
  const { isLeaving = false, since, id, ...identity } = heartbeat;
  const { epoch, holder } = await list.readClaim();
  if (isLeaving) {
    if (holder?.id === id) await list.release(epoch);
    return;
  }
  if (holder?.id === id) return list.beat(epoch);
  if (holder !== undefined && now - (beats[holder.id] ?? 0) < silenceMs) return;
  const claimed: StoreHolder = { ...identity, id, claimedAt: since };
  await list.claim({ holder: claimed, after: epoch });
}
