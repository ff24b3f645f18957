// Notifying the watchers of a store.
// V1. While nobody watches, no timer runs; the timer of those who do does not keep the process alive.
// V2. A listener that throws harms nobody: neither the write that it is called for, nor other listeners.
import type { Clock } from '../../lib/index.ts';
import type { StoreChange } from '../index.ts';

/** Time between two looks at what other processes have stored. */
const lookEveryMs = 100;

export interface StoreWatch {
  /** Returns the unsubscribe. */
  readonly add: (listener: (change: StoreChange) => void) => () => void;
  readonly notify: (change: StoreChange) => void;
  /** Calls nobody any more. */
  readonly close: () => void;
}

export interface WatchOptions {
  readonly clock: Clock;
  /** Returns a number that changes when another process has stored something. */
  readonly readVersion: () => Promise<number>;
}

export function createStoreWatch({ clock, readVersion }: WatchOptions): StoreWatch {
  const listeners = new Set<{ readonly call: (change: StoreChange) => void }>();
  let known: number | undefined;
  /** Counts the times that somebody began to watch: a look that was under way when the last one left is not repeated. */
  let round = 0;
  let cancel: () => void = () => undefined;

  function notify(change: StoreChange): void {
    for (const listener of listeners) {
      try {
        listener.call(change);
      } catch {
        // V2.
      }
    }
  }

  async function look(own: number): Promise<void> {
    // A version that could not be read may have changed.
    const version = await readVersion().catch(() => -1);
    if (own !== round || listeners.size === 0) return;
    const isChanged = known !== undefined && version !== known && version !== -1;
    known = version;
    cancel = clock.schedule(lookEveryMs, () => void look(own), true);
    if (isChanged) notify({ hasMail: true });
  }

  function stop(): void {
    cancel();
    round += 1;
    known = undefined;
  }

  return {
    notify,
    add: (call) => {
      const listener = { call };
      listeners.add(listener);
      if (listeners.size === 1) void look((round += 1));
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) stop();
      };
    },
    close: () => {
      listeners.clear();
      stop();
    },
  };
}
