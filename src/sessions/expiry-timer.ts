// The timer that expires approvals.
// Owns:     when it looks for approvals that have expired, and what is decided then.
// Does not: know when an approval expires, or store anything itself.
import type { Clock } from '../lib/index.ts';
import type { RunState } from '../step-by-step/index.ts';
import type { ActionRequest } from './action.ts';
import type { ExpiryOptions } from './expiry.ts';
import { getWakeAt } from './expiry.ts';
import type { LiveSession } from './live-session.ts';
import type { SessionPool } from './session-pool.ts';
import type { SessionStore } from './session-store.ts';
import { listAll } from './session-store.ts';

/** Look-ahead time. Later expiries are found by a later check. */
const lookAheadMs = 60_000;

const by = { id: 'expiry', kind: 'system' };

/** Services the host of the sessions provides to its timer. */
interface ExpiryHost {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly closing: AbortSignal;
  readonly sessions: SessionPool;
  report(error: unknown, where: string): void;
}

export class ExpiryTimer {
  readonly #approvals: ExpiryOptions;
  readonly #host: ExpiryHost;
  #cancel: (() => void) | undefined;
  /** Nothing is earlier than this before the start. */
  #next = Number.NEGATIVE_INFINITY;

  constructor(approvals: ExpiryOptions, host: ExpiryHost) {
    this.#approvals = approvals;
    this.#host = host;
    host.closing.addEventListener('abort', () => this.#cancel?.());
  }

  /** Looks for approvals that have expired, now and from then on. */
  async start(): Promise<void> {
    const { store, clock } = this.#host;
    // Approvals that were asked for before they could expire have no time to wake at yet.
    for await (const { id, header } of listAll(store, { status: 'waiting' })) {
      if (header === undefined || header.wakeAt !== undefined) continue;
      await this.#use(id, async (session) => {
        if (getWakeAt(this.#approvals, session.log.state) !== undefined) await session.touch();
      });
    }
    this.#next = clock.now();
    this.#arm();
  }

  /** Looks at the time at which something in this state expires, if that is earlier than planned. */
  watch(state: RunState): void {
    const at = getWakeAt(this.#approvals, state);
    if (at === undefined || at >= this.#next) return;
    this.#next = at;
    this.#arm();
  }

  #arm(): void {
    const { clock, closing } = this.#host;
    this.#cancel?.();
    if (closing.aborted) return;
    this.#cancel = clock.schedule(Math.max(0, Math.min(lookAheadMs, this.#next - clock.now())), () => void this.#look());
  }

  /** Settles the approvals that have expired, and notes when the next one does. */
  async #look(): Promise<void> {
    const { store, clock } = this.#host;
    this.#next = Number.POSITIVE_INFINITY;
    const now = clock.now();
    try {
      for await (const { id, header, damage } of listAll(store, { wakeBefore: now + lookAheadMs })) {
        if (header?.wakeAt !== undefined && header.wakeAt > now) this.#next = Math.min(this.#next, header.wakeAt);
        else if (damage === undefined) await this.#use(id, (session) => this.#expire(session));
      }
    } catch (error) {
      this.#host.report(error, 'looking for approvals that have expired');
    }
    this.#arm();
  }

  async #expire(session: LiveSession): Promise<void> {
    const { waitingFor } = await session.view();
    for (const { id: waitId, digest, expiresAt = Number.POSITIVE_INFINITY } of waitingFor) {
      if (expiresAt > this.#host.clock.now()) continue;
      const reason = `nobody answered until ${new Date(expiresAt).toISOString()}`;
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
