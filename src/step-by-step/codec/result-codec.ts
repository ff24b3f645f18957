// Writes results one after another, each as what has changed since the one before it in the same execution.
// What no two results share (id, messages, timing) stands in each of them: where it is missing, that is damage.
import type { ContinuationOutcome } from '../../continuation/index.ts';
import { packOutcome, unpackOutcome } from '../../continuation/index.ts';
import type { ErrorHandlingDecision } from '../../errors/index.ts';
import type { Json, JsonObject } from '../../lib/index.ts';
import { DamagedDataError, isRecord, present, readObject } from '../../lib/index.ts';
import { changesSince, withChanges } from '../../serialization/index.ts';
import type { Step } from '../step.ts';
import type { RecordedHandling, StepTiming } from '../step-result.ts';
import { StepResult } from '../step-result.ts';
import type { MessageRefs } from './message-refs.ts';
import type { StepFieldsCodec } from './step-codec.ts';
import { readStep, writeStep } from './step-codec.ts';

/** What results are written and read with. */
export interface ResultSurroundings<S extends Step> {
  readonly step: StepFieldsCodec<S>;
  readonly refs: MessageRefs;
}

function writeTiming({ startedAt, endedAt, activeMs, waitedMs }: StepTiming): Json {
  return waitedMs === 0 ? [startedAt, endedAt, activeMs] : [startedAt, endedAt, activeMs, waitedMs];
}

function readTiming(input: unknown, path: string): StepTiming {
  const times: readonly unknown[] = Array.isArray(input) ? input : [];
  const [startedAt, endedAt, activeMs, waitedMs = 0] = times;
  if (typeof startedAt === 'number' && typeof endedAt === 'number' && typeof activeMs === 'number' && typeof waitedMs === 'number')
    return { startedAt, endedAt, activeMs, waitedMs };
  throw new DamagedDataError(path, 'expected the times of a step: start, end, active, and waited if it was');
}

const readHandling = (input: unknown, path: string): RecordedHandling => {
  const data = readObject(input, path);
  const delayMs = data.optionalNumber('delayMs');
  return {
    decision: data.oneOf<ErrorHandlingDecision>('decision', ['stop', 'retry', 'ignore']),
    errorType: data.oneOf('errorType', ['tool', 'model', 'validation', 'rate_limit', 'timeout', 'unknown']),
    consecutiveFailures: data.number('consecutiveFailures'),
    totalFailures: data.number('totalFailures'),
    ...(delayMs !== undefined && { delayMs }),
  };
};

/** A result in its written form, before what has not changed is left out. */
interface Written {
  readonly own: JsonObject;
  readonly common: JsonObject;
  readonly fields: JsonObject;
}

const nothing: Written = { own: {}, common: {}, fields: {} };

// The last result of a conversation is compared with the next one: its written form is kept until then.
const lastWritten = new WeakMap<StepResult, Written>();

function writtenBefore<S extends Step>(before: StepResult<S> | undefined, step: StepFieldsCodec<S>): Written {
  return before === undefined ? nothing : (lastWritten.get(before) ?? writtenWith(before, { step, refs: compared }));
}

function keepLast(last: StepResult | undefined, written: Written, before: StepResult | undefined): void {
  if (before !== undefined) lastWritten.delete(before);
  if (last !== undefined) lastWritten.set(last, written);
}

const writtenWith = <S extends Step>(result: StepResult<S>, { step, refs }: ResultSurroundings<S>): Written => {
  const {
    common: { id, messages, ...common },
    fields,
  } = writeStep(result.step, step, refs);
  const { handling, timing } = result;
  return { own: present({ id, messages, timing: writeTiming(timing) }), common: present({ ...common, handling }), fields };
};

// Refers to no message: what a step is compared with stands in another place.
const compared: MessageRefs = {
  write: () => null,
  read: (_, path) => {
    throw new DamagedDataError(path, 'nothing is read from what is only compared');
  },
};

/** Writes results that follow `before`, or that are the first. */
export function writeResults<S extends Step>(
  results: Iterable<StepResult<S>>,
  { step, refs }: ResultSurroundings<S>,
  before: StepResult<S> | undefined,
): readonly JsonObject[] {
  let last = writtenBefore(before, step);
  let outcome: ContinuationOutcome | undefined = before?.outcome;
  let latest: StepResult<S> | undefined;
  const all = Array.from(results, (result) => {
    const written = writtenWith(result, { step, refs });
    const changes = changesSince(last.common, written.common);
    const fields = changesSince(last.fields, written.fields);
    const packed = present({
      ...written.own,
      ...changes,
      outcome: packOutcome(result.outcome, outcome),
      fields: Object.keys(fields).length === 0 ? undefined : fields,
    });
    [last, outcome, latest] = [written, result.outcome, result];
    return packed;
  });
  keepLast(latest, last, before);
  return all;
}

/** Reads results that follow `before`, or that are the first. */
export function readResults<S extends Step>(
  list: readonly unknown[],
  path: string,
  { before, ...surroundings }: ResultSurroundings<S> & { readonly before: StepResult<S> | undefined },
): readonly StepResult<S>[] {
  const { step, refs } = surroundings;
  let last = writtenBefore(before, step);
  let earlier = before;
  const results = list.map((item, index) => {
    const at = `${path}[${index}]`;
    if (!isRecord(item)) throw new DamagedDataError(at, 'expected a result');
    const { id, messages, timing, outcome, fields = {}, ...changes } = item;
    last = { own: {}, common: withChanges(last.common, changes, at), fields: withChanges(last.fields, fields, `${at}.fields`) };
    const data = readObject({ ...last.common, id, messages, timing, fields: last.fields }, at);
    const handling = data.optionalValue('handling', readHandling);
    earlier = new StepResult<S>({
      number: (earlier?.number ?? 0) + 1,
      step: readStep(data, step, refs),
      outcome: unpackOutcome(outcome, `${at}.outcome`, earlier?.outcome),
      timing: data.value('timing', readTiming),
      ...(handling !== undefined && { handling }),
    });
    return earlier;
  });
  keepLast(earlier, last, before);
  return results;
}
