import { describeValue, InvalidArgumentError } from '../lib/index.ts';
import type { ContinuationDecision } from './continuation-decision.ts';
import type { ContinuationEvaluation } from './continuation-evaluation.ts';
import type { CanExplainContinuation } from './criterion.ts';
import type { Findings } from './findings.ts';

/** Options that every built-in criterion takes. */
export interface CriterionOptions {
  /** Name in evaluations and explanations. @default the name of the class */
  readonly name?: string;
}

/** An evaluation that is written only when it is read: most are never read. */
export interface DeferredEvaluation extends Pick<ContinuationEvaluation, 'criterion' | 'decision'> {
  readonly stopReason?: undefined;
  readonly atLimit?: undefined;
  toEvaluation(): ContinuationEvaluation;
}

/** Returns the evaluation, written if it was deferred. */
export const toEvaluation = (evaluation: ContinuationEvaluation | DeferredEvaluation): ContinuationEvaluation =>
  'toEvaluation' in evaluation ? evaluation.toEvaluation() : evaluation;

/** Base of this module's criteria. Their evaluations are known to be well-formed, so judging does not check them at every step. */
export abstract class BuiltInCriterion<State> implements CanExplainContinuation<State> {
  readonly name: string;

  constructor(usualName: string, options: CriterionOptions) {
    const { name = usualName }: { readonly name?: unknown } = options;
    if (typeof name !== 'string' || name === '')
      throw new InvalidArgumentError(`${usualName}: name must be a non-empty string, not ${describeValue(name)}.`);
    this.name = name;
  }

  abstract explain(state: State, findings?: Findings): ContinuationEvaluation;

  /** @internal Explains, or keeps as little as is needed to explain later. Never depends on the state once it has returned. */
  judge(state: State, findings: Findings): ContinuationEvaluation | DeferredEvaluation {
    return this.explain(state, findings);
  }

  decide(state: State, findings?: Findings): ContinuationDecision {
    return this.explain(state, findings).decision;
  }
}
