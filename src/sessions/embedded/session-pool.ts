// The sessions that are in memory.
// Owns:     which ones are, and when one is dropped.
// P1. A session is in memory at most once: all callers share it.
// P2. One that somebody holds, or that is busy, is never dropped.
import type { LiveSession } from './live-session.ts';

interface PooledSession {
  readonly loading: Promise<LiveSession>;
  session?: LiveSession;
  holds: number;
}

export class SessionPool {
  readonly #sessions = new Map<string, PooledSession>();
  readonly #read: (sessionId: string) => Promise<LiveSession>;
  readonly #size: number;

  constructor(read: (sessionId: string) => Promise<LiveSession>, size: number) {
    this.#read = read;
    this.#size = size;
  }

  /** Works with a session, which stays in memory as long as that lasts. */
  async use<Value>(sessionId: string, work: (session: LiveSession) => Value | Promise<Value>): Promise<Value> {
    // A released session is read again, once nothing more of it is written.
    while (this.#sessions.get(sessionId)?.session?.released !== undefined) await this.#sessions.get(sessionId)?.session?.released;
    const pooled: PooledSession = this.#sessions.get(sessionId) ?? { loading: this.#read(sessionId), holds: 0 };
    this.#sessions.set(sessionId, pooled);
    pooled.holds += 1;
    try {
      pooled.session = await pooled.loading;
      return await work(pooled.session);
    } finally {
      pooled.holds -= 1;
      if (this.#sessions.get(sessionId) === pooled) {
        this.#sessions.delete(sessionId);
        // The last one that was used is the last to be dropped; one that could not be read is dropped at once.
        if (pooled.session !== undefined) this.#sessions.set(sessionId, pooled);
      }
      this.trim();
    }
  }

  /** Returns a session if it is in memory. */
  peek(sessionId: string): LiveSession | undefined {
    return this.#sessions.get(sessionId)?.session;
  }

  /** Adds a session that was just created. */
  add(session: LiveSession): void {
    if (!this.#sessions.has(session.id)) this.#sessions.set(session.id, { loading: Promise.resolve(session), session, holds: 0 });
    this.trim();
  }

  /** Drops a released session. */
  drop(session: LiveSession): void {
    if (this.#sessions.get(session.id)?.session === session) this.#sessions.delete(session.id);
  }

  /** Releases a session that is in memory, or is being loaded. Settles when it is dropped. */
  async release(sessionId: string, error: unknown): Promise<void> {
    const session = await this.#sessions.get(sessionId)?.loading.catch(() => undefined);
    session?.release(error);
    await session?.released;
    if (session !== undefined) this.drop(session);
  }

  /** Drops idle sessions, those first that were used longest ago. */
  trim(): void {
    let tooMany = this.#sessions.size - this.#size;
    for (const [id, { session, holds }] of this.#sessions) {
      if (tooMany <= 0) return;
      if (session === undefined || holds > 0 || session.isBusy) continue;
      this.#sessions.delete(id);
      tooMany -= 1;
    }
  }

  /** All that are there. */
  get all(): readonly LiveSession[] {
    return [...this.#sessions.values()].flatMap(({ session }) => session ?? []);
  }
}
