// Writes results one after another. Each leaves out what equals the result before it in the same execution.
// Values that no two results share (id, messages, timing, decision) stand in each of them: if one is missing, the data is damaged.
import { readOutcome, writeOutcome } from '../../continuation/index.ts';
import type { ErrorHandlingDecision } from '../../errors/index.ts';
import { ErrorType } from '../../errors/index.ts';
import type { Json, JsonObject } from '../../lib/index.ts';
import { DamagedDataError, isRecord, jsonEquals, omitUndefined, present, readAmount, readObject, setOwn } from '../../lib/index.ts';
import { diffFields, goneKey, withChanges } from '../../serialization/index.ts';
import type { Step } from '../step.ts';
import type { RecordedHandling, StepTiming } from '../step-result.ts';
import { StepResult } from '../step-result.ts';
import type { MessageRefs } from './message-refs.ts';
import type { CommonFields, StepFieldsCodec, StoredStep } from './step-codec.ts';
import { readCommon, readStep, writeStepCommon } from './step-codec.ts';

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
    activeMs: data.value('activeMs', readAmount),
    waitedMs: data.optionalValue('waitedMs', readAmount) ?? 0,
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

/** Writes the common fields of a result, of which only changes are stored. */
function writeCommon(result: StepResult | undefined): JsonObject {
  if (result === undefined) return {};
  const common = writeStepCommon(result.step);
  return result.handling === undefined ? common : present({ ...common, handling: result.handling });
}

const writeTiming = ({ startedAt, endedAt, activeMs, waitedMs }: StepTiming): JsonObject =>
  waitedMs === 0 ? { startedAt, endedAt, activeMs } : { startedAt, endedAt, activeMs, waitedMs };

/** Lists the fields that the result before has and this one has not. */
function withGone(before: JsonObject, after: JsonObject): JsonObject {
  return { ...after, ...omitUndefined({ [goneKey]: diffFields(before, after)[goneKey] }) };
}

/** Writes a result so that it is read the same after the one before it and without that. */
function writeWhole<S extends Step>(result: StepResult<S>, { step: codec, refs }: ResultSurroundings<S>, before: StoredStep): JsonObject {
  const { step, outcome, timing } = result;
  const inner = codec.getInnerOutcome?.(step);
  return present({
    id: step.id,
    messages: step.outputMessages.map((message) => refs.write(message)),
    timing: writeTiming(timing),
    ...withGone(before.common, writeCommon(result)),
    outcome: writeOutcome(outcome),
    innerOutcome: inner && writeOutcome(inner),
    fields: withGone(before.fields, codec.encode(step)),
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
  let lastFields = before === undefined ? {} : codec.encode(before.step);
  return Array.from(results, (result) => {
    const { step } = result;
    const fields = codec.encode(step);
    const written =
      isWhole && last === before
        ? writeWhole(result, { step: codec, refs }, { common: writeCommon(last), fields: lastFields })
        : writeChanged(result, { step: codec, refs }, { last, fields: diffFields(lastFields, fields) });
    [last, lastFields] = [result, fields];
    return written;
  });
}

/** Writes a result as its changes since the last one. */
function writeChanged<S extends Step>(
  result: StepResult<S>,
  { step: codec, refs }: ResultSurroundings<S>,
  { last, fields }: { readonly last: StepResult<S> | undefined; readonly fields: JsonObject },
): JsonObject {
  const { step } = result;
  const written: Record<string, Json> = {
    id: step.id,
    messages: step.outputMessages.map((message) => refs.write(message)),
    timing: writeTiming(result.timing),
  };
  // Holds: no common field has one of these names.
  if (last === undefined || !haveSameCommon(result, last)) Object.assign(written, diffFields(writeCommon(last), writeCommon(result)));
  written['outcome'] = writeOutcome(result.outcome, last?.outcome);
  const inner = codec.getInnerOutcome?.(step);
  if (inner !== undefined) written['innerOutcome'] = writeOutcome(inner, last && codec.getInnerOutcome?.(last.step));
  if (Object.keys(fields).length > 0) written['fields'] = fields;
  return written;
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
  let shared: StoredStep = { common: writeCommon(before), fields: before === undefined ? {} : codec.encode(before.step) };
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
