// The walk that brings any value into canonical form, or finds the reason why it has none.
import { cleanText } from './clean-text.ts';
import type { Json, JsonObject } from './json.ts';
import { setOwn } from './json.ts';

export const dropped: unique symbol = Symbol('dropped');
export const refused: unique symbol = Symbol('refused');
type Converted = Json | typeof dropped | typeof refused;

/** A walk through one value, and what it has found. */
interface Walk {
  readonly maxDepth: number;
  readonly maxBytes: number;
  readonly ancestors: object[];
  /** Keys from the top to the current value; kept if a walk ends early. */
  readonly trail: (string | number)[];
  problem: string;
  isTooLarge: boolean;
  valuesLeft: number;
  // The JSON text has between atLeast and atMost bytes; only values between the two limits are measured exactly.
  atLeast: number;
  atMost: number;
}

const bytesProblem = 'holds raw bytes; turn them into a base64 string or a file part';
const weakProblem = 'holds weak references, which cannot be stored';
const refusedTags: ReadonlyMap<string, string> = new Map([
  ['[object Map]', 'is a Map; turn it into an object or an array of entries'],
  ['[object Set]', 'is a Set; turn it into an array'],
  ['[object ArrayBuffer]', bytesProblem],
  ['[object SharedArrayBuffer]', bytesProblem],
  ['[object Blob]', bytesProblem],
  ['[object File]', bytesProblem],
  ['[object Promise]', 'is a promise; await it first'],
  ['[object WeakMap]', weakProblem],
  ['[object WeakSet]', weakProblem],
  ['[object WeakRef]', weakProblem],
]);
const boxedTags: ReadonlySet<string> = new Set(['Number', 'String', 'Boolean', 'BigInt', 'Symbol'].map((name) => `[object ${name}]`));

function refuse(walk: Walk, problem: string): typeof refused {
  walk.problem = problem;
  return refused;
}

function addSize<Value extends Json>(walk: Walk, value: Value, size: number): Value | typeof refused {
  walk.atLeast += 1;
  walk.atMost += size;
  walk.valuesLeft -= 1;
  if (walk.atLeast <= walk.maxBytes && walk.valuesLeft >= 0) return value;
  // It is the whole that is too large, not the part that was read last.
  walk.trail.length = 0;
  walk.isTooLarge = true;
  return refused;
}

function addTextSize(walk: Walk, text: string): string | typeof refused {
  // A UTF-16 unit takes at least one byte and, escaped, at most six.
  walk.atLeast += text.length + 1;
  return addSize(walk, text, 6 * text.length + 3);
}

function fromArray(source: readonly unknown[], walk: Walk): Converted {
  let copy: Json[] | undefined = Object.getPrototypeOf(source) === Array.prototype ? undefined : [];
  for (let index = 0; index < source.length; index += 1) {
    walk.trail.push(index);
    const item = source[index];
    const converted = convert(item, walk);
    const kept = converted === dropped ? addSize(walk, null, 5) : converted;
    if (kept === refused) return refused;
    // Holds: no item before this one needed a change.
    if (copy === undefined && !Object.is(kept, item)) copy = source.slice(0, index) as Json[];
    copy?.push(kept);
    walk.trail.pop();
  }
  // Holds: every item was found canonical. Fields beside the items (as on a regular expression's match) are not for JSON.
  return copy ?? (Object.keys(source).length === source.length ? (source as readonly Json[]) : (source.slice() as Json[]));
}

type Fields = Readonly<Record<string, unknown>>;

function copyFields(source: Fields, keys: readonly string[]): Record<string, Json> {
  const copy: Record<string, Json> = {};
  // Holds: only fields already found canonical are copied.
  for (const key of keys) setOwn(copy, key, source[key] as Json);
  return copy;
}

function fromField(source: Fields, key: string, walk: Walk): Converted {
  const value = convert(source[key], walk);
  return value !== dropped && addTextSize(walk, key) === refused ? refused : value;
}

// A getter is not data: it may answer otherwise the next time.
function isOwnData(source: Fields, key: string, value: Converted): boolean {
  const field = Object.getOwnPropertyDescriptor(source, key);
  return field !== undefined && 'value' in field && Object.is(field.value, value);
}

function fromFields(source: Fields, walk: Walk): Converted {
  const keys = Object.keys(source);
  const isPlain = Object.getPrototypeOf(source) === Object.prototype && Object.getOwnPropertySymbols(source).length === 0;
  let copy = isPlain ? undefined : copyFields(source, []);
  // By index: an iterator makes an object for each field.
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index] ?? '';
    walk.trail.push(key);
    const value = fromField(source, key, walk);
    if (value === refused) return refused;
    const name = cleanText(key);
    if (name !== key && (Object.hasOwn(source, name) || (copy !== undefined && Object.hasOwn(copy, name)))) {
      return refuse(walk, 'has the name of another field once its broken characters are replaced');
    }
    if (copy === undefined && (name !== key || !isOwnData(source, key, value))) copy = copyFields(source, keys.slice(0, index));
    if (copy !== undefined && value !== dropped) setOwn(copy, name, value);
    walk.trail.pop();
  }
  // Holds: every field was found canonical.
  return copy ?? (source as JsonObject);
}

function fromContainer(source: object, walk: Walk): Converted {
  if (walk.ancestors.includes(source)) return refuse(walk, 'refers back to a value that contains it');
  if (walk.ancestors.length >= walk.maxDepth) return refuse(walk, `is nested deeper than ${String(walk.maxDepth)} levels`);
  if (addSize(walk, null, 3) === refused) return refused;
  walk.ancestors.push(source);
  const value = Array.isArray(source) ? fromArray(source, walk) : fromFields(source as Fields, walk); // Holds: any object may be asked for fields by name.
  walk.ancestors.pop();
  return value;
}

function fromExotic(source: object, walk: Walk): Converted {
  const tag = Object.prototype.toString.call(source);
  const problem = refusedTags.get(tag);
  if (problem !== undefined) return refuse(walk, problem);
  if (tag === '[object Date]') return convert(Date.prototype.toJSON.call(source), walk);
  const inner: unknown = boxedTags.has(tag) ? source.valueOf() : source;
  return typeof inner === 'object' ? fromContainer(source, walk) : convert(inner, walk);
}

function fromObject(source: object, walk: Walk): Converted {
  // Before toJSON: Node's Buffer has one that turns each byte into a number.
  if (ArrayBuffer.isView(source)) return refuse(walk, bytesProblem);
  let value: unknown = source;
  const toJSON: unknown = Reflect.get(source, 'toJSON');
  if (typeof toJSON === 'function') value = Reflect.apply(toJSON, source, [String(walk.trail.at(-1) ?? '')]);
  if (typeof value !== 'object' || value === null) return convert(value, walk);
  const isOrdinary = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  return isOrdinary ? fromContainer(value, walk) : fromExotic(value, walk);
}

function convert(value: unknown, walk: Walk): Converted {
  switch (typeof value) {
    case 'string':
      return addTextSize(walk, cleanText(value));
    case 'number':
      // The comparison also turns -0 into 0.
      return addSize(walk, Number.isFinite(value) ? (value === 0 ? 0 : value) : null, 26);
    case 'boolean':
      return addSize(walk, value, 6);
    case 'bigint':
      return addTextSize(walk, String(value));
    case 'object':
      return value === null ? addSize(walk, null, 5) : fromObject(value, walk);
    default:
      return dropped;
  }
}

function describeThrown(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return 'an error that cannot be read itself';
  }
}

/** Converts a value. `dropped` is what JSON leaves out; `refused` has its problem and its place in the walk. */
export function walkThrough(value: unknown, walk: Walk): Converted {
  try {
    return convert(value, walk);
  } catch (error) {
    return refuse(walk, `could not be read: ${describeThrown(error)}`);
  }
}

/** Creates a walk that has found nothing yet. */
export const createWalk = ({ maxDepth, maxBytes }: Pick<Walk, 'maxDepth' | 'maxBytes'>): Walk => ({
  maxDepth,
  maxBytes,
  ancestors: [],
  trail: [],
  problem: '',
  isTooLarge: false,
  valuesLeft: Infinity,
  atLeast: 0,
  atMost: 0,
});
