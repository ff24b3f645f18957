// The sessions that are in memory.
// Owns:     which ones are, and when one is let go of.
// P1. A session is in memory at most once: whoever asks for it meanwhile gets the same one.
// P2. One that somebody holds, or that is busy, is never let go of.
import type { LiveSession } from './live-session.ts';

interface Kept {
  readonly loading: Promise<LiveSession>;
  session?: LiveSession;
  holds: number;
}

export class SessionPool {
  readonly #kept = new Map<string, Kept>();
  readonly #read: (sessionId: string) => Promise<LiveSession>;
  readonly #size: number;

  constructor(read: (sessionId: string) => Promise<LiveSession>, size: number) {
    this.#read = read;
    this.#size = size;
  }

  /** Works with a session, which stays in memory as long as that lasts. */
  async use<Value>(sessionId: string, work: (session: LiveSession) => Value | Promise<Value>): Promise<Value> {
    // One that cannot be carried on from memory is read again, once nothing more of it is written.
    for (let gone = this.#kept.get(sessionId)?.session?.gone; gone !== undefined; gone = this.#kept.get(sessionId)?.session?.gone)
      await gone;
    const kept = this.#kept.get(sessionId) ?? this.#load(sessionId);
    kept.holds += 1;
    try {
      return await work(await kept.loading);
    } finally {
      kept.holds -= 1;
      // The last one that was used is the last to be let go of.
      if (this.#kept.get(sessionId) === kept) {
        this.#kept.delete(sessionId);
        this.#kept.set(sessionId, kept);
      }
      this.forgetSome();
    }
  }

  /** Keeps a session that was just made. */
  add(session: LiveSession): void {
    if (!this.#kept.has(session.id)) this.#kept.set(session.id, { loading: Promise.resolve(session), session, holds: 0 });
    this.forgetSome();
  }

  /** Lets go of a session that cannot be carried on from memory. */
  drop(session: LiveSession): void {
    if (this.#kept.get(session.id)?.session === session) this.#kept.delete(session.id);
  }

  /** Lets go of sessions at rest, those first that were used longest ago. */
  forgetSome(): void {
    let tooMany = this.#kept.size - this.#size;
    for (const [id, { session, holds }] of this.#kept) {
      if (tooMany <= 0) return;
      if (session === undefined || holds > 0 || session.isBusy) continue;
      this.#kept.delete(id);
      tooMany -= 1;
    }
  }

  /** All that are there. */
  get all(): readonly LiveSession[] {
    return [...this.#kept.values()].flatMap(({ session }) => session ?? []);
  }

  #load(sessionId: string): Kept {
    const kept: Kept = { loading: this.#read(sessionId), holds: 0 };
    this.#kept.set(sessionId, kept);
    kept.loading.then(
      (session) => {
        kept.session = session;
      },
      () => {
        if (this.#kept.get(sessionId) === kept) this.#kept.delete(sessionId);
      },
    );
    return kept;
  }
}
