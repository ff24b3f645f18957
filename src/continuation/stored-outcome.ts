// The stored form of an outcome: plain JSON, with the evaluations by the name of their criterion.
// K1. `readOutcome(writeOutcome(outcome, before), path, before)` is the same outcome, down to each reason.
// K2. A reason is stored as the text that was shown. Whatever equals the step before is left out, and nothing else.
import type { Json, JsonObject, ObjectReader } from '../lib/index.ts';
import { DamagedDataError, jsonEquals, present, readArray, readObject, readString } from '../lib/index.ts';
import { ContinuationDecision } from './continuation-decision.ts';
import { ContinuationEvaluation } from './continuation-evaluation.ts';
import { ContinuationOutcome } from './continuation-outcome.ts';

/** Fields that a change of an evaluation cannot hold: if one of them differs, the evaluation is written whole. */
const fixedFields = ['decision', 'stopReason', 'limit', 'atLimit'] as const;

const getNames = (outcome: ContinuationOutcome): readonly string[] => outcome.evaluations.map(({ criterion }) => criterion);

const indexByName = (outcome: ContinuationOutcome | undefined): ReadonlyMap<string, ContinuationEvaluation> =>
  new Map(outcome?.evaluations.map((evaluation) => [evaluation.criterion, evaluation]));

const haveSameItems = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((item, index) => item === right[index]);

/** Undefined if the evaluation equals the one before. */
function writeEvaluation(evaluation: ContinuationEvaluation, before: ContinuationEvaluation | undefined): JsonObject | undefined {
  if (evaluation === before) return undefined;
  const { reason, context } = evaluation;
  const keys = Object.keys(context);
  const canBeChange =
    before !== undefined &&
    fixedFields.every((field) => evaluation[field] === before[field]) &&
    haveSameItems(keys, Object.keys(before.context));
  if (!canBeChange) {
    const fixed = Object.fromEntries(fixedFields.map((field) => [field, evaluation[field]]));
    return present({ decision: evaluation.decision, reason, ...fixed, context: keys.length === 0 ? undefined : context });
  }
  const changed = keys.filter((key) => !jsonEquals(context[key], before.context[key]));
  if (changed.length === 0 && reason === before.reason) return undefined;
  return present({
    reason: reason === before.reason ? undefined : reason,
    context: changed.length === 0 ? undefined : Object.fromEntries(changed.map((key) => [key, context[key]])),
  });
}

/** Applies a change to the evaluation before. */
function changeEvaluation(data: ObjectReader | undefined, before: ContinuationEvaluation): ContinuationEvaluation {
  if (data === undefined) return before;
  const changed = data.optionalJsonObject('context');
  return new ContinuationEvaluation({
    ...before,
    reason: data.optionalString('reason') ?? before.reason,
    context: changed === undefined ? before.context : { ...before.context, ...changed },
  });
}

/** True if the outcome can be resolved again from its evaluations, and each of these has a name of its own. */
function canBeResolved(outcome: ContinuationOutcome, names: readonly string[]): boolean {
  if (new Set(names).size < names.length) return false;
  const { decision, resolvedBy, stopReason } = ContinuationOutcome.fromEvaluations(outcome.evaluations);
  return decision === outcome.decision && resolvedBy === outcome.resolvedBy && stopReason === outcome.stopReason;
}

/** Writes an outcome, leaving out what equals the outcome before. An outcome that cannot be resolved again is written as `toJSON()` has it. */
export function writeOutcome(outcome: ContinuationOutcome, before?: ContinuationOutcome): JsonObject {
  const names = getNames(outcome);
  if (!canBeResolved(outcome, names)) return outcome.toJSON();
  const earlier = indexByName(before);
  const evaluations = outcome.evaluations.flatMap((evaluation): readonly (readonly [string, Json])[] => {
    const written = writeEvaluation(evaluation, earlier.get(evaluation.criterion));
    return written === undefined ? [] : [[evaluation.criterion, written]];
  });
  const { decision, resolvedBy, shouldContinue, stopReason } = outcome;
  return present({
    decision,
    resolvedBy: resolvedBy === before?.resolvedBy ? undefined : resolvedBy,
    stopReason: shouldContinue ? undefined : stopReason,
    criteria: before !== undefined && haveSameItems(names, getNames(before)) ? undefined : names,
    evaluations: evaluations.length === 0 ? undefined : Object.fromEntries(evaluations),
  });
}

/** Reads a stored outcome; `before` is the one that it was written against. */
export function readOutcome(input: unknown, path: string, before?: ContinuationOutcome): ContinuationOutcome {
  const data = readObject(input, path);
  if (Array.isArray(data.raw['evaluations'])) return ContinuationOutcome.fromJSON(input, path);
  const earlier = indexByName(before);
  const changes = data.optionalObject('evaluations') ?? readObject({}, `${path}.evaluations`);
  const names =
    before === undefined || data.has('criteria') ? readArray(data.raw['criteria'], `${path}.criteria`, readString) : getNames(before);
  const unnamed = Object.keys(changes.raw).find((name) => !names.includes(name));
  if (unnamed !== undefined) throw new DamagedDataError(`${changes.path}.${unnamed}`, 'expected a criterion that is named');
  const evaluations = names.map((criterion) => {
    const item = changes.optionalObject(criterion);
    const last = earlier.get(criterion);
    if (item?.has('decision') === true) return ContinuationEvaluation.fromJSON({ ...item.raw, criterion }, item.path);
    if (last !== undefined) return changeEvaluation(item, last);
    throw new DamagedDataError(`${changes.path}.${criterion}`, 'expected a whole evaluation: the step before has none of this criterion');
  });
  const outcome = ContinuationOutcome.fromEvaluations(evaluations);
  const decision = data.oneOf('decision', Object.values(ContinuationDecision));
  if (decision === outcome.decision) return outcome;
  throw new DamagedDataError(`${path}.decision`, `expected "${outcome.decision}", which the evaluations add up to, found "${decision}"`);
}
