import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { AgentEvent, Agent, Json, Model } from '../../src/entry/index.ts';
import {
  AgentBuilder,
  AgentState,
  defineContext,
  ContinuationDecision,
  createEventBus,
  defineClientTool,
  defineTool,
  ErrorPolicy,
  providerTool,
  reActDriver,
  stopWhen,
  when,
} from '../../src/entry/index.ts';

declare const model: Model;
declare const signal: AbortSignal;

const input = z.object({ name: z.string() });
const add = defineTool({
  name: 'add',
  description: 'A tool.',
  input: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => a + b,
});
const whoAmI = defineTool({
  name: 'who_am_i',
  description: 'A tool.',
  input,
  context: defineContext<{ readonly user: number }>(),
  run: (_args, { context }) => ({ id: context.user }),
});
const tenant = defineTool({
  name: 'tenant',
  description: 'A tool.',
  input,
  context: defineContext<{ readonly tenant: string }>(),
  run: (_args, { context }) => context.tenant,
});
const clipboard = defineClientTool({ name: 'clipboard', description: 'A tool.', input });
const search = providerTool({ id: 'openai.web_search', name: 'search' });
const state = AgentState.empty();

test('the promised example compiles as it stands', async () => {
  const context = { tenant: 'acme' };
  const built = AgentBuilder.base()
    .withModel(model)
    .withTools(add)
    .withMaxSteps(20)
    .withErrorPolicy(ErrorPolicy.retryToolErrors(3))
    .withCumulativeTimeout(300)
    .addContinuationCriteria(when('Mine', (_s) => ContinuationDecision.AllowContinuation))
    .build();
  let state = await built.run(AgentState.empty().withUserMessage('What is 2 + 3?'), { context, signal });
  expectTypeOf(state).toEqualTypeOf<AgentState>();
  [state.status, state.stopReason, state.text, state.stepCount, state.steps, state.stepResults, state.lastStepResult, state.usage];
  [state.messages, state.lastContinuationOutcome, state.explain(), state.session.executions];
  state = await built.run(built.restore(JSON.parse(JSON.stringify(state))).withUserMessage('And 4?'));
  for await (const s of built.iterate(state)) expectTypeOf(s).toEqualTypeOf<AgentState>();
});

test('tools that were added need what they need together', () => {
  const agent = AgentBuilder.base().withModel(model).withTools({ whoAmI }).withTools({ tenant }).withTools({ add }).build();
  agent.start('x', { context: { user: 1, tenant: 'acme' } });
  // @ts-expect-error -- both are needed
  agent.start('x');
  agent.start('x', {
    // @ts-expect-error -- the tenant is missing
    context: { user: 1 },
  });
  agent.onEvent('ToolCallCompleted', (event) => {
    expectTypeOf(event.tool).toEqualTypeOf<'whoAmI' | 'tenant' | 'add'>();
    if (event.tool === 'add' && event.success) expectTypeOf(event.result).toEqualTypeOf<number>();
    if (event.tool === 'whoAmI' && event.success) expectTypeOf(event.result).toEqualTypeOf<{ readonly id: number }>();
    // @ts-expect-error -- there is no such tool
    if (event.tool === 'subtract') return;
  });
});

test('one tool, a list and a record can be mixed, and none of their needs is lost', () => {
  const one = AgentBuilder.base().withModel(model).withTools(whoAmI).build();
  one.start('x', { context: { user: 1 } });
  // @ts-expect-error -- a user is needed
  one.start('x');

  const list = AgentBuilder.base().withModel(model).withTools([whoAmI, tenant, clipboard, search]).build();
  list.start('x', { context: { user: 1, tenant: 'acme' } });
  // @ts-expect-error -- a user is needed
  list.start('x', { context: { tenant: 'acme' } });

  const listThenOne = AgentBuilder.base().withModel(model).withTools([add, whoAmI]).withTools(tenant).build();
  listThenOne.start('x', { context: { user: 1, tenant: 'acme' } });
  // @ts-expect-error -- a user is needed
  listThenOne.start('x', { context: { tenant: 'acme' } });

  const oneThenRecord = AgentBuilder.base().withModel(model).withTools(whoAmI).withTools({ tenant, clipboard }).build();
  oneThenRecord.start('x', { context: { user: 1, tenant: 'acme' } });
  // @ts-expect-error -- a user is needed
  oneThenRecord.start('x', { context: { tenant: 'acme' } });
  // @ts-expect-error -- a tenant is needed
  oneThenRecord.start('x', { context: { user: 1 } });

  const recordThenList = AgentBuilder.base().withModel(model).withTools({ whoAmI, add }).withTools([tenant, search]).build();
  recordThenList.start('x', { context: { user: 1, tenant: 'acme' } });
  // @ts-expect-error -- a user is needed
  recordThenList.start('x', { context: { tenant: 'acme' } });
  recordThenList.onEvent('ToolCallCompleted', (event) => {
    expectTypeOf(event.tool).toBeString();
    if (event.success) expectTypeOf(event.result).toExtend<Json>();
  });
});

test('of two tools with one name the later decides the type', () => {
  const text = defineTool({ name: 'add', description: 'A tool.', input, run: ({ name }) => name });
  const agent = AgentBuilder.base().withModel(model).withTools({ add }).withTools({ add: text }).build();
  agent.onEvent('ToolCallCompleted', (event) => {
    if (event.success) expectTypeOf(event.result).toEqualTypeOf<string>();
  });
});

test('a context that was declared is wanted with what the tools need, in whatever order', () => {
  const before = AgentBuilder.base().withModel(model).withContext(defineContext<{ lang: string }>()).withTools({ whoAmI }).build();
  const after = AgentBuilder.base().withModel(model).withTools({ whoAmI }).withContext(defineContext<{ lang: string }>()).build();
  before.start('x', { context: { lang: 'en', user: 1 } });
  after.start('x', { context: { lang: 'en', user: 1 } });
  // @ts-expect-error -- a user is needed
  before.start('x', { context: { lang: 'en' } });
  // @ts-expect-error -- a language is needed
  after.start('x', { context: { user: 1 } });
  // @ts-expect-error -- both are needed
  after.run(state);
});

test('without either no context is wanted', () => {
  const agent = AgentBuilder.base().withModel(model).withTools(add).build();
  agent.start('x');
  agent.run(state);
});

test('instructions read the context that is known so far', () => {
  AgentBuilder.base()
    .withContext(defineContext<{ lang: string }>())
    .withTools({ whoAmI })
    .withSystemPrompt(({ context, state }) => {
      expectTypeOf(context).toExtend<{ lang: string; user: number }>();
      expectTypeOf(state).toEqualTypeOf<AgentState>();
      return `Speak ${context.lang}.`;
    });
  AgentBuilder.base().withSystemPrompt('Be brief.');
});

test('the response format types the output', async () => {
  const agent = AgentBuilder.base()
    .withModel(model)
    .withResponseFormat(z.object({ day: z.coerce.date() }))
    .build();
  const result = await agent.start('x').result;
  if (result.status === 'completed') expectTypeOf(result.output).toEqualTypeOf<{ day: Date }>();
  const plain = await AgentBuilder.new().withModel(model).build().start('x').result;
  if (plain.status === 'completed') expectTypeOf(plain.output).toEqualTypeOf<undefined>();
  const byJson = await AgentBuilder.base()
    .withModel(model)
    .withResponseFormat({ type: 'object', properties: { id: { type: 'string' } }, required: ['id'] })
    .build()
    .start('x').result;
  if (byJson.status === 'completed') expectTypeOf(byJson.output.id).toEqualTypeOf<string>();
});

test('every other method keeps the types', async () => {
  const agent = AgentBuilder.base()
    .withContext(defineContext<{ lang: string }>())
    .withTools({ add })
    .withResponseFormat(z.object({ id: z.string() }))
    .withId('a', '1')
    .withModel(model)
    .withModelSettings({ maxOutputTokens: 100 })
    .withFallbackModels(model, model)
    .withDriver(reActDriver())
    .withMaxSteps(1)
    .withMaxTokens(1)
    .withTimeout(1)
    .withCumulativeTimeout(1)
    .withLimits({ costUsd: 1, onLimit: 'pause' })
    .withPrices(() => ({ usd: 1 }))
    .withErrorPolicy(ErrorPolicy.retryAll())
    .withMaxRetries(2)
    .withFinishReasons('length')
    .addContinuationCriteria(stopWhen('Mine', () => false))
    .withEvents(createEventBus<AgentEvent>())
    .withPorts({})
    .withSystemPrompt('x')
    .onBuild((agent) => agent)
    .build();
  const result = await agent.start('x', { context: { lang: 'en' } }).result;
  if (result.status === 'completed') expectTypeOf(result.output.id).toBeString();
  agent.onEvent('ToolCallCompleted', (event) => {
    expectTypeOf(event.tool).toEqualTypeOf<'add'>();
    if (event.success) expectTypeOf(event.result).toEqualTypeOf<number>();
  });
});

test('criteria read the agent state without being told', () => {
  AgentBuilder.base().addContinuationCriteria(
    stopWhen('x', (state) => {
      expectTypeOf(state).toEqualTypeOf<AgentState>();
      return state.stepCount > 3 && 'enough';
    }),
    when('y', (state) => (state.text === '' ? ContinuationDecision.AllowContinuation : ContinuationDecision.AllowStop)),
  );
});

test('a callback of onBuild gets the agent with its types, and must give one back', () => {
  AgentBuilder.base()
    .withTools({ add })
    .onBuild((agent) => {
      agent.onEvent('ToolCallCompleted', (event) => {
        expectTypeOf(event.tool).toEqualTypeOf<'add'>();
      });
      return { ...agent, id: 'other' };
    });
  // @ts-expect-error -- nothing comes back
  AgentBuilder.base().onBuild(() => undefined);
});

test('a built agent is an Agent like any other', () => {
  const agents: readonly Agent[] = [
    AgentBuilder.base().withModel(model).build(),
    AgentBuilder.base()
      .withModel(model)
      .withTools({ add })
      .withResponseFormat(z.object({ id: z.string() }))
      .build(),
    AgentBuilder.base().withModel(model).withTools(whoAmI).build(),
  ];
  expectTypeOf(agents[0]!.id).toBeString();
});

test('what is no tool and what is no limit cannot be given', () => {
  // @ts-expect-error -- text is not a tool
  AgentBuilder.base().withTools('add');
  // @ts-expect-error -- it is called steps
  AgentBuilder.base().withLimits({ maxSteps: 1 });
  // @ts-expect-error -- a model is not a name
  AgentBuilder.base().withModel('gpt-5');
});

test('a list that is spread counts like one that is given whole', () => {
  const needy = [whoAmI];
  const spread = AgentBuilder.base()
    .withModel(model)
    .withTools(...needy)
    .build();
  // @ts-expect-error -- its tools need a context
  void spread.start('x');
});

test('a builder in statements keeps the type that it began with, and builds', async () => {
  const builder = AgentBuilder.base();
  builder.withModel(model);
  builder.withTools({ add });
  builder.withMaxSteps(3);
  expectTypeOf(builder).toEqualTypeOf<AgentBuilder>();
  const agent: Agent = builder.build();
  expectTypeOf(agent.id).toBeString();
  await builder.build().run(state);
});

test('a variable that holds a link of the chain has its types, and keeps them through other methods', () => {
  const withAdd = AgentBuilder.base().withModel(model).withTools({ add });
  expectTypeOf(withAdd.withMaxSteps(1)).toEqualTypeOf<typeof withAdd>();
  expectTypeOf(withAdd.onBuild((agent) => agent)).toEqualTypeOf<typeof withAdd>();
  withAdd.build().onEvent('ToolCallCompleted', (event) => {
    expectTypeOf(event.tool).toEqualTypeOf<'add'>();
  });
  const needy = withAdd.withTools({ whoAmI });
  // @ts-expect-error -- its tools need a context
  void needy.build().start('x');
});
