import type { JsonObject } from '../lib/index.ts';
import { DamagedDataError, readObject } from '../lib/index.ts';
import { NewerSchemaError } from './newer-schema-error.ts';
import { WrongKindError } from './wrong-kind-error.ts';

/** What is stored: plain JSON that says what it is and by which schema it was written. */
export interface Envelope {
  readonly kind: string;
  readonly schema: number;
  readonly data: JsonObject;
}

/** What a reader is ready to find. */
export interface ExpectedEnvelope {
  readonly kind: string;
  /** The newest schema that can be read. */
  readonly version: number;
}

/** An envelope that was opened; its data has not been read yet. */
export interface OpenedEnvelope {
  readonly schema: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Opens an envelope: the right kind, a schema that can be read, and data that is an object. */
export function openEnvelope(input: unknown, { kind, version }: ExpectedEnvelope): OpenedEnvelope {
  const reader = readObject(input);
  const found = reader.string('kind');
  if (found !== kind) throw new WrongKindError(kind, found);
  const schema = reader.number('schema');
  if (!Number.isInteger(schema) || schema < 1) {
    throw new DamagedDataError('schema', `expected a whole number from 1 on, found ${String(schema)}`);
  }
  if (schema > version) throw new NewerSchemaError(kind, { found: schema, supported: version });
  return { schema, data: reader.object('data').raw };
}
