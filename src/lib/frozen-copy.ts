import type { Json } from './json.ts';
import { setOwn } from './json.ts';

/** A copy of JSON data that nobody can change, for hands that might. */
export function frozenCopy<Value>(value: Value): Value {
  // Holds: JSON data is copied to the same data.
  return copied(value as Json) as Value;
}

function copied(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze((value as readonly Json[]).map(copied));
  const copy: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) setOwn(copy, key, copied(item));
  return Object.freeze(copy);
}
