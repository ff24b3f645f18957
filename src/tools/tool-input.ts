import type { Json, JsonObject } from '../lib/index.ts';
import type { FromJsonSchema, JsonSchemaInput, JsonSchemaObject } from './json-schema-input.ts';
import type { StandardJsonSchema, StandardResult, StandardSchema } from './standard-schema.ts';

/** Schema of a tool's arguments or result: of any library that implements Standard Schema, or a JSON Schema. */
export type ToolInput = StandardSchema | JsonSchemaInput | JsonSchemaObject;

/** The type before a schema has parsed it. */
export type BeforeParsing<Schema> = Schema extends StandardSchema<infer Input, unknown> ? Input : FromJsonSchema<Schema>;

/** The type after a schema has parsed it. */
export type AfterParsing<Schema> = Schema extends StandardSchema<unknown, infer Output> ? Output : FromJsonSchema<Schema>;

/** The type of the arguments that a tool's `run` receives. Arguments are always an object. */
export type ArgsOf<Schema> =
  Schema extends StandardSchema<unknown, infer Output> ? Output : Json extends FromJsonSchema<Schema> ? JsonObject : FromJsonSchema<Schema>;

/** Options beside a schema that shows itself as JSON Schema. */
interface BesideJsonForm {
  /** Description of the arguments for the model. @default the schema's own JSON form */
  readonly inputJsonSchema?: JsonObject;
  readonly validate?: never;
}

/** Options beside a schema that has no JSON form of its own. */
interface BesideStandardSchema {
  /** Description of the arguments for the model. */
  readonly inputJsonSchema: JsonObject;
  readonly validate?: never;
}

/** Options beside a JSON Schema. */
interface BesideJsonSchema<Args> {
  /** Checks the arguments in place of our own validator, which knows the common part of JSON Schema. */
  readonly validate?: (args: unknown) => StandardResult<Args> | Promise<StandardResult<Args>>;
  readonly inputJsonSchema?: never;
}

/** Options that must or may stand beside a tool's input schema, by its kind. */
export type BesideInput<Schema> = Schema extends StandardJsonSchema
  ? BesideJsonForm
  : Schema extends StandardSchema
    ? BesideStandardSchema
    : BesideJsonSchema<ArgsOf<Schema>>;
