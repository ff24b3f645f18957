// Looks through a JSON Schema when a tool is defined, so that a schema we could not check to the letter is refused by name
// instead of being half checked later.
import type { Json, JsonObject } from '../lib/index.ts';
import { childPath, isList } from '../lib/index.ts';
import { isObject, resolveRef, toPattern, typeChecks, unknownKeywords } from './json-schema-keywords.ts';

type Problem = string | undefined;

/** Says what is wrong with a keyword's value. */
type ValueCheck = (given: Json, root: JsonObject) => Problem;

const isCount = (given: Json): boolean => typeof given === 'number' && Number.isInteger(given) && given >= 0;
const isSchema = (given: Json | undefined): given is JsonObject | boolean => typeof given === 'boolean' || isObject(given);
const unless =
  (isRight: (given: Json) => boolean, wanted: string): ValueCheck =>
  (given) =>
    isRight(given) ? undefined : `must be ${wanted}`;

const count = unless(isCount, 'a whole number from 0 on');
const number = unless((given) => typeof given === 'number', 'a number');
const schemas = unless((given) => isList(given) && given.length > 0 && given.every(isSchema), 'a list of schemas');
const schemaMap = unless((given) => isObject(given) && Object.values(given).every(isSchema), 'an object of schemas');
const typeNames = unless(
  (given) => (isList(given) ? given : [given]).every((name) => typeof name === 'string' && typeChecks.has(name)),
  `one or several of ${[...typeChecks.keys()].join(', ')}`,
);

function patternProblem(given: Json): Problem {
  if (typeof given !== 'string') return 'must be text';
  try {
    toPattern(given);
    return undefined;
  } catch {
    return 'is not a valid regular expression';
  }
}

function refProblem(given: Json, root: JsonObject): Problem {
  if (typeof given === 'string' && isSchema(resolveRef(root, given))) return undefined;
  return `${JSON.stringify(given)} points to nothing inside this schema`;
}

const valueChecks: ReadonlyMap<string, ValueCheck> = new Map<string, ValueCheck>([
  ['type', typeNames],
  ['enum', unless(isList, 'a list')],
  ['required', unless((given) => isList(given) && given.every((name) => typeof name === 'string'), 'a list of names')],
  ['properties', schemaMap],
  ['$defs', schemaMap],
  ['definitions', schemaMap],
  ['additionalProperties', unless(isSchema, 'a schema')],
  ['items', unless(isSchema, 'one schema for all items')],
  ['anyOf', schemas],
  ['oneOf', schemas],
  ['allOf', schemas],
  ['minItems', count],
  ['maxItems', count],
  ['minLength', count],
  ['maxLength', count],
  ['minimum', number],
  ['maximum', number],
  ['exclusiveMinimum', number],
  ['exclusiveMaximum', number],
  ['pattern', patternProblem],
  ['$ref', refProblem],
]);

function keywordProblem(keyword: string, given: Json, root: JsonObject): Problem {
  if (unknownKeywords.has(keyword)) return 'is not supported';
  return valueChecks.get(keyword)?.(given, root);
}

interface Found {
  readonly path: string;
  readonly schema: Json;
}

// The schemas directly inside this one, by keyword.
function innerSchemas({ path, schema }: Found): readonly Found[] {
  if (!isObject(schema)) return [];
  const below = (keyword: string, key?: string | number): string => {
    const at = childPath(path, keyword);
    return key === undefined ? at : childPath(at, key);
  };
  const lists = ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => {
    const list = schema[keyword];
    return isList(list) ? list.map((inner, index) => ({ path: below(keyword, index), schema: inner })) : [];
  });
  const maps = ['properties', '$defs', 'definitions'].flatMap((keyword) => {
    const map = schema[keyword];
    return isObject(map) ? Object.entries(map).map(([key, inner]) => ({ path: below(keyword, key), schema: inner })) : [];
  });
  const single = ['items', 'additionalProperties'].flatMap((keyword) => {
    const inner = schema[keyword];
    return inner === undefined ? [] : [{ path: below(keyword), schema: inner }];
  });
  return [...lists, ...maps, ...single];
}

// The schemas that look at the same value as this one: a circle of them would never end.
function sameValueSchemas(schema: Json | undefined, root: JsonObject): readonly Json[] {
  if (!isObject(schema)) return [];
  const { $ref: ref, anyOf, oneOf, allOf } = schema;
  const target = typeof ref === 'string' ? resolveRef(root, ref) : undefined;
  return [...(target === undefined ? [] : [target]), ...[anyOf, oneOf, allOf].flatMap((list) => (isList(list) ? list : []))];
}

function goesInCircles(start: Json, root: JsonObject): boolean {
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

function schemaProblem({ path, schema }: Found, root: JsonObject): Problem {
  if (!isObject(schema)) return undefined;
  for (const [keyword, given] of Object.entries(schema)) {
    const problem = keywordProblem(keyword, given, root);
    if (problem !== undefined) return `${childPath(path, keyword)} ${problem}`;
  }
  return goesInCircles(schema, root) ? `${path === '' ? 'it' : path} refers to itself` : undefined;
}

/** Why a schema cannot be checked to the letter, with the place; undefined where it can. */
export function jsonSchemaProblem(root: JsonObject): string | undefined {
  const waiting: Found[] = [{ path: '', schema: root }];
  for (let found = waiting.pop(); found !== undefined; found = waiting.pop()) {
    const problem = schemaProblem(found, root);
    if (problem !== undefined) return problem;
    waiting.push(...innerSchemas(found));
  }
  return undefined;
}
