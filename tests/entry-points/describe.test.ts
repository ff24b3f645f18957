import { describe, expect, test } from 'vitest';
import { AgentBuilder, createAgent, defineCapability, defineClientTool, defineHook, defineTool, stopWhen } from '../../src/entry/index.ts';
import { guardHook } from '../../src/hooks/index.ts';
import { subAgents } from '../../src/capabilities/index.ts';
import { StepsLimit } from '../../src/continuation/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

const anything = { type: 'object', properties: {} } as const;
const look = defineTool({ name: 'look', description: 'Looks.', input: anything, run: () => 'seen' });
const pay = defineTool({ name: 'pay', description: 'Pays.', input: anything, needsApproval: true, run: () => 'paid' });
const ask = defineClientTool({ name: 'ask', description: 'Asks.', input: anything });
const caution = defineCapability({
  name: 'caution',
  description: 'Looks twice.',
  tools: { pay },
  hooks: [defineHook({ name: 'twice', order: -1, changes: ['block'], beforeTool: () => undefined })],
  criteria: [stopWhen('Enough', () => false)],
  instructions: 'Be careful.',
});

describe('what an agent is made of', () => {
  const model = scriptedModel([{ text: 'Done.' }]);

  test('is listed whole, and each part says who brought it', () => {
    const agent = createAgent({
      id: 'desk',
      version: '2',
      model,
      tools: { look, ask },
      instructions: 'You help.',
      hooks: [
        defineHook({ name: 'watch', afterStep: () => undefined }),
        guardHook(new StepsLimit(5, ({ stepCount }: { readonly stepCount: number }) => stepCount), { name: 'Few', at: ['before_step'] }),
      ],
      limits: { steps: 7 },
      capabilities: [caution],
    });
    const described = agent.describe();
    expect(JSON.parse(JSON.stringify(described))).toStrictEqual(described);
    expect(described).toMatchObject({
      id: 'desk',
      version: '2',
      fingerprint: agent.fingerprint,
      model: 'scripted/script',
      driver: 'tool-calling',
      instructions: { text: 'You help.\n\nBe careful.', madeForEachStep: 0 },
      limits: { steps: 7 },
      capabilities: [{ name: 'caution', description: 'Looks twice.' }],
      hasOutput: false,
    });
    expect(described.tools).toStrictEqual([
      { name: 'look', description: 'Looks.', type: 'function' },
      { name: 'ask', description: 'Asks.', type: 'client' },
      { name: 'pay', description: 'Pays.', type: 'function', needsApproval: true, from: 'caution' },
    ]);
    expect(described.hooks).toStrictEqual([
      { name: 'twice', order: -1, points: ['before_tool'], changes: ['block'], from: 'caution' },
      { name: 'watch', order: 0, points: ['after_step'], changes: [] },
      { name: 'Few', order: 1000, points: ['before_step'], changes: ['votes'] },
    ]);
    expect(described.criteria.slice(-1)).toStrictEqual(['Enough']);
  });

  test('is the same from the builder', () => {
    const built = AgentBuilder.base()
      .withModel(model)
      .withTools(look)
      .withCapability(caution)
      .withHooks(defineHook({ name: 'watch', afterStep: () => undefined }))
      .build();
    expect(built.describe().hooks.map(({ name }) => name)).toStrictEqual(['twice', 'watch']);
    expect(built.describe().tools.map(({ name, from }) => [name, from])).toStrictEqual([
      ['look', undefined],
      ['pay', 'caution'],
    ]);
  });

  test('shows hooks of one name with their numbers, and where each comes from', () => {
    const own = defineHook({ name: 'twice', afterStep: () => undefined });
    const agent = createAgent({ model, hooks: [own], capabilities: [caution] });
    expect(agent.describe().hooks.map(({ name, from }) => [name, from])).toStrictEqual([
      ['twice#2', 'caution'],
      ['twice', undefined],
    ]);
  });

  test('changes the fingerprint, where hooks or capabilities change', () => {
    const bare = createAgent({ model, tools: { look } });
    const hooked = createAgent({ model, tools: { look }, hooks: [defineHook({ name: 'watch', afterStep: () => undefined })] });
    const able = createAgent({ model, tools: { look }, capabilities: [defineCapability({ name: 'words' })] });
    expect(new Set([bare.fingerprint, hooked.fingerprint, able.fingerprint]).size).toBe(3);
  });

  test('shows sub-agents as runs of their own', () => {
    const agent = createAgent({
      model,
      capabilities: [subAgents({ agents: { helper: { agent: createAgent({ model }), description: 'Helps.' } } })],
    });
    expect(agent.describe().tools).toMatchObject([{ name: 'spawn_subagent', type: 'nested', from: 'sub-agents' }]);
  });

  test.each([
    [
      'two capabilities of one name',
      () => createAgent({ model, capabilities: [caution, caution] }),
      /capability "caution" was added twice/,
    ],
    ['two tools of one name', () => createAgent({ model, tools: { pay }, capabilities: [caution] }), /two tools have this name/],
    ['a list that is none', () => createAgent({ model, capabilities: caution as never }), /capabilities must be a list/],
    ['a capability that is none', () => createAgent({ model, capabilities: [{ hooks: [] }] as never }), /A capability needs a name/],
  ])('refuses %s', (_, make, message) => {
    expect(make).toThrow(message);
  });
});
