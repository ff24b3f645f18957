import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../lib/index.ts';
import { findJsonSchemaProblem } from './json-schema-problem.ts';

const notKeyword = 'is not a keyword of JSON Schema: fields go under "properties", and a note of your own begins with "x-"';

describe('findJsonSchemaProblem', () => {
  it.each<[string, JsonObject]>([
    ['an empty schema', {}],
    [
      'keywords that only describe',
      {
        title: 'T',
        description: 'D',
        default: 1,
        examples: [],
        format: 'email',
        $comment: 'c',
        'x-own': { not: 1 },
        propertyOrdering: ['a'],
      },
    ],
    ['lists without repetition', { uniqueItems: true, items: { uniqueItems: false } }],
    ['boolean schemas', { properties: { a: true, b: false }, additionalProperties: false }],
    ['a schema that contains itself one level down', { properties: { next: { $ref: '#' } } }],
    [
      'references into $defs, definitions, and anywhere else inside',
      {
        $defs: { a: { type: 'string' } },
        definitions: { b: true },
        properties: { x: { $ref: '#/$defs/a' }, y: { $ref: '#/definitions/b' }, z: { $ref: '#/properties/x' } },
      },
    ],
    ['references with escaped names', { $defs: { 'a/b ~c': true }, items: { $ref: '#/$defs/a~1b%20~0c' } }],
    [
      'a fork that meets again',
      { $defs: { a: true }, anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }], allOf: [{ $ref: '#/$defs/a' }] },
    ],
    ['a pattern that is only valid without the u flag', { pattern: String.raw`^[\w-\.]+$` }],
    [
      'all that has to do with lists',
      { prefixItems: [{ type: 'string' }, true], items: false, contains: { const: 1 }, minContains: 0, maxContains: 2 },
    ],
    [
      'all that has to do with fields',
      {
        patternProperties: { '^x-': { type: 'string' } },
        propertyNames: { maxLength: 9 },
        minProperties: 1,
        maxProperties: 3,
        dependentRequired: { a: ['b'] },
        dependentSchemas: { a: { required: ['b'] } },
        dependencies: { a: ['b'], c: { required: ['d'] } },
      },
    ],
    ['conditions', { if: { type: 'string' }, then: { minLength: 1 }, else: true, not: { const: 'x' }, multipleOf: 0.01 }],
    ['a schema that refers to itself in the names of its fields', { propertyNames: { $ref: '#' } }],
    ['properties with the names of keywords', { properties: { not: { type: 'string' }, $ref: { type: 'number' } } }],
  ])('has nothing against %s', (_name, schema) => {
    expect(findJsonSchemaProblem(schema)).toBeUndefined();
  });

  it.each<[JsonObject, string]>([
    [{ properties: { a: { items: { nullable: true } } } }, 'properties.a.items.nullable is not supported: list "null" among the types'],
    [
      { oneOf: [{ unevaluatedProperties: false }] },
      'oneOf[0].unevaluatedProperties is not supported: use additionalProperties, in a schema that names all fields',
    ],
    [{ $defs: { 'a b': { unevaluatedItems: false } } }, '$defs["a b"].unevaluatedItems is not supported: use items, beside prefixItems'],
    [
      { not: { additionalItems: false } },
      'not.additionalItems is not supported: use prefixItems for the first items, and items for the others',
    ],
    [{ if: { $dynamicRef: '#x' } }, 'if.$dynamicRef is not supported: use $ref'],
    [{ dependentSchemas: { a: { $recursiveRef: '#' } } }, 'dependentSchemas.a.$recursiveRef is not supported: use $ref'],
    [{ type: 'object', requried: ['a'] }, `requried ${notKeyword}`],
    [{ properties: { a: { tpye: 'string' } } }, `properties.a.tpye ${notKeyword}`],
    [{ prefixItems: [{ minLenght: 3 }] }, `prefixItems[0].minLenght ${notKeyword}`],
    [{ [`long${'g'.repeat(500)}`]: 1 }, `["long${'g'.repeat(56)}…"] ${notKeyword}`],
    [{ title: { type: 'string' } }, 'title must be text'],
    [{ patternProperties: { '(': true } }, 'patternProperties has "(", which is not a valid regular expression'],
    [{ patternProperties: { a: 1 } }, 'patternProperties must be an object of schemas'],
    [{ dependentRequired: { a: 'b' } }, 'dependentRequired must be an object of lists of names'],
    [{ dependencies: { a: 1 } }, 'dependencies must be an object of schemas and lists of names'],
    [{ multipleOf: 0 }, 'multipleOf must be a number above 0'],
    [{ prefixItems: [] }, 'prefixItems must be a list of schemas'],
    [{ not: 1 }, 'not must be a schema'],
    [{ minContains: -1 }, 'minContains must be a whole number from 0 on'],
    [{ not: { $ref: '#' } }, 'it refers to itself'],
    [{ if: true, then: { $ref: '#' } }, 'it refers to itself'],
    [{ dependentSchemas: { a: { $ref: '#' } } }, 'it refers to itself'],
    [{ type: 'text' }, 'type must be one or several of object, array, string, number, integer, boolean, null'],
    [{ type: ['string', 3] }, 'type must be one or several of object, array, string, number, integer, boolean, null'],
    [{ enum: 'a' }, 'enum must be a list'],
    [{ required: ['a', 1] }, 'required must be a list of names'],
    [{ properties: { a: 1 } }, 'properties must be an object of schemas'],
    [{ additionalProperties: 'no' }, 'additionalProperties must be a schema'],
    [{ items: [{}] }, 'items must be one schema; for a list of them, use prefixItems'],
    [{ anyOf: [] }, 'anyOf must be a list of schemas'],
    [{ uniqueItems: 1 }, 'uniqueItems must be true or false'],
    [{ minLength: -1 }, 'minLength must be a whole number from 0 on'],
    [{ minimum: '1' }, 'minimum must be a number'],
    [{ exclusiveMinimum: true }, 'exclusiveMinimum must be a number'],
    [{ pattern: '(' }, 'pattern is not a valid regular expression'],
    [{ pattern: 1 }, 'pattern must be text'],
    [{ $ref: '#/$defs/none' }, '$ref "#/$defs/none" points to nothing inside this schema'],
    [{ $ref: 'https://elsewhere.example/x' }, '$ref "https://elsewhere.example/x" points to nothing inside this schema'],
    [{ $ref: '#/__proto__' }, '$ref "#/__proto__" points to nothing inside this schema'],
    [{ $ref: '#' }, 'it refers to itself'],
    [{ $defs: { a: { $ref: '#/$defs/b' }, b: { anyOf: [true, { $ref: '#/$defs/a' }] } } }, '$defs.b refers to itself'],
  ])('refuses %j', (schema, problem) => {
    expect(findJsonSchemaProblem(schema)).toBe(problem);
  });

  it('passes over what nobody knows if it is told to, and over nothing else', () => {
    expect(findJsonSchemaProblem({ properties: { a: { enumLabels: [] } } }, { ignoresUnknown: true })).toBeUndefined();
    expect(findJsonSchemaProblem({ enumLabels: [], nullable: true }, { ignoresUnknown: true })).toMatch(/^nullable is not supported/);
  });
});
