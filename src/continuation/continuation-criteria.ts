import type { ErrorPolicy } from '../errors/index.ts';
import { InvalidArgumentError, isRecord } from '../lib/index.ts';
import type { ContinuationDecision } from './continuation-decision.ts';
import type { ContinuationEvaluation } from './continuation-evaluation.ts';
import { ContinuationOutcome } from './continuation-outcome.ts';
import type { ContinuationCriterion, ExplainingCriterion } from './criterion.ts';
import { checkedEvaluation, evaluateCriterion } from './evaluate-criterion.ts';
import { nestedEvaluation } from './nested-evaluation.ts';

/**
 * An ordered list of criteria, judged together. Every criterion is asked every time, so that the trace is whole.
 * The order never changes whether the run goes on; it decides who is named where several forbid.
 */
export class ContinuationCriteria<State> {
  readonly #criteria: readonly ContinuationCriterion<State>[];

  private constructor(criteria: readonly ContinuationCriterion<State>[]) {
    for (const [index, criterion] of criteria.entries()) checkCriterion(criterion, index);
    this.#criteria = criteria;
  }

  static from<State>(...criteria: readonly ContinuationCriterion<State>[]): ContinuationCriteria<State> {
    return new ContinuationCriteria(criteria);
  }

  get isEmpty(): boolean {
    return this.#criteria.length === 0;
  }

  get names(): readonly string[] {
    return this.#criteria.map(({ name }) => name);
  }

  /** The policy by which failures are judged: that of the first criterion that has one. */
  get errorPolicy(): ErrorPolicy | undefined {
    return this.#criteria.find(({ policy }) => policy !== undefined)?.policy;
  }

  /** A new collection with these at its end. */
  withCriteria(...criteria: readonly ContinuationCriterion<State>[]): ContinuationCriteria<State> {
    return new ContinuationCriteria([...this.#criteria, ...criteria]);
  }

  /** Asks everybody and settles it. `votes` are answers that were given before judging; they count like any other. */
  evaluate(state: State, votes: readonly ContinuationEvaluation[] = []): ContinuationOutcome {
    const evaluations = this.#criteria.map((criterion) => evaluateCriterion(criterion, state));
    if (votes.length === 0) return ContinuationOutcome.fromOwn(evaluations);
    return ContinuationOutcome.fromOwn([...evaluations, ...votes.map((vote) => checkedEvaluation(voterOf(vote), vote))]);
  }

  canContinue(state: State): boolean {
    return this.evaluate(state).shouldContinue;
  }

  decide(state: State): ContinuationDecision {
    return this.evaluate(state).decision;
  }

  /** The shortest time that any time limit leaves; undefined where none watches the time. */
  remainingMs(state: State): number | undefined {
    let shortest: number | undefined;
    for (const criterion of this.#criteria) {
      const remaining = criterion.remainingMs?.(state);
      if (remaining !== undefined && (shortest === undefined || remaining < shortest)) shortest = remaining;
    }
    return shortest;
  }

  /** This collection as one criterion of another. */
  asCriterion(name: string): ExplainingCriterion<State> {
    return {
      name,
      ...(this.errorPolicy !== undefined && { policy: this.errorPolicy }),
      remainingMs: (state) => this.remainingMs(state),
      explain: (state) => nestedEvaluation(name, this.evaluate(state)),
    };
  }
}

// A vote that is none may not even say who cast it.
const voterOf = (vote: unknown): string => (isRecord(vote) && typeof vote['criterion'] === 'string' ? vote['criterion'] : 'a vote');

function checkCriterion(criterion: unknown, index: number): void {
  const given = criterion as { readonly name?: unknown; readonly decide?: unknown; readonly explain?: unknown } | undefined;
  if (typeof given?.name !== 'string' || given.name === '') {
    throw new InvalidArgumentError(`Criterion ${index + 1} has no name. Give it a stable one: it is how the trace refers to it.`);
  }
  if (typeof given.decide !== 'function' && typeof given.explain !== 'function') {
    throw new InvalidArgumentError(`Criterion "${given.name}" has neither decide(state) nor explain(state).`);
  }
}
