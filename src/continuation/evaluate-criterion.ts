import { classifyError } from '../errors/index.ts';
import { isRecord } from '../lib/index.ts';
import type { ContinuationDecision } from './continuation-decision.ts';
import { isContinuationDecision } from './continuation-decision.ts';
import { ContinuationEvaluation } from './continuation-evaluation.ts';
import type { ContinuationCriterion } from './criterion.ts';
import { CriterionFailedError } from './criterion-failed-error.ts';
import { isStopReason } from './stop-reason.ts';

// JSON.stringify gives undefined for undefined, functions and symbols, whatever its type says.
const jsonOf = (value: unknown): string | undefined => JSON.stringify(value);

/** Shows an answer that is none. */
export function inWords(answer: unknown): string {
  if (answer instanceof Promise) {
    // Nobody waits for it; unheard, its rejection would end the process.
    answer.catch(() => undefined);
    return 'a promise (criteria are synchronous: do the waiting before judging)';
  }
  return jsonOf(answer) ?? typeof answer;
}

/** Refuses what is no decision: a promise, a boolean, an unknown word. */
export function checkedDecision(name: string, answer: unknown): ContinuationDecision {
  if (isContinuationDecision(answer)) return answer;
  throw new CriterionFailedError(name, `it answered ${inWords(answer)} instead of forbid, allow, request or stop.`);
}

// What is let through here is stored, and must be readable again.
function isEvaluation(given: unknown): given is ContinuationEvaluation {
  if (!isRecord(given) || !isContinuationDecision(given['decision'])) return false;
  const { criterion, reason, stopReason, context } = given;
  const named = typeof criterion === 'string' && typeof reason === 'string';
  return named && isRecord(context) && (stopReason === undefined || isStopReason(stopReason));
}

function answerOf<State>(criterion: ContinuationCriterion<State>, state: State): ContinuationEvaluation {
  if (criterion.explain === undefined) {
    return ContinuationEvaluation.fromDecision(criterion.name, checkedDecision(criterion.name, criterion.decide(state)));
  }
  const evaluation: unknown = criterion.explain(state);
  if (isEvaluation(evaluation)) return evaluation;
  throw new CriterionFailedError(
    criterion.name,
    `explain() answered ${inWords(evaluation)} instead of an evaluation {criterion, decision, reason, stopReason?, context}.`,
  );
}

/** Asks one criterion. Whatever goes wrong comes out as a CriterionFailedError that names it. */
export function evaluateCriterion<State>(criterion: ContinuationCriterion<State>, state: State): ContinuationEvaluation {
  try {
    return answerOf(criterion, state);
  } catch (error) {
    if (error instanceof CriterionFailedError) throw error;
    throw new CriterionFailedError(criterion.name, classifyError(error).message, error);
  }
}
