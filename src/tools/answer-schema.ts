import type { JsonObject } from '../lib/index.ts';
import { InvalidArgumentError } from '../lib/index.ts';
import { jsonSchemaProblem } from './json-schema-problem.ts';
import type { StandardSchema } from './standard-schema.ts';
import { hasJsonForm, isStandardSchema } from './standard-schema.ts';
import type { ValueSchema } from './value-schema.ts';
import { parseBy, parseWith, toJsonSchema } from './value-schema.ts';

/** Parses a final answer, and says to the model in which form it is wanted. */
export interface AnswerSchema extends ValueSchema {
  readonly json: JsonObject;
}

function jsonForm(schema: StandardSchema, what: string): unknown {
  const { vendor } = schema['~standard'];
  if (!hasJsonForm(schema)) {
    throw new InvalidArgumentError(
      `${what}: the schema (${vendor}) has no JSON form. Use zod 4.2 or later, wrap valibot's with toStandardJsonSchema(), or give a JSON Schema.`,
    );
  }
  try {
    return schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' });
  } catch {
    return schema['~standard'].jsonSchema.input({ target: 'draft-07' });
  }
}

/** Reads what describes an answer; `what` names it where something is wrong with it. */
export function toAnswerSchema(given: unknown, what = 'output'): AnswerSchema {
  const schema = toJsonSchema(isStandardSchema(given) ? jsonForm(given, what) : given);
  if (schema === undefined)
    throw new InvalidArgumentError(`${what} must be a Standard Schema (zod, valibot, arktype …) or a plain JSON Schema object.`);
  const { $schema: _, ...json } = schema;
  if (isStandardSchema(given)) return { json, parse: parseWith((value) => given['~standard'].validate(value)) };
  const problem = jsonSchemaProblem(json);
  if (problem !== undefined)
    throw new InvalidArgumentError(`${what}: the JSON Schema cannot be checked: ${problem}. Describe it by a Standard Schema instead.`);
  return { json, parse: parseBy(json) };
}
