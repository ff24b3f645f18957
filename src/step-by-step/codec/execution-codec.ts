import { ContinuationEvaluation, ContinuationOutcome, readOutcome, writeOutcome } from '../../continuation/index.ts';
import type { Json, JsonObject, ObjectReader } from '../../lib/index.ts';
import {
  AppendOnlyList,
  isRecord,
  jsonEquals,
  omitUndefined,
  present,
  readAmount,
  readJsonObject,
  readObject,
  readString,
} from '../../lib/index.ts';
import { Usage } from '../../messages/index.ts';
import { diffFields, goneKey, withChanges } from '../../serialization/index.ts';
import type { CrashLoop, Execution, Outage } from '../execution.ts';
import type { RecordedGrant } from '../grant.ts';
import { readAnswer, readWait } from '../read-waiting.ts';
import type { Step } from '../step.ts';
import type { PendingStep } from '../waiting.ts';
import { readEarlier } from './lines.ts';
import type { ResultSurroundings } from './result-codec.ts';
import { readResults, writeResults } from './result-codec.ts';
import { readCost, readStep, writeStep, writeUsage } from './step-codec.ts';

const readGrant = (input: unknown, path: string): RecordedGrant => {
  const data = readObject(input, path);
  return omitUndefined({
    steps: data.optionalNumber('steps'),
    tokens: data.optionalNumber('tokens'),
    wallMs: data.optionalNumber('wallMs'),
    activeMs: data.optionalNumber('activeMs'),
    costUsd: data.optionalNumber('costUsd'),
    by: data.optionalString('by'),
  });
};

const readCrashLoop = (input: unknown, path: string): CrashLoop => {
  const data = readObject(input, path);
  return { attempts: data.number('attempts'), since: data.time('since') };
};

const readOutage = (input: unknown, path: string): Outage => {
  const data = readObject(input, path);
  return omitUndefined({ since: data.time('since'), tries: data.number('tries'), spanMs: data.optionalNumber('spanMs') });
};

function writePending<S extends Step>(pending: PendingStep<S>, { step: codec, refs }: ResultSurroundings<S>): JsonObject {
  const { partial } = pending;
  const { common, fields } = writeStep(partial, codec);
  const messages = partial.outputMessages.map((message) => refs.write(message));
  const inner = codec.getInnerOutcome?.(partial);
  const innerOutcome = inner && writeOutcome(inner);
  return present({ ...pending, partial: present({ id: partial.id, messages, ...common, innerOutcome, fields }) });
}

function readPending<S extends Step>(input: unknown, path: string, surroundings: ResultSurroundings<S>): PendingStep<S> {
  const data = readObject(input, path);
  const partial = data.object('partial');
  const innerOutcome = partial.optionalValue('innerOutcome', readOutcome);
  const asked = data.optionalObject('askedEarlier');
  const evaluations = data.optionalArray('evaluations', ContinuationEvaluation.fromJSON);
  return {
    number: data.number('number'),
    partial: readStep(partial, { ...surroundings, innerOutcome }),
    waits: data.array('waits', readWait),
    answers: data.array('answers', readAnswer),
    ...(evaluations !== undefined && { evaluations }),
    ...(asked !== undefined && { askedEarlier: Object.fromEntries(Object.keys(asked.raw).map((id) => [id, asked.time(id)])) }),
    startedAt: data.time('startedAt'),
    parkedAt: data.time('parkedAt'),
    activeMs: data.value('activeMs', readAmount),
    waitedMs: data.value('waitedMs', readAmount),
  };
}

/** Everything but the results. The wall clock and findings are not written. */
type Head<S extends Step> = Omit<Execution<S>, 'results' | 'wallStartedAt' | 'monotonicStartedAt' | 'judgedStep'>;

// In the order in which they are written. An object, so that the compiler finds a field that is missing.
const headFields: Readonly<Record<keyof Head<Step>, true>> = {
  id: true,
  number: true,
  startedAt: true,
  activeMs: true,
  waitedMs: true,
  usage: true,
  cost: true,
  grants: true,
  regranted: true,
  grantRefused: true,
  grantRefusedBy: true,
  failedSteps: true,
  startOutcome: true,
  pendingStep: true,
  crashLoop: true,
  outage: true,
  queued: true,
  agent: true,
  resumedBy: true,
};
// Holds: Object.keys returns the keys of that very object.
const headKeys = Object.keys(headFields) as readonly (keyof Head<Step>)[];

function writeHeadField<S extends Step>(
  key: keyof Head<S>,
  execution: Execution<S>,
  surroundings: ResultSurroundings<S>,
): Json | undefined {
  switch (key) {
    case 'usage':
      return writeUsage(execution.usage);
    case 'startOutcome':
      return execution.startOutcome?.toJSON();
    case 'pendingStep':
      return execution.pendingStep && writePending(execution.pendingStep, surroundings);
    case 'queued':
      return execution.queued?.map((message) => surroundings.refs.write(message));
    default:
      // Holds: the other fields are JSON.
      return execution[key] as Json | undefined;
  }
}

function writeHead<S extends Step>(execution: Execution<S>, surroundings: ResultSurroundings<S>): JsonObject {
  const head: Record<string, Json> = {};
  for (const key of headKeys) {
    const value = writeHeadField(key, execution, surroundings);
    if (value !== undefined) head[key] = value;
  }
  return head;
}

/** Reads the waiting step. Of one that waited before, only the changed parts were written. */
function readChangedPending<S extends Step>(
  data: ObjectReader,
  surroundings: ResultSurroundings<S>,
  before: PendingStep<S> | undefined,
): PendingStep<S> | undefined {
  if (before === undefined || !data.has('pendingStep'))
    return data.optionalValue('pendingStep', (item, at) => readPending(item, at, surroundings));
  const written = writePending(before, surroundings);
  return data.value('pendingStep', (item, at) => readPending(withChanges(written, item, at), at, surroundings));
}

/** Reads a head. If `before` is given, the data is a change: fields that it does not name stay as they are. */
function readHead<S extends Step>(data: ObjectReader, surroundings: ResultSurroundings<S>, before?: Execution<S>): Head<S> {
  const gone = before === undefined ? [] : (data.optionalArray(goneKey, readString) ?? []);
  function read<Key extends keyof Head<S>>(key: Key, readField: (name: Key) => Head<S>[Key]): Head<S>[Key] {
    return before === undefined || data.has(key) || gone.includes(key) ? readField(key) : before[key];
  }
  return {
    id: read('id', (key) => data.optionalString(key)),
    number: read('number', (key) => data.number(key)),
    startedAt: read('startedAt', (key) => data.optionalTime(key)),
    activeMs: read('activeMs', (key) => data.number(key)),
    waitedMs: read('waitedMs', (key) => data.number(key)),
    usage: read('usage', (key) => data.value(key, Usage.fromJSON)),
    cost: read('cost', (key) => data.optionalValue(key, readCost)),
    grants: read('grants', (key) => data.optionalArray(key, readGrant)),
    regranted: read('regranted', (key) => data.optionalBoolean(key)),
    grantRefused: read('grantRefused', (key) => data.optionalString(key)),
    grantRefusedBy: read('grantRefusedBy', (key) => data.optionalString(key)),
    failedSteps: read('failedSteps', (key) => data.number(key)),
    startOutcome: read('startOutcome', (key) => data.optionalValue(key, ContinuationOutcome.fromJSON)),
    pendingStep: read('pendingStep', () => readChangedPending(data, surroundings, before?.pendingStep)),
    crashLoop: read('crashLoop', (key) => data.optionalValue(key, readCrashLoop)),
    outage: read('outage', (key) => data.optionalValue(key, readOutage)),
    queued: read('queued', (key) => data.optionalArray(key, (item, at) => surroundings.refs.read(item, at))),
    agent: read('agent', (key) => data.optionalJsonObject(key)),
    resumedBy: read('resumedBy', (key) => data.optionalArray(key, readJsonObject)),
  };
}

const asIs = (item: unknown): unknown => item;

/** Writes an execution. `later`: the number of results at the end that have to be read without those before them. */
export function writeExecution<S extends Step>(execution: Execution<S>, surroundings: ResultSurroundings<S>, later = 0): JsonObject {
  const { results } = execution;
  const head = writeHead(execution, surroundings);
  const first = results.length - later;
  if (later === 0 || first <= 0) return { ...head, results: writeResults(results, surroundings) };
  const earlier = writeResults(results.slice(0, first), surroundings);
  const options = { before: results.at(first - 1), isWhole: true };
  return { ...head, results: [...earlier, ...writeResults(results.slice(first), surroundings, options)] };
}

export function readExecution<S extends Step>(input: unknown, path: string, surroundings: ResultSurroundings<S>): Execution<S> {
  const data = readObject(input, path);
  const at = `${path}.results`;
  const earlier = readEarlier(data, surroundings.lines, (list) => readResults(list, at, { ...surroundings, before: undefined }));
  const options = { ...surroundings, before: undefined, skipped: earlier?.count ?? 0 };
  const results = readResults(data.array('results', asIs), at, options);
  return {
    ...readHead(data, surroundings),
    results: earlier === undefined ? AppendOnlyList.from(results) : AppendOnlyList.withEarlier(earlier, results),
  };
}

/** Returns the changes of the head. Of a waiting step, only the changed parts: it may be large, and is answered bit by bit. */
function diffHead<S extends Step>(before: Execution<S>, after: Execution<S>, surroundings: ResultSurroundings<S>): Record<string, Json> {
  const changes: Record<string, Json> = {};
  const gone: string[] = [];
  let pendingStep: Json | undefined;
  for (const key of headKeys) {
    // Most fields are the very same value, and need not be written to be compared.
    if (before[key] === after[key]) continue;
    const was = writeHeadField(key, before, surroundings);
    const is = writeHeadField(key, after, surroundings);
    if (is === undefined) gone.push(key);
    else if (key === 'pendingStep') pendingStep = isRecord(was) && isRecord(is) ? diffFields(was, is) : is;
    else if (!jsonEquals(was, is)) changes[key] = is;
  }
  if (gone.length > 0) changes[goneKey] = gone;
  if (pendingStep !== undefined) changes['pendingStep'] = pendingStep;
  return changes;
}

/** Returns the changes of an execution; undefined if its results do not begin with the earlier ones. */
export function diffExecution<S extends Step>(
  before: Execution<S>,
  after: Execution<S>,
  surroundings: ResultSurroundings<S>,
): JsonObject | undefined {
  const added = after.results.since(before.results);
  if (added === undefined) return undefined;
  const changes = diffHead(before, after, surroundings);
  if (added.length > 0) changes['results'] = writeResults(added, surroundings, { before: before.results.last });
  return changes;
}

export function patchExecution<S extends Step>(
  before: Execution<S>,
  change: ObjectReader,
  surroundings: ResultSurroundings<S>,
): Execution<S> {
  const head = readHead(change, surroundings, before);
  const added = change.optionalArray('results', asIs) ?? [];
  const results = readResults(added, `${change.path}.results`, { ...surroundings, before: before.results.last });
  return { ...head, results: before.results.appendAll(results) };
}
