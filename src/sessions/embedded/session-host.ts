// The sessions of one store, in a process that runs some of them.
// Owns:     which sessions are in memory, what is done with those that were claimed, and when all of it ends.
// Does not: know what a session holds, how a step is taken, who may ask for what, or when a session is claimed.
// Host-1. A session that ends the process, is damaged, or has no agent here harms no other.
// Host-2. What is in memory of a session that this worker does not own is a cache: it is used only if the store says that it is current.
import { notifyListener, reportSafely, reportToConsole } from '../../events/index.ts';
import type { Clock, IdSource } from '../../lib/index.ts';
import { cleanText, omitUndefined, sleep, SteplineError, systemClock, systemIds } from '../../lib/index.ts';
import { Agents } from '../core/agents.ts';
import { findCrashLoop } from '../core/check-action.ts';
import type { ExpiryOptions } from '../core/expiry.ts';
import { getWakeAt } from '../core/expiry.ts';
import { isStoreClosed, LeaseLostError, RuntimeClosedError, SessionDamagedError, UnknownSessionError } from '../core/errors.ts';
import { toMailedActions } from '../core/mail.ts';
import type { Session } from '../core/session.ts';
import type { Recovery, RunOnceResult } from '../core/session-runtime.ts';
import { RuntimeRole } from '../core/session-runtime.ts';
import { FeedReader } from '../feed/feed-reader.ts';
import type { ClaimedSession, SessionStore } from '../store/session-store.ts';
import { listAll } from '../store/session-store.ts';
import { storeCrashLoop } from './crash-loop.ts';
import { DefinitionWriter } from './definition-writer.ts';
import { HoldGate } from './hold-gate.ts';
import type { SessionServices } from './live-session.ts';
import { LiveSession } from './live-session.ts';
import { OpenStepHub } from './open-step-hub.ts';
import { RecentReads } from './recent-reads.ts';
import { RunPlaces } from './run-permit.ts';
import type { SessionRuntimeOptions } from './runtime-options.ts';
import type { LogServices } from './session-log.ts';
import { SessionLog } from './session-log.ts';
import { SessionPool } from './session-pool.ts';
import { StoreWatcher } from './store-watcher.ts';
import { defaultSilenceMs, Worker } from './worker.ts';

/** Result of `runOnce()`, without the session itself. */
type RanOnce =
  { readonly type: 'left' } | { readonly type: 'rested'; readonly wakeAt?: number } | Extract<RunOnceResult, { readonly type: 'owned' }>;

/** Delay before a session is worked on again after its store failed, and after anything else did. */
const retryStoreMs = 10_000;
const retryMs = 60_000;

/** Time that the last writes have when the runtime ends. */
const leaveMs = 1000;

// Functions, so that nobody takes them for the same before and after something was awaited.
const isReleased = ({ released }: LiveSession): boolean => released !== undefined;
const isOwned = ({ log }: LiveSession): boolean => log.isOwned;
const isOpen = (log: SessionLog): boolean => log.isOpen;

const hasCode = (error: unknown, ...codes: readonly string[]): boolean => SteplineError.is(error) && codes.includes(error.code);

export class SessionHost implements SessionServices, LogServices {
  readonly options: SessionRuntimeOptions;
  readonly agents: Agents;
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly approvals: ExpiryOptions | undefined;
  readonly sessions: SessionPool;
  readonly openSteps: OpenStepHub = new OpenStepHub();
  readonly definitions: DefinitionWriter;
  readonly running: RunPlaces;
  readonly recovering: RunPlaces;
  readonly maxRecoveries: number;
  readonly watcher: StoreWatcher;
  readonly holds: HoldGate;
  readonly worker: Worker;
  readonly feedReader: FeedReader;
  readonly reads: RecentReads;
  /** Settles with what was found at the start. */
  readonly ready: Promise<Recovery>;
  readonly #closing = new AbortController();
  /** Sessions that were claimed, and are not in memory yet. */
  readonly #claimed = new Map<string, ClaimedSession>();
  /** Sessions that were claimed first: resumed, or not. */
  #found: { readonly resumed: string[]; readonly failed: { readonly sessionId: string; readonly error: unknown }[] } | undefined = {
    resumed: [],
    failed: [],
  };

  constructor(options: SessionRuntimeOptions) {
    const { agents, store, onVersionChange, clock = systemClock, keepInMemory = 100, approvals } = options;
    const { maxRecoveries = 3, maxConcurrent = 500, silenceMs = defaultSilenceMs, name } = options;
    this.options = options;
    this.store = store;
    this.approvals = approvals;
    this.definitions = new DefinitionWriter(store.notes);
    this.clock = clock;
    this.ids = options.ids ?? systemIds;
    this.watcher = new StoreWatcher(store, this.heartbeatClock);
    this.agents = new Agents(agents, { policy: onVersionChange, states: options.states });
    this.reads = new RecentReads({ reader: store, findStates: this.agents.findStates, clock: this.heartbeatClock });
    const report = (error: unknown, where: string): void => this.report(error, where);
    this.holds = new HoldGate({ store, watcher: this.watcher, closing: this.closing, report });
    this.feedReader = new FeedReader({ store, report });
    this.sessions = new SessionPool((sessionId) => this.#load(sessionId), keepInMemory);
    this.running = new RunPlaces(this.closing, maxConcurrent);
    this.recovering = new RunPlaces(this.closing);
    this.maxRecoveries = maxRecoveries;
    this.worker = new Worker({
      ...{ store, agents: this.agents, watcher: this.watcher, heartbeatClock: this.heartbeatClock, clock, name, silenceMs },
      ...{ closing: this.closing, report },
      getRoom: () => (this.isClient ? 0 : this.running.room - this.#claimed.size),
      run: (claimed) => this.#runClaimed(claimed),
      onMail: (sessionIds) => void this.#findMail(sessionIds),
      onLost: () => this.#releaseOwned(),
    });
    this.ready = this.isClient ? Promise.resolve({ resumed: [], failed: [] }) : this.#start();
    // Whoever asks for something gets the error.
    this.ready.catch(() => undefined);
  }

  /** True if this process never claims sessions by itself. */
  get isClient(): boolean {
    return this.options.role === RuntimeRole.Client;
  }

  /** Clock of everything that depends on other processes. */
  get heartbeatClock(): Clock {
    return this.options.heartbeatClock ?? systemClock;
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }
  get workerId(): string {
    return this.worker.id;
  }

  #assertOpen(): void {
    if (this.closing.aborted) throw new RuntimeClosedError(String(this.closing.reason));
  }

  /** Settles when sessions can be worked on here. Throws if nothing more may be done, or if the store cannot be used. */
  async whenJoined(): Promise<void> {
    this.#assertOpen();
    await this.worker.join();
    // A session that is held must not start before this process knows of it.
    await this.holds.start();
    this.#assertOpen();
  }

  countWorkers(agentName: string): number {
    return this.worker.countWorkers(agentName);
  }

  /** Returns a session that is in memory, if that is current. */
  async findCurrent(sessionId: string): Promise<LiveSession | undefined> {
    const session = this.closing.aborted ? undefined : this.sessions.peek(sessionId);
    if (session === undefined || session.released !== undefined) return undefined;
    if (session.log.isOwned) return session;
    const found = await this.store.heads.read(sessionId);
    const { fence, head } = session.log;
    return !isReleased(session) && found?.fence === fence && found.head === head ? session : undefined;
  }

  /** Shows a session that is in memory, with the actions that wait for it; undefined if it is not there, or not current. */
  async view(sessionId: string): Promise<Session | undefined> {
    // Read before the state: an action that is applied meanwhile is then in both, not in neither.
    const mails = await this.store.inbox.read({ sessionId, isWaiting: true });
    return (await this.findCurrent(sessionId))?.view(toMailedActions(mails));
  }

  /** Notes the damage of a session, if that is the error of reading it. */
  async noteDamage(sessionId: string, error: unknown): Promise<void> {
    if (error instanceof SessionDamagedError) await this.store.heads.quarantine(sessionId, cleanText(error.damage));
  }

  /** Runs one session until it rests, or the time is over. */
  async runOnce(sessionId: string, untilMs: number): Promise<RanOnce> {
    const endsAt = this.clock.monotonic() + untilMs;
    await this.whenJoined();
    const claimed = await this.worker.claimOne(sessionId);
    if (claimed === undefined) return this.#findOwner(sessionId);
    await this.#runClaimed(claimed);
    const session = this.sessions.peek(sessionId);
    if (session?.log.isOwned !== true) return this.#findOwner(sessionId);
    const cancelTimer = this.clock.schedule(Math.max(0, endsAt - this.clock.monotonic()), () => session.leave());
    await session.whenIdle();
    cancelTimer();
    if (!isOwned(session) || isReleased(session)) return this.#findOwner(sessionId);
    session.release(new LeaseLostError(sessionId));
    await this.worker.release(sessionId);
    return { type: 'left' };
  }

  /** Continues a session that nobody owns, although something is left to do. */
  async claim({ id, log }: LiveSession): Promise<void> {
    const claimed = this.#findProblem(log) === undefined ? await this.worker.claimOne(id) : undefined;
    if (claimed !== undefined) await this.#runClaimed(claimed);
  }

  /** Returns the worker that runs a session; undefined if none does. */
  async findWorker(sessionId: string): Promise<Session['worker']> {
    const owner = (await this.store.heads.read(sessionId))?.worker;
    return owner === undefined ? undefined : ((await this.store.leases.workers()).find(({ id }) => id === owner) ?? { id: owner });
  }

  /** Says who runs a session that was not claimed. */
  async #findOwner(sessionId: string): Promise<RanOnce> {
    const worker = await this.findWorker(sessionId);
    if (worker !== undefined) return { type: 'owned', worker };
    const header = (await this.store.heads.read(sessionId))?.header;
    return header?.isOpen === true ? { type: 'left' } : { type: 'rested', ...omitUndefined({ wakeAt: header?.wakeAt }) };
  }

  /** Starts no more work, and lets open steps end within the given time. */
  async drain(timeoutMs: number): Promise<void> {
    this.#closing.abort('it was drained');
    const idle = Promise.all(this.sessions.all.map((session) => session.whenIdle()));
    await this.#within(timeoutMs, idle);
    await this.#within(leaveMs, Promise.all([...this.sessions.all.map(({ log }) => log.whenWritten()), this.worker.leave()]));
    for (const session of this.sessions.all) session.release(new RuntimeClosedError('it was drained', { isStored: true }));
  }

  async #within(ms: number, work: Promise<unknown>): Promise<void> {
    const timeout = new AbortController();
    await Promise.race([work, sleep(this.clock, ms, timeout.signal)]);
    timeout.abort();
  }

  onMail(log: SessionLog): void {
    if (log.isOwned) this.#takeMail(log.id);
    else this.worker.look();
  }

  /** Applies mail of sessions that run here; without ids, of all of them that have any. */
  async #findMail(sessionIds: readonly string[] | undefined): Promise<void> {
    if (sessionIds === undefined && !this.sessions.all.some(({ log }) => log.isOwned)) return;
    try {
      const ids = sessionIds ?? (await this.store.inbox.read({ isWaiting: true })).map(({ sessionId }) => sessionId);
      for (const id of new Set(ids)) this.#takeMail(id);
    } catch (error) {
      if (!isStoreClosed(error)) this.report(error, 'the mailbox');
    }
  }

  #takeMail(sessionId: string): void {
    const session = this.sessions.peek(sessionId);
    if (session?.log.isOwned === true) void session.takeMail();
  }

  onIdle(session: LiveSession, isStuck: boolean): void {
    const { log } = session;
    // What is left to do needs an agent that is not here.
    if (isStuck) {
      this.worker.giveBack(session.id, retryMs);
      session.release(new LeaseLostError(session.id));
    }
    const { wakeAt } = log;
    if (wakeAt !== undefined && !this.isClient) this.worker.wakeAt(wakeAt);
    if (!this.worker.hasRoom) this.worker.look();
    this.sessions.trim();
  }

  onReleased(session: LiveSession, error: unknown): void {
    this.sessions.drop(session);
    const isExpected = this.closing.aborted || hasCode(error, 'session-deleted', 'runtime-closed', 'lease-lost');
    // An action of this process has found mail before it, and waits behind that now.
    const isBehindMail = hasCode(error, 'mail-waiting');
    if (!isExpected && !isBehindMail) this.report(error, `session ${session.id}`);
    if (hasCode(error, 'session-deleted')) this.openSteps.forget(session.id);
    else if (session.log.isOwned && !isExpected)
      this.worker.giveBack(session.id, isBehindMail ? 0 : hasCode(error, 'store-unavailable') ? retryStoreMs : retryMs);
    if (!this.worker.hasRoom) this.worker.look();
  }

  report(error: unknown, where: string): void {
    reportSafely(this.options.onProblem ?? reportToConsole, error, where);
  }

  /** Joins the workers of the store, and claims what there is to do. */
  async #start(): Promise<Recovery> {
    await this.whenJoined();
    await this.#lookThrough();
    await this.worker.claimAll();
    const found = this.#found ?? { resumed: [], failed: [] };
    this.#found = undefined;
    return found;
  }

  /** Finds sessions that were repaired, and waits that were asked for before they could expire. */
  async #lookThrough(): Promise<void> {
    for await (const { id, damage } of listAll(this.store, { isOpen: true })) {
      if (damage === undefined) continue;
      try {
        await this.sessions.use(id, async () => this.store.heads.quarantine(id, undefined));
      } catch (error) {
        this.#noteFailure(id, error);
      }
    }
    if (this.approvals === undefined) return;
    for await (const { id, header, damage } of listAll(this.store, { status: 'waiting' }))
      if (damage === undefined && header?.wakeAt === undefined) await this.#addWakeTime(id).catch(() => undefined);
  }

  async #addWakeTime(sessionId: string): Promise<void> {
    await this.sessions.use(sessionId, async (session) => {
      if (getWakeAt(this.approvals, session.log.state) !== undefined && !session.log.isOwned) await session.touch();
    });
  }

  #noteFailure(sessionId: string, error: unknown): void {
    // Found when all were looked through, and when it was claimed.
    if (this.#found?.failed.some((each) => each.sessionId === sessionId) === true) return;
    this.#found?.failed.push({ sessionId, error });
    this.report(error, `session ${sessionId}`);
  }

  /** Works on a session that was claimed. Never rejects. */
  async #runClaimed(claimed: ClaimedSession): Promise<void> {
    const { sessionId } = claimed;
    this.#claimed.set(sessionId, claimed);
    try {
      // What is in memory may be older.
      const cached = this.sessions.peek(sessionId);
      if (cached !== undefined && !cached.log.isCurrent(claimed)) await this.sessions.release(sessionId, new LeaseLostError(sessionId));
      await this.sessions.use(sessionId, async (session) => {
        if (!session.log.isCurrent(claimed)) throw new LeaseLostError(sessionId);
        await this.#begin(session, claimed);
      });
    } catch (error) {
      if (hasCode(error, 'session-deleted', 'unknown-session')) return;
      const isPassing = hasCode(error, 'lease-lost', 'mail-waiting');
      if (!isPassing) this.#noteFailure(sessionId, error);
      this.worker.giveBack(sessionId, isPassing ? 0 : hasCode(error, 'store-unavailable') ? retryStoreMs : retryMs);
    } finally {
      this.#claimed.delete(sessionId);
    }
  }

  async #begin(session: LiveSession, claimed: ClaimedSession): Promise<void> {
    const { log } = session;
    if (!log.isOpen) return session.runClaimed(claimed);
    const problem = this.#findProblem(log);
    if (problem !== undefined) {
      log.own(claimed);
      // Whoever asked for something is told so; a cancel needs no agent.
      if (claimed.hasMail) await session.takeMail();
      this.#found?.failed.push({ sessionId: session.id, error: problem });
      if (isOpen(log)) session.release(problem);
      return;
    }
    if (claimed.attempts > this.maxRecoveries) {
      log.own(claimed);
      return this.#giveUp(log);
    }
    this.#found?.resumed.push(session.id);
    return session.runClaimed(claimed);
  }

  /** Returns the reason why no agent here can continue a session; undefined if one can. */
  #findProblem(log: SessionLog): unknown {
    try {
      this.agents.findSuccessor(log.facts.agent);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  async #load(sessionId: string): Promise<LiveSession> {
    try {
      return new LiveSession(await this.#loadLog(sessionId), this);
    } catch (error) {
      await this.noteDamage(sessionId, error);
      throw error;
    }
  }

  async #loadLog(sessionId: string): Promise<SessionLog> {
    const load = async (): ReturnType<SessionStore['log']['load']> => this.store.log.load(sessionId);
    let stored = await load();
    if (stored?.worker === this.workerId && !this.#claimed.has(sessionId)) {
      // Claimed just now, or left behind by a write of unknown outcome.
      await this.worker.whenClaimed();
      if (!this.#claimed.has(sessionId)) await this.worker.release(sessionId);
      stored = await load();
    }
    if (stored === undefined) throw new UnknownSessionError(sessionId);
    return SessionLog.load(this, stored, this.agents.newest(stored.header.agentName).states);
  }

  /** Makes a session wait in whose open step a worker was lost each time that it was resumed. */
  async #giveUp(log: SessionLog): Promise<void> {
    const events = await storeCrashLoop(log, this.agents.newest(log.facts.agent.id).name);
    const { onEvent, onProblem = reportToConsole } = this.options;
    for (const event of events) notifyListener((each) => onEvent?.(each, log.facts), event, onProblem);
    this.report(findCrashLoop(log.id, log.state), `session ${log.id}`);
  }

  /** Ends what is done with the sessions that this worker owned. */
  #releaseOwned(): void {
    for (const session of this.sessions.all) if (session.log.isOwned) session.release(new LeaseLostError(session.id));
  }
}
