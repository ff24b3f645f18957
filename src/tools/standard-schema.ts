// The shapes of https://standardschema.dev, asked for by form: no package is needed, and every library that keeps to them fits.
import { childPath, isRecord, readField } from '../lib/index.ts';
import type { Parsed, SchemaIssue } from './schema-issue.ts';

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Result of a Standard Schema: the parsed value, or the issues. */
export type StandardResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };

interface StandardTypes<Input, Output> {
  readonly input: Input;
  readonly output: Output;
}

interface StandardProps<Input, Output> {
  readonly version: 1;
  readonly vendor: string;
  readonly types?: StandardTypes<Input, Output> | undefined;
  readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
}

/** A schema of any library that implements Standard Schema. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': StandardProps<Input, Output>;
}

interface JsonSchemaConverter {
  readonly input: (options: { readonly target: 'draft-2020-12' | 'draft-07' }) => Record<string, unknown>;
}

/** A Standard Schema that also has a JSON Schema form, which is sent to the model. */
export interface StandardJsonSchema<Input = unknown, Output = Input> {
  readonly '~standard': StandardProps<Input, Output> & { readonly jsonSchema: JsonSchemaConverter };
}

/** True for schemas of version 1 of the standard; some libraries make them callable. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || !('~standard' in value)) return false;
  const props = value['~standard'];
  return isRecord(props) && props['version'] === 1 && typeof props['validate'] === 'function';
}

/** True if the schema has a JSON Schema form. */
export function hasJsonForm(schema: StandardSchema): schema is StandardJsonSchema {
  return typeof readField(readField(schema['~standard'], 'jsonSchema'), 'input') === 'function';
}

function pathText(path: StandardIssue['path']): string {
  // Not `path.map`: some libraries give lists of a class of their own, whose copies are not plain lists.
  const keys = Array.from(path ?? [], (segment) => (typeof segment === 'object' ? segment.key : segment));
  return keys.reduce<string>((text, key) => childPath(text, typeof key === 'symbol' ? String(key) : key), '');
}

function toIssue({ message, path }: StandardIssue): SchemaIssue {
  return { path: pathText(path), message };
}

/** Reads a library's result; an invalid one counts as a refusal. */
export function fromStandardResult<Output>(result: StandardResult<Output>): Parsed<Output> {
  // Asked as unknown: a library may be wrong about its own answer, and arktype's refusal is a list.
  const given: unknown = result;
  if (typeof given !== 'object' || given === null) return { ok: false, issues: [{ path: '', message: 'the schema gave no answer' }] };
  // As the standard says: a missing list of issues is success, an empty one is not.
  return result.issues === undefined ? { ok: true, value: result.value } : { ok: false, issues: Array.from(result.issues, toIssue) };
}
