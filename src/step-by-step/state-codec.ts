// Writes and reads whole states, and changes between states.
// Owns:     the stored form of everything the loop keeps; a module adds the fields of its own steps.
// C1. A written state is read back as the same state, down to each outcome.
// C2. A message is written once: steps refer to the messages of the store.
// C3. The wall clock and findings are not written: a loaded state has not started to run.
// C4. Fields at the top of a state or a change that this version does not know are kept, and written again with the state.
// C5. `patch(before, diff(before, after))` is `after`, and what is written grows with the change, not with the state.
import type { CoolDowns } from '../inference/index.ts';
import { readRefusedPart } from './read-failure.ts';
import type { Json, JsonObject, ObjectReader } from '../lib/index.ts';
import { AppendOnlyList, DamagedDataError, InvalidArgumentError, present, readAmount, readArray, readObject } from '../lib/index.ts';
import { Message, MessageStore } from '../messages/index.ts';
import type { Codec } from '../serialization/index.ts';
import { createCodec } from '../serialization/index.ts';
import { patchExecution, diffExecution, readExecution, writeExecution } from './codec/execution-codec.ts';
import type { StateLines } from './codec/lines.ts';
import { hasLines, laterResults, leastEarlier, readEarlier, writeLines } from './codec/lines.ts';
import { messageRefs, readableRefsInto, refsInto } from './codec/message-refs.ts';
import type { ResultSurroundings } from './codec/result-codec.ts';
import type { StepFieldsCodec } from './codec/step-codec.ts';
import { listMessages, readStoreChanges, patchStore, diffStore, writeStoreChanges } from './codec/store-changes.ts';
import type { Execution } from './execution.ts';
import type { RunState, RunStateData } from './run-state.ts';
import { readGaps } from './state-gaps.ts';
import { StateInfo } from './state-info.ts';
import type { Step } from './step.ts';

/** Options of the codec for one kind of state. */
export interface StateCodecOptions<State extends RunState<S>, S extends Step> {
  /** Name of the kind of state in stored data. */
  readonly kind: string;
  readonly step: StepFieldsCodec<S>;
  readonly build: (data: RunStateData<S>) => State;
}

/** Writes states of one kind, whole or as changes, and reads them back. */
export interface StateCodec<State> extends Codec<State> {
  /** Writes a state as JSON text in which earlier messages and steps are on lines of their own, if it has many. */
  stringifyLines(state: State): string;
  /** Reads a state that was written in lines. Its earlier messages and steps are read, and checked, when somebody asks for them. */
  decodeLines(stored: StateLines): State;
  /**
   * Writes the change from an earlier state of the same conversation to a later one, as plain JSON. It refers to `messages`, which the
   * caller stores elsewhere, by their ids.
   */
  diff(before: State, after: State, messages?: readonly JsonObject[]): JsonObject;
  /** Applies a change to the state before it, with the same `messages`; throws for damaged data and names its place. */
  patch(before: State, change: unknown, messages?: readonly JsonObject[]): State;
}

const knownFields = [
  ...[
    'info',
    'agentId',
    'parentAgentId',
    'store',
    'metadata',
    'execution',
    'past',
    'coolDowns',
    'refusedParts',
    'lastSeq',
    'owesEvents',
    'gaps',
  ],
];

const knownChanges = ['info', 'store', 'metadata', 'execution', 'executions', 'coolDowns', 'refusedParts', 'lastSeq', 'owesEvents'];

function writeData<S extends Step>(data: RunStateData<S>, step: StepFieldsCodec<S>, later = 0): JsonObject {
  const surroundings = { step, refs: refsInto(data.store) };
  return present({
    ...data.unknownFields,
    info: data.info.toJSON(),
    agentId: data.agentId,
    parentAgentId: data.parentAgentId,
    store: data.store.toJSON(),
    metadata: data.metadata,
    execution: writeExecution(data.execution, surroundings, later),
    past: Array.from(data.past, (execution) => writeExecution(execution, surroundings)),
    coolDowns: data.coolDowns,
    refusedParts: data.refusedParts,
    lastSeq: data.lastSeq,
    owesEvents: data.owesEvents,
    gaps: data.gaps,
  });
}

/** True if a state may be worth writing in lines. */
const isLong = <S extends Step>({ store, execution, past }: RunStateData<S>): boolean =>
  past.length > 0 || execution.results.length > leastEarlier || store.names.some((name) => store.section(name).length > leastEarlier);

/** Reads a store whose earlier messages may be on lines of their own. */
function readStore(input: unknown, path: string, lines: readonly string[]): MessageStore {
  let store = MessageStore.empty();
  readObject(input, path).array('sections', (item, at) => {
    const section = readObject(item, at);
    const name = section.string('name');
    if (store.has(name)) throw new DamagedDataError(at, `section ${JSON.stringify(name)} comes twice`);
    const read = (message: unknown, place: string): Message => Message.fromJSON(message, place);
    const earlier = readEarlier(section, lines, (list) => readArray(list, `${at}.messages`, read));
    const later = section.array('messages', read);
    store = store.withSection(name, earlier === undefined ? later : AppendOnlyList.withEarlier(earlier, later));
  });
  return store;
}

function readData<S extends Step>(data: ObjectReader, step: StepFieldsCodec<S>, lines?: readonly string[]): RunStateData<S> {
  const store = data.value('store', lines === undefined ? MessageStore.fromJSON : (input, path) => readStore(input, path, lines));
  const surroundings = { step, refs: lines === undefined ? refsInto(store) : readableRefsInto(store), lines };
  const read = (item: unknown, path: string): Execution<S> => readExecution(item, path, surroundings);
  const unknownFields = data.rest(knownFields);
  return {
    info: data.value('info', StateInfo.fromJSON),
    agentId: data.string('agentId'),
    parentAgentId: data.optionalString('parentAgentId'),
    store,
    metadata: data.jsonObject('metadata'),
    execution: data.value('execution', read),
    past: AppendOnlyList.from(data.array('past', read)),
    coolDowns: data.optionalValue('coolDowns', readCoolDowns),
    refusedParts: data.optionalArray('refusedParts', readRefusedPart),
    lastSeq: data.number('lastSeq'),
    owesEvents: data.optionalBoolean('owesEvents'),
    gaps: data.optionalValue('gaps', readGaps),
    unknownFields: Object.keys(unknownFields).length === 0 ? undefined : unknownFields,
  };
}

/** Reads cool-downs; undefined if there are none. */
function readCoolDowns(input: unknown, path: string): CoolDowns | undefined {
  const data = readObject(input, path);
  const entries = Object.keys(data.raw).map((name) => {
    const coolDown = data.object(name);
    return [name, { failures: coolDown.number('failures'), until: coolDown.time('until') }] as const;
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Context for writing and reading a change. */
interface ChangeOptions<S extends Step> {
  readonly step: StepFieldsCodec<S>;
  /** Messages that are stored elsewhere. */
  readonly elsewhere: readonly JsonObject[];
}

/** Adds the messages that the earlier state holds for a later step. */
const withQueued = <S extends Step>({ execution }: RunStateData<S>, elsewhere: readonly JsonObject[]): readonly JsonObject[] =>
  execution.queued === undefined ? elsewhere : [...elsewhere, ...execution.queued.map((message) => message.toJSON())];

/** Adds the executions that have changed or started since: those that have ended, and the one in progress. */
function addExecutions<S extends Step>(
  changes: Record<string, Json>,
  [before, after]: readonly [RunStateData<S>, RunStateData<S>],
  surroundings: ResultSurroundings<S>,
): void {
  const ended = after.past.since(before.past);
  if (ended === undefined) throw notSameConversation();
  const [successor = after.execution, ...later] = ended;
  const others = ended.length === 0 ? [] : [...later, after.execution];
  const change = diffExecution(before.execution, successor, surroundings);
  if (change === undefined) throw notSameConversation();
  if (Object.keys(change).length > 0) changes['execution'] = change;
  if (others.length > 0) changes['executions'] = others.map((execution) => writeExecution(execution, surroundings));
}

const notSameConversation = (): InvalidArgumentError =>
  new InvalidArgumentError('Cannot diff two states of different conversations. Pass an earlier state of the same conversation.');

function diffData<S extends Step>(
  before: RunStateData<S>,
  after: RunStateData<S>,
  { step, elsewhere: given }: ChangeOptions<S>,
): JsonObject {
  const elsewhere = withQueued(before, given);
  const { info } = after;
  if (info.id !== before.info.id || info.startedAt !== before.info.startedAt) throw notSameConversation();
  const store = diffStore(before.store, after.store);
  const surroundings = { step, refs: messageRefs({ beside: listMessages(store), store: after.store, elsewhere }) };
  const changes: Record<string, Json> = {};
  const { updatedAt, cumulativeExecutionSeconds } = info;
  if (updatedAt !== before.info.updatedAt || cumulativeExecutionSeconds !== before.info.cumulativeExecutionSeconds)
    changes['info'] = { updatedAt, cumulativeExecutionSeconds };
  if (store !== undefined) changes['store'] = writeStoreChanges(store, before.store, elsewhere);
  if (after.metadata !== before.metadata) changes['metadata'] = after.metadata;
  addExecutions(changes, [before, after], surroundings);
  if (after.coolDowns !== before.coolDowns) changes['coolDowns'] = present({ ...after.coolDowns });
  if (after.refusedParts !== before.refusedParts) changes['refusedParts'] = (after.refusedParts ?? []).map((part) => present({ ...part }));
  if (after.lastSeq !== before.lastSeq) changes['lastSeq'] = after.lastSeq;
  if (after.owesEvents !== before.owesEvents) changes['owesEvents'] = after.owesEvents ?? false;
  return changes;
}

function readInfo(before: StateInfo, input: unknown, path: string): StateInfo {
  const data = readObject(input, path);
  return before.at(data.time('updatedAt'), data.value('cumulativeExecutionSeconds', readAmount));
}

function patchData<S extends Step>(
  before: RunStateData<S>,
  data: ObjectReader,
  { step, elsewhere: given }: ChangeOptions<S>,
): RunStateData<S> {
  const elsewhere = withQueued(before, given);
  const refs = messageRefs({ store: before.store, elsewhere });
  const changes = data.optionalValue('store', (input, path) => readStoreChanges(input, path, refs));
  const store = changes === undefined ? before.store : patchStore(before.store, changes);
  const surroundings = { step, refs: messageRefs({ beside: listMessages(changes), store, elsewhere }) };
  const change = data.optionalObject('execution');
  const successor = change === undefined ? before.execution : patchExecution(before.execution, change, surroundings);
  const others = data.optionalArray('executions', (item, path) => readExecution(item, path, surroundings)) ?? [];
  const executions = [successor, ...others];
  const owesEvents = data.optionalBoolean('owesEvents');
  const unknownFields = data.rest(knownChanges);
  return {
    ...before,
    info: data.optionalValue('info', (input, path) => readInfo(before.info, input, path)) ?? before.info,
    store,
    metadata: data.optionalJsonObject('metadata') ?? before.metadata,
    execution: executions.at(-1) ?? successor,
    past: before.past.appendAll(executions.slice(0, -1)),
    coolDowns: data.has('coolDowns') ? data.optionalValue('coolDowns', readCoolDowns) : before.coolDowns,
    refusedParts: data.optionalArray('refusedParts', readRefusedPart) ?? before.refusedParts,
    lastSeq: data.optionalNumber('lastSeq') ?? before.lastSeq,
    owesEvents: owesEvents === undefined ? before.owesEvents : owesEvents || undefined,
    unknownFields: Object.keys(unknownFields).length === 0 ? before.unknownFields : { ...before.unknownFields, ...unknownFields },
  };
}

/** Creates the codec of one kind of state. */
export function createStateCodec<State extends RunState<S>, S extends Step>({
  kind,
  step,
  build,
}: StateCodecOptions<State, S>): StateCodec<State> {
  const createWith = (lines?: readonly string[]): Codec<State> =>
    createCodec<State>({
      kind,
      version: 1,
      encode: ({ data }) => writeData(data, step),
      decode: (data) => build(readData(data, step, lines)),
    });
  const codec = createWith();
  return {
    ...codec,
    stringifyLines: (state) => {
      const written = isLong(state.data) ? writeLines(writeData(state.data, step, laterResults)) : '';
      return hasLines(written) ? `{"kind":${JSON.stringify(kind)},"schema":${codec.version},"data":${written}}` : codec.stringify(state);
    },
    decodeLines: ({ written, lines }) => createWith(lines).decode(written),
    diff: (before, after, elsewhere = []) => diffData(before.data, after.data, { step, elsewhere }),
    patch: (before, change, elsewhere = []) => build(patchData(before.data, readObject(change, 'change'), { step, elsewhere })),
  };
}
