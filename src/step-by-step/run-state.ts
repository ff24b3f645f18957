// The state of a conversation that runs step by step.
// Owns:     the messages, the current execution, the executions before it, and the state's identity.
// Does not: run anything, read a clock while judging, or change: every transition returns a new state.
// S1. A state that was handed out stays as it is, whatever happens to states made from it.
// S2. Counts, usage and limits are those of the current execution; `session` has the totals.
// S3. An execution that has started never ends without a recorded reason.
import { emptySummary } from './step-summary.ts';
import type { StepSummary } from './step-summary.ts';
import type { ApproveOptions } from './decided.ts';
import type { ContinuationOutcome, StopReason } from '../continuation/index.ts';
import type { Failure } from '../errors/index.ts';
import type { CoolDowns, RefusedPart } from '../inference/index.ts';
import type { Clock, IdSource, JsonObject } from '../lib/index.ts';
import {
  AppendOnlyList,
  cleanText,
  deepFreeze,
  describeValue,
  InvalidArgumentError,
  isRecord,
  omitUndefined,
  systemIds,
} from '../lib/index.ts';
import type { MessageContent, Messages } from '../messages/index.ts';
import type { Message } from '../messages/index.ts';
import { MessageStore, SectionName, toUserMessage, Usage } from '../messages/index.ts';
import {
  addGrant,
  answerWait,
  approveWait,
  endAtLimit,
  getWaits,
  isWaitingGrant,
  recordClosedStep,
  recordResult,
  rejectWait,
  retryProvider,
} from './decided.ts';
import type { Execution, ExecutionStatus } from './execution.ts';
import {
  createExecution,
  getAwaitedGrants,
  getLastOutcome,
  getStatus,
  getStopReason,
  getUsage,
  hasEnded,
  hasStarted,
} from './execution.ts';
import type { ExplainStateOptions } from './explain-state.ts';
import { explainState } from './explain-state.ts';
import type { DecisionOptions, Grant } from './grant.ts';
import type { StateGaps } from './state-gaps.ts';
import { MessageRefusedError } from './message-refused-error.ts';
import { StateInfo } from './state-info.ts';
import type { Cost, Interruption, Step } from './step.ts';
import { addCost, findSpokenMessage } from './step.ts';
import { StepResult } from './step-result.ts';
import type { PendingStep, Wait } from './waiting.ts';
import { getOpenWaits, parseValue } from './waiting.ts';

/** Parts of a state. */
export interface RunStateData<S extends Step = Step> {
  readonly info: StateInfo;
  readonly agentId: string;
  readonly parentAgentId?: string | undefined;
  readonly store: MessageStore;
  readonly metadata: JsonObject;
  readonly execution: Execution<S>;
  readonly past: AppendOnlyList<Execution<S>>;
  /** Models that failed while another one answered, and are skipped for a while. */
  readonly coolDowns?: CoolDowns | undefined;
  /** Attachments that a model refused: requests have words in their place. */
  readonly refusedParts?: readonly RefusedPart[] | undefined;
  /** Number of the last event emitted for this state. */
  readonly lastSeq: number;
  /** True if a step was recorded outside a run; the next run emits its events. */
  readonly owesEvents?: boolean | undefined;
  /** Present if the state was read from a copy that did not hold everything. */
  readonly gaps?: StateGaps | undefined;
  /** Stored fields that this version does not know; kept for versions that do. */
  readonly unknownFields?: JsonObject | undefined;
}

/** The parts of a state that change while it lives. */
export type RunStateChange<S extends Step = Step> = Partial<Omit<RunStateData<S>, 'agentId' | 'parentAgentId' | 'gaps' | 'unknownFields'>>;

/** Options of a new state. */
export interface NewStateOptions {
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly agentId?: string;
  readonly parentAgentId?: string;
  readonly metadata?: JsonObject;
}

/** Identity of a fork. All fields are optional. */
export interface ForkOptions {
  /** The id of the new state. */
  readonly id?: string;
  /** Id of the execution in progress, if there is one. */
  readonly executionId?: string;
  readonly clock?: Clock;
  readonly ids?: IdSource;
}

/** Totals of the whole conversation. */
export interface SessionTotals<S extends Step> {
  /** All executions that have started, the current one last. */
  readonly executions: readonly Execution<S>[];
  readonly stepCount: number;
  readonly usage: Usage;
}

const superseded = 'superseded by a new message';

function parseMetadata(given: JsonObject): JsonObject {
  const metadata = parseValue(given, 'The metadata');
  if (!isRecord(metadata)) throw new InvalidArgumentError(`The metadata of a state must be an object, not ${describeValue(metadata)}.`);
  return deepFreeze(metadata);
}

/** Reason for closing a step that waits. */
interface Closing extends DecisionOptions {
  readonly why: 'superseded' | 'interrupted';
  readonly interrupted: Interruption;
  readonly reason: string;
  readonly ids: IdSource;
}

export class RunState<S extends Step = Step> {
  readonly data: RunStateData<S>;

  constructor(data: RunStateData<S>) {
    this.data = data;
  }

  /** Returns the parts of an empty state. */
  static emptyData<S extends Step>({
    clock,
    ids = systemIds,
    agentId,
    parentAgentId,
    metadata = {},
  }: NewStateOptions = {}): RunStateData<S> {
    return {
      info: StateInfo.create({ ids, ...(clock !== undefined && { clock }) }),
      agentId: cleanText(agentId ?? ids()),
      parentAgentId: parentAgentId === undefined ? undefined : cleanText(parentAgentId),
      store: MessageStore.empty(),
      metadata: parseMetadata(metadata),
      execution: createExecution(1),
      past: AppendOnlyList.empty(),
      lastSeq: 0,
    };
  }

  get id(): string {
    return this.data.info.id;
  }
  get info(): StateInfo {
    return this.data.info.withExecutionStart(this.data.execution.wallStartedAt);
  }
  get agentId(): string {
    return this.data.agentId;
  }
  get parentAgentId(): string | undefined {
    return this.data.parentAgentId;
  }
  get metadata(): JsonObject {
    return this.data.metadata;
  }
  get store(): MessageStore {
    return this.data.store;
  }
  /** The conversation. */
  get messages(): Messages {
    return this.data.store.section(SectionName.Messages);
  }
  /** Messages sent to the model: summary, buffer, then the conversation. */
  get messagesForInference(): Messages {
    return this.data.store.toMessages();
  }
  get execution(): Execution<S> {
    return this.data.execution;
  }
  get status(): ExecutionStatus {
    return getStatus(this.data.execution);
  }
  /** Undefined until the execution has ended. */
  get stopReason(): StopReason | undefined {
    return getStopReason(this.data.execution);
  }
  get stepResults(): readonly StepResult<S>[] {
    return this.data.execution.results.toArray();
  }
  /** The last recorded step. If the run was ended before its next step, it has that decision: the reason to stop is never lost. */
  get lastStepResult(): StepResult<S> | undefined {
    const { results, startOutcome } = this.data.execution;
    const { last } = results;
    return last === undefined || startOutcome === undefined ? last : new StepResult(last.step, startOutcome, last);
  }
  /** Recorded steps, and the one being judged. */
  get steps(): readonly S[] {
    const { results, judgedStep } = this.data.execution;
    const steps = results.toArray().map(({ step }) => step);
    return judgedStep === undefined ? steps : [...steps, judgedStep];
  }
  get stepCount(): number {
    const { results, judgedStep } = this.data.execution;
    return results.length + (judgedStep === undefined ? 0 : 1);
  }
  /** The step being judged, else the last one recorded. */
  get currentStep(): S | undefined {
    return this.data.execution.judgedStep ?? this.data.execution.results.last?.step;
  }
  get usage(): Usage {
    return getUsage(this.data.execution);
  }
  /** Cost of this execution; undefined if costs are not tracked. */
  get cost(): Cost | undefined {
    const { cost, pendingStep } = this.data.execution;
    return addCost(cost, pendingStep?.partial.cost);
  }
  /** Reason why the provider ended the last answer of this execution; undefined if it gave none. */
  get finishReason(): string | undefined {
    return this.currentStep?.finishReason;
  }
  /** Failures of the current step. */
  get errors(): readonly Failure[] {
    return this.currentStep?.errors ?? [];
  }
  /** The last decision and its reasons. */
  get lastContinuationOutcome(): ContinuationOutcome | undefined {
    return getLastOutcome(this.data.execution);
  }
  /** The same as `lastContinuationOutcome`. */
  get continuationOutcome(): ContinuationOutcome | undefined {
    return this.lastContinuationOutcome;
  }
  /** Set if this execution was stopped before its first step. */
  get startOutcome(): ContinuationOutcome | undefined {
    return this.data.execution.startOutcome;
  }
  get pendingStep(): PendingStep<S> | undefined {
    return this.data.execution.pendingStep;
  }
  /** Waits that need an answer before the run can continue. */
  get waitingFor(): readonly Wait[] {
    return getWaits(this.data.execution);
  }
  /** Last text of the assistant in this execution that was meant for readers; empty if there is none. */
  get text(): string {
    const { results, judgedStep, pendingStep } = this.data.execution;
    for (const step of [pendingStep?.partial, judgedStep]) {
      const spoken = step && findSpokenMessage(step);
      if (spoken !== undefined) return spoken.text;
    }
    // From the end: earlier steps of a stored state are read only if the later ones say nothing.
    for (let index = results.length - 1; index >= 0; index -= 1) {
      const result = results.at(index);
      const spoken = result && findSpokenMessage(result.step);
      if (spoken !== undefined) return spoken.text;
    }
    return '';
  }
  get session(): SessionTotals<S> {
    const { past, execution } = this.data;
    const executions = hasStarted(execution) ? [...past, execution] : past.toArray();
    return {
      executions,
      stepCount: executions.reduce((sum, { results }) => sum + results.length, 0),
      usage: executions.reduce((sum, execution) => Usage.add(sum, getUsage(execution)), Usage.none()),
    };
  }

  /** Models that are skipped for a while because they failed and another one answered, by name. */
  get coolDowns(): CoolDowns {
    return this.data.coolDowns ?? {};
  }

  /** Explains the current status in a few lines for people; `brief` leaves out the rules that had no objection. */
  explain(options: ExplainStateOptions = {}): string {
    const { gaps } = this.data;
    return gaps === undefined ? explainState(this, options) : `${explainState(this, options)}\n${gaps.summary}`;
  }

  /** @internal Summarizes the work of a step for an explanation. Modules with tool calls say how these ended. */
  summarizeResult(_result: StepResult): StepSummary {
    return emptySummary;
  }

  /** @internal Describes whose turn the last step was, if several take turns. */
  describeTurn(): readonly string[] {
    return [];
  }

  /**
   * Adds a user message. Starts a new execution unless one is running or about to run, which then reads the message too. A step that waits
   * is closed as superseded. Throws if the execution waits for a grant: only a grant or a cancel ends that.
   */
  withUserMessage(content: MessageContent | Message, { ids = systemIds }: { readonly ids?: IdSource } = {}): this {
    const message = toUserMessage(content, { ids, caller: 'withUserMessage()' });
    const state = this.#readyForInput(ids);
    const { execution, store } = state.data;
    if (execution.pendingStep === undefined) return state.evolve({ store: store.append(SectionName.Messages, message) });
    return state.evolve({ execution: { ...execution, queued: [...(execution.queued ?? []), message] } });
  }

  /** Appends messages of an earlier conversation. Does not start an execution. */
  withMessages(messages: Iterable<Message>): this {
    const { store } = this.data;
    if (this.pendingStep !== undefined)
      throw new InvalidArgumentError('Cannot add messages while a step is waiting. Answer what it is waiting for, or cancel it first.');
    return this.evolve({ store: store.withSection(SectionName.Messages, this.messages.concat(messages)) });
  }

  withMetadata(key: string, value: unknown): this {
    return this.evolve({ metadata: deepFreeze({ ...this.data.metadata, [cleanText(key)]: parseValue(value, `Metadata "${key}"`) }) });
  }

  /** Adds a step that was taken and judged elsewhere: its messages, usage and time. A later run continues after it, and emits no events for it. */
  recordStepResult(result: StepResult<S>, { ids = systemIds }: { readonly ids?: IdSource } = {}): this {
    const { execution, info, store } = this.data;
    const { step, timing } = result;
    return this.evolve({
      execution: recordResult(execution, result, ids),
      info: info.addExecutionTime(timing.activeMs / 1000, timing.endedAt),
      store: store.append(SectionName.Messages, ...step.outputMessages),
    });
  }

  /** Approves a gated call, with other arguments if given. Run the state to continue. */
  approve(id: string, options: ApproveOptions = {}): this {
    return this.evolve({ execution: approveWait(this.data.execution, id, options) });
  }

  /** Rejects a call; the model reads the reason. Run the state to continue. Rejecting a grant ends the execution at its limit. */
  reject(id: string, reason: string = 'no reason was given', options: DecisionOptions = {}): this {
    const { execution, owesEvents } = this.data;
    return this.evolve({
      execution: rejectWait(execution, { ...options, id, reason }),
      owesEvents: isWaitingGrant(execution, id) ? true : owesEvents,
    });
  }

  /** Answers a wait: the output of a client tool, the true result of a call, or a person's input. */
  answer(id: string, value: unknown, options: DecisionOptions = {}): this {
    return this.evolve({ execution: answerWait(this.data.execution, { ...options, id, value }) });
  }

  /** Raises this execution's limits by these amounts. If it waits for a grant, run the state to continue. */
  grant(amounts: Grant, options: DecisionOptions = {}): this {
    return this.evolve({ execution: addGrant(this.data.execution, amounts, options) });
  }

  /** Stops waiting for a provider that is down: the step that failed is taken again. Run the state to continue. */
  retryNow(): this {
    return this.evolve({ execution: retryProvider(this.data.execution) });
  }

  /** Ends a waiting execution for this reason and closes its open calls. To end a running one, use its signal. */
  cancel(reason: string = 'cancelled', { ids = systemIds, by }: DecisionOptions & { readonly ids?: IdSource } = {}): this {
    if (typeof reason !== 'string')
      throw new InvalidArgumentError(`The reason of cancel() must be a string, not ${describeValue(reason)}.`);
    if (this.waitingFor.length === 0)
      throw new InvalidArgumentError(
        `Cannot cancel: nothing is waiting (the execution is ${this.status}). To stop a run, use its signal or requestStop().`,
      );
    if (this.pendingStep === undefined)
      return this.evolve({ execution: endAtLimit(this.data.execution, reason, omitUndefined({ by })), owesEvents: true });
    return this.#withPendingStepClosed(
      this.pendingStep,
      omitUndefined({ why: 'interrupted' as const, interrupted: 'request' as const, reason, ids, by }),
    );
  }

  /**
   * Creates a separate conversation that starts from this state. An execution in progress continues under another id, so that
   * its effects are not mistaken for those of the original. The numbers of events continue.
   */
  fork({ id, executionId, clock, ids = systemIds }: ForkOptions = {}): this {
    const { data } = this;
    const info = StateInfo.create({ ids: () => id ?? ids(), ...(clock !== undefined && { clock }) });
    const isUnderWay = hasStarted(data.execution) && !hasEnded(data.execution);
    // Holds because every state class is constructed from its data alone.
    const Same = this.constructor as new (data: RunStateData<S>) => this;
    return new Same({
      ...data,
      info: info.at(info.updatedAt, data.info.cumulativeExecutionSeconds),
      agentId: ids(),
      execution: isUnderWay
        ? { ...data.execution, id: executionId ?? ids(), wallStartedAt: undefined, crashLoop: undefined }
        : data.execution,
      owesEvents: undefined,
    });
  }

  /** @internal Returns a state of the same kind with some parts replaced. */
  evolve(change: RunStateChange<S>): this {
    // Holds because every state class is constructed from its data alone.
    const Same = this.constructor as new (data: RunStateData<S>) => this;
    const { data } = this;
    // Written out field by field, because this runs for every step and a second spread is slow.
    return new Same({
      info: change.info ?? data.info,
      agentId: data.agentId,
      parentAgentId: data.parentAgentId,
      store: change.store ?? data.store,
      metadata: change.metadata ?? data.metadata,
      execution: change.execution ?? data.execution,
      past: change.past ?? data.past,
      coolDowns: 'coolDowns' in change ? change.coolDowns : data.coolDowns,
      refusedParts: change.refusedParts ?? data.refusedParts,
      lastSeq: change.lastSeq ?? data.lastSeq,
      owesEvents: 'owesEvents' in change ? change.owesEvents : data.owesEvents,
      gaps: data.gaps,
      unknownFields: data.unknownFields,
    });
  }

  /**
   * @internal Returns the pending step as it is recorded if it will not be resumed: a new message superseded it, or it was
   * interrupted. Modules with tool calls close them here.
   */
  closePendingStep(pending: PendingStep<S>, _why: 'superseded' | 'interrupted', _ids?: IdSource): S {
    return pending.partial;
  }

  #readyForInput(ids: IdSource): this {
    // If everything is answered, nothing waits any more: the step continues, and the message follows it.
    const state =
      this.pendingStep === undefined || getOpenWaits(this.pendingStep).length === 0
        ? this
        : this.#withPendingStepClosed(this.pendingStep, { why: 'superseded', interrupted: 'superseded', reason: superseded, ids });
    const { execution, past } = state.data;
    if (getAwaitedGrants(execution).length > 0)
      throw new MessageRefusedError(
        getWaits(execution).map(({ id }) => id),
        'Raise the limit with grant(amounts), or end the execution with cancel(reason). Then send the message again.',
      );
    return hasEnded(execution) ? state.evolve({ past: past.append(execution), execution: createExecution(execution.number + 1) }) : state;
  }

  #withPendingStepClosed(pending: PendingStep<S>, { why, interrupted, reason, ids, by }: Closing): this {
    const step: S = { ...this.closePendingStep(pending, why, ids), interrupted };
    const { execution, store } = this.data;
    return this.evolve({
      store: store.append(SectionName.Messages, ...step.outputMessages, ...(execution.queued ?? [])),
      execution: recordClosedStep(execution, { pending, step, reason, ...omitUndefined({ by }) }),
      owesEvents: true,
    });
  }
}
