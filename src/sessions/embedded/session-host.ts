// The sessions of one store, in the process that owns it.
// Owns:     which sessions are in memory, what is resumed without being asked for, the mailbox, and when all of it ends.
// Does not: know what a session holds, how a step is taken, or who may ask for what.
// R1. Interrupted sessions are found at the start and resumed; a damaged one, or one that ends the process, harms no other.
// R2. Once another has claimed the store, nothing more is done here.
// R3. A session that is deleted while it runs is released first; whatever of it still wants to be written is refused.
import { notifyListener, reportSafely, reportToConsole } from '../../events/index.ts';
import type { Clock, IdSource } from '../../lib/index.ts';
import { cleanText, sleep, SteplineError, systemClock, systemIds } from '../../lib/index.ts';
import type { RunState } from '../../step-by-step/index.ts';
import { Agents } from '../core/agents.ts';
import { FeedReader } from '../feed/feed-reader.ts';
import { findCrashLoop } from '../core/check-action.ts';
import { storeCrashLoop } from './crash-loop.ts';
import { toMailedActions } from '../core/mail.ts';
import { RecentReads } from './recent-reads.ts';
import { HoldGate, readHolds } from './hold-gate.ts';
import { StoreOwner } from './store-owner.ts';
import { StoreWatcher } from './store-watcher.ts';
import { DefinitionWriter } from './definition-writer.ts';
import { ExpiryTimer } from './expiry-timer.ts';
import type { SessionServices } from './live-session.ts';
import { LiveSession } from './live-session.ts';
import { OpenStepHub } from './open-step-hub.ts';
import { OutageTimer } from './outage-timer.ts';
import { RecoveryGate, RunSlots } from './run-slots.ts';
import { RuntimeClosedError } from '../core/runtime-closed-error.ts';
import type { Recovery } from '../core/session-runtime.ts';
import { RuntimeRole } from '../core/session-runtime.ts';
import type { SessionRuntimeOptions } from './runtime-options.ts';
import type { Session } from '../core/session.ts';
import { SessionDamagedError } from '../core/session-damaged-error.ts';
import type { ClaimedStore } from './session-log.ts';
import { SessionLog } from './session-log.ts';
import { SessionPool } from './session-pool.ts';
import { SessionRecovery } from './session-recovery.ts';
import type { SessionStore } from '../store/session-store.ts';
import { UnknownSessionError } from '../core/unknown-session-error.ts';

/** A state, and the number of the last entry that it has. */
export interface StateAtHead {
  readonly state: RunState;
  readonly head: number;
}

/** Delay before a failed store is tried again. */
const retryStoreMs = 10_000;

/** Time that the last writes have when the runtime ends. */
const leaveMs = 1000;

const hasCode = (error: unknown, code: string): boolean => SteplineError.is(error) && error.code === code;

export class SessionHost implements SessionServices {
  readonly ready: Promise<Recovery>;
  readonly options: SessionRuntimeOptions;
  readonly agents: Agents;
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly sessions: SessionPool;
  readonly openSteps: OpenStepHub = new OpenStepHub();
  readonly definitions: DefinitionWriter;
  readonly slots: RunSlots;
  readonly recoveries: RecoveryGate;
  readonly maxRecoveries: number;
  readonly #recovery: SessionRecovery;
  readonly watcher: StoreWatcher;
  readonly holds: HoldGate;
  readonly owner: StoreOwner;
  readonly feedReader: FeedReader;
  readonly reads: RecentReads;
  readonly #expiry: ExpiryTimer | undefined;
  readonly #outages: OutageTimer;
  readonly #onClaimed: (epoch: number) => void;
  readonly #closing = new AbortController();
  /** Readers to call when more of a session is stored, by its id. */
  readonly #followers = new Map<string, Set<() => void>>();
  /** Sessions that wait until a store that failed is tried again. */
  readonly #retrying = new Set<string>();
  /** Sessions whose open step was left by this process itself. */
  readonly #releasedHere = new Set<string>();
  #recovering: Promise<Recovery> | undefined;

  /** `onClaimed` is called once the store is claimed: sessions can be worked on from then on. */
  constructor(options: SessionRuntimeOptions, onClaimed: (epoch: number) => void = () => undefined) {
    this.#onClaimed = onClaimed;
    const { agents, store, onVersionChange, clock = systemClock, keepInMemory = 100, approvals } = options;
    const { maxRecoveries = 3, maxConcurrent = 500 } = options;
    this.options = options;
    this.store = store;
    this.definitions = new DefinitionWriter(store.notes);
    this.clock = clock;
    this.ids = options.ids ?? systemIds;
    this.watcher = new StoreWatcher(store, this.heartbeatClock);
    this.agents = new Agents(agents, { policy: onVersionChange, states: options.states });
    this.reads = new RecentReads({ reader: store, findStates: this.agents.findStates, clock: this.heartbeatClock });
    this.holds = new HoldGate({
      readHolds: () => readHolds(store.notes),
      listen: (call) =>
        this.watcher.listen(({ sessionIds }) => {
          if (sessionIds === undefined) call();
        }),
      clock: this.heartbeatClock,
      closing: this.closing,
      report: (error, where) => this.report(error, where),
    });
    const onLost = (error: unknown): void => {
      this.report(error, 'the heartbeat');
      this.#end('another runtime has taken the store over', error);
    };
    this.owner = new StoreOwner({ store, clock, options, closing: this.closing, onLost });
    this.feedReader = new FeedReader({
      store,
      readState: (sessionId, head) => this.#readStateFor(sessionId, head),
      report: (error, where) => this.report(error, where),
    });
    this.sessions = new SessionPool((sessionId) => this.#load(sessionId), keepInMemory);
    this.#expiry = approvals && new ExpiryTimer(approvals, this);
    this.#outages = new OutageTimer(this);
    this.slots = new RunSlots(maxConcurrent, this.closing);
    this.recoveries = new RecoveryGate(this.closing);
    this.maxRecoveries = maxRecoveries;
    this.#recovery = new SessionRecovery(this, maxConcurrent);
    this.ready = this.#isClient ? Promise.resolve({ resumed: [], failed: [] }) : this.#recover();
    // Whoever asks for something gets the error.
    this.ready.catch(() => undefined);
  }

  /** True if this process never runs sessions. */
  get #isClient(): boolean {
    return this.options.role === RuntimeRole.Client;
  }

  /** Clock of everything that depends on other processes. */
  get heartbeatClock(): Clock {
    return this.options.heartbeatClock ?? systemClock;
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
    const claimed = await this.owner.claim();
    // A session that is held must not start before this process knows of it.
    await this.holds.start();
    return claimed;
  }

  /** Reads a state with the number of its last entry. */
  async readState(sessionId: string): Promise<StateAtHead> {
    if (await this.holdsStore()) return this.sessions.use(sessionId, ({ log: { state, head } }) => ({ state, head }));
    const { state, head } = await this.reads.read(sessionId);
    return { state, head };
  }

  /** Reads a state that has at least this many entries, from memory if it is there. Nothing is resumed because it was read. */
  async #readStateFor(sessionId: string, head: number): Promise<RunState> {
    const log = this.sessions.peek(sessionId)?.log;
    if (log !== undefined && log.head >= head) return log.state;
    return (await this.reads.read(sessionId)).state;
  }

  /** Shows a session that runs in this process, with the actions that wait for it. */
  async view(sessionId: string): Promise<Session> {
    const mails = await this.store.inbox.read({ sessionId, isWaiting: true });
    return this.sessions.use(sessionId, (session) => session.view(toMailedActions(mails)));
  }

  /** True if this process holds the store, false if another one does. Waits for the claim only as long as that is not known. */
  async holdsStore(): Promise<boolean> {
    // Once it ends, another process may write: nothing is read from memory.
    return !this.#isClient && !this.closing.aborted && (await this.owner.holdsStore(() => this.whenClaimed()));
  }

  /** Calls back when more of a session is stored; returns its unsubscribe. */
  follow(sessionId: string, call: () => void): () => void {
    const followers = this.#followers.get(sessionId) ?? new Set();
    this.#followers.set(sessionId, followers.add(call));
    const stopLooking = this.owner.holder === 'this' ? undefined : this.watcher.follow(sessionId, call);
    return () => {
      stopLooking?.();
      followers.delete(call);
      if (followers.size === 0) this.#followers.delete(sessionId);
    };
  }

  /** Starts no more work, and lets open steps end within the given time. */
  async drain(timeoutMs: number): Promise<void> {
    this.#closing.abort('it was drained');
    const idle = this.ready.catch(() => undefined).then(() => Promise.all(this.sessions.all.map((session) => session.whenIdle())));
    await this.#within(timeoutMs, idle);
    await this.#within(leaveMs, Promise.allSettled(this.sessions.all.map((session) => session.leave())));
    this.#end('it was drained', new RuntimeClosedError('it was drained', { isStored: true }));
    await this.owner.release();
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
    const isDeleted = hasCode(error, 'session-deleted');
    if (!isDeleted && !session.permit.isLeftOpen) this.#releasedHere.add(session.id);
    if (!this.closing.aborted && !isDeleted && !hasCode(error, 'runtime-closed')) this.report(error, `session ${session.id}`);
    if (hasCode(error, 'store-fenced')) this.#end('another runtime has taken the store over', error);
    else if (hasCode(error, 'store-unavailable')) this.#retryLater(session.id);
  }

  /** Forgets a session that was deleted. */
  forget(sessionId: string): void {
    this.#releasedHere.delete(sessionId);
    this.#expiry?.forget(sessionId);
    this.#outages.forget(sessionId);
    this.openSteps.forget(sessionId);
  }

  report(error: unknown, where: string): void {
    reportSafely(this.options.onProblem ?? reportToConsole, error, where);
  }

  /** Resumes what an earlier process left, once; again only if the store could not be claimed. */
  #recover(): Promise<Recovery> {
    this.#recovering ??= this.#findOpenSessions().catch((error: unknown) => {
      if (!this.owner.hasClaim) this.#recovering = undefined;
      // Sessions that were resumed already must not continue alone.
      else this.#end('it could not begin', error);
      throw error;
    });
    return this.#recovering;
  }

  async #findOpenSessions(): Promise<Recovery> {
    const { epoch } = await this.owner.claim();
    await this.holds.start();
    if (!this.closing.aborted) this.#onClaimed(epoch);
    const recovery = await this.#recovery.start();
    if (!this.closing.aborted) await this.#expiry?.start();
    if (!this.closing.aborted) await this.#outages.start();
    return recovery;
  }

  async #loadLog(sessionId: string, claimed: ClaimedStore): Promise<SessionLog> {
    const stored = await this.store.log.load(sessionId);
    if (stored === undefined) throw new UnknownSessionError(sessionId);
    return SessionLog.load(claimed, stored, this.agents.newest(stored.header.agentName).states);
  }

  async #load(sessionId: string): Promise<LiveSession> {
    try {
      const log = await this.#loadLog(sessionId, await this.owner.claim());
      const isLeftOpen = log.isOpen && !this.#releasedHere.has(sessionId);
      if (isLeftOpen && log.nextRecovery > this.maxRecoveries) await this.#giveUp(log);
      return new LiveSession(log, this, isLeftOpen && log.isOpen);
    } catch (error) {
      if (error instanceof SessionDamagedError) await this.store.heads.quarantine(sessionId, cleanText(error.damage));
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
    this.owner.stop();
    for (const session of this.sessions.all) session.release(error);
  }
}
