// Reads what describes a value (a tool's arguments, its result, a final answer) into a schema that parses such values.
import type { JsonObject } from '../lib/index.ts';
import { describeValue, InvalidArgumentError, isPlainObject, isRecord, listSome, toCanonical } from '../lib/index.ts';
import { clipText } from './clip-text.ts';
import { InvalidToolError } from './invalid-tool-error.ts';
import type { SchemaRules } from './json-schema-problem.ts';
import { findJsonSchemaProblem, isKeyword, isObjectKeyword } from './json-schema-problem.ts';
import { findFieldsProblem, findFunctionProblem } from './schema-fields.ts';
import type { Parsed } from './schema-issue.ts';
import type { StandardResult, StandardSchema } from './standard-schema.ts';
import { fromStandardResult, hasJsonForm, isStandardSchema } from './standard-schema.ts';
import { validateJson } from './validate-json.ts';

/** Parses values of one kind, synchronously if its library does. Throws or rejects only if the library's own code throws. */
export interface ValueSchema {
  readonly parse: (value: unknown) => Parsed<unknown> | Promise<Parsed<unknown>>;
}

/** Parses a tool's arguments and describes them to the model. */
export interface InputSchema extends ValueSchema {
  /** JSON Schema of an object. */
  readonly json: JsonObject;
}

/** Parses a final answer and describes its form to the model. */
export interface AnswerSchema extends ValueSchema {
  readonly json: JsonObject;
}

/** A library's way of checking a value. */
export type Validate = (value: unknown) => StandardResult<unknown> | Promise<StandardResult<unknown>>;

/** Description of a tool's arguments. */
export interface GivenInput extends SchemaRules {
  readonly input: unknown;
  readonly inputJsonSchema?: unknown;
  readonly validate?: Validate | undefined;
}

/** Names the schema in errors, and what to do about them. */
interface SchemaPlace {
  readonly what: string;
  readonly jsonForm: string;
  readonly ifUncheckable: string;
  readonly toError: (problem: string, cause?: unknown) => Error;
}

const waysToJson: ReadonlyMap<string, string> = new Map([
  ['valibot', 'Wrap it with toStandardJsonSchema() of @valibot/to-json-schema, or pass'],
  ['zod', 'Use zod 4.2 or later, or pass'],
]);

// 2020-12 is what the strictest provider asks for, but not every library knows every draft.
const targets = ['draft-2020-12', 'draft-07'] as const;

function toJsonForm(schema: StandardSchema, { what, jsonForm, toError }: SchemaPlace): unknown {
  const { vendor } = schema['~standard'];
  const problem = `${what} schema (${vendor}) cannot be converted to JSON Schema`;
  if (!hasJsonForm(schema)) throw toError(`${problem}. ${waysToJson.get(vendor) ?? 'Pass'} ${jsonForm}.`);
  let failure: unknown;
  for (const target of targets) {
    try {
      return schema['~standard'].jsonSchema.input({ target });
    } catch (error) {
      failure ??= error;
    }
  }
  const words = failure instanceof Error ? failure.message : String(failure);
  throw toError(`${problem}: ${words}. Pass ${jsonForm}.`, failure);
}

function adviseProperties(fields: JsonObject): string {
  const names = Object.keys(fields).filter((name) => isRecord(fields[name]));
  const list = listSome(
    names.map((name) => `${clipText(name, 60)}: …`),
    3,
  );
  return `Write { type: 'object', properties: { ${list === '' ? '…' : list} } } if it describes fields.`;
}

// `{ items: { type: 'array' } }` is a JSON Schema, of lists; for arguments, which are an object, it says nothing.
function assertObjectSchema(json: JsonObject, { what, toError }: SchemaPlace): void {
  const isFields = Object.values(json).some(isRecord) && !Object.keys(json).some(isObjectKeyword);
  if (isFields) throw toError(`${what} is an object without a keyword about objects, and checks nothing. ${adviseProperties(json)}`);
}

/** Copies a JSON Schema as plain data, without the note on its dialect. */
function toJsonSchema(given: unknown, { what, toError }: SchemaPlace): JsonObject {
  const problem = findFieldsProblem(given, what) ?? findFunctionProblem(given, what);
  if (problem !== undefined) throw toError(problem);
  const canonical = isPlainObject(given) ? toCanonical(given) : undefined;
  if (canonical?.ok !== true || !isRecord(canonical.value)) {
    const where = canonical?.ok === false ? ` (${clipText(canonical.path, 60)} ${canonical.problem})` : '';
    const found = canonical === undefined ? describeValue(given) : `an object with values that are not JSON${where}`;
    throw toError(`${what} must be a Standard Schema (zod, valibot, arktype …) or a plain JSON Schema object, not ${found}.`);
  }
  const { $schema: _, ...json } = canonical.value;
  if (Object.keys(json).length > 0 && !Object.keys(json).some(isKeyword))
    throw toError(`${what} is an object without a keyword of JSON Schema, and checks nothing. ${adviseProperties(json)}`);
  return json;
}

function parseWith(validate: Validate): ValueSchema['parse'] {
  return (value) => {
    const result = validate(value);
    return result instanceof Promise ? result.then(fromStandardResult) : fromStandardResult(result);
  };
}

/** Parses by our own validator; refuses a schema that it would not check to the letter. */
function parseBy(schema: JsonObject, { what, ifUncheckable, toError }: SchemaPlace, rules?: SchemaRules): ValueSchema['parse'] {
  const problem = findJsonSchemaProblem(schema, rules);
  if (problem !== undefined) throw toError(`${what} schema cannot be checked: ${problem}. ${ifUncheckable}`);
  return (value) => {
    const canonical = toCanonical(value);
    if (!canonical.ok) return { ok: false, issues: [{ path: canonical.path, message: canonical.problem }] };
    const issues = validateJson(schema, canonical.value);
    return issues.length === 0 ? { ok: true, value: canonical.value } : { ok: false, issues };
  };
}

const validateBy =
  (schema: StandardSchema): Validate =>
  (value) =>
    schema['~standard'].validate(value);

/** Reads the description of a tool's arguments. */
export function toInputSchema(toolName: string, { input, inputJsonSchema, validate, ...rules }: GivenInput): InputSchema {
  const place: SchemaPlace = {
    what: 'its input',
    jsonForm: '`inputJsonSchema`',
    ifUncheckable: 'Pass your own `validate`.',
    toError: (problem, cause) => new InvalidToolError(toolName, problem, cause),
  };
  const isLibrarys = isStandardSchema(input);
  if (isLibrarys && validate !== undefined)
    throw place.toError('its input is a schema of a library, which checks the arguments itself. Leave out validate.');
  if (!isLibrarys && inputJsonSchema !== undefined)
    throw place.toError('inputJsonSchema describes an input schema of a library to the model. Pass the JSON Schema as input.');
  const isDescribed = isLibrarys && inputJsonSchema !== undefined;
  const given = isDescribed ? inputJsonSchema : isLibrarys ? toJsonForm(input, place) : input;
  const givenPlace = isDescribed ? { ...place, what: 'its inputJsonSchema' } : place;
  const givenJson = toJsonSchema(given, givenPlace);
  if (rules.ignoresUnknown !== true) assertObjectSchema(givenJson, givenPlace);
  const json = { type: 'object', ...givenJson };
  if (json.type !== 'object')
    throw place.toError(
      `its input schema must describe an object, not ${JSON.stringify(json.type)}. Models call tools with an object of arguments.`,
    );
  const check = isLibrarys ? validateBy(input) : validate;
  return { json, parse: check === undefined ? parseBy(json, place, rules) : parseWith(check) };
}

/** Reads the description of a tool's result; any JSON value may be one. */
export function toOutputSchema(toolName: string, output: unknown): ValueSchema {
  if (isStandardSchema(output)) return { parse: parseWith(validateBy(output)) };
  const place: SchemaPlace = {
    what: 'its output',
    jsonForm: 'a JSON Schema',
    ifUncheckable: 'Describe the output by a Standard Schema instead.',
    toError: (problem, cause) => new InvalidToolError(toolName, problem, cause),
  };
  return { parse: parseBy(toJsonSchema(output, place), place) };
}

/** Reads the description of an answer; `what` names it in errors. */
export function toAnswerSchema(given: unknown, what = 'output'): AnswerSchema {
  const place: SchemaPlace = {
    what,
    jsonForm: 'a JSON Schema',
    ifUncheckable: 'Describe it by a Standard Schema instead.',
    toError: (problem, cause) => new InvalidArgumentError(problem, cause),
  };
  const json = toJsonSchema(isStandardSchema(given) ? toJsonForm(given, place) : given, place);
  return { json, parse: isStandardSchema(given) ? parseWith(validateBy(given)) : parseBy(json, place) };
}
