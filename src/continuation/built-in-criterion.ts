import { describeValue, InvalidArgumentError } from '../lib/index.ts';
import type { ContinuationDecision } from './continuation-decision.ts';
import type { ContinuationEvaluation } from './continuation-evaluation.ts';
import type { CanDecideToContinue, CanExplainContinuation } from './criterion.ts';
import type { Findings } from './findings.ts';

/** Options that every built-in criterion takes. */
export interface CriterionOptions {
  /** Name in evaluations and explanations. @default the name of the class */
  readonly name?: string;
}

/** A limit that was not reached. Its evaluation is written from its two numbers when somebody reads it, which is seldom. */
export interface UnreachedLimit {
  /** Writes the evaluation. */
  allow(used: number, max: number): ContinuationEvaluation;
}

/** Answer of a criterion: its evaluation, or the limit that writes it later. */
export type Answer = ContinuationEvaluation | UnreachedLimit;

/** Base of this module's criteria. Their evaluations are known to be well-formed, so judging does not check them at every step. */
export abstract class BuiltInCriterion<State> implements CanDecideToContinue<State>, CanExplainContinuation<State> {
  readonly name: string;

  constructor(usualName: string, options: CriterionOptions) {
    const { name = usualName }: { readonly name?: unknown } = options;
    if (typeof name !== 'string' || name === '')
      throw new InvalidArgumentError(`${usualName}: name must be a non-empty string, not ${describeValue(name)}.`);
    this.name = name;
  }

  abstract explain(state: State, findings?: Findings): ContinuationEvaluation;

  /** @internal Explains. A limit that was not reached adds its two numbers to `numbers` instead, and returns itself. */
  judge(state: State, findings: Findings, _numbers: number[]): Answer {
    return this.explain(state, findings);
  }

  decide(state: State, findings?: Findings): ContinuationDecision {
    return this.explain(state, findings).decision;
  }
}
