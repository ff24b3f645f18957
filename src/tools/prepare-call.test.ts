import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createFakeClock } from '../lib/index.ts';
import type { ToolCall } from '../messages/index.ts';
import { defineClientTool } from './define-client-tool.ts';
import { defineTool } from './define-tool.ts';
import type { PreparedCall, PrepareOptions } from './prepare-call.ts';
import { prepareCall, withArgs } from './prepare-call.ts';
import { providerTool } from './provider-tool.ts';
import { defineContext } from './tool-context.ts';
import { ToolSet } from './tool-set.ts';

const input = z.object({ city: z.string(), days: z.coerce.number().default(1) });
const shared = { description: 'A tool.', input, run: () => 'ran' };
const set = ToolSet.from([
  defineTool({ ...shared, name: 'weather' }),
  defineTool({ ...shared, name: 'gated', needsApproval: true }),
  defineTool({
    ...shared,
    name: 'choosy',
    context: defineContext<{ limit: number }>(),
    needsApproval: ({ days }, { context, toolCallId, state }) => toolCallId === 'c' && state === 'S' && days > context.limit,
  }),
  defineClientTool({ name: 'ask', description: 'A tool.', input }),
  defineTool({
    ...shared,
    name: 'broken-check',
    input: z.object({
      city: z.string().refine(() => {
        throw new Error('no database');
      }),
    }),
  }),
  defineTool({
    ...shared,
    name: 'hanging-check',
    input: z.object({ city: z.string().refine(() => new Promise<boolean>(() => undefined)) }),
  }),
  defineTool({
    ...shared,
    name: 'broken-gate',
    needsApproval: () => {
      throw new Error('no rules');
    },
  }),
  defineTool({ ...shared, name: 'mute-gate', needsApproval: (() => undefined) as unknown as () => boolean }),
  defineTool({ ...shared, name: 'slow-gate', needsApproval: (async () => false) as unknown as () => boolean }),
  providerTool({ id: 'openai.web_search', name: 'search' }),
]);
const clock = createFakeClock(5000);
const call = (name: string, args: unknown = { city: 'Paris' }, more: Partial<ToolCall> = {}): ToolCall => ({
  id: 'c',
  name,
  args: args as never,
  ...more,
});
const prepare = async (given: ToolCall, more: Partial<PrepareOptions<{ limit: number }>> = {}): Promise<PreparedCall> =>
  prepareCall(set, given, { context: { limit: 3 }, state: 'S', clock, ...more });
const getRefusal = async (given: ToolCall): Promise<string | undefined> => {
  const prepared = await prepare(given);
  return prepared.type === 'ended' ? prepared.execution.failure?.message : prepared.type;
};

describe('prepareCall', () => {
  it('parses the arguments for the tool and keeps them as they came', async () => {
    const prepared = await prepare(call('weather', { city: 'Paris', days: '3' }));
    expect(prepared).toMatchObject({
      type: 'ready',
      call: { id: 'c', args: { city: 'Paris', days: '3' } },
      parsed: { city: 'Paris', days: 3 },
    });
  });

  it('brings the arguments into their stored form first', async () => {
    expect(await prepare(call('weather', { city: 'a\uD800', days: undefined }))).toMatchObject({
      type: 'ready',
      call: { args: { city: 'a\uFFFD' } },
      parsed: { city: 'a\uFFFD', days: 1 },
    });
  });

  it('stops at a gate, and goes through once a person agreed', async () => {
    expect(await prepare(call('gated'))).toMatchObject({ type: 'needs-approval', call: { args: { city: 'Paris' } } });
    expect(await prepare(call('gated'), { approved: true })).toMatchObject({ type: 'ready' });
  });

  it('asks a gate that looks at the arguments', async () => {
    expect(await getRefusal(call('choosy', { city: 'Paris', days: 3 }))).toBe('ready');
    expect(await getRefusal(call('choosy', { city: 'Paris', days: 4 }))).toBe('needs-approval');
    expect(await prepare(call('choosy', { city: 'Paris', days: 4 }), { approved: true })).toMatchObject({ type: 'ready' });
  });

  it('keeps a gate shut that gives no clear answer', async () => {
    expect(await getRefusal(call('mute-gate'))).toBe('needs-approval');
    expect(await getRefusal(call('broken-gate'))).toBe('Whether "broken-gate" may run could not be found out: no rules');
    expect(await getRefusal(call('slow-gate'))).toBe('ready');
  });

  it('checks edited arguments like any others', async () => {
    const edited = withArgs(call('gated', {}, { rawArgs: '{broken' }), { city: 3 });
    expect(edited).toEqual({ id: 'c', name: 'gated', args: { city: 3 } });
    expect(await prepare(edited, { approved: true })).toMatchObject({ type: 'ended', execution: { status: 'failed' } });
    expect(await prepare(withArgs(edited, { city: 'Oslo' }), { approved: true })).toMatchObject({
      type: 'ready',
      parsed: { city: 'Oslo' },
    });
  });

  it('hands a client tool to whoever carries it out, with checked arguments', async () => {
    expect(await prepare(call('ask'))).toMatchObject({ type: 'client-tool', call: { args: { city: 'Paris' } } });
    expect(await getRefusal(call('ask', {}))).toMatch(/do not fit: city/);
  });

  it('leaves to the provider what the provider carries out', async () => {
    expect(await prepare(call('search', null, { providerExecuted: true }))).toMatchObject({ type: 'provider' });
    expect(await prepare(call('nowhere', null, { providerExecuted: true }))).toMatchObject({ type: 'provider' });
    expect(await getRefusal(call('search'))).toBe('"search" is run by the provider. It cannot be run here.');
  });

  it('reads arguments that came as text', async () => {
    expect(await prepare(call('weather', null, { rawArgs: '{"city":"Rome"}' }))).toMatchObject({
      type: 'ready',
      call: { args: { city: 'Rome' } },
    });
    expect(await getRefusal(call('weather', null, { rawArgs: ' \n' }))).toMatch(/never came: the answer was cut off/);
  });

  it.each<[ToolCall, string]>([
    [call('wether'), 'There is no tool named "wether". Did you mean "weather"?'],
    [call('__proto__'), 'There is no tool named "__proto__". The tools are: weather, '],
    [
      call('weather', null, { rawArgs: '{"city": Paris}' }),
      'The arguments of "weather" are not valid JSON, at line 1, column 10: expected a value, found "Paris}". Call it again with valid JSON.',
    ],
    [
      call('weather', { days: 'x' }),
      'The arguments of "weather" do not fit: city: Invalid input: expected string, received undefined; days: Invalid input: expected number, received NaN.',
    ],
    [call('weather', null), 'The arguments of "weather" do not fit: '],
    [call('weather', { city: new Map() }), 'The arguments of "weather" are not valid: city is a Map; '],
    [call('weather', null, { rawArgs: `${'['.repeat(100)}${']'.repeat(100)}` }), 'is nested deeper than 64 levels.'],
    [call('broken-check'), 'The arguments of "broken-check" could not be checked: no database'],
  ])('tells the model why a call cannot run: %#', async (given, message) => {
    const prepared = await prepare(given);
    expect(prepared).toMatchObject({
      type: 'ended',
      execution: {
        toolCallId: 'c',
        toolName: given.name,
        status: 'failed',
        startedAt: 5000,
        durationMs: 0,
        failure: { type: 'tool', retryable: true, readable: true, toolName: given.name, toolCallId: 'c' },
        output: { type: 'error' },
      },
    });
    if (prepared.type !== 'ended') return;
    expect(prepared.execution.failure?.message).toContain(message);
    expect(prepared.execution.output).toEqual({ type: 'error', value: prepared.execution.failure?.message });
  });

  it('does not wait for a check that hangs once the run is interrupted', async () => {
    const controller = new AbortController();
    const pending = prepare(call('hanging-check'), { signal: controller.signal });
    controller.abort();
    expect(await pending).toMatchObject({ type: 'ended', execution: { status: 'cancelled' } });
    expect(await prepare(call('weather'), { signal: controller.signal })).toMatchObject({
      type: 'ended',
      execution: { status: 'cancelled' },
    });
  });

  it('is not troubled by a signal that does not abort', async () => {
    expect(await prepare(call('weather'), { signal: new AbortController().signal })).toMatchObject({ type: 'ready' });
  });
});
