import type { ContinuationDecision } from './continuation-decision.ts';
import type { ContinuationEvaluation } from './continuation-evaluation.ts';
import type { CanExplainContinuation } from './criterion.ts';
import type { Findings } from './findings.ts';

/** Base of this module's criteria. Their evaluations are known to be well-formed, so judging does not check them at every step. */
export abstract class BuiltInCriterion<State> implements CanExplainContinuation<State> {
  abstract readonly name: string;

  abstract explain(state: State, findings?: Findings): ContinuationEvaluation;

  decide(state: State, findings?: Findings): ContinuationDecision {
    return this.explain(state, findings).decision;
  }
}
