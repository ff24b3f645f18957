// Looks through a JSON Schema when a tool is defined, so that a schema we could not check to the letter is refused by name
// instead of being half checked later.
import type { Json, JsonObject } from '../lib/index.ts';
import { childPath, isList, isRecord } from '../lib/index.ts';
import { resolveRef, toPattern, typeChecks } from './validate-json.ts';

/** Keywords of the standard that would change what is valid, and that the validator does not know. */
const unknownKeywords: ReadonlySet<string> = new Set([
  ...['not', 'if', 'then', 'else', 'multipleOf', 'contains', 'minContains', 'maxContains', 'prefixItems'],
  ...['additionalItems', 'unevaluatedItems', 'unevaluatedProperties', 'patternProperties', 'propertyNames'],
  ...['minProperties', 'maxProperties', 'dependencies', 'dependentRequired', 'dependentSchemas', '$dynamicRef', '$recursiveRef'],
  // Of OpenAPI 3.0, and common enough to be meant.
  'nullable',
]);

type Problem = string | undefined;

/** Describes the problem with a keyword's value. */
type ValueCheck = (given: Json, root: JsonObject) => Problem;

const isCount = (given: Json): boolean => typeof given === 'number' && Number.isInteger(given) && given >= 0;
const isSchema = (given: Json | undefined): given is JsonObject | boolean => typeof given === 'boolean' || isRecord(given);
const unless =
  (isRight: (given: Json) => boolean, wanted: string): ValueCheck =>
  (given) =>
    isRight(given) ? undefined : `must be ${wanted}`;

const typeNames = unless(
  (given) => (isList(given) ? given : [given]).every((name) => typeof name === 'string' && typeChecks.has(name)),
  `one or several of ${[...typeChecks.keys()].join(', ')}`,
);

function findPatternProblem(given: Json): Problem {
  if (typeof given !== 'string') return 'must be text';
  try {
    toPattern(given);
    return undefined;
  } catch {
    return 'is not a valid regular expression';
  }
}

function findRefProblem(given: Json, root: JsonObject): Problem {
  if (typeof given === 'string' && isSchema(resolveRef(root, given))) return undefined;
  return `${JSON.stringify(given)} points to nothing inside this schema`;
}

const schemaLists = ['anyOf', 'oneOf', 'allOf'];
const schemaMaps = ['properties', '$defs', 'definitions'];
const counts = ['minItems', 'maxItems', 'minLength', 'maxLength'];
const numbers = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];
const forEach = (keywords: readonly string[], check: ValueCheck): readonly (readonly [string, ValueCheck])[] =>
  keywords.map((keyword) => [keyword, check] as const);

const valueChecks: ReadonlyMap<string, ValueCheck> = new Map<string, ValueCheck>([
  ['type', typeNames],
  ['enum', unless(isList, 'a list')],
  ['required', unless((given) => isList(given) && given.every((name) => typeof name === 'string'), 'a list of names')],
  ['additionalProperties', unless(isSchema, 'a schema')],
  ['items', unless(isSchema, 'one schema for all items')],
  ['uniqueItems', unless((given) => typeof given === 'boolean', 'true or false')],
  ['pattern', findPatternProblem],
  ['$ref', findRefProblem],
  ...forEach(
    schemaMaps,
    unless((given) => isRecord(given) && Object.values(given).every(isSchema), 'an object of schemas'),
  ),
  ...forEach(
    schemaLists,
    unless((given) => isList(given) && given.length > 0 && given.every(isSchema), 'a list of schemas'),
  ),
  ...forEach(counts, unless(isCount, 'a whole number from 0 on')),
  ...forEach(
    numbers,
    unless((given) => typeof given === 'number', 'a number'),
  ),
]);

function findKeywordProblem(keyword: string, given: Json, root: JsonObject): Problem {
  if (unknownKeywords.has(keyword)) return 'is not supported';
  return valueChecks.get(keyword)?.(given, root);
}

interface Found {
  readonly path: string;
  readonly schema: Json;
}

// The schemas directly inside this one, by keyword.
function innerSchemas({ path, schema }: Found): readonly Found[] {
  if (!isRecord(schema)) return [];
  return Object.entries(schema).flatMap(([keyword, given]) => {
    const at = childPath(path, keyword);
    if (keyword === 'items' || keyword === 'additionalProperties') return [{ path: at, schema: given }];
    const isInside = (isList(given) && schemaLists.includes(keyword)) || (isRecord(given) && schemaMaps.includes(keyword));
    if (!isInside) return [];
    return Object.entries(given).map(([key, inner]) => ({ path: childPath(at, isList(given) ? Number(key) : key), schema: inner }));
  });
}

// The schemas that look at the same value as this one: a circle of them would never end.
function sameValueSchemas(schema: Json | undefined, root: JsonObject): readonly Json[] {
  if (!isRecord(schema)) return [];
  const { $ref: ref, anyOf, oneOf, allOf } = schema;
  const target = typeof ref === 'string' ? resolveRef(root, ref) : undefined;
  return [...(target === undefined ? [] : [target]), ...[anyOf, oneOf, allOf].flatMap((list) => (isList(list) ? list : []))];
}

function isCircular(start: Json, root: JsonObject): boolean {
  const seen = new Set<Json>();
  const waiting = [...sameValueSchemas(start, root)];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next === start) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    waiting.push(...sameValueSchemas(next, root));
  }
  return false;
}

function findSchemaProblem({ path, schema }: Found, root: JsonObject): Problem {
  if (!isRecord(schema)) return undefined;
  for (const [keyword, given] of Object.entries(schema)) {
    const problem = findKeywordProblem(keyword, given, root);
    if (problem !== undefined) return `${childPath(path, keyword)} ${problem}`;
  }
  return isCircular(schema, root) ? `${path === '' ? 'it' : path} refers to itself` : undefined;
}

/** Describes why a schema cannot be checked to the letter, with the place; undefined if it can. */
export function findJsonSchemaProblem(root: JsonObject): string | undefined {
  const waiting: Found[] = [{ path: '', schema: root }];
  for (let found = waiting.pop(); found !== undefined; found = waiting.pop()) {
    const problem = findSchemaProblem(found, root);
    if (problem !== undefined) return problem;
    waiting.push(...innerSchemas(found));
  }
  return undefined;
}
