import type { ErrorPolicy } from '../errors/index.ts';
import { describeBrokenText, InvalidArgumentError, isCleanText, isRecord } from '../lib/index.ts';
import type { Answer } from './built-in-criterion.ts';
import type { ContinuationDecision } from './continuation-decision.ts';
import type { ContinuationOutcome } from './continuation-outcome.ts';
import { createJudged } from './continuation-outcome.ts';
import type { CanExplainContinuation, ContinuationCriterion } from './criterion.ts';
import type { ListedCriterion } from './evaluate-criterion.ts';
import { evaluateCriterion, listCriterion, parseEvaluation } from './evaluate-criterion.ts';
import { EvaluationPattern } from './evaluation-pattern.ts';
import type { Findings } from './findings.ts';
import { toNestedEvaluation } from './nested-evaluation.ts';
import { numberNames } from './number-names.ts';

const nothingFound: Findings = {};

/** Number of patterns that are kept: for starts, steps with calls, answers, and one more. */
const mostPatterns = 4;

/**
 * An ordered list of criteria, judged together. Every criterion is asked every time, so that the trace is complete.
 * The order never changes whether the run continues; it decides which one is named if several forbid. If several have the same
 * name, the second is listed as `StepsLimit#2`, the third as `StepsLimit#3`: in the evaluations, and everywhere else.
 */
export class ContinuationCriteria<State> {
  readonly #criteria: readonly ContinuationCriterion<State>[];
  readonly #listed: readonly ListedCriterion<State>[];
  /** Names of the criteria, numbered if they come more than once. */
  readonly names: readonly string[];
  /** Patterns of the last outcomes: most outcomes have one of them. */
  #patterns: readonly EvaluationPattern[] = [];

  constructor(...criteria: readonly ContinuationCriterion<State>[]) {
    for (const [index, criterion] of criteria.entries()) assertCriterion(criterion, index);
    this.#criteria = criteria;
    const names = numberNames(criteria.map(({ name }) => name));
    this.names = names;
    this.#listed = criteria.map((criterion, index) => listCriterion(criterion, names[index] ?? criterion.name));
  }

  static from<State>(...criteria: readonly ContinuationCriterion<State>[]): ContinuationCriteria<State> {
    return new ContinuationCriteria(...criteria);
  }

  get isEmpty(): boolean {
    return this.#criteria.length === 0;
  }

  /** The policy that judges failures: that of the first criterion that has one. */
  get errorPolicy(): ErrorPolicy | undefined {
    return this.#criteria.find(({ policy }) => policy !== undefined)?.policy;
  }

  /** A new collection with these at its end. */
  withCriteria(...criteria: readonly ContinuationCriterion<State>[]): ContinuationCriteria<State> {
    return new ContinuationCriteria(...this.#criteria, ...criteria);
  }

  /** Asks every criterion and resolves the evaluations, those among the findings included. */
  evaluate(state: State, findings: Findings = nothingFound): ContinuationOutcome {
    const numbers: number[] = [];
    const judging = { state, findings, numbers };
    const answers = this.#listed.map((listed) => evaluateCriterion(listed, judging));
    if (findings.evaluations !== undefined)
      for (const given of findings.evaluations) answers.push(parseEvaluation(getCriterionName(given), given));
    // A copy, because a list that grew keeps room for more.
    return createJudged(this.#findPattern(answers), numbers.slice());
  }

  #findPattern(answers: readonly Answer[]): EvaluationPattern {
    for (const pattern of this.#patterns) if (pattern.has(answers)) return pattern;
    const pattern = new EvaluationPattern(answers);
    this.#patterns = [pattern, ...this.#patterns].slice(0, mostPatterns);
    return pattern;
  }

  canContinue(state: State): boolean {
    return this.evaluate(state).shouldContinue;
  }

  decide(state: State): ContinuationDecision {
    return this.evaluate(state).decision;
  }

  /** The shortest time that any time limit leaves; undefined if there is no time limit. */
  remainingMs(state: State, findings: Findings = nothingFound): number | undefined {
    const times = this.#criteria.flatMap((criterion) => criterion.remainingMs?.(state, findings) ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Name of the time limit that leaves the shortest time; undefined if there is none. */
  findTimeLimit(state: State, findings: Findings = nothingFound): string | undefined {
    const left = this.#listed.map(({ criterion, name }) => ({ name, ms: criterion.remainingMs?.(state, findings) ?? Infinity }));
    const [first] = left.toSorted((one, other) => one.ms - other.ms);
    return first === undefined || first.ms === Infinity ? undefined : first.name;
  }

  /** This collection as one criterion of another. */
  asCriterion(name: string): CanExplainContinuation<State> {
    return {
      name,
      ...(this.errorPolicy !== undefined && { policy: this.errorPolicy }),
      remainingMs: (state, findings) => this.remainingMs(state, findings),
      explain: (state, findings) => toNestedEvaluation(name, this.evaluate(state, { ...findings, evaluations: [] })),
    };
  }
}

// A malformed evaluation may not even name its criterion.
const getCriterionName = (given: unknown): string =>
  isRecord(given) && typeof given['criterion'] === 'string' ? given['criterion'] : 'an evaluation';

function assertCriterion(criterion: unknown, index: number): void {
  const given = criterion as { readonly name?: unknown; readonly decide?: unknown; readonly explain?: unknown } | null | undefined;
  const { name, decide, explain } = given ?? {};
  if (typeof name !== 'string' || name === '') {
    throw new InvalidArgumentError(`Criterion ${index + 1} has no name. Give it a stable one: explanations refer to it by name.`);
  }
  if (!isCleanText(name)) throw new InvalidArgumentError(`The name of criterion ${index + 1} ${describeBrokenText(name)}`);
  if (typeof decide !== 'function' && typeof explain !== 'function') {
    throw new InvalidArgumentError(
      `Criterion "${name}" has neither decide() nor explain(). Add one of them, or create the criterion with when() or stopWhen().`,
    );
  }
}
