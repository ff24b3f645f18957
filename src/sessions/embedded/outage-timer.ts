// The timer that takes sessions up again which wait for a provider that is down.
// Owns:     when each of them is tried again while the process lives.
// Does not: know how long a session waits, or store anything itself.
// N1. From the moment at which a wait is seen, only the clock that never jumps counts.
// N2. A session of an earlier process is tried at its stored time, or at once if that has passed; a clock that was set back since then
//     does not make it wait for longer than it was to wait at all.
import type { Clock } from '../../lib/index.ts';
import type { ProviderWait } from '../../step-by-step/index.ts';
import type { LiveSession } from './live-session.ts';
import type { SessionPool } from './session-pool.ts';
import { toSummary } from '../core/session.ts';
import type { SessionStore } from '../store/session-store.ts';
import { listAll } from '../store/session-store.ts';

/** Delay before a session that could not be resumed is tried again. */
const retryMs = 60_000;

/** Longest delay until a session that was only listed is read: how long it was to wait is not known before. */
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

/** The next try of one session. Times are on the clock that never jumps. */
interface PlannedTry {
  readonly dueAt: number;
  /** Stored time of it. */
  readonly nextTryAt: number;
  /** The first failure, if the session was read: its stored time, and when that was. */
  readonly outage?: { readonly since: number; readonly startedAt: number };
  /** Time at which the session was listed, if it was not read since then. */
  readonly listedAt?: number;
}

/** Returns the wait of a session for a provider, if it has one. */
const getProviderWait = ({ log }: LiveSession): ProviderWait | undefined => log.state.waitingFor.find((wait) => wait.type === 'provider');

export class OutageTimer {
  readonly #host: OutageHost;
  readonly #tries = new Map<string, PlannedTry>();
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
      if (header?.wakeAt === undefined || 'damage' in summary || this.#tries.has(id)) continue;
      if (!summary.waitingFor.some(({ type }) => type === 'provider')) continue;
      const listedAt = clock.monotonic();
      const delayMs = Math.min(longestListedMs, Math.max(0, header.wakeAt - clock.now()));
      this.#set(id, { dueAt: listedAt + delayMs, nextTryAt: header.wakeAt, listedAt });
    }
  }

  /** Notes when a session is tried again, if it waits for a provider. */
  watch(session: LiveSession): void {
    const wait = getProviderWait(session);
    if (wait === undefined) this.#tries.delete(session.id);
    else this.#set(session.id, this.#plan(session, wait));
  }

  /** Forgets a session that was deleted. */
  forget(sessionId: string): void {
    this.#tries.delete(sessionId);
  }

  /** Returns the time since the first failure of an outage that was seen here. */
  measureMs(sessionId: string, since: number): number | undefined {
    const outage = this.#tries.get(sessionId)?.outage;
    return outage?.since === since ? Math.round(this.#host.clock.monotonic() - outage.startedAt) : undefined;
  }

  #plan({ id, log }: LiveSession, { since, nextTryAt }: ProviderWait): PlannedTry {
    const { clock } = this.#host;
    const now = clock.monotonic();
    const known = this.#tries.get(id);
    const isKnown = known?.nextTryAt === nextTryAt;
    if (isKnown && known.listedAt === undefined) return known;
    const startedAt = now - Math.max(0, clock.now() - since);
    const outage = known?.outage?.since === since ? known.outage : { since, startedAt };
    const leftMs = Math.max(0, nextTryAt - clock.now());
    const wholeMs = nextTryAt - (log.state.pendingStep?.parkedAt ?? nextTryAt);
    const seenAt = isKnown ? (known.listedAt ?? now) : now;
    return { dueAt: Math.min(now + leftMs, seenAt + wholeMs), nextTryAt, outage };
  }

  #set(sessionId: string, planned: PlannedTry): void {
    this.#tries.set(sessionId, planned);
    if (planned.dueAt < this.#next) this.#arm(planned.dueAt);
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
    const due = [...this.#tries].filter(([, { dueAt }]) => dueAt <= now);
    // Tried again later if it fails; what the session then waits for replaces this.
    for (const [id, planned] of due) this.#tries.set(id, { ...planned, dueAt: now + retryMs });
    let next = Infinity;
    for (const { dueAt } of this.#tries.values()) next = Math.min(next, dueAt);
    this.#arm(next);
    for (const [id] of due) await this.#retry(id);
  }

  async #retry(sessionId: string): Promise<void> {
    try {
      await this.#host.sessions.use(sessionId, async (session) => {
        const wait = getProviderWait(session);
        if (wait === undefined) {
          this.watch(session);
          return;
        }
        const now = this.#host.clock.monotonic();
        const wasListed = this.#tries.get(sessionId)?.listedAt !== undefined;
        const planned = this.#plan(session, wait);
        // One that was only listed may have longer to wait.
        if (wasListed && planned.dueAt > now) {
          this.#set(sessionId, planned);
          return;
        }
        this.#tries.set(sessionId, { ...planned, dueAt: now + retryMs });
        await session.act({ type: 'resume' }, { by, until: 'accepted' });
      });
    } catch (error) {
      this.#host.report(error, `the next try of session ${sessionId}`);
    }
  }
}
