import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { expectTypeOf, test } from 'vitest';
import type { StandardJsonSchema, StandardResult, StandardSchema } from './standard-schema.ts';

interface Both {
  readonly '~standard': StandardSchemaV1.Props<string, number> & StandardJSONSchemaV1.Props<string, number>;
}

test('what the standard describes fits our shapes', () => {
  expectTypeOf<StandardSchemaV1<string, number>>().toExtend<StandardSchema<string, number>>();
  expectTypeOf<Both>().toExtend<StandardJsonSchema<string, number>>();
  expectTypeOf<StandardSchemaV1.Result<number>>().toExtend<StandardResult<number>>();
  expectTypeOf<StandardSchemaV1<string, number>>().not.toExtend<StandardJsonSchema<string, number>>();
});
