// Waiting for changes of a store.
// Owns:     one subscription to the store, shared by all who wait.
// Does not: read anything: whoever waits reads again.
// W1. A change that comes after somebody began to follow is never missed.
// W2. Whoever follows looks again after a second, even if the store said nothing.
// W3. What this process has stored is known to those who follow its session at once, however late the store says so.
import type { Clock } from '../../lib/index.ts';
import type { SessionStore, StoreChange } from '../store/session-store.ts';
import { News } from './news.ts';

/** Longest time without another look. */
const lookAgainMs = 1000;

type Listener = (change: StoreChange) => void;

export class StoreWatcher {
  readonly #store: SessionStore;
  readonly #clock: Clock;
  readonly #listeners = new Set<Listener>();
  /** Callbacks of those who follow a session, by its id. */
  readonly #followers = new Map<string, Set<() => void>>();
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

  /** Calls back after each change that fits, and now and then; returns its unsubscribe. */
  listenAndLook(fits: (change: StoreChange) => boolean, call: () => void, inBackground = false): () => void {
    let cancel = (): void => undefined;
    const arm = (): void => {
      const look = (): void => {
        arm();
        call();
      };
      cancel = this.#clock.schedule(lookAgainMs, look, inBackground);
    };
    arm();
    const unlisten = this.listen((change) => {
      if (fits(change)) call();
    });
    return () => {
      cancel();
      unlisten();
    };
  }

  /** Calls back when a session, or any if none is named, may have changed, and now and then; returns its unsubscribe. */
  follow(sessionId: string | undefined, call: () => void): () => void {
    if (sessionId === undefined) return this.listenAndLook(() => true, call);
    const followers = this.#followers.get(sessionId) ?? new Set();
    this.#followers.set(sessionId, followers.add(call));
    const unlisten = this.listenAndLook(({ sessionIds }) => sessionIds?.includes(sessionId) !== false, call);
    return () => {
      unlisten();
      followers.delete(call);
      if (followers.size === 0) this.#followers.delete(sessionId);
    };
  }

  /** This process has stored something of a session. */
  announce(sessionId: string): void {
    for (const call of this.#followers.get(sessionId) ?? []) call();
  }

  /** Reads until there is an answer: at once, and again after each change of the session. */
  async until<Value>(sessionId: string, read: () => Promise<Value | undefined>, signal: AbortSignal): Promise<Value> {
    const news = new News(signal);
    const unfollow = this.follow(sessionId, news.note);
    try {
      for (;;) {
        signal.throwIfAborted();
        const value = await read();
        if (value !== undefined) return value;
        await news.wait();
      }
    } finally {
      unfollow();
    }
  }
}
