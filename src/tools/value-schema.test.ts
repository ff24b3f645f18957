import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toInputSchema } from './value-schema.ts';
import { InvalidToolError } from './invalid-tool-error.ts';

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const own = (jsonSchema?: unknown) => ({
  '~standard': { version: 1, vendor: 'own', validate: (value: unknown) => ({ value }), ...(jsonSchema !== undefined && { jsonSchema }) },
});

describe('toInputSchema', () => {
  it.each([
    ['zod', z.object({ city: z.string() })],
    ['valibot in its wrapper', toStandardJsonSchema(v.object({ city: v.string() }))],
    ['arktype', type({ city: 'string' })],
    ['a JSON Schema', { $schema: 'https://json-schema.org/draft/2020-12/schema', ...city }],
    ['a JSON Schema without a type', { properties: city.properties, required: city.required }],
  ])('shows the model the same form for %s', async (_name, input) => {
    const schema = toInputSchema('weather', { input });
    expect(schema.json).toEqual(city);
    expect(await schema.parse({ city: 'Paris' })).toEqual({ ok: true, value: { city: 'Paris' } });
    expect(await schema.parse({ city: 3 })).toMatchObject({ ok: false, issues: [{ path: 'city' }] });
  });

  it('gives what the schema made of the value', async () => {
    const schema = toInputSchema('t', { input: z.object({ n: z.coerce.number(), more: z.string().default('x') }) });
    expect(await schema.parse({ n: '3' })).toEqual({ ok: true, value: { n: 3, more: 'x' } });
    expect(schema.json).toMatchObject({ required: ['n'] });
  });

  it.each([
    ['order', { order: Number }],
    ['properties.order', { type: 'object', properties: { order: Number } }],
    ['properties.order.anyOf[0]', { type: 'object', properties: { order: { anyOf: [String] } } }],
  ])('refuses a function in the place of a schema, at %s', (path, input) => {
    expect(() => toInputSchema('pay', { input })).toThrow(`has a function at ${path}, which is not a schema`);
  });

  it('waits for a schema that checks asynchronously', async () => {
    const input = z.object({ city: z.string().refine(async (name) => name !== 'Atlantis', 'is under water') });
    const schema = toInputSchema('t', { input });
    expect(await schema.parse({ city: 'Atlantis' })).toEqual({ ok: false, issues: [{ path: 'city', message: 'is under water' }] });
  });

  it('takes a given JSON form, also over the one that the schema has', () => {
    expect(toInputSchema('t', { input: v.object({ city: v.string() }), inputJsonSchema: city }).json).toEqual(city);
    expect(toInputSchema('t', { input: z.object({ at: z.date() }), inputJsonSchema: city }).json).toEqual(city);
  });

  it('lets a given validate decide in place of our validator', async () => {
    const input = { ...city, unevaluatedProperties: false };
    const schema = toInputSchema('t', { input, validate: (value) => (value === 1 ? { value: 'one' } : { issues: [{ message: 'no' }] }) });
    expect(schema.json).toEqual(input);
    expect(await schema.parse(1)).toEqual({ ok: true, value: 'one' });
    expect(await schema.parse(2)).toMatchObject({ ok: false });
  });

  it('gives an object type to a union of objects, as providers want', () => {
    expect(toInputSchema('t', { input: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]) }).json).toMatchObject({
      type: 'object',
    });
  });

  it('asks for an older draft where the library does not know the newer one', () => {
    const input = ({ target }: { target: string }): object => {
      if (target !== 'draft-07') throw new Error(`no ${target}`);
      return city;
    };
    expect(toInputSchema('t', { input: own({ input }) }).json).toEqual(city);
  });

  it('copies the given schema, so that later changes do not reach it', () => {
    const input = { ...city, [Symbol('kind')]: 'Object', extra: undefined };
    expect(toInputSchema('t', { input }).json).toEqual(city);
  });

  it.each([
    [
      v.object({}),
      'its input schema (valibot) cannot be converted to JSON Schema. Wrap it with toStandardJsonSchema() of @valibot/to-json-schema, or pass `inputJsonSchema`.',
    ],
    [own(), 'its input schema (own) cannot be converted to JSON Schema. Pass `inputJsonSchema`.'],
    [
      z.object({ at: z.date() }),
      'its input schema (zod) cannot be converted to JSON Schema: Date cannot be represented in JSON Schema. Pass `inputJsonSchema`.',
    ],
    [
      own({ input: () => 'text' }),
      'its input must be a Standard Schema (zod, valibot, arktype …) or a plain JSON Schema object, not "text".',
    ],
    [z.string(), 'its input schema must describe an object, not "string". Models call tools with an object of arguments.'],
    [
      { type: ['object', 'null'] },
      'its input schema must describe an object, not ["object","null"]. Models call tools with an object of arguments.',
    ],
    [
      { type: 'object', nullable: true },
      'its input schema cannot be checked: nullable is not supported: list "null" among the types. Pass your own `validate`.',
    ],
    [
      { type: 'object', properties: new Map() },
      'its input must be a Standard Schema (zod, valibot, arktype …) or a plain JSON Schema object, not an object with values that are not JSON (properties is a Map; turn it into an object or an array of entries).',
    ],
    [new Map(), 'its input must be a Standard Schema (zod, valibot, arktype …) or a plain JSON Schema object, not an instance of Map.'],
    [undefined, 'its input must be a Standard Schema (zod, valibot, arktype …) or a plain JSON Schema object, not undefined.'],
    [() => ({}), 'its input must be a Standard Schema (zod, valibot, arktype …) or a plain JSON Schema object, not a function.'],
  ])('refuses what cannot work, and says what would: %#', (input, problem) => {
    expect(() => toInputSchema('t', { input })).toThrow(new InvalidToolError('t', problem));
  });

  it('refuses a validate or an inputJsonSchema that would not be looked at', () => {
    const validate = (value: unknown) => ({ value });
    expect(() => toInputSchema('t', { input: z.object({}), validate })).toThrow('which checks the arguments itself. Leave out validate.');
    expect(() => toInputSchema('t', { input: city, inputJsonSchema: city })).toThrow('Pass the JSON Schema as input.');
  });

  it.each<[string, unknown]>([
    ['nothing', {}],
    ['a note', { description: 'No arguments.' }],
    ['one of several forms', { anyOf: [{ required: ['a'] }, { required: ['b'] }] }],
    ['a reference', { $ref: '#/$defs/a', $defs: { a: { required: ['a'] } } }],
    ['JSON Schema that zod wrote, as a field', { type: 'object', properties: { city: z.toJSONSchema(z.string()) } }],
  ])('takes a JSON Schema without a type if it has %s', (_name, input) => {
    expect(toInputSchema('t', { input }).json).toMatchObject({ type: 'object' });
  });
});
