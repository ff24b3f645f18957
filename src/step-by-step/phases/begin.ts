import type { ContinuationEvaluation, Findings } from '../../continuation/index.ts';
import { ContinuationDecision, ContinuationOutcome, StopReason } from '../../continuation/index.ts';
import { classifyError } from '../../errors/index.ts';
import type { BaseEvent, EventHeader } from '../../events/index.ts';
import type { JsonObject, Soon } from '../../lib/index.ts';
import { cleanText, stableStringify } from '../../lib/index.ts';
import { SectionName, Usage } from '../../messages/index.ts';
import { canBegin, getJudgingTime, hasEnded, hasStarted } from '../execution.ts';
import type { Candidate } from '../candidate.ts';
import type { Execution } from '../execution.ts';
import { AgentExecutionStarted, ContinuationEvaluated } from '../loop-events.ts';
import type { EventSubject } from '../run-events.ts';
import type { RunState } from '../run-state.ts';
import { addCost } from '../step.ts';
import type { StepNotes } from '../step-notes.ts';
import type { StepProcess } from '../step-process.ts';
import type { StepResult } from '../step-result.ts';
import { toMicroseconds } from '../step-timer.ts';
import { commitAndObserve, createEndEvents, createStepEvents, getLastResult, observe, refuseStart } from './commit.ts';
import { joinEvaluations, judge } from './judge.ts';
import { OpenStep } from './open-step.ts';
import type { ProcessRun } from './process-run.ts';

function toSubject({ agentId, parentAgentId }: RunState, { id = '' }: Execution, result?: StepResult): EventSubject {
  return { agentId, parentAgentId, executionId: id, stepNumber: result?.number ?? 0, participant: result?.step.participant };
}

/**
 * Creates the events about an execution that was ended outside a run: its last step, if that was recorded there, or the decision that
 * ended it after a step that was emitted before.
 */
function createOwedEvents<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  execution: Execution,
  next: () => EventHeader,
): readonly BaseEvent[] {
  if (execution.grantRefused !== undefined) return [];
  if (execution.startOutcome !== undefined) return [new ContinuationEvaluated(next(), process.name, execution.startOutcome)];
  return createStepEvents(process, execution, next);
}

/** Emits the events of an earlier execution that was ended outside a run. */
function emitOwedEvents<State extends RunState, Context>(running: ProcessRun<State, Context>, state: State): State {
  const { process, run } = running;
  const closed = state.data.past.last;
  if (state.data.owesEvents !== true || closed?.results.last === undefined) return state;
  const result = getLastResult<State>(closed);
  const subject = toSubject(state, closed, result);
  // The run's last word was that it waits; it has no other end to report.
  for (const event of createOwedEvents(process, closed, () => run.events.nextHeader(subject))) run.events.emit(event);
  observe(running, state.evolve({ execution: closed }), result);
  return state.evolve({ owesEvents: undefined, lastSeq: run.events.lastSeq });
}

/** True for an execution that was ended outside a run, and whose end was not emitted. */
export const owesEnd = ({ data }: RunState): boolean => data.owesEvents === true && hasEnded(data.execution);

/** Emits an end that came outside a run. */
export function commitOwedEnd<State extends RunState, Context>(running: ProcessRun<State, Context>, state: State): Soon<State> {
  const { process, run } = running;
  const { execution } = state.data;
  const result = getLastResult<State>(execution);
  const subject = toSubject(state, execution, result);
  const next = (): EventHeader => run.events.nextHeader(subject);
  const events = [...createOwedEvents(process, execution, next), ...createEndEvents(execution, process.name, next)];
  return commitAndObserve(running, { state: state.evolve({ owesEvents: undefined, lastSeq: run.events.lastSeq }), events, result });
}

/** True for a first start, and for one after a grant; a step in progress just continues. */
export const isJudgedAtStart = ({ execution }: RunState): boolean =>
  execution.pendingStep === undefined && execution.outage === undefined && (execution.results.isEmpty || execution.regranted === true);

// An execution that continues under another agent, or another release of it, says so.
function addResumer({ agent, resumedBy: earlier }: Execution, identity: JsonObject | undefined): readonly JsonObject[] | undefined {
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
 * Starts an execution, or resumes one; the wall clock starts again, and the start is yet to be judged. Returns the same state if there
 * is nothing to do.
 */
export function begin<State extends RunState, Context>(running: ProcessRun<State, Context>, given: State, announcesResume: boolean): State {
  if (!canBegin(given)) return given;
  const { process, run } = running;
  const { options } = run;
  const state = emitOwedEvents(running, given);
  const { execution } = state;
  const now = run.clock.now();
  const resumed = hasStarted(execution);
  const agent = execution.agent ?? process.identity;
  // Also for a state that stayed in memory: it runs on as it would after storage.
  const wallStartedAt = options.wallStartedAt ?? now;
  const started: Execution = {
    ...execution,
    id: execution.id ?? options.executionId ?? run.ids(),
    startedAt: execution.startedAt ?? now,
    wallStartedAt,
    monotonicStartedAt: run.clock.monotonic() - (now - wallStartedAt),
    agent,
    resumedBy: addResumer(execution, process.identity),
  };
  if (announcesResume || !resumed) {
    const facts = { resumed, messageCount: state.messages.length, agent: process.identity ?? agent };
    run.events.emit(new AgentExecutionStarted(run.events.nextHeader(toSubject(state, started), now), process.name, facts));
  }
  return state.evolve({ execution: started });
}

/** A start after its decision-relevant work. */
interface Entered<State> {
  readonly state: State;
  readonly evaluations: readonly ContinuationEvaluation[];
  /** Set if that work failed. */
  readonly error?: unknown;
}

/** The state with what hooks changed and spent before a step. */
function applyNotes<State extends RunState>(state: State, notes: StepNotes): State {
  const { execution, metadata, store, cost } = state;
  return state.evolve({
    metadata: notes.over(metadata),
    coolDowns: notes.coolDowns,
    refusedParts: notes.refusedParts,
    store: notes.store ?? store,
    execution: { ...execution, usage: Usage.add(execution.usage, notes.usage), cost: addCost(cost, notes.cost) },
  });
}

/** Runs decision-relevant work before a start. An error is kept as the reason why there was none. */
async function enter<State extends RunState, Context>(running: ProcessRun<State, Context>, state: State): Promise<Entered<State>> {
  const { process, run } = running;
  const open = new OpenStep(running, state, 0);
  let failure: { readonly error: unknown } | undefined;
  try {
    const entering = run.control.ending === undefined ? process.enter?.(state, open) : undefined;
    if (entering !== undefined) await run.untilAbandoned(entering);
  } catch (error) {
    // An error that is thrown because the run was interrupted is not a failure.
    if (run.control.interruption === undefined) failure = { error };
  }
  open.close();
  return { state: applyNotes(state, open.notes), evaluations: open.notes.evaluations, ...failure };
}

/** The outcome of a start that could not be judged, with the evaluations given until then. */
function toFailedStart(error: unknown, evaluations: readonly ContinuationEvaluation[] = []): ContinuationOutcome {
  const { message, code } = classifyError(error);
  const failed: ContinuationEvaluation = {
    criterion: 'ExecutionStart',
    decision: ContinuationDecision.ForbidContinuation,
    reason: message,
    stopReason: StopReason.ErrorForbade,
    context: { code, error: error instanceof Error ? cleanText(error.name) : typeof error },
  };
  return ContinuationOutcome.fromEvaluations([failed, ...evaluations]);
}

/** Ends a run before its next step, because an evaluation forbids that. No step is recorded: the decision is kept like a refused start. */
export function forbidStep<State extends RunState, Context>(open: OpenStep<State, Context>): Soon<State> {
  const { process, run, notes, subject, time } = open;
  const changed = applyNotes(open.state, notes);
  const { execution, store } = changed;
  const { queued = [] } = execution;
  const state = changed.evolve({
    info: changed.info.addExecutionTime(time.activeMs / 1000, run.clock.now()),
    store: queued.length === 0 ? store : store.append(SectionName.Messages, ...queued),
    execution: { ...execution, activeMs: toMicroseconds(execution.activeMs + time.activeMs), outage: undefined, queued: undefined },
  });
  const evaluations = joinEvaluations(notes.evaluations, run.outer?.budget.evaluateLimits({ usage: Usage.none() }));
  const now = getJudgingTime(execution, run.clock);
  const candidate = toStartCandidate(state, { now, stopRequest: run.stopRequest, evaluations });
  return refuseStart(open, judge(process, candidate), subject);
}

/** Judges a start; a refusal is kept on the state. */
export async function judgeStart<State extends RunState, Context>(running: ProcessRun<State, Context>, started: State): Promise<State> {
  if (!isJudgedAtStart(started)) return started;
  const { process, run } = running;
  const entered = process.enter === undefined ? { state: started, evaluations: [] } : await enter(running, started);
  const { state } = entered;
  const evaluations = joinEvaluations(entered.evaluations, run.outer?.budget.evaluateLimits({ usage: Usage.none() }));
  const candidate = toStartCandidate(state, {
    now: getJudgingTime(state.execution, run.clock),
    stopRequest: run.stopRequest,
    evaluations,
  });
  const judged = 'error' in entered ? { candidate, outcome: toFailedStart(entered.error, evaluations) } : judge(process, candidate);
  // Only a forbid refuses a start: before the first step, that nothing is left to do means nothing.
  if (judged.outcome.isForbidden) return refuseStart(running, judged, toSubject(state, state.execution));
  // The grant is not enough: the summary is taken after all.
  const sumsUp = judged.outcome.isFinalizing && state.execution.results.last?.outcome.isFinalizing === true;
  const regranted = sumsUp ? undefined : state.execution.regranted;
  return state.evolve({ execution: { ...state.execution, startOutcome: undefined, regranted }, lastSeq: run.events.lastSeq });
}
