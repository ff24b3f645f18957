export { changesSince, withChanges } from './changes.ts';
export type { Codec, CodecOptions, EncodeOptions } from './codec.ts';
export { createCodec } from './codec.ts';
export type { Envelope } from './envelope.ts';
export { NewerSchemaError } from './newer-schema-error.ts';
export type { Rewrite, Upgrades } from './upgrade.ts';
export { WrongKindError } from './wrong-kind-error.ts';
