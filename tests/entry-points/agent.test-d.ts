import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type {
  Agent,
  AgentEvent,
  ContinuationOutcome,
  Failure,
  Json,
  Model,
  Orchestrator,
  Run,
  RunResult,
  StopReason,
  Tool,
  Usage,
  Wait,
} from '../../src/entry/index.ts';
import type { Unsubscribe } from '../../src/events/index.ts';
import {
  AgentState,
  ContinuationDecision,
  defineContext,
  createAgent,
  createEventBus,
  defineClientTool,
  defineTool,
  ErrorPolicy,
  Message,
  providerTool,
  stopWhen,
  when,
} from '../../src/entry/index.ts';
import { aiSdk, aiSdkTools } from '../../src/inference/ai-sdk/index.ts';
import type { AiSdkToolLike, LanguageModelLike } from '../../src/inference/ai-sdk/index.ts';
import { orchestratorConformance } from '../../src/testing/index.ts';

interface Db {
  readonly find: (name: string) => string;
}

declare const model: Model;
declare const db: Db;
declare const signal: AbortSignal;

const input = z.object({ name: z.string() });
const add = defineTool({
  name: 'add',
  description: 'A tool.',
  input: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => a + b,
});
const find = defineTool({
  name: 'find',
  description: 'A tool.',
  input,
  context: defineContext<{ readonly db: Db }>(),
  run: async ({ name }, { context }) => ({ found: context.db.find(name), at: new Date() }),
});
const whoAmI = defineTool({
  name: 'who_am_i',
  description: 'A tool.',
  input,
  context: defineContext<{ readonly user: number }>(),
  run: (_args, { context }) => context.user,
});
const clipboard = defineClientTool({ name: 'clipboard', description: 'A tool.', input });
const search = providerTool({ id: 'openai.web_search', name: 'search' });
const state = AgentState.empty();

test('the promised example compiles as it stands', async () => {
  const searchEntities = defineTool({
    name: 'search_entities',
    description: 'A tool.',
    input,
    context: defineContext<{ tenant: string; db: Db }>(),
    run: ({ name }, { context }) => ({ hits: [context.db.find(name)] }),
  });
  const createLead = defineTool({ name: 'create_lead', description: 'A tool.', input, run: () => ({ leadId: 'l-1' }) });
  const existing = { lookUp: {} as AiSdkToolLike };
  const openai = (_id: string): LanguageModelLike => ({}) as LanguageModelLike;
  const anthropic = openai;
  const tenant = 'acme';
  const onEvent = (event: AgentEvent): void => console.log(String(event));

  const agent = createAgent({
    id: 'partner',
    version: '3',
    context: defineContext<{ tenant: string; db: Db }>(),
    model: aiSdk(openai('gpt-5')),
    settings: { maxOutputTokens: 2000 },
    instructions: ({ context }) => `You work for ${context.tenant}.`,
    tools: { searchEntities, createLead, ...aiSdkTools(existing) },
    output: z.object({ leadId: z.string() }),
    limits: { steps: 20, tokens: 500_000, wallMs: 300_000, activeMs: 1_800_000, costUsd: 2, onLimit: 'finalize' },
    errors: ErrorPolicy.retryToolErrors(3),
    criteria: [stopWhen('Weekend', (state) => (state.stepCount > 3 ? 'it is the weekend' : false))],
    fallback: [aiSdk(anthropic('claude-sonnet-4-5'))],
  });

  const context = { tenant, db };
  const run = agent.start('Find Acme', { context: { tenant, db }, signal, onEvent });
  for await (const event of run) {
    if (event.type === 'ToolCallCompleted' && event.tool === 'createLead' && event.success)
      expectTypeOf(event.result.leadId).toExtend<string>();
  }
  const result = await run.result;
  if (result.status === 'completed') expectTypeOf(result.output.leadId).toBeString();
  else if (result.status === 'waiting') expectTypeOf(result.waitingFor).toEqualTypeOf<readonly Wait[]>();
  else if (result.status === 'stopped') console.log(result.stopReason, result.text, result.explain());
  else console.log(result.error.code, result.explain());
  run.requestStop('user pressed stop');
  agent.start(result.state.withUserMessage('And in Berlin?'), { context });
});

test('the context is wanted exactly where tools, instructions or context need one', () => {
  const needsNothing = createAgent({ model, tools: { add, clipboard, search } });
  needsNothing.start('x');
  needsNothing.run(state);
  needsNothing.run(state, { signal });
  // What is not needed may be given.
  needsNothing.run(state, { context: { any: 'thing' } });

  const byTools = createAgent({ model, tools: { find } });
  byTools.start('x', { context: { db } });
  byTools.run(state, { context: { db } });
  // @ts-expect-error -- the tool needs a db
  byTools.start('x');
  // @ts-expect-error -- the tool needs a db
  byTools.start('x', { signal });
  // @ts-expect-error -- the tool needs a db
  byTools.run(state);
  // @ts-expect-error -- the tool needs a db
  byTools.nextStep(state);
  // @ts-expect-error -- the tool needs a db
  byTools.iterate(state);
  // @ts-expect-error -- the tool needs a db
  byTools.start(state);

  const byContext = createAgent({ model, context: defineContext<{ tenant: string }>() });
  byContext.start('x', { context: { tenant: 'acme' } });
  // @ts-expect-error -- a tenant was declared
  byContext.start('x');

  const byInstructions = createAgent({
    model,
    instructions: ({ context }: { readonly context: { readonly tenant: string } }) => `You work for ${context.tenant}.`,
  });
  byInstructions.start('x', { context: { tenant: 'acme' } });
  // @ts-expect-error -- the instructions need a tenant
  byInstructions.start('x');
});

test('a wrong context is an error, and the error stands at the context', () => {
  const agent = createAgent({ model, tools: { find, whoAmI }, context: defineContext<{ tenant: string }>() });
  agent.start('x', { context: { db, user: 1, tenant: 'acme' } });
  agent.start('x', {
    // @ts-expect-error -- user is missing
    context: { db, tenant: 'acme' },
  });
  agent.run(state, {
    // @ts-expect-error -- tenant is missing
    context: { db, user: 1 },
  });
  agent.start('x', {
    context: {
      db,
      tenant: 'acme',
      // @ts-expect-error -- a user is a number
      user: 'ann',
    },
  });
});

test('a declared context and what the tools need are wanted together, and instructions read both', () => {
  createAgent({
    model,
    tools: [find, whoAmI],
    context: defineContext<{ tenant: string }>(),
    instructions: ({ context, state }) => {
      expectTypeOf(context).toExtend<{ tenant: string; db: Db; user: number }>();
      expectTypeOf(state).toEqualTypeOf<AgentState>();
      return `${context.tenant} ${context.user}`;
    },
  });
  createAgent({
    model,
    tools: { find },
    instructions: ({ context }) => {
      expectTypeOf(context).toEqualTypeOf<{ readonly db: Db }>();
      // @ts-expect-error -- nobody needs a tenant
      return String(context.tenant);
    },
  });
});

test('a call of a known tool that has ended has its own result, as the JSON it is stored as', async () => {
  const agent = createAgent({ model, tools: { add, find, clipboard, search } });
  for await (const event of agent.start('x', { context: { db } })) {
    if (event.type !== 'ToolCallCompleted') continue;
    expectTypeOf(event.tool).toEqualTypeOf<'add' | 'find' | 'clipboard' | 'search'>();
    if (event.tool === 'add' && event.success) {
      expectTypeOf(event.result).toEqualTypeOf<number>();
      expectTypeOf(event.error).toEqualTypeOf<null>();
    }
    if (event.tool === 'find' && event.success) expectTypeOf(event.result).toEqualTypeOf<{ readonly found: string; readonly at: string }>();
    if (event.tool === 'clipboard' && event.success) expectTypeOf<Json>().toExtend<typeof event.result>();
    if (!event.success) {
      expectTypeOf(event.error).toEqualTypeOf<string>();
      expectTypeOf(event.result).toEqualTypeOf<undefined>();
    }
    // @ts-expect-error -- there is no such tool
    if (event.tool === 'subtract') return;
    expectTypeOf(event.durationMs).toBeNumber();
    expectTypeOf(event.toolCallId).toBeString();
  }
});

test('the other events of a call know the names too', () => {
  const agent = createAgent({ model, tools: { add, find } });
  agent.onEvent('ToolCallStarted', ({ tool, args }) => {
    expectTypeOf(tool).toEqualTypeOf<'add' | 'find'>();
    expectTypeOf(args).toEqualTypeOf<Json>();
  });
  agent.onEvent('ToolCallProgress', ({ tool, progress }) => {
    expectTypeOf(tool).toEqualTypeOf<'add' | 'find'>();
    expectTypeOf(progress).toEqualTypeOf<Json>();
  });
  agent.onEvent('ToolApprovalRequested', ({ tool }) => expectTypeOf(tool).toEqualTypeOf<'add' | 'find'>());
});

test('tools in a list are known by any name, and a result is that of one of them', () => {
  const agent = createAgent({ model, tools: [add, whoAmI] });
  agent.onEvent('ToolCallCompleted', (event) => {
    expectTypeOf(event.tool).toBeString();
    if (event.success) expectTypeOf(event.result).toEqualTypeOf<number>();
  });
  const mixed = createAgent({ model, tools: [add, clipboard, search] });
  mixed.start('x');
  mixed.onEvent('ToolCallCompleted', (event) => {
    if (event.success) expectTypeOf<Json>().toExtend<typeof event.result>();
  });
});

test('tools under names of the host are known by those', () => {
  const agent = createAgent({ model, tools: { plus: add, look: find } });
  agent.onEvent('ToolCallCompleted', (event) => {
    expectTypeOf(event.tool).toEqualTypeOf<'plus' | 'look'>();
    if (event.tool === 'plus' && event.success) expectTypeOf(event.result).toBeNumber();
    // @ts-expect-error -- the model does not know it by this name
    if (event.tool === 'add') return;
  });
});

test('tools declared in place keep their types', () => {
  const agent = createAgent({
    model,
    tools: {
      length: defineTool({ name: 'length', description: 'A tool.', input, run: ({ name }) => name.length }),
      tenant: defineTool({
        name: 'tenant',
        description: 'A tool.',
        input,
        context: defineContext<{ tenant: string }>(),
        run: (_args, { context }) => context.tenant,
      }),
    },
  });
  // @ts-expect-error -- a tenant is needed
  agent.start('x');
  agent.onEvent('ToolCallCompleted', (event) => {
    if (event.tool === 'length' && event.success) expectTypeOf(event.result).toEqualTypeOf<number>();
    if (event.tool === 'tenant' && event.success) expectTypeOf(event.result).toEqualTypeOf<string>();
  });
});

test('tools whose types were forgotten ask for nothing', () => {
  const tools: readonly Tool[] = [add, find];
  const agent = createAgent({ model, tools });
  agent.start('x');
  const byName: Readonly<Record<string, Tool>> = { add, find };
  createAgent({ model, tools: byName }).onEvent('ToolCallCompleted', (event) => {
    expectTypeOf(event.tool).toBeString();
    if (event.success) expectTypeOf(event.result).toExtend<Json>();
  });
});

test('an agent without tools tells of calls by any name', () => {
  createAgent({ model }).onEvent('ToolCallCompleted', (event) => {
    expectTypeOf(event.tool).toBeString();
  });
});

test('the output is typed on a completed result only', async () => {
  const result = await createAgent({ model, output: z.object({ day: z.string().transform((text) => new Date(text)) }) }).start('x').result;
  // @ts-expect-error -- only a completed run has one
  result.output;
  if (result.status === 'completed') expectTypeOf(result.output).toEqualTypeOf<{ day: Date }>();
  if (result.status === 'stopped') {
    // @ts-expect-error -- it did not come to one
    result.output;
  }
});

test('an output by a JSON Schema is typed by it', async () => {
  const agent = createAgent({
    model,
    output: {
      type: 'object',
      properties: { id: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } },
      required: ['id'],
    },
  });
  const result = await agent.start('x').result;
  if (result.status !== 'completed') return;
  expectTypeOf(result.output.id).toEqualTypeOf<string>();
  expectTypeOf(result.output.tags).toEqualTypeOf<readonly string[] | undefined>();
});

test('without a schema the output is undefined', async () => {
  const result = await createAgent({ model, tools: { add } }).start('x').result;
  if (result.status === 'completed') expectTypeOf(result.output).toEqualTypeOf<undefined>();
});

test('the status says what else a result has', async () => {
  const result = await createAgent({ model }).start('x').result;
  expectTypeOf(result.status).toEqualTypeOf<'completed' | 'stopped' | 'waiting' | 'failed'>();
  expectTypeOf(result.state).toEqualTypeOf<AgentState>();
  expectTypeOf(result.text).toBeString();
  expectTypeOf(result.usage).toEqualTypeOf<Usage>();
  expectTypeOf(result.explain()).toBeString();
  switch (result.status) {
    case 'completed':
    case 'stopped':
      expectTypeOf(result.stopReason).toEqualTypeOf<StopReason>();
      // @ts-expect-error -- nobody is waited for
      result.waitingFor;
      // @ts-expect-error -- nothing failed
      result.error;
      return;
    case 'waiting':
      expectTypeOf(result.waitingFor).toEqualTypeOf<readonly Wait[]>();
      // @ts-expect-error -- it has not stopped
      result.stopReason;
      return;
    case 'failed':
      expectTypeOf(result.error).toEqualTypeOf<Failure>();
      expectTypeOf(result.stopReason).toEqualTypeOf<StopReason>();
  }
});

test('listening narrows, and gives back how to leave', () => {
  const agent = createAgent({ model, tools: { add } });
  const leave = agent.onEvent('ContinuationEvaluated', (event) => {
    expectTypeOf(event.outcome).toEqualTypeOf<ContinuationOutcome>();
  });
  expectTypeOf(leave).toEqualTypeOf<Unsubscribe>();
  agent.onEvent('TextDelta', ({ text }) => expectTypeOf(text).toBeString());
  agent.onEvent('ModelFallback', ({ from, failure }) => expectTypeOf([from, failure.code]).toEqualTypeOf<string[]>());
  // @ts-expect-error -- there is no such event
  agent.onEvent('Exploded', () => undefined);
  expectTypeOf(agent.wiretap((event) => expectTypeOf(event.type).toExtend<string>())).toEqualTypeOf<Unsubscribe>();
  agent.start('x', {
    onEvent: (event) => {
      if (event.type === 'ToolCallCompleted' && event.success) expectTypeOf(event.result).toEqualTypeOf<number>();
    },
  });
});

test('a run that is started with a state gives the same events as run(), and a result at its end', async () => {
  const run = createAgent({ model, tools: { add } }).start(state);
  for await (const event of run) if (event.type === 'ToolCallCompleted' && event.success) expectTypeOf(event.result).toBeNumber();
  expectTypeOf(await run.result).toEqualTypeOf<RunResult<AgentState, undefined>>();
});

test('run, nextStep, iterate and restore deal in agent states', async () => {
  const agent = createAgent({ model });
  expectTypeOf(await agent.run(state)).toEqualTypeOf<AgentState>();
  expectTypeOf(await agent.nextStep(state)).toEqualTypeOf<AgentState>();
  for await (const each of agent.iterate(state)) expectTypeOf(each).toEqualTypeOf<AgentState>();
  expectTypeOf(agent.restore({})).toEqualTypeOf<AgentState>();
  expectTypeOf(agent.restore).parameter(0).toBeUnknown();
  expectTypeOf(AgentState.fromJSON('')).toEqualTypeOf<AgentState>();
  expectTypeOf(state.withUserMessage('x')).toEqualTypeOf<AgentState>();
  // @ts-expect-error -- a run takes a state, start takes words
  agent.run('x');
});

test('a run is started with words, a message, parts or a state', () => {
  const agent = createAgent({ model });
  agent.start('x');
  agent.start(Message.user('x'));
  agent.start({ type: 'text', text: 'x' });
  agent.start([{ type: 'text', text: 'x' }]);
  agent.start(state);
  // @ts-expect-error -- a number says nothing
  agent.start(5);
  // @ts-expect-error -- stored data has to be restored first
  agent.start({ kind: 'agent-state', schema: 1, data: {} });
});

test('criteria read the agent state without being told', () => {
  createAgent({
    model,
    tools: { add },
    criteria: [
      stopWhen('x', (state) => {
        expectTypeOf(state).toEqualTypeOf<AgentState>();
        return state.stepCount > 3 && 'enough';
      }),
      when('y', (state) => {
        expectTypeOf(state.currentStep?.toolCalls.length).toEqualTypeOf<number | undefined>();
        return state.text === '' ? ContinuationDecision.AllowContinuation : ContinuationDecision.AllowStop;
      }),
      { name: 'z', decide: (state) => (state.usage.total > 1 ? ContinuationDecision.AllowStop : ContinuationDecision.AllowContinuation) },
    ],
  });
});

test('a misspelt option is an error', () => {
  createAgent({
    model,
    tools: { find },
    instructions: ({ context }) => context.db.find('x'),
    output: z.object({ id: z.string() }),
    // @ts-expect-error -- it is called limits.steps; the error is on this key alone
    maxSteps: 3,
    criteria: [stopWhen('x', (state) => state.stepCount > 3 && 'enough')],
  });
  createAgent({
    model,
    // @ts-expect-error -- it is called tools
    tool: { add },
  });
  createAgent({
    model,
    // @ts-expect-error -- it is called steps
    limits: { maxSteps: 3 },
  });
  // @ts-expect-error -- a model is needed
  createAgent({ tools: { add } });
});

test('any agent is an Agent, for hosts that hold many', () => {
  const plain: Agent = createAgent({ model });
  const calls: Agent = createAgent({ model, tools: { add, clipboard, search } });
  const answering: Agent = createAgent({ model, output: z.object({ id: z.string() }) });
  const listed: Agent = createAgent({ model, tools: [add, clipboard] });
  const inContext: Agent = createAgent({ model, context: defineContext<{ tenant: string }>() });
  const inToolContext: Agent = createAgent({ model, tools: { find } });
  const byId: ReadonlyMap<string, Agent> = new Map(
    [plain, calls, answering, listed, inContext, inToolContext].map((agent) => [agent.id, agent]),
  );
  const one = byId.get('x')!;
  one.wiretap((event) => expectTypeOf(event).toEqualTypeOf<AgentEvent>());
  one.onEvent('ToolCallCompleted', ({ tool }) => expectTypeOf(tool).toBeString());
  expectTypeOf(one.fingerprint).toBeString();
  expectTypeOf(one.version).toEqualTypeOf<string | undefined>();
});

test('an agent is an Orchestrator of its states', () => {
  const agent = createAgent({ model, tools: { find } });
  const orchestrator: Orchestrator<AgentState, undefined, { readonly db: Db }, AgentEvent<{ find: typeof find }>> = agent;
  orchestrator.run(state, { context: { db }, onEvent: (event) => event.type === 'TextDelta' });
  // @ts-expect-error -- the db is missing
  orchestrator.run(state);
  const contextless: Orchestrator<AgentState, undefined, unknown, AgentEvent> = createAgent({ model });
  contextless.run(state);
});

test('an agent can be put through the conformance suite as it is', () => {
  const agent = createAgent({ model, tools: { add } });
  orchestratorConformance(() => ({ orchestrator: agent, start: state, restore: (stored) => agent.restore(JSON.parse(stored)) }));
});

test('an agent has its tools, output and context as type parameters, and its runs and results have the output', async () => {
  interface Answer {
    readonly id: string;
  }
  type Finder = Agent<{ readonly find: typeof find }, Answer, { readonly db: Db }>;
  const ask = async (agent: Finder): Promise<RunResult<AgentState, Answer>> => {
    const run: Run<AgentState, Answer, AgentEvent<{ readonly find: typeof find }>> = agent.start('x', { context: { db } });
    return run.result;
  };
  const finder = createAgent({ model, tools: { find }, output: z.object({ id: z.string() }) });
  expectTypeOf(finder).toExtend<Finder>();
  const result = await ask(finder);
  if (result.status === 'completed') expectTypeOf(result.output.id).toBeString();
  expectTypeOf(await finder.toResult(state)).toEqualTypeOf<RunResult<AgentState, { id: string }>>();
  // @ts-expect-error -- this one answers in words
  ask(createAgent({ model, tools: { find } }));
  const anyResult: RunResult = result;
  if (anyResult.status === 'completed') expectTypeOf(anyResult.output).toBeUnknown();
});

test('one bus may serve several agents', () => {
  const bus = createEventBus<AgentEvent>();
  createAgent({ model, events: bus });
  createAgent({ model, events: bus, tools: { add } });
  createAgent({ model, events: bus, tools: { find }, output: z.object({ id: z.string() }) });
  const own = createEventBus<AgentEvent<{ add: typeof add }>>();
  createAgent({ model, events: own, tools: { add } });
});
