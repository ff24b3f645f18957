import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { defineClientTool } from './define-client-tool.ts';
import { defineTool } from './define-tool.ts';
import { InvalidToolError } from './invalid-tool-error.ts';
import { providerTool } from './provider-tool.ts';
import { defineContext } from './tool-context.ts';

const named = { name: 'weather', description: 'Tells the weather.', input: z.object({ city: z.string() }) };

describe('defineTool', () => {
  it('makes a tool that runs here, once, ungated and without a time limit unless told otherwise', () => {
    const run = () => 'sunny';
    const tool = defineTool({ ...named, run });
    expect(tool).toMatchObject({
      type: 'function',
      name: 'weather',
      description: 'Tells the weather.',
      effect: 'once',
      needsApproval: false,
      run,
    });
    expect(Object.keys(tool)).not.toContain('timeoutMs');
    expect(tool.input.json).toMatchObject({ type: 'object', required: ['city'] });
  });

  it('keeps what it is told', async () => {
    const tool = defineTool({
      ...named,
      context: defineContext<{ unit: string }>(),
      run: (_args, { context }) => context.unit,
      effect: 'pure',
      timeoutMs: 50,
      needsApproval: ({ city }) => city === 'Oslo',
      output: { type: 'string' },
      reconcile: () => undefined,
      toModelOutput: (result) => result,
    });
    expect(tool).toMatchObject({ effect: 'pure', timeoutMs: 50 });
    expect(await tool.output?.parse(1)).toMatchObject({ ok: false });
    expect([typeof tool.reconcile, typeof tool.toModelOutput, typeof tool.needsApproval]).toEqual(['function', 'function', 'function']);
  });

  it('leaves a tool that somebody outside runs to defineClientTool', () => {
    expect(defineClientTool({ ...named })).toMatchObject({ type: 'client', name: 'weather' });
  });

  it('makes tools that cannot be changed', () => {
    expect(Object.isFrozen(defineClientTool({ ...named }))).toBe(true);
    expect(Object.isFrozen(defineTool({ ...named, run: () => 1 }))).toBe(true);
  });

  it.each<[object, string]>([
    [{ name: 'two words' }, 'its name must have 1 to 64 letters (a-z), digits, "_" or "-". Providers reject other names.'],
    [{ name: 'x'.repeat(65) }, 'its name must have'],
    [{ name: '' }, 'its name must have'],
    [{ name: 7 }, 'its name must be a string, not 7.'],
    [
      { description: undefined },
      'description must be a non-empty string, not undefined. Say what the tool does, and when to use it: that is all the model knows of it.',
    ],
    [{ description: ' ' }, 'description must be a non-empty string, not " ".'],
    [{ run: 'no' }, 'run must be a function, not "no".'],
    [{ validate: 'no' }, 'validate must be a function, not "no".'],
    [{ reconcile: 1 }, 'reconcile must be a function, not 1.'],
    [{ toModelOutput: {} }, 'toModelOutput must be a function, not an object.'],
    [{ timeoutMs: 0 }, 'timeoutMs must be a number above 0'],
    [{ timeoutMs: Number.POSITIVE_INFINITY }, 'timeoutMs must be a number above 0'],
    [{ maxResultChars: 0 }, 'maxResultChars must be a whole number above 0, or Infinity for no limit'],
    [{ maxResultChars: '5' }, 'maxResultChars must be a whole number above 0, or Infinity for no limit'],
    [{ effect: 'twice' }, 'effect must be one of pure, idempotent, once, not "twice".'],
    [{ needsApproval: 'yes' }, 'needsApproval must be true, false or a function, not "yes".'],
    [
      { run: undefined },
      'run must be a function, not undefined. For a tool that runs outside, such as in a browser, use defineClientTool().',
    ],
    [{ timeoutMS: 5 }, 'Unknown option "timeoutMS" in defineTool(). Did you mean "timeoutMs"?'],
    [{ parameters: {} }, 'Unknown option "parameters" in defineTool(). Use input.'],
    [{ input: 42 }, 'its input must be a Standard Schema'],
    [{ output: 42 }, 'its output must be a Standard Schema (zod, valibot, arktype …) or a plain JSON Schema object, not 42.'],
    [
      { output: { unevaluatedItems: false } },
      'its output schema cannot be checked: unevaluatedItems is not supported: use items, beside prefixItems. Describe the output by a Standard Schema instead.',
    ],
  ])('refuses %j', (wrong, problem) => {
    const options = { ...named, run: () => 1, ...wrong };
    expect(() => defineTool(options as never)).toThrow(InvalidToolError);
    expect(() => defineTool(options as never)).toThrow(problem);
  });
});

describe('defineClientTool', () => {
  const runsElsewhere = 'A client tool runs outside. Use defineTool() for a tool that runs here.';

  it.each<[object, string]>([
    [{ needsApproval: true }, `Unknown option "needsApproval" in defineClientTool(). ${runsElsewhere}`],
    [{ timeoutMs: 5 }, `Unknown option "timeoutMs" in defineClientTool(). ${runsElsewhere}`],
    [{ run: () => 1 }, `Unknown option "run" in defineClientTool(). ${runsElsewhere}`],
    [
      { description: undefined },
      'description must be a non-empty string, not undefined. Say what the tool does, and when to use it: that is all the model knows of it.',
    ],
  ])('refuses %j', (wrong, problem) => {
    expect(() => defineClientTool({ ...named, ...wrong })).toThrow(new InvalidToolError('weather', problem));
  });
});

describe('providerTool', () => {
  it('describes a tool that the provider carries out', () => {
    expect(providerTool({ id: 'openai.web_search', name: 'search', args: { size: 'low' } })).toEqual({
      type: 'provider',
      id: 'openai.web_search',
      name: 'search',
      args: { size: 'low' },
    });
    expect(providerTool({ id: 'openai.web_search', name: 'search' }).args).toEqual({});
  });

  it.each<[object, string]>([
    [{ name: 'a b' }, 'its name must have'],
    [{ id: 'search' }, 'its id must look like "provider.tool-id"'],
    [{ args: new Map() }, 'its args must be a plain JSON object, not'],
    [{ args: [] }, 'its args must be a plain JSON object, not'],
  ])('refuses %j', (wrong, problem) => {
    expect(() => providerTool({ id: 'a.b', name: 'n', ...wrong })).toThrow(problem);
  });
});

test('an option that does not exist is refused, so that a misspelt run does not make a tool that waits for ever', () => {
  // Holds because this is what a caller without types can pass.
  const options = { name: 'add', description: 'Adds.', input: { type: 'object' }, execute: () => 1 } as never;
  expect(() => defineTool(options)).toThrow('Unknown option "execute" in defineTool(). Use run.');
});
