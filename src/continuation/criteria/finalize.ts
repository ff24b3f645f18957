import type { CriterionOptions } from '../built-in-criterion.ts';
import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import { AtLimit, ContinuationEvaluation } from '../continuation-evaluation.ts';
import type { CanExplainContinuation } from '../criterion.ts';
import type { Findings } from '../findings.ts';

/** Requests one last step, in which the model sums up, if one of these limits was reached and allows it. */
export class Finalize<State> extends BuiltInCriterion<State> {
  readonly #limits: readonly CanExplainContinuation<State>[];
  readonly #nothingToSumUp: ContinuationEvaluation;

  constructor(limits: readonly CanExplainContinuation<State>[], options: CriterionOptions = {}) {
    super('Finalize', options);
    this.#limits = limits;
    this.#nothingToSumUp = new ContinuationEvaluation({
      criterion: this.name,
      decision: ContinuationDecision.AllowContinuation,
      reason: 'no limit asks for a summary',
    });
  }

  override explain(state: State, findings: Findings = {}): ContinuationEvaluation {
    const reached = this.#limits.filter((limit) => limit.explain(state, findings).atLimit === AtLimit.Finalize).map(({ name }) => name);
    if (reached.length === 0) return this.#nothingToSumUp;
    return new ContinuationEvaluation({
      criterion: this.name,
      decision: ContinuationDecision.RequestContinuation,
      reason: `${reached.join(' and ')} ${reached.length === 1 ? 'was' : 'were'} reached with work left: one step to sum up`,
      context: { limits: reached },
    });
  }
}
