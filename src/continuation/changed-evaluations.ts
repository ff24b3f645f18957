// Evaluations of a stored outcome, kept as changes until they are read.
// Owns:     the changes, and building the evaluations from them once.
// Does not: validate the changes: the reader has already done it.
// N1. The evaluations do not depend on when they are read, or on which outcome of a chain is read first.
// N2. A long chain does not overflow the stack: it is built from its beginning.
import type { JsonObject } from '../lib/index.ts';
import type { ContinuationEvaluation } from './continuation-evaluation.ts';
import { createEvaluation } from './continuation-evaluation.ts';

/** The change of one evaluation: another reason, and the values of its context that differ. */
export interface EvaluationChange {
  readonly criterion: string;
  readonly reason: string | undefined;
  readonly context: JsonObject | undefined;
}

/** True for a whole evaluation, which replaces the one before. */
export const isWhole = (change: EvaluationChange | ContinuationEvaluation): change is ContinuationEvaluation => 'decision' in change;

type Evaluations = readonly ContinuationEvaluation[];

/** Applies a change to the evaluation before. */
export function applyChange(before: ContinuationEvaluation, { reason, context }: EvaluationChange): ContinuationEvaluation {
  return createEvaluation({
    ...before,
    reason: reason ?? before.reason,
    context: context === undefined ? before.context : { ...before.context, ...context },
  });
}

type Changes = readonly (EvaluationChange | ContinuationEvaluation)[];

function applyChanges(before: Evaluations, changes: Changes): Evaluations {
  const evaluations = before.map((evaluation) => {
    const change = changes.find(({ criterion }) => criterion === evaluation.criterion);
    if (change === undefined) return evaluation;
    return isWhole(change) ? change : applyChange(evaluation, change);
  });
  return Object.freeze(evaluations);
}

/** Evaluations of the same criteria as earlier ones. */
export class ChangedEvaluations {
  /** Evaluations with the same criteria, decisions and limits; their reasons and contexts may be earlier ones. */
  readonly decisive: Evaluations;
  #changes: Changes;
  #before: ChangedEvaluations | Evaluations;
  #evaluations: Evaluations | undefined;

  constructor(before: ChangedEvaluations | Evaluations, changes: Changes) {
    const decisive = before instanceof ChangedEvaluations ? before.decisive : before;
    this.decisive = changes.some(isWhole) ? applyChanges(decisive, changes.filter(isWhole)) : decisive;
    this.#before = before;
    this.#changes = changes;
  }

  get evaluations(): Evaluations {
    if (this.#evaluations !== undefined) return this.#evaluations;
    // Starts from the nearest outcome whose evaluations exist.
    const chain: ChangedEvaluations[] = [this];
    let before = this.#before;
    while (before instanceof ChangedEvaluations && before.#evaluations === undefined) {
      chain.push(before);
      before = before.#before;
    }
    let made = before instanceof ChangedEvaluations ? before.evaluations : before;
    for (const link of chain.reverse()) {
      made = applyChanges(made, link.#changes);
      link.#evaluations = made;
      // Not needed any more.
      link.#before = made;
      link.#changes = [];
    }
    return made;
  }
}
