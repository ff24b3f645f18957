import type { BaseEvent, EventHeader } from '../../events/index.ts';
import type { Json } from '../../lib/index.ts';
import { jsonEquals } from '../../lib/index.ts';
import { Usage } from '../../messages/index.ts';
import type { Execution } from '../execution.ts';
import { hasEnded, lastOutcome, statusOf, stopReasonOf, usageOf, withResult } from '../execution.ts';
import type { EndFacts } from '../loop-events.ts';
import {
  AgentFailed,
  AgentFinished,
  AgentStateUpdated,
  AgentStepCompleted,
  ContinuationEvaluated,
  RetryScheduled,
  TokenUsageReported,
} from '../loop-events.ts';
import type { EventSubject, RunScope } from '../run-scope.ts';
import { toMicroseconds } from '../step-timer.ts';
import type { RunState } from '../run-state.ts';
import { ExecutionStatus } from '../status.ts';
import type { Step } from '../step.ts';
import type { StepOf, StepProcess } from '../step-process.ts';
import type { RecordedHandling, StepTiming } from '../step-result.ts';
import { StepResult } from '../step-result.ts';
import type { PendingStep, Wait } from '../waiting.ts';
import type { Judged } from './judge.ts';
import { getSpent, joinEvaluations } from './judge.ts';
import type { OpenStep } from './open-step.ts';

/** Gives each event about one subject its header. */
type NextHeader = () => EventHeader;

function endFacts(execution: Execution): EndFacts {
  const ended = hasEnded(execution);
  return {
    status: statusOf(execution),
    stopReason: stopReasonOf(execution),
    resolvedBy: ended ? lastOutcome(execution)?.resolvedBy : undefined,
    stepCount: execution.results.length,
    usage: usageOf(execution),
    errors: execution.results.last?.step.errors ?? [],
  };
}

/** What is told at the end of a run, or where it stops to wait. */
export function endEvents(execution: Execution, orchestrator: string, next: NextHeader): readonly BaseEvent[] {
  const facts = endFacts(execution);
  const failed = facts.status === ExecutionStatus.Failed ? [new AgentFailed(next(), orchestrator, facts)] : [];
  return [...failed, new AgentFinished(next(), orchestrator, facts)];
}

const updated = (execution: Execution): { readonly status: ExecutionStatus; readonly stepCount: number } => ({
  status: statusOf(execution),
  stepCount: execution.results.length,
});

/** What is told about the last recorded step. */
export function stepEvents<State extends RunState, Context>(
  execution: Execution<StepOf<State> & Step>,
  process: Pick<StepProcess<State, Context>, 'name' | 'eventsOf'>,
  next: NextHeader,
): readonly BaseEvent[] {
  // Holds because this is asked only of an execution in which a step was just recorded.
  const { name: orchestrator } = process;
  const { step, outcome, timing, handling } = execution.results.last as StepResult<StepOf<State> & Step>;
  const events: BaseEvent[] = [
    ...(process.eventsOf?.(step, next) ?? []),
    new ContinuationEvaluated(next(), orchestrator, outcome),
    new AgentStateUpdated(next(), orchestrator, updated(execution)),
    new AgentStepCompleted(next(), orchestrator, step, timing.activeMs + timing.waitedMs),
  ];
  if (!Usage.isNone(step.usage)) events.push(new TokenUsageReported(next(), orchestrator, step.usage));
  if (outcome.shouldContinue && handling?.delayMs !== undefined && handling.delayMs > 0) {
    const { delayMs, errorType, consecutiveFailures: failures } = handling;
    events.push(new RetryScheduled(next(), orchestrator, { delayMs, errorType, failures }));
  }
  return events;
}

/** Records a judged step: one append to the results, one commit, then the events. */
export function commitStep<State extends RunState, Context>(
  open: OpenStep<State, Context>,
  { candidate, outcome }: Judged<State>,
  handling: RecordedHandling | undefined,
): State | Promise<State> {
  const { process, run, subject, number, timer } = open;
  const { execution } = candidate.state.data;
  // Holds because only a candidate is ever committed.
  const step = execution.judgedStep as Step;
  const endedAt = candidate.now ?? timer.startedAt;
  const { pendingStep, activeMs, waitedMs } = open.state.execution;
  const timing: StepTiming = {
    startedAt: pendingStep?.startedAt ?? timer.startedAt,
    endedAt,
    activeMs: toMicroseconds((pendingStep?.activeMs ?? 0) + execution.activeMs - activeMs),
    waitedMs: toMicroseconds((pendingStep?.waitedMs ?? 0) + execution.waitedMs - waitedMs),
  };
  const result = new StepResult({ number, step, outcome, timing, handling });
  const judged = withResult(execution, result);
  const recorded = outcome.isForbidden && outcome.awaitedGrants.length > 0 ? { ...judged, wallStartedAt: undefined } : judged;
  const next = (): EventHeader => run.header(subject, endedAt);
  const events = stepEvents(recorded as never, process, next);
  const ending = outcome.shouldContinue ? [] : endEvents(recorded, process.name, next);
  run.inside?.spend(getSpent(open, candidate.state));
  const committed = run.commit(
    candidate.state.evolve({ execution: recorded, lastSeq: run.lastSeq }),
    ending.length === 0 ? events : [...events, ...ending],
    result,
  );
  return process.observe === undefined ? committed : observed(committed, { process, run, result: result as never });
}

/** Shows what was recorded to whoever looks on, once it was stored. */
export function observed<State extends RunState, Context>(
  committed: State | Promise<State>,
  { process, run, result }: Recorded<State, Context>,
): State | Promise<State> {
  if (committed instanceof Promise) return committed.then((state) => observed(state, { process, run, result }));
  const { stopReason } = committed;
  try {
    process.observe?.({
      state: committed,
      context: run.context,
      ...(result !== undefined && { result }),
      ...(stopReason !== undefined && { stopReason }),
    });
  } catch (error) {
    run.report(error, 'observe');
  }
  return committed;
}

interface Recorded<State extends RunState, Context> {
  readonly process: StepProcess<State, Context>;
  readonly run: RunScope<State, Context>;
  readonly result?: StepResult<StepOf<State>> | undefined;
}

/** What was asked for before, and in the same words, has waited since then. */
function askedEarlier(before: PendingStep, waits: readonly Wait[]): Pick<PendingStep, 'askedEarlier'> {
  const asked = waits.flatMap((wait) => {
    const earlier = before.waits.find(({ id }) => id === wait.id);
    const isSame = earlier !== undefined && jsonEquals(argsOf(earlier), argsOf(wait));
    return isSame ? [[wait.id, before.askedEarlier?.[wait.id] ?? before.parkedAt] as const] : [];
  });
  return asked.length === 0 ? {} : { askedEarlier: Object.fromEntries(asked) };
}

const argsOf = (wait: Wait): Json => ('args' in wait ? wait.args : null);

/** Keeps a step that cannot end yet, and ends the run until somebody answers. */
export function park<State extends RunState, Context>(
  open: OpenStep<State, Context>,
  produced: Step,
  waits: readonly Wait[],
): State | Promise<State> {
  const { process, run, state, number, timer, subject, scope } = open;
  const { execution, info, store, metadata } = state.data;
  const { notes } = scope;
  const partial = notes === undefined ? produced : notes.joinTo(produced);
  const before = execution.pendingStep;
  const evaluations = joinEvaluations(before?.evaluations, notes?.evaluations);
  const now = run.clock.now();
  const [activeMs, waitedMs] = [timer.activeMs(), timer.waitedMs()];
  const pendingStep: PendingStep = {
    number,
    partial,
    waits,
    answers: [],
    ...(evaluations !== undefined && { evaluations }),
    ...(before !== undefined && askedEarlier(before, waits)),
    startedAt: before?.startedAt ?? timer.startedAt,
    parkedAt: now,
    activeMs: (before?.activeMs ?? 0) + activeMs,
    waitedMs: (before?.waitedMs ?? 0) + waitedMs,
  };
  // Whoever is waited for takes no time of the run's: its clock starts fresh when it goes on.
  const parked = {
    ...execution,
    wallStartedAt: undefined,
    pendingStep,
    activeMs: execution.activeMs + activeMs,
    waitedMs: execution.waitedMs + waitedMs,
  };
  const next = (): EventHeader => run.header(subject, now);
  const events = [new AgentStateUpdated(next(), process.name, updated(parked)), ...endEvents(parked, process.name, next)];
  const changed = state.evolve({
    execution: parked,
    info: info.addExecutionTime(activeMs / 1000, now),
    lastSeq: run.lastSeq,
    store: notes?.store ?? store,
    metadata: notes?.over(metadata) ?? metadata,
  });
  run.inside?.spend(getSpent(open, changed));
  return run.commit(changed, events);
}

/** Keeps the refusal of a start. */
export function refuseStart<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  { candidate, outcome }: Judged<State>,
  { run, subject }: { readonly run: RunScope<State, Context>; readonly subject: EventSubject },
): State | Promise<State> {
  const { state } = candidate;
  const refused = { ...state.execution, startOutcome: outcome, regranted: undefined, wallStartedAt: undefined };
  const next = (): EventHeader => run.header(subject);
  const events = [
    new ContinuationEvaluated(next(), process.name, outcome),
    new AgentStateUpdated(next(), process.name, updated(refused)),
    ...endEvents(refused, process.name, next),
  ];
  const committed = run.commit(state.evolve({ execution: refused, lastSeq: run.lastSeq }), events);
  return process.observe === undefined ? committed : observed(committed, { process, run });
}
