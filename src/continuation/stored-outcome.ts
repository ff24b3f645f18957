// The stored form of an outcome: plain JSON, with the evaluations by the name of their criterion.
// K1. `readOutcome(writeOutcome(outcome, before), path, before)` is the same outcome, down to each reason.
// K2. A reason is stored as the text that was shown. Whatever equals the step before is left out, and nothing else.
import type { Json, JsonObject, ObjectReader } from '../lib/index.ts';
import { DamagedDataError, isRecord, jsonEquals, present, readObject, readString, setOwn } from '../lib/index.ts';
import type { EvaluationChange } from './changed-evaluations.ts';
import { applyChange, ChangedEvaluations, isWhole } from './changed-evaluations.ts';
import { ContinuationDecision } from './continuation-decision.ts';
import { ContinuationEvaluation } from './continuation-evaluation.ts';
import { ContinuationOutcome, createChanged, createResolved, getChanged } from './continuation-outcome.ts';
import { resolveEvaluations } from './resolve-evaluations.ts';

const decisions = Object.values(ContinuationDecision);

const getNames = (outcome: ContinuationOutcome): readonly string[] => outcome.evaluations.map(({ criterion }) => criterion);

const haveSameItems = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((item, index) => item === right[index]);

/** Finds the evaluation of a criterion: at the same place in most outcomes, else at any. Of several, the last. */
function findEvaluation(outcome: ContinuationOutcome | undefined, criterion: string, place: number): ContinuationEvaluation | undefined {
  const found = outcome?.evaluations[place];
  return found?.criterion === criterion ? found : outcome?.evaluations.findLast((evaluation) => evaluation.criterion === criterion);
}

/** True if two evaluations differ in what a change cannot hold: the later one is written whole then. */
const differInFixed = (left: ContinuationEvaluation, right: ContinuationEvaluation): boolean =>
  left.decision !== right.decision || left.stopReason !== right.stopReason || left.limit !== right.limit || left.atLimit !== right.atLimit;

function writeWhole({ decision, reason, stopReason, limit, atLimit, context }: ContinuationEvaluation): JsonObject {
  return present({ decision, reason, stopReason, limit, atLimit, context: Object.keys(context).length === 0 ? undefined : context });
}

/** Undefined if the evaluation equals the one before. */
function writeEvaluation(evaluation: ContinuationEvaluation, before: ContinuationEvaluation | undefined): JsonObject | undefined {
  if (evaluation === before) return undefined;
  if (before === undefined || differInFixed(evaluation, before)) return writeWhole(evaluation);
  const { reason, context } = evaluation;
  const hasReason = reason !== before.reason;
  if (context === before.context) return hasReason ? { reason } : undefined;
  const keys = Object.keys(context);
  if (!haveSameItems(keys, Object.keys(before.context))) return writeWhole(evaluation);
  const changes: Record<string, Json> = {};
  let hasChanges = false;
  for (const key of keys) {
    const value = context[key];
    if (value === undefined || jsonEquals(value, before.context[key])) continue;
    setOwn(changes, key, value);
    hasChanges = true;
  }
  if (!hasChanges) return hasReason ? { reason } : undefined;
  return hasReason ? { reason, context: changes } : { context: changes };
}

/** The last list of criteria of which each has a name of its own: most outcomes have the same. */
let lastDistinct: readonly string[] = [];

function haveCriteria({ evaluations }: ContinuationOutcome, names: readonly string[]): boolean {
  if (evaluations.length !== names.length) return false;
  for (let index = 0; index < names.length; index += 1) if (evaluations[index]?.criterion !== names[index]) return false;
  return true;
}

/** Returns the names of the criteria; undefined if two are the same. */
function getDistinctNames(outcome: ContinuationOutcome): readonly string[] | undefined {
  if (haveCriteria(outcome, lastDistinct)) return lastDistinct;
  const names = getNames(outcome);
  if (new Set(names).size < names.length) return undefined;
  lastDistinct = names;
  return names;
}

/** True if the outcome is what its evaluations add up to. */
function isResolved({ evaluations, decision, resolvedBy, stopReason }: ContinuationOutcome): boolean {
  const resolved = resolveEvaluations(evaluations);
  return decision === resolved.decision && resolvedBy === resolved.resolvedBy && stopReason === resolved.stopReason;
}

function writeEvaluations({ evaluations }: ContinuationOutcome, before: ContinuationOutcome | undefined): JsonObject | undefined {
  let written: Record<string, Json> | undefined;
  let place = 0;
  for (const evaluation of evaluations) {
    const change = writeEvaluation(evaluation, findEvaluation(before, evaluation.criterion, place));
    if (change !== undefined) setOwn((written ??= {}), evaluation.criterion, change);
    place += 1;
  }
  return written;
}

/** Writes an outcome, leaving out what equals the outcome before. An outcome that cannot be resolved again is written as `toJSON()` has it. */
export function writeOutcome(outcome: ContinuationOutcome, before?: ContinuationOutcome): JsonObject {
  const names = getDistinctNames(outcome);
  if (names === undefined || !isResolved(outcome)) return outcome.toJSON();
  const written: Record<string, Json> = { decision: outcome.decision };
  if (outcome.resolvedBy !== before?.resolvedBy) written['resolvedBy'] = outcome.resolvedBy;
  if (outcome.stopReason !== undefined) written['stopReason'] = outcome.stopReason;
  if (before === undefined || !haveCriteria(before, names)) written['criteria'] = names;
  const evaluations = writeEvaluations(outcome, before);
  if (evaluations !== undefined) written['evaluations'] = evaluations;
  return written;
}

/** Copies values that differ; undefined if one of them is neither a number nor a boolean, and so needs a check. */
function copyPlainValues(raw: Readonly<Record<string, unknown>>): JsonObject | undefined {
  const context: Record<string, Json> = {};
  for (const key of Object.keys(raw)) {
    const value = raw[key];
    if (typeof value !== 'number' && typeof value !== 'boolean') return undefined;
    setOwn(context, key, value);
  }
  return context;
}

/** Reads a change of the usual form: a reason, or plain values. Undefined for any other form, which is read field by field. */
function readUsualChange(item: Readonly<Record<string, unknown>>, criterion: string): EvaluationChange | undefined {
  const { decision, reason, context: raw } = item;
  if (decision !== undefined || (reason !== undefined && typeof reason !== 'string')) return undefined;
  if (raw === undefined) return { criterion, reason, context: undefined };
  const context = isRecord(raw) ? copyPlainValues(raw) : undefined;
  return context && { criterion, reason, context };
}

/** Reads a whole evaluation, or the change of one. Undefined if there is none. */
function readItem(items: ObjectReader, criterion: string): EvaluationChange | ContinuationEvaluation | undefined {
  const raw = Object.hasOwn(items.raw, criterion) ? items.raw[criterion] : undefined;
  const usual = isRecord(raw) ? readUsualChange(raw, criterion) : undefined;
  if (usual !== undefined) return usual;
  const item = items.optionalObject(criterion);
  if (item?.has('decision') === true) return ContinuationEvaluation.fromJSON({ ...item.raw, criterion }, item.path);
  return item && { criterion, reason: item.optionalString('reason'), context: item.optionalJsonObject('context') };
}

/** Reads one evaluation, all of it. */
function readEvaluation(items: ObjectReader, criterion: string, last: ContinuationEvaluation | undefined): ContinuationEvaluation {
  const change = readItem(items, criterion);
  if (change !== undefined && isWhole(change)) return change;
  if (last === undefined)
    throw new DamagedDataError(`${items.path}.${criterion}`, 'expected a whole evaluation: the previous step has none for this criterion');
  return change === undefined ? last : applyChange(last, change);
}

function readWhole(data: ObjectReader, items: ObjectReader, before: ContinuationOutcome | undefined): ContinuationOutcome {
  const names = before === undefined || data.has('criteria') ? data.array('criteria', readString) : getNames(before);
  const unnamed = Object.keys(items.raw).find((name) => !names.includes(name));
  if (unnamed !== undefined) throw toUnnamedError(items, unnamed);
  const evaluations = names.map((criterion, place) => readEvaluation(items, criterion, findEvaluation(before, criterion, place)));
  return createResolved(evaluations);
}

const toUnnamedError = ({ path }: ObjectReader, name: string): DamagedDataError =>
  new DamagedDataError(`${path}.${name}`, 'expected a criterion that is named');

function readChanges(
  items: ObjectReader,
  decisive: readonly ContinuationEvaluation[],
): readonly (EvaluationChange | ContinuationEvaluation)[] {
  const changes: (EvaluationChange | ContinuationEvaluation)[] = [];
  for (const name of Object.keys(items.raw)) {
    if (!decisive.some(({ criterion }) => criterion === name)) throw toUnnamedError(items, name);
    const change = readItem(items, name);
    if (change !== undefined) changes.push(change);
  }
  return changes;
}

/** Reads an outcome of the same criteria as the one before; undefined if they are others. Its evaluations are made when they are read. */
function readChanged(data: ObjectReader, items: ObjectReader, before: ContinuationOutcome | undefined): ContinuationOutcome | undefined {
  if (before === undefined || data.has('criteria')) return undefined;
  const earlier = getChanged(before);
  if (earlier === undefined && (getDistinctNames(before) === undefined || !isResolved(before))) return undefined;
  const changes = readChanges(items, earlier?.decisive ?? before.evaluations);
  const changed = new ChangedEvaluations(earlier ?? before.evaluations, changes);
  return createChanged(changes.some(isWhole) ? resolveEvaluations(changed.decisive) : before, changed);
}

/** Reads a stored outcome; `before` is the one that it was written against. */
export function readOutcome(input: unknown, path: string, before?: ContinuationOutcome): ContinuationOutcome {
  const data = readObject(input, path);
  if (Array.isArray(data.raw['evaluations'])) return ContinuationOutcome.fromJSON(input, path);
  const items = data.optionalObject('evaluations') ?? readObject({}, `${path}.evaluations`);
  const outcome = readChanged(data, items, before) ?? readWhole(data, items, before);
  const decision = data.oneOf('decision', decisions);
  if (decision === outcome.decision) return outcome;
  throw new DamagedDataError(`${path}.decision`, `expected "${outcome.decision}", which the evaluations add up to, found "${decision}"`);
}
