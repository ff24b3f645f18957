// Delivering the events of all sessions to a receiver.
// Owns:     what is sent when, and what is noted of it.
// Does not: know the receiver, or hold up a run: it reads what is stored, beside the runs.
// L1. Every event after the place where the delivery began is sent at least once, whatever ends a process in between: the place is stored
//     after everything before it was sent, or noted as behind.
// L2. Events of a session are sent in their order, a commit at a time; the next one only after the last one was accepted or is a dead
//     letter. A session whose receiver fails waits alone.
// L3. If many sessions fail, the receiver is down: nothing more is read until some of them get through.
// L4. One process at a time delivers under a name. One that is no longer sure of it sends nothing new.
import type { Clock } from '../../lib/index.ts';
import { omitUndefined } from '../../lib/index.ts';
import { hasCode, isStoreClosed } from '../core/errors.ts';
import type { FeedFilter } from '../core/feed.ts';
import type { EventFilter, FedCommit, FeedReader } from '../feed/feed-reader.ts';
import type { FeedQuery, Notes } from '../store/session-store.ts';
import { listRetries, putLetter, settleRetry } from './dead-letters.ts';
import type { DeadLetter, DeliverOptions, SendEvents } from './delivery.ts';
import type { BehindSession } from './delivery-place.ts';
import { beatMs, DeliveryPlace } from './delivery-place.ts';
import { Places } from './places.ts';
import type { Sent } from './send-commit.ts';
import { createDeliveryId, getAfterSeq, sendCommit } from './send-commit.ts';

/** Services that a delivery needs. */
export interface DeliveryServices {
  readonly notes: Notes;
  readonly reader: FeedReader;
  /** Clock of attempts and pauses. */
  readonly clock: Clock;
  /** Clock of what depends on other processes. */
  readonly heartbeatClock: Clock;
  /** Calls back when something may have been stored; returns its unsubscribe. */
  readonly follow: (call: () => void) => () => void;
  readonly report: (error: unknown, where: string) => void;
  /** Identifies this delivery among those of all processes. */
  readonly id: string;
}

export type ParsedDeliverOptions = Required<Omit<DeliverOptions, keyof FeedFilter>> & FeedFilter;

/** Longest time that a place is known only to this process. */
const saveEveryMs = 1000;
/** Number of sessions that are behind while more is read. */
const mostBehind = 100;
/** Pause after an error of the store. */
const retryStoreMs = 1000;
const pageSize = 50;

/** Fields of a session whose next commit was not tried yet. */
const untried = { attempts: 0, retryAt: 0, error: '' };

export class DeliveryWorker {
  readonly name: string;
  readonly #send: SendEvents;
  readonly #services: DeliveryServices;
  readonly #options: ParsedDeliverOptions;
  readonly #filter: EventFilter;
  readonly #place: DeliveryPlace;
  readonly #stopping = new AbortController();
  readonly #places: Places;
  /** Sessions that are being caught up on. */
  readonly #catchingUp = new Map<string, Promise<void>>();
  readonly #running: Promise<void>;
  /** Aborted when another process has taken the name, or may have. */
  #held = new AbortController();
  #hasNews = false;
  /** Time of the last look at letters that are to be sent again. */
  #lettersAt = -Infinity;
  #wake = (): void => undefined;

  constructor(name: string, send: SendEvents, { services, options }: { services: DeliveryServices; options: ParsedDeliverOptions }) {
    this.name = name;
    this.#send = send;
    this.#services = services;
    this.#options = options;
    this.#filter = omitUndefined({ redact: options.redact, types: options.types });
    this.#place = new DeliveryPlace({ ...services, clock: services.heartbeatClock }, name);
    this.#places = new Places(options.concurrency);
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the delivery was stopped'));
    this.poke();
    await this.#running;
  }

  /** Looks again at what there is to do. */
  poke(): void {
    this.#hasNews = true;
    this.#wake();
  }

  /** Looks at dead letters that are to be sent again. */
  pokeLetters(): void {
    this.#lettersAt = -Infinity;
    this.poke();
  }

  readonly #report = (error: unknown): void => {
    if (!isStoreClosed(error)) this.#services.report(error, `the delivery "${this.name}"`);
  };

  #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  #hasEnded(): boolean {
    return this.#isStopped() || this.#held.signal.aborted;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped()) {
      try {
        await this.#place.take(this.#stopping.signal);
        this.#held = new AbortController();
        await this.#work();
      } catch (error) {
        if (this.#isStopped() || isStoreClosed(error)) return;
        this.#report(error);
        await this.#pause(retryStoreMs);
      }
    }
  }

  /** Delivers until it is stopped, or another process takes the name. */
  async #work(): Promise<void> {
    const unfollow = this.#services.follow(() => this.poke());
    const stopBeating = this.#startBeating();
    try {
      await this.#begin();
      while (!this.#hasEnded()) {
        this.#hasNews = false;
        const hasMore = await this.#deliverPage();
        this.#catchUp();
        await this.#retryLetters();
        if (!hasMore) await this.#waitForNews();
      }
    } finally {
      unfollow();
      stopBeating();
      await Promise.allSettled(this.#catchingUp.values());
      if (!this.#held.signal.aborted) await this.#place.save({ isLast: true });
    }
  }

  /** Finds the place where a new delivery begins, and stores it. */
  async #begin(): Promise<void> {
    if (this.#place.cursor !== undefined || this.#options.startAt === 'start') return;
    const { cursor } = await this.#services.reader.readPage({ after: 'end' }, this.#filter);
    this.#place.moveTo(cursor);
    await this.#save();
  }

  /** Sends the next commits. Returns true if there are more. */
  async #deliverPage(): Promise<boolean> {
    const { cursor: after, behind } = this.#place;
    if (behind.size >= mostBehind) return false;
    const query: FeedQuery = omitUndefined({ limit: pageSize, after, tenant: this.#options.tenant });
    const { commits, cursor, hasMore } = await this.#services.reader.readPage(query, this.#filter);
    const bySession = new Map<string, FedCommit[]>();
    for (const commit of commits) bySession.set(commit.sessionId, [...(bySession.get(commit.sessionId) ?? []), commit]);
    await Promise.all([...bySession.values()].map((each) => this.#deliverInOrder(each)));
    if (this.#hasEnded()) return false;
    if (cursor !== after) this.#place.moveTo(cursor);
    return hasMore;
  }

  async #deliverInOrder(commits: readonly FedCommit[]): Promise<void> {
    for (const commit of commits) {
      const { sessionId, lastSeq: skippedSeq } = commit;
      const behind = this.#place.behind.get(sessionId);
      if (behind !== undefined) this.#place.note({ ...behind, skippedSeq });
      else await this.#deliver({ sessionId, afterSeq: getAfterSeq(commit), skippedSeq, ...untried }, commit);
    }
  }

  /** Sends the next commit of a session, and notes how that ended. A failure does not count once the delivery has ended. */
  async #deliver(session: BehindSession, commit: FedCommit): Promise<void> {
    const sent = await this.#attempt(commit, session.attempts + 1);
    if (sent.ok) this.#place.note({ ...session, ...untried, afterSeq: commit.lastSeq });
    else if (!this.#hasEnded()) await this.#noteFailure(session, commit, sent);
  }

  async #attempt(commit: FedCommit, attempt: number): Promise<Sent> {
    return this.#places.use(async () => {
      if (!(await this.#maySend())) return { ok: false, error: 'the delivery has ended' };
      const { clock } = this.#services;
      return sendCommit(this.#send, { commit, name: this.name, attempt }, { clock, timeoutMs: this.#options.timeoutMs });
    });
  }

  /** Returns false if another process may have taken the name: then this one has to take it again before it sends anything. */
  async #maySend(): Promise<boolean> {
    if (this.#hasEnded()) return false;
    if (this.#place.isSure()) return true;
    await this.#save().catch(this.#report);
    if (!this.#place.isSure()) this.#held.abort();
    return !this.#hasEnded();
  }

  /** Notes a failed attempt: the session waits, or goes on without these events if there were too many. */
  async #noteFailure(session: BehindSession, commit: FedCommit, { error, retryAfterMs }: Extract<Sent, { ok: false }>): Promise<void> {
    const attempts = session.attempts + 1;
    const { clock, notes, report } = this.#services;
    if (attempts < this.#options.maxAttempts) {
      this.#place.note({ ...session, attempts, error, retryAt: clock.now() + this.#computeDelay(attempts, retryAfterMs) });
      return;
    }
    const { sessionId, tenant, owner, lastSeq } = commit;
    const id = await createDeliveryId(this.name, commit);
    const place = omitUndefined({ id, name: this.name, sessionId, tenant, owner, afterSeq: getAfterSeq(commit), lastSeq });
    if (await putLetter(notes, { ...place, attempts, error, at: clock.now() }))
      report(new Error(`${error} (${attempts} attempts)`), `the delivery "${this.name}": dead letter ${id}`);
    this.#place.note({ ...session, ...untried, afterSeq: lastSeq });
  }

  /** Returns the pause after a number of failures in a row. */
  #computeDelay(attempts: number, retryAfterMs = 0): number {
    const { firstDelayMs, maxDelayMs } = this.#options;
    return Math.min(maxDelayMs, Math.max(retryAfterMs, firstDelayMs * 2 ** Math.min(attempts - 1, 40)));
  }

  /** Starts to send what sessions are behind with, if their pauses are over. */
  #catchUp(): void {
    const now = this.#services.clock.now();
    for (const { sessionId, retryAt } of this.#place.behind.values()) {
      // A clock that was set back must not make a pause longer.
      if (this.#catchingUp.has(sessionId) || (retryAt > now && retryAt - now <= this.#options.maxDelayMs)) continue;
      const work = this.#catchUpWith(sessionId)
        .catch((error: unknown) => this.#failCatchingUp(sessionId, error))
        .finally(() => {
          this.#catchingUp.delete(sessionId);
          this.poke();
        });
      this.#catchingUp.set(sessionId, work);
    }
  }

  async #catchUpWith(sessionId: string): Promise<void> {
    for (;;) {
      const session = this.#place.behind.get(sessionId);
      if (session === undefined || this.#hasEnded()) return;
      const page = await this.#services.reader.readSession(sessionId, { afterSeq: session.afterSeq, limit: 20 }, this.#filter);
      // The cursor may have passed more of its commits meanwhile.
      const { skippedSeq } = this.#place.behind.get(sessionId) ?? session;
      const due = page.commits.filter(({ events }) => (events[0]?.seq ?? 0) <= skippedSeq);
      // All of the page is of other types, or nothing is left: the session was deleted.
      if (due.length === 0) this.#place.note({ ...session, afterSeq: page.lastSeq ?? skippedSeq });
      for (const commit of due) {
        const current = this.#place.behind.get(sessionId);
        if (current === undefined) return;
        await this.#deliver(current, commit);
        if (this.#hasEnded() || (this.#place.behind.get(sessionId)?.attempts ?? 0) > 0) return;
      }
    }
  }

  /** A session that cannot be read is left out; everything else is tried again. */
  #failCatchingUp(sessionId: string, error: unknown): void {
    this.#report(error);
    const session = this.#place.behind.get(sessionId);
    if (session === undefined || isStoreClosed(error)) return;
    const retryAt = this.#services.clock.now() + this.#options.firstDelayMs;
    this.#place.note(hasCode(error, 'session-damaged') ? { ...session, afterSeq: session.skippedSeq } : { ...session, retryAt });
  }

  /** Sends dead letters again that somebody asked for. */
  async #retryLetters(): Promise<void> {
    const now = this.#services.heartbeatClock.monotonic();
    if (now - this.#lettersAt < beatMs) return;
    this.#lettersAt = now;
    for (const letter of await listRetries(this.#services.notes, this.name)) {
      if (this.#hasEnded()) return;
      const error = await this.#sendLetter(letter);
      if (this.#hasEnded() && error !== undefined) return;
      const { notes, clock } = this.#services;
      if (error !== undefined) await putLetter(notes, { ...letter, attempts: letter.attempts + 1, error, at: clock.now() });
      await settleRetry(notes, letter, error === undefined);
    }
  }

  /** Returns the error if it failed again. */
  async #sendLetter({ sessionId, afterSeq, lastSeq, attempts }: DeadLetter): Promise<string | undefined> {
    const { commits } = await this.#services.reader.readSession(sessionId, { afterSeq, limit: 20 }, this.#filter);
    for (const commit of commits.filter((each) => each.lastSeq <= lastSeq)) {
      const sent = await this.#attempt(commit, attempts + 1);
      if (!sent.ok) return sent.error;
    }
    return undefined;
  }

  async #save(): Promise<void> {
    if (await this.#place.save()) return;
    this.#held.abort();
    this.poke();
  }

  /** Stores the place now and then, also if nothing changes: others see that this process is alive. */
  #startBeating(): () => void {
    const { heartbeatClock } = this.#services;
    let cancel = (): void => undefined;
    const arm = (): void => {
      cancel = heartbeatClock.schedule(saveEveryMs, () => {
        arm();
        const isDue = this.#place.isDirty || this.#place.getSilentMs() >= beatMs;
        if (isDue) this.#save().catch(this.#report);
      });
    };
    arm();
    return () => cancel();
  }

  /** Waits until something was stored, or the next pause is over. */
  async #waitForNews(): Promise<void> {
    const { clock } = this.#services;
    const waiting = [...this.#place.behind.values()].filter(({ sessionId }) => !this.#catchingUp.has(sessionId));
    const waitMs = waiting.length === 0 ? undefined : Math.max(0, Math.min(...waiting.map(({ retryAt }) => retryAt)) - clock.now());
    if (this.#hasNews || this.#hasEnded()) return;
    await this.#pause(waitMs);
  }

  async #pause(ms: number | undefined): Promise<void> {
    const cancel = ms === undefined ? (): void => undefined : this.#services.clock.schedule(ms, () => this.poke());
    if (!this.#stopping.signal.aborted) await new Promise<void>((resolve) => (this.#wake = resolve));
    cancel();
  }
}
