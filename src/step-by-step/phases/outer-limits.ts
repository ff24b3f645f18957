import type { ContinuationEvaluation } from '../../continuation/index.ts';
import { AtLimit, ContinuationDecision, LimitKind, limitStopReasons } from '../../continuation/index.ts';
import { Usage } from '../../messages/index.ts';
import { getJudgingTime, getUsage } from '../execution.ts';
import type { Spent } from '../outer-step.ts';
import type { RunState } from '../run-state.ts';
import { addCost, minusCost } from '../step.ts';
import type { ActiveRun } from '../active-run.ts';
import type { StepProcess } from '../step-process.ts';
import type { StepTimer } from '../step-timer.ts';

const prefix = 'Outer';

/** An outer evaluation as it stands in the trace of a run inside: that one cannot sum up or wait for the outer run, it just ends. */
export function toOuterEvaluation({ atLimit: _, ...evaluation }: ContinuationEvaluation): ContinuationEvaluation {
  const { criterion } = evaluation;
  return { ...evaluation, criterion: criterion.startsWith(prefix) ? criterion : `${prefix}${criterion}` };
}

/** A step that has a run inside it, as its limits see it. */
interface LimitedStep<State extends RunState, Context> {
  readonly process: StepProcess<State, Context>;
  readonly run: ActiveRun<State, Context>;
  readonly state: State;
  readonly time: StepTimer;
  /** The part of the spending that the run around this one knows already. */
  readonly passedOn: Spent;
}

/** Evaluates an outer run's limits as they stand with the spending inside its open step. Returns those that forbid. */
export function evaluateOuterLimits<State extends RunState, Context>(
  { process, run, state, time, passedOn }: LimitedStep<State, Context>,
  spent: readonly Spent[],
): readonly ContinuationEvaluation[] {
  const { execution } = state;
  const before = getUsage(execution);
  const usage = spent.reduce((sum, each) => Usage.add(sum, each.usage), before);
  const cost = spent.reduce((sum, each) => addCost(sum, each.cost), state.cost);
  const supposed = state.evolve({
    execution: { ...execution, usage, cost, activeMs: execution.activeMs + time.activeMs, pendingStep: undefined },
  });
  const rest = {
    usage: Usage.minus(Usage.minus(usage, before), passedOn.usage),
    cost: minusCost(minusCost(cost, state.cost), passedOn.cost),
  };
  const further = run.outer?.budget.evaluateLimits(rest) ?? [];
  try {
    const { evaluations } = process.criteria.evaluate(supposed, {
      now: getJudgingTime(execution, run.clock) - time.personMs,
      workLeft: false,
    });
    return [...evaluations.flatMap((each) => toBindingEvaluation(each) ?? []), ...further];
  } catch {
    // A criterion that throws is reported when the outer step itself is judged.
    return further;
  }
}

/** A limit that was reached, whatever the outer run would do about it: a run inside can only end. */
function toBindingEvaluation(evaluation: ContinuationEvaluation): ContinuationEvaluation | undefined {
  const { decision, limit, atLimit } = evaluation;
  // How many steps the outer run may take does not concern the inner one.
  if (limit === undefined || limit === LimitKind.Steps) return undefined;
  if (decision === ContinuationDecision.ForbidContinuation) return toOuterEvaluation(evaluation);
  if (atLimit !== AtLimit.Finalize) return undefined;
  return toOuterEvaluation({ ...evaluation, decision: ContinuationDecision.ForbidContinuation, stopReason: limitStopReasons[limit] });
}
