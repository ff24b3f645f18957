// The sessions of one store, in the process that owns it.
// Owns:     the claim on the store, which sessions are in memory, what is resumed without being asked for, and when all of it ends.
// Does not: know what a session holds, how a step is taken, or who may ask for what.
// R1. Interrupted sessions are found at the start and resumed; a damaged one is set aside, and harms no other.
// R2. Once another has claimed the store, nothing more is done here.
import { reportSafely, reportToConsole } from '../events/index.ts';
import type { Clock, JsonObject } from '../lib/index.ts';
import { jsonEquals, present, sleep, SteplineError, systemClock } from '../lib/index.ts';
import type { RunState } from '../step-by-step/index.ts';
import type { Action } from './action.ts';
import { Agents } from './agents.ts';
import { readBody } from './entries.ts';
import { ExpiryTimer } from './expiry-timer.ts';
import type { SessionServices } from './live-session.ts';
import { LiveSession } from './live-session.ts';
import { OutageTimer } from './outage-timer.ts';
import { RequestReusedError } from './request-reused-error.ts';
import { RuntimeClosedError } from './runtime-closed-error.ts';
import type { Recovery, SessionRuntimeOptions } from './runtime-options.ts';
import type { Session, SessionFacts } from './session.ts';
import { SessionConflictError } from './session-conflict-error.ts';
import { SessionDamagedError } from './session-damaged-error.ts';
import type { ClaimedStore, NewLog } from './session-log.ts';
import { SessionLog } from './session-log.ts';
import { SessionPool } from './session-pool.ts';
import type { ListedSession, SessionStore } from './session-store.ts';
import { listAll } from './session-store.ts';
import { UnknownSessionError } from './unknown-session-error.ts';

/** Delay before a failed store is tried again. */
const retryStoreMs = 10_000;

const hasCode = (error: unknown, code: string): boolean => SteplineError.is(error) && error.code === code;

/** True if a session was created by the same author, with the same wishes. */
function isSameCreation({ facts, action }: NewLog, existing: SessionFacts, creation: Action | undefined): boolean {
  const toWishes = ({ agent, createdAt: _, ...rest }: SessionFacts): JsonObject => present({ ...rest, agent: agent.id });
  return creation !== undefined && jsonEquals({ ...creation.by }, { ...action.by }) && jsonEquals(toWishes(facts), toWishes(existing));
}

export class SessionHost implements SessionServices {
  readonly ready: Promise<Recovery>;
  readonly options: SessionRuntimeOptions;
  readonly agents: Agents;
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly sessions: SessionPool;
  readonly #expiry: ExpiryTimer | undefined;
  readonly #outages: OutageTimer;
  readonly #closing = new AbortController();
  /** Readers to call when more of a session is stored, by its id. */
  readonly #followers = new Map<string, Set<() => void>>();
  /** Sessions that wait until a store that failed is tried again. */
  readonly #retrying = new Set<string>();
  readonly #claimed: Promise<ClaimedStore>;

  constructor(options: SessionRuntimeOptions) {
    const { agents, store, onVersionChange, clock = systemClock, keepInMemory = 100, approvals } = options;
    this.options = options;
    this.store = store;
    this.clock = clock;
    this.agents = new Agents(agents, onVersionChange);
    this.sessions = new SessionPool((sessionId) => this.#load(sessionId), keepInMemory);
    this.#expiry = approvals && new ExpiryTimer(approvals, this);
    this.#outages = new OutageTimer(this);
    this.#claimed = store.claim().then((epoch) => ({ store, epoch, clock, approvals }));
    this.ready = this.#recover();
    // Whoever asks for something gets the error; sessions that were resumed already must not continue alone.
    this.ready.catch((error: unknown) => this.#end('it could not begin', error));
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Throws if nothing more may be done. */
  async assertOpen(): Promise<void> {
    await this.ready;
    if (this.closing.aborted) throw new RuntimeClosedError(String(this.closing.reason));
  }

  async readState(sessionId: string): Promise<RunState> {
    await this.ready;
    return this.sessions.use(sessionId, ({ log }) => log.state);
  }

  /** Creates a session. The same request creates none again, and returns the one that it created. */
  async create(parts: NewLog, requestId: string | undefined): Promise<Session> {
    const { id } = parts.facts;
    await this.assertOpen();
    try {
      const session = new LiveSession(await SessionLog.create(await this.#claimed, parts, requestId), this);
      this.sessions.add(session);
      return await session.view();
    } catch (error) {
      if (!(error instanceof SessionConflictError) || requestId === undefined) throw error;
      const [first] = await this.store.entries(id, { to: 1 });
      if (first?.requestId !== requestId) throw error;
      return this.sessions.use(id, (session) => {
        if (!isSameCreation(parts, session.log.facts, readBody(first.body).action)) throw new RequestReusedError(requestId);
        return session.view();
      });
    }
  }

  /** Calls back when more of a session is stored; returns its unsubscribe. */
  follow(sessionId: string, call: () => void): () => void {
    const followers = this.#followers.get(sessionId) ?? new Set();
    this.#followers.set(sessionId, followers.add(call));
    return () => {
      followers.delete(call);
      if (followers.size === 0) this.#followers.delete(sessionId);
    };
  }

  /** Starts no more work, and lets open steps end within the given time. */
  async drain(timeoutMs: number): Promise<void> {
    this.#closing.abort('it was drained');
    await this.ready.catch(() => undefined);
    const timeout = new AbortController();
    await Promise.race([Promise.all(this.sessions.all.map((session) => session.whenIdle())), sleep(this.clock, timeoutMs, timeout.signal)]);
    timeout.abort();
    this.#end('it was drained', new RuntimeClosedError('it was drained', { isStored: true }));
  }

  onStored(sessionId: string): void {
    for (const call of this.#followers.get(sessionId) ?? []) call();
  }

  onIdle(session: LiveSession): void {
    this.#expiry?.watch(session.log.state);
    this.#outages.watch(session);
    this.sessions.trim();
  }

  onReleased(session: LiveSession, error: unknown): void {
    this.sessions.drop(session);
    if (!this.closing.aborted) this.report(error, `session ${session.id}`);
    if (hasCode(error, 'store-fenced')) this.#end('another runtime has taken the store over', error);
    else if (hasCode(error, 'store-unavailable')) this.#retryLater(session.id);
  }

  report(error: unknown, where: string): void {
    reportSafely(this.options.onProblem ?? reportToConsole, error, where);
  }

  async #recover(): Promise<Recovery> {
    await this.#claimed;
    const resumed: string[] = [];
    const failed: { readonly sessionId: string; readonly error: unknown }[] = [];
    for await (const listed of listAll(this.store, { isOpen: true })) {
      if (this.closing.aborted) break;
      try {
        await this.#resume(listed);
        resumed.push(listed.id);
      } catch (error) {
        failed.push({ sessionId: listed.id, error });
        this.report(error, `session ${listed.id}`);
      }
    }
    if (!this.closing.aborted) await this.#expiry?.start();
    if (!this.closing.aborted) await this.#outages.start();
    return { resumed, failed };
  }

  async #resume({ id, damage }: Pick<ListedSession, 'id' | 'damage'>): Promise<void> {
    await this.sessions.use(id, (session) => {
      // Throws now if it cannot be resumed: another version of its agent, a missing one.
      this.agents.findSuccessor(session.log.facts.agent);
      session.resume();
    });
    // A damaged session was repaired, or it could not have been read.
    if (damage !== undefined) await this.store.quarantine(id, undefined);
  }

  async #load(sessionId: string): Promise<LiveSession> {
    try {
      const stored = await this.store.load(sessionId);
      if (stored === undefined) throw new UnknownSessionError(sessionId);
      const { states } = this.agents.newest(stored.header.agentId);
      return new LiveSession(SessionLog.load(await this.#claimed, stored, states), this);
    } catch (error) {
      if (error instanceof SessionDamagedError) await this.store.quarantine(sessionId, error.damage);
      throw error;
    }
  }

  /** A store that failed may work again: what is left to do is then resumed, also if nobody asks for it. */
  #retryLater(id: string): void {
    if (this.#retrying.has(id)) return;
    this.#retrying.add(id);
    const retry = async (): Promise<void> => {
      this.#retrying.delete(id);
      try {
        await this.#resume({ id });
      } catch (error) {
        if (hasCode(error, 'store-unavailable')) this.#retryLater(id);
        else this.report(error, `session ${id}`);
      }
    };
    sleep(this.clock, retryStoreMs, this.closing).then(retry, () => undefined);
  }

  /** Ends everything, including work in progress. */
  #end(why: string, error: unknown): void {
    this.#closing.abort(why);
    for (const session of this.sessions.all) session.release(error);
  }
}
