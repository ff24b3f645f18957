import type { Json, JsonObject } from '../lib/index.ts';

declare const wrapper: unique symbol;

/** Nothing is of this type: the compiler shows its name if the fields of a plain object are schemas of a library. */
interface WrapItIn<Wrapper extends string> {
  readonly [wrapper]: Wrapper;
}

/** A JSON Schema that came from elsewhere. */
export interface JsonSchemaObject {
  readonly [keyword: string]: Json | WrapItIn<'z.object({ … })'>;
}

type InnerSchema = boolean | JsonSchemaInput | JsonSchemaObject;

/** A JSON Schema written by hand. If it is written inline, the type of the values is inferred from it. */
export interface JsonSchemaInput {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, InnerSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly patternProperties?: Readonly<Record<string, unknown>>;
  readonly items?: unknown;
  readonly prefixItems?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly unknown[];
  readonly oneOf?: readonly unknown[];
  readonly allOf?: readonly unknown[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, unknown>>;
  /** Excludes Standard Schemas, some of which have fields of the same names. */
  readonly '~standard'?: never;
}

type Simplify<Fields> = Fields extends infer Each ? { readonly [Key in keyof Each]: Each[Key] } : never;

type RequiredKeys<Schema> = Schema extends { readonly required: readonly (infer Key)[] } ? Key : never;

type FromProperties<Properties, Required> = Simplify<
  { readonly [Key in keyof Properties as Key extends Required ? Key : never]: FromJsonSchema<Properties[Key]> } & {
    readonly [Key in keyof Properties as Key extends Required ? never : Key]?: FromJsonSchema<Properties[Key]>;
  }
>;

type FromObject<Schema> = Schema extends { readonly properties: infer Properties }
  ? FromProperties<Properties, RequiredKeys<Schema>>
  : Schema extends { readonly patternProperties: object }
    ? JsonObject
    : FromExtra<Schema>;

type FromExtra<Schema> = Schema extends { readonly additionalProperties: infer Extra extends object }
  ? { readonly [key: string]: FromJsonSchema<Extra> }
  : JsonObject;

type FromRest<Schema> = Schema extends { readonly items: infer Items extends object }
  ? FromJsonSchema<Items>
  : Schema extends { readonly items: false }
    ? never
    : Json;

// Of the first items none has to be there, so that a list of them is all that is known.
type FromItems<Schema> = Schema extends { readonly prefixItems: readonly (infer First)[] }
  ? readonly (FromJsonSchema<First> | FromRest<Schema>)[]
  : readonly FromRest<Schema>[];

interface FromTypeName<Schema> {
  readonly object: FromObject<Schema>;
  readonly array: FromItems<Schema>;
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly null: null;
}

type FromType<Name, Schema> = Name extends readonly (infer Each)[]
  ? FromType<Each, Schema>
  : Name extends keyof FromTypeName<unknown>
    ? FromTypeName<Schema>[Name]
    : Json;

/** Type of the values that a JSON Schema describes; `Json` if it cannot be inferred. */
export type FromJsonSchema<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly anyOf: readonly (infer Member)[] } | { readonly oneOf: readonly (infer Member)[] }
      ? FromJsonSchema<Member>
      : Schema extends { readonly type: infer Name }
        ? FromType<Name, Schema>
        : Json;
