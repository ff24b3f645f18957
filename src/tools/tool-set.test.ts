import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineClientTool } from './define-client-tool.ts';
import { defineTool } from './define-tool.ts';
import { providerTool } from './provider-tool.ts';
import { ToolSet } from './tool-set.ts';

const input = z.object({ city: z.string() });
const weather = defineTool({ name: 'weather', description: 'Tells the weather.', input, run: () => 'sunny', effect: 'pure' });
const pay = defineTool({ name: 'pay', description: 'Pays.', input, run: () => 1, needsApproval: true });
const ask = defineClientTool({ name: 'ask', description: 'Asks.', input });
const search = providerTool({ id: 'openai.web_search', name: 'search' });
const inputSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

describe('ToolSet', () => {
  it('keeps the order of a list', () => {
    const set = ToolSet.from([weather, pay, ask, search]);
    expect(set.names).toEqual(['weather', 'pay', 'ask', 'search']);
    expect(set.get('pay')).toBe(pay);
  });

  it('keeps the order of a record', () => {
    const set = ToolSet.from({ pay, weather });
    expect(set.names).toEqual(['pay', 'weather']);
    expect(set.get('weather')).toBe(weather);
  });

  it('tells the model of each tool, and passes provider tools on as they are', () => {
    expect(ToolSet.from([weather, ask, search]).schemas()).toEqual([
      { name: 'weather', description: 'Tells the weather.', inputSchema },
      { name: 'ask', description: 'Asks.', inputSchema },
      { type: 'provider', id: 'openai.web_search', name: 'search', args: {} },
    ]);
  });

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', ''])('has no tool named %j', (name) => {
    expect(ToolSet.from([weather]).get(name)).toBeUndefined();
    expect(ToolSet.from({ weather }).get(name)).toBeUndefined();
  });

  it('may hold a tool named constructor', () => {
    const tool = defineTool({ name: 'constructor', description: 'Builds.', input, run: () => 1 });
    expect(ToolSet.from({ constructor: tool }).get('constructor')).toBe(tool);
  });

  it('has a fingerprint of plain data that does not depend on the order', () => {
    const byArguments = defineTool({ name: 'gated', description: 'A tool.', input, run: () => 1, needsApproval: () => true });
    const set = ToolSet.from([weather, search, pay, ask, byArguments]);
    expect(JSON.parse(JSON.stringify(set.fingerprint()))).toEqual(set.fingerprint());
    expect(ToolSet.from([ask, pay, byArguments, weather, search]).fingerprint()).toEqual(set.fingerprint());
    expect(set.fingerprint()).toEqual([
      { type: 'client', name: 'ask', description: 'Asks.', inputSchema },
      { type: 'function', name: 'gated', description: 'A tool.', inputSchema, effect: 'once', needsApproval: 'by-arguments' },
      { type: 'function', name: 'pay', description: 'Pays.', inputSchema, effect: 'once', needsApproval: true },
      { type: 'provider', id: 'openai.web_search', name: 'search', args: {} },
      { type: 'function', name: 'weather', description: 'Tells the weather.', inputSchema, effect: 'pure', needsApproval: false },
    ]);
  });

  it('may be empty', () => {
    expect([ToolSet.from([]).names, ToolSet.from({}).schemas()]).toEqual([[], []]);
  });

  it.each<[unknown, string]>([
    [[weather, weather], 'Tool "weather": two tools have this name.'],
    [{ forecast: weather }, 'Tool "weather": it stands under the key "forecast". Use its name as the key, or rename the tool.'],
    [
      [weather, { name: 'x' }],
      'Tool "x": tools[1] is an object, not a tool. Create it with defineTool(), or convert AI SDK tools with aiSdkTools().',
    ],
    [{ x: undefined }, 'Tool "x": it is undefined, not a tool. Create it with defineTool(), or convert AI SDK tools with aiSdkTools().'],
  ])('refuses a set that cannot work: %#', (tools, problem) => {
    expect(() => ToolSet.from(tools as never)).toThrow(problem);
  });
});
