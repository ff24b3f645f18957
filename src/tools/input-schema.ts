import type { JsonObject } from '../lib/index.ts';
import { InvalidToolError } from './invalid-tool-error.ts';
import type { StandardSchema } from './standard-schema.ts';
import { hasJsonForm, isStandardSchema } from './standard-schema.ts';
import type { Validate, ValueSchema } from './value-schema.ts';
import { parseBy, parseWith, refuseUnchecked, toJsonSchema } from './value-schema.ts';

/** Parses a tool's arguments, and says to the model what they are. */
export interface InputSchema extends ValueSchema {
  /** JSON Schema of an object. */
  readonly json: JsonObject;
}

/** What a tool's arguments were described by. */
export interface GivenInput {
  readonly input: unknown;
  readonly inputJsonSchema?: unknown;
  readonly validate?: Validate | undefined;
}

const waysToJson: ReadonlyMap<string, string> = new Map([
  ['valibot', 'Wrap it with toStandardJsonSchema() of @valibot/to-json-schema, or give'],
  ['zod', 'Use zod 4.2 or later, or give'],
]);

// 2020-12 is what the strictest provider asks for, but not every library knows every draft.
const targets = ['draft-2020-12', 'draft-07'] as const;

function jsonFormOf(toolName: string, schema: StandardSchema): unknown {
  const { vendor } = schema['~standard'];
  const advice = `${waysToJson.get(vendor) ?? 'Give'} \`inputJsonSchema\`.`;
  if (!hasJsonForm(schema)) throw new InvalidToolError(toolName, `its input schema (${vendor}) has no JSON form. ${advice}`);
  let failure: unknown;
  for (const target of targets) {
    try {
      return schema['~standard'].jsonSchema.input({ target });
    } catch (error) {
      failure ??= error;
    }
  }
  const words = failure instanceof Error ? failure.message : String(failure);
  throw new InvalidToolError(toolName, `its input schema (${vendor}) has no JSON form: ${words}. Give \`inputJsonSchema\`.`, failure);
}

/** The form that providers want: plain data that describes an object, without the note on its dialect. */
function toInputForm(toolName: string, given: unknown): JsonObject {
  const schema = toJsonSchema(given);
  if (schema === undefined) {
    throw new InvalidToolError(toolName, 'its input must be a Standard Schema (zod, valibot, arktype …) or a plain JSON Schema object.');
  }
  const { $schema: _, ...json } = schema;
  const form = { type: 'object', ...json };
  if (form.type !== 'object') {
    throw new InvalidToolError(toolName, `arguments are an object, but its input schema describes ${JSON.stringify(form.type)}.`);
  }
  return form;
}

/** Reads what describes a tool's arguments. */
export function toInputSchema(toolName: string, { input, inputJsonSchema, validate }: GivenInput): InputSchema {
  if (isStandardSchema(input)) {
    const json = toInputForm(toolName, inputJsonSchema ?? jsonFormOf(toolName, input));
    return { json, parse: parseWith((value) => input['~standard'].validate(value)) };
  }
  const json = toInputForm(toolName, input);
  if (validate !== undefined) return { json, parse: parseWith(validate) };
  refuseUnchecked(toolName, json, 'Give your own `validate`.');
  return { json, parse: parseBy(json) };
}
