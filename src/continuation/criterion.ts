import type { ErrorPolicy } from '../errors/index.ts';
import type { ContinuationDecision } from './continuation-decision.ts';
import type { ContinuationEvaluation } from './continuation-evaluation.ts';

interface Named<State> {
  /** Stable, because it is stored, shown and looked up. Never `constructor.name`. Give each criterion its own. */
  readonly name: string;
  /** For time limits: how long the state may still run. The loop makes a deadline of it. */
  remainingMs?(state: State): number | undefined;
  /** For the criterion that judges failures: what it judges them by. The loop waits and counts by the same policy. */
  readonly policy?: ErrorPolicy;
}

/** A criterion that gives its answer in one word. */
export interface DecidingCriterion<State> extends Named<State> {
  decide(state: State): ContinuationDecision;
  readonly explain?: undefined;
}

/** A criterion that says why, with its numbers. */
export interface ExplainingCriterion<State> extends Named<State> {
  explain(state: State): ContinuationEvaluation;
}

/**
 * One rule about going on. Synchronous and pure: the same state gets the same answer, always.
 * It reads the candidate state only; what needs a clock, a model or I/O runs before judging and leaves its finding there.
 */
export type ContinuationCriterion<State> = DecidingCriterion<State> | ExplainingCriterion<State>;
