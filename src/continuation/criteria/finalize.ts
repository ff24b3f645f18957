import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import { AtLimit, ContinuationEvaluation } from '../continuation-evaluation.ts';
import type { CanExplainContinuation } from '../criterion.ts';
import type { Findings } from '../findings.ts';

const nothingToSumUp = new ContinuationEvaluation({
  criterion: 'Finalize',
  decision: ContinuationDecision.AllowContinuation,
  reason: 'no limit calls for a summary',
});

/** Requests one last step, in which the model sums up, if one of these limits was reached and allows it. */
export class Finalize<State> extends BuiltInCriterion<State> {
  override readonly name = 'Finalize';
  readonly #limits: readonly CanExplainContinuation<State>[];

  constructor(limits: readonly CanExplainContinuation<State>[]) {
    super();
    this.#limits = limits;
  }

  override explain(state: State, findings: Findings = {}): ContinuationEvaluation {
    const reached = this.#limits.filter((limit) => limit.explain(state, findings).atLimit === AtLimit.Finalize).map(({ name }) => name);
    if (reached.length === 0) return nothingToSumUp;
    return new ContinuationEvaluation({
      criterion: this.name,
      decision: ContinuationDecision.RequestContinuation,
      reason: `${reached.join(', ')} was reached with work left: one step to sum up`,
      context: { limits: reached },
    });
  }
}
