import type { JsonObject, ObjectReader } from '../lib/index.ts';
import { DamagedDataError } from '../lib/index.ts';
import { NewerSchemaError } from './newer-schema-error.ts';
import { WrongKindError } from './wrong-kind-error.ts';

/** Stored data: plain JSON that names its kind and the schema it was written by. */
export interface Envelope {
  readonly kind: string;
  readonly schema: number;
  readonly data: JsonObject;
}

/** Returns the schema of stored data. Throws if it is of another kind or newer than `version`, the newest schema that can be read. */
export function checkHeading(reader: ObjectReader, kind: string, version: number): number {
  const found = reader.string('kind');
  if (found !== kind) throw new WrongKindError(kind, found);
  const schema = reader.number('schema');
  if (!Number.isInteger(schema) || schema < 1) throw new DamagedDataError('schema', `expected a whole number from 1 on, found ${schema}`);
  if (schema > version) throw new NewerSchemaError(kind, { found: schema, supported: version });
  return schema;
}
