import type { Json, JsonObject } from './json.ts';

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function stableField(value: JsonObject, key: string): string {
  // Holds: the key was listed by Object.keys of this very object.
  return `${JSON.stringify(key)}:${stableStringify(value[key] as Json)}`;
}

/** JSON text that is the same for equal values whatever the order of their keys; for digests. */
export function stableStringify(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(stableStringify).join(',')}]`;
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => stableField(value, key)).join(',')}}`;
}
