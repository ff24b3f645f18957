// Reads foreign JSON, in which a missing field is normal.
import type { Json, JsonObject } from '../../../src/lib/index.ts';
import { isRecord, setOwn, toCanonical } from '../../../src/lib/index.ts';

/** An object whose fields are to be looked at. */
export type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object; none if it is not an object. */
export function toFields(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** The items of a list; none if it is not a list. */
export function toList(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(toFields) : [];
}

/** A text, or '' if it is none. */
export function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A text, or nothing if it is none or empty. */
export function optionalText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Any value as JSON. */
export function toJson(value: unknown): Json {
  const canonical = toCanonical(value, { maxBytes: Number.POSITIVE_INFINITY, maxDepth: 512 });
  return canonical.ok ? canonical.value : null;
}

/** An object as JSON. */
export function toJsonObject(value: unknown): JsonObject {
  const json = toJson(toFields(value));
  return isRecord(json) ? json : {};
}

/** JSON text as its value; other text as it is. */
export function parseOrText(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

const camel = (key: string): string => key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** The same options as the AI SDK spells them: in camel case, and without those that are null. */
export function camelCased(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(camelCased);
  if (!isRecord(value)) return value;
  const copy: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) if (item !== null) setOwn(copy, camel(key), camelCased(item));
  return copy;
}
