// The timer that takes sessions up again which wait for a provider that is down.
// Owns:     when each of them is tried again while the process lives.
// Does not: know how long a session waits, or store anything itself.
// N1. From the moment at which a wait is seen, only the clock that never jumps counts.
// N2. A session of an earlier process is tried at its stored time, or at once if that has passed.
import type { Clock } from '../lib/index.ts';
import type { ProviderWait } from '../step-by-step/index.ts';
import type { LiveSession } from './live-session.ts';
import type { SessionPool } from './session-pool.ts';
import { toSummary } from './session.ts';
import type { SessionStore } from './session-store.ts';
import { listAll } from './session-store.ts';

/** Delay before a session that could not be taken up is tried again. */
const retryMs = 60_000;

/** Longest delay of a session that was only listed: how long it really waits is not known. */
const longestListedMs = 300_000;

const by = { id: 'outage', kind: 'system' };

/** Services the host of the sessions provides to its timer. */
interface OutageHost {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly closing: AbortSignal;
  readonly sessions: SessionPool;
  report(error: unknown, where: string): void;
}

/** Returns the wait of a session for a provider, if it has one. */
const getProviderWait = ({ log }: LiveSession): ProviderWait | undefined => log.state.waitingFor.find((wait) => wait.type === 'provider');

export class OutageTimer {
  readonly #host: OutageHost;
  /** Time of the next try by session, on the clock that never jumps. */
  readonly #dueAt = new Map<string, number>();
  #cancel: (() => void) | undefined;
  /** The time that the timer is set to. */
  #next = Infinity;

  constructor(host: OutageHost) {
    this.#host = host;
    host.closing.addEventListener('abort', () => this.#cancel?.());
  }

  /** Finds the sessions that an earlier process left waiting. */
  async start(): Promise<void> {
    const { store, clock } = this.#host;
    for await (const listed of listAll(store, { status: 'waiting', wakeBefore: Number.MAX_SAFE_INTEGER })) {
      const { id, header } = listed;
      const summary = toSummary(listed);
      if (header?.wakeAt === undefined || 'damage' in summary || this.#dueAt.has(id)) continue;
      if (summary.waitingFor.some(({ type }) => type === 'provider')) this.#set(id, Math.min(longestListedMs, header.wakeAt - clock.now()));
    }
  }

  /** Notes when a session is tried again, if it waits for a provider. */
  watch(session: LiveSession): void {
    const wait = getProviderWait(session);
    if (wait === undefined) this.#dueAt.delete(session.id);
    else this.#set(session.id, wait.nextTryAt - this.#host.clock.now());
  }

  #set(sessionId: string, delayMs: number): void {
    const dueAt = this.#host.clock.monotonic() + Math.max(0, delayMs);
    this.#dueAt.set(sessionId, dueAt);
    if (dueAt < this.#next) this.#arm(dueAt);
  }

  #arm(next: number): void {
    const { clock, closing } = this.#host;
    this.#cancel?.();
    this.#next = next;
    if (closing.aborted || next === Infinity) return;
    this.#cancel = clock.schedule(Math.max(0, next - clock.monotonic()), () => void this.#retryDue());
  }

  /** Takes up the sessions whose time has come. */
  async #retryDue(): Promise<void> {
    const now = this.#host.clock.monotonic();
    const due = [...this.#dueAt].flatMap(([id, dueAt]) => (dueAt <= now ? [id] : []));
    // Tried again later if it fails; what the session then waits for replaces this.
    for (const id of due) this.#dueAt.set(id, now + retryMs);
    let next = Infinity;
    for (const dueAt of this.#dueAt.values()) next = Math.min(next, dueAt);
    this.#arm(next);
    for (const id of due) await this.#retry(id);
  }

  async #retry(sessionId: string): Promise<void> {
    try {
      await this.#host.sessions.use(sessionId, async (session) => {
        if (getProviderWait(session) === undefined) this.watch(session);
        else await session.act({ type: 'resume' }, { by, until: 'accepted' });
      });
    } catch (error) {
      this.#host.report(error, `the next try of session ${sessionId}`);
    }
  }
}
