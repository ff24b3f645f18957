import type { ContinuationEvaluation } from '../../continuation/index.ts';
import { AtLimit, ContinuationDecision, LimitKind, limitStopReasons } from '../../continuation/index.ts';
import { Usage } from '../../messages/index.ts';
import type { Candidate } from '../candidate.ts';
import { usageOf } from '../execution.ts';
import type { Spent } from '../outer-step.ts';
import type { RunScope } from '../run-scope.ts';
import type { RunState } from '../run-state.ts';
import { addCost, minusCost } from '../step.ts';
import type { StepProcess } from '../step-process.ts';

/** A step that has a run inside it, as its limits see it. */
interface Outer<State, Context> {
  readonly run: RunScope<State, Context>;
  readonly activeMs: number;
  /** What people have taken of the time since the last recorded step. */
  readonly personMs: number;
  /** What was used up since the last recorded step. */
  readonly spent: readonly (Spent | undefined)[];
  /** The part of it that the run around this one knows already. */
  readonly passedOn: Spent;
}

const prefix = 'Outer';

/** An outer evaluation as it stands in the trace of a run inside: that one cannot sum up or wait for the outer run, it just ends. */
export function toOuterEvaluation({ atLimit: _, ...evaluation }: ContinuationEvaluation): ContinuationEvaluation {
  const { criterion } = evaluation;
  return { ...evaluation, criterion: criterion.startsWith(prefix) ? criterion : `${prefix}${criterion}` };
}

/** The forbidding limits among an outer run's rules, as they stand with what was spent inside. */
export function outerLimitVotes<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  state: State,
  { run, activeMs, personMs, spent, passedOn }: Outer<State, Context>,
): readonly ContinuationEvaluation[] {
  const { execution } = state;
  const usage = spent.reduce((sum, each) => (each === undefined ? sum : Usage.add(sum, each.usage)), usageOf(execution));
  const cost = spent.reduce((sum, each) => addCost(sum, each?.cost), state.cost);
  const supposed = state.evolve({
    execution: {
      ...execution,
      usage,
      cost,
      activeMs: execution.activeMs + activeMs,
      pendingStep: undefined,
    },
  });
  const rest = {
    usage: Usage.minus(Usage.minus(usage, usageOf(execution)), passedOn.usage),
    cost: minusCost(minusCost(cost, state.cost), passedOn.cost),
  };
  const further = run.inside?.limitVotes(rest) ?? [];
  const candidate = { state: supposed, now: run.clock.now() - personMs, workLeft: false };
  return [...findReachedLimits(process, candidate), ...further];
}

/** A limit that was reached, whatever it would have the outer run do now: who is inside can only end. */
function bindingVote(evaluation: ContinuationEvaluation): ContinuationEvaluation | undefined {
  const { decision, limit, atLimit } = evaluation;
  if (decision === ContinuationDecision.ForbidContinuation) return evaluation;
  if (limit === undefined || atLimit !== AtLimit.Finalize) return undefined;
  return { ...evaluation, decision: ContinuationDecision.ForbidContinuation, stopReason: limitStopReasons[limit] };
}

function findReachedLimits<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  { state, ...findings }: Candidate<State>,
): readonly ContinuationEvaluation[] {
  try {
    const { evaluations } = process.criteria.evaluate(state, findings);
    // How many steps the outer run may take is no matter of the inner one's.
    const binding = evaluations.flatMap((each) =>
      each.limit === undefined || each.limit === LimitKind.Steps ? [] : (bindingVote(each) ?? []),
    );
    return binding.map(toOuterEvaluation);
  } catch {
    // A rule that cannot answer is reported when the outer step itself is judged.
    return [];
  }
}
