// Events as they are stored with their step.
// V1. Fields that all events of a commit have in common are stored once.
// V2. An outcome, its failures or a text that the step's record holds already, and a message that its action holds, are not written
//     again; they are found there when the event is read.
// V3. A field that follows from the others is not written: no parent and no error are null, a decision repeats its outcome, the session is
//     the one whose log it is, and some events repeat others of their commit.
import type { BaseEvent } from '../../events/index.ts';
import type { JsonObject } from '../../lib/index.ts';
import { DamagedDataError, isPlainObject, latestTime, readArray, readField, readJsonObject, setOwn } from '../../lib/index.ts';
import type { Execution, RunState, Step, StepResult } from '../../step-by-step/index.ts';
import { toMessageFacts } from './create-action-events.ts';
import type { SentMessage } from './entries.ts';
import type { RelatedEvents } from './related-fields.ts';
import { getRelatedFields, indexRelated, isRepeated, listRelatedNames } from './related-fields.ts';

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
  const shouldContinue = readField(outcome, 'shouldContinue');
  const stopReason = readField(outcome, 'stopReason');
  const resolvedBy = readField(outcome, 'resolvedBy');
  if (typeof shouldContinue !== 'boolean' || typeof resolvedBy !== 'string') return {};
  return { shouldContinue, stopReason: typeof stopReason === 'string' ? stopReason : null, resolvedBy };
}

/** Returns the fields of an event that follow from its others. */
function getDerived({ type, outcome }: Fields): JsonObject {
  if (type === 'ContinuationEvaluated') return { parentAgentId: null, ...readDecision(outcome) };
  return type === 'ToolCallCompleted' ? callDerived : usualDerived;
}

const usualDerived: JsonObject = { parentAgentId: null };
const callDerived: JsonObject = { parentAgentId: null, error: null };

/** Fields that are never written, or in another form behind the others. */
const replacedKeys = ['id', 'sessionId', 'outcome'];

/** Records that an event may refer to, and what it shares with others of its commit. */
interface WritingContext extends EventRecords {
  readonly related: RelatedEvents;
  /** Names of fields that no event of the commit repeats. */
  readonly omitted: ReadonlySet<string>;
}

/** Copies an event without the fields that follow from others. Key by key: this runs for every event that is stored. */
function toStored(event: Fields, context: WritingContext): Fields {
  const { omitted, related, result } = context;
  const { id, outcome } = event;
  const derived = getDerived(event);
  const repeated = listRelatedNames(event, related);
  const place = findTextPlace(event, context);
  const isInStep = outcome !== undefined && outcome === result?.outcome;
  const stored: Record<string, unknown> = {};
  for (const key of Object.keys(event)) {
    if (omitted.has(key)) continue;
    const value = event[key];
    if (derived[key] === value && Object.hasOwn(derived, key)) continue;
    if (repeated.includes(key) || (isInStep && key === 'errors') || (place !== undefined && key === 'content')) continue;
    setOwn(stored, key, value);
  }
  // In the place of the text itself.
  if (place !== undefined) stored['text'] = place;
  if (id !== `${String(event['executionId'])}/${String(event['seq'])}`) stored['id'] = id;
  if (outcome !== undefined) stored['outcome'] = isInStep ? inStep : outcome;
  return stored;
}

/** Writes the events of one commit. */
export function writeEvents(events: readonly BaseEvent[], records: EventRecords): string {
  // Holds: the fields of an event can be read by name.
  const all = events as readonly object[] as readonly Fields[];
  const shared = getShared(all);
  const context = { ...records, related: indexRelated(all), omitted: new Set([...replacedKeys, ...Object.keys(shared)]) };
  const written: Fields[] = [shared];
  for (const event of all) written.push(toStored(event, context));
  return JSON.stringify(written);
}

/** Records that events are read with. */
export interface EventSources {
  readonly sessionId: string;
  /** Returns the session's state; undefined if it cannot be read here. What only the state knows is then left out. */
  readonly getState: () => Promise<RunState | undefined>;
  /** Returns the message of the action of an entry; undefined if there is none. */
  readonly getMessage: (entry: number) => Promise<JsonObject | undefined>;
}

/** Puts the outcome of its step, and the failures, into an event that refers to them. */
function withOutcome(fields: StoredEvent, state: RunState | undefined): StoredEvent {
  const { outcome, step } = (state && findExecution(state, fields))?.results.at(fields.stepNumber - 1) ?? {};
  const errors = step === undefined || step.errors.length === 0 ? {} : { errors: step.errors.map((failure) => ({ ...failure })) };
  if (outcome !== undefined) return { ...fields, outcome: outcome.toJSON(), ...errors };
  // The state that is at hand does not know the step: another runtime has recorded it.
  const { outcome: _, ...rest } = fields;
  return rest;
}

/** Puts the text of its step into an event that refers to it. */
function withText(fields: StoredEvent, state: RunState | undefined): StoredEvent {
  const step = state && findStep(state, fields);
  return { ...fields, text: step?.outputMessages.find(({ id }) => id === fields['messageId'])?.text ?? '' };
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

/** Puts back the fields that an event shares with another one of its commit. */
function withRelated(event: StoredEvent, related: RelatedEvents): StoredEvent {
  const fields = getRelatedFields(event, related);
  // Holds: the fields of events that were read are JSON.
  return Object.keys(fields).length === 0 ? event : ({ ...fields, ...event } as StoredEvent);
}

const isEvent = (fields: JsonObject): fields is StoredEvent =>
  ['type', 'id', 'agentId', 'executionId'].every((key) => typeof fields[key] === 'string') &&
  ['seq', 'at', 'stepNumber'].every((key) => typeof fields[key] === 'number') &&
  Math.abs(Number(fields['at'])) <= latestTime;

/** Reads the events of one commit. Those that are neither wanted nor repeated by others are read without what they refer to. */
export async function readEvents(
  text: string,
  sources: EventSources,
  isWanted: (event: StoredEvent) => boolean = () => true,
): Promise<readonly StoredEvent[]> {
  const [shared, ...own] = readArray(JSON.parse(text), 'events', readJsonObject);
  const events: StoredEvent[] = [];
  for (const [index, fields] of own.entries()) {
    const whole: JsonObject = { ...shared, ...fields };
    const { executionId, seq } = whole;
    const id = typeof executionId === 'string' && typeof seq === 'number' ? `${executionId}/${seq}` : '';
    const event: JsonObject = { id, ...whole };
    if (!isEvent(event)) throw new DamagedDataError(`events[${index + 1}]`, 'expected an event');
    const filled = isWanted(event) || isRepeated(event) ? await fill(event, sources) : event;
    events.push({ ...getDerived(filled), ...filled, sessionId: sources.sessionId });
  }
  const related = indexRelated(events);
  return events.map((event) => withRelated(event, related));
}
