import type { JsonObject } from '../lib/index.ts';
import { isRecord, toCanonical } from '../lib/index.ts';
import { jsonSchemaProblem } from './json-schema-problem.ts';
import { InvalidToolError } from './invalid-tool-error.ts';
import type { Parsed } from './schema-issue.ts';
import type { StandardResult } from './standard-schema.ts';
import { fromStandardResult, isStandardSchema } from './standard-schema.ts';
import { validateJson } from './validate-json.ts';

/** Parses values of one kind, at once where its library does. Throws or rejects only where a library's own code throws. */
export interface ValueSchema {
  readonly parse: (value: unknown) => Parsed<unknown> | Promise<Parsed<unknown>>;
}

/** A library's way of checking a value. */
export type Validate = (value: unknown) => StandardResult<unknown> | Promise<StandardResult<unknown>>;

/** Parses as a library does. */
export function parseWith(validate: Validate): ValueSchema['parse'] {
  return (value) => {
    const result = validate(value);
    return result instanceof Promise ? result.then(fromStandardResult) : fromStandardResult(result);
  };
}

/** Parses by a JSON Schema that our validator knows. */
export function parseBy(schema: JsonObject): ValueSchema['parse'] {
  return (value) => {
    const canonical = toCanonical(value);
    if (!canonical.ok) return { ok: false, issues: [{ path: canonical.path, message: canonical.problem }] };
    const issues = validateJson(schema, canonical.value);
    return issues.length === 0 ? { ok: true, value: canonical.value } : { ok: false, issues };
  };
}

/** A JSON Schema as plain data; undefined for what is none, such as another library's schema object. */
export function toJsonSchema(given: unknown): JsonObject | undefined {
  if (!isRecord(given)) return undefined;
  const prototype: unknown = Object.getPrototypeOf(given);
  const canonical = prototype === Object.prototype || prototype === null ? toCanonical(given) : undefined;
  return canonical?.ok === true && isRecord(canonical.value) ? canonical.value : undefined;
}

/** Refuses a JSON Schema that our validator would not check to the letter. */
export function refuseUnchecked(toolName: string, schema: JsonObject, advice: string): void {
  const problem = jsonSchemaProblem(schema);
  if (problem !== undefined) throw new InvalidToolError(toolName, `its JSON Schema cannot be checked: ${problem}. ${advice}`);
}

/** Reads what describes a tool's result; any JSON value may be one. */
export function toOutputSchema(toolName: string, output: unknown): ValueSchema {
  if (isStandardSchema(output)) return { parse: parseWith((value) => output['~standard'].validate(value)) };
  const json = toJsonSchema(output);
  if (json === undefined) throw new InvalidToolError(toolName, 'its output must be a Standard Schema or a plain JSON Schema object.');
  refuseUnchecked(toolName, json, 'Describe the output by a Standard Schema instead.');
  return { parse: parseBy(json) };
}
