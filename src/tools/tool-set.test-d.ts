import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { defineClientTool } from './define-client-tool.ts';
import { defineTool } from './define-tool.ts';
import { prepareCall } from './prepare-call.ts';
import { providerTool } from './provider-tool.ts';
import type { Tool } from './tool.ts';
import { defineContext } from './tool-context.ts';
import { ToolSet } from './tool-set.ts';

const options = { description: 'A tool.', input: z.object({ city: z.string() }) };
const plain = defineTool({ ...options, name: 'plain', run: () => 1 });
const withDb = defineTool({
  ...options,
  name: 'db',
  context: defineContext<{ readonly db: string }>(),
  run: (_args, { context }) => context.db,
});
const withUser = defineTool({
  ...options,
  name: 'user',
  context: defineContext<{ readonly user: number }>(),
  run: (_args, { context }) => context.user,
});
const client = defineClientTool({ ...options, name: 'client' });
const search = providerTool({ id: 'a.b', name: 'search' });
const call = { id: '1', name: 'plain', args: {} };

test('a set needs what its tools need, taken together', () => {
  expectTypeOf(ToolSet.from([plain, client, search])).toEqualTypeOf<ToolSet<unknown>>();
  expectTypeOf(ToolSet.from([])).toEqualTypeOf<ToolSet<unknown>>();
  expectTypeOf(ToolSet.from([plain, withDb, client])).toEqualTypeOf<ToolSet<{ readonly db: string }>>();
  expectTypeOf(ToolSet.from({ a: withDb, b: withUser, search })).toEqualTypeOf<
    ToolSet<{ readonly db: string } & { readonly user: number }>
  >();
});

test('a run that does not give it is a type error', () => {
  const set = ToolSet.from([withDb, withUser]);
  prepareCall(set, call, { context: { db: '', user: 1, more: true } });
  // @ts-expect-error -- user is missing
  prepareCall(set, call, { context: { db: '' } });
  // @ts-expect-error -- everything is missing
  prepareCall(set, call, { context: undefined });
  prepareCall(ToolSet.from([plain]), call, { context: undefined });
});

test('a tool declared in place keeps its own types', () => {
  const set = ToolSet.from([
    defineTool({
      ...options,
      name: 'in-place',
      run: ({ city }, { context }) => expectTypeOf({ city, context }).toEqualTypeOf<{ city: string; context: unknown }>(),
    }),
    defineTool({ ...options, name: 'db', context: defineContext<{ readonly db: string }>(), run: (_args, { context }) => context.db }),
  ]);
  expectTypeOf(set).toEqualTypeOf<ToolSet<{ readonly db: string }>>();
});

test('tools whose types were forgotten take any context', () => {
  const tools: readonly Tool[] = [plain, withDb];
  expectTypeOf(ToolSet.from(tools)).toEqualTypeOf<ToolSet<unknown>>();
});

test('any set is a ToolSet', () => {
  expectTypeOf(ToolSet.from([withDb])).toExtend<ToolSet>();
});
