// What a compiler says of agents in a session runtime.
import { expect, test } from 'vitest';
import type { AgentState, Agent } from '../../src/entry/index.ts';
import { AgentBuilder, defineContext, createAgent, defineTool } from '../../src/entry/index.ts';
import type { SessionRuntimeOptions, StoredEvent } from '../../src/sessions/index.ts';
import { createMemoryStore, createSessionRuntime } from '../../src/sessions/index.ts';
import { ann, newProcess, obedientModel } from './stage.ts';

interface Host {
  readonly db: string;
}

const input = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } as const;
const plain = defineTool({ name: 'plain', description: 'Notes.', input, run: ({ amount }) => amount });
const needy = defineTool({
  name: 'look',
  description: 'Looks.',
  input,
  context: defineContext<Host>(),
  run: ({ amount }, { context }) => `${context.db} ${amount}`,
});

test('agents of any types are taken: with tools, with a context, with an output, from the builder', async () => {
  const model = obedientModel();
  const withTools = createAgent({ id: 'tools', model, tools: { plain } });
  const withContext = createAgent({ id: 'context', model, tools: [needy] });
  const withOutput = createAgent({ id: 'output', model, output: input });
  const any: Agent = withTools;
  const built = AgentBuilder.base().withModel(model).build();
  const options: SessionRuntimeOptions = {
    agents: [withTools, withContext, withOutput, any, built],
    store: createMemoryStore(),
    context: ({ tenant }) => ({ db: tenant ?? 'none' }) satisfies Host,
  };
  const runtime = createSessionRuntime(options);
  await runtime.create({ id: 'one', agent: 'context', tenant: 't' }, { by: ann });
  const turn = await runtime.send('one', 'look 5', { by: ann });
  expect(turn.status).toBe('completed');
  const [result] = (await runtime.get('one')).state.messages.toArray().flatMap(({ toolResults }) => toolResults);
  expect(result?.output).toStrictEqual({ type: 'text', value: 't 5' });
});

test('what is stored of an event is plain data with known fields', async () => {
  const runtime = createSessionRuntime({ agents: [createAgent({ model: obedientModel() })], store: createMemoryStore() });
  const { id } = await runtime.create({}, { by: ann });
  await runtime.send(id, 'say Hello', { by: ann });
  const events: StoredEvent[] = [];
  for await (const event of runtime.events(id)) events.push(event);
  const [first] = events;
  expect([first?.type, first?.seq, first?.executionId]).toStrictEqual(['UserMessageReceived', 1, `${id}/1`]);
});

test('a wait is handed back as it was shown', async () => {
  const gated = defineTool({ name: 'pay', description: 'Pays.', input, needsApproval: true, run: ({ amount }) => amount });
  const runtime = createSessionRuntime({ agents: [createAgent({ model: obedientModel(), tools: [gated] })], store: createMemoryStore() });
  const { id } = await runtime.create({}, { by: ann });
  const { waitingFor } = await runtime.send(id, 'pay 5', { by: ann });
  for (const wait of waitingFor) if (wait.type === 'approval') await runtime.approve(id, wait, { by: ann, args: wait.args });
  // Through JSON, as a browser has it.
  const [wait] = (await runtime.send(id, 'pay 6', { by: ann })).waitingFor;
  const shown = JSON.parse(JSON.stringify(wait)) as NonNullable<typeof wait>;
  expect((await runtime.approve(id, shown, { by: ann })).status).toBe('completed');
});

test('the runtime knows what its agents know: their states, their events, and the context that they need', async () => {
  const model = obedientModel();
  const plainAgent = createAgent({ id: 'plain', model, tools: { plain } });
  const needyAgent = createAgent({ id: 'needy', model, tools: [needy] });
  const store = createMemoryStore();
  // @ts-expect-error: a tool of one of them needs a context, and nobody says how to get it.
  createSessionRuntime({ ...newProcess, agents: [plainAgent, needyAgent], store });
  // @ts-expect-error: that is another context.
  createSessionRuntime({ ...newProcess, agents: [plainAgent, needyAgent], store, context: () => ({ nothing: 1 }) });
  createSessionRuntime({ ...newProcess, agents: [plainAgent], store });
  const words: string[] = [];
  const runtime = createSessionRuntime({
    ...newProcess,
    agents: [plainAgent, needyAgent],
    store,
    context: async ({ tenant = 'none' }) => Promise.resolve({ db: tenant }),
    onEvent: (event, { id }) => {
      if (event.type === 'TextDelta') words.push(`${id}: ${event.text}`);
      if (event.type === 'ToolCallCompleted') words.push(event.tool);
    },
  });
  const { id } = await runtime.create({ agent: 'needy', tenant: 'north' }, { by: ann });
  await runtime.send(id, 'look 5; say Seen', { by: ann });
  const { state } = await runtime.get(id);
  const typed: AgentState = state;
  expect([typed.output, typed.text, words[0]]).toStrictEqual([undefined, 'Seen', 'look']);
});

test('what is sent to a page has no state in it', async () => {
  const runtime = createSessionRuntime({ agents: [createAgent({ model: obedientModel() })], store: createMemoryStore() });
  const { id } = await runtime.create({}, { by: ann });
  await runtime.send(id, 'say Hello', { by: ann });
  const session = await runtime.get(id);
  expect(Object.keys(JSON.parse(JSON.stringify(session)) as object)).not.toContain('state');
  expect(session.state.text).toBe('Hello');
});
