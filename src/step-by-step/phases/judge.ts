import type { ContinuationEvaluation } from '../../continuation/index.ts';
import {
  AtLimit,
  ContinuationDecision,
  ContinuationOutcome,
  ErrorPolicyCriterion,
  limitStopReasons,
  StopReason,
  toStopEvaluation,
} from '../../continuation/index.ts';
import type { ErrorHandling } from '../../errors/index.ts';
import { AgentErrorContextResolver, classifyError, ErrorPolicy } from '../../errors/index.ts';
import type { MessageStore } from '../../messages/index.ts';
import { SectionName, Usage } from '../../messages/index.ts';
import type { Candidate } from '../candidate.ts';
import type { Execution } from '../execution.ts';
import { getJudgingTime } from '../execution.ts';
import type { Spent } from '../outer-step.ts';
import type { RunState } from '../run-state.ts';
import type { Step } from '../step.ts';
import { addCost, minusCost, withFailure } from '../step.ts';
import type { StepOf, StepProcess } from '../step-process.ts';
import type { RecordedHandling } from '../step-result.ts';
import { toMicroseconds } from '../step-timer.ts';
import type { OpenStep } from './open-step.ts';

// Messages that were appended once are not appended again: a second append would copy the whole conversation.
function appendMessages(
  { execution, store }: { readonly execution: Execution; readonly store: MessageStore },
  { outputMessages }: Step,
  earlier: RunState | undefined,
): MessageStore {
  if (earlier?.execution.judgedStep?.outputMessages === outputMessages) return earlier.store;
  const { queued = [] } = execution;
  const added = queued.length === 0 ? outputMessages : [...outputMessages, ...queued];
  return added.length === 0 ? store : store.append(SectionName.Messages, ...added);
}

/** Builds the candidate of a produced step. `earlier` is the candidate of the same step before it was inspected. */
export function buildCandidate<State extends RunState, Context>(
  open: OpenStep<State, Context>,
  produced: StepOf<State> & Step,
  earlier?: State,
): Candidate<State> {
  const { run, time, notes } = open;
  const joined = notes.joinTo(produced);
  const step = open.isResumed ? { ...joined, resumed: true } : joined;
  const { execution, info, store, metadata } = open.state.data;
  const { activeMs, personMs } = time;
  const { wallStartedAt, monotonicStartedAt, pendingStep } = execution;
  const state = open.state.evolve({
    info: info.addExecutionTime(activeMs / 1000, run.clock.now()),
    store: appendMessages({ execution, store: notes.store ?? store }, step, earlier),
    metadata: notes.over(metadata),
    coolDowns: notes.coolDowns,
    refusedParts: notes.refusedParts,
    execution: {
      ...execution,
      judgedStep: step,
      // A person's time does not count.
      wallStartedAt: wallStartedAt === undefined ? undefined : wallStartedAt + personMs,
      monotonicStartedAt: monotonicStartedAt === undefined ? undefined : monotonicStartedAt + personMs,
      usage: Usage.add(execution.usage, step.usage),
      cost: addCost(execution.cost, step.cost),
      activeMs: toMicroseconds(execution.activeMs + activeMs),
      waitedMs: execution.waitedMs + time.waitedMs,
      pendingStep: undefined,
      queued: undefined,
    },
  });
  return {
    state,
    now: getJudgingTime(execution, run.clock),
    stopRequest: run.stopRequest,
    workLeft: step.hasToolCalls === true || step.interrupted !== undefined || open.process.workLeft?.(state) === true,
    evaluations: joinEvaluations(pendingStep?.evaluations, notes.evaluations),
  };
}

/** Both lists as one; undefined if there is nothing in them. */
export function joinEvaluations(
  first: readonly ContinuationEvaluation[] | undefined,
  second: readonly ContinuationEvaluation[] | undefined,
): readonly ContinuationEvaluation[] | undefined {
  const count = (first?.length ?? 0) + (second?.length ?? 0);
  return count === 0 ? undefined : [...(first ?? []), ...(second ?? [])];
}

/** Spending of a state since the one before the step, without what the run around this one knows already. */
export function getSpent<State extends RunState, Context>({ state, passedOn }: OpenStep<State, Context>, after: State): Spent {
  return {
    usage: Usage.minus(Usage.minus(after.usage, state.usage), passedOn.usage),
    cost: minusCost(minusCost(after.cost, state.cost), passedOn.cost),
  };
}

/** The candidate with the evaluations of the outer run's limits, for a run that is part of another. */
export function addOuterEvaluations<State extends RunState, Context>(
  open: OpenStep<State, Context>,
  candidate: Candidate<State>,
): Candidate<State> {
  const outer = open.run.outer?.budget.evaluateLimits(getSpent(open, candidate.state)) ?? [];
  return outer.length === 0 ? candidate : { ...candidate, evaluations: joinEvaluations(candidate.evaluations, outer) };
}

/** A failed step's handling, and the candidate with the findings that it needs. */
interface Handled<State> {
  readonly candidate: Candidate<State>;
  readonly handling?: RecordedHandling;
  /** The policy's decision, with the failure that decided it. */
  readonly decided?: ErrorHandling;
}

const resolver = new AgentErrorContextResolver();

/** Asks the policy about a failed step. */
export function handleFailures<State extends RunState, Context>(
  { process, run }: OpenStep<State, Context>,
  candidate: Candidate<State>,
): Handled<State> {
  const { state } = candidate;
  if (state.errors.length === 0) return { candidate };
  // A retry waits on the wall clock only: it takes no active time, however little of that is left.
  const onWall = state.evolve({ execution: { ...state.execution, activeMs: Number.NEGATIVE_INFINITY } });
  const remainingMs = getRemainingMs(process, { ...candidate, state: onWall });
  const policy = process.criteria.errorPolicy ?? ErrorPolicy.stopOnAnyError();
  const contexts = resolver.resolve(state, { remainingMs, now: candidate.now });
  const decided = policy.handle(contexts);
  const { decision, context } = decided;
  const { type: errorType, consecutiveFailures, totalFailures } = context;
  const handling = { decision, errorType, consecutiveFailures, totalFailures };
  if (decision !== 'retry') return { candidate: { ...candidate, remainingMs }, handling, decided };
  return {
    candidate: { ...candidate, remainingMs, workLeft: true },
    handling: { ...handling, delayMs: policy.delayMs(contexts, run.random) },
  };
}

/** The time left under the time limits. A criterion that throws is reported when the step is judged. */
export function getRemainingMs<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  { state, ...findings }: Candidate<State>,
): number | undefined {
  try {
    const byCriteria = process.criteria.remainingMs(state, findings);
    const byOthers = process.remainingMs?.(state, findings);
    return byCriteria === undefined || byOthers === undefined ? (byCriteria ?? byOthers) : Math.min(byCriteria, byOthers);
  } catch {
    return undefined;
  }
}

/** The evaluation of the time limit that cut off the step, under its own name. */
function toDeadlineEvaluation<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  { state, ...findings }: Candidate<State>,
): ContinuationEvaluation {
  const evaluation = process.evaluateTime?.(state, findings);
  if (evaluation !== undefined) return evaluation;
  return {
    criterion: process.criteria.findTimeLimit(state, findings) ?? 'Deadline',
    decision: ContinuationDecision.ForbidContinuation,
    reason: 'the step took longer than this time limit allows',
    stopReason: StopReason.TimeLimitReached,
    context: {},
  };
}

/** The limit for which a step summed up ends the run, even if its own count has restarted since. */
function repeatReachedLimit({ results }: Execution): ContinuationEvaluation | undefined {
  const reached = results.last?.outcome.evaluations.find(({ atLimit }) => atLimit === AtLimit.Finalize);
  if (reached?.limit === undefined) return undefined;
  const { criterion, limit, context } = reached;
  const reason = 'had been reached before this step summed up';
  return { criterion, decision: ContinuationDecision.ForbidContinuation, reason, stopReason: limitStopReasons[limit], limit, context };
}

const failureJudge = new ErrorPolicyCriterion(ErrorPolicy.stopOnAnyError(), resolver);

/** Finds the loop's own evaluation beside those of the criteria: a run that must end ends, and a failure does not pass for success. */
function findOwnEvaluation<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  candidate: Candidate<State>,
  outcome: ContinuationOutcome,
): ContinuationEvaluation | undefined {
  const { state, stopRequest } = candidate;
  const { execution } = state;
  const wasCutOff = execution.judgedStep?.interrupted === 'deadline';
  if (outcome.isForbidden) return undefined;
  if (execution.judgedStep?.finalizing === true) return repeatReachedLimit(execution);
  if (outcome.shouldContinue) {
    if (stopRequest !== undefined) return toStopEvaluation(stopRequest);
    return wasCutOff && !outcome.isFinalizing ? toDeadlineEvaluation(process, candidate) : undefined;
  }
  // That nothing is left to do means nothing if the step was cut off.
  if (wasCutOff) return toDeadlineEvaluation(process, candidate);
  return state.errors.length === 0 || process.criteria.errorPolicy !== undefined ? undefined : failureJudge.explain(state);
}

function evaluate<State extends RunState, Context>(process: StepProcess<State, Context>, candidate: Candidate<State>): ContinuationOutcome {
  const outcome = process.criteria.evaluate(candidate.state, candidate);
  const own = findOwnEvaluation(process, candidate, outcome);
  if (own === undefined) return outcome;
  // A limit that was asked before is not listed twice.
  const others = outcome.evaluations.filter(({ criterion }) => criterion !== own.criterion);
  return ContinuationOutcome.fromEvaluations([...others, own]);
}

/** A candidate and the decision about it. */
export interface Judged<State> {
  readonly candidate: Candidate<State>;
  readonly outcome: ContinuationOutcome;
}

/** Decides whether to continue. Pure and synchronous. If judging fails, the step is kept and the failure is added to it. */
export function judge<State extends RunState, Context>(process: StepProcess<State, Context>, candidate: Candidate<State>): Judged<State> {
  try {
    return { candidate, outcome: evaluate(process, candidate) };
  } catch (error) {
    const outcome = ContinuationOutcome.fromEvaluationError(error);
    const { execution } = candidate.state;
    if (execution.judgedStep === undefined) return { candidate, outcome };
    const judgedStep = withFailure(execution.judgedStep, classifyError(error, { readable: false }));
    return { candidate: { ...candidate, state: candidate.state.evolve({ execution: { ...execution, judgedStep } }) }, outcome };
  }
}
