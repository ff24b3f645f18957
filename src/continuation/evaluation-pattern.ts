// The part of an outcome that many steps have in common.
// Owns:     the answers of the criteria, without the numbers of limits that were not reached, and what they add up to.
// Does not: keep those numbers: the outcome of each step does.
// P1. A pattern never changes, so that outcomes of different steps, runs and sessions may share it.
// P2. Writing gives the evaluations that the criteria would have explained for the state that was judged.
import type { Answer, UnreachedLimit } from './built-in-criterion.ts';
import type { ContinuationEvaluation } from './continuation-evaluation.ts';
import { AtLimit } from './continuation-evaluation.ts';
import type { Resolution } from './resolve-evaluations.ts';
import { resolveEvaluations } from './resolve-evaluations.ts';

const isUnreached = (answer: Answer): answer is UnreachedLimit => 'allow' in answer;

export class EvaluationPattern {
  readonly resolution: Resolution;
  /** True if a limit was reached and the next step sums up. */
  readonly isFinalizing: boolean;
  /** Evaluations without those of limits that were not reached, which never decide. */
  readonly decisive: readonly ContinuationEvaluation[];
  readonly #answers: readonly Answer[];

  constructor(answers: readonly Answer[]) {
    this.resolution = resolveEvaluations(answers.map((answer) => (isUnreached(answer) ? undefined : answer)));
    this.decisive = answers.filter((answer): answer is ContinuationEvaluation => !isUnreached(answer));
    this.isFinalizing = this.decisive.some(({ atLimit }) => atLimit === AtLimit.Finalize);
    this.#answers = answers;
  }

  /** True for a pattern of the same answers. */
  has(answers: readonly Answer[]): boolean {
    if (answers.length !== this.#answers.length) return false;
    // A loop, because it runs for every step.
    for (let place = 0; place < answers.length; place += 1) if (answers[place] !== this.#answers[place]) return false;
    return true;
  }

  /** Writes all evaluations. `numbers` has the amount used and the limit of each limit that was not reached. */
  write(numbers: readonly number[]): readonly ContinuationEvaluation[] {
    let next = 0;
    const written = this.#answers.map((answer) => {
      if (!isUnreached(answer)) return answer;
      const [used = 0, max = 0] = numbers.slice(next, next + 2);
      next += 2;
      return answer.allow(used, max);
    });
    return Object.freeze(written);
  }
}
