// Writes results one after another. Each leaves out what equals the result before it in the same execution.
// Values that no two results share (id, messages, timing, decision) stand in each of them: if one is missing, the data is damaged.
import { readOutcome, writeOutcome } from '../../continuation/index.ts';
import type { ErrorHandlingDecision } from '../../errors/index.ts';
import { ErrorType } from '../../errors/index.ts';
import type { Json, JsonObject } from '../../lib/index.ts';
import { DamagedDataError, isRecord, jsonEquals, omitUndefined, present, readObject, setOwn } from '../../lib/index.ts';
import { diffFields, goneKey, withChanges } from '../../serialization/index.ts';
import type { Step } from '../step.ts';
import type { RecordedHandling, StepTiming } from '../step-result.ts';
import { StepResult } from '../step-result.ts';
import type { MessageRefs } from './message-refs.ts';
import type { CommonFields, StepFieldsCodec, StoredStep } from './step-codec.ts';
import { readCommon, readStep, writeStep } from './step-codec.ts';

/** The codec of the steps' own fields, and the messages that steps refer to. */
export interface ResultSurroundings<S extends Step> {
  readonly step: StepFieldsCodec<S>;
  readonly refs: MessageRefs;
  /** Texts of lists that are read later, if the state was written in lines. */
  readonly lines?: readonly string[] | undefined;
}

function readTiming(input: unknown, path: string): StepTiming {
  const data = readObject(input, path);
  return {
    startedAt: data.time('startedAt'),
    endedAt: data.time('endedAt'),
    activeMs: data.number('activeMs'),
    waitedMs: data.optionalNumber('waitedMs') ?? 0,
  };
}

function readHandling(input: unknown, path: string): RecordedHandling {
  const data = readObject(input, path);
  return omitUndefined({
    decision: data.oneOf<ErrorHandlingDecision>('decision', ['stop', 'retry', 'ignore']),
    errorType: data.oneOf('errorType', Object.values(ErrorType)),
    consecutiveFailures: data.number('consecutiveFailures'),
    totalFailures: data.number('totalFailures'),
    delayMs: data.optionalNumber('delayMs'),
  });
}

/** True if the common fields of two results are certainly the same. Saves writing them: most steps in a row have the same. */
function haveSameCommon<S extends Step>(result: StepResult<S>, last: StepResult<S>): boolean {
  const [step, before] = [result.step, last.step];
  return (
    step.finishReason === before.finishReason &&
    step.hasToolCalls === before.hasToolCalls &&
    step.participant === before.participant &&
    step.interrupted === before.interrupted &&
    step.finalizing === before.finalizing &&
    step.resumed === before.resumed &&
    step.cost === before.cost &&
    result.handling === last.handling &&
    step.errors.length === 0 &&
    before.errors.length === 0 &&
    jsonEquals(step.usage, before.usage)
  );
}

const nothingShared: StoredStep = { common: {}, fields: {} };

/** Writes the part of a result of which only changes are stored. */
function writeShared<S extends Step>(result: StepResult<S> | undefined, codec: StepFieldsCodec<S>): StoredStep {
  if (result === undefined) return nothingShared;
  const { common, fields } = writeStep(result.step, codec);
  return { common: result.handling === undefined ? common : present({ ...common, handling: result.handling }), fields };
}

const writeTiming = ({ startedAt, endedAt, activeMs, waitedMs }: StepTiming): JsonObject =>
  waitedMs === 0 ? { startedAt, endedAt, activeMs } : { startedAt, endedAt, activeMs, waitedMs };

/** Lists the fields that the result before has and this one has not. */
function withGone(before: JsonObject, after: JsonObject): JsonObject {
  return { ...after, ...omitUndefined({ [goneKey]: diffFields(before, after)[goneKey] }) };
}

/** Writes a result so that it is read the same after the one before it and without that. */
function writeWhole<S extends Step>(
  { step, outcome, timing, handling }: StepResult<S>,
  { step: codec, refs }: ResultSurroundings<S>,
  before: StoredStep,
): JsonObject {
  const { common, fields } = writeStep(step, codec);
  const inner = codec.getInnerOutcome?.(step);
  return present({
    id: step.id,
    messages: step.outputMessages.map((message) => refs.write(message)),
    timing: writeTiming(timing),
    ...withGone(before.common, present({ ...common, handling })),
    outcome: writeOutcome(outcome),
    innerOutcome: inner && writeOutcome(inner),
    fields: withGone(before.fields, fields),
  });
}

interface WriteResultsOptions<S extends Step> {
  /** The result before them. */
  readonly before?: StepResult<S> | undefined;
  /** True if the first of them has to be read without the one before it. */
  readonly isWhole?: boolean;
}

/** Writes results that follow `before`, or that are the first. */
export function writeResults<S extends Step>(
  results: Iterable<StepResult<S>>,
  { step: codec, refs }: ResultSurroundings<S>,
  { before, isWhole = false }: WriteResultsOptions<S> = {},
): readonly JsonObject[] {
  let last = before;
  let lastShared = writeShared(before, codec);
  return Array.from(results, (result) => {
    if (isWhole && last === before) {
      const written = writeWhole(result, { step: codec, refs }, lastShared);
      [last, lastShared] = [result, writeShared(result, codec)];
      return written;
    }
    const { step } = result;
    const isSame = last !== undefined && haveSameCommon(result, last);
    const shared = isSame ? { common: lastShared.common, fields: codec.encode(step) } : writeShared(result, codec);
    const written: Record<string, Json> = {
      id: step.id,
      messages: step.outputMessages.map((message) => refs.write(message)),
      timing: writeTiming(result.timing),
    };
    // Holds: no common field has one of these names.
    if (!isSame) Object.assign(written, diffFields(lastShared.common, shared.common));
    written['outcome'] = writeOutcome(result.outcome, last?.outcome);
    const inner = codec.getInnerOutcome?.(step);
    if (inner !== undefined) written['innerOutcome'] = writeOutcome(inner, last && codec.getInnerOutcome?.(last.step));
    const fields = diffFields(lastShared.fields, shared.fields);
    if (Object.keys(fields).length > 0) written['fields'] = fields;
    [last, lastShared] = [result, shared];
    return written;
  });
}

/** Fields of a written result that are not changes of the common ones. */
const ownFields: readonly string[] = ['id', 'messages', 'timing', 'outcome', 'innerOutcome', 'fields'];

/** Applies the changes of the common fields; returns the very same ones if there are none. */
function changeCommon(before: JsonObject, item: Readonly<Record<string, unknown>>, path: string): JsonObject {
  let changes: Record<string, unknown> | undefined;
  for (const key of Object.keys(item)) if (!ownFields.includes(key)) setOwn((changes ??= {}), key, item[key]);
  return changes === undefined ? before : withChanges(before, changes, path);
}

interface ReadResultsOptions<S extends Step> extends ResultSurroundings<S> {
  readonly before: StepResult<S> | undefined;
  /** Number of results that stand before them and are not read now. */
  readonly skipped?: number;
}

/** Reads results that follow `before`, or that are the first. */
export function readResults<S extends Step>(
  list: readonly unknown[],
  path: string,
  { before, step: codec, refs, skipped = 0 }: ReadResultsOptions<S>,
): readonly StepResult<S>[] {
  let last = before;
  let shared = writeShared(before, codec);
  let read: { readonly common: CommonFields; readonly handling: RecordedHandling | undefined } | undefined;
  return list.map((item, index) => {
    const at = `${path}[${index}]`;
    if (!isRecord(item)) throw new DamagedDataError(at, 'expected a result');
    const { id, messages, timing, outcome, innerOutcome } = item;
    const common = changeCommon(shared.common, item, at);
    const fields = item['fields'] === undefined ? shared.fields : withChanges(shared.fields, item['fields'], `${at}.fields`);
    if (common !== shared.common) read = undefined;
    shared = { common, fields };
    if (read === undefined) {
      const data = readObject(common, at);
      read = { common: readCommon(data), handling: data.optionalValue('handling', readHandling) };
    }
    const lastInner = last && codec.getInnerOutcome?.(last.step);
    const inner = innerOutcome === undefined ? undefined : readOutcome(innerOutcome, `${at}.innerOutcome`, lastInner);
    const data = readObject({ id, messages, timing, fields }, at);
    const step = readStep(data, { step: codec, refs, common: read.common, innerOutcome: inner });
    last = new StepResult<S>(step, readOutcome(outcome, `${at}.outcome`, last?.outcome), {
      number: (last?.number ?? skipped) + 1,
      timing: data.value('timing', readTiming),
      handling: read.handling,
    });
    return last;
  });
}
