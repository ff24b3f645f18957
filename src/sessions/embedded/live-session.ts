// A session that is in memory.
// Owns:     the order of what happens to it: actions, the run, what is done at each boundary.
// Does not: store anything itself (the log does), or know other sessions.
// A1. One run at a time. An action that comes while it lasts is stored at once and applied at the next boundary, in order.
// A2. An action is stored before it has an effect; a request that was stored once has no effect again.
// A3. Whoever acted gets the execution that applied the action, once it has ended or waits.
// A4. If the store fails, nothing continues from memory: the session is released, and read again.
import type { BaseEvent } from '../../events/index.ts';
import type { Between, Orchestrator, RunResult, RunState, Supersession } from '../../step-by-step/index.ts';
import { toRunResult } from '../../step-by-step/index.ts';
import type { ActionOptions, ActionRequest, RecordedAction } from '../core/action.ts';
import type { Agents } from '../core/agents.ts';
import { isAnswer } from '../core/answers.ts';
import { assertNotLooping } from '../core/check-action.ts';
import { ActionWriter, withEvents } from './action-writer.ts';
import { readBody } from '../core/entries.ts';
import type { HoldGate } from './hold-gate.ts';
import { assertNotRefused } from '../core/mail.ts';
import type { AppliedActions } from '../core/queue.ts';
import { applyBetweenSteps, findCancels, hasDue, isBlocked, isDue, sortQueue } from '../core/queue.ts';
import { RequestReusedError } from '../core/request-reused-error.ts';
import { findExecution, isSameRequest } from '../core/requests.ts';
import type { RunEnd } from './run-end.ts';
import type { RunServices } from './run-execution.ts';
import { findEnd, runExecution } from './run-execution.ts';
import type { PermitServices } from './run-permit.ts';
import { RunPermit } from './run-permit.ts';
import { RuntimeClosedError } from '../core/runtime-closed-error.ts';
import type { Session, SessionResult } from '../core/session.ts';
import { hasWork, toSession, toSessionResult } from '../core/session.ts';
import type { SessionLog } from './session-log.ts';
import type { Mail } from '../store/session-store.ts';
import type { ActionTarget } from './waiters.ts';
import { Waiters } from './waiters.ts';

/** Services the host provides to a session. */
export interface SessionServices extends RunServices, PermitServices {
  readonly agents: Agents;
  /** A session has nothing to do. */
  onIdle(session: LiveSession): void;
  /** Reasons for starting no model calls. */
  readonly holds: HoldGate;
  /** A session cannot continue from memory. */
  onReleased(session: LiveSession, error: unknown): void;
  /** Reports an error that nobody waits for. */
  report(error: unknown, where: string): void;
}

/** An action that is stored. */
interface AcceptedAction {
  readonly target: ActionTarget;
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
  /** True while it waits for the end of a hold. */
  #isPaused = false;
  readonly #onPause = new Set<() => void>();

  constructor(log: SessionLog, services: SessionServices, isLeftOpen = false) {
    this.log = log;
    this.#services = services;
    this.#actions = new ActionWriter(log, services.options);
    this.permit = new RunPermit(log, services, isLeftOpen);
  }

  get id(): string {
    return this.log.id;
  }
  /** True while somebody or something needs it in memory. */
  get isBusy(): boolean {
    return this.#running !== undefined || !this.#waiters.isEmpty || this.log.isWriting;
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

  /** Settles when nothing is running, or a hold keeps it from that. */
  async whenPaused(): Promise<void> {
    if (this.#isPaused) return;
    await Promise.race([this.whenIdle(), new Promise<void>((resolve) => this.#onPause.add(resolve))]);
  }

  /** Does something while nothing runs and nobody acts. */
  async whileIdle<Value>(work: () => Promise<Value>): Promise<Value> {
    for (;;) {
      await this.whenIdle();
      const done = await this.#inTurn(async () => (this.#running === undefined ? { value: await work() } : undefined));
      if (done !== undefined) return done.value;
    }
  }

  view(mailbox: readonly RecordedAction[] = []): Promise<Session> {
    const { facts, safeState, claimed, approvals } = this.log;
    return toSession(facts, safeState, { approvals: claimed.approvals, mailbox, given: approvals });
  }

  /** Does something to the session, and returns the result. */
  async act(request: ActionRequest, options: ActionOptions, mail?: Mail): Promise<SessionResult> {
    // The end is awaited outside, so that others can act meanwhile.
    const { target, end, isRepeated } = await this.#inTurn(() => this.#accept(request, options, mail));
    const known = 'execution' in target ? target.execution : this.log.state.execution.number;
    const execution = (await end) ?? known;
    const { facts, safeState, claimed, queued } = this.log;
    const isPending = 'entry' in target && queued.has(target.entry);
    const toResult = (state: RunState): Promise<RunResult> => this.#toResult(state);
    return toSessionResult(facts.id, safeState, { execution, isRepeated, isPending, approvals: claimed.approvals, toResult });
  }

  /** Continues with the remaining work, if there is any. */
  resume(): void {
    if (this.#running === undefined && this.log.isOpen) this.#start();
  }

  /** Stores that the process ends in order. */
  async leave(): Promise<void> {
    if (!this.permit.isLeftOpen && this.#released === undefined && this.log.isOpen) await this.log.leave();
  }

  /** Stores the header again. */
  async touch(): Promise<void> {
    await this.#inTurn(() => this.#orRelease(this.log.append({})));
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
    this.#onPause.clear();
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

  /** Stores an action, and starts a run if none is in progress. */
  async #accept(request: ActionRequest, { by, requestId, until }: ActionOptions, mail: Mail | undefined): Promise<AcceptedAction> {
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
    const stored = { ...request, by, at: mail?.at ?? this.log.claimed.clock.now() };
    const { crashLoop, number } = this.log.state.execution;
    if (crashLoop !== undefined) this.#hasResisted = findCancels(this.log.queued, number).size > 0;
    const { done, target, events, interrupts } = this.#actions.store(stored, { requestId, mail: mail?.num }, this.#hasOpenStep);
    if (interrupts !== undefined) this.#interrupt(interrupts);
    const end = isAwaited ? this.#waiters.add(target) : undefined;
    await this.#orRelease(done);
    this.#services.onStored(this.id);
    this.#actions.emit(events);
    // Erasing a message does not continue the session: a fork stays as it is.
    if (this.#running === undefined && request.type !== 'erase') this.#start();
    return { target, end, isRepeated: false };
  }

  #assertActive(): void {
    if (this.#released !== undefined) throw new RuntimeClosedError('the session was just released');
    const { closing } = this.#services;
    if (closing.aborted) throw new RuntimeClosedError(String(closing.reason));
  }

  /** Finds a request that was made before; undefined if it was not. */
  async #findRepeated(requestId: string, request: ActionRequest, isAwaited: boolean): Promise<AcceptedAction | undefined> {
    const { store } = this.log.claimed;
    const [entry, [mail]] = await Promise.all([
      store.log.findRequest(this.id, requestId),
      store.inbox.read({ sessionId: this.id, requestId, isWaiting: false }),
    ]);
    if (mail !== undefined) assertNotRefused(mail, request);
    const action = entry && readBody(entry.body).action;
    if (entry === undefined || action === undefined) return undefined;
    // An entry that is new here was written by another: the store says who may answer.
    if (entry.n > this.log.head) await this.#orRelease(this.log.confirm());
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
    return { target, end: isWaited ? this.#waiters.add(target) : undefined, isRepeated: true };
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
    const { closing } = this.#services;
    for (;;) {
      if (!(await this.#applyQueued()) || !(await this.#approveCovered())) return;
      const { state, head } = log;
      // The executions before the current one have ended for good.
      this.#waiters.settle(state.execution.number - 1);
      if (closing.aborted) break;
      // Events that are owed about an end wait for an agent that can emit them.
      if (hasWork(state) || (state.data.owesEvents === true && this.#findAgent() !== undefined)) {
        const waiting = this.#isHeld ? this.#waitForRelease() : this.permit.take();
        if (waiting !== undefined) {
          await waiting;
          if (this.#released !== undefined) return;
          // Actions may have come meanwhile.
          continue;
        }
        await this.#run(state);
      } else if (log.journal.isEmpty && hasDue(state, log.queued)) continue;
      // Left at a boundary, or nothing to do.
      if (log.head === head && !this.#isHeld) break;
    }
    // Nothing is awaited until the session is idle: an action that comes now finds it so.
    this.#rest();
    const isLeft = closing.aborted && hasWork(log.state);
    this.#waiters.settle(log.state.execution.number - (isLeft ? 1 : 0));
    if (closing.aborted) return;
    await log.compact();
    this.#services.onIdle(this);
  }

  /** True if a hold keeps the session from asking a model. Ending it needs none. */
  get #isHeld(): boolean {
    const { facts, state, queued } = this.log;
    if (this.#services.closing.aborted || this.#services.holds.find(facts) === undefined) return false;
    return hasWork(state) && findEnd(queued, state.execution.number) === undefined;
  }

  async #waitForRelease(): Promise<void> {
    this.permit.free();
    this.#isPaused = true;
    for (const call of this.#onPause) call();
    this.#onPause.clear();
    await this.#services.holds.whenChanged((wake) => (this.#wake = wake));
    this.#isPaused = false;
  }

  /** Approves all calls that earlier approvals cover. Returns false if the session was released. */
  async #approveCovered(): Promise<boolean> {
    const { log } = this;
    if (!log.journal.isEmpty || this.#services.closing.aborted) return true;
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
      this.#services.onStored(this.id);
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
      const actions = await this.#actions.applyOne(entry, queued, () => this.#getAgent());
      if ((await this.#record(actions)) === undefined) return false;
    }
    return true;
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
    this.#services.onStored(this.id);
    this.#actions.emit(events);
    return state;
  }

  async #run(state: RunState): Promise<void> {
    const isCancelled = findEnd(this.log.queued, state.execution.number) !== undefined;
    const attempt = await this.permit.startAttempt({ hasOpenWork: hasWork(state), isCancelled });
    try {
      if (this.#services.closing.aborted || this.#released !== undefined) return;
      await runExecution(this.log, state, {
        agent: this.#getAgent(),
        services: this.#services,
        isLooping: this.permit.isLooping,
        hasResisted: this.#hasResisted,
        onStart: (end) => (this.#end = end),
        beforeRun: () => attempt.store(),
        onCommit: () => attempt.end(),
        between: (current, uncommitted) => this.#between(current, uncommitted),
      });
    } finally {
      this.#end = undefined;
      attempt.end();
    }
  }

  async #between(state: RunState, uncommitted: readonly BaseEvent[]): Promise<Between<RunState>> {
    if (this.#services.closing.aborted || this.#isHeld) {
      // Listeners know them by their numbers: nothing else gets these.
      if (uncommitted.length > 0) {
        await this.#orRelease(this.log.append({}, withEvents(state, uncommitted))).catch(() => undefined);
        this.#services.onStored(this.id);
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
