import type { Json } from './json.ts';
import { isPlainObject, setOwn } from './json.ts';

function copied(value: Json, finish: <Item>(item: Item) => Item): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return finish((value as readonly Json[]).map((item) => copied(item, finish)));
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(value)) setOwn(copy, key, copied((value as Readonly<Record<string, Json>>)[key] ?? null, finish));
  return finish(copy);
}

const asItIs = <Item>(item: Item): Item => item;
const frozen = <Item>(item: Item): Item => Object.freeze(item);

/** A copy of JSON data: whoever gets it may do with it as they like. */
export function jsonCopy<Value>(value: Value): Value {
  // Holds: JSON data is copied to the same data.
  return copied(value as Json, asItIs) as Value;
}

/** A copy of JSON data that nobody can change, for hands that might. */
export function frozenCopy<Value>(value: Value): Value {
  return copied(value as Json, frozen) as Value;
}

/** Freezes plain data all the way down. What is frozen already is taken to be so below, too. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) {
    for (const item of value) deepFreeze(item);
    return Object.freeze(value);
  }
  if (!isPlainObject(value)) return value;
  for (const key of Object.keys(value)) deepFreeze((value as Readonly<Record<string, unknown>>)[key]);
  return Object.freeze(value);
}

/** Plain data as one's own: copied and frozen all the way down. What is frozen already, or is no plain data, is taken as it is. */
export function ownFrozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) return Object.freeze((value as readonly unknown[]).map(ownFrozen)) as Value;
  if (!isPlainObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) setOwn(copy, key, ownFrozen((value as Readonly<Record<string, unknown>>)[key]));
  return Object.freeze(copy) as Value;
}
