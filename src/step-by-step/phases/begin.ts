import type { ContinuationEvaluation, Findings } from '../../continuation/index.ts';
import { ContinuationDecision, ContinuationOutcome, StopReason } from '../../continuation/index.ts';
import { classifyError } from '../../errors/index.ts';
import type { BaseEvent, EventHeader } from '../../events/index.ts';
import type { JsonObject } from '../../lib/index.ts';
import { stableStringify } from '../../lib/index.ts';
import { Usage } from '../../messages/index.ts';
import { canBegin } from '../can-begin.ts';
import type { Candidate } from '../candidate.ts';
import type { Execution } from '../execution.ts';
import { hasEnded, hasStarted } from '../execution.ts';
import { AgentExecutionStarted, ContinuationEvaluated } from '../loop-events.ts';
import type { Spent } from '../outer-step.ts';
import type { RunScope } from '../run-scope.ts';
import type { RunState } from '../run-state.ts';
import { addCost } from '../step.ts';
import type { StepProcess } from '../step-process.ts';
import { endEvents, observed, refuseStart, stepEvents } from './commit.ts';
import { joinEvaluations, judge } from './judge.ts';
import { openStart, subjectOf } from './open-step.ts';

/**
 * What is owed about an execution that was ended outside a run: its last step, where that was recorded there, or the decision that ended
 * it behind a step that was told before.
 */
const owedOfStep = <State extends RunState, Context>(
  process: StepProcess<State, Context>,
  execution: Execution,
  next: () => EventHeader,
): readonly BaseEvent[] => {
  if (execution.grantRefused !== undefined) return [];
  if (execution.startOutcome !== undefined) return [new ContinuationEvaluated(next(), process.name, execution.startOutcome)];
  return stepEvents(execution as never, process, next);
};

/** Tells of an execution that was ended outside a run, when the next one begins. */
function announceOwed<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  state: State,
  run: RunScope<State, Context>,
): State {
  const closed = state.data.past.last;
  const result = closed?.results.last;
  if (state.data.owesEvents !== true || closed === undefined || result === undefined) return state;
  const subject = subjectOf(state, closed.id ?? '', result.number, result.step.participant);
  // That the run waits was its last word; it has no other end to tell of.
  for (const event of owedOfStep(process, closed, () => run.header(subject))) run.tell(event);
  if (process.observe !== undefined) void observed(state.evolve({ execution: closed }), { process, run, result: result as never });
  return state.evolve({ owesEvents: undefined, lastSeq: run.lastSeq });
}

/** True for an execution that was ended outside a run, and of whose end nobody was told. */
export const owesEnd = ({ data }: RunState): boolean => data.owesEvents === true && hasEnded(data.execution);

/** Tells of an end that came outside a run. */
export function tellOwedEnd<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  state: State,
  run: RunScope<State, Context>,
): State | Promise<State> {
  const { execution } = state.data;
  const last = execution.results.last;
  const subject = subjectOf(state, execution.id ?? '', last?.number ?? 0, last?.step.participant);
  const next = (): EventHeader => run.header(subject);
  const events = [...owedOfStep(process, execution, next), ...endEvents(execution, process.name, next)];
  const committed = run.commit(state.evolve({ owesEvents: undefined, lastSeq: run.lastSeq }), events);
  const result = execution.results.last as never;
  return process.observe === undefined ? committed : observed(committed, { process, run, result });
}

/** Only a forbid refuses a start: before the first step, that nothing is left to do means nothing. */
export const refuses = ({ isForbidden }: ContinuationOutcome): boolean => isForbidden;

/** A first start is judged, and one after more was granted; a step that was under way just goes on. */
export const isJudgedAtStart = ({ execution }: RunState): boolean =>
  execution.pendingStep === undefined && (execution.results.isEmpty || execution.regranted === true);

// An execution that goes on under another agent, or another release of it, says so.
function resumedBy({ agent, resumedBy: earlier }: Execution, identity: JsonObject | undefined): readonly JsonObject[] | undefined {
  const before = earlier?.at(-1) ?? agent;
  if (identity === undefined || before === undefined || stableStringify(before) === stableStringify(identity)) return earlier;
  return [...(earlier ?? []), identity];
}

/** The candidate on which a start is judged: no new step, but the time and the stop request. */
export function toStartCandidate<State extends RunState>(state: State, findings: Findings): Candidate<State> {
  // If steps were taken already, a limit had stopped them: there was work left, or nobody would have waited.
  return { state, workLeft: state.execution.results.isEmpty ? undefined : true, ...findings };
}

/**
 * Starts an execution, or takes one up again; its start is yet to be judged. A state with nothing to do comes back as it is.
 * `fresh` starts the wall clock anew.
 */
export function begin<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  given: State,
  { run, fresh }: { readonly run: RunScope<State, Context>; readonly fresh: boolean },
): State {
  if (!canBegin(given)) return given;
  const state = announceOwed(process, given, run);
  const now = run.clock.now();
  const resumed = hasStarted(state.execution);
  const id = state.execution.id ?? run.executionId ?? run.ids();
  const wallStartedAt = fresh ? now : (state.execution.wallStartedAt ?? now);
  const agent = state.execution.agent ?? process.identity;
  const started = state.evolve({
    execution: {
      ...state.execution,
      id,
      startedAt: state.execution.startedAt ?? now,
      wallStartedAt,
      agent,
      resumedBy: resumedBy(state.execution, process.identity),
    },
  });
  if (fresh || !resumed) {
    const facts = { resumed, messageCount: state.messages.length, agent: process.identity ?? agent };
    run.tell(new AgentExecutionStarted(run.header(subjectOf(state, id, 0), now), process.name, facts));
  }
  return started;
}

/** What was found out before a start is judged, and the state that this leaves behind. */
interface Entered<State> {
  readonly state: State;
  readonly evaluations: readonly ContinuationEvaluation[];
  /** Why it cannot start, where that could not be found out. */
  readonly error?: unknown;
}

/** Lets decision-relevant work look at a start. What it throws is kept as the reason why there was none. */
async function enter<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  state: State,
  run: RunScope<State, Context>,
): Promise<Entered<State>> {
  const subject = subjectOf(state, state.execution.id ?? '', 0);
  const scope = openStart(process, state, { run, subject });
  let error: { readonly thrown: unknown } | undefined;
  try {
    const entering = run.control.ending === undefined ? process.enter?.(state, scope) : undefined;
    if (entering !== undefined) await run.untilAbandoned(entering);
  } catch (thrown) {
    // Whatever is thrown because the run was cut off is no failure.
    if (run.control.interruption === undefined) error = { thrown };
  }
  scope.close();
  const { notes } = scope;
  if (notes === undefined) return { state, evaluations: [], ...(error !== undefined && { error: error.thrown }) };
  const { execution, metadata, cost } = state;
  const changed = state.evolve({
    metadata: notes.over(metadata),
    ...(notes.store !== undefined && { store: notes.store }),
    execution: { ...execution, usage: Usage.add(execution.usage, notes.usage), cost: addCost(cost, notes.cost) },
  });
  return { state: changed, evaluations: notes.evaluations, ...(error !== undefined && { error: error.thrown }) };
}

/** The outcome of a start that could not be judged, with the evaluations given until then. */
function toFailedStart(error: unknown, evaluations: readonly ContinuationEvaluation[] = []): ContinuationOutcome {
  const { message, code } = classifyError(error);
  const failed: ContinuationEvaluation = {
    criterion: 'ExecutionStart',
    decision: ContinuationDecision.ForbidContinuation,
    reason: message,
    stopReason: StopReason.ErrorForbade,
    context: { code, error: error instanceof Error ? error.name : typeof error },
  };
  return ContinuationOutcome.fromEvaluations([failed, ...evaluations]);
}

const none: Spent = { usage: Usage.none() };

/** Judges a start; a refusal is kept on the state. */
export async function judgeStart<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  started: State,
  run: RunScope<State, Context>,
): Promise<State> {
  if (!isJudgedAtStart(started)) return started;
  const entered = process.enter === undefined ? { state: started, evaluations: [] } : await enter(process, started, run);
  const { state } = entered;
  const evaluations = joinEvaluations(entered.evaluations, run.inside?.limitVotes(none));
  const candidate = toStartCandidate(state, { now: run.clock.now(), stopRequest: run.control.stopRequest, evaluations });
  const judged = 'error' in entered ? { candidate, outcome: toFailedStart(entered.error, evaluations) } : judge(process, candidate);
  const subject = subjectOf(state, state.execution.id ?? '', 0);
  if (refuses(judged.outcome)) return refuseStart(process, judged, { run, subject });
  // What was granted does not do: the summary is taken after all.
  const sumsUp = judged.outcome.isFinalizing && state.lastStepResult?.outcome.isFinalizing === true;
  const regranted = sumsUp ? undefined : state.execution.regranted;
  return state.evolve({ execution: { ...state.execution, startOutcome: undefined, regranted }, lastSeq: run.lastSeq });
}
