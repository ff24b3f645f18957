// Actions of one session, on their way into its log.
// Owns:     whether an action is applied at once or queued behind the open step, and the events of those that are applied.
// Does not: run anything, or decide when something is applied.
// C1. An action is stored before it has an effect.
// C2. The events of an action are stored in the entry that applies it, behind those that a run has emitted since its last commit.
import type { BaseEvent } from '../../events/index.ts';
import { notifyListener, reportToConsole } from '../../events/index.ts';
import { omitUndefined } from '../../lib/index.ts';
import type { Orchestrator, RunState } from '../../step-by-step/index.ts';
import { Supersession, toAskedCall } from '../../step-by-step/index.ts';
import type { Action } from '../core/action.ts';
import { AgentChangedError } from '../core/errors.ts';
import type { AnswerRequest } from '../core/answers.ts';
import { applyRequest, checkAnswer, isAnswer } from '../core/answers.ts';
import { computeApprovalDigest } from '../core/approval-digest.ts';
import type { AppliedAction } from '../core/action-events.ts';
import { createActionEvents } from '../core/action-events.ts';
import type { QueuedAction } from '../core/entries.ts';
import { readEntriesFrom } from '../core/entries.ts';
import { assertErasable, eraseMessage, findErased } from '../core/erase-message.ts';
import { findRefusedSends } from '../core/mail.ts';
import { assertNewMessage, isInterrupting, opensNext } from '../core/message-rules.ts';
import type { AppliedActions } from '../core/queue.ts';
import { applyActions, toBody } from '../core/queue.ts';
import { hasWork } from '../core/session.ts';
import type { CoveredWait, SessionApproval } from '../core/session-approvals.ts';
import { assertApproval, findUse, updateApprovals } from '../core/session-approvals.ts';
import type { RunServices } from './run-execution.ts';
import type { EntryParts, SessionLog } from './session-log.ts';
import type { ActionTarget } from './waiters.ts';

/** An action that is being stored. */
export interface StoredAction {
  /** Settles when it is safe. */
  readonly done: Promise<void>;
  readonly target: ActionTarget;
  readonly events: readonly BaseEvent[];
  /** Reason for interrupting the current run, if the action does that. */
  readonly interrupts?: string | Supersession;
}

/** The request or the mail that an entry answers. */
type AnsweredParts = Pick<EntryParts, 'requestId' | 'mail' | 'isBehindMail'>;

/** Actions that are being recorded as applied or refused. */
export interface RecordedActions {
  readonly done: Promise<void>;
  /** The state once that is safe. */
  readonly state: RunState;
  readonly events: readonly BaseEvent[];
}

export class ActionWriter {
  readonly #log: SessionLog;
  readonly #options: RunServices['options'];
  /** Changes of the erasure that was prepared last. */
  #erasure: Pick<EntryParts, 'rewrites' | 'dropsMail'> = {};

  constructor(log: SessionLog, options: RunServices['options']) {
    this.#log = log;
    this.#options = options;
  }

  /** Adds to an approval what was shown. */
  addShown(action: Action): Action {
    if (action.type !== 'approve') return action;
    const { state, asked } = this.#log;
    const wait = state.waitingFor.find(({ id }) => id === action.waitId);
    const { toolName, args = null, reason } = (wait === undefined ? asked.get(action.waitId) : toAskedCall(state, wait)) ?? {};
    return typeof toolName === 'string' ? { ...action, shown: omitUndefined({ toolName, args, reason }) } : action;
  }

  /** Stores an action: applied to the state, or, if a step is open, queued behind that. */
  store(action: Action, origin: AnsweredParts, hasOpenStep: boolean): StoredAction {
    const { state } = this.#log;
    const isLooping = state.execution.crashLoop !== undefined;
    if (action.type === 'resume') {
      const resumed = isLooping || hasOpenStep ? withoutCrashLoop(state) : applyRequest(state, action);
      return this.#apply({ action, before: state, after: resumed }, { ...origin, restartsCount: isLooping });
    }
    if (action.type === 'send') assertNewMessage(state, action.message['id'], this.#log.queued);
    if (action.type === 'revoke') assertApproval(this.#log.approvals, action.approvalId);
    if (action.type === 'erase' && !hasOpenStep && !this.#log.hasWork)
      return this.#apply({ action, before: state, after: state }, { ...origin, ...this.#erasure, canRun: false });
    const isCancel = action.type === 'cancel';
    const endsRun = isCancel || isInterrupting(action);
    const isNext = opensNext(action, state, hasOpenStep);
    // Also a step that ended the process is replayed as far as it got, so that nothing which its calls have done is forgotten.
    if (isLooping) return this.#queueEnd(action, origin);
    if (hasOpenStep || isNext || ((endsRun || action.type === 'erase') && hasWork(state))) return this.#queue(action, origin, isNext);
    // An execution that has ended needs no cancel; that somebody wanted it is stored.
    const next = isCancel && state.waitingFor.length === 0 ? state : applyRequest(state, action);
    return this.#apply({ action, before: state, after: next }, origin);
  }

  /** Approves a call that is covered by an earlier approval. Returns undefined if it is not covered any more. */
  async approveCovered({ wait, approval }: CoveredWait, agent: Orchestrator | undefined): Promise<StoredAction | undefined> {
    const { id, state, services } = this.#log;
    const digest = await computeApprovalDigest(id, toAskedCall(state, wait));
    try {
      if (agent !== undefined) await this.checkAnswer({ type: 'approve', waitId: wait.id, digest }, agent, false);
    } catch (error) {
      // A person decides what becomes of a call that this version of the agent cannot run.
      if (!(error instanceof AgentChangedError)) throw error;
      this.#log.uncovered.add(wait.id);
    }
    // The approval may have been revoked meanwhile.
    const current = this.#log.findCoveredWait();
    if (current?.approval.id !== approval.id || current.wait.id !== wait.id || this.#log.state !== state) return undefined;
    const covered = {
      type: 'approve' as const,
      waitId: wait.id,
      digest,
      coveredBy: approval.id,
      by: approval.by,
      at: services.clock.now(),
    };
    const action = this.addShown(covered);
    return this.#apply({ action, before: state, after: applyRequest(state, action) }, {});
  }

  /** Applies one queued action, or refuses it. */
  async applyOne(entry: number, queued: QueuedAction, agent: () => Orchestrator): Promise<AppliedActions> {
    const { action } = queued;
    try {
      if (isAnswer(action)) await this.checkAnswer(action, agent(), false);
      return applyActions(this.#log.state, [[entry, queued]]);
    } catch (error) {
      return { state: this.#log.state, applied: [], changes: [], refused: [{ entry, error }] };
    }
  }

  /** Finds what has to be changed to erase a message. Throws if there is none, or if it cannot be erased now. */
  async prepareErasure(messageId: string, isRunning: boolean): Promise<void> {
    const { id, state, services } = this.#log;
    this.#erasure = {};
    // Another action may still add it.
    if (isRunning || this.#log.hasWork) return;
    assertErasable(id, state, messageId);
    const { store } = services;
    // One that was refused is only in its mail.
    const refused = findRefusedSends(await store.inbox.read({ sessionId: id, isWaiting: false }), messageId);
    const entries = await readEntriesFrom(store, id, 1);
    const rewrites = refused.length > 0 ? (findErased(id, entries, messageId) ?? []) : eraseMessage(id, entries, messageId);
    this.#erasure = { rewrites, dropsMail: refused.map(({ num }) => num) };
  }

  /** Stores the erasure that was prepared, which an earlier entry asks for. */
  erase(entry: number): Promise<void> {
    return this.#log.append({ applied: [entry], execution: this.#log.state.execution.number }, { ...this.#erasure, canRun: false });
  }

  checkAnswer(request: AnswerRequest, agent: Orchestrator, isRunning: boolean): Promise<void> {
    return checkAnswer(request, { log: this.#log, agent, askedBy: this.#log.facts.agent, isRunning });
  }

  /** Stores which actions were applied and which were refused. */
  record(actions: AppliedActions, uncommitted: readonly BaseEvent[] = []): RecordedActions {
    const { state, changes } = actions;
    const { approvals, used } = this.#useApprovals(changes);
    const events = this.#createEvents(used, uncommitted.at(-1)?.seq ?? state.data.lastSeq);
    const parts = { ...withEvents(state, [...uncommitted, ...events]), approvals };
    return { done: this.#log.append(toBody(actions), parts), state: parts.state, events };
  }

  /** Emits events that are stored. */
  emit(events: readonly BaseEvent[]): void {
    const { onEvent, onProblem = reportToConsole } = this.#options;
    if (onEvent !== undefined) for (const event of events) notifyListener((each) => onEvent(each, this.#log.facts), event, onProblem);
  }

  /** Queues the end of a step that has ended the process: nobody is waited for any more. */
  #queueEnd(action: Action, origin: AnsweredParts): StoredAction {
    const { state } = this.#log;
    const after = withoutCrashLoop(state);
    const parts = withEvents(after, this.#createEvents([{ action, before: state, after, isQueued: true }], after.data.lastSeq));
    return { ...this.#queue(action, { ...origin, ...parts }, false), events: parts.events };
  }

  #queue(action: Action, parts: EntryParts, isNext: boolean): StoredAction {
    const { state } = this.#log;
    const { number: execution } = state.execution;
    const done = this.#log.append({ action, isQueued: true, ...(isNext && { opensNext: true }), execution }, parts);
    if (action.type === 'cancel') return { done, target: { execution }, events: [], interrupts: action.reason };
    const interrupts = isInterrupting(action) && hasWork(state) ? { interrupts: new Supersession() } : {};
    return { done, target: { entry: this.#log.head }, events: [], ...interrupts };
  }

  /** Stores an action that is applied at once, with its events. */
  #apply(applied: AppliedAction, parts: Omit<EntryParts, 'state' | 'events'>): StoredAction {
    const { action, after } = applied;
    const target = { execution: after.execution.number };
    const { approvals, used } = this.#useApprovals([applied]);
    const events = this.#createEvents(used, after.data.lastSeq);
    return { done: this.#log.append({ action, ...target }, { ...parts, ...withEvents(after, events), approvals }), target, events };
  }

  /** Finds the approvals of the session after actions, and which use of one each action is. */
  #useApprovals(changes: readonly AppliedAction[]): {
    readonly approvals: readonly SessionApproval[];
    readonly used: readonly AppliedAction[];
  } {
    let { approvals } = this.#log;
    const used = changes.map((applied) => {
      approvals = updateApprovals(approvals, applied.action, applied.before);
      return { ...applied, use: findUse(approvals, applied.action) };
    });
    return { approvals, used };
  }

  #createEvents(changes: readonly AppliedAction[], lastSeq: number): readonly BaseEvent[] {
    const { id, facts, services } = this.#log;
    return createActionEvents(changes, { sessionId: id, agentName: facts.agent.id, lastSeq, at: services.clock.now() });
  }
}

const withoutCrashLoop = (state: RunState): RunState =>
  state.execution.crashLoop === undefined ? state : state.evolve({ execution: { ...state.execution, crashLoop: undefined } });

/** Returns the parts of an entry that stores a state with new events. */
export function withEvents(
  state: RunState,
  events: readonly BaseEvent[],
): { readonly state: RunState; readonly events: readonly BaseEvent[] } {
  const { lastSeq } = state.data;
  const last = events.at(-1)?.seq ?? lastSeq;
  return { state: last === lastSeq ? state : state.evolve({ lastSeq: last }), events };
}
