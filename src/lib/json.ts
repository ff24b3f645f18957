/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** The type of a value once it has been through its stored form: a Date is text, what JSON cannot hold is gone. */
export type Jsonify<Value> = Value extends string | number | boolean | null
  ? Value
  : Value extends { toJSON(): infer Written }
    ? Written
    : Value extends bigint
      ? string
      : Value extends undefined
        ? null
        : Value extends readonly (infer Item)[]
          ? readonly Jsonify<Item>[]
          : Value extends (...args: never) => unknown
            ? never
            : Value extends object
              ? {
                  readonly [Key in keyof Value as Value[Key] extends (...args: never) => unknown ? never : Key]: Jsonify<
                    Exclude<Value[Key], undefined>
                  >;
                }
              : Json;

/** The fields that are there: JSON has no undefined, so one that is absent is not written. */
export function present(fields: Readonly<Record<string, unknown>>): JsonObject {
  const there: Record<string, unknown> = {};
  // In a loop, because this runs several times for every step that is stored.
  for (const key of Object.keys(fields)) if (fields[key] !== undefined) setOwn(there, key, fields[key]);
  // Holds as far as the fields are JSON, which is their writer's to know.
  return there as JsonObject;
}

/** An object type whose fields that may be undefined are optional instead. */
type OmitUndefined<Fields> = {
  [Key in keyof Fields as undefined extends Fields[Key] ? never : Key]: Fields[Key];
} & { [Key in keyof Fields as undefined extends Fields[Key] ? Key : never]?: Exclude<Fields[Key], undefined> };

/** Copies an object without the fields that are undefined. */
export function omitUndefined<Fields extends Readonly<Record<string, unknown>>>(fields: Fields): OmitUndefined<Fields> {
  // Holds: `present` takes out exactly the fields that are undefined.
  return present(fields) as unknown as OmitUndefined<Fields>;
}

/** True for objects that are not arrays; their fields are still unknown. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for objects that are nothing but their fields: no Map, no instance of a class. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** True for a JSON value that is a list. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Parses JSON text; undefined if it is not JSON. */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads a field of anything; undefined if it has none, or if reading it throws. */
export function readField(value: unknown, key: PropertyKey): unknown {
  try {
    return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  } catch {
    return undefined;
  }
}

/** Sets an own field whatever its name; plain assignment of `__proto__` would change the prototype instead. */
export function setOwn<Value>(target: Record<string, Value>, key: string, value: Value): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

function itemsEqual(left: readonly unknown[], right: readonly unknown[]): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index += 1) if (!jsonEquals(left[index], right[index])) return false;
  return true;
}

/** True if both are the same JSON, whatever the order of their keys. Undefined equals only undefined. */
export function jsonEquals(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) return Array.isArray(right) && itemsEqual(left, right);
  if (!isRecord(left) || !isRecord(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  for (const key of keys) if (!Object.hasOwn(right, key) || !jsonEquals(left[key], right[key])) return false;
  return true;
}

/** Writes JSON data as text that is the same for equal values whatever the order of their keys; for digests. */
export function stableStringify(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(stableStringify).join(',')}]`;
  const fields = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${stableStringify(field)}`).join(',')}}`;
}
