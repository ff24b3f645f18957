import type { JsonObject, ObjectReader } from '../lib/index.ts';
import { DamagedDataError, InvalidArgumentError, jsonCopy, readJsonObject, readObject, SteplineError } from '../lib/index.ts';
import type { Envelope } from './envelope.ts';
import { checkHeading } from './envelope.ts';

/** Rewrites the data of one schema as data of the next or of the previous one. */
type Rewrite = (data: JsonObject) => JsonObject;

/** Settings for writing and reading values of one kind. */
export interface CodecOptions<Value> {
  /** A stable name for the stored data. */
  readonly kind: string;
  /** The schema that is written, a whole number from 1 on; additive changes do not raise it. */
  readonly version: number;
  readonly encode: (value: Value) => JsonObject;
  /** Reads the data of the newest schema. It must keep the fields that it does not know (`reader.rest`). */
  readonly decode: (data: ObjectReader) => Value;
  /** Rewrites from schema n to n + 1, by n, for each n that may still be found. */
  readonly upgrades?: Readonly<Record<number, Rewrite>>;
  /** Rewrites from this schema to the previous one, so that stores can write it for one release. */
  readonly downgrade?: Rewrite;
}

/** Options for writing one value. */
export interface EncodeOptions {
  /** Writes the schema before the newest, for readers that are not updated yet. @default false */
  readonly previousSchema?: boolean;
}

/** Writes values of one kind as versioned JSON and reads them again. */
export interface Codec<Value> {
  readonly kind: string;
  readonly version: number;
  readonly encode: (value: Value, options?: EncodeOptions) => Envelope;
  /** Reads an envelope of this or an older schema; never changes it. */
  readonly decode: (input: unknown) => Value;
  readonly stringify: (value: Value, options?: EncodeOptions) => string;
  readonly parse: (text: string) => Value;
}

const readingCodes: readonly string[] = ['damaged-data', 'wrong-kind', 'newer-schema'];

// Any error of a value's reader is damaged data to the caller, except for those that reading itself reports.
function toReadError(error: unknown): SteplineError {
  if (SteplineError.is(error) && readingCodes.includes(error.code)) return error;
  return new DamagedDataError('data', `it could not be read (${error instanceof Error ? error.message : String(error)})`, error);
}

/** Makes a codec. */
export function createCodec<Value>(options: CodecOptions<Value>): Codec<Value> {
  const { kind, version, upgrades = {}, downgrade } = options;
  if (kind === '') throw new InvalidArgumentError('createCodec() needs a kind: a stable name of what is stored.');
  if (!Number.isInteger(version) || version < 1)
    throw new InvalidArgumentError(`The version of codec "${kind}" must be a whole number of 1 or more, not ${version}.`);

  // One schema at a time, on a copy, so that the input stays as it is.
  const upgrade = (data: Readonly<Record<string, unknown>>, schema: number): Readonly<Record<string, unknown>> => {
    if (schema === version) return data;
    let current = jsonCopy(readJsonObject(data, 'data'));
    for (let from = schema; from < version; from += 1) {
      const rewrite = Object.hasOwn(upgrades, from) ? upgrades[from] : undefined;
      if (rewrite === undefined) throw new DamagedDataError('schema', `there is no migration from schema ${from} to ${from + 1}`);
      current = rewrite(current);
    }
    return current;
  };
  const encode = (value: Value, { previousSchema = false }: EncodeOptions = {}): Envelope => {
    const data = options.encode(value);
    if (!previousSchema) return { kind, schema: version, data };
    if (downgrade !== undefined && version > 1) return { kind, schema: version - 1, data: downgrade(data) };
    throw new InvalidArgumentError(
      `Schema ${version} of "${kind}" has no migration to an earlier schema. Write the newest schema instead.`,
    );
  };
  const decode = (input: unknown): Value => {
    if (typeof input === 'string') throw new DamagedDataError('', 'expected an object, found a string; parse it with JSON.parse() first');
    const envelope = readObject(input);
    const schema = checkHeading(envelope, kind, version);
    const { raw } = envelope.object('data');
    try {
      return options.decode(readObject(upgrade(raw, schema), 'data'));
    } catch (error) {
      throw toReadError(error);
    }
  };
  const parse = (text: string): Value => {
    let input: unknown;
    try {
      input = JSON.parse(text);
    } catch (error) {
      throw new DamagedDataError('', 'the text is not valid JSON; it may have been cut off', error);
    }
    return decode(input);
  };
  return { kind, version, encode, decode, stringify: (value, encodeOptions) => JSON.stringify(encode(value, encodeOptions)), parse };
}
