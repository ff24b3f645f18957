// Sessions that an earlier process left open.
// Owns:     finding them, the order in which they are resumed, and how many of them run at once.
// Does not: claim the store, or know how a session is resumed.
// C1. They are found page by page, and the event loop is never blocked for long.
// C2. They take up half of the runs at most: there is always room for what somebody asks for now.
// C3. Steps on their last attempt come after all others.
import type { Breather } from '../../lib/index.ts';
import { createBreather } from '../../lib/index.ts';
import type { Agents } from '../core/agents.ts';
import type { LiveSession } from './live-session.ts';
import type { Recovery } from '../core/session-runtime.ts';
import type { SessionPool } from './session-pool.ts';
import type { ListedSession, SessionStore } from '../store/session-store.ts';
import { listAll } from '../store/session-store.ts';

/** Services the host provides to the recovery of its sessions. */
interface RecoveryHost {
  readonly store: SessionStore;
  readonly agents: Agents;
  readonly sessions: SessionPool;
  readonly closing: AbortSignal;
  report(error: unknown, where: string): void;
}

export class SessionRecovery {
  readonly #host: RecoveryHost;
  readonly #limit: number;
  readonly #breathe: Breather = createBreather();
  /** Ids only: a session that waits for its turn is not kept in memory. */
  readonly #queue: string[] = [];
  #running = 0;
  #isStarting = false;

  constructor(host: RecoveryHost, maxConcurrent: number) {
    this.#host = host;
    this.#limit = Math.max(1, Math.floor(maxConcurrent / 2));
  }

  /** Finds the open sessions, and resumes or queues them. */
  async start(): Promise<Recovery> {
    const { store, closing } = this.#host;
    const resumed: string[] = [];
    const failed: { readonly sessionId: string; readonly error: unknown }[] = [];
    const last: string[] = [];
    for await (const listed of listAll(store, { isOpen: true })) {
      await this.#breathe();
      if (closing.aborted) break;
      try {
        if (await this.#check(listed, last)) resumed.push(listed.id);
      } catch (error) {
        failed.push({ sessionId: listed.id, error });
        this.#host.report(error, `session ${listed.id}`);
      }
    }
    this.#queue.push(...last);
    void this.#startQueued();
    return { resumed, failed };
  }

  /** Throws if a session cannot be resumed: it is damaged, its agent is missing or of another version. */
  async #check({ id, damage }: ListedSession, last: string[]): Promise<boolean> {
    const { sessions, agents, store } = this.#host;
    const isOpen = await sessions.use(id, (session) => {
      agents.findSuccessor(session.log.facts.agent);
      if (!session.log.isOpen) return false;
      if (session.permit.isLastAttempt) last.push(id);
      else if (this.#running < this.#limit) void this.#run(session);
      else this.#queue.push(id);
      return true;
    });
    // A damaged session was repaired, or it could not have been read.
    if (damage !== undefined) await store.heads.quarantine(id, undefined);
    return isOpen;
  }

  async #run(session: LiveSession): Promise<void> {
    this.#running += 1;
    session.resume();
    // One that is held takes nobody's place.
    await session.whenPaused();
    this.#running -= 1;
    void this.#startQueued();
  }

  async #startQueued(): Promise<void> {
    if (this.#isStarting) return;
    this.#isStarting = true;
    const { sessions, closing } = this.#host;
    while (this.#running < this.#limit && !closing.aborted) {
      const id = this.#queue.shift();
      if (id === undefined) break;
      await this.#breathe();
      try {
        await sessions.use(id, (session) => void this.#run(session));
      } catch (error) {
        this.#host.report(error, `session ${id}`);
      }
    }
    this.#isStarting = false;
  }
}
