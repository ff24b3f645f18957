import type { JsonObject, ObjectReader } from '../lib/index.ts';
import { DamagedDataError, InvalidArgumentError, readObject, SteplineError } from '../lib/index.ts';
import type { Envelope } from './envelope.ts';
import { openEnvelope } from './envelope.ts';
import type { Rewrite, Upgrades } from './upgrade.ts';
import { upgradeData } from './upgrade.ts';

/** How values of one kind are written and read. */
export interface CodecOptions<Value> {
  /** A stable name for what is stored. */
  readonly kind: string;
  /** The schema that is written, a whole number from 1 on; additive changes do not raise it. */
  readonly version: number;
  readonly encode: (value: Value) => JsonObject;
  /** Reads the data of the newest schema; fields it does not know are its own to keep (`reader.rest`). */
  readonly decode: (data: ObjectReader) => Value;
  /** From schema n to n + 1, by n. */
  readonly upgrades?: Upgrades;
  /** From this schema back to the one before, so that stores can write it for one release. */
  readonly downgrade?: Rewrite;
}

/** How one value is written. */
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

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DamagedDataError('', 'the text is not whole JSON', error);
  }
}

const readingCodes: readonly string[] = ['damaged-data', 'wrong-kind', 'newer-schema'];

// Whatever a value's reader stumbles over, to the caller it is damaged data; what reading itself reports keeps its own name.
function asDamage(error: unknown): SteplineError {
  if (SteplineError.is(error) && readingCodes.includes(error.code)) return error;
  return new DamagedDataError('data', `it could not be read (${error instanceof Error ? error.message : String(error)})`, error);
}

function checkOptions({ kind, version }: { readonly kind: string; readonly version: number }): void {
  if (kind === '') throw new InvalidArgumentError('A codec needs a kind; pass a stable name for what is stored.');
  if (!Number.isInteger(version) || version < 1) {
    throw new InvalidArgumentError(`A codec's version is ${String(version)}; pass a whole number from 1 on.`);
  }
}

function previousEnvelope({ kind, schema, data }: Envelope, downgrade: Rewrite | undefined): Envelope {
  if (downgrade !== undefined && schema > 1) return { kind, schema: schema - 1, data: downgrade(data) };
  throw new InvalidArgumentError(`Schema ${String(schema)} of "${kind}" has no way back to an earlier one; write the newest instead.`);
}

/** Makes a codec. */
export function createCodec<Value>(options: CodecOptions<Value>): Codec<Value> {
  const { kind, version, upgrades = {}, downgrade } = options;
  checkOptions(options);
  const encode = (value: Value, { previousSchema = false }: EncodeOptions = {}): Envelope => {
    const envelope: Envelope = { kind, schema: version, data: options.encode(value) };
    return previousSchema ? previousEnvelope(envelope, downgrade) : envelope;
  };
  const decode = (input: unknown): Value => {
    if (typeof input === 'string') throw new DamagedDataError('', 'this is text; read it with JSON.parse() first');
    const opened = openEnvelope(input, { kind, version });
    try {
      return options.decode(readObject(upgradeData(opened, version, upgrades), 'data'));
    } catch (error) {
      throw asDamage(error);
    }
  };
  return {
    kind,
    version,
    encode,
    decode,
    stringify: (value, encodeOptions) => JSON.stringify(encode(value, encodeOptions)),
    parse: (text) => decode(parseText(text)),
  };
}
