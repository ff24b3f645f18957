// A session that is in memory.
// Owns:     the order of what happens to it: actions, the run, what is done at each boundary.
// Does not: store anything itself (the log does), or know other sessions.
// A1. One run at a time. An action that comes while it lasts is stored at once and applied at the next boundary, in order.
// A2. An action is stored before it has an effect; a request that was stored once has no effect again.
// A3. Whoever acted gets the execution that applied the action, once it has ended or waits.
// A4. If the store fails, or another worker owns the session, nothing continues from memory: the session is released, and read again.
// A5. Actions that other processes have posted are applied in the order in which they were posted, each in the write that answers it. One
//     that is damaged is reported, and removed: its sender finds that out.
import type { BaseEvent } from '../../events/index.ts';
import type { Between, Orchestrator, RunResult, RunState, Supersession } from '../../step-by-step/index.ts';
import { toRunResult } from '../../step-by-step/index.ts';
import type { ActionOptions, ActionRequest, RecordedAction } from '../core/action.ts';
import type { Agents } from '../core/agents.ts';
import { isAnswer } from '../core/answers.ts';
import { assertNotLooping } from '../core/check-action.ts';
import { ActionWriter, withEvents } from './action-writer.ts';
import { readBody } from '../core/entries.ts';
import type { ExpiryOptions } from '../core/expiry.ts';
import { findDueRequest } from '../core/expiry.ts';
import { assertNotRefused, createDamagedMailError, readMailBody } from '../core/mail.ts';
import { toWire } from '../core/wire-errors.ts';
import { SteplineError } from '../../lib/index.ts';
import type { AppliedActions } from '../core/queue.ts';
import { applyBetweenSteps, findCancels, hasDue, isBlocked, isDue, sortQueue } from '../core/queue.ts';
import { LeaseLostError, RequestReusedError, RuntimeClosedError } from '../core/errors.ts';
import { findExecution, isSameRequest } from '../core/requests.ts';
import type { RunEnd } from './run-end.ts';
import type { RunServices } from './run-execution.ts';
import { findEnd, runExecution } from './run-execution.ts';
import type { PermitServices } from './run-permit.ts';
import { RunPermit } from './run-permit.ts';
import type { Session, SessionResult } from '../core/session.ts';
import { hasWork, toSession, toSessionResult } from '../core/session.ts';
import type { SessionLog } from './session-log.ts';
import type { ClaimedSession, Mail, SessionStore } from '../store/session-store.ts';
import type { ActionTarget } from './waiters.ts';
import { Waiters } from './waiters.ts';

/** Services the host provides to a session. */
export interface SessionServices extends RunServices, PermitServices {
  readonly agents: Agents;
  readonly store: SessionStore;
  readonly approvals: ExpiryOptions | undefined;
  /** A session has nothing to do; or, if it is stuck, nothing that can be done here. */
  onIdle(session: LiveSession, isStuck: boolean): void;
  /** A session cannot continue from memory. */
  onReleased(session: LiveSession, error: unknown): void;
  /** Reports an error that nobody waits for. */
  report(error: unknown, where: string): void;
}

/** Errors that say nothing about the action itself. */
const expectedCodes: readonly string[] = ['store-unavailable', 'lease-lost', 'runtime-closed', 'session-deleted'];
const isExpected = (error: unknown): boolean => SteplineError.is(error) && expectedCodes.includes(error.code);

/** Delay before a wait is looked at again whose time is over, and that could not be ended. */
const retryDueMs = 60_000;

const createErasedError = (): RuntimeClosedError => new RuntimeClosedError('a message was erased', { isStored: true });

/** An action that is stored. */
interface AcceptedAction {
  readonly target: ActionTarget;
  /** The entry that holds the action. */
  readonly entry: number;
  /** Settles with the execution that applied it when that has ended or waits; undefined if nobody waits for that. */
  readonly end: Promise<number> | undefined;
  readonly isRepeated: boolean;
}

export class LiveSession {
  readonly log: SessionLog;
  readonly permit: RunPermit;
  readonly #services: SessionServices;
  readonly #actions: ActionWriter;
  readonly #waiters = new Waiters();
  #lastAction: Promise<unknown> = Promise.resolve();
  #running: Promise<void> | undefined;
  /** Ends the current run. */
  #end: RunEnd | undefined;
  /** True if somebody has cancelled the open step before, and the process ended in that too. */
  #hasResisted = false;
  #released: Promise<void> | undefined;
  /** Ends the wait for the end of a hold. */
  #wake = (): void => undefined;
  /** True if no further step is to start here. */
  #isLeaving = false;
  /** True if mail may wait. */
  #hasMail = false;
  #takingMail: Promise<void> | undefined;
  /** Numbers of damaged mails that no mail can have. */
  readonly #misnumbered = new Set<number>();
  /** True while the mail that came before the session was claimed is applied: the run reads all of it. */
  #isBeginning = false;

  constructor(log: SessionLog, services: SessionServices) {
    this.log = log;
    this.#services = services;
    this.#actions = new ActionWriter(log, services.options);
    this.permit = new RunPermit(log, services);
  }

  get id(): string {
    return this.log.id;
  }
  /** True while somebody or something needs it in memory. */
  get isBusy(): boolean {
    return this.#running !== undefined || !this.#waiters.isEmpty || this.log.isWriting || this.log.isOwned;
  }
  /** Set once the session is released; settles when its last write has ended. */
  get released(): Promise<void> | undefined {
    return this.#released;
  }
  /** True if a step is open, in this process or as another left it. */
  get #hasOpenStep(): boolean {
    return this.#running !== undefined || !this.log.journal.isEmpty;
  }

  /** Settles when nothing is running. */
  async whenIdle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  view(mailbox: readonly RecordedAction[] = []): Promise<Session> {
    const { facts, safeState, approvals } = this.log;
    return toSession(facts, safeState, { approvals: this.#services.approvals, mailbox, given: approvals });
  }

  /**
   * Does something to the session, and returns the result. `onAccepted` is called with the number of its entry once that is stored: from then
   * on the action is applied, if not here, then by another worker.
   */
  async act(request: ActionRequest, options: ActionOptions, onAccepted: (entry: number) => void = () => undefined): Promise<SessionResult> {
    // The end is awaited outside, so that others can act meanwhile.
    const { target, entry, end, isRepeated } = await this.#inTurn(() => this.#accept(request, options));
    onAccepted(entry);
    const known = 'execution' in target ? target.execution : this.log.state.execution.number;
    const execution = (await end) ?? known;
    const { facts, safeState, queued } = this.log;
    const isPending = 'entry' in target && queued.has(target.entry);
    const toResult = (state: RunState): Promise<RunResult> => this.#toResult(state);
    const { approvals } = this.#services;
    return toSessionResult(facts.id, safeState, { execution, isRepeated, isPending, approvals, toResult });
  }

  /** Works on a session that was claimed, until nothing is left to do. */
  async runClaimed(claimed: ClaimedSession): Promise<void> {
    this.log.own(claimed);
    this.#isBeginning = true;
    if (claimed.hasMail) await this.takeMail();
    if (this.#running === undefined && this.log.isOwned) await this.#settleDue();
    this.#isBeginning = false;
    this.resume();
  }

  /** Stores the header again. */
  async touch(): Promise<void> {
    await this.#inTurn(() => this.#orRelease(this.log.append({})));
  }

  /** Continues with the remaining work, or gives the session up if there is none. */
  resume(): void {
    if (this.#running === undefined && this.log.isOwned && this.#released === undefined) this.#start();
  }

  /** Starts no further step here. */
  leave(): void {
    this.#isLeaving = true;
    this.permit.grantNow();
    this.#wake();
  }

  /** True if nothing more is to start: the runtime closes, or the session is left. */
  #isEnding(): boolean {
    return this.#isLeaving || this.#services.closing.aborted;
  }

  /** Applies the mail that waits. Settles when none is left, or the session is not owned here any more. Never rejects. */
  takeMail(): Promise<void> {
    this.#hasMail = true;
    return (this.#takingMail ??= this.#takeAllMail().finally(() => (this.#takingMail = undefined)));
  }

  /** Ends everything here: nothing more is done or stored from memory. */
  release(error: unknown): void {
    if (this.#released !== undefined) return;
    this.log.journal.shut(error);
    this.#end?.drop(error);
    this.#wake();
    this.#waiters.fail(error);
    this.#rest();
    // Whoever reads the session again must find all that was written.
    this.#released = this.log.whenWritten().then(() => this.#services.onReleased(this, error));
  }

  #rest(): void {
    this.#running = undefined;
    this.permit.free();
  }

  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.#lastAction.then(work);
    this.#lastAction = done.catch(() => undefined);
    return done;
  }

  async #orRelease(writing: Promise<void>): Promise<void> {
    try {
      await writing;
    } catch (error) {
      this.release(error);
      throw error;
    }
  }

  async #takeAllMail(): Promise<void> {
    const { closing } = this.#services;
    const isOver = (): boolean => closing.aborted || this.#released !== undefined || !this.log.isOwned;
    try {
      while (this.#hasMail && !isOver()) {
        this.#hasMail = false;
        const mails = await this.#readMail();
        for (const mail of mails) if (!isOver()) await this.#takeMail(mail);
        if (mails.length === 0) await this.#dropLostMail();
      }
    } catch (error) {
      this.release(error);
      if (!isExpected(error)) this.#services.report(error, `the mail of session ${this.id}`);
    }
  }

  async #readMail(): Promise<readonly Mail[]> {
    const mails = await this.#services.store.inbox.read({ sessionId: this.id, isWaiting: true, includesDamaged: true });
    return mails.filter(({ num }) => !this.#misnumbered.has(num));
  }

  /** Ends the wait for mail of which no row is left. */
  async #dropLostMail(): Promise<void> {
    const { store } = this.#services;
    const head = await store.heads.read(this.id);
    // It was deleted, which loading it says.
    if (head === undefined) await store.log.load(this.id);
    const num = head?.lastMail;
    if (num === undefined) return;
    // One may have come since.
    this.#hasMail = (await this.#readMail()).length > 0;
    if (this.#hasMail) return;
    const lost: Mail = { num, sessionId: this.id, requestId: '', at: 0, body: '', damage: 'its row is gone' };
    if (this.#misnumbered.size === 0) this.#services.report(createDamagedMailError(lost), 'the mailbox');
    await this.#inTurn(() => this.#orRelease(this.log.answerMail(num)));
  }

  /** Reports a damaged mail, and removes it. */
  async #dropDamagedMail(mail: Mail): Promise<void> {
    this.#services.report(createDamagedMailError(mail), 'the mailbox');
    const { lastMail = 0 } = (await this.#services.store.heads.read(this.id)) ?? {};
    if (mail.num < 1 || mail.num > lastMail) this.#misnumbered.add(mail.num);
    else await this.#inTurn(() => this.#orRelease(this.log.answerMail(mail.num)));
  }

  /** Applies a mail, or refuses it. */
  async #takeMail(mail: Mail): Promise<void> {
    const { num, requestId, body, damage } = mail;
    if (damage !== undefined) return this.#dropDamagedMail(mail);
    try {
      const { request, ...origin } = readMailBody(body);
      const { isRepeated } = await this.#inTurn(() => this.#accept(request, { ...origin, requestId, until: 'accepted' }, mail));
      if (isRepeated) await this.#inTurn(() => this.#orRelease(this.log.answerMail(num)));
    } catch (error) {
      if (this.#released !== undefined || isExpected(error)) throw error;
      if (!SteplineError.is(error)) this.#services.report(error, `an action for session ${this.id}`);
      await this.#inTurn(() => this.#orRelease(this.log.answerMail(num, JSON.stringify(toWire(error)))));
    }
  }

  /** Answers approvals whose time is over, and tries a provider again if it is time. */
  async #settleDue(): Promise<void> {
    const { clock } = this.log.services;
    const { waitingFor } = await this.view();
    for (const wait of waitingFor) {
      const request = findDueRequest(wait, this.#services.approvals, clock.now());
      if (request === undefined || this.#released !== undefined) continue;
      const by = { id: request.type === 'resume' ? 'outage' : 'expiry', kind: 'system' };
      await this.act(request, { by, until: 'accepted' }).catch((error: unknown) => {
        if (this.#released === undefined) this.#services.report(error, `session ${this.id}`);
      });
    }
    // Nobody claims it again and again.
    if (this.log.wakeAt !== undefined && this.log.wakeAt <= clock.now() && this.log.isOwned)
      await this.#inTurn(() => this.#orRelease(this.log.wakeLater(clock.now() + retryDueMs)));
  }

  /** Stores an action, and starts a run if none is in progress. */
  async #accept(request: ActionRequest, { requestId, until, ...from }: ActionOptions, mail?: Mail): Promise<AcceptedAction> {
    const isAwaited = until !== 'accepted';
    this.#assertActive();
    const repeated = requestId === undefined ? undefined : await this.#findRepeated(requestId, request, isAwaited);
    this.#assertActive();
    if (repeated !== undefined) return repeated;
    assertNotLooping(this.id, this.log.state, request);
    // Refused before anything is stored, if no agent could continue the session, or end its open step.
    const isRunByAgent = hasWork(this.log.state) || this.log.state.execution.crashLoop !== undefined;
    if (request.type !== 'cancel' || isRunByAgent) this.#getAgent();
    if (isAnswer(request)) await this.#actions.checkAnswer(request, this.#getAgent(), this.#hasOpenStep);
    // Asked again after everything that was awaited: release() reaches those who wait from here on.
    this.#assertActive();
    const stored = this.#actions.addShown({ ...request, ...from, at: mail?.at ?? this.log.services.clock.now() });
    const { crashLoop, number } = this.log.state.execution;
    if (crashLoop !== undefined) this.#hasResisted = findCancels(this.log.queued, number).size > 0;
    const origin = { requestId, mail: mail?.num, isBehindMail: mail === undefined && !this.log.isOwned };
    if (stored.type === 'erase') await this.#actions.prepareErasure(stored.messageId, this.#hasOpenStep);
    this.#assertActive();
    const { done, target, events, interrupts } = this.#actions.store(stored, origin, this.#hasOpenStep);
    const entry = this.log.head;
    if (interrupts !== undefined) this.#interrupt(interrupts);
    const isErased = stored.type === 'erase' && 'execution' in target;
    const end = isAwaited && !isErased ? this.#waiters.add(target) : undefined;
    await this.#orRelease(done);
    this.#actions.emit(events);
    // What is in memory still has the message.
    if (isErased) this.release(createErasedError());
    else if (this.#running === undefined && !this.#isBeginning) this.#start();
    return { target, entry, end, isRepeated: false };
  }

  #assertActive(): void {
    if (this.#released !== undefined) throw new RuntimeClosedError('the session was just released');
    const { closing } = this.#services;
    if (closing.aborted) throw new RuntimeClosedError(String(closing.reason));
  }

  /** Finds a request that was made before; undefined if it was not. */
  async #findRepeated(requestId: string, request: ActionRequest, isAwaited: boolean): Promise<AcceptedAction | undefined> {
    const { store } = this.#services;
    const [entry, [mail]] = await Promise.all([
      store.log.findRequest(this.id, requestId),
      store.inbox.read({ sessionId: this.id, requestId, isWaiting: false }),
    ]);
    if (mail !== undefined) assertNotRefused(mail, request);
    const action = entry && readBody(entry.body).action;
    if (entry === undefined || action === undefined) return undefined;
    // An entry that is new here was written by another worker.
    if (entry.n > this.log.head) {
      const error = new LeaseLostError(this.id);
      this.release(error);
      throw error;
    }
    if (!isSameRequest(action, request)) throw new RequestReusedError(requestId);
    this.resume();
    // A refusal of the earlier request may still be on its way to the store.
    await this.log.whenWritten();
    const isQueued = action.type !== 'cancel' && this.log.queued.has(entry.n);
    const target: ActionTarget = isQueued
      ? { entry: entry.n }
      : { execution: (await findExecution(store, this.id, entry)) ?? this.log.state.execution.number };
    // Nothing is awaited from here on: a target that is still open gets its waiter before it can end.
    const isOver = 'execution' in target && (this.#running === undefined || target.execution < this.log.state.execution.number);
    // A session that waits for a person after a crash loop applies nothing.
    const isWaited = isAwaited && !isOver && this.log.state.execution.crashLoop === undefined;
    return { target, entry: entry.n, end: isWaited ? this.#waiters.add(target) : undefined, isRepeated: true };
  }

  /** Ends the current run, also if it still waits for others. */
  #interrupt(reason: string | Supersession): void {
    this.#end?.request(reason);
    this.permit.grantNow();
    this.#wake();
  }

  #getAgent(): Orchestrator {
    return this.#services.agents.findSuccessor(this.log.facts.agent);
  }

  #findAgent(): Orchestrator | undefined {
    try {
      return this.#getAgent();
    } catch {
      return undefined;
    }
  }

  /** Without its agent, a session can still be cancelled; the result then has no output. */
  #toResult(state: RunState): Promise<RunResult> {
    return this.#findAgent()?.toResult(state) ?? toRunResult(state, async () => ({ ok: true, output: undefined }));
  }

  #start(): void {
    this.#running = this.#runToRest().catch((error: unknown) => this.release(error));
  }

  /** Applies actions and runs until nothing is left to do, or the runtime closes. */
  async #runToRest(): Promise<void> {
    const { log } = this;
    for (;;) {
      if (!(await this.#applyQueued()) || !(await this.#approveCovered())) return;
      const { state, head } = log;
      // The executions before the current one have ended for good.
      this.#waiters.settle(state.execution.number - 1);
      if (this.#isEnding()) break;
      // Events that are owed about an end wait for an agent that can emit them.
      if (hasWork(state) || (state.data.owesEvents === true && this.#findAgent() !== undefined)) {
        const waiting = this.#isHeld ? this.#waitForRelease() : this.permit.take();
        // Its end waits for nobody.
        if (findEnd(log.queued, state.execution.number) !== undefined) this.permit.grantNow();
        if (waiting !== undefined) {
          await waiting;
          if (this.#released !== undefined) return;
          // Actions may have come meanwhile.
          continue;
        }
        await this.#run(state);
      } else if (log.journal.isEmpty && hasDue(state, log.queued)) continue;
      // Nothing is awaited if none is taken: the session may have been claimed again just now, and is not given up with mail.
      while (this.#takingMail !== undefined) await this.#takingMail;
      if (this.#released !== undefined) return;
      // Left at a boundary, or nothing to do.
      if (log.head !== head || this.#isHeld || this.#isEnding()) continue;
      if (!log.isOwned || log.isOpen) break;
      try {
        await log.rest();
      } catch (error) {
        this.release(error);
        return;
      }
    }
    // Nothing is awaited until the session is idle: an action that comes now finds it so.
    this.#rest();
    const isLeft = this.#isEnding() && hasWork(log.state);
    this.#waiters.settle(log.state.execution.number - (isLeft ? 1 : 0));
    if (this.#isEnding()) return;
    // It may be claimed again meanwhile.
    const isStuck = log.isOwned;
    if (!isStuck) await log.compact();
    this.#services.onIdle(this, isStuck);
  }

  /** True if a hold keeps the session from asking a model. Ending it needs none. */
  get #isHeld(): boolean {
    const { facts, state, queued } = this.log;
    if (this.#isEnding() || this.#services.holds.find(facts) === undefined) return false;
    return hasWork(state) && findEnd(queued, state.execution.number) === undefined;
  }

  async #waitForRelease(): Promise<void> {
    this.permit.free();
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await this.#services.holds.whenChanged(woken.signal, this.#services.closing);
  }

  /** Approves all calls that earlier approvals cover. Returns false if the session was released. */
  async #approveCovered(): Promise<boolean> {
    const { log } = this;
    if (!log.journal.isEmpty || this.#isEnding()) return true;
    for (let covered = log.findCoveredWait(); covered !== undefined; covered = log.findCoveredWait()) {
      const approved = await this.#actions.approveCovered(covered, this.#findAgent());
      if (approved === undefined) continue;
      const { done, events } = approved;
      try {
        await done;
      } catch (error) {
        this.release(error);
        return false;
      }
      this.#actions.emit(events);
    }
    return true;
  }

  /** Applies all actions that came while a step was open, now that none is. Returns false if the session was released. */
  async #applyQueued(): Promise<boolean> {
    const { log } = this;
    if (!log.journal.isEmpty) return true;
    for (const [entry, queued] of sortQueue(log.queued)) {
      if (isBlocked(log.state, queued)) return true;
      if (!isDue(log.state, queued)) continue;
      if (queued.action.type === 'erase') return this.#applyErasure(entry, queued.action.messageId);
      const actions = await this.#actions.applyOne(entry, queued, () => this.#getAgent());
      if ((await this.#record(actions)) === undefined) return false;
    }
    return true;
  }

  /** Erases a message, which somebody asked for during a run. What is in memory still has it. */
  async #applyErasure(entry: number, messageId: string): Promise<boolean> {
    const { log } = this;
    try {
      await this.#actions.prepareErasure(messageId, false);
    } catch (error) {
      return (await this.#record({ state: log.state, applied: [], changes: [], refused: [{ entry, error }] })) !== undefined;
    }
    const { number } = log.state.execution;
    await this.#orRelease(this.#actions.erase(entry)).catch(() => undefined);
    this.#waiters.apply([entry], number);
    this.#waiters.settle(number);
    this.release(createErasedError());
    return false;
  }

  /** Stores which actions were applied and which were refused, with their events behind those that a run has emitted since its last
   * commit. Settles with the new state when that is safe; undefined if the session was released. */
  async #record(actions: AppliedActions, uncommitted: readonly BaseEvent[] = []): Promise<RunState | undefined> {
    const { applied, refused } = actions;
    const { done, state, events } = this.#actions.record(actions, uncommitted);
    this.#waiters.apply(applied, state.execution.number);
    for (const { entry, error } of refused)
      if (!this.#waiters.refuse(entry, error)) this.#services.report(error, `an action in session ${this.id}`);
    try {
      await done;
    } catch (error) {
      this.release(error);
      return undefined;
    }
    this.#actions.emit(events);
    return state;
  }

  async #run(state: RunState): Promise<void> {
    const isEnded = findEnd(this.log.queued, state.execution.number) !== undefined;
    const endAttempt = this.log.attempts > 0 && hasWork(state) ? await this.permit.startAttempt(isEnded) : undefined;
    try {
      if (this.#isEnding() || this.#released !== undefined) return;
      await runExecution(this.log, state, {
        agent: this.#getAgent(),
        services: this.#services,
        isLooping: this.permit.isLooping,
        hasResisted: this.#hasResisted,
        onStart: (end) => (this.#end = end),
        onCommit: () => endAttempt?.(),
        between: (current, uncommitted) => this.#between(current, uncommitted),
      });
    } finally {
      this.#end = undefined;
      endAttempt?.();
    }
  }

  async #between(state: RunState, uncommitted: readonly BaseEvent[]): Promise<Between<RunState>> {
    if (this.#isEnding() || this.#isHeld) {
      // Listeners know them by their numbers: nothing else gets these.
      if (uncommitted.length > 0) {
        await this.#orRelease(this.log.append({}, withEvents(state, uncommitted))).catch(() => undefined);
      }
      return { leave: true };
    }
    // A step that was open before continues as it was; later actions follow it.
    const actions = this.log.journal.isEmpty ? applyBetweenSteps(state, this.log.queued) : undefined;
    if (actions === undefined) return undefined;
    const next = await this.#record(actions, uncommitted);
    return next === undefined ? { leave: true } : { state: next, isCommitted: true };
  }
}
