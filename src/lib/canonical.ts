// Canonical values
// Owns:     the one form a value has in memory, on disk and on the wire, so that a run reads the same before and after a resume.
// Does not: throw, change its input, or copy what is canonical already.
// V1. toCanonical(toCanonical(x)) is toCanonical(x), by reference.
// V2. JSON.parse(JSON.stringify(v)) equals v for every canonical v.
// V3. What cannot be kept without losing meaning is refused with its path; what JSON would quietly change is changed here, once.
import { cleanText } from './clean-text.ts';
import { countBytes } from './count-bytes.ts';
import type { Json, JsonObject } from './json.ts';
import { isKnownCanonical } from './known-canonical.ts';
import { setOwn } from './json.ts';
import { childPath } from './json-path.ts';

/** Limits of a canonical value. */
export interface CanonicalLimits {
  /** Containers inside containers. @default 64 */
  readonly maxDepth?: number;
  /** UTF-8 bytes of the JSON text. @default 1_000_000 */
  readonly maxBytes?: number;
}

/** The canonical value, or the path of the problem and the problem. */
export type CanonicalResult =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly path: string; readonly problem: string; readonly isTooLarge?: true };

const dropped: unique symbol = Symbol('dropped');
const refused: unique symbol = Symbol('refused');
type Converted = Json | typeof dropped | typeof refused;

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

function walkThrough(value: unknown, walk: Walk): Converted {
  try {
    return convert(value, walk);
  } catch (error) {
    return refuse(walk, `could not be read: ${describeThrown(error)}`);
  }
}

const notCanonical = -1;

// Finds the getter of a field without allocating a descriptor. Holds: every engine has this method, and it accepts any object.
const { __lookupGetter__: lookUpGetter } = Object.prototype as unknown as { readonly __lookupGetter__: (key: string) => unknown };

const cleanKeys = new Set<string>();
const mostCleanKeys = 1000;

// A cache, because the same field names occur again and again.
function isCleanKey(key: string): boolean {
  if (cleanKeys.has(key)) return true;
  if (cleanText(key) !== key) return false;
  if (cleanKeys.size < mostCleanKeys) cleanKeys.add(key);
  return true;
}

function measureArray(source: readonly unknown[], depth: number, bytes: number): number {
  if (Object.getPrototypeOf(source) !== Array.prototype || Object.keys(source).length !== source.length) return notCanonical;
  let size = 3;
  for (let index = 0; index < source.length; index += 1) {
    const inner = measure(source[index], depth, bytes - size);
    if (inner === notCanonical) return notCanonical;
    size += inner;
  }
  return size;
}

function measureFields(source: Fields, depth: number, bytes: number): number {
  if (Object.getPrototypeOf(source) !== Object.prototype || Object.getOwnPropertySymbols(source).length > 0) return notCanonical;
  let size = 3;
  // Not with Object.keys(): engines read the fields of a for…in loop without looking each of them up.
  for (const key in source) {
    if (!Object.hasOwn(source, key)) continue;
    if (lookUpGetter.call(source, key) !== undefined || !isCleanKey(key)) return notCanonical;
    size += 6 * key.length + 3;
    const inner = measure(source[key], depth, bytes - size);
    if (inner === notCanonical) return notCanonical;
    size += inner;
  }
  return size;
}

/**
 * Returns an upper bound for the JSON bytes of a value that is already canonical and certainly within the limits. Most values are, and
 * this costs a fraction of a walk that can also convert.
 */
function measure(value: unknown, depth: number, bytes: number): number {
  if (bytes < 0) return notCanonical;
  switch (typeof value) {
    case 'string':
      return cleanText(value) === value ? 6 * value.length + 3 : notCanonical;
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? 26 : notCanonical;
    case 'boolean':
      return 6;
    case 'object':
      if (value === null) return 5;
      if (depth === 0 || ArrayBuffer.isView(value) || typeof Reflect.get(value, 'toJSON') === 'function') return notCanonical;
      return Array.isArray(value) ? measureArray(value, depth - 1, bytes) : measureFields(value as Fields, depth - 1, bytes);
    default:
      return notCanonical;
  }
}

function isCanonical(value: unknown, maxDepth: number, maxBytes: number): value is Json {
  try {
    const size = measure(value, maxDepth, maxBytes);
    return size !== notCanonical && size <= maxBytes;
  } catch {
    return false;
  }
}

const measureJson = (value: Json): number => countBytes(JSON.stringify(value));

const createWalk = ({ maxDepth, maxBytes }: Required<CanonicalLimits>): Walk => ({
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

// Measuring has an end too: a value may be almost endless.
const mostMeasured = { bytes: 100, values: 500_000 };

function describeSize(value: unknown, { maxDepth, maxBytes }: Required<CanonicalLimits>): string {
  const whole = walkThrough(value, {
    ...createWalk({ maxDepth, maxBytes: maxBytes * mostMeasured.bytes }),
    valuesLeft: mostMeasured.values,
  });
  const isMeasured = whole !== refused && whole !== dropped;
  const size = isMeasured ? String(measureJson(whole)) : `more than ${maxBytes}`;
  return `takes ${size} bytes as JSON, and at most ${maxBytes} can be stored`;
}

/** Limits of a value, unless a caller sets others. */
export const mostCanonicalBytes = 1_000_000;
const mostCanonicalDepth = 64;

/** Brings a value into the form that JSON keeps; returns the very same value when it has that form already. */
export function toCanonical(
  value: unknown,
  { maxDepth = mostCanonicalDepth, maxBytes = mostCanonicalBytes }: CanonicalLimits = {},
): CanonicalResult {
  if (maxDepth >= mostCanonicalDepth && maxBytes >= mostCanonicalBytes && isKnownCanonical(value)) return { ok: true, value };
  if (isCanonical(value, maxDepth, maxBytes)) return { ok: true, value };
  const limits = { maxDepth, maxBytes };
  const walk = createWalk(limits);
  const converted = walkThrough(value, walk);
  if (converted === refused && !walk.isTooLarge) return { ok: false, path: walk.trail.reduce(childPath, ''), problem: walk.problem };
  const canonical = converted === dropped ? null : converted;
  if (canonical !== refused && (walk.atMost <= maxBytes || measureJson(canonical) <= maxBytes)) return { ok: true, value: canonical };
  return { ok: false, path: '', problem: describeSize(value, limits), isTooLarge: true };
}
