import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Json, JsonObject } from '../lib/index.ts';
import { findJsonSchemaProblem } from './json-schema-problem.ts';
import { issuesText } from './schema-issue.ts';
import { validateJson } from './validate-json.ts';

const text = (schema: JsonObject, value: Json): string => {
  const issues = validateJson(schema, value);
  return issues.length === 0 ? 'fits' : issuesText(issues);
};

const tree: JsonObject = { type: 'object', properties: { value: { type: 'number' }, next: { $ref: '#' } }, required: ['value'] };
const shape: JsonObject = {
  oneOf: [
    { type: 'object', properties: { kind: { const: 'circle' }, radius: { type: 'number' } }, required: ['kind', 'radius'] },
    { type: 'object', properties: { kind: { const: 'square' }, side: { type: 'number' } }, required: ['kind', 'side'] },
  ],
};

describe('validateJson', () => {
  it.each<[JsonObject, Json, string]>([
    [{}, null, 'fits'],
    [{ type: 'string' }, 'a', 'fits'],
    [{ type: 'string' }, 1, 'must be string, found number'],
    [{ type: 'integer' }, 1, 'fits'],
    [{ type: 'integer' }, 1.5, 'must be integer, found number'],
    [{ type: 'number' }, '1', 'must be number, found string'],
    [{ type: 'boolean' }, null, 'must be boolean, found null'],
    [{ type: 'object' }, [], 'must be object, found array'],
    [{ type: 'array' }, {}, 'must be array, found object'],
    [{ type: ['string', 'null'] }, null, 'fits'],
    [{ type: ['string', 'null'] }, 1, 'must be string or null, found number'],
    [{ enum: ['a', { b: 1, c: 2 }] }, { c: 2, b: 1 }, 'fits'],
    [{ enum: ['a', 'b'] }, 'c', 'must be one of "a", "b"'],
    [{ const: [1] }, [1], 'fits'],
    [{ const: 'a' }, 'b', 'must be "a"'],
    [{ minimum: 1, maximum: 3 }, 1, 'fits'],
    [{ minimum: 1 }, 0, 'must be at least 1'],
    [{ maximum: 3 }, 4, 'must be at most 3'],
    [{ exclusiveMinimum: 1 }, 1, 'must be more than 1'],
    [{ exclusiveMaximum: 3 }, 3, 'must be less than 3'],
    [{ minimum: 1, minLength: 3, minItems: 1 }, true, 'fits'],
    [{ minLength: 2 }, 'a', 'must have at least 2 characters'],
    [{ maxLength: 2 }, '😀😀', 'fits'],
    [{ maxLength: 1 }, '😀😀', 'must have at most 1 characters'],
    [{ pattern: '^a' }, 'ba', 'must match the pattern ^a'],
    [{ pattern: 'a' }, 'ba', 'fits'],
    [{ minItems: 1 }, [], 'must have at least 1 items'],
    [{ maxItems: 1 }, [1, 2], 'must have at most 1 items'],
    [{ uniqueItems: true }, [1, '1', true, null, [1], { a: 1 }, {}], 'fits'],
    [{ uniqueItems: true }, [], 'fits'],
    [{ uniqueItems: true }, 'aa', 'fits'],
    [{ uniqueItems: true }, ['a', 'b', 'a'], 'must not repeat items: [2] is the same as [0]'],
    [
      { uniqueItems: true },
      [
        { a: 1, b: [2] },
        { b: [2], a: 1 },
      ],
      'must not repeat items: [1] is the same as [0]',
    ],
    [{ uniqueItems: false }, [1, 1], 'fits'],
    [{ items: { type: 'string' } }, ['a', 1], '[1]: must be string, found number'],
    [{ items: false }, [1], '[0]: is not allowed'],
    [{ required: ['a', '__proto__'] }, { b: 1 }, 'a: is required; __proto__: is required'],
    [{ properties: { a: { type: 'string' } } }, { a: 1, b: 2 }, 'a: must be string, found number'],
    [{ properties: { a: true }, additionalProperties: false }, { a: 1, 'b c': 2 }, '["b c"]: is not allowed (allowed: a)'],
    [{ additionalProperties: false }, { constructor: 1 }, 'constructor: is not allowed (allowed: none)'],
    [{ additionalProperties: { type: 'number' } }, { a: 1, b: '2' }, 'b: must be number, found string'],
    [{ allOf: [{ minimum: 1 }, { maximum: 3 }] }, 4, 'must be at most 3'],
    [{ anyOf: [{ type: 'string' }, { minimum: 3 }] }, 3, 'fits'],
    [{ anyOf: [{ type: 'string' }, { minimum: 3 }] }, 2, 'fits none of the 2 allowed forms; must be string, found number'],
    [{ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 3, 'fits 2 of the allowed forms, but must fit exactly one'],
    [{ multipleOf: 0.1 }, 0.3, 'fits'],
    [{ multipleOf: 0.01 }, 19.99, 'fits'],
    [{ multipleOf: 0.0001 }, 0.0075, 'fits'],
    [{ multipleOf: 0.1 }, 0.35, 'must be a multiple of 0.1'],
    [{ multipleOf: 2 }, 0, 'fits'],
    [{ multipleOf: 2 }, 7, 'must be a multiple of 2'],
    [{ multipleOf: 1e-300 }, 1e300, 'must be a multiple of 1e-300'],
    [{ multipleOf: 2 }, 'seven', 'fits'],
    [{ minProperties: 1 }, {}, 'must have at least 1 fields'],
    [{ maxProperties: 1 }, { a: 1, b: 2 }, 'must have at most 1 fields'],
    [{ minProperties: 1, maxProperties: 1 }, [], 'fits'],
    [{ prefixItems: [{ type: 'string' }, { type: 'number' }] }, ['a', 1, true], 'fits'],
    [{ prefixItems: [{ type: 'string' }, { type: 'number' }] }, ['a'], 'fits'],
    [
      { prefixItems: [{ type: 'string' }, { type: 'number' }] },
      [1, 'a'],
      '[0]: must be string, found number; [1]: must be number, found string',
    ],
    [{ prefixItems: [true], items: { type: 'number' } }, ['a', 1, 'b'], '[2]: must be number, found string'],
    [{ items: false, prefixItems: [true] }, ['a', 1], '[1]: is not allowed'],
    [{ contains: { const: 1 } }, [2, 1], 'fits'],
    [{ contains: { const: 1 } }, [2], 'must contain at least 1 items of the form {"const":1}, found 0'],
    [{ contains: { const: 1 }, minContains: 0 }, [], 'fits'],
    [{ contains: { const: 1 }, minContains: 2 }, [1], 'must contain at least 2 items of the form {"const":1}, found 1'],
    [{ contains: { const: 1 }, maxContains: 1 }, [1, 1], 'must contain at most 1 items of the form {"const":1}, found 2'],
    [{ minContains: 2, maxContains: 1 }, [], 'fits'],
    [{ contains: { const: 1 } }, 'text', 'fits'],
    [{ patternProperties: { '^n': { type: 'number' } } }, { n1: 1, n2: 'b', other: 'c' }, 'n2: must be number, found string'],
    [
      { properties: { a: true }, patternProperties: { '^n': true }, additionalProperties: false },
      { a: 1, n1: 1, b: 1 },
      'b: is not allowed (allowed: a, /^n/)',
    ],
    [{ patternProperties: { a: { minimum: 1 }, b: { maximum: 1 } } }, { ab: 0, ba: 2 }, 'ab: must be at least 1; ba: must be at most 1'],
    [{ propertyNames: { pattern: '^[a-z]+$' } }, { ok: 1, No: 1 }, 'No: its name must match the pattern ^[a-z]+$'],
    [{ propertyNames: false }, {}, 'fits'],
    [{ propertyNames: false }, { a: 1 }, 'a: its name is not allowed'],
    [{ dependentRequired: { card: ['cvc'] } }, { card: 1 }, 'cvc: is required beside card'],
    [{ dependentRequired: { card: ['cvc'] } }, { cash: 1 }, 'fits'],
    [
      { dependentSchemas: { card: { properties: { name: { minLength: 1 } } } } },
      { card: 1, name: '' },
      'name: must have at least 1 characters',
    ],
    [
      { dependencies: { card: ['cvc'], cash: { required: ['till'] } } },
      { card: 1, cash: 1 },
      'cvc: is required beside card; till: is required',
    ],
    [{ not: { type: 'string' } }, 1, 'fits'],
    [{ not: { type: 'string' } }, 'a', 'must not be of the form {"type":"string"}'],
    [{ not: false }, 'a', 'fits'],
    [{ if: { const: 1 }, then: { minimum: 5 }, else: { maximum: 3 } }, 1, 'must be at least 5'],
    [{ if: { const: 1 }, then: { minimum: 5 }, else: { maximum: 3 } }, 4, 'must be at most 3'],
    [{ if: { const: 1 } }, 2, 'fits'],
    [{ then: false, else: false }, 2, 'fits'],
    [shape, { kind: 'square', side: 1 }, 'fits'],
    [shape, { kind: 'square' }, 'fits none of the 2 allowed forms; side: is required'],
    [tree, { value: 1, next: { value: 2, next: { value: 3 } } }, 'fits'],
    [tree, { value: 1, next: { value: 2, next: {} } }, 'next.next.value: is required'],
    [{ $ref: '#/$defs/n', minimum: 3, $defs: { n: { type: 'integer' } } }, 2.5, 'must be integer, found number; must be at least 3'],
  ])('%j, %j: %s', (schema, value, expected) => {
    expect(findJsonSchemaProblem(schema)).toBeUndefined();
    expect(text(schema, value)).toBe(expected);
  });

  it('treats __proto__ as a name like any other', () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"type":"string"}},"additionalProperties":false}') as JsonObject;
    expect(text(schema, JSON.parse('{"__proto__":1}') as Json)).toBe('__proto__: must be string, found number');
    expect(text({ properties: {}, additionalProperties: false }, JSON.parse('{"__proto__":1}') as Json)).toMatch(
      /^__proto__: is not allowed/,
    );
  });

  it('gives up on a schema whose alternatives multiply, and says so', () => {
    const schema: JsonObject = {
      $defs: {
        a: {
          anyOf: [
            { properties: { x: { $ref: '#/$defs/a' } }, required: ['y'] },
            { properties: { x: { $ref: '#/$defs/a' } }, required: ['z'] },
          ],
        },
      },
      $ref: '#/$defs/a',
    };
    const deep = Array.from({ length: 60 }).reduce<Json>((inner) => ({ x: inner }), {});
    expect(findJsonSchemaProblem(schema)).toBeUndefined();
    expect(text(schema, deep)).toBe('is too involved to be checked');
    // Not even if that would be the right answer to what is asked.
    expect(
      text({ ...schema, $ref: '#/$defs/none', $defs: { ...(schema['$defs'] as JsonObject), none: { not: { $ref: '#/$defs/a' } } } }, deep),
    ).toBe('is too involved to be checked');
  });

  it('agrees with zod on schemas that zod wrote', () => {
    const schema = z.strictObject({
      name: z
        .string()
        .min(2)
        .max(5)
        .regex(/^[a-z]/),
      age: z.int().min(0).max(9).optional(),
      ratio: z.number().gt(0).lt(1).nullable(),
      tags: z.array(z.enum(['a', 'b'])).max(2),
      either: z.union([z.literal(1), z.object({ deep: z.boolean() })]),
    });
    const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input' }) as JsonObject;
    expect(findJsonSchemaProblem(json)).toBeUndefined();
    const loose = fc.record(
      {
        name: fc.oneof(fc.string({ maxLength: 7 }), fc.constantFrom('ab', 'abc', 'a😀😀', 1)),
        age: fc.oneof(fc.integer({ min: -2, max: 12 }), fc.constantFrom(1.5, '1', null)),
        ratio: fc.oneof(fc.constantFrom(0, 0.5, 1, null, 'x')),
        tags: fc.oneof(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }), fc.constant('a')),
        either: fc.constantFrom(1, 2, { deep: true }, { deep: 1 }, {}, { deep: false, more: 1 }, null),
        extra: fc.constant(1),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(loose, (value) => {
        // zod counts UTF-16 units, JSON Schema characters.
        fc.pre(typeof value.name !== 'string' || value.name.length === [...value.name].length);
        expect(validateJson(json, value as Json).length === 0).toBe(schema.safeParse(value).success);
      }),
      { numRuns: 3000 },
    );
  });
});
