import type { Json, JsonObject } from '../lib/index.ts';
import type { FromJsonSchema, JsonSchemaInput } from './json-schema-input.ts';
import type { StandardJsonSchema, StandardResult, StandardSchema } from './standard-schema.ts';

/** What may describe a tool's arguments or result: a schema of any library that keeps to Standard Schema, or a JSON Schema. */
export type ToolInput = StandardSchema | JsonSchemaInput | JsonObject;

/** The type before a schema has parsed it. */
export type BeforeParsing<Schema> = Schema extends StandardSchema<infer Input, unknown> ? Input : FromJsonSchema<Schema>;

/** The type after a schema has parsed it. */
export type AfterParsing<Schema> = Schema extends StandardSchema<unknown, infer Output> ? Output : FromJsonSchema<Schema>;

/** The type of the arguments that a tool's `run` receives. Arguments are always an object. */
export type ArgsOf<Schema> =
  Schema extends StandardSchema<unknown, infer Output> ? Output : Json extends FromJsonSchema<Schema> ? JsonObject : FromJsonSchema<Schema>;

interface JsonFormOption<Form> {
  /** What the model is told of the arguments. Needed where the schema cannot say it itself. */
  readonly inputJsonSchema: Form;
}

interface ValidateOption<Args> {
  /** Checks the arguments in place of our own validator, which knows the common part of JSON Schema. */
  readonly validate?: (args: unknown) => StandardResult<Args> | Promise<StandardResult<Args>>;
}

/** What must or may stand beside a tool's input schema, by its kind. */
export type BesideInput<Schema> = Schema extends StandardJsonSchema
  ? Partial<JsonFormOption<JsonObject>> & { readonly validate?: never }
  : Schema extends StandardSchema
    ? JsonFormOption<JsonObject> & { readonly validate?: never }
    : ValidateOption<ArgsOf<Schema>> & { readonly inputJsonSchema?: never };
