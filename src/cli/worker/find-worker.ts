// The process that runs the sessions of a store, seen from outside.
import type { Clock } from '../../lib/index.ts';
import { isProcessGone, sleep } from '../../lib/index.ts';
import type { SessionStore, StoreHolder } from '../../sessions/index.ts';

/** The worker of a store. `silent`: it holds the store, but gives no signs of life. */
export type FoundWorker =
  { readonly type: 'none' } | { readonly type: 'alive' | 'silent' | 'gone'; readonly holder: StoreHolder; readonly beats: number };

/** Time without a heartbeat after which a worker counts as silent: three heartbeats, and a little for a slow disk. */
const silenceMs = 1700;

const lookMs = 50;

/** Finds the worker of a store. Takes as long as the next heartbeat, or three that are missed. */
export async function findWorker(store: Pick<SessionStore, 'claims'>, clock: Clock): Promise<FoundWorker> {
  const { epoch, holder, beats } = await store.claims.read();
  if (holder === undefined) return { type: 'none' };
  if (isProcessGone(holder)) return { type: 'gone', holder, beats };
  const startedAt = clock.monotonic();
  while (clock.monotonic() - startedAt < silenceMs) {
    await sleep(clock, lookMs);
    const next = await store.claims.read();
    if (next.epoch !== epoch) return findWorker(store, clock);
    if (next.beats !== beats) return { type: 'alive', holder, beats: next.beats };
  }
  return { type: 'silent', holder, beats };
}

/** Describes a worker: its name, process and machine. */
export function describeHolder({ name, pid, host, id }: StoreHolder): string {
  const place = host === undefined ? '' : ` on ${host}`;
  const process = pid === undefined ? `process ${id}` : `process ${pid}`;
  return name === undefined ? `${process}${place}` : `"${name}" (${process}${place})`;
}
