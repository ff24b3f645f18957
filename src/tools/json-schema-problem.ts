// Looks through a JSON Schema when a tool is defined, so that a schema we could not check to the letter is refused by name
// instead of being half checked later.
import type { Json, JsonObject } from '../lib/index.ts';
import { childPath, isList, isRecord } from '../lib/index.ts';
import { clipText } from './clip-text.ts';
import { resolveRef, toPattern, typeChecks } from './validate-json.ts';

/** Keywords that would change what is valid, and that the validator does not know, with what to write in their place. */
const refusedKeywords: ReadonlyMap<string, string> = new Map(
  Object.entries({
    unevaluatedProperties: 'use additionalProperties, in a schema that names all fields',
    unevaluatedItems: 'use items, beside prefixItems',
    additionalItems: 'use prefixItems for the first items, and items for the others',
    $dynamicRef: 'use $ref',
    $recursiveRef: 'use $ref',
    // Of OpenAPI 3.0, and common enough to be meant.
    nullable: 'list "null" among the types',
  }),
);

/** Keywords that only describe: of the standard, of OpenAPI, of Gemini and of editors. */
const describingKeywords: readonly string[] = [
  ...[
    'title',
    'description',
    'default',
    'examples',
    'format',
    'deprecated',
    'readOnly',
    'writeOnly',
    '$comment',
    '$schema',
    '$id',
    '$anchor',
    '$dynamicAnchor',
    '$recursiveAnchor',
    '$vocabulary',
  ],
  ...['contentEncoding', 'contentMediaType', 'contentSchema', 'example', 'externalDocs', 'discriminator', 'xml', 'propertyOrdering'],
  ...['enumNames', 'enumDescriptions', 'markdownDescription'],
];

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

const isSchemaMap = (given: Json): boolean => isRecord(given) && Object.values(given).every(isSchema);
const isNames = (given: Json): boolean => isList(given) && given.every((name) => typeof name === 'string');
const isText = (given: Json): boolean => typeof given === 'string';

function findPatternsProblem(given: Json): Problem {
  if (!isRecord(given) || !isSchemaMap(given)) return 'must be an object of schemas';
  const wrong = Object.keys(given).find((pattern) => findPatternProblem(pattern) !== undefined);
  return wrong === undefined ? undefined : `has ${JSON.stringify(wrong)}, which is not a valid regular expression`;
}

// What looks at the same value as the schema around it, and what looks at a part of it.
const sameValueLists = ['anyOf', 'oneOf', 'allOf'];
const sameValueMaps = ['dependentSchemas', 'dependencies'];
const sameValueSingles = ['not', 'if', 'then', 'else'];
const schemaLists = [...sameValueLists, 'prefixItems'];
const schemaMaps = [...sameValueMaps, 'properties', 'patternProperties', '$defs', 'definitions'];
const schemaSingles = [...sameValueSingles, 'items', 'additionalProperties', 'propertyNames', 'contains'];
const counts = ['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties', 'minContains', 'maxContains'];
const numbers = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];
const forEach = (keywords: readonly string[], check: ValueCheck): readonly (readonly [string, ValueCheck])[] =>
  keywords.map((keyword) => [keyword, check] as const);

const valueChecks: ReadonlyMap<string, ValueCheck> = new Map<string, ValueCheck>([
  ['type', typeNames],
  ['const', () => undefined],
  ['enum', unless(isList, 'a list')],
  ['required', unless(isNames, 'a list of names')],
  ['multipleOf', unless((given) => typeof given === 'number' && given > 0, 'a number above 0')],
  ...forEach(schemaSingles, unless(isSchema, 'a schema')),
  ['items', unless(isSchema, 'one schema; for a list of them, use prefixItems')],
  ['uniqueItems', unless((given) => typeof given === 'boolean', 'true or false')],
  ['pattern', findPatternProblem],
  ['$ref', findRefProblem],
  ...forEach(schemaMaps, unless(isSchemaMap, 'an object of schemas')),
  ['patternProperties', findPatternsProblem],
  ['dependentRequired', unless((given) => isRecord(given) && Object.values(given).every(isNames), 'an object of lists of names')],
  [
    'dependencies',
    unless(
      (given) => isRecord(given) && Object.values(given).every((needed) => isNames(needed) || isSchema(needed)),
      'an object of schemas and lists of names',
    ),
  ],
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

const describingChecks: ReadonlyMap<string, ValueCheck> = new Map([
  ...forEach(describingKeywords, () => undefined),
  ...forEach(['title', 'description', 'format', '$comment'], unless(isText, 'text')),
]);

/** True for the name of a keyword, known or refused, and for a note that begins with x-. */
export const isKeyword = (name: string): boolean =>
  valueChecks.has(name) || describingChecks.has(name) || refusedKeywords.has(name) || name.startsWith('x-');

const objectKeywords: ReadonlySet<string> = new Set([
  ...['type', 'const', 'enum', '$ref', 'properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames'],
  ...['minProperties', 'maxProperties', 'dependentRequired', ...sameValueLists, ...sameValueMaps, ...sameValueSingles],
]);

/** True for a keyword that can say something about an object. */
export const isObjectKeyword = (name: string): boolean => objectKeywords.has(name);

/** Settings of findJsonSchemaProblem(). */
export interface SchemaRules {
  /** Passes over keywords that nobody knows, as the standard says. @default false: they are refused, as a mistake */
  readonly ignoresUnknown?: boolean;
}

interface Look extends SchemaRules {
  readonly root: JsonObject;
}

function findKeywordProblem(keyword: string, given: Json, { root, ignoresUnknown = false }: Look): Problem {
  const inPlace = refusedKeywords.get(keyword);
  if (inPlace !== undefined) return `is not supported: ${inPlace}`;
  if (!ignoresUnknown && !isKeyword(keyword))
    return 'is not a keyword of JSON Schema: fields go under "properties", and a note of your own begins with "x-"';
  return (valueChecks.get(keyword) ?? describingChecks.get(keyword))?.(given, root);
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
    if (schemaSingles.includes(keyword)) return [{ path: at, schema: given }];
    const isInside = (isList(given) && schemaLists.includes(keyword)) || (isRecord(given) && schemaMaps.includes(keyword));
    if (!isInside) return [];
    return Object.entries(given).map(([key, inner]) => ({ path: childPath(at, isList(given) ? Number(key) : key), schema: inner }));
  });
}

const listValues = (given: Json | undefined): readonly Json[] => (isRecord(given) ? Object.values<Json>(given) : []);

// The schemas that look at the same value as this one: a circle of them would never end.
function sameValueSchemas(schema: Json | undefined, root: JsonObject): readonly Json[] {
  if (!isRecord(schema)) return [];
  const { $ref: ref } = schema;
  const target = typeof ref === 'string' ? resolveRef(root, ref) : undefined;
  return [
    ...sameValueLists.flatMap((keyword) => schema[keyword] ?? []),
    ...sameValueMaps.flatMap((keyword) => listValues(schema[keyword])),
    ...[target, ...sameValueSingles.map((keyword) => schema[keyword])].filter((inner) => inner !== undefined),
  ];
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

function findSchemaProblem({ path, schema }: Found, look: Look): Problem {
  if (!isRecord(schema)) return undefined;
  for (const [keyword, given] of Object.entries(schema)) {
    const problem = findKeywordProblem(keyword, given, look);
    if (problem !== undefined) return `${clipText(childPath(path, keyword), 200)} ${problem}`;
  }
  return isCircular(schema, look.root) ? `${path === '' ? 'it' : path} refers to itself` : undefined;
}

/** Describes why a schema cannot be checked to the letter, with the place; undefined if it can. */
export function findJsonSchemaProblem(root: JsonObject, rules: SchemaRules = {}): string | undefined {
  const waiting: Found[] = [{ path: '', schema: root }];
  for (let found = waiting.pop(); found !== undefined; found = waiting.pop()) {
    const problem = findSchemaProblem(found, { root, ...rules });
    if (problem !== undefined) return problem;
    waiting.push(...innerSchemas(found));
  }
  return undefined;
}
