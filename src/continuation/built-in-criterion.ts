import type { ContinuationDecision } from './continuation-decision.ts';
import type { ContinuationEvaluation } from './continuation-evaluation.ts';
import type { ExplainingCriterion } from './criterion.ts';

/**
 * Base of the criteria of this room. Their answers are known to be well-formed, fresh or frozen, so judging does not check
 * them again at every step.
 */
export abstract class BuiltInCriterion<State> implements ExplainingCriterion<State> {
  abstract readonly name: string;

  abstract explain(state: State): ContinuationEvaluation;

  /** The answer in one word. */
  decide(state: State): ContinuationDecision {
    return this.explain(state).decision;
  }
}
