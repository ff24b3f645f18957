import { anthropic } from '@ai-sdk/anthropic';
import { openai } from '@ai-sdk/openai';
import { dynamicTool, jsonSchema, tool, zodSchema } from 'ai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { FunctionTool, Tool, ToolContext } from '../../tools/index.ts';
import { InvalidToolError, prepareCall, runCall, ToolSet } from '../../tools/index.ts';
import type { AiSdkToolLike } from './index.ts';
import { aiSdkTools } from './index.ts';

const only = (tools: Readonly<Record<string, Tool>>): Tool => {
  const [first] = Object.values(tools);
  if (first === undefined) throw new Error('expected a tool');
  return first;
};

function functionTool(tools: Readonly<Record<string, Tool>>): FunctionTool {
  const first = only(tools);
  if (first.type !== 'function') throw new Error(`expected a function tool, found ${first.type}`);
  return first;
}

function contextWith(report: (progress: unknown) => void = () => {}): ToolContext<never> {
  return {
    context: { tenant: 't' } as never,
    signal: new AbortController().signal,
    toolCallId: 'call-1',
    idempotencyKey: 'key',
    state: undefined,
    report,
  };
}

const run = async (given: FunctionTool, args: unknown): Promise<unknown> => given.run(args as never, contextWith());

describe('aiSdkTools', () => {
  it('takes a tool with a zod schema and runs it with what the AI SDK would give it', async () => {
    const seen: unknown[] = [];
    const weather = tool({
      description: 'Tells the weather.',
      inputSchema: z.object({ city: z.string(), days: z.number().default(1) }),
      execute: ({ city, days }, { toolCallId, abortSignal, context }) => {
        seen.push(toolCallId, abortSignal instanceof AbortSignal, context);
        return { city, days, sky: 'clear' };
      },
    });
    const taken = functionTool(aiSdkTools({ weather }));
    expect(taken).toMatchObject({
      type: 'function',
      name: 'weather',
      description: 'Tells the weather.',
      effect: 'once',
      needsApproval: false,
    });
    expect(taken.input.json).toMatchObject({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] });
    expect(await taken.input.parse({ city: 'Paris' })).toEqual({ ok: true, value: { city: 'Paris', days: 1 } });
    expect(await taken.input.parse({ city: 7 })).toMatchObject({ ok: false });
    expect(await run(taken, { city: 'Paris', days: 1 })).toEqual({ city: 'Paris', days: 1, sky: 'clear' });
    expect(seen).toEqual(['call-1', true, { tenant: 't' }]);
  });

  it.each([
    ['jsonSchema()', jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] })],
    [
      'a schema that is made when it is needed',
      () => jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }),
    ],
    ['zodSchema()', zodSchema(z.object({ city: z.string() }))],
  ])('takes %s, and checks arguments by it', async (_, inputSchema) => {
    const taken = functionTool(aiSdkTools({ weather: tool({ inputSchema, execute: async ({ city }) => city }) }));
    expect(taken.input.json).toMatchObject({ type: 'object', properties: { city: { type: 'string' } } });
    expect(await taken.input.parse({ city: 'Rome' })).toMatchObject({ ok: true, value: { city: 'Rome' } });
    expect(await taken.input.parse({})).toMatchObject({ ok: false });
  });

  it('uses the validation that a schema brings, and none where ours does not know the schema', async () => {
    const strict = jsonSchema<{ n: number }>(
      { type: 'object' },
      {
        validate: (value) =>
          (value as { n?: unknown }).n === 1 ? { success: true, value: { n: 1 } } : { success: false, error: new Error('n must be 1') },
      },
    );
    const taken = functionTool(aiSdkTools({ strict: tool({ inputSchema: strict, execute: () => 1 }) }));
    expect(await taken.input.parse({ n: 1 })).toEqual({ ok: true, value: { n: 1 } });
    expect(await taken.input.parse({ n: 2 })).toMatchObject({ ok: false, issues: [{ message: 'n must be 1' }] });
    const exotic = jsonSchema({ type: 'object', unevaluatedProperties: false, properties: {} } as never);
    const lax = functionTool(aiSdkTools({ lax: tool({ inputSchema: exotic, execute: () => 1 }) }));
    expect(await lax.input.parse({ any: 'thing' })).toMatchObject({ ok: true });
  });

  it('tells the progress of a tool that yields; its last value is the result', async () => {
    const count = tool({
      inputSchema: z.object({}),
      async *execute() {
        yield 'one';
        yield 'two';
      },
    });
    const returned = functionTool(aiSdkTools({ count })).run({} as never, contextWith());
    const told: unknown[] = [];
    for await (const value of returned as AsyncIterable<unknown>) told.push(value);
    expect(told).toEqual(['one', 'two']);
  });

  it('takes a tool without execute for one that somebody outside carries out', () => {
    const ask = tool({ description: 'Asks the user.', inputSchema: z.object({ question: z.string() }) });
    expect(only(aiSdkTools({ ask }))).toMatchObject({ type: 'client', name: 'ask', description: 'Asks the user.' });
  });

  it('leaves a provider’s own tools to the provider', () => {
    const tools = aiSdkTools({
      search: openai.tools.webSearch({ searchContextSize: 'low' }),
      code: anthropic.tools.codeExecution_20250825(),
    });
    expect(tools).toMatchObject({
      search: { type: 'provider', id: 'openai.web_search', name: 'search', args: { searchContextSize: 'low' } },
      code: { type: 'provider', id: 'anthropic.code_execution_20250825', name: 'code' },
    });
  });

  it('asks for approval where the tool does', async () => {
    // By its shape: the newest `tool()` wants approval to be asked for elsewhere.
    const pay = { inputSchema: z.object({ amount: z.number() }), execute: () => 1 };
    const always = functionTool(aiSdkTools({ pay: { ...pay, needsApproval: true } as AiSdkToolLike }));
    expect(always.needsApproval).toBe(true);
    const some = { ...pay, needsApproval: async ({ amount }: { readonly amount: number }) => amount > 100 } as AiSdkToolLike;
    const { needsApproval } = functionTool(aiSdkTools({ pay: some }));
    const askForApproval = async (amount: number): Promise<unknown> =>
      typeof needsApproval === 'function' &&
      (await needsApproval({ amount } as never, { context: {} as never, toolCallId: '1', state: undefined }));
    expect(await askForApproval(5)).toBe(false);
    expect(await askForApproval(500)).toBe(true);
  });

  it.each([
    [{ type: 'text', value: 'words' }, 'words'],
    [{ type: 'json', value: { a: 1 } }, { a: 1 }],
    [{ type: 'error-text', value: 'no' }, 'no'],
    [{ type: 'execution-denied', reason: 'not you' }, 'not you'],
    [
      {
        type: 'content',
        value: [
          { type: 'text', text: 'See:' },
          { type: 'image-data', data: 'aGk=', mediaType: 'image/png' },
          { type: 'file-url', url: 'https://x.org/a.pdf' },
          { type: 'file', data: { type: 'data', data: new Uint8Array([104, 105]) }, mediaType: 'application/pdf', filename: 'a.pdf' },
          { type: 'file', data: { type: 'reference', reference: { openai: 'file-1' } }, mediaType: 'application/pdf' },
        ],
      },
      [
        { type: 'text', text: 'See:' },
        { type: 'image', mediaType: 'image/png', data: 'aGk=' },
        { type: 'file', mediaType: 'application/octet-stream', url: 'https://x.org/a.pdf' },
        { type: 'file', mediaType: 'application/pdf', data: 'aGk=', filename: 'a.pdf' },
        { type: 'file', mediaType: 'application/pdf', id: 'file-1' },
      ],
    ],
  ])('shows the model what the tool wants it to see: %j', async (shown, expected) => {
    const taken = functionTool(
      aiSdkTools({ look: tool({ inputSchema: z.object({}), execute: () => 'raw', toModelOutput: () => shown as never }) }),
    );
    expect(await taken.toModelOutput?.('raw', { toolCallId: 'call-1', args: {} })).toEqual(expected);
  });

  it('tells the tool which call it shows', async () => {
    const look = tool({
      inputSchema: z.object({ at: z.string() }),
      execute: () => 'raw',
      toModelOutput: ({ toolCallId, input }) => ({ type: 'text', value: `${toolCallId} at ${input.at}` }),
    });
    const taken = functionTool(aiSdkTools({ look }));
    expect(await taken.toModelOutput?.('raw', { toolCallId: 'call-1', args: { at: 'noon' } })).toBe('call-1 at noon');
  });

  it('makes a set of them all, dynamic ones too', () => {
    const tools = aiSdkTools({
      any: dynamicTool({ description: 'Anything.', inputSchema: z.object({}), execute: async () => 1 }),
      search: openai.tools.webSearch(),
    });
    expect(ToolSet.from(tools).names).toEqual(['any', 'search']);
  });

  it('says what is wrong with what is no tool', () => {
    expect(() => aiSdkTools({ odd: undefined as never })).toThrow(InvalidToolError);
    expect(() =>
      aiSdkTools({ odd: tool({ inputSchema: jsonSchema(Promise.resolve({ type: 'object' } as const)), execute: () => 1 }) }),
    ).toThrow(/promise/);
  });
});

describe('a tool that its provider defines and the host runs', () => {
  it('is offered as the provider knows it, and runs here', async () => {
    const bash = anthropic.tools.bash_20250124({ execute: ({ command }) => Promise.resolve(`ran ${command}`) });
    const set = ToolSet.from(aiSdkTools({ bash }));
    expect(set.schemas()).toEqual([{ type: 'provider', id: 'anthropic.bash_20250124', name: 'bash', args: {} }]);
    const call = { id: 'call-1', name: 'bash', args: { command: 'ls' } };
    const prepared = await prepareCall(set, call, { context: undefined });
    if (prepared.type !== 'ready') throw new Error(`the call is ${prepared.type}`);
    const execution = await runCall(prepared, {
      effects: { run: async (_key, work) => ({ ok: true, value: await work(new AbortController().signal) }) },
      key: 'tool/1/0',
      idempotencyKey: call.id,
      context: undefined,
    });
    expect(execution).toMatchObject({ status: 'succeeded', value: 'ran ls' });
  });

  it('waits for somebody outside where it has no execute', () => {
    const set = ToolSet.from(aiSdkTools({ shell: openai.tools.localShell({}) }));
    expect([set.get('shell')?.type, set.schemas()[0]]).toEqual([
      'client',
      { type: 'provider', id: 'openai.local_shell', name: 'shell', args: {} },
    ]);
  });

  it('stays the provider’s where the provider runs it', () => {
    expect(ToolSet.from(aiSdkTools({ search: openai.tools.webSearch({}) })).get('search')?.type).toBe('provider');
  });
});

it('passes on what a tool wants its provider to know', () => {
  const cached = tool({
    inputSchema: z.object({}),
    execute: () => 1,
    providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
  });
  expect(ToolSet.from(aiSdkTools({ cached })).schemas()[0]).toMatchObject({
    providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
  });
});
