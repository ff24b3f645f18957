/* eslint-disable @typescript-eslint/no-deprecated -- the names of other libraries are deprecated on purpose */
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../lib/index.ts';
import { defineClientTool } from './define-client-tool.ts';
import { defineTool } from './define-tool.ts';
import type { ClientTool, FunctionTool } from './tool.ts';
import type { ToolContext } from './tool-context.ts';
import { defineContext } from './tool-context.ts';

const named = { name: 'weather', description: 'Tells the weather.' };

test('arguments are read from a zod schema, after its transforms', () => {
  const tool = defineTool({
    ...named,
    input: z.object({ city: z.string(), days: z.coerce.number().optional(), length: z.string().transform((text) => text.length) }),
    run: (args) => {
      expectTypeOf(args).toEqualTypeOf<{ city: string; days?: number | undefined; length: number }>();
      return args.city;
    },
  });
  expectTypeOf(tool).toEqualTypeOf<FunctionTool<{ city: string; days?: number | undefined; length: number }, string, unknown>>();
});

test('arguments are read from a valibot schema in its wrapper', () => {
  const tool = defineTool({
    ...named,
    input: toStandardJsonSchema(v.object({ city: v.string(), days: v.optional(v.number()) })),
    run: async ({ city, days = 1 }) => ({ city, days }),
  });
  expectTypeOf(tool).toEqualTypeOf<FunctionTool<{ city: string; days?: number | undefined }, { city: string; days: number }, unknown>>();
});

test('arguments are read from an arktype schema', () => {
  const tool = defineTool({ ...named, input: type({ city: 'string', 'days?': 'number' }), run: ({ city }) => city.length });
  expectTypeOf(tool).toEqualTypeOf<FunctionTool<{ city: string; days?: number }, number, unknown>>();
});

test('arguments are read from a JSON Schema written in place', () => {
  defineTool({
    ...named,
    input: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        unit: { enum: ['C', 'F'] },
        kind: { const: 'now' },
        days: { type: 'integer', minimum: 1 },
        tags: { type: 'array', items: { type: 'string' } },
        where: { type: 'object', properties: { lat: { type: 'number' } }, required: ['lat'] },
        note: { type: ['string', 'null'] },
        either: { anyOf: [{ type: 'string' }, { type: 'boolean' }] },
        free: { description: 'anything' },
      },
      required: ['city', 'unit', 'kind', 'tags', 'where'],
      additionalProperties: false,
    },
    run: (args) => {
      expectTypeOf(args.city).toEqualTypeOf<string>();
      expectTypeOf(args.unit).toEqualTypeOf<'C' | 'F'>();
      expectTypeOf(args.kind).toEqualTypeOf<'now'>();
      expectTypeOf(args.days).toEqualTypeOf<number | undefined>();
      expectTypeOf(args.tags).toEqualTypeOf<readonly string[]>();
      expectTypeOf(args.where).toEqualTypeOf<{ readonly lat: number }>();
      expectTypeOf(args.note).toEqualTypeOf<string | null | undefined>();
      expectTypeOf(args.either).toEqualTypeOf<string | boolean | undefined>();
      // @ts-expect-error -- no such field
      args.town;
      return 1;
    },
  });
});

test('a JSON Schema that came from elsewhere gives a JSON object', () => {
  const schema: JsonObject = { type: 'object' };
  const tool = defineTool({ ...named, input: schema, run: (args) => args });
  expectTypeOf(tool).toEqualTypeOf<FunctionTool<JsonObject, JsonObject, unknown>>();
  defineTool({ ...named, input: schema, validate: (value) => ({ value: value as JsonObject }), run: (args) => args });
});

test('a schema without a JSON form is a type error, unless the form is given', () => {
  const plain = v.object({ city: v.string() });
  // @ts-expect-error -- valibot alone has no JSON form
  defineTool({ ...named, input: plain, run: ({ city }) => city });
  const tool = defineTool({ ...named, input: plain, inputJsonSchema: { type: 'object' }, run: ({ city }) => city });
  expectTypeOf(tool).toEqualTypeOf<FunctionTool<{ city: string }, string, unknown>>();
  // @ts-expect-error -- the same for a client tool
  defineClientTool({ ...named, input: plain });
});

test('what is no schema is a type error', () => {
  // @ts-expect-error -- a number
  defineTool({ ...named, input: 42, run: () => 1 });
  // @ts-expect-error -- a class of somebody's own
  defineTool({ ...named, input: new Map(), run: () => 1 });
  // @ts-expect-error -- nothing
  defineTool({ ...named, run: () => 1 });
});

test('the fields of a schema without their object are a type error', () => {
  // @ts-expect-error -- to be wrapped in z.object()
  defineTool({ ...named, input: { order: z.number() }, run: () => 1 });
  // @ts-expect-error -- the same for valibot
  defineTool({ ...named, input: { order: v.number() }, run: () => 1 });
  // @ts-expect-error -- the same for arktype
  defineTool({ ...named, input: { order: type('number') }, run: () => 1 });
  // @ts-expect-error -- the same one level down
  defineTool({ ...named, input: { type: 'object', properties: { order: z.number() } }, run: () => 1 });
  // @ts-expect-error -- the same for a result
  defineTool({ ...named, input: z.object({}), output: { order: z.number() }, run: () => 1 });
  // @ts-expect-error -- the same for a client tool
  defineClientTool({ ...named, input: { order: z.number() } });
});

test('the items of a list are read from prefixItems and items', () => {
  defineTool({
    ...named,
    input: {
      type: 'object',
      properties: {
        pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
        row: { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'boolean' } },
      },
      required: ['pair', 'row'],
    },
    run: ({ pair, row }) => {
      expectTypeOf(pair).toEqualTypeOf<readonly (string | number)[]>();
      expectTypeOf(row).toEqualTypeOf<readonly (string | boolean)[]>();
    },
  });
});

test('the context is typed by defineContext, and unknown without it', () => {
  const tool = defineTool({
    ...named,
    input: z.object({}),
    context: defineContext<{ readonly db: Map<string, number> }>(),
    needsApproval: (_args, { context }) => context.db.size > 0,
    run: (_args, ctx) => {
      expectTypeOf(ctx).toEqualTypeOf<ToolContext<{ readonly db: Map<string, number> }>>();
      return ctx.context.db.get('a');
    },
  });
  expectTypeOf(tool).toEqualTypeOf<FunctionTool<Record<string, never>, number | undefined, { readonly db: Map<string, number> }>>();
  defineTool({
    ...named,
    input: z.object({}),
    run: (_args, { context, state }) => expectTypeOf([context, state]).toEqualTypeOf<unknown[]>(),
  });
});

test('toModelOutput and reconcile speak of the result', () => {
  defineTool({
    ...named,
    input: z.object({ city: z.string() }),
    run: async ({ city }) => ({ city, degrees: 20 }),
    reconcile: async (key) => (key === '' ? { happened: false } : { happened: true, result: { city: key, degrees: 1 } }),
    toModelOutput: (result) => {
      expectTypeOf(result).toEqualTypeOf<{ city: string; degrees: number }>();
      return `${result.degrees}`;
    },
  });
  defineTool({
    ...named,
    input: z.object({}),
    run: async function* () {
      yield 'looking';
      yield 'found';
      return { found: 3 };
    },
    toModelOutput: (result) => {
      expectTypeOf(result).toEqualTypeOf<string | { found: number }>();
      return 'done';
    },
  });
  // @ts-expect-error -- the result is a number
  defineTool({ ...named, input: z.object({}), run: () => 1, reconcile: () => ({ happened: true, result: 'one' }) });
});

test('an output schema types what run must give, and what it becomes', () => {
  const output = z.object({ unit: z.enum(['C', 'F']), degrees: z.string().transform(Number) });
  const tool = defineTool({
    ...named,
    input: z.object({}),
    output,
    run: () => ({ unit: 'C' as const, degrees: '20' }),
    toModelOutput: (result) => {
      expectTypeOf(result).toEqualTypeOf<{ unit: 'C' | 'F'; degrees: number }>();
      return result.degrees;
    },
  });
  expectTypeOf(tool).toEqualTypeOf<FunctionTool<Record<string, never>, { unit: 'C' | 'F'; degrees: number }, unknown>>();
  // @ts-expect-error -- no such unit
  defineTool({ ...named, input: z.object({}), output, run: () => ({ unit: 'K' as const, degrees: '20' }) });
  // @ts-expect-error -- a field is missing
  defineTool({ ...named, input: z.object({}), output, run: async () => ({ unit: 'C' as const }) });
  defineTool({
    ...named,
    input: z.object({}),
    output: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    run: () => ({ n: 1 }),
  });
});

test('defineClientTool declares a tool that somebody outside runs', () => {
  expectTypeOf(defineClientTool({ ...named, input: z.object({}) })).toEqualTypeOf<ClientTool>();
  expectTypeOf(defineClientTool({ ...named, input: { type: 'object' } })).toEqualTypeOf<ClientTool>();
  // @ts-expect-error -- the one who runs it may ask
  defineClientTool({ ...named, input: z.object({}), needsApproval: true });
  // @ts-expect-error -- a tool that runs here is declared by defineTool
  defineClientTool({ ...named, input: z.object({}), run: () => 1 });
  // @ts-expect-error -- a tool without run is declared by defineClientTool
  defineTool({ ...named, input: z.object({}) });
  defineClientTool({
    ...named,
    input: z.object({}),
    output: z.object({ ok: z.boolean() }),
    toModelOutput: ({ ok }) => (ok ? 'yes' : 'no'),
  });
});

// Each call is spread over lines: the one error that is expected is on the key, and the lines around it compile.
test('a wrong key is one error on that key, and the other options stay inferred', () => {
  const input = z.object({ city: z.string() });
  defineTool({
    ...named,
    input,
    // @ts-expect-error -- it is called run
    execute: (args, ctx) => {
      expectTypeOf(args).toEqualTypeOf<{ city: string }>();
      expectTypeOf(ctx).toEqualTypeOf<ToolContext>();
    },
  });
  defineTool({
    ...named,
    // @ts-expect-error -- it is called input
    inputSchema: input,
    run: ({ city }) => {
      expectTypeOf(city).toEqualTypeOf<string>();
    },
  });
  defineTool({
    ...named,
    // @ts-expect-error -- it is called input
    parameters: input,
    run: ({ city }) => {
      expectTypeOf(city).toEqualTypeOf<string>();
    },
  });
  defineTool({
    ...named,
    input,
    context: defineContext<{ readonly db: string }>(),
    // @ts-expect-error -- an option of agents
    maxSteps: 3,
    needsApproval: ({ city }, { context }) => city === context.db,
    run: ({ city }, { context }) => {
      expectTypeOf(city).toEqualTypeOf<string>();
      expectTypeOf(context.db).toEqualTypeOf<string>();
      return { city };
    },
    toModelOutput: (result) => result.city,
  });
  defineTool({
    ...named,
    input,
    output: z.object({ city: z.string() }),
    // @ts-expect-error -- misspelt
    timeoutMS: 3,
    run: ({ city }) => ({ city }),
    toModelOutput: ({ city }) => {
      expectTypeOf(city).toEqualTypeOf<string>();
      return city;
    },
  });
});

test('a result that is written as a generator, a promise or a value is read in the same way', () => {
  const input = z.object({});
  interface Weather {
    readonly degrees: number;
  }
  const weather: Weather = { degrees: 20 };
  expectTypeOf(defineTool({ ...named, input, run: () => weather })).toEqualTypeOf<FunctionTool<Record<string, never>, Weather, unknown>>();
  expectTypeOf(defineTool({ ...named, input, run: () => Promise.resolve(weather) })).toEqualTypeOf<
    FunctionTool<Record<string, never>, Weather, unknown>
  >();
  const streaming = defineTool({
    ...named,
    input,
    run: async function* () {
      yield weather;
    },
  });
  expectTypeOf(streaming).toEqualTypeOf<FunctionTool<Record<string, never>, Weather, unknown>>();
});

test('any is nowhere', () => {
  defineTool({
    ...named,
    input: z.object({ n: z.number() }),
    run: (args, ctx) => {
      expectTypeOf(args).not.toBeAny();
      expectTypeOf(ctx.context).not.toBeAny();
      expectTypeOf(ctx.state).toEqualTypeOf<unknown>();
    },
  });
});
