// Reads data from outside, field by field; whatever is not as it must be is a DamagedDataError with its path.
// Only own fields count, so a field that is named like a method of Object is not found by accident.
// An optional field that is null counts as missing.
import { toCanonical } from './canonical.ts';
import { DamagedDataError } from './damaged-data-error.ts';
import type { Json, JsonObject } from './json.ts';
import { isRecord, setOwn } from './json.ts';
import { childPath } from './quote-text.ts';
import { quoteText } from './quote-text.ts';

/** Reads one value found at `path`. */
export type ReadValue<Value> = (value: unknown, path: string) => Value;

// Values were bounded when they were made; here only the stack needs guarding.
const outsideLimits = { maxDepth: 512, maxBytes: Number.POSITIVE_INFINITY };

function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function mismatch(expected: string, value: unknown, path: string): DamagedDataError {
  return new DamagedDataError(path, `expected ${expected}, found ${describe(value)}`);
}

/** Reads a string. */
export function readString(value: unknown, path: string): string {
  if (typeof value !== 'string') throw mismatch('a string', value, path);
  return value;
}

function readNumber(value: unknown, path: string): number {
  if (typeof value !== 'number') throw mismatch('a number', value, path);
  if (!Number.isFinite(value)) throw new DamagedDataError(path, `expected a finite number, found ${String(value)}`);
  return value;
}

/** Reads a finite number of 0 or more. */
export function readAmount(value: unknown, path: string): number {
  const amount = readNumber(value, path);
  if (amount < 0) throw new DamagedDataError(path, `expected a number of 0 or more, found ${amount}`);
  return amount;
}

/** The latest time that a Date can hold, in milliseconds since the epoch; negative, the earliest. */
export const latestTime = 8.64e15;

/** Reads a time in milliseconds since the epoch. */
export function readTime(value: unknown, path: string): number {
  const time = readNumber(value, path);
  if (Math.abs(time) > latestTime) throw new DamagedDataError(path, `expected a time in milliseconds since 1970, found ${time}`);
  return time;
}

const isFiniteNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

const isTime = (value: unknown): value is number => typeof value === 'number' && Math.abs(value) <= latestTime;

function readBoolean(value: unknown, path: string): boolean {
  if (typeof value !== 'boolean') throw mismatch('true or false', value, path);
  return value;
}

function createChoiceError(values: readonly string[], value: unknown, path: string): DamagedDataError {
  const words = typeof value === 'string' ? quoteText(value) : describe(value);
  return new DamagedDataError(path, `expected one of ${values.map((name) => JSON.stringify(name)).join(', ')}, found ${words}`);
}

/** Reads any JSON value. */
export function readJson(value: unknown, path: string): Json {
  if (value === undefined) throw mismatch('a JSON value', value, path);
  const result = toCanonical(value, outsideLimits);
  if (result.ok) return result.value;
  throw new DamagedDataError(path, `expected a JSON value, but ${result.path === '' ? 'it' : result.path} ${result.problem}`);
}

/** Reads a JSON object. */
export function readJsonObject(value: unknown, path: string): JsonObject {
  const json = isRecord(value) ? readJson(value, path) : undefined;
  if (isRecord(json)) return json;
  throw mismatch('an object', value, path);
}

/** Reads a list, each item by `read`. */
export function readArray<Item>(value: unknown, path: string, read: ReadValue<Item>): readonly Item[] {
  if (!Array.isArray(value)) throw mismatch('an array', value, path);
  const items: Item[] = [];
  // By index, so that a hole counts as a missing item.
  for (let index = 0; index < value.length; index += 1) items.push(read(value[index], childPath(path, index)));
  return items;
}

/** Typed access to the fields of an object from outside. */
export class ObjectReader {
  /** Place of the object in the data. */
  readonly path: string;
  /** The object itself, unread. */
  readonly raw: Readonly<Record<string, unknown>>;

  constructor(raw: Readonly<Record<string, unknown>>, path: string) {
    this.raw = raw;
    this.path = path;
  }

  has(key: string): boolean {
    return this.#field(key) !== undefined;
  }

  /** Reads a field with a reader of its own, such as a class's fromJSON. */
  value<Value>(key: string, read: ReadValue<Value>): Value {
    return read(this.#field(key), this.#pathTo(key));
  }

  optionalValue<Value>(key: string, read: ReadValue<Value>): Value | undefined {
    const found = this.#field(key);
    return found === undefined || found === null ? undefined : read(found, this.#pathTo(key));
  }

  // Valid fields are returned at once; the path is built only for an error.

  string(key: string): string {
    const found = this.#field(key);
    return typeof found === 'string' ? found : readString(found, this.#pathTo(key));
  }

  optionalString(key: string): string | undefined {
    const found = this.#field(key);
    if (typeof found === 'string') return found;
    return found === undefined || found === null ? undefined : readString(found, this.#pathTo(key));
  }

  number(key: string): number {
    const found = this.#field(key);
    return isFiniteNumber(found) ? found : readNumber(found, this.#pathTo(key));
  }

  optionalNumber(key: string): number | undefined {
    const found = this.#field(key);
    if (isFiniteNumber(found)) return found;
    return found === undefined || found === null ? undefined : readNumber(found, this.#pathTo(key));
  }

  /** Reads a time in milliseconds since the epoch. */
  time(key: string): number {
    const found = this.#field(key);
    return isTime(found) ? found : readTime(found, this.#pathTo(key));
  }

  optionalTime(key: string): number | undefined {
    const found = this.#field(key);
    if (isTime(found)) return found;
    return found === undefined || found === null ? undefined : readTime(found, this.#pathTo(key));
  }

  boolean(key: string): boolean {
    const found = this.#field(key);
    return typeof found === 'boolean' ? found : readBoolean(found, this.#pathTo(key));
  }

  optionalBoolean(key: string): boolean | undefined {
    const found = this.#field(key);
    if (typeof found === 'boolean') return found;
    return found === undefined || found === null ? undefined : readBoolean(found, this.#pathTo(key));
  }

  oneOf<Value extends string>(key: string, values: readonly Value[]): Value {
    const found = this.#field(key);
    for (const value of values) if (value === found) return value;
    throw createChoiceError(values, found, this.#pathTo(key));
  }

  optionalOneOf<Value extends string>(key: string, values: readonly Value[]): Value | undefined {
    const found = this.#field(key);
    return found === undefined || found === null ? undefined : this.oneOf(key, values);
  }

  array<Item>(key: string, read: ReadValue<Item>): readonly Item[] {
    return readArray(this.#field(key), this.#pathTo(key), read);
  }

  optionalArray<Item>(key: string, read: ReadValue<Item>): readonly Item[] | undefined {
    const found = this.#field(key);
    return found === undefined || found === null ? undefined : readArray(found, this.#pathTo(key), read);
  }

  object(key: string): ObjectReader {
    return this.value(key, readObject);
  }

  optionalObject(key: string): ObjectReader | undefined {
    return this.optionalValue(key, readObject);
  }

  /** Reads any JSON value; here null is a value. */
  json(key: string): Json {
    return this.value(key, readJson);
  }

  optionalJson(key: string): Json | undefined {
    return this.has(key) ? this.json(key) : undefined;
  }

  jsonObject(key: string): JsonObject {
    return this.value(key, readJsonObject);
  }

  optionalJsonObject(key: string): JsonObject | undefined {
    return this.optionalValue(key, readJsonObject);
  }

  /** Returns the fields that are not among the known ones, to be kept and written again. */
  rest(knownKeys: readonly string[]): JsonObject {
    const rest: Record<string, Json> = {};
    for (const [key, value] of Object.entries(this.raw)) {
      if (!knownKeys.includes(key) && value !== undefined) setOwn(rest, key, readJson(value, childPath(this.path, key)));
    }
    return rest;
  }

  #pathTo(key: string): string {
    return childPath(this.path, key);
  }

  #field(key: string): unknown {
    return Object.hasOwn(this.raw, key) ? this.raw[key] : undefined;
  }
}

/** Opens an object from outside for reading; anything but an object is refused. */
export function readObject(value: unknown, path = ''): ObjectReader {
  if (!isRecord(value)) throw mismatch('an object', value, path);
  return new ObjectReader(value, path);
}
