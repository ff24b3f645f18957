// Errors that nobody waits for: they reach the runtime's `onProblem`.
import { expect, test } from 'vitest';
import { createAgent, defineHook, defineTool, SteplineError } from '../../src/entry/index.ts';
import { subAgents } from '../../src/capabilities/index.ts';
import { createMemoryStore, createSessionRuntime } from '../../src/sessions/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { ann } from './stage.ts';

const input = { type: 'object', properties: {} } as const;
const describeError = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const careless = (name: string) =>
  defineHook({
    name,
    afterStep: () => {
      throw new Error(`the observer ${name} broke`);
    },
  });
const badForm = defineTool({
  name: 'look',
  description: 'Looks.',
  input,
  run: () => 1,
  toModelOutput: () => {
    throw new Error('toModelOutput broke');
  },
});

test('problems of a run, of its hooks and tools and of runs inside it reach the onProblem of the runtime', async () => {
  const helper = createAgent({ id: 'helper', model: scriptedModel(['Helped.']), hooks: [careless('inner')] });
  const agent = createAgent({
    model: scriptedModel([
      { toolCalls: [{ name: 'look' }, { name: 'spawn_subagent', args: { subagent: 'helper', prompt: 'Help.' } }] },
      { text: 'Done.' },
    ]),
    tools: [badForm],
    hooks: [careless('outer')],
    capabilities: [subAgents({ agents: { helper: { description: 'Helps.', agent: helper } } })],
  });
  const problems: string[] = [];
  const runtime = createSessionRuntime({
    agents: [agent],
    store: createMemoryStore(),
    onEvent: ({ type }) => {
      if (type === 'AgentStepStarted') throw new Error('the listener broke');
    },
    onProblem: (error) => {
      problems.push(describeError(error));
    },
  });
  const { id } = await runtime.create({}, { by: ann });
  await runtime.send(id, 'Look and ask for help.', { by: ann });
  for (const words of ['toModelOutput broke', 'the observer outer broke', 'the observer inner broke', 'the listener broke'])
    expect(problems.some((problem) => problem.includes(words))).toBe(true);
});

test('without one, problems of a run reach the onProblem of its agent', async () => {
  const problems: unknown[] = [];
  const onProblem = (error: unknown): void => {
    problems.push(error);
  };
  const agent = createAgent({ model: scriptedModel([{ text: 'Done.' }]), hooks: [careless('outer')], ports: { onProblem } });
  const runtime = createSessionRuntime({ agents: [agent], store: createMemoryStore() });
  const { id } = await runtime.create({}, { by: ann });
  await runtime.send(id, 'Hello.', { by: ann });
  expect(problems.map((error) => SteplineError.is(error) && error.code)).toStrictEqual(['hook-failed']);
});
