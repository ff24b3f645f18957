// The sessions of one store, in the process that owns it.
// Owns:     the claim on the store, which sessions are in memory, what is resumed without being asked for, and when all of it ends.
// Does not: know what a session holds, how a step is taken, or who may ask for what.
// R1. Interrupted sessions are found at the start and resumed; a damaged one, or one that ends the process, harms no other.
// R2. Once another has claimed the store, nothing more is done here.
import { notifyListener, reportSafely, reportToConsole } from '../events/index.ts';
import type { Clock, JsonObject } from '../lib/index.ts';
import { cleanText, jsonEquals, present, sleep, SteplineError, systemClock, systemIds } from '../lib/index.ts';
import type { RunState } from '../step-by-step/index.ts';
import type { Action } from './action.ts';
import { Agents } from './agents.ts';
import { claimStore, startHeartbeat } from './claim-store.ts';
import { findCrashLoop, storeCrashLoop } from './crash-loop.ts';
import { readBody } from './entries.ts';
import { ExpiryTimer } from './expiry-timer.ts';
import type { SessionServices } from './live-session.ts';
import { LiveSession } from './live-session.ts';
import { OutageTimer } from './outage-timer.ts';
import { RequestReusedError } from './request-reused-error.ts';
import { RecoveryGate, RunSlots } from './run-slots.ts';
import { RuntimeClosedError } from './runtime-closed-error.ts';
import type { Recovery, SessionRuntimeOptions } from './runtime-options.ts';
import type { Session, SessionFacts } from './session.ts';
import { toSession } from './session.ts';
import { SessionConflictError } from './session-conflict-error.ts';
import { SessionDamagedError } from './session-damaged-error.ts';
import type { ClaimedStore, NewLog } from './session-log.ts';
import { SessionLog } from './session-log.ts';
import { SessionPool } from './session-pool.ts';
import { SessionRecovery } from './session-recovery.ts';
import type { SessionStore } from './session-store.ts';
import { UnknownSessionError } from './unknown-session-error.ts';

/** Delay before a failed store is tried again. */
const retryStoreMs = 10_000;

/** Delay between two looks at what another process has stored. */
const lookForMoreMs = 100;

/** A claim that nobody ever has. */
const noEpoch = -1;

/** Time that the last writes have when the runtime ends. */
const leaveMs = 1000;

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
  readonly slots: RunSlots;
  readonly recoveries: RecoveryGate;
  readonly maxRecoveries: number;
  readonly #recovery: SessionRecovery;
  readonly #holderId: string = systemIds();
  readonly #expiry: ExpiryTimer | undefined;
  readonly #outages: OutageTimer;
  readonly #closing = new AbortController();
  /** Readers to call when more of a session is stored, by its id. */
  readonly #followers = new Map<string, Set<() => void>>();
  /** Sessions that wait until a store that failed is tried again. */
  readonly #retrying = new Set<string>();
  /** Sessions whose open step was left by this process itself. */
  readonly #releasedHere = new Set<string>();
  #claimed: Promise<ClaimedStore> | undefined;
  /** The process that holds the store, as far as it is known: this one, or another. */
  #holder: 'unknown' | 'this' | 'other' = 'unknown';
  /** Settles when it turns out that another process holds the store. */
  readonly #heldByOther: Promise<void>;
  #noteOther = (): void => undefined;
  #stopHeartbeat = (): void => undefined;
  #recovering: Promise<Recovery> | undefined;

  constructor(options: SessionRuntimeOptions) {
    const { agents, store, onVersionChange, clock = systemClock, keepInMemory = 100, approvals } = options;
    const { maxRecoveries = 3, maxConcurrent = 500 } = options;
    this.options = options;
    this.store = store;
    this.clock = clock;
    this.agents = new Agents(agents, onVersionChange);
    this.sessions = new SessionPool((sessionId) => this.#load(sessionId), keepInMemory);
    this.#expiry = approvals && new ExpiryTimer(approvals, this);
    this.#outages = new OutageTimer(this);
    this.slots = new RunSlots(maxConcurrent, this.closing);
    this.recoveries = new RecoveryGate(this.closing);
    this.maxRecoveries = maxRecoveries;
    this.#recovery = new SessionRecovery(this, maxConcurrent);
    this.#heldByOther = new Promise((resolve) => (this.#noteOther = resolve));
    this.ready = this.#recover();
    // Whoever asks for something gets the error.
    this.ready.catch(() => undefined);
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Throws if nothing more may be done. */
  async assertOpen(): Promise<void> {
    await this.whenClaimed();
    if (this.closing.aborted) throw new RuntimeClosedError(String(this.closing.reason));
  }

  /** Settles when the store is claimed. If that failed, it is tried again. */
  async whenClaimed(): Promise<ClaimedStore> {
    this.#recover().catch(() => undefined);
    return this.#claim();
  }

  async readState(sessionId: string): Promise<RunState> {
    if (await this.holdsStore()) return this.sessions.use(sessionId, ({ log }) => log.state);
    return (await this.#readLog(sessionId)).state;
  }

  /** Reads a session. That needs no claim. */
  async view(sessionId: string): Promise<Session> {
    if (await this.holdsStore()) return this.sessions.use(sessionId, (session) => session.view());
    const { facts, state } = await this.#readLog(sessionId);
    return toSession(facts, state, this.options.approvals);
  }

  /** True if this process holds the store, false if another one does. Waits for the claim only as long as that is not known. */
  async holdsStore(): Promise<boolean> {
    if (this.#holder === 'unknown') await Promise.race([this.whenClaimed(), this.#heldByOther]);
    return this.#holder === 'this';
  }

  /** Creates a session. The same request creates none again, and returns the one that it created. */
  async create(parts: NewLog, requestId: string | undefined): Promise<Session> {
    const { id } = parts.facts;
    await this.assertOpen();
    try {
      const session = new LiveSession(await SessionLog.create(await this.#claim(), parts, requestId), this);
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
    const stopLooking = this.#holder === 'other' ? this.#lookForMore(call) : undefined;
    return () => {
      stopLooking?.();
      followers.delete(call);
      if (followers.size === 0) this.#followers.delete(sessionId);
    };
  }

  /** Calls again and again: what another process stores is not told here. */
  #lookForMore(call: () => void): () => void {
    let cancel = (): void => undefined;
    const look = (): void => {
      call();
      cancel = this.#heartbeatClock.schedule(lookForMoreMs, look);
    };
    cancel = this.#heartbeatClock.schedule(lookForMoreMs, look);
    return () => cancel();
  }

  get #heartbeatClock(): Clock {
    return this.options.heartbeatClock ?? systemClock;
  }

  /** Starts no more work, and lets open steps end within the given time. */
  async drain(timeoutMs: number): Promise<void> {
    this.#closing.abort('it was drained');
    const idle = this.ready.catch(() => undefined).then(() => Promise.all(this.sessions.all.map((session) => session.whenIdle())));
    await this.#within(timeoutMs, idle);
    await this.#within(leaveMs, Promise.allSettled(this.sessions.all.map((session) => session.leave())));
    this.#end('it was drained', new RuntimeClosedError('it was drained', { isStored: true }));
    const claimed = await this.#claimed?.catch(() => undefined);
    // If that fails, others find out that this process is gone.
    await claimed?.store.release(claimed.epoch).catch(() => undefined);
  }

  async #within(ms: number, work: Promise<unknown>): Promise<void> {
    const timeout = new AbortController();
    await Promise.race([work, sleep(this.clock, ms, timeout.signal)]);
    timeout.abort();
  }

  measureOutage(sessionId: string, since: number): number | undefined {
    return this.#outages.measureMs(sessionId, since);
  }

  onStored(sessionId: string): void {
    for (const call of this.#followers.get(sessionId) ?? []) call();
  }

  onIdle(session: LiveSession): void {
    this.#expiry?.watch(session.id, session.log.state);
    this.#outages.watch(session);
    this.sessions.trim();
  }

  onReleased(session: LiveSession, error: unknown): void {
    this.sessions.drop(session);
    if (!session.permit.isLeftOpen) this.#releasedHere.add(session.id);
    if (!this.closing.aborted) this.report(error, `session ${session.id}`);
    if (hasCode(error, 'store-fenced')) this.#end('another runtime has taken the store over', error);
    else if (hasCode(error, 'store-unavailable')) this.#retryLater(session.id);
  }

  report(error: unknown, where: string): void {
    reportSafely(this.options.onProblem ?? reportToConsole, error, where);
  }

  #claim(): Promise<ClaimedStore> {
    this.#claimed ??= this.#claimStore().catch((error: unknown) => {
      this.#claimed = undefined;
      // The wait for another process ends with the reason of the abort.
      throw error === this.closing.reason ? new RuntimeClosedError(String(error)) : error;
    });
    return this.#claimed;
  }

  async #claimStore(): Promise<ClaimedStore> {
    const { store, clock, options } = this;
    const { name, takeOver = false, standby = false, approvals } = options;
    const onWait = (): void => {
      this.#holder = 'other';
      this.#noteOther();
    };
    const rules = { name, takeOver, standby, clock: this.#heartbeatClock, onWait, signal: this.closing };
    const epoch = await claimStore(store, this.#holderId, rules);
    this.#holder = 'this';
    const onLost = (error: unknown): void => {
      this.report(error, 'the heartbeat');
      this.#end('another runtime has taken the store over', error);
    };
    this.#stopHeartbeat = startHeartbeat({ store, epoch, clock: this.#heartbeatClock, onLost });
    if (this.closing.aborted) this.#stopHeartbeat();
    return { store, epoch, clock, approvals };
  }

  /** Resumes what an earlier process left, once; again only if the store could not be claimed. */
  #recover(): Promise<Recovery> {
    this.#recovering ??= this.#findOpenSessions().catch((error: unknown) => {
      if (this.#claimed === undefined) this.#recovering = undefined;
      // Sessions that were resumed already must not continue alone.
      else this.#end('it could not begin', error);
      throw error;
    });
    return this.#recovering;
  }

  async #findOpenSessions(): Promise<Recovery> {
    await this.#claim();
    const recovery = await this.#recovery.start();
    if (!this.closing.aborted) await this.#expiry?.start();
    if (!this.closing.aborted) await this.#outages.start();
    return recovery;
  }

  /** Reads a session as it is stored. Nothing can be written to its log. */
  async #readLog(sessionId: string): Promise<SessionLog> {
    const { store, clock, options } = this;
    return this.#loadLog(sessionId, { store, epoch: noEpoch, clock, approvals: options.approvals });
  }

  async #loadLog(sessionId: string, claimed: ClaimedStore): Promise<SessionLog> {
    const stored = await this.store.load(sessionId);
    if (stored === undefined) throw new UnknownSessionError(sessionId);
    return SessionLog.load(claimed, stored, this.agents.newest(stored.header.agentId).states);
  }

  async #load(sessionId: string): Promise<LiveSession> {
    try {
      const log = await this.#loadLog(sessionId, await this.#claim());
      const isLeftOpen = log.isOpen && !this.#releasedHere.has(sessionId);
      if (isLeftOpen && log.nextRecovery > this.maxRecoveries) await this.#giveUp(log);
      return new LiveSession(log, this, isLeftOpen && log.isOpen);
    } catch (error) {
      if (error instanceof SessionDamagedError) await this.store.quarantine(sessionId, cleanText(error.damage));
      throw error;
    }
  }

  /** Makes a session wait whose open step has ended the process each time it was resumed. */
  async #giveUp(log: SessionLog): Promise<void> {
    const events = await storeCrashLoop(log, this.agents.newest(log.facts.agent.id).name);
    const { onEvent, onProblem = reportToConsole } = this.options;
    for (const event of events) notifyListener((each) => onEvent?.(each, log.facts), event, onProblem);
    this.onStored(log.id);
    this.report(findCrashLoop(log.id, log.state), `session ${log.id}`);
  }

  /** A store that failed may work again: what is left to do is then resumed, also if nobody asks for it. */
  #retryLater(id: string): void {
    if (this.#retrying.has(id)) return;
    this.#retrying.add(id);
    const retry = async (): Promise<void> => {
      this.#retrying.delete(id);
      try {
        await this.sessions.use(id, (session) => session.resume());
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
    this.#stopHeartbeat();
    for (const session of this.sessions.all) session.release(error);
  }
}
