import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import type { ExplainingCriterion } from '../criterion.ts';

const nothingToSumUp: ContinuationEvaluation = Object.freeze({
  criterion: 'Finalize',
  decision: ContinuationDecision.AllowContinuation,
  reason: 'no limit calls for a summary',
  context: Object.freeze({}),
});

/** Requests one last step, in which the model sums up, where one of these limits was reached and lets it. */
export class Finalize<State> extends BuiltInCriterion<State> {
  override readonly name = 'Finalize';
  readonly #limits: readonly ExplainingCriterion<State>[];

  constructor(limits: readonly ExplainingCriterion<State>[]) {
    super();
    this.#limits = limits;
  }

  override explain(state: State): ContinuationEvaluation {
    const reached = this.#limits.filter((limit) => limit.explain(state).context['finalizing'] === true).map(({ name }) => name);
    if (reached.length === 0) return nothingToSumUp;
    return {
      criterion: this.name,
      decision: ContinuationDecision.RequestContinuation,
      reason: `${reached.join(', ')} was reached with work left: one step to sum up`,
      context: { limits: reached },
    };
  }
}
