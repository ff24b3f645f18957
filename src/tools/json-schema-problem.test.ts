import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../lib/index.ts';
import { findJsonSchemaProblem } from './json-schema-problem.ts';

describe('findJsonSchemaProblem', () => {
  it.each<[string, JsonObject]>([
    ['an empty schema', {}],
    [
      'keywords that only describe',
      { title: 'T', description: 'D', default: 1, examples: [], format: 'email', $comment: 'c', 'x-own': { not: 1 } },
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
    ['properties with the names of keywords', { properties: { not: { type: 'string' }, $ref: { type: 'number' } } }],
  ])('has nothing against %s', (_name, schema) => {
    expect(findJsonSchemaProblem(schema)).toBeUndefined();
  });

  it.each<[JsonObject, string]>([
    [{ properties: { a: { items: { not: {} } } } }, 'properties.a.items.not is not supported'],
    [{ oneOf: [{ patternProperties: {} }] }, 'oneOf[0].patternProperties is not supported'],
    [{ nullable: true }, 'nullable is not supported'],
    [{ $defs: { 'a b': { if: {} } } }, '$defs["a b"].if is not supported'],
    [{ type: 'text' }, 'type must be one or several of object, array, string, number, integer, boolean, null'],
    [{ type: ['string', 3] }, 'type must be one or several of object, array, string, number, integer, boolean, null'],
    [{ enum: 'a' }, 'enum must be a list'],
    [{ required: ['a', 1] }, 'required must be a list of names'],
    [{ properties: { a: 1 } }, 'properties must be an object of schemas'],
    [{ additionalProperties: 'no' }, 'additionalProperties must be a schema'],
    [{ items: [{}] }, 'items must be one schema for all items'],
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
});
