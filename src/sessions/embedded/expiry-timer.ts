// The timer that expires approvals.
// Owns:     when each approval expires while the process lives, and what is decided then.
// Does not: store anything itself.
// E1. From the moment at which a wait is seen, only the clock that never jumps counts: nothing that is done to the machine's clock
//     gives an approval more time or less.
// E2. A wait of an earlier process expires at its stored time, and at the latest `expireAfterMs` after the start.
import type { Clock } from '../../lib/index.ts';
import type { RunState } from '../../step-by-step/index.ts';
import type { ActionRequest } from '../core/action.ts';
import type { ExpiryOptions } from '../core/expiry.ts';
import { getExpiresAt, getWakeAt } from '../core/expiry.ts';
import type { LiveSession } from './live-session.ts';
import type { SessionPool } from './session-pool.ts';
import { readHeader } from '../core/session.ts';
import type { SessionHeader, SessionStore } from '../store/session-store.ts';
import { listAll } from '../store/session-store.ts';

/** Delay before an expiry that failed is tried again. */
const retryMs = 60_000;

const by = { id: 'expiry', kind: 'system' };

/** Services the host of the sessions provides to its timer. */
interface ExpiryHost {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly closing: AbortSignal;
  readonly sessions: SessionPool;
  report(error: unknown, where: string): void;
}

/** Times at which the waits of one session expire, on the clock that never jumps. */
interface Deadlines {
  readonly first: number;
  readonly byWait: ReadonlyMap<string, number>;
  /** Stored time of the first one, if the session was only listed: the others may be later. */
  readonly listedAt?: number;
}

export class ExpiryTimer {
  readonly #approvals: ExpiryOptions;
  readonly #host: ExpiryHost;
  readonly #deadlines = new Map<string, Deadlines>();
  #cancel: (() => void) | undefined;
  /** The time that the timer is set to. */
  #next = Number.POSITIVE_INFINITY;

  constructor(approvals: ExpiryOptions, host: ExpiryHost) {
    this.#approvals = approvals;
    this.#host = host;
    host.closing.addEventListener('abort', () => this.#cancel?.());
  }

  /** Finds the approvals that an earlier process left. */
  async start(): Promise<void> {
    for await (const { id, header } of listAll(this.#host.store, { status: 'waiting' })) {
      if (header === undefined || this.#deadlines.has(id)) continue;
      if (header.wakeAt !== undefined) this.#addListed(header, header.wakeAt);
      // Approvals that were asked for before they could expire have no time to wake at yet.
      else {
        await this.#use(id, async (session) => {
          if (getWakeAt(this.#approvals, session.log.state) === undefined) return;
          await session.touch();
          this.watch(id, session.log.state);
        });
      }
    }
  }

  /** Notes when the waits of a session expire. */
  watch(sessionId: string, state: RunState): void {
    const byWait = this.#findDeadlines(sessionId, state);
    if (byWait.size === 0) this.#deadlines.delete(sessionId);
    else this.#set(sessionId, { first: Math.min(...byWait.values()), byWait });
  }

  /** Forgets a session that was deleted. */
  forget(sessionId: string): void {
    this.#deadlines.delete(sessionId);
  }

  #findDeadlines(sessionId: string, state: RunState): ReadonlyMap<string, number> {
    const known = this.#deadlines.get(sessionId);
    const byWait = new Map<string, number>();
    for (const wait of state.waitingFor) {
      const expiresAt = getExpiresAt(this.#approvals, state, wait);
      if (expiresAt !== undefined) byWait.set(wait.id, this.#findDeadline(known, wait.id, expiresAt));
    }
    return byWait;
  }

  #findDeadline(known: Deadlines | undefined, waitId: string, expiresAt: number): number {
    const deadline = known?.byWait.get(waitId);
    if (deadline === undefined) return this.#toDeadline(expiresAt);
    return known?.listedAt === undefined ? deadline : deadline + (expiresAt - known.listedAt);
  }

  /** Converts a time on the wall clock; one that would be later than a new wait's is none that this clock gave. */
  #toDeadline(expiresAt: number): number {
    const { clock } = this.#host;
    return clock.monotonic() + Math.min(Math.max(0, expiresAt - clock.now()), this.#approvals.expireAfterMs);
  }

  #addListed(header: SessionHeader, wakeAt: number): void {
    const first = this.#toDeadline(wakeAt);
    const { waitingFor } = readHeader(header);
    this.#set(header.id, { first, byWait: new Map(waitingFor.map(({ id }) => [id, first])), listedAt: wakeAt });
  }

  #set(sessionId: string, deadlines: Deadlines): void {
    this.#deadlines.set(sessionId, deadlines);
    if (deadlines.first >= this.#next) return;
    this.#next = deadlines.first;
    this.#arm();
  }

  #arm(): void {
    const { clock, closing } = this.#host;
    this.#cancel?.();
    if (closing.aborted || this.#next === Number.POSITIVE_INFINITY) return;
    this.#cancel = clock.schedule(Math.max(0, this.#next - clock.monotonic()), () => void this.#expireDue());
  }

  /** Settles the approvals that have expired, and sets the timer to the next one. */
  async #expireDue(): Promise<void> {
    const { clock } = this.#host;
    const now = clock.monotonic();
    const due = [...this.#deadlines].filter(([, { first }]) => first <= now);
    // Tried again later if it fails; what the session then waits for replaces this.
    for (const [id, deadlines] of due) this.#deadlines.set(id, { ...deadlines, first: now + retryMs });
    this.#next = Number.POSITIVE_INFINITY;
    for (const { first } of this.#deadlines.values()) this.#next = Math.min(this.#next, first);
    this.#arm();
    for (const [id] of due) await this.#use(id, (session) => this.#expire(session));
  }

  async #expire(session: LiveSession): Promise<void> {
    const { state } = session.log;
    const now = this.#host.clock.monotonic();
    const deadlines = this.#findDeadlines(session.id, state);
    const due = new Set([...deadlines].flatMap(([id, deadline]) => (deadline <= now ? [id] : [])));
    if (due.size === 0) this.watch(session.id, state);
    const { waitingFor } = await session.view();
    for (const { id: waitId, digest, expiresAt = 0 } of waitingFor) {
      if (!due.has(waitId)) continue;
      const reason = `nobody answered in time (until ${new Date(expiresAt).toISOString()})`;
      const request: ActionRequest =
        this.#approvals.whenExpired === 'approve' ? { type: 'approve', waitId, digest } : { type: 'reject', waitId, digest, reason };
      await session.act(request, { by, until: 'accepted' });
    }
  }

  async #use(sessionId: string, work: (session: LiveSession) => Promise<void>): Promise<void> {
    try {
      await this.#host.sessions.use(sessionId, work);
    } catch (error) {
      this.#host.report(error, `the expiry of session ${sessionId}`);
    }
  }
}
