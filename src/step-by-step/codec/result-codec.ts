// Writes results one after another. Each leaves out what equals the result before it in the same execution.
// Values that no two results share (id, messages, timing, decision) stand in each of them: if one is missing, the data is damaged.
import { readOutcome, writeOutcome } from '../../continuation/index.ts';
import type { ErrorHandlingDecision } from '../../errors/index.ts';
import { ErrorType } from '../../errors/index.ts';
import type { JsonObject } from '../../lib/index.ts';
import { DamagedDataError, isRecord, omitUndefined, present, readObject, setOwn } from '../../lib/index.ts';
import { diffFields, withChanges } from '../../serialization/index.ts';
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

/** Writes the part of a result of which only changes are stored. */
function writeShared<S extends Step>(result: StepResult<S> | undefined, codec: StepFieldsCodec<S>): StoredStep {
  if (result === undefined) return { common: {}, fields: {} };
  const { common, fields } = writeStep(result.step, codec);
  return { common: present({ ...common, handling: result.handling }), fields };
}

/** Writes results that follow `before`, or that are the first. */
export function writeResults<S extends Step>(
  results: Iterable<StepResult<S>>,
  { step: codec, refs }: ResultSurroundings<S>,
  before: StepResult<S> | undefined,
): readonly JsonObject[] {
  let last = before;
  let lastShared = writeShared(before, codec);
  return Array.from(results, (result) => {
    const { step, timing } = result;
    const shared = writeShared(result, codec);
    const fields = diffFields(lastShared.fields, shared.fields);
    const inner = codec.getInnerOutcome?.(step);
    const written = present({
      id: step.id,
      messages: step.outputMessages.map((message) => refs.write(message)),
      timing: present({ ...timing, waitedMs: timing.waitedMs === 0 ? undefined : timing.waitedMs }),
      ...diffFields(lastShared.common, shared.common),
      outcome: writeOutcome(result.outcome, last?.outcome),
      innerOutcome: inner && writeOutcome(inner, last && codec.getInnerOutcome?.(last.step)),
      fields: Object.keys(fields).length === 0 ? undefined : fields,
    });
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

/** Reads results that follow `before`, or that are the first. */
export function readResults<S extends Step>(
  list: readonly unknown[],
  path: string,
  { before, step: codec, refs }: ResultSurroundings<S> & { readonly before: StepResult<S> | undefined },
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
      number: (last?.number ?? 0) + 1,
      timing: data.value('timing', readTiming),
      handling: read.handling,
    });
    return last;
  });
}
