import type { Effects } from '../../src/effects/index.ts';
import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type {
  Capability,
  ContinuationOutcome,
  Failure,
  Hook,
  Json,
  Model,
  StopReason,
  ToolCall,
  ToolUseStep,
} from '../../src/entry/index.ts';
import type { Vote } from '../../src/hooks/index.ts';
import {
  AgentBuilder,
  AgentState,
  defineContext,
  createAgent,
  defineCapability,
  defineHook,
  defineTool,
  Message,
  MessageStore,
  ToolUse,
  ToolUseState,
} from '../../src/entry/index.ts';
import { guardHook } from '../../src/hooks/index.ts';
import { StepsLimit } from '../../src/continuation/index.ts';
import type { ModelOutcome, ModelResponse, ModelSettings } from '../../src/inference/index.ts';
import type { ToolExecution } from '../../src/tools/index.ts';

interface Db {
  readonly find: (name: string) => string;
}
interface NeedsDb {
  readonly db: Db;
}

declare const model: Model;
declare const db: Db;

const input = z.object({ name: z.string() });
const add = defineTool({
  name: 'add',
  description: 'A tool.',
  input: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => a + b,
});
const dig = defineTool({ name: 'dig', description: 'A tool.', input, run: ({ name }) => ({ found: name, at: new Date() }) });
const find = defineTool({
  name: 'find',
  description: 'A tool.',
  input,
  context: defineContext<NeedsDb>(),
  run: ({ name }, { context }) => context.db.find(name),
});
const state = AgentState.empty();

const hookNeedingDb = defineHook({
  name: 'needs-db',
  context: defineContext<NeedsDb>(),
  beforeStep: ({ context }) => void context.db.find('x'),
});

test('each point tells what is known there', () => {
  const hook = defineHook({
    name: 'every-point',
    changes: ['votes'],
    executionStart: (facts) => {
      expectTypeOf(facts.state).toEqualTypeOf<ToolUseState>();
      expectTypeOf(facts.stepNumber).toBeNumber();
      expectTypeOf(facts.executionId).toBeString();
      expectTypeOf(facts.effects).toEqualTypeOf<Effects>();
      expectTypeOf(facts.signal).toEqualTypeOf<AbortSignal>();
      // @ts-expect-error -- no step was taken yet
      facts.step;
    },
    beforeStep: (facts) => {
      expectTypeOf(facts.state).toEqualTypeOf<ToolUseState>();
      facts.report('said', { a: 1 });
      // @ts-expect-error -- the question is known at before_inference
      facts.messages;
    },
    beforeInference: (facts) => {
      expectTypeOf(facts.state).toEqualTypeOf<ToolUseState>();
      expectTypeOf(facts.messages).toEqualTypeOf<readonly Message[]>();
      expectTypeOf(facts.settings).toEqualTypeOf<ModelSettings>();
      expectTypeOf(facts.tools).toEqualTypeOf<readonly string[]>();
      // @ts-expect-error -- there is no answer yet
      facts.response;
    },
    afterInference: (facts) => {
      expectTypeOf(facts.state).toEqualTypeOf<ToolUseState>();
      expectTypeOf(facts.response).toEqualTypeOf<ModelResponse>();
    },
    beforeTool: (facts) => {
      expectTypeOf(facts.state).toEqualTypeOf<ToolUseState>();
      expectTypeOf(facts.call).toEqualTypeOf<ToolCall>();
      expectTypeOf(facts.approved).toBeBoolean();
      // @ts-expect-error -- the call was not made yet
      facts.execution;
    },
    afterTool: (facts) => {
      expectTypeOf(facts.state).toEqualTypeOf<ToolUseState>();
      expectTypeOf(facts.call).toEqualTypeOf<ToolCall>();
      expectTypeOf(facts.execution).toEqualTypeOf<ToolExecution>();
    },
    afterStep: (facts) => {
      expectTypeOf(facts.state).toEqualTypeOf<ToolUseState>();
      expectTypeOf(facts.step).toEqualTypeOf<ToolUseStep>();
      expectTypeOf(facts.step.executions).toEqualTypeOf<readonly ToolExecution[]>();
      expectTypeOf(facts.effects).toEqualTypeOf<Effects>();
      // @ts-expect-error -- it was not judged yet
      facts.outcome;
    },
    onError: (facts) => {
      expectTypeOf(facts.step).toEqualTypeOf<ToolUseStep>();
      expectTypeOf(facts.errors).toEqualTypeOf<readonly Failure[]>();
      // @ts-expect-error -- it was not judged yet
      facts.outcome;
    },
    executionEnd: (facts) => {
      expectTypeOf(facts.state).toEqualTypeOf<ToolUseState>();
      expectTypeOf(facts.stopReason).toEqualTypeOf<StopReason>();
      expectTypeOf(facts.outcome).toEqualTypeOf<ContinuationOutcome>();
      // @ts-expect-error -- nothing can be done any more
      facts.effects;
    },
  });
  expectTypeOf(hook).toEqualTypeOf<Hook<ToolUseState, unknown>>();
});

test('nothing that a hook is told can be written to', () => {
  defineHook({
    name: 'writer',
    beforeInference: (facts) => {
      // @ts-expect-error -- a change is what a hook gives back
      facts.messages = [];
      // @ts-expect-error -- a change is what a hook gives back
      facts.state.metadata['a'] = 1;
      expectTypeOf(facts.messages).not.toExtend<Message[]>();
    },
  });
});

test('a hook that changes nothing of a step sees it judged, and has no effects', () => {
  defineHook({
    name: 'looks-on',
    // It can change something elsewhere, but nothing of a step.
    changes: ['args'],
    beforeTool: ({ call }) => ({ args: call.args }),
    afterStep: (facts) => {
      expectTypeOf(facts.step).toEqualTypeOf<ToolUseStep>();
      expectTypeOf(facts.step.executions).toEqualTypeOf<readonly ToolExecution[]>();
      expectTypeOf(facts.outcome).toEqualTypeOf<ContinuationOutcome>();
      expectTypeOf(facts.state).toEqualTypeOf<ToolUseState>();
      // @ts-expect-error -- nobody waits for it
      facts.effects;
      // @ts-expect-error -- nobody waits for it
      facts.ask;
    },
    onError: (facts) => {
      expectTypeOf(facts.errors).toEqualTypeOf<readonly Failure[]>();
      expectTypeOf(facts.outcome).toEqualTypeOf<ContinuationOutcome>();
      // @ts-expect-error -- nobody waits for it
      facts.effects;
    },
  });
});

test('a hook that looks on before the judgement has effects: it is waited for there', () => {
  defineHook({
    name: 'looks-on-early',
    beforeStep: (facts) => {
      expectTypeOf(facts.effects).toEqualTypeOf<Effects>();
    },
    beforeTool: async (facts) => {
      expectTypeOf(await facts.ask(model, { messages: [] })).toEqualTypeOf<ModelOutcome>();
    },
  });
});

test('what is declared and possible can be given back, at once or later', () => {
  const vote: Vote = { decision: 'forbid', reason: 'enough', stopReason: 'guard', context: { left: 0 } };
  defineHook({
    name: 'everything',
    changes: ['messages', 'settings', 'tools', 'args', 'result', 'block', 'output', 'conversation', 'metadata', 'votes'],
    executionStart: () => ({ votes: vote, metadata: { a: 1 } }),
    beforeStep: async () => ({ conversation: MessageStore.empty(), tools: ['add'], votes: [vote] }),
    beforeInference: ({ messages, settings }) => ({ messages: [...messages], settings: { ...settings, temperature: 0 }, tools: [] }),
    afterInference: () => ({ metadata: { a: 1 } }),
    beforeTool: ({ call }) => (call.name === 'add' ? { args: { a: 1 } } : { block: 'no' }),
    afterTool: () => ({ result: { any: new Date() } }),
    afterStep: () => ({ output: 'Other words.' }),
    onError: () => undefined,
    executionEnd: () => undefined,
  });
});

test('a change that was not declared is an error', () => {
  defineHook({
    name: 'undeclared',
    changes: ['votes'],
    // @ts-expect-error -- args were not declared
    beforeTool: () => ({ args: { a: 1 } }),
    // @ts-expect-error -- output was not declared
    afterStep: async () => ({ output: 'x' }),
  });
  // @ts-expect-error -- nothing was declared
  defineHook({ name: 'undeclared', beforeStep: () => ({ metadata: { a: 1 } }) });
  defineHook({
    name: 'undeclared',
    changes: ['args'],
    beforeTool: ({ call }) => ({ args: call.args }),
    // @ts-expect-error -- of what was declared nothing can be changed there
    afterStep: () => ({ output: 'x' }),
  });
  // @ts-expect-error -- there is no such change
  defineHook({ name: 'undeclared', changes: ['colour'], beforeStep: () => undefined });
});

test('a change that cannot be made at a point is an error there', () => {
  const changes = ['messages', 'settings', 'tools', 'args', 'result', 'block', 'output', 'conversation', 'metadata', 'votes'] as const;
  defineHook({
    name: 'misplaced',
    changes,
    // @ts-expect-error -- no model is asked at the start
    executionStart: () => ({ messages: [Message.user('x')] }),
    // @ts-expect-error -- messages are shaped at before_inference
    beforeStep: () => ({ messages: [Message.user('x')] }),
    // @ts-expect-error -- the conversation is changed at before_step
    beforeInference: () => ({ conversation: MessageStore.empty() }),
    // @ts-expect-error -- the answer stays as it came
    afterInference: () => ({ output: 'x' }),
    // @ts-expect-error -- there is no step yet
    beforeTool: () => ({ output: 'x' }),
    // @ts-expect-error -- the call was made already
    afterTool: () => ({ args: {} }),
    // @ts-expect-error -- the calls were made already
    afterStep: () => ({ block: 'x' }),
    // @ts-expect-error -- what failed has failed
    onError: () => ({ result: 'x' }),
    // @ts-expect-error -- the end is recorded
    executionEnd: () => ({ metadata: { a: 1 } }),
  });
});

test('a change has its own form', () => {
  defineHook({
    name: 'malformed',
    changes: ['messages', 'block', 'votes', 'tools'],
    // @ts-expect-error -- messages are of the class Message
    beforeInference: () => ({ messages: ['x'] }),
    // @ts-expect-error -- the model reads why
    beforeTool: () => ({ block: true }),
    // @ts-expect-error -- there is no such decision
    afterStep: () => ({ votes: { decision: 'perhaps', reason: 'x' } }),
    // @ts-expect-error -- tools are named
    beforeStep: () => ({ tools: [add] }),
    // @ts-expect-error -- a vote says why
    onError: () => ({ votes: { decision: 'forbid' } }),
  });
});

test('the context that a hook asks for is typed in its facts, at every point', () => {
  const hook = defineHook({
    name: 'reads-db',
    context: defineContext<NeedsDb>(),
    beforeStep: ({ context }) => {
      expectTypeOf(context).toEqualTypeOf<NeedsDb>();
    },
    afterStep: ({ context }) => {
      expectTypeOf(context.db.find('x')).toBeString();
    },
    executionEnd: ({ context }) => {
      expectTypeOf(context).toEqualTypeOf<NeedsDb>();
      // @ts-expect-error -- it asked for a db alone
      context.tenant;
    },
  });
  expectTypeOf(hook).toEqualTypeOf<Hook<ToolUseState, NeedsDb>>();
  defineHook({
    name: 'asks-for-nothing',
    beforeStep: ({ context }) => {
      expectTypeOf(context).toBeUnknown();
    },
  });
});

test('a hook that needs a context goes only where that context is given', () => {
  createAgent({ model, context: defineContext<NeedsDb>(), hooks: [hookNeedingDb] }).start('x', { context: { db } });
  createAgent({ model, context: defineContext<NeedsDb & { readonly tenant: string }>(), hooks: [hookNeedingDb] });
  // The tools' context will do.
  createAgent({ model, tools: { find }, hooks: [hookNeedingDb] }).start('x', { context: { db } });
  // @ts-expect-error -- nobody gives a db
  createAgent({ model, hooks: [hookNeedingDb] });
  // @ts-expect-error -- nobody gives a db
  createAgent({ model, tools: { add }, hooks: [hookNeedingDb] });
  // @ts-expect-error -- a tenant is not a db
  createAgent({ model, context: defineContext<{ readonly tenant: string }>(), hooks: [hookNeedingDb] });

  const agent = createAgent({ model, context: defineContext<NeedsDb>(), hooks: [hookNeedingDb] });
  // @ts-expect-error -- the db has to be given
  agent.start('x');
  // @ts-expect-error -- the db has to be given
  agent.run(state);

  new ToolUse({ model, context: defineContext<NeedsDb>(), hooks: [hookNeedingDb] });
  // @ts-expect-error -- nobody gives a db
  new ToolUse({ model, hooks: [hookNeedingDb] });
});

test('a hook that needs nothing goes anywhere, and asks for nothing', () => {
  const plain = defineHook({ name: 'plain', beforeStep: () => undefined });
  createAgent({ model, hooks: [plain] }).start('x');
  createAgent({ model, tools: { add }, hooks: [plain] }).run(state);
  createAgent({ model, tools: { find }, hooks: [plain] }).run(state, { context: { db } });
  new ToolUse({ model, hooks: [plain] }).run(ToolUseState.empty());
});

test('a guard as a hook keeps the kind of state that it reads', () => {
  const guard = guardHook(new StepsLimit<ToolUseState>(3, ({ stepCount }) => stepCount));
  expectTypeOf(guard).toEqualTypeOf<Hook<ToolUseState, unknown>>();
  createAgent({ model, hooks: [guard] });
  createAgent({
    model,
    hooks: [guardHook(new StepsLimit<AgentState>(3, ({ stepCount }) => stepCount), { name: 'Few', at: ['before_step'] })],
  });
  // @ts-expect-error -- a guard is not asked there
  guardHook(new StepsLimit<ToolUseState>(3, ({ stepCount }) => stepCount), { at: ['before_tool'] });
  const forAgents = guardHook(new StepsLimit<AgentState>(3, ({ stepCount }) => stepCount));
  expectTypeOf(forAgents).toEqualTypeOf<Hook<AgentState, unknown>>();
});

const digging = defineCapability({ name: 'digging', tools: { dig }, instructions: 'You may dig.' });
const looking = defineCapability({ name: 'looking', tools: { find } });
const watching = defineCapability({ name: 'watching', hooks: [hookNeedingDb] });

test('the tools of a capability are known to the events of an agent that has it', () => {
  const agent = createAgent({ model, tools: { add }, capabilities: [digging] });
  agent.onEvent('ToolCallCompleted', (event) => {
    expectTypeOf(event.tool).toEqualTypeOf<'add' | 'dig'>();
    if (event.tool === 'add' && event.success) expectTypeOf(event.result).toEqualTypeOf<number>();
    if (event.tool === 'dig' && event.success) expectTypeOf(event.result).toEqualTypeOf<{ readonly found: string; readonly at: string }>();
    if (!event.success) expectTypeOf(event.error).toBeString();
    // @ts-expect-error -- there is no such tool
    if (event.tool === 'find') return;
  });
  agent.onEvent('ToolCallStarted', ({ tool, args }) => {
    expectTypeOf(tool).toEqualTypeOf<'add' | 'dig'>();
    expectTypeOf(args).toEqualTypeOf<Json>();
  });
  agent.onEvent('ToolCallBlocked', ({ hook, reason }) => expectTypeOf([hook, reason]).toEqualTypeOf<string[]>());
  agent.onEvent('HookApplied', ({ hook }) => expectTypeOf(hook).toBeString());
  agent.onEvent('HookReported', ({ message }) => expectTypeOf(message).toBeString());
  agent.start('x');
});

test('an agent may have its tools from capabilities alone, and from several', () => {
  const agent = createAgent({ model, capabilities: [digging, looking] });
  agent.onEvent('ToolCallCompleted', (event) => {
    expectTypeOf(event.tool).toEqualTypeOf<'dig' | 'find'>();
    if (event.tool === 'find' && event.success) expectTypeOf(event.result).toEqualTypeOf<string>();
  });
});

test('a capability without tools leaves the names of the tools as they are, wherever it is declared', () => {
  const words = defineCapability({ name: 'words', instructions: 'Be kind.' });
  const agent = createAgent({ model, tools: { add }, capabilities: [words] });
  agent.onEvent('ToolCallCompleted', (event) => expectTypeOf(event.tool).toEqualTypeOf<'add'>());
  agent.start('x');
  const inPlace = createAgent({ model, tools: { add }, capabilities: [defineCapability({ name: 'words', instructions: 'Be kind.' })] });
  inPlace.onEvent('ToolCallCompleted', (event) => expectTypeOf(event.tool).toEqualTypeOf<'add'>());
  inPlace.start('x');
  const withItsTools = createAgent({ model, tools: { add }, capabilities: [defineCapability({ name: 'digging', tools: { dig } })] });
  withItsTools.onEvent('ToolCallCompleted', (event) => expectTypeOf(event.tool).toEqualTypeOf<'add' | 'dig'>());
});

test('what a capability needs of the host, a run has to be given', () => {
  const byTools = createAgent({ model, capabilities: [looking] });
  byTools.start('x', { context: { db } });
  byTools.run(state, { context: { db } });
  // @ts-expect-error -- its tool needs a db
  byTools.start('x');
  // @ts-expect-error -- its tool needs a db
  byTools.run(state);

  const byHooks = createAgent({ model, capabilities: [watching] });
  byHooks.start('x', { context: { db } });
  // @ts-expect-error -- its hook needs a db
  byHooks.start('x');
  // @ts-expect-error -- its hook needs a db
  byHooks.run(state, {});

  const byBoth = createAgent({ model, context: defineContext<{ readonly tenant: string }>(), capabilities: [digging, watching] });
  byBoth.start('x', { context: { db, tenant: 'acme' } });
  byBoth.start('x', {
    // @ts-expect-error -- the tenant is missing
    context: { db },
  });
  byBoth.start('x', {
    // @ts-expect-error -- the db is missing
    context: { tenant: 'acme' },
  });

  createAgent({ model, capabilities: [digging] }).start('x');
});

test('what several capabilities need is wanted together', () => {
  const tenancy = defineCapability({
    name: 'tenancy',
    hooks: [
      defineHook({
        name: 'tenant',
        context: defineContext<{ readonly tenant: string }>(),
        beforeStep: ({ context }) => {
          expectTypeOf(context.tenant).toBeString();
        },
      }),
    ],
  });
  const agent = createAgent({ model, capabilities: [watching, tenancy, looking] });
  agent.start('x', { context: { db, tenant: 'acme' } });
  agent.start('x', {
    // @ts-expect-error -- the tenant is missing
    context: { db },
  });
  agent.start('x', {
    // @ts-expect-error -- the db is missing
    context: { tenant: 'acme' },
  });
});

test('a capability has the types of its parts', () => {
  expectTypeOf(digging).toExtend<Capability>();
  expectTypeOf(digging.tools).toEqualTypeOf<{ readonly dig: typeof dig } | undefined>();
  // @ts-expect-error -- a capability has a name
  defineCapability({ tools: { dig } });
  // @ts-expect-error -- there is no such part
  defineCapability({ name: 'odd', tool: dig });
  // @ts-expect-error -- hooks are made with defineHook()
  defineCapability({ name: 'odd', hooks: [{ name: 'x', beforeStep: () => undefined }] });
});

test('a builder keeps the types of what is put in', async () => {
  const agent = AgentBuilder.base()
    .withModel(model)
    .withTools({ add })
    .withCapability(digging)
    .withCapability(looking)
    .withMaxSteps(3)
    .build();
  agent.onEvent('ToolCallCompleted', (event) => {
    expectTypeOf(event.tool).toEqualTypeOf<'add' | 'dig' | 'find'>();
    if (event.tool === 'dig' && event.success) expectTypeOf(event.result).toEqualTypeOf<{ readonly found: string; readonly at: string }>();
  });
  agent.start('x', { context: { db } });
  // @ts-expect-error -- a tool of a capability needs a db
  agent.start('x');

  const watched = AgentBuilder.base().withModel(model).withCapability(watching).build();
  watched.start('x', { context: { db } });
  // @ts-expect-error -- a hook of a capability needs a db
  watched.start('x');

  const typed = AgentBuilder.base()
    .withModel(model)
    .withResponseFormat(z.object({ id: z.string() }))
    .withCapability(digging)
    .withHooks(defineHook({ name: 'plain', beforeStep: () => undefined }))
    .build();
  typed.onEvent('ToolCallCompleted', (event) => expectTypeOf(event.tool).toEqualTypeOf<'dig'>());
  const result = await typed.start('x').result;
  if (result.status === 'completed') expectTypeOf(result.output).toEqualTypeOf<{ id: string }>();
});

test('a builder takes hooks whose context it has', () => {
  const plain = defineHook({ name: 'plain', beforeStep: () => undefined });
  const guard = guardHook(new StepsLimit<AgentState>(3, ({ stepCount }) => stepCount), { name: 'Few' });
  const agent = AgentBuilder.base().withModel(model).withTools({ add }).withHooks(plain, guard).build();
  agent.onEvent('ToolCallCompleted', (event) => expectTypeOf(event.tool).toEqualTypeOf<'add'>());
  agent.start('x');

  AgentBuilder.base().withContext(defineContext<NeedsDb>()).withHooks(hookNeedingDb);
  AgentBuilder.base().withTools({ find }).withHooks(hookNeedingDb);
  // A capability that needs it says that it will be given.
  AgentBuilder.base().withCapability(watching).withHooks(hookNeedingDb);
  // @ts-expect-error -- nobody gives a db
  AgentBuilder.base().withHooks(hookNeedingDb);
  // @ts-expect-error -- nobody gives a db
  AgentBuilder.base().withTools({ add }).withHooks(plain, hookNeedingDb);
});
