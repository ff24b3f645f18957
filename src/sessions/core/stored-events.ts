// Events as they are stored with their step.
// V1. Fields that all events of a commit have in common are stored once.
// V2. An outcome, its failures or a text that the step's record holds already, and a message that its action holds, are not written
//     again; they are found there when the event is read.
// V3. A field that follows from the others is not written: no parent and no error are null, and a decision repeats its outcome.
import type { BaseEvent } from '../../events/index.ts';
import type { JsonObject } from '../../lib/index.ts';
import { DamagedDataError, isPlainObject, latestTime, readArray, readField, readJsonObject } from '../../lib/index.ts';
import type { Execution, RunState, Step, StepResult } from '../../step-by-step/index.ts';
import { toMessageFacts } from './create-action-events.ts';
import type { SentMessage } from './entries.ts';

/** An event as it is read from a store: plain data with the fields of the event. */
export interface StoredEvent extends JsonObject {
  readonly type: string;
  readonly id: string;
  readonly seq: number;
  readonly at: number;
  readonly agentId: string;
  readonly executionId: string;
  readonly stepNumber: number;
}

/** Stands for the outcome that the step's record holds. */
const inStep = 'step';

/** Fields that the events of one commit usually have in common. */
const sharedKeys = ['agentId', 'agentName', 'parentAgentId', 'executionId', 'stepNumber', 'orchestrator', 'participant'] as const;

type Fields = Readonly<Record<string, unknown>>;

function getShared(events: readonly Fields[]): Fields {
  const [first = {}] = events;
  const shared: Record<string, unknown> = {};
  for (const key of sharedKeys)
    if (first[key] !== undefined && first[key] !== null && events.every((event) => event[key] === first[key])) shared[key] = first[key];
  return shared;
}

/** Records that events of a commit may refer to. */
interface EventRecords {
  readonly result?: StepResult | undefined;
  readonly state: RunState;
  /** Messages of the actions that the entry applies. */
  readonly sent: readonly SentMessage[];
}

/** Stands for a text: the number of the entry whose action holds the message, or the step whose record holds it. */
interface TextPlace {
  readonly in: typeof inStep | number;
}

/** Finds the execution that an event is about. */
function findExecution({ data: { execution, past } }: RunState, { executionId }: Fields): Execution | undefined {
  if (execution.id === executionId) return execution;
  const executions = [...past, execution];
  // In a fork, the execution that continues has an id of its own; its number is that of the source.
  const number = Number(String(executionId).slice(String(executionId).lastIndexOf('/') + 1));
  return executions.findLast(({ id }) => id === executionId) ?? executions.find((each) => each.number === number);
}

/** Finds the step that an event is about: recorded, or waiting. */
function findStep(state: RunState, event: Fields): Step | undefined {
  const { results, pendingStep } = findExecution(state, event) ?? {};
  return results?.at(Number(event['stepNumber']) - 1)?.step ?? pendingStep?.partial;
}

/** Finds the record that holds the text of an event. */
function findTextPlace(fields: Fields, { state, sent }: EventRecords): TextPlace | undefined {
  const { type, text, messageId } = fields;
  if (typeof messageId !== 'string' || text === '') return undefined;
  if (type === 'UserMessageReceived') {
    const [found, ...others] = sent.filter(({ message }) => message['id'] === messageId);
    return found === undefined || others.length > 0 ? undefined : { in: found.entry };
  }
  const isHeld = findStep(state, fields)?.outputMessages.some(({ id }) => id === messageId) === true;
  return isHeld ? { in: inStep } : undefined;
}

/** Fields that repeat the outcome of a decision. */
function readDecision(outcome: unknown): JsonObject {
  const [shouldContinue, stopReason, resolvedBy] = ['shouldContinue', 'stopReason', 'resolvedBy'].map((key) => readField(outcome, key));
  if (typeof shouldContinue !== 'boolean' || typeof resolvedBy !== 'string') return {};
  return { shouldContinue, stopReason: typeof stopReason === 'string' ? stopReason : null, resolvedBy };
}

/** Returns the fields of an event that follow from its others. */
function getDerived({ type, outcome }: Fields): JsonObject {
  const error = type === 'ToolCallCompleted' ? { error: null } : {};
  return { parentAgentId: null, ...error, ...(type === 'ContinuationEvaluated' && readDecision(outcome)) };
}

/** Leaves out the fields that follow from others. JSON does not write what is undefined. */
function withoutDerived(event: Fields): Fields {
  const derived = getDerived(event);
  const hidden = Object.keys(derived).filter((key) => derived[key] === event[key]);
  return { ...event, ...Object.fromEntries(hidden.map((key) => [key, undefined])) };
}

function toStored(event: Fields, records: EventRecords): Fields {
  const { id, outcome, ...fields } = withoutDerived(event);
  const place = findTextPlace(fields, records);
  const isInStep = outcome !== undefined && outcome === records.result?.outcome;
  return {
    ...fields,
    ...(place !== undefined && { text: place, content: undefined }),
    id: id === `${String(event['executionId'])}/${String(event['seq'])}` ? undefined : id,
    ...(isInStep ? { outcome: inStep, errors: undefined } : { outcome }),
  };
}

/** Writes the events of one commit. */
export function writeEvents(events: readonly BaseEvent[], records: EventRecords): string {
  const all: readonly Fields[] = events.map((event) => ({ ...event }));
  const shared = getShared(all);
  // JSON leaves out what is undefined.
  const hidden = Object.fromEntries(Object.keys(shared).map((key) => [key, undefined]));
  return JSON.stringify([shared, ...all.map((event) => ({ ...toStored(event, records), ...hidden }))]);
}

/** Records that events are read with. */
export interface EventSources {
  /** Returns the session's state. */
  readonly getState: () => Promise<RunState>;
  /** Returns the message of the action of an entry; undefined if there is none. */
  readonly getMessage: (entry: number) => Promise<JsonObject | undefined>;
}

/** Puts the outcome of its step, and the failures, into an event that refers to them. */
function withOutcome(fields: StoredEvent, state: RunState): StoredEvent {
  const { outcome, step } = findExecution(state, fields)?.results.at(fields.stepNumber - 1) ?? {};
  const errors = step === undefined || step.errors.length === 0 ? {} : { errors: step.errors.map((failure) => ({ ...failure })) };
  if (outcome !== undefined) return { ...fields, outcome: outcome.toJSON(), ...errors };
  // The state that is at hand does not know the step: another runtime has recorded it.
  const { outcome: _, ...rest } = fields;
  return rest;
}

/** Puts the text of its step into an event that refers to it. */
function withText(fields: StoredEvent, state: RunState): StoredEvent {
  return { ...fields, text: findStep(state, fields)?.outputMessages.find(({ id }) => id === fields['messageId'])?.text ?? '' };
}

/** Puts everything into an event that it refers to. */
async function fill(event: StoredEvent, { getState, getMessage }: EventSources): Promise<StoredEvent> {
  const { text, outcome } = event;
  const whole = outcome === inStep ? withOutcome(event, await getState()) : event;
  if (!isPlainObject(text)) return whole;
  const { in: place } = text;
  if (typeof place !== 'number') return withText(whole, await getState());
  const message = await getMessage(place);
  return { ...whole, text: '', ...(message && toMessageFacts(message)) };
}

const isEvent = (fields: JsonObject): fields is StoredEvent =>
  ['type', 'id', 'agentId', 'executionId'].every((key) => typeof fields[key] === 'string') &&
  ['seq', 'at', 'stepNumber'].every((key) => typeof fields[key] === 'number') &&
  Math.abs(Number(fields['at'])) <= latestTime;

/** Reads the events of one commit. */
export async function readEvents(text: string, sources: EventSources): Promise<readonly StoredEvent[]> {
  const [shared, ...own] = readArray(JSON.parse(text), 'events', readJsonObject);
  const events: StoredEvent[] = [];
  for (const [index, fields] of own.entries()) {
    const whole: JsonObject = { ...shared, ...fields };
    const { executionId, seq } = whole;
    const id = typeof executionId === 'string' && typeof seq === 'number' ? `${executionId}/${seq}` : '';
    const event: JsonObject = { id, ...whole };
    if (!isEvent(event)) throw new DamagedDataError(`events[${index + 1}]`, 'expected an event');
    const filled = await fill(event, sources);
    events.push({ ...getDerived(filled), ...filled });
  }
  return events;
}
