export { diffFields, goneKey, withChanges } from './changes.ts';
export type { Codec } from './codec.ts';
export { createCodec } from './codec.ts';
export { checkHeading } from './envelope.ts';
export { NewerSchemaError } from './newer-schema-error.ts';
export { WrongKindError } from './wrong-kind-error.ts';
