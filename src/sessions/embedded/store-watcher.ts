// Waiting for changes of a store.
// Owns:     one subscription to the store, shared by all who wait.
// Does not: read anything: whoever waits reads again.
// W1. A change that comes after `next` was called is never missed.
// W2. Whoever waits looks again after a second, even if the store said nothing.
import type { Clock } from '../../lib/index.ts';
import type { SessionStore, StoreChange } from '../store/session-store.ts';

/** Longest time without another look. */
const lookAgainMs = 1000;

type Listener = (change: StoreChange) => void;

export class StoreWatcher {
  readonly #store: SessionStore;
  readonly #clock: Clock;
  readonly #listeners = new Set<Listener>();
  #unwatch: (() => void) | undefined;

  constructor(store: SessionStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Calls back after each change; returns its unsubscribe. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    this.#unwatch ??= this.#store.changes.watch((change) => {
      for (const each of [...this.#listeners]) each(change);
    });
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#unwatch?.();
      this.#unwatch = undefined;
    };
  }

  /** Calls back when a session, or any if none is named, may have changed, and now and then; returns its unsubscribe. */
  follow(sessionId: string | undefined, call: () => void): () => void {
    let cancel = (): void => undefined;
    const arm = (): void => {
      cancel = this.#clock.schedule(lookAgainMs, () => {
        arm();
        call();
      });
    };
    arm();
    const unlisten = this.listen(({ sessionIds }) => {
      if (sessionId === undefined || sessionIds === undefined || sessionIds.includes(sessionId)) call();
    });
    return () => {
      cancel();
      unlisten();
    };
  }

  /** Reads until there is an answer: at once, and again after each change of the session. */
  async until<Value>(sessionId: string, read: () => Promise<Value | undefined>, signals: readonly AbortSignal[] = []): Promise<Value> {
    let changes = 0;
    let wake = (): void => undefined;
    const onMore = (): void => {
      changes += 1;
      wake();
    };
    const unfollow = this.follow(sessionId, onMore);
    for (const signal of signals) signal.addEventListener('abort', onMore);
    try {
      for (;;) {
        for (const signal of signals) signal.throwIfAborted();
        const seen = changes;
        const value = await read();
        if (value !== undefined) return value;
        // A change that came while it was read counts too.
        if (changes === seen) await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      unfollow();
      for (const signal of signals) signal.removeEventListener('abort', onMore);
    }
  }
}
