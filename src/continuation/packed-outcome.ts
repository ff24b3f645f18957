// Writes an outcome as what has changed since the one before it: most of what criteria say is the same after every step.
// K1. `unpackOutcome(packOutcome(outcome, before), before)` is the same outcome, down to each reason.
// K2. A reason is left out only where the earlier one, with the new numbers in the places of the old, says exactly the same.
import type { Json, JsonObject } from '../lib/index.ts';
import { DamagedDataError, isRecord, jsonEquals, readArray } from '../lib/index.ts';
import { ContinuationEvaluation } from './continuation-evaluation.ts';
import { ContinuationOutcome } from './continuation-outcome.ts';

/** Stands for an evaluation that is the same as the one before. */
const unchanged = 0;

const numbers = /\d+(?:\.\d+)?/g;

const rounded =
  (parts: number) =>
  (value: Json): string =>
    typeof value === 'number' ? String(Math.round(value * parts) / parts) : '';

/** The number as reasons show it: to one decimal (times), to four (costs), or as it is. The roughest that fits is taken, for what comes next may have more decimals. */
const shownAs: readonly ((value: Json) => string)[] = [
  rounded(10),
  rounded(10_000),
  (value) => (typeof value === 'number' ? String(value) : ''),
];

/** A reason as the earlier one would say it with other numbers. A number that is none of the context's stands as it was. */
function rephrased(before: ContinuationEvaluation, context: JsonObject): string {
  const keys = Object.keys(before.context);
  return before.reason.replaceAll(numbers, (text) => {
    for (const show of shownAs) {
      const key = keys.find((name) => show(before.context[name] ?? null) === text);
      if (key !== undefined) return show(context[key] ?? null);
    }
    return text;
  });
}

const sameVoice = (left: ContinuationEvaluation, right: ContinuationEvaluation): boolean =>
  left.criterion === right.criterion &&
  left.decision === right.decision &&
  left.stopReason === right.stopReason &&
  left.limit === right.limit &&
  left.atLimit === right.atLimit;

/** The values that have changed, in the order of the keys; those at the end that have not are left out. */
function changedValues(before: JsonObject, after: JsonObject): readonly Json[] | undefined {
  const keys = Object.keys(before);
  const names = Object.keys(after);
  if (names.length !== keys.length || !names.every((name, index) => name === keys[index])) return undefined;
  const last = keys.findLastIndex((key) => !jsonEquals(before[key], after[key]));
  // Holds: both have exactly these keys.
  return keys.slice(0, last + 1).map((key) => after[key] as Json);
}

function written({ criterion, decision, reason, stopReason, limit, atLimit, context }: ContinuationEvaluation): JsonObject {
  return {
    criterion,
    decision,
    reason,
    ...(stopReason !== undefined && { stopReason }),
    ...(limit !== undefined && { limit }),
    ...(atLimit !== undefined && { atLimit }),
    ...(Object.keys(context).length > 0 && { context }),
  };
}

function packEvaluation(evaluation: ContinuationEvaluation, before: ContinuationEvaluation | undefined): Json {
  if (evaluation === before) return unchanged;
  if (before === undefined || !sameVoice(evaluation, before)) return written(evaluation);
  const values = changedValues(before.context, evaluation.context);
  if (values === undefined) return written(evaluation);
  if (values.length === 0 && evaluation.reason === before.reason) return unchanged;
  return rephrased(before, evaluation.context) === evaluation.reason ? values : written(evaluation);
}

function unpackEvaluation(packed: unknown, path: string, before: ContinuationEvaluation | undefined): ContinuationEvaluation {
  if (isRecord(packed)) return ContinuationEvaluation.fromJSON(packed, path);
  if (before === undefined) throw new DamagedDataError(path, 'expected an evaluation; there is none before it to be like');
  if (packed === unchanged) return before;
  // Holds as far as the data is JSON; it is only handed on.
  const values = readArray(packed, path, (value) => value as Json);
  const keys = Object.keys(before.context);
  if (values.length > keys.length) throw new DamagedDataError(path, `expected at most ${keys.length} values, found ${values.length}`);
  const changed: JsonObject = Object.fromEntries(values.map((value, index) => [keys[index] ?? '', value] as const));
  const context: JsonObject = { ...before.context, ...changed };
  return { ...before, reason: rephrased(before, context), context };
}

const follows = (outcome: ContinuationOutcome): boolean => {
  const { decision, shouldContinue, resolvedBy, stopReason } = ContinuationOutcome.fromEvaluations(outcome.evaluations);
  return (
    decision === outcome.decision &&
    shouldContinue === outcome.shouldContinue &&
    resolvedBy === outcome.resolvedBy &&
    stopReason === outcome.stopReason
  );
};

/** The outcome as a list: one item for each evaluation, as far as they have changed. One that does not follow from its evaluations is written whole. */
export function packOutcome(outcome: ContinuationOutcome, before?: ContinuationOutcome): Json {
  if (!follows(outcome)) return outcome.toJSON();
  const packed = outcome.evaluations.map((evaluation, index) => packEvaluation(evaluation, before?.evaluations[index]));
  const earlier = before?.evaluations.length ?? 0;
  // A list that is shorter than the one before says that the rest of it has not changed.
  if (packed.length < earlier) return outcome.toJSON();
  return packed.length > earlier ? packed : packed.slice(0, packed.findLastIndex((item) => item !== unchanged) + 1);
}

/** Reads a packed outcome; `before` is the one it was packed against. */
export function unpackOutcome(packed: unknown, path: string, before?: ContinuationOutcome): ContinuationOutcome {
  if (isRecord(packed)) return ContinuationOutcome.fromJSON(packed, path);
  const earlier = before?.evaluations ?? [];
  const items = readArray(packed, path, (item, at) => ({ item, at }));
  const said = items.map(({ item, at }, index) => unpackEvaluation(item, at, earlier[index]));
  return ContinuationOutcome.fromEvaluations(items.length < earlier.length ? [...said, ...earlier.slice(items.length)] : said);
}
