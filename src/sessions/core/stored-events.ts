// Events as they are stored with their step.
// Event-1. A stored event is what was emitted: whoever has the entry reads it, without the state or another entry.
// Event-2. Bytes are saved at this border alone: what all events of a commit have in common is written once, and so is a long text that the
//          body of the entry holds.
import type { CollaborationEvent } from '../../collaboration/index.ts';
import type { BaseEvent, EventLineOptions } from '../../events/index.ts';
import { formatEvent } from '../../events/index.ts';
import type { Json, Jsonify, JsonObject } from '../../lib/index.ts';
import { DamagedDataError, isList, isPlainObject, latestTime, readArray, readJsonObject } from '../../lib/index.ts';
import { splitLines } from '../../step-by-step/index.ts';
import type { LogEntry } from '../store/session-store.ts';
import type { SessionEvent } from './action-events.ts';
import type { EntryBody } from './entries.ts';
import { erased } from './erased-content.ts';

/** Events that are shown at once and never stored: what they say is in those of their step. */
type PassingEvent = 'TextDelta' | 'ReasoningDelta' | 'ToolCallProgress';

/** Fields that an event has only once it is stored. */
type Added<Type> = { readonly sessionId: string } & (Type extends 'ToolApprovalRequested' | 'PersonAsked'
  ? {
      /** Binds an answer to what was asked. */
      readonly digest?: string;
    }
  : unknown);

type Stored<Event> = Event extends { readonly type: infer Type }
  ? Type extends PassingEvent
    ? never
    : Omit<Jsonify<Event>, 'sessionId'> & Added<Type>
  : never;

/** An event as it is read from a store: plain data with the fields of the event. One of your own has its own fields. */
export type StoredEvent = Stored<CollaborationEvent | SessionEvent>;

/** Stored events of a type. */
export type StoredEventOf<Type extends StoredEvent['type']> = Extract<StoredEvent, { readonly type: Type }>;

type Fields = Readonly<Record<string, unknown>>;
type Path = readonly (string | number)[];

/** The first item of stored events. */
interface Preface {
  /** Fields that all of them have. */
  readonly shared: Fields;
  /** Texts that the body holds: the number of the event, the place in it, and the place in the body. */
  readonly texts?: readonly (readonly [event: number, place: Path, source: Path])[];
}

/** The least length of a text that is not written twice. */
const longText = 200;

type OnText = (text: string, path: Path) => void;

/** Calls back for each long text inside a value, as JSON shows it. The path is good for the time of the call. */
function visitTexts(given: unknown, onText: OnText, path: (string | number)[] = []): void {
  const isJson = typeof given === 'object' && given !== null && 'toJSON' in given && typeof given.toJSON === 'function';
  // Holds: it has the method.
  const value = isJson ? (given as { toJSON: () => unknown }).toJSON() : given;
  if (typeof value === 'string') {
    if (value.length >= longText) onText(value, path);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const isList = Array.isArray(value);
  for (const key of Object.keys(value)) {
    path.push(isList ? Number(key) : key);
    visitTexts(Reflect.get(value, key), onText, path);
    path.pop();
  }
}

/** Finds the long texts of a body. A whole state is left out: it is a text itself. */
function findTexts({ action, change }: EntryBody): ReadonlyMap<string, Path> {
  const found = new Map<string, Path>();
  visitTexts({ action, change }, (text, path) => found.has(text) || found.set(text, [...path]));
  return found;
}

function getShared(events: readonly Fields[]): Fields {
  const shared: Record<string, unknown> = {};
  const [first = {}] = events;
  for (const [key, value] of Object.entries(first))
    if ((typeof value !== 'object' || value === null) && events.every((event) => event[key] === value)) shared[key] = value;
  return shared;
}

const toId = ({ executionId, seq }: Fields): string => `${String(executionId)}/${String(seq)}`;

/** Replaces the value at a place. Throws if there is no such place. */
function setAt(value: unknown, path: Path, next: unknown): void {
  const [key, ...rest] = path;
  if (typeof value !== 'object' || value === null || key === undefined || !Object.hasOwn(value, key))
    throw new DamagedDataError('events', 'expected the place of a text');
  if (rest.length > 0) setAt(Reflect.get(value, key), rest, next);
  else Reflect.set(value, key, next);
}

const getAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inside, key) => (typeof inside === 'object' && inside !== null ? Reflect.get(inside, key) : undefined), value);

/** Writes the events of an entry with this body. */
export function writeEvents(events: readonly BaseEvent[], body: EntryBody): string {
  // Holds: the fields of an event can be read by name.
  const all = events as readonly object[] as readonly Fields[];
  const shared = all.length > 1 ? getShared(all) : {};
  const written: unknown[] = all.map((event) => {
    const own: Record<string, unknown> = {};
    for (const key of Object.keys(event))
      if (key !== 'sessionId' && !Object.hasOwn(shared, key) && (key !== 'id' || event[key] !== toId(event))) own[key] = event[key];
    return own;
  });
  const sources = findTexts(body);
  if (sources.size === 0) return JSON.stringify([{ shared } satisfies Preface, ...written]);
  const texts: [number, Path, Path][] = [];
  visitTexts(written, (text, [event, ...place]) => {
    const source = sources.get(text);
    if (source !== undefined) texts.push([Number(event), place, source]);
  });
  // Events are not changed: those with such a text are copied, as they are stored.
  for (const event of new Set(texts.map(([index]) => index))) written[event] = JSON.parse(JSON.stringify(written[event]));
  for (const [event, place] of texts) setAt(written, [event, ...place], '');
  return JSON.stringify([{ shared, texts } satisfies Preface, ...written]);
}

const isEvent = (fields: JsonObject): fields is StoredEvent =>
  ['type', 'id', 'agentId', 'executionId'].every((key) => typeof fields[key] === 'string') &&
  ['seq', 'at', 'stepNumber'].every((key) => typeof fields[key] === 'number') &&
  Math.abs(Number(fields['at'])) <= latestTime;

const isPath = (value: unknown): value is Path =>
  Array.isArray(value) && value.every((key) => typeof key === 'string' || typeof key === 'number');

/** Puts the texts of the body back into events. One that was erased from the body stays so. */
function fillTexts(events: readonly JsonObject[], texts: unknown, body: string): void {
  const source: unknown = JSON.parse(splitLines(body)?.text ?? body);
  for (const text of readArray(texts, 'events.texts', (item) => item)) {
    const [event, place, from] = Array.isArray(text) ? (text as readonly unknown[]) : [];
    if (typeof event !== 'number' || !isPath(place) || !isPath(from)) throw new DamagedDataError('events.texts', 'expected a place');
    const found = getAt(source, from);
    setAt(events, [event, ...place], typeof found === 'string' ? found : erased);
  }
}

/** Drops the references of stored events to texts whose place was erased from them. */
export function dropErasedTexts(events: Json): Json {
  const [preface, ...own] = isList(events) ? events : [];
  if (!isPlainObject(preface) || !isList(preface['texts'])) return events;
  const isThere = (text: Json): boolean => {
    const [event, place] = isList(text) ? text : [];
    return typeof event === 'number' && isPath(place) && getAt(own, [event, ...place]) === '';
  };
  return [{ ...preface, texts: preface['texts'].filter(isThere) }, ...own];
}

/** Reads the events of an entry of a session. A fork has copied entries of another. */
export function readEvents(sessionId: string, { events = '[{}]', body }: Pick<LogEntry, 'events' | 'body'>): readonly StoredEvent[] {
  const [preface = {}, ...own] = readArray(JSON.parse(events), 'events', readJsonObject);
  const { shared, texts } = preface;
  if (texts !== undefined) fillTexts(own, texts, body);
  return own.map((fields, index) => {
    const whole: JsonObject = { ...(isPlainObject(shared) ? shared : {}), ...fields };
    const event: JsonObject = { id: toId(whole), ...whole, sessionId };
    if (!isEvent(event)) throw new DamagedDataError(`events[${index + 1}]`, 'expected an event');
    return event;
  });
}

/** Writes a stored event as one line, the same that `String(event)` gave when it was emitted. Removes obvious secrets. */
export const formatStoredEvent = (event: StoredEvent, options: EventLineOptions = {}): string => formatEvent(event, options);
