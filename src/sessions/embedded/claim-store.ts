// Claiming a store that another process may hold, and showing that this one is alive.
// Owns:     when a holder counts as gone, and the heartbeat.
// Does not: keep a holder from writing that was wrongly taken for gone: the number of the claim does.
// K1. A live holder keeps the store, unless somebody takes it over on purpose.
// K2. A holder is gone if its process has certainly ended, or if it misses three heartbeats by the clock of the one who waits.
// K3. Of two that claim at once, one gets the store; the other looks again.
// K4. A process that stands by waits through an outage of the store, and counts the silence of the holder from its end on.
import type { Clock } from '../../lib/index.ts';
import { isProcessGone, readProcessIdentity, sleep, SteplineError } from '../../lib/index.ts';
import type { SessionStore, StoreClaim, StoreHolder } from '../store/session-store.ts';
import { StoreInUseError } from '../core/store-in-use-error.ts';

/** Time between two heartbeats. */
export const heartbeatMs = 500;

/** Time without a heartbeat after which a holder counts as gone. */
const silenceMs = 3 * heartbeatMs;

/** Time between two looks at a claim. */
const lookMs = 100;

/** The rules for claiming a store. */
export interface ClaimRules {
  /** Name of this process, for the messages that others get. */
  readonly name: string | undefined;
  /** Takes the store from a live holder. */
  readonly takeOver: boolean;
  /** Waits until the holder is gone. */
  readonly standby: boolean;
  readonly clock: Clock;
  /** Called if a live process holds the store. */
  readonly onWait: () => void;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

const isFenced = (error: unknown): boolean => SteplineError.is(error) && error.code === 'store-fenced';

/** Problems of a store that end without anybody's help, or not in this process. */
const passingProblems = new Set<unknown>(['failed', 'busy', 'full']);
const isPassing = (error: unknown): boolean => SteplineError.is(error) && passingProblems.has(Reflect.get(error, 'problem'));

/** Waits until nobody holds the store. Throws if a live process does, unless it waits for its turn. */
async function waitForTurn(store: SessionStore, { clock, standby, signal, onWait }: ClaimRules): Promise<StoreClaim> {
  let seen = await store.claims.read();
  const startedAt = clock.monotonic();
  let aliveAt = startedAt;
  for (;;) {
    const { holder } = seen;
    if (holder === undefined || isProcessGone(holder)) return seen;
    const now = clock.monotonic();
    if (now - aliveAt >= silenceMs) return seen;
    if (!standby && now - startedAt >= silenceMs) throw new StoreInUseError(holder);
    onWait();
    await sleep(clock, lookMs, signal);
    const next = await store.claims.read();
    if (next.epoch !== seen.epoch || next.beats !== seen.beats) aliveAt = clock.monotonic();
    seen = next;
  }
}

/** Claims a store; returns the number of the claim. */
export async function claimStore(store: SessionStore, id: string, rules: ClaimRules): Promise<number> {
  const { name, takeOver, standby, clock, signal } = rules;
  const identity = { ...readProcessIdentity(), id, ...(name !== undefined && { name }) };
  for (;;) {
    try {
      const seen = takeOver ? await store.claims.read() : await waitForTurn(store, rules);
      const holder: StoreHolder = { ...identity, claimedAt: clock.now() };
      return await store.claims.claim({ holder, after: seen.epoch });
    } catch (error) {
      if (standby && isPassing(error)) await sleep(clock, lookMs, signal);
      else if (!isFenced(error)) throw error;
    }
  }
}

interface HeartbeatOptions {
  readonly store: SessionStore;
  readonly epoch: number;
  readonly clock: Clock;
  /** Called if another process has claimed the store. */
  readonly onLost: (error: unknown) => void;
}

/** Shows that the holder of a claim is alive, until it is stopped or the claim is lost. Returns the function that stops it. */
export function startHeartbeat({ store, epoch, clock, onLost }: HeartbeatOptions): () => void {
  let isOver = false;
  let cancel = (): void => undefined;
  const stop = (): void => {
    isOver = true;
    cancel();
  };
  const beat = async (): Promise<void> => {
    try {
      await store.claims.beat(epoch);
    } catch (error) {
      if (isOver) return;
      if (isFenced(error)) {
        stop();
        onLost(error);
      }
      // A store that cannot be used for a while is tried again; one that was closed stays so.
      if (SteplineError.is(error) && Reflect.get(error, 'problem') === 'closed') stop();
    }
    if (!isOver) arm();
  };
  const arm = (): void => {
    // In the background: a process that has nothing else to do may end.
    cancel = clock.schedule(heartbeatMs, () => void beat(), true);
  };
  arm();
  return stop;
}
