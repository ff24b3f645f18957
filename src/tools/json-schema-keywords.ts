import type { Json, JsonObject } from '../lib/index.ts';
import { isList, isRecord } from '../lib/index.ts';

// What our validator knows of JSON Schema (drafts 07 and 2020-12): type (one name or several), enum, const, properties, required,
// additionalProperties, items (one schema), minItems, maxItems, minLength, maxLength, pattern, minimum, maximum, exclusiveMinimum,
// exclusiveMaximum, anyOf, oneOf, allOf, and $ref to a place inside the same schema. Keywords that only describe (title, default,
// format …) and those that nobody knows are passed over; the rest of the standard is refused by name when a tool is defined.

/** Keywords of the standard that would change what is valid, and that the validator does not know. */
export const unknownKeywords: ReadonlySet<string> = new Set([
  'not',
  'if',
  'then',
  'else',
  'multipleOf',
  'uniqueItems',
  'contains',
  'minContains',
  'maxContains',
  'prefixItems',
  'additionalItems',
  'unevaluatedItems',
  'unevaluatedProperties',
  'patternProperties',
  'propertyNames',
  'minProperties',
  'maxProperties',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  '$dynamicRef',
  '$recursiveRef',
  // Of OpenAPI 3.0, and common enough to be meant.
  'nullable',
]);

/** The type names of JSON Schema, and what they let in. */
export const typeChecks: ReadonlyMap<string, (value: Json) => boolean> = new Map<string, (value: Json) => boolean>([
  ['object', isRecord],
  ['array', Array.isArray],
  ['string', (value) => typeof value === 'string'],
  ['number', (value) => typeof value === 'number'],
  ['integer', (value) => Number.isInteger(value)],
  ['boolean', (value) => typeof value === 'boolean'],
  ['null', (value) => value === null],
]);

/** A JSON value that is an object. */
export function isObject(value: Json | undefined): value is JsonObject {
  return isRecord(value);
}

/** A pattern as the schema means it; some are only valid without the `u` flag. Throws on one that is valid in neither way. */
export function toPattern(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    return new RegExp(source);
  }
}

/** What a local `$ref` points to; undefined where it points to nothing. */
export function resolveRef(root: JsonObject, ref: string): Json | undefined {
  if (ref === '#') return root;
  if (!ref.startsWith('#/')) return undefined;
  const keys = ref.slice(2).split('/').map(fromPointer);
  return keys.reduce<Json | undefined>((found, key) => {
    if (isList(found)) return /^\d+$/.test(key) ? found[Number(key)] : undefined;
    return isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }, root);
}

function fromPointer(segment: string): string {
  const plain = segment.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}
