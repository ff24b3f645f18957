import { classifyError } from '../errors/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { isRecord, toCanonical } from '../lib/index.ts';
import { BuiltInCriterion } from './built-in-criterion.ts';
import type { ContinuationDecision } from './continuation-decision.ts';
import { isContinuationDecision } from './continuation-decision.ts';
import { ContinuationEvaluation, LimitKind } from './continuation-evaluation.ts';
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
  try {
    return jsonOf(answer) ?? typeof answer;
  } catch {
    return 'something that cannot be written down';
  }
}

/** Refuses what is no decision: a promise, a boolean, an unknown word. */
export function checkedDecision(name: string, answer: unknown): ContinuationDecision {
  if (isContinuationDecision(answer)) return answer;
  throw new CriterionFailedError(name, `it answered ${inWords(answer)} instead of forbid, allow, request or stop.`);
}

const isPlain = (value: unknown): boolean =>
  value === null || typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));

// A loop, because this is asked of every answer to every step.
function hasOnlyPlain(context: Readonly<Record<string, unknown>>): boolean {
  for (const key in context) if (!isPlain(context[key])) return false;
  return true;
}

// Most contexts are a few numbers; only others need the long way.
function storable(context: unknown): JsonObject | undefined {
  if (!isRecord(context)) return undefined;
  // Holds because a record of plain values is JSON.
  if (hasOnlyPlain(context)) return Object.freeze(context) as JsonObject;
  const canonical = toCanonical(context);
  return canonical.ok && isRecord(canonical.value) ? Object.freeze(canonical.value) : undefined;
}

const limitKinds: ReadonlySet<unknown> = new Set([undefined, ...Object.values(LimitKind)]);

// What is let through here is stored, and must be readable again.
function isEvaluation(given: unknown): given is ContinuationEvaluation {
  if (!isRecord(given) || !isContinuationDecision(given['decision'])) return false;
  const { criterion, reason, stopReason, limit } = given;
  const named = typeof criterion === 'string' && typeof reason === 'string';
  return named && limitKinds.has(limit) && (stopReason === undefined || isStopReason(stopReason));
}

/** Refuses an answer that could not be stored and read again, whoever gave it. It is frozen: a record never changes. */
export function checkedEvaluation(name: string, given: unknown): ContinuationEvaluation {
  if (isEvaluation(given)) {
    const context = storable(given.context);
    if (context !== undefined && context === given.context) return Object.isFrozen(given) ? given : Object.freeze(given);
    if (context !== undefined) return Object.freeze({ ...given, context });
  }
  const wanted = 'an evaluation {criterion, decision, reason, stopReason?, limit?, context} of data that can be stored';
  throw new CriterionFailedError(name, `it answered ${inWords(given)} instead of ${wanted}.`);
}

function answerOf<State>(criterion: ContinuationCriterion<State>, state: State): ContinuationEvaluation {
  if (criterion.explain === undefined) {
    return ContinuationEvaluation.fromDecision(criterion.name, checkedDecision(criterion.name, criterion.decide(state)));
  }
  if (criterion instanceof BuiltInCriterion) return criterion.explain(state);
  const evaluation = checkedEvaluation(criterion.name, criterion.explain(state));
  if (evaluation.criterion === criterion.name) return evaluation;
  throw new CriterionFailedError(criterion.name, `it answered in the name of "${evaluation.criterion}".`);
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
