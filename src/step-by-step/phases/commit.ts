import type { ContinuationOutcome } from '../../continuation/index.ts';
import { findEndingEvaluation } from '../../continuation/index.ts';
import type { BaseEvent, EventHeader } from '../../events/index.ts';
import { reportSafely } from '../../events/index.ts';
import type { Json, Soon } from '../../lib/index.ts';
import { isThenable, jsonEquals } from '../../lib/index.ts';
import { Usage } from '../../messages/index.ts';
import type { ProcessRun } from './process-run.ts';
import { getWaits } from '../decided.ts';
import type { Execution } from '../execution.ts';
import { ExecutionStatus, getLastOutcome, getStatus, getStopReason, getUsage, hasEnded, withResult } from '../execution.ts';
import type { EndFacts, RefusedGrant, RetryFacts } from '../loop-events.ts';
import {
  AgentFailed,
  AgentFinished,
  AgentStateUpdated,
  AgentStepCompleted,
  ContinuationEvaluated,
  RetryScheduled,
  toEventWait,
  TokenUsageReported,
} from '../loop-events.ts';
import type { EventSubject } from '../run-events.ts';
import { RunState } from '../run-state.ts';
import type { Step } from '../step.ts';
import { findSpokenMessage } from '../step.ts';
import type { StepOf, StepProcess } from '../step-process.ts';
import type { RecordedHandling, StepTiming } from '../step-result.ts';
import { StepResult } from '../step-result.ts';
import { toMicroseconds } from '../step-timer.ts';
import type { PendingStep, ProviderWait, Wait } from '../waiting.ts';
import type { Judged } from './judge.ts';
import { getSpent, joinEvaluations } from './judge.ts';
import type { OpenStep } from './open-step.ts';

/** Returns the header of the next event about one subject. */
type NextHeader = () => EventHeader;

/** The last result of an execution, as a step of its state's kind. */
export function getLastResult<State extends RunState>(execution: Execution): StepResult<StepOf<State> & Step> | undefined {
  // Holds because a state's results are of its own kind.
  return execution.results.last as StepResult<StepOf<State> & Step> | undefined;
}

function toRefusedGrant({ grantRefused, grantRefusedBy }: Execution): RefusedGrant | undefined {
  if (grantRefused === undefined) return undefined;
  return { reason: grantRefused, ...(grantRefusedBy !== undefined && { by: grantRefusedBy }) };
}

function toEndFacts(execution: Execution): EndFacts {
  const outcome = hasEnded(execution) ? getLastOutcome(execution) : undefined;
  return {
    status: getStatus(execution),
    stopReason: getStopReason(execution),
    resolvedBy: outcome?.resolvedBy,
    decisive: outcome && findEndingEvaluation(outcome),
    stepCount: execution.results.length,
    usage: getUsage(execution),
    errors: execution.results.last?.step.errors ?? [],
    waitingFor: getWaits(execution).map(toEventWait),
    grantRefused: toRefusedGrant(execution),
  };
}

/** Creates the events at the end of a run, or at a wait. */
export function createEndEvents(execution: Execution, orchestrator: string, next: NextHeader): readonly BaseEvent[] {
  const facts = toEndFacts(execution);
  const failed = facts.status === ExecutionStatus.Failed ? [new AgentFailed(next(), orchestrator, facts)] : [];
  return [...failed, new AgentFinished(next(), orchestrator, facts)];
}

function createUpdate(execution: Execution, orchestrator: string, next: NextHeader): AgentStateUpdated {
  const { pendingStep, results } = execution;
  // A step that waits for its provider is taken again: its text is void.
  const isKept = pendingStep?.waits.every(({ type }) => type !== 'provider') === true;
  const message = isKept ? findSpokenMessage(pendingStep.partial) : undefined;
  return new AgentStateUpdated(next(), orchestrator, { status: getStatus(execution), stepCount: results.length, message });
}

/** Lets the host emit its own events before those of the record that ends an execution are numbered. */
function emitBeforeEnd<State extends RunState, Context>({ run }: ProcessRun<State, Context>, subject: EventSubject): void {
  run.options.beforeEnd?.((make) => run.events.create(subject, make));
}

/** Finds the number of attempts that the error policy allows, in what it said about the step. */
function findMaxRetries({ evaluations }: ContinuationOutcome): number | undefined {
  return evaluations.map(({ context }) => context['maxRetries']).find((value) => typeof value === 'number');
}

/** Creates the events about the last recorded step. */
export function createStepEvents<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  execution: Execution,
  next: NextHeader,
): readonly BaseEvent[] {
  const result = getLastResult<State>(execution);
  if (result === undefined) return [];
  const { name: orchestrator } = process;
  const { step, outcome, handling } = result;
  const events: BaseEvent[] = [];
  const own = process.eventsOf?.(step, next);
  if (own !== undefined && own.length > 0) events.push(...own);
  events.push(
    new ContinuationEvaluated(next(), orchestrator, outcome, step.errors),
    createUpdate(execution, orchestrator, next),
    new AgentStepCompleted(next(), orchestrator, result),
  );
  if (!Usage.isNone(step.usage)) events.push(new TokenUsageReported(next(), orchestrator, step.usage));
  if (outcome.shouldContinue && handling?.delayMs !== undefined && handling.delayMs > 0) {
    const { delayMs, errorType, consecutiveFailures: failures } = handling;
    const { message = '' } = step.errors.find(({ type }) => type === errorType) ?? {};
    const facts = { delayMs, errorType, failures, message, maxRetries: findMaxRetries(outcome) };
    events.push(new RetryScheduled(next(), orchestrator, facts));
  }
  return events;
}

/** A state to store, with the events that belong to it. */
interface Entry<State> {
  readonly state: State;
  readonly events: readonly BaseEvent[];
  readonly result?: StepResult<StepOf<State>> | undefined;
}

// A host that returns something else from its commit keeps the state as it is.
const isStateLike = <State extends RunState>(value: unknown, state: State): value is State =>
  value instanceof RunState && value.constructor === state.constructor;

/** Commits a state, then emits the events of the record. Returns the state to continue with. */
export function commit<State extends RunState, Context>(
  { run }: ProcessRun<State, Context>,
  { state, events, result }: Entry<State>,
): Soon<State> {
  const uncommitted = run.events.takeUncommitted();
  const settle = (next: unknown): State => {
    run.events.emitCommitted(events);
    if (!isStateLike(next, state)) return state;
    run.events.advanceTo(next.data.lastSeq);
    return next;
  };
  if (run.options.commit === undefined) return settle(undefined);
  const stored = run.options.commit({ state, result, events: [...uncommitted, ...events] });
  // Any thenable, not only a native promise: stores return their own kinds.
  return isThenable(stored) ? Promise.resolve(stored).then(settle) : settle(stored);
}

/** Commits a state and shows it to the process's observer. */
export function commitAndObserve<State extends RunState, Context>(running: ProcessRun<State, Context>, entry: Entry<State>): Soon<State> {
  const committed = commit(running, entry);
  if (running.process.observe === undefined) return committed;
  const { result } = entry;
  return committed instanceof Promise ? committed.then((state) => observe(running, state, result)) : observe(running, committed, result);
}

/** Shows a record to the process's observer. */
export function observe<State extends RunState, Context>(
  { process, run }: ProcessRun<State, Context>,
  state: State,
  result: StepResult<StepOf<State>> | undefined,
): State {
  const { stopReason } = state;
  try {
    process.observe?.({
      state,
      context: run.context,
      onProblem: run.onProblem,
      ...(result !== undefined && { result }),
      ...(stopReason !== undefined && { stopReason }),
    });
  } catch (error) {
    reportSafely(run.onProblem, error, 'observe');
  }
  return state;
}

/** Records a judged step: one append to the results, one commit, then the events. */
export function commitStep<State extends RunState, Context>(
  open: OpenStep<State, Context>,
  { candidate, outcome }: Judged<State>,
  handling: RecordedHandling | undefined,
): Soon<State> {
  const { process, run, subject, time } = open;
  const { execution } = candidate.state.data;
  // Holds because only a candidate is ever committed.
  const step = execution.judgedStep as StepOf<State> & Step;
  const endedAt = candidate.state.data.info.updatedAt;
  const { pendingStep, activeMs, waitedMs } = open.state.execution;
  const timing: StepTiming = {
    startedAt: pendingStep?.startedAt ?? time.startedAt,
    endedAt,
    activeMs: toMicroseconds((pendingStep?.activeMs ?? 0) + execution.activeMs - activeMs),
    waitedMs: toMicroseconds((pendingStep?.waitedMs ?? 0) + execution.waitedMs - waitedMs),
  };
  const result = new StepResult(step, outcome, { number: open.stepNumber, timing, handling });
  const judged = withResult(execution, result);
  const recorded = outcome.isForbidden && outcome.awaitedGrants.length > 0 ? { ...judged, wallStartedAt: undefined } : judged;
  if (hasEnded(recorded)) emitBeforeEnd(open, subject);
  const next = (): EventHeader => run.events.nextHeader(subject, endedAt);
  const events = createStepEvents(process, recorded, next);
  const all = outcome.shouldContinue ? events : [...events, ...createEndEvents(recorded, process.name, next)];
  run.outer?.budget.spend(getSpent(open, candidate.state));
  const state = candidate.state.evolve({ execution: recorded, lastSeq: run.events.lastSeq });
  return commitAndObserve(open, { state, events: all, result });
}

const getArgs = (wait: Wait): Json => ('args' in wait ? wait.args : null);

/** Times of waits that were asked for before, with the same arguments. */
function keepAskedTimes(before: PendingStep, waits: readonly Wait[]): Pick<PendingStep, 'askedEarlier'> {
  const asked = waits.flatMap((wait) => {
    const earlier = before.waits.find(({ id }) => id === wait.id);
    const isSame = earlier !== undefined && jsonEquals(getArgs(earlier), getArgs(wait));
    return isSame ? [[wait.id, before.askedEarlier?.[wait.id] ?? before.parkedAt] as const] : [];
  });
  return asked.length === 0 ? {} : { askedEarlier: Object.fromEntries(asked) };
}

/** Facts about the next try of a step that waits for a provider. */
function toRetryFacts(
  { nextTryAt, tries }: ProviderWait,
  { execution, step, now }: { readonly execution: Execution; readonly step: Step; readonly now: number },
): RetryFacts {
  const { decision, consecutiveFailures = 0 } = execution.results.last?.handling ?? {};
  const recorded = decision === 'retry' ? consecutiveFailures : 0;
  const [failure] = step.errors;
  const { type: errorType = 'unknown', message = '' } = failure ?? {};
  return { delayMs: nextTryAt - now, errorType, failures: recorded + tries, message };
}

/** Keeps a step that cannot end yet, and ends the run until somebody answers. */
export function park<State extends RunState, Context>(open: OpenStep<State, Context>, produced: Step, waits: readonly Wait[]): Soon<State> {
  const { process, run, time, subject, notes } = open;
  const { execution, info, store, metadata } = open.state.data;
  const before = execution.pendingStep;
  const evaluations = joinEvaluations(before?.evaluations, notes.evaluations);
  const now = run.clock.now();
  const { activeMs, waitedMs } = time;
  const pendingStep: PendingStep = {
    number: open.stepNumber,
    partial: open.isResumed ? { ...notes.joinTo(produced), resumed: true } : notes.joinTo(produced),
    waits,
    answers: [],
    ...(evaluations !== undefined && { evaluations }),
    ...(before !== undefined && keepAskedTimes(before, waits)),
    startedAt: before?.startedAt ?? time.startedAt,
    parkedAt: now,
    activeMs: (before?.activeMs ?? 0) + activeMs,
    waitedMs: (before?.waitedMs ?? 0) + waitedMs,
  };
  const parked: Execution = {
    ...execution,
    // People's time does not count: the clock starts fresh when the run continues.
    wallStartedAt: undefined,
    pendingStep,
    activeMs: execution.activeMs + activeMs,
    waitedMs: execution.waitedMs + waitedMs,
  };
  const next = (): EventHeader => run.events.nextHeader(subject, now);
  const retries = waits.flatMap((wait) => (wait.type === 'provider' ? [toRetryFacts(wait, { execution, step: produced, now })] : []));
  const events = [
    ...retries.map((facts) => new RetryScheduled(next(), process.name, facts)),
    createUpdate(parked, process.name, next),
    ...createEndEvents(parked, process.name, next),
  ];
  const state = open.state.evolve({
    execution: parked,
    info: info.addExecutionTime(activeMs / 1000, now),
    lastSeq: run.events.lastSeq,
    store: notes.store ?? store,
    metadata: notes.over(metadata),
    coolDowns: notes.coolDowns,
    refusedParts: notes.refusedParts,
  });
  run.outer?.budget.spend(getSpent(open, state));
  return commit(open, { state, events });
}

/** Records the refusal of a start. */
export function refuseStart<State extends RunState, Context>(
  running: ProcessRun<State, Context>,
  { candidate, outcome }: Judged<State>,
  subject: EventSubject,
): Soon<State> {
  const { process, run } = running;
  const refused = { ...candidate.state.execution, startOutcome: outcome, regranted: undefined, wallStartedAt: undefined };
  if (hasEnded(refused)) emitBeforeEnd(running, subject);
  const next = (): EventHeader => run.events.nextHeader(subject);
  const events = [
    new ContinuationEvaluated(next(), process.name, outcome),
    createUpdate(refused, process.name, next),
    ...createEndEvents(refused, process.name, next),
  ];
  return commitAndObserve(running, { state: candidate.state.evolve({ execution: refused, lastSeq: run.events.lastSeq }), events });
}
