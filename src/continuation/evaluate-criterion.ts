import { classifyError } from '../errors/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { cleanText, isRecord, toCanonical } from '../lib/index.ts';
import type { Answer } from './built-in-criterion.ts';
import { BuiltInCriterion } from './built-in-criterion.ts';
import type { ContinuationDecision } from './continuation-decision.ts';
import { isContinuationDecision } from './continuation-decision.ts';
import { ContinuationEvaluation, createEvaluation, findEvaluationProblem } from './continuation-evaluation.ts';
import type { ContinuationCriterion } from './criterion.ts';
import { canExplain } from './criterion.ts';
import { CriterionFailedError } from './criterion-failed-error.ts';
import type { Findings } from './findings.ts';

// JSON.stringify gives undefined for undefined, functions and symbols, whatever its type says.
const toJson = (value: unknown): string | undefined => JSON.stringify(value);

/** Shows an answer that cannot be used. */
export function describeAnswer(answer: unknown): string {
  if (answer instanceof Promise) {
    // Unhandled, its rejection would end the process.
    answer.catch(() => undefined);
    return 'a promise (criteria are synchronous: do the waiting before judging)';
  }
  try {
    return toJson(answer) ?? typeof answer;
  } catch {
    return 'something that cannot be written down';
  }
}

/** Refuses what is not a decision: a promise, a boolean, an unknown word. */
export function parseDecision(name: string, answer: unknown): ContinuationDecision {
  if (isContinuationDecision(answer)) return answer;
  throw new CriterionFailedError(name, `it returned ${describeAnswer(answer)}. Return forbid, allow, request or stop.`);
}

const isPlain = (value: unknown): boolean =>
  value === null ||
  (typeof value === 'string' && cleanText(value) === value) ||
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value));

// A loop, because it runs for every evaluation of every step.
function hasOnlyPlainValues(context: Readonly<Record<string, unknown>>): context is JsonObject {
  for (const key in context) if (!isPlain(context[key]) || !isPlain(key)) return false;
  return true;
}

// Most contexts are a few numbers; only others need the long way.
function toStorable(context: unknown): JsonObject | undefined {
  if (!isRecord(context)) return undefined;
  if (hasOnlyPlainValues(context)) return Object.freeze(context);
  const canonical = toCanonical(context);
  return canonical.ok && isRecord(canonical.value) ? Object.freeze(canonical.value) : undefined;
}

// An evaluation that passes is stored, and must be readable again.
const isEvaluation = (given: unknown): given is ContinuationEvaluation => findEvaluationProblem(given) === undefined;

/** Refuses an evaluation that could not be stored and read again, whoever gave it. It is frozen: a record never changes. */
export function parseEvaluation(name: string, given: unknown): ContinuationEvaluation {
  if (isEvaluation(given)) {
    const context = toStorable(given.context);
    const reason = cleanText(given.reason);
    const isSame = context === given.context && reason === given.reason;
    if (context !== undefined) return Object.freeze(isSame ? given : { ...given, reason, context });
  }
  const wanted = 'an evaluation {criterion, decision, reason, stopReason?, limit?, atLimit?, context} of data that can be stored';
  throw new CriterionFailedError(name, `it returned ${describeAnswer(given)}. Return ${wanted}.`);
}

function getEvaluation<State>(criterion: ContinuationCriterion<State>, state: State, findings: Findings): ContinuationEvaluation {
  if (!canExplain(criterion)) {
    return ContinuationEvaluation.fromDecision(criterion.name, parseDecision(criterion.name, criterion.decide(state, findings)));
  }
  const evaluation = parseEvaluation(criterion.name, criterion.explain(state, findings));
  if (evaluation.criterion === criterion.name) return evaluation;
  throw new CriterionFailedError(criterion.name, `it returned an evaluation of "${evaluation.criterion}". Use its own name as criterion.`);
}

/** A criterion, and its name in a collection: numbered if another one before it has the same. */
export interface ListedCriterion<State> {
  readonly criterion: ContinuationCriterion<State>;
  readonly name: string;
  /** The criterion, if it is a built-in one under its own name: its answers need no check. */
  readonly builtIn: BuiltInCriterion<State> | undefined;
}

/** Lists a criterion under a name. */
export function listCriterion<State>(criterion: ContinuationCriterion<State>, name: string): ListedCriterion<State> {
  return { criterion, name, builtIn: criterion instanceof BuiltInCriterion && criterion.name === name ? criterion : undefined };
}

/** Returns the evaluation under another name. A default reason begins with the name, and follows. */
function renameEvaluation(evaluation: ContinuationEvaluation, name: string): ContinuationEvaluation {
  const { criterion, decision, reason } = evaluation;
  const isDefault = reason === ContinuationEvaluation.fromDecision(criterion, decision).reason;
  return createEvaluation({ ...evaluation, criterion: name, reason: isDefault ? undefined : reason });
}

/** A state to judge, and the list that gets the numbers of limits that were not reached. */
export interface Judging<State> {
  readonly state: State;
  readonly findings: Findings;
  readonly numbers: number[];
}

/** Asks one criterion. Whatever goes wrong is thrown as a CriterionFailedError that names it. */
export function evaluateCriterion<State>(
  { criterion, name, builtIn }: ListedCriterion<State>,
  { state, findings, numbers }: Judging<State>,
): Answer {
  try {
    if (builtIn !== undefined) return builtIn.judge(state, findings, numbers);
    const evaluation = getEvaluation(criterion, state, findings);
    return name === criterion.name ? evaluation : renameEvaluation(evaluation, name);
  } catch (error) {
    if (!(error instanceof CriterionFailedError)) throw new CriterionFailedError(name, classifyError(error).message, error);
    // The error of a nested collection names the criterion in there.
    throw error.criterion === criterion.name && name !== criterion.name
      ? new CriterionFailedError(name, error.problem, error.cause)
      : error;
  }
}
