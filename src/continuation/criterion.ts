import type { ErrorPolicy } from '../errors/index.ts';
import type { ContinuationDecision } from './continuation-decision.ts';
import type { ContinuationEvaluation } from './continuation-evaluation.ts';
import type { Findings } from './findings.ts';

interface NamedCriterion<State> {
  /** Stable, because it is stored, shown and looked up. Never `constructor.name`. Give each criterion its own. */
  readonly name: string;
  /** For time limits: how long the state may still run. The loop turns it into a deadline. */
  remainingMs?(state: State, findings?: Findings): number | undefined;
  /** For the criterion that judges failures: the policy it uses. The loop waits and counts by the same policy. */
  readonly policy?: ErrorPolicy;
}

/** A criterion that returns a bare decision. A class may implement `CanExplainContinuation` too; then only `explain` is called. */
export interface CanDecideToContinue<State = object> extends NamedCriterion<State> {
  decide(state: State, findings?: Findings): ContinuationDecision;
}

/** A criterion that also gives its reason and its numbers. */
export interface CanExplainContinuation<State = object> extends NamedCriterion<State> {
  explain(state: State, findings?: Findings): ContinuationEvaluation;
}

/**
 * A rule for continuing. Synchronous and pure: the same state and findings always get the same answer.
 * Whatever needs a clock, a model or I/O runs before judging and leaves a finding.
 */
export type ContinuationCriterion<State> = CanDecideToContinue<State> | CanExplainContinuation<State>;

/** True for a criterion with `explain`, which is called instead of `decide` if it has both. */
export const canExplain = <State>(criterion: ContinuationCriterion<State>): criterion is CanExplainContinuation<State> =>
  'explain' in criterion && typeof criterion.explain === 'function';
