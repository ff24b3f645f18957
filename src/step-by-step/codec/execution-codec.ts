import { ContinuationEvaluation, ContinuationOutcome, readOutcome, writeOutcome } from '../../continuation/index.ts';
import type { JsonObject, ObjectReader } from '../../lib/index.ts';
import { AppendOnlyList, isRecord, omitUndefined, present, readJsonObject, readObject } from '../../lib/index.ts';
import { Usage } from '../../messages/index.ts';
import { diffFields, withChanges } from '../../serialization/index.ts';
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
    activeMs: data.number('activeMs'),
    waitedMs: data.number('waitedMs'),
  };
}

/** Everything but the results. The wall clock and findings are not written. */
function writeHead<S extends Step>(execution: Execution<S>, surroundings: ResultSurroundings<S>): JsonObject {
  return present({
    id: execution.id,
    number: execution.number,
    startedAt: execution.startedAt,
    activeMs: execution.activeMs,
    waitedMs: execution.waitedMs,
    usage: writeUsage(execution.usage),
    cost: execution.cost,
    grants: execution.grants,
    regranted: execution.regranted,
    grantRefused: execution.grantRefused,
    grantRefusedBy: execution.grantRefusedBy,
    failedSteps: execution.failedSteps,
    startOutcome: execution.startOutcome?.toJSON(),
    pendingStep: execution.pendingStep === undefined ? undefined : writePending(execution.pendingStep, surroundings),
    crashLoop: execution.crashLoop,
    outage: execution.outage,
    queued: execution.queued?.map((message) => surroundings.refs.write(message)),
    agent: execution.agent,
    resumedBy: execution.resumedBy,
  });
}

function readHead<S extends Step>(data: ObjectReader, surroundings: ResultSurroundings<S>): Omit<Execution<S>, 'results'> {
  return {
    id: data.optionalString('id'),
    number: data.number('number'),
    startedAt: data.optionalTime('startedAt'),
    activeMs: data.number('activeMs'),
    waitedMs: data.number('waitedMs'),
    usage: data.value('usage', Usage.fromJSON),
    cost: data.optionalValue('cost', readCost),
    grants: data.optionalArray('grants', readGrant),
    regranted: data.optionalBoolean('regranted'),
    grantRefused: data.optionalString('grantRefused'),
    grantRefusedBy: data.optionalString('grantRefusedBy'),
    failedSteps: data.number('failedSteps'),
    startOutcome: data.optionalValue('startOutcome', ContinuationOutcome.fromJSON),
    pendingStep: data.optionalValue('pendingStep', (item, at) => readPending(item, at, surroundings)),
    crashLoop: data.optionalValue('crashLoop', readCrashLoop),
    outage: data.optionalValue('outage', readOutage),
    queued: data.optionalArray('queued', (item, at) => surroundings.refs.read(item, at)),
    agent: data.optionalJsonObject('agent'),
    resumedBy: data.optionalArray('resumedBy', readJsonObject),
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
function diffHead(before: JsonObject, after: JsonObject): JsonObject {
  const { pendingStep: waited } = before;
  const { pendingStep: waits, ...changes } = diffFields(before, after);
  if (waits === undefined) return changes;
  return { ...changes, pendingStep: isRecord(waited) && isRecord(waits) ? diffFields(waited, waits) : waits };
}

function patchHead(before: JsonObject, { pendingStep: waits, ...changes }: ObjectReader['raw'], path: string): JsonObject {
  const { pendingStep: waited } = before;
  if (waits === undefined) return withChanges(before, changes, path);
  const pendingStep = isRecord(waited) ? withChanges(waited, waits, `${path}.pendingStep`) : waits;
  return withChanges(before, { ...changes, pendingStep }, path);
}

/** Returns the changes of an execution; undefined if its results do not begin with the earlier ones. */
export function diffExecution<S extends Step>(
  before: Execution<S>,
  after: Execution<S>,
  surroundings: ResultSurroundings<S>,
): JsonObject | undefined {
  const added = after.results.since(before.results);
  if (added === undefined) return undefined;
  const head = diffHead(writeHead(before, surroundings), writeHead(after, surroundings));
  return added.length === 0 ? head : { ...head, results: writeResults(added, surroundings, { before: before.results.last }) };
}

export function patchExecution<S extends Step>(
  before: Execution<S>,
  change: ObjectReader,
  surroundings: ResultSurroundings<S>,
): Execution<S> {
  const { results: _, ...changes } = change.raw;
  const head = readObject(patchHead(writeHead(before, surroundings), changes, change.path), change.path);
  const added = change.optionalArray('results', asIs) ?? [];
  const results = readResults(added, `${change.path}.results`, { ...surroundings, before: before.results.last });
  return { ...readHead(head, surroundings), results: before.results.appendAll(results) };
}
