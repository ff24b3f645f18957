// The runs whose stored forms are kept here. They come out the same every time: ids count, and the clock moves only when told to.
import type { Json } from '../../src/entry/index.ts';
import {
  AgentState,
  createAgent,
  defineClientTool,
  defineTool,
  ErrorPolicy,
  Message,
  ToolFailedError,
  ToolUse,
  ToolUseState,
} from '../../src/entry/index.ts';
import { ChatState } from '../../src/chat/index.ts';
import { CollaborationState } from '../../src/collaboration/index.ts';
import { chatUntilTheEnd, collaborationUntilTheEnd } from './conversations.ts';
import type { ScriptedEntry, ScriptedToolCall } from '../../src/testing/index.ts';
import { createCountingIds, createFakeClock, scriptedModel } from '../../src/testing/index.ts';

// Plain JSON Schema: what a library makes of its own schemas may change with the library.
const input = { type: 'object' } as const;
const search = defineTool({
  name: 'search',
  description: 'Finds partners.',
  input,
  effect: 'pure',
  run: () => ({ found: [{ id: 'e-1', name: 'Acme' }], more: false }),
});
const broken = defineTool({
  name: 'broken',
  description: 'Never works.',
  input,
  run: (): string => {
    throw new ToolFailedError('out of order');
  },
});
const pay = defineTool({ name: 'pay', description: 'Pays.', input, needsApproval: true, run: () => 'paid' });
const clipboard = defineClientTool({ name: 'clipboard', description: 'Reads the clipboard.', input });
const tools = [search, broken, pay, clipboard];

function stage() {
  const clock = createFakeClock(Date.UTC(2026, 0, 1));
  return { clock, ids: createCountingIds(), random: () => 0.5 };
}
type Stage = ReturnType<typeof stage>;

function setUpAgent(ports: Stage, script: readonly ScriptedEntry[]) {
  const paced = script.map((entry): ScriptedEntry => (request) => {
    ports.clock.skip(1250);
    return typeof entry === 'function' ? entry(request) : entry;
  });
  return createAgent({
    id: 'partner',
    version: '3',
    model: scriptedModel(paced),
    instructions: 'You find partners.',
    tools,
    limits: { steps: 6, tokens: 10_000, wallMs: 300_000, activeMs: 300_000, costUsd: 2 },
    price: ({ total }) => ({ usd: total / 1000 }),
    errors: ErrorPolicy.ignoreToolErrors(),
    ports,
  });
}

const usage = { input: 30, output: 12 };
const calls = (...toolCalls: readonly ScriptedToolCall[]): ScriptedEntry => ({ toolCalls, usage });
const says = (text: string): ScriptedEntry => ({ text, usage });

/** A conversation of two turns: calls that work and fail, one that needed a yes, one that somebody else did. */
export async function conversation(): Promise<readonly AgentState[]> {
  const ports = stage();
  const agent = setUpAgent(ports, [
    {
      text: 'I look.',
      reasoning: 'They want Acme.',
      toolCalls: [{ name: 'search', args: { name: 'Acme' } }],
      usage: { ...usage, cacheRead: 4 },
    },
    calls({ name: 'broken' }, { name: 'pay', args: { amount: 5 } }),
    says('Acme is paid.'),
    calls({ name: 'clipboard' }),
    says('A poem.'),
  ]);
  const states = [AgentState.empty({ ...ports, agentId: 'partner', metadata: { tenant: 'acme' } }).withUserMessage('Pay Acme.', ports)];
  const last = (): AgentState => states.at(-1)!;
  const run = async (): Promise<void> => {
    await agent.run(last(), { commit: ({ state }) => void states.push(state) });
  };
  await run();
  states.push(last().approve('call-3', { args: { amount: 4 } }));
  await run();
  states.push(last().withUserMessage('What is in my clipboard?', ports));
  await run();
  states.push(last().answer('call-4', ['a', 'poem']).withMetadata('mood', { patience: 0.5 }));
  await run();
  const { store } = last();
  const [first, ...others] = store.section('messages');
  const summary = Message.system('Acme was paid.', { ids: ports.ids });
  states.push(
    last().evolve({ store: store.withSection('summary', [summary]).withSection('attic', [first!]).withSection('messages', others) }),
  );
  return states;
}

async function waiting(): Promise<AgentState> {
  const ports = stage();
  const agent = setUpAgent(ports, [
    calls({ name: 'search' }),
    calls({ name: 'search' }, { name: 'pay', args: { amount: 5 } }, { name: 'clipboard' }),
  ]);
  const state = await agent.run(AgentState.empty({ ...ports, agentId: 'partner' }).withUserMessage('Pay Acme.', ports));
  return state.approve('call-3');
}

/** A run that fails until nobody tries any more, state by state. */
export async function toolUseUntilTheEnd(): Promise<readonly ToolUseState[]> {
  const ports = stage();
  const model = scriptedModel([calls({ name: 'broken', args: '{"half":' }), calls({ name: 'nobody' }), calls({ name: 'broken' })]);
  const errors = ErrorPolicy.retryToolErrors(3).withBackoff({ baseMs: 0 });
  const orchestrator = new ToolUse({ model, tools, errors, limits: { steps: 9 }, ports });
  const states = [ToolUseState.empty(ports).withUserMessage('Try it.', ports)];
  await orchestrator.run(states[0]!, { commit: ({ state }) => void states.push(state) });
  return states;
}

const toJson = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

/** Content of each file. */
export const written: Readonly<Record<string, () => Promise<Json>>> = {
  'agent-state.1.json': async () => toJson((await conversation()).at(-1)),
  'agent-state.waiting.1.json': async () => toJson(await waiting()),
  'agent-state.delta.1.json': async () => {
    const states = await conversation();
    const { codec } = AgentState;
    return toJson({ before: states[0], changes: states.slice(1).map((state, index) => codec.diff(states[index]!, state)) });
  },
  'tool-use-state.1.json': async () => toJson((await toolUseUntilTheEnd()).at(-1)),
  'chat-state.1.json': async () => toJson((await chatUntilTheEnd()).states.at(-1)),
  'chat-state.waiting.1.json': async () => toJson((await chatUntilTheEnd()).waiting),
  'chat-state.delta.1.json': async () => {
    const { states } = await chatUntilTheEnd();
    return toJson({ before: states[0], changes: states.slice(1).map((state, index) => ChatState.codec.diff(states[index]!, state)) });
  },
  'collaboration-state.1.json': async () => toJson((await collaborationUntilTheEnd()).at(-1)),
  'collaboration-state.delta.1.json': async () => {
    const states = await collaborationUntilTheEnd();
    const { codec } = CollaborationState;
    return toJson({ before: states[0], changes: states.slice(1).map((state, index) => codec.diff(states[index]!, state)) });
  },
};
