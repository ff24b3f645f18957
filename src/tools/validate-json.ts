// Checks JSON values against the part of JSON Schema (2020-12, and what draft 07 shares with it) that docs/tools.md lists. Keywords that
// only describe (title, default, format …) are skipped; json-schema-problem.ts refuses the rest by name.
// Does not: look at `format`, fill in defaults, or change the value.
import type { Json, JsonObject } from '../lib/index.ts';
import { childPath, isList, isRecord, jsonEquals, stableStringify } from '../lib/index.ts';
import { clipText } from './clip-text.ts';
import type { SchemaIssue } from './schema-issue.ts';

/** The type names of JSON Schema, with their tests. */
export const typeChecks: ReadonlyMap<string, (value: Json) => boolean> = new Map(
  Object.entries<(value: Json) => boolean>({
    object: isRecord,
    array: Array.isArray,
    string: (value) => typeof value === 'string',
    number: (value) => typeof value === 'number',
    integer: (value) => Number.isInteger(value),
    boolean: (value) => typeof value === 'boolean',
    null: (value) => value === null,
  }),
);

/** Compiles a pattern; some are only valid without the `u` flag. Throws if it is valid in neither way. */
export function toPattern(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    return new RegExp(source);
  }
}

function decodePointerKey(segment: string): string {
  const plain = segment.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

/** Finds the target of a local `$ref`; undefined if there is none. */
export function resolveRef(root: JsonObject, ref: string): Json | undefined {
  if (ref === '#') return root;
  if (!ref.startsWith('#/')) return undefined;
  const keys = ref.slice(2).split('/').map(decodePointerKey);
  return keys.reduce<Json | undefined>((found, key) => {
    if (isList(found)) return /^\d+$/.test(key) ? found[Number(key)] : undefined;
    return isRecord(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }, root);
}

/** Describes why one value does not fit a keyword, without looking inside it. */
type Rule = (given: Json, value: Json) => string | undefined;

const show = (value: Json): string => clipText(JSON.stringify(value), 60);
const toList = (given: Json): readonly Json[] => (isList(given) ? given : [given]);
const isText = (value: Json): value is string => typeof value === 'string';

// Characters as people count them, not UTF-16 units.
const countCharacters = (value: Json): number | undefined =>
  isText(value) ? value.length - (value.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0) : undefined;
const readNumber = (value: Json): number | undefined => (typeof value === 'number' ? value : undefined);
const countItems = (value: Json): number | undefined => (isList(value) ? value.length : undefined);
const countFields = (value: Json): number | undefined => (isRecord(value) ? Object.keys(value).length : undefined);
const isAtLeast = (size: number, least: number): boolean => size >= least;
const isAtMost = (size: number, most: number): boolean => size <= most;
const isAbove = (size: number, least: number): boolean => size > least;
const isBelow = (size: number, most: number): boolean => size < most;
// Most decimal fractions are not exact in binary: 0.3 / 0.1 is not quite 3.
const isMultiple = (value: number, step: number): boolean => {
  const times = value / step;
  return Number.isFinite(times) && Math.abs(times - Math.round(times)) <= Math.abs(times) * 4 * Number.EPSILON;
};

function limit(
  measure: (value: Json) => number | undefined,
  isRight: (size: number, limit: number) => boolean,
  describe: (limit: number) => string,
): Rule {
  return (given, value) => {
    const size = measure(value);
    return typeof given !== 'number' || size === undefined || isRight(size, given) ? undefined : `must ${describe(given)}`;
  };
}

function findRepeated(items: readonly Json[]): string | undefined {
  const places = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const text = stableStringify(item);
    const first = places.get(text);
    if (first !== undefined) return `must not repeat items: [${index}] is the same as [${first}]`;
    places.set(text, index);
  }
  return undefined;
}

const rules: ReadonlyMap<string, Rule> = new Map(
  Object.entries<Rule>({
    type: (given, value) => {
      // Most schemas name one type.
      if (isText(given) && typeChecks.get(given)?.(value) === true) return undefined;
      const names = toList(given).filter(isText);
      if (names.some((name) => typeChecks.get(name)?.(value) === true)) return undefined;
      return `must be ${names.join(' or ')}, found ${value === null ? 'null' : isList(value) ? 'array' : typeof value}`;
    },
    enum: (given, value) => {
      const allowed = toList(given);
      return allowed.some((one) => jsonEquals(one, value)) ? undefined : `must be one of ${clipText(allowed.map(show).join(', '), 200)}`;
    },
    const: (given, value) => (jsonEquals(given, value) ? undefined : `must be ${show(given)}`),
    pattern: (given, value) =>
      !isText(given) || !isText(value) || toPattern(given).test(value) ? undefined : `must match the pattern ${given}`,
    minimum: limit(readNumber, isAtLeast, (least) => `be at least ${least}`),
    maximum: limit(readNumber, isAtMost, (most) => `be at most ${most}`),
    exclusiveMinimum: limit(readNumber, isAbove, (least) => `be more than ${least}`),
    exclusiveMaximum: limit(readNumber, isBelow, (most) => `be less than ${most}`),
    minLength: limit(countCharacters, isAtLeast, (least) => `have at least ${least} characters`),
    maxLength: limit(countCharacters, isAtMost, (most) => `have at most ${most} characters`),
    minItems: limit(countItems, isAtLeast, (least) => `have at least ${least} items`),
    maxItems: limit(countItems, isAtMost, (most) => `have at most ${most} items`),
    multipleOf: limit(readNumber, isMultiple, (step) => `be a multiple of ${step}`),
    minProperties: limit(countFields, isAtLeast, (least) => `have at least ${least} fields`),
    maxProperties: limit(countFields, isAtMost, (most) => `have at most ${most} fields`),
    uniqueItems: (given, value) => (given === true && isList(value) ? findRepeated(value) : undefined),
  }),
);

/** An issue with the keys that lead to it; a path is written only for those that are reported. */
interface Issue {
  readonly keys: readonly (string | number)[];
  readonly message: string;
}

type Issues = readonly Issue[];

interface Walk {
  readonly root: JsonObject;
  /** Schemas that may still be looked at: alternatives inside alternatives can be more than anyone waits for. */
  readonly budget: { left: number };
}

/** Checks what is inside a value, or the same value by other schemas. */
type InnerCheck = (given: Json, value: Json, walk: Walk & { readonly schema: JsonObject }) => Issues;

const mostSchemas = 200_000;
const noIssues: Issues = [];
const at = (key: string | number, issues: Issues): Issues =>
  issues.length === 0 ? issues : issues.map(({ keys, message }) => ({ keys: [key, ...keys], message }));
// Most checks find nothing, and then nothing is made.
const join = (left: Issues, right: Issues): Issues => (right.length === 0 ? left : left.length === 0 ? right : [...left, ...right]);
const issue = (message: string): Issue => ({ keys: [], message });

const checkEach = (given: Json, value: Json, walk: Walk): readonly Issues[] =>
  isList(given) ? given.map((inner) => checkSchema(inner, value, walk)) : [];

const isFit = (issues: Issues): boolean => issues.length === 0;

// Of several forms that do not fit, the one that nearly does is the most useful to report.
function reportClosest(results: readonly Issues[]): Issues {
  const [closest = noIssues] = [...results].sort((one, other) => one.length - other.length);
  return [issue(`fits none of the ${results.length} allowed forms`), ...closest];
}

function findMissing(required: Json, value: JsonObject, message: string): Issues {
  let issues = noIssues;
  for (const key of toList(required)) {
    if (isText(key) && !Object.hasOwn(value, key)) issues = join(issues, at(key, [issue(message)]));
  }
  return issues;
}

/** Checks what the presence of a field asks for: other fields, or a schema for the whole object. */
const checkDependents: InnerCheck = (given, value, walk) => {
  if (!isRecord(value) || !isRecord(given)) return noIssues;
  return Object.entries(given).flatMap(([key, needed]) => {
    if (!Object.hasOwn(value, key)) return noIssues;
    return isList(needed) ? findMissing(needed, value, `is required beside ${key}`) : checkSchema(needed, value, walk);
  });
};

/** Keys of an object that neither `properties` nor `patternProperties` speak of. */
function listExtraKeys(value: JsonObject, { properties, patternProperties }: JsonObject): readonly string[] {
  const named = isRecord(properties) ? properties : {};
  const patterns = isRecord(patternProperties) ? Object.keys(patternProperties).map(toPattern) : [];
  return Object.keys(value).filter((key) => !Object.hasOwn(named, key) && !patterns.some((pattern) => pattern.test(key)));
}

const readCount = (given: Json | undefined, otherwise: number): number => (typeof given === 'number' ? given : otherwise);

const innerChecks: ReadonlyMap<string, InnerCheck> = new Map(
  Object.entries<InnerCheck>({
    required: (given, value) => (isRecord(value) ? findMissing(given, value, 'is required') : noIssues),
    properties: (given, value, walk) => {
      let issues = noIssues;
      if (!isRecord(value) || !isRecord(given)) return issues;
      for (const key of Object.keys(given)) {
        if (Object.hasOwn(value, key)) issues = join(issues, at(key, checkSchema(given[key], value[key] ?? null, walk)));
      }
      return issues;
    },
    additionalProperties: (given, value, walk) => {
      if (!isRecord(value)) return noIssues;
      const extra = listExtraKeys(value, walk.schema);
      if (given !== false) return extra.flatMap((key) => at(key, checkSchema(given, value[key] ?? null, walk)));
      const { properties = {}, patternProperties = {} } = walk.schema;
      const patterns = Object.keys(patternProperties ?? {}).map((pattern) => `/${pattern}/`);
      const allowed = clipText([...Object.keys(properties ?? {}), ...patterns].join(', '), 200);
      return extra.flatMap((key) => at(key, [issue(`is not allowed (allowed: ${allowed === '' ? 'none' : allowed})`)]));
    },
    patternProperties: (given, value, walk) => {
      if (!isRecord(value) || !isRecord(given)) return noIssues;
      return Object.entries(given).flatMap(([source, inner]) => {
        const pattern = toPattern(source);
        const keys = Object.keys(value).filter((key) => pattern.test(key));
        return keys.flatMap((key) => at(key, checkSchema(inner, value[key] ?? null, walk)));
      });
    },
    propertyNames: (given, value, walk) =>
      (isRecord(value) ? Object.keys(value) : []).flatMap((key) =>
        at(
          key,
          checkSchema(given, key, walk).map(({ message }) => issue(`its name ${message}`)),
        ),
      ),
    dependentRequired: checkDependents,
    dependentSchemas: checkDependents,
    dependencies: checkDependents,
    prefixItems: (given, value, walk) =>
      isList(value) && isList(given)
        ? given.slice(0, value.length).flatMap((inner, index) => at(index, checkSchema(inner, value[index] ?? null, walk)))
        : noIssues,
    items: (given, value, walk) => {
      const { prefixItems } = walk.schema;
      const start = isList(prefixItems) ? prefixItems.length : 0;
      return isList(value)
        ? value.flatMap((item, index) => (index < start ? noIssues : at(index, checkSchema(given, item, walk))))
        : noIssues;
    },
    contains: (given, value, walk) => {
      if (!isList(value)) return noIssues;
      const count = value.filter((item) => isFit(checkSchema(given, item, walk))).length;
      const [least, most] = [readCount(walk.schema['minContains'], 1), readCount(walk.schema['maxContains'], Infinity)];
      if (count < least) return [issue(`must contain at least ${least} items of the form ${show(given)}, found ${count}`)];
      return count > most ? [issue(`must contain at most ${most} items of the form ${show(given)}, found ${count}`)] : noIssues;
    },
    not: (given, value, walk) => (isFit(checkSchema(given, value, walk)) ? [issue(`must not be of the form ${show(given)}`)] : noIssues),
    if: (given, value, walk) => checkSchema(walk.schema[isFit(checkSchema(given, value, walk)) ? 'then' : 'else'], value, walk),
    allOf: (given, value, walk) => checkEach(given, value, walk).flat(),
    anyOf: (given, value, walk) => {
      const results = checkEach(given, value, walk);
      return results.some(isFit) ? noIssues : reportClosest(results);
    },
    oneOf: (given, value, walk) => {
      const results = checkEach(given, value, walk);
      const count = results.filter(isFit).length;
      if (count === 0) return reportClosest(results);
      return count === 1 ? noIssues : [issue(`fits ${count} of the allowed forms, but must fit exactly one`)];
    },
    $ref: (given, value, walk) => checkSchema(isText(given) ? resolveRef(walk.root, given) : undefined, value, walk),
  }),
);

function checkSchema(schema: Json | undefined, value: Json, { root, budget }: Walk): Issues {
  if (schema === false) return [issue('is not allowed')];
  if (!isRecord(schema)) return noIssues;
  budget.left -= 1;
  if (budget.left < 0) return [issue('is too involved to be checked')];
  const walk = { root, schema, budget };
  let issues = noIssues;
  for (const keyword of Object.keys(schema)) issues = join(issues, checkKeyword(keyword, value, walk));
  return issues;
}

function checkKeyword(keyword: string, value: Json, walk: Walk & { readonly schema: JsonObject }): Issues {
  const given = walk.schema[keyword] ?? null;
  const message = rules.get(keyword)?.(given, value);
  return message === undefined ? (innerChecks.get(keyword)?.(given, value, walk) ?? noIssues) : [issue(message)];
}

/** Returns what in a value does not fit the schema; nothing if it fits. The schema must have passed `findJsonSchemaProblem`. */
export function validateJson(schema: JsonObject, value: Json): readonly SchemaIssue[] {
  const budget = { left: mostSchemas };
  const issues = checkSchema(schema, value, { root: schema, budget });
  // What was left out may have been what a `not` or an `if` asked about.
  if (budget.left < 0) return [{ path: '', message: 'is too involved to be checked' }];
  return issues.map(({ keys, message }) => ({ path: keys.reduce<string>(childPath, ''), message }));
}
