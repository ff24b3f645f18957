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
import { SteplineError } from '../../lib/index.ts';
import type { EventFilter, FedCommit, FeedReader } from '../feed/feed-reader.ts';
import type { FeedQuery, Notes } from '../store/session-store.ts';
import { listRetries, putLetter, settleRetry } from './dead-letters.ts';
import type { DeadLetter, DeliverOptions, SendEvents } from './delivery.ts';
import { beatMs, DeliveryLease } from './delivery-lease.ts';
import type { BehindSession, DeliveryState } from './delivery-state.ts';
import { computeDelay, emptyState, findBehind, withBehind, withoutSessions, withSkipped } from './delivery-state.ts';
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

export type ParsedDeliverOptions = Required<Omit<DeliverOptions, 'tenant' | 'types'>> & Pick<DeliverOptions, 'tenant' | 'types'>;

/** Longest time that a place is known only to this process. */
const saveEveryMs = 1000;
/** Number of sessions that are behind while more is read. */
const mostBehind = 100;
/** Pause after an error of the store. */
const retryStoreMs = 1000;
const pageSize = 50;

const isClosed = (error: unknown): boolean => SteplineError.is(error) && 'problem' in error && error.problem === 'closed';

export class DeliveryWorker {
  readonly name: string;
  readonly #send: SendEvents;
  readonly #services: DeliveryServices;
  readonly #options: ParsedDeliverOptions;
  readonly #filter: EventFilter;
  readonly #lease: DeliveryLease;
  readonly #stopping = new AbortController();
  readonly #places: Places;
  /** Sessions that are being caught up on. */
  readonly #catchingUp = new Map<string, Promise<void>>();
  readonly #running: Promise<void>;
  #state: DeliveryState = emptyState;
  /** Aborted when another process has taken the name, or may have. */
  #held = new AbortController();
  #isDirty = false;
  #hasNews = false;
  /** Time of the last look at letters that are to be sent again. */
  #lettersAt = -Infinity;
  #wake = (): void => undefined;

  constructor(name: string, send: SendEvents, { services, options }: { services: DeliveryServices; options: ParsedDeliverOptions }) {
    this.name = name;
    this.#send = send;
    this.#services = services;
    this.#options = options;
    this.#filter = { redact: options.redact, ...(options.types !== undefined && { types: options.types }) };
    const { notes, heartbeatClock: clock, id } = services;
    const onDeleted = (sessionIds: ReadonlySet<string>): void => void (this.#state = withoutSessions(this.#state, sessionIds));
    this.#lease = new DeliveryLease({ notes, clock, id, onDeleted }, name);
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

  #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  #hasEnded(): boolean {
    return this.#isStopped() || this.#held.signal.aborted;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped()) {
      try {
        this.#state = await this.#lease.take(this.#stopping.signal);
        this.#held = new AbortController();
        await this.#work();
      } catch (error) {
        if (this.#isStopped() || isClosed(error)) return;
        this.#services.report(error, `the delivery "${this.name}"`);
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
        await this.#saveIfDue();
        if (!hasMore) await this.#waitForNews();
      }
    } finally {
      unfollow();
      stopBeating();
      await Promise.allSettled(this.#catchingUp.values());
      const { holder: _, ...free } = this.#state;
      if (!this.#held.signal.aborted) await this.#lease.save(free);
    }
  }

  /** Finds the place where a new delivery begins, and stores it. */
  async #begin(): Promise<void> {
    if (this.#state.cursor !== undefined || this.#options.startAt === 'start') return;
    const { cursor } = await this.#services.reader.readPage({ after: 'end' }, this.#filter);
    this.#change({ ...this.#state, cursor });
    await this.#save();
  }

  #change(state: DeliveryState): void {
    this.#state = state;
    this.#isDirty = true;
  }

  /** Sends the next commits. Returns true if there are more. */
  async #deliverPage(): Promise<boolean> {
    const { cursor } = this.#state;
    const { tenant } = this.#options;
    if (this.#state.behind.length >= mostBehind) return false;
    const query: FeedQuery = { limit: pageSize, ...(cursor !== undefined && { after: cursor }), ...(tenant !== undefined && { tenant }) };
    const page = await this.#services.reader.readPage(query, this.#filter);
    const bySession = new Map<string, FedCommit[]>();
    for (const commit of page.commits) bySession.set(commit.facts.id, [...(bySession.get(commit.facts.id) ?? []), commit]);
    await Promise.all([...bySession.values()].map((commits) => this.#deliverInOrder(commits)));
    if (this.#hasEnded()) return false;
    if (page.cursor !== cursor) this.#change({ ...this.#state, cursor: page.cursor });
    return page.hasMore;
  }

  async #deliverInOrder(commits: readonly FedCommit[]): Promise<void> {
    for (const commit of commits) {
      const sessionId = commit.facts.id;
      if (findBehind(this.#state, sessionId) !== undefined) {
        this.#change(withSkipped(this.#state, sessionId, commit.lastSeq));
        continue;
      }
      const session = { sessionId, afterSeq: getAfterSeq(commit), skippedSeq: commit.lastSeq, attempts: 0, retryAt: 0, error: '' };
      const sent = await this.#attempt(commit, 1);
      if (this.#hasEnded() && !sent.ok) return;
      if (!sent.ok) await this.#noteFailure(session, commit, sent);
    }
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
    if (this.#lease.isSure()) return true;
    await this.#save().catch((error: unknown) => isClosed(error) || this.#services.report(error, `the delivery "${this.name}"`));
    if (!this.#lease.isSure()) this.#held.abort();
    return !this.#hasEnded();
  }

  /** Notes a failed attempt: the session waits, or goes on without these events if there were too many. */
  async #noteFailure(session: BehindSession, commit: FedCommit, { error, retryAfterMs }: Extract<Sent, { ok: false }>): Promise<void> {
    const attempts = session.attempts + 1;
    if (attempts >= this.#options.maxAttempts) {
      const { tenant, owner } = commit.facts;
      const found = { ...(tenant !== undefined && { tenant }), ...(owner !== undefined && { owner }) };
      const { lastSeq } = commit;
      const at = this.#services.clock.now();
      const ids = { id: await createDeliveryId(this.name, commit), name: this.name, sessionId: session.sessionId };
      const letter = { ...ids, ...found, afterSeq: getAfterSeq(commit), lastSeq, attempts, error, at };
      if (await putLetter(this.#services.notes, letter))
        this.#services.report(new Error(`${error} (${attempts} attempts)`), `the delivery "${this.name}": dead letter ${ids.id}`);
      this.#noteDelivered(session, commit);
      return;
    }
    const delay = computeDelay(attempts, { ...this.#options, ...(retryAfterMs !== undefined && { retryAfterMs }) });
    const { skippedSeq } = findBehind(this.#state, session.sessionId) ?? session;
    this.#change(withBehind(this.#state, { ...session, skippedSeq, attempts, error, retryAt: this.#services.clock.now() + delay }));
  }

  #noteDelivered(session: BehindSession, { lastSeq }: FedCommit): void {
    const { skippedSeq } = findBehind(this.#state, session.sessionId) ?? session;
    this.#change(withBehind(this.#state, { ...session, skippedSeq, afterSeq: lastSeq, attempts: 0, retryAt: 0, error: '' }));
  }

  /** Starts to send what sessions are behind with, if their pauses are over. */
  #catchUp(): void {
    const now = this.#services.clock.now();
    for (const { sessionId, retryAt } of this.#state.behind) {
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
      const session = findBehind(this.#state, sessionId);
      if (session === undefined || this.#hasEnded()) return;
      const page = await this.#services.reader.readSession(sessionId, { afterSeq: session.afterSeq, limit: 20 }, this.#filter);
      // The cursor may have passed more of its commits meanwhile.
      const { skippedSeq } = findBehind(this.#state, sessionId) ?? session;
      const due = page.commits.filter(({ events }) => (events[0]?.seq ?? 0) <= skippedSeq);
      // All of the page is of other types, or nothing is left: the session was deleted.
      if (due.length === 0) this.#change(withBehind(this.#state, { ...session, skippedSeq, afterSeq: page.lastSeq ?? skippedSeq }));
      for (const commit of due) {
        const current = findBehind(this.#state, sessionId);
        if (current === undefined) return;
        const sent = await this.#attempt(commit, current.attempts + 1);
        if (!sent.ok && this.#hasEnded()) return;
        if (sent.ok) this.#noteDelivered(current, commit);
        else await this.#noteFailure(current, commit, sent);
        if ((findBehind(this.#state, sessionId)?.attempts ?? 0) > 0) return;
      }
    }
  }

  /** A session that cannot be read is left out; everything else is tried again. */
  #failCatchingUp(sessionId: string, error: unknown): void {
    if (isClosed(error)) return;
    this.#services.report(error, `the delivery "${this.name}"`);
    const session = findBehind(this.#state, sessionId);
    if (session === undefined) return;
    const isDamaged = SteplineError.is(error) && error.code === 'session-damaged';
    const retryAt = this.#services.clock.now() + this.#options.firstDelayMs;
    this.#change(withBehind(this.#state, isDamaged ? { ...session, afterSeq: session.skippedSeq } : { ...session, retryAt }));
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
    this.#isDirty = false;
    if (!(await this.#lease.save(this.#state))) {
      this.#held.abort();
      this.poke();
    }
  }

  async #saveIfDue(): Promise<void> {
    const sinceMs = this.#services.heartbeatClock.monotonic() - this.#lease.savedAt;
    if (this.#isDirty && sinceMs >= saveEveryMs) await this.#save();
  }

  /** Stores the state now and then, also if nothing changes: others see that this process is alive. */
  #startBeating(): () => void {
    const { heartbeatClock, report } = this.#services;
    let cancel = (): void => undefined;
    const arm = (): void => {
      cancel = heartbeatClock.schedule(saveEveryMs, () => {
        arm();
        const isDue = this.#isDirty || heartbeatClock.monotonic() - this.#lease.savedAt >= beatMs;
        if (isDue) this.#save().catch((error: unknown) => isClosed(error) || report(error, `the delivery "${this.name}"`));
      });
    };
    arm();
    return () => cancel();
  }

  /** Waits until something was stored, or the next pause is over. */
  async #waitForNews(): Promise<void> {
    const { clock } = this.#services;
    const due = this.#state.behind.filter(({ sessionId }) => !this.#catchingUp.has(sessionId)).map(({ retryAt }) => retryAt);
    const waitMs = due.length === 0 ? undefined : Math.max(0, Math.min(...due) - clock.now());
    if (this.#hasNews || this.#hasEnded()) return;
    await this.#pause(waitMs);
  }

  async #pause(ms: number | undefined): Promise<void> {
    const cancel = ms === undefined ? (): void => undefined : this.#services.clock.schedule(ms, () => this.poke());
    if (!this.#stopping.signal.aborted) await new Promise<void>((resolve) => (this.#wake = resolve));
    cancel();
  }
}
