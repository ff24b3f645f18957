// Checks JSON values against the part of JSON Schema that json-schema-keywords.ts names.
// Does not: look at `format`, fill in defaults, or change the value.
import type { Json, JsonObject } from '../lib/index.ts';
import { childPath, isList } from '../lib/index.ts';
import { clipText } from './clip-text.ts';
import { isObject, resolveRef } from './json-schema-keywords.ts';
import type { SchemaIssue } from './schema-issue.ts';
import type { Issues, Place } from './value-checks.ts';
import { issueUnless, noIssues, valueChecks } from './value-checks.ts';

interface Walk {
  readonly root: JsonObject;
  /** Schemas that may still be looked at: alternatives inside alternatives can be more than anyone waits for. */
  readonly budget: { left: number };
}

type InnerCheck = (given: Json, place: Place, walk: Walk & { readonly schema: JsonObject }) => Issues;

const mostSchemas = 200_000;

function checkField(value: JsonObject, key: string, { path, schema, walk }: { path: string; schema: Json; walk: Walk }): Issues {
  return checkSchema(schema, { path: childPath(path, key), value: value[key] ?? null }, walk);
}

const checkProperties: InnerCheck = (given, { path, value }, walk) => {
  if (!isObject(value) || !isObject(given)) return noIssues;
  const named = Object.entries(given).filter(([key]) => Object.hasOwn(value, key));
  return named.flatMap(([key, schema]) => checkField(value, key, { path, schema, walk }));
};

const checkAdditional: InnerCheck = (given, { path, value }, walk) => {
  if (!isObject(value)) return noIssues;
  const { properties } = walk.schema;
  const named = isObject(properties) ? properties : {};
  const extra = Object.keys(value).filter((key) => !Object.hasOwn(named, key));
  if (given !== false) return extra.flatMap((key) => checkField(value, key, { path, schema: given, walk }));
  const allowed = clipText(Object.keys(named).join(', '), 200);
  return extra.map((key) => ({ path: childPath(path, key), message: `is not allowed (allowed: ${allowed === '' ? 'none' : allowed})` }));
};

const checkItems: InnerCheck = (given, { path, value }, walk) =>
  isList(value) ? value.flatMap((item, index) => checkSchema(given, { path: childPath(path, index), value: item }, walk)) : noIssues;

const checkEach: (...args: Parameters<InnerCheck>) => readonly Issues[] = (given, place, walk) =>
  isList(given) ? given.map((inner) => checkSchema(inner, place, walk)) : [];

const fits = (issues: Issues): boolean => issues.length === 0;

// Of several forms that do not fit, the one that nearly does is most worth telling.
function noneFits(results: readonly Issues[], { path }: Place): Issues {
  const [closest = noIssues] = [...results].sort((one, other) => one.length - other.length);
  return [{ path, message: `fits none of the ${results.length} allowed forms` }, ...closest];
}

const checkAllOf: InnerCheck = (given, place, walk) => checkEach(given, place, walk).flat();

const checkAnyOf: InnerCheck = (given, place, walk) => {
  const results = checkEach(given, place, walk);
  return results.some(fits) ? noIssues : noneFits(results, place);
};

const checkOneOf: InnerCheck = (given, place, walk) => {
  const results = checkEach(given, place, walk);
  const fitting = results.filter(fits).length;
  if (fitting === 0) return noneFits(results, place);
  return issueUnless(fitting === 1, place, `fits ${fitting} of the allowed forms, but must fit exactly one`);
};

const checkRef: InnerCheck = (given, place, walk) =>
  checkSchema(typeof given === 'string' ? resolveRef(walk.root, given) : undefined, place, walk);

const innerChecks: ReadonlyMap<string, InnerCheck> = new Map([
  ['properties', checkProperties],
  ['additionalProperties', checkAdditional],
  ['items', checkItems],
  ['allOf', checkAllOf],
  ['anyOf', checkAnyOf],
  ['oneOf', checkOneOf],
  ['$ref', checkRef],
]);

function checkSchema(schema: Json | undefined, place: Place, { root, budget }: Walk): Issues {
  if (schema === false) return [{ path: place.path, message: 'is not allowed' }];
  if (!isObject(schema)) return noIssues;
  budget.left -= 1;
  if (budget.left < 0) return [{ path: place.path, message: 'is too involved to be checked' }];
  const walk = { root, schema, budget };
  return Object.entries(schema).flatMap(([keyword, given]) => {
    return valueChecks.get(keyword)?.(given, place) ?? innerChecks.get(keyword)?.(given, place, walk) ?? noIssues;
  });
}

/** What in a value does not fit the schema; nothing where it fits. The schema must have passed `jsonSchemaProblem`. */
export function validateJson(schema: JsonObject, value: Json): readonly SchemaIssue[] {
  return checkSchema(schema, { path: '', value }, { root: schema, budget: { left: mostSchemas } });
}
