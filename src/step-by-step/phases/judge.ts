import type { ContinuationEvaluation } from '../../continuation/index.ts';
import {
  ContinuationDecision,
  ContinuationOutcome,
  ErrorPolicyCriterion,
  StopReason,
  stopReasonOfLimit,
  stopRequestedEvaluation,
} from '../../continuation/index.ts';
import { classifyError, ErrorPolicy } from '../../errors/index.ts';
import type { MessageStore } from '../../messages/index.ts';
import { SectionName, Usage } from '../../messages/index.ts';
import { resolveErrorContexts, stateErrors } from '../error-contexts.ts';
import type { Execution } from '../execution.ts';
import type { OuterStep, Spent } from '../outer-step.ts';
import type { RunState } from '../run-state.ts';
import type { Step } from '../step.ts';
import { addCost, minusCost, withFailure } from '../step.ts';
import type { StepOf, StepProcess } from '../step-process.ts';
import type { RecordedHandling } from '../step-result.ts';
import { toMicroseconds } from '../step-timer.ts';
import type { OpenStep } from './open-step.ts';

// Messages that were appended once are not appended again: a second append would copy the whole conversation.
function storeWith<State extends RunState>(
  { execution, store }: { readonly execution: Execution; readonly store: MessageStore },
  { outputMessages }: Step,
  earlier: State | undefined,
): MessageStore {
  if (earlier?.execution.candidate?.outputMessages === outputMessages) return earlier.store;
  const { queued = [] } = execution;
  const added = queued.length === 0 ? outputMessages : [...outputMessages, ...queued];
  return added.length === 0 ? store : store.append(SectionName.Messages, ...added);
}

/**
 * The state as it will be committed, with the step to judge and the findings that criteria read.
 * `earlier` is the candidate of the same step before it was inspected.
 */
export function candidateOf<State extends RunState, Context>(
  open: OpenStep<State, Context>,
  produced: StepOf<State> & Step,
  earlier?: State,
): State {
  const { run, state, timer } = open;
  const { notes } = open.scope;
  const step = notes === undefined ? produced : notes.joinTo(produced);
  const { execution, info } = state.data;
  const now = run.clock.now();
  const activeMs = timer.activeMs();
  const { wallStartedAt } = execution;
  const candidate = state.evolve({
    info: info.addExecutionTime(activeMs / 1000, now),
    store: storeWith({ execution, store: notes?.store ?? state.store }, step, earlier),
    ...(notes !== undefined && { metadata: notes.over(state.metadata) }),
    execution: {
      ...execution,
      candidate: step,
      now,
      // A person takes no time of the run's.
      wallStartedAt: wallStartedAt === undefined ? undefined : wallStartedAt + timer.personMs(),
      stopRequest: run.control.stopRequest,
      workLeft: step.hasToolCalls === true || step.interrupted !== undefined,
      usage: Usage.add(execution.usage, step.usage),
      cost: addCost(execution.cost, step.cost),
      activeMs: toMicroseconds(execution.activeMs + activeMs),
      waitedMs: execution.waitedMs + timer.waitedMs(),
      pendingStep: undefined,
      queued: undefined,
    },
  });
  return open.process.workLeft?.(candidate) === true ? withFindings(candidate, { workLeft: true }) : candidate;
}

/** What a candidate has spent since the state before it, without what the run around this one knows already. */
export function spentBy<State extends RunState, Context>({ state, scope }: OpenStep<State, Context>, candidate: State): Spent {
  const { passedOn } = scope;
  return {
    usage: Usage.minus(Usage.minus(candidate.usage, state.usage), passedOn.usage),
    cost: minusCost(minusCost(candidate.cost, state.cost), passedOn.cost),
  };
}

/** The candidate with what the limits of the outer run say, for a run that is part of another. */
export function withOuterVotes<State extends RunState, Context>(open: OpenStep<State, Context>, candidate: State, outer: OuterStep): State {
  const votes = outer.limitVotes(spentBy(open, candidate));
  const step = candidate.execution.candidate;
  if (votes.length === 0 || step === undefined) return candidate;
  return withFindings(candidate, { candidate: { ...step, evaluations: [...(step.evaluations ?? []), ...votes] } });
}

/** The handling of a failed step, and the candidate on which it can be judged. */
export interface Handled<State> {
  readonly candidate: State;
  readonly handling?: RecordedHandling;
}

const withFindings = <State extends RunState>(candidate: State, findings: Partial<Execution>): State =>
  candidate.evolve({ execution: { ...candidate.execution, ...findings } });

/** Asks the policy about a failed step, and leaves on the candidate what that finding needs. */
export function handleFailures<State extends RunState, Context>(
  { process, run }: OpenStep<State, Context>,
  candidate: State,
): Handled<State> {
  if (candidate.errors.length === 0) return { candidate };
  // A retry is waited for on the wall clock only: it takes no active time, however little of that is left.
  const onWall = withFindings(candidate, { activeMs: Number.NEGATIVE_INFINITY });
  const timed = withFindings(candidate, { remainingMs: remainingMs(process, onWall) });
  const policy = process.criteria.errorPolicy ?? ErrorPolicy.stopOnAnyError();
  const contexts = resolveErrorContexts(timed);
  const { decision, context } = policy.handle(contexts);
  const { type: errorType, consecutiveFailures, totalFailures } = context;
  const retries = decision === 'retry';
  return {
    candidate: retries ? withFindings(timed, { workLeft: true }) : timed,
    handling: {
      decision,
      errorType,
      consecutiveFailures,
      totalFailures,
      ...(retries && { delayMs: policy.delayMs(contexts, run.random) }),
    },
  };
}

/** The time left under the time limits. A criterion that cannot say leaves it to judging to report that. */
export function remainingMs<State extends RunState, Context>(process: StepProcess<State, Context>, state: State): number | undefined {
  try {
    const byCriteria = process.criteria.remainingMs(state);
    const byOthers = process.remainingMs?.(state);
    return byCriteria === undefined || byOthers === undefined ? (byCriteria ?? byOthers) : Math.min(byCriteria, byOthers);
  } catch {
    return undefined;
  }
}

const deadlinePassed: ContinuationEvaluation = Object.freeze({
  criterion: 'Deadline',
  decision: ContinuationDecision.ForbidContinuation,
  reason: 'the step was cut off by a time limit',
  stopReason: StopReason.TimeLimitReached,
  context: Object.freeze({}),
});

/** Why the run ends whatever the criteria say: it was asked to, or it was cut off and may not even sum up. */
function endingVote({ candidate, stopRequest }: Execution, { isFinalizing }: ContinuationOutcome): ContinuationEvaluation | undefined {
  if (stopRequest !== undefined) return stopRequestedEvaluation(stopRequest);
  return candidate?.interrupted === 'deadline' && !isFinalizing ? deadlinePassed : undefined;
}

/** The limit for which a step summed up ends the run, also where its own count has begun anew since. */
function summedUpVote({ results }: Execution): ContinuationEvaluation | undefined {
  const reached = results.last?.outcome.evaluations.find(({ context }) => context['finalizing'] === true);
  if (reached?.limit === undefined) return undefined;
  const { criterion, limit, context } = reached;
  const reason = 'had been reached before this step summed up';
  return { criterion, decision: ContinuationDecision.ForbidContinuation, reason, stopReason: stopReasonOfLimit(limit), limit, context };
}

const nobodyJudgesFailures = new ErrorPolicyCriterion(ErrorPolicy.stopOnAnyError(), stateErrors);

/** Why a run that nobody stops may not end well: its last step failed, and no criterion judges failures. */
function failureVote(criteria: { readonly errorPolicy: ErrorPolicy | undefined }, state: RunState): ContinuationEvaluation | undefined {
  return state.errors.length === 0 || criteria.errorPolicy !== undefined ? undefined : nobodyJudgesFailures.explain(state);
}

/** What the loop adds to what the criteria answered: a run that must end ends, and a failure does not pass for success. */
function ownVote(
  criteria: { readonly errorPolicy: ErrorPolicy | undefined },
  state: RunState,
  outcome: ContinuationOutcome,
): ContinuationEvaluation | undefined {
  if (outcome.isForbidden) return undefined;
  if (state.execution.candidate?.finalizing === true) return summedUpVote(state.execution);
  if (outcome.shouldContinue) return endingVote(state.execution, outcome);
  // That nothing is left to do means nothing where the step was cut off.
  return state.execution.candidate?.interrupted === 'deadline' ? deadlinePassed : failureVote(criteria, state);
}

/** Asks the criteria, and adds what they leave open. */
function decide<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  state: State,
  votes: readonly ContinuationEvaluation[] | undefined,
): ContinuationOutcome {
  const outcome = process.criteria.evaluate(state, votes);
  const own = ownVote(process.criteria, state, outcome);
  if (own === undefined) return outcome;
  // A limit whose clock began anew since is not heard twice.
  const others = outcome.evaluations.filter(({ criterion, limit }) => limit === undefined || criterion !== own.criterion);
  return ContinuationOutcome.fromEvaluations([...others, own]);
}

/** A candidate and what was decided about it. */
export interface Judged<State> {
  readonly candidate: State;
  readonly outcome: ContinuationOutcome;
}

/**
 * Decides whether to go on. Pure and synchronous. Where judging fails, the step is kept and the failure is added to it.
 * `votes` were cast before; those on a step unless told otherwise.
 */
export function judge<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  state: State,
  votes: readonly ContinuationEvaluation[] | undefined = state.execution.candidate?.evaluations,
): Judged<State> {
  try {
    return { candidate: state, outcome: decide(process, state, votes) };
  } catch (error) {
    const outcome = ContinuationOutcome.fromEvaluationError(error);
    const step = state.execution.candidate;
    if (step === undefined) return { candidate: state, outcome };
    return { candidate: withFindings(state, { candidate: withFailure(step, classifyError(error, { readable: false })) }), outcome };
  }
}
