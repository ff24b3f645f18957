import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { Json, Model, Orchestrator, RunResult } from '../../src/entry/index.ts';
import type { ToolEvent } from '../../src/tool-use/index.ts';
import type { Unsubscribe } from '../../src/events/index.ts';
import {
  defineContext,
  ContinuationDecision,
  createEventBus,
  defineClientTool,
  defineTool,
  ErrorPolicy,
  providerTool,
  stopWhen,
  ToolUse,
  ToolUseState,
  when,
} from '../../src/entry/index.ts';
import { orchestratorConformance } from '../../src/testing/index.ts';

declare const model: Model;

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
  run: (_args, { context }) => ({ id: context.user, since: new Date() }),
});
const clipboard = defineClientTool({ name: 'clipboard', description: 'A tool.', input });
const search = providerTool({ id: 'openai.web_search', name: 'search' });
const state = ToolUseState.empty();

test('the context is wanted exactly where tools, instructions or context need one', () => {
  const needsNothing = new ToolUse({ model, tools: { add, clipboard, search } });
  needsNothing.run(state);
  needsNothing.start(state, { context: 'anything' });
  new ToolUse({ model }).run(state);

  const byTools = new ToolUse({ model, tools: { whoAmI } });
  byTools.run(state, { context: { user: 1 } });
  // @ts-expect-error -- a user is needed
  byTools.run(state);
  // @ts-expect-error -- a user is needed
  byTools.nextStep(state);
  // @ts-expect-error -- a user is needed
  byTools.iterate(state);
  // @ts-expect-error -- a user is needed
  byTools.start(state);
  byTools.run(state, {
    // @ts-expect-error -- a user is a number
    context: { user: 'ann' },
  });

  const byContext = new ToolUse({ model, context: defineContext<{ tenant: string }>() });
  byContext.run(state, { context: { tenant: 'acme' } });
  // @ts-expect-error -- a tenant was declared
  byContext.run(state);
});

test('a declared context and what the tools need are wanted together', () => {
  const both = new ToolUse({
    model,
    context: defineContext<{ tenant: string }>(),
    tools: [whoAmI, add],
    instructions: ({ context, state }) => {
      expectTypeOf(context).toExtend<{ tenant: string; user: number }>();
      expectTypeOf(state).toEqualTypeOf<ToolUseState>();
      return context.tenant;
    },
  });
  both.run(state, { context: { tenant: 'acme', user: 1 } });
  both.run(state, {
    // @ts-expect-error -- the tenant is missing
    context: { user: 1 },
  });
});

test('a call of a known tool that has ended has its own result, as the JSON it is stored as', async () => {
  const toolUse = new ToolUse({ model, tools: { add, who: whoAmI, clipboard } });
  toolUse.onEvent('ToolCallCompleted', (event) => {
    expectTypeOf(event.tool).toEqualTypeOf<'add' | 'who' | 'clipboard'>();
    if (event.tool === 'add' && event.success) expectTypeOf(event.result).toEqualTypeOf<number>();
    if (event.tool === 'who' && event.success) expectTypeOf(event.result).toEqualTypeOf<{ readonly id: number; readonly since: string }>();
    if (event.tool === 'clipboard' && event.success) expectTypeOf<Json>().toExtend<typeof event.result>();
    if (!event.success) expectTypeOf(event.error).toEqualTypeOf<string>();
    // @ts-expect-error -- there is no such tool
    if (event.tool === 'subtract') return;
  });
  for await (const event of toolUse.start(state, { context: { user: 1 } }))
    if (event.type === 'ToolCallStarted') expectTypeOf(event.tool).toEqualTypeOf<'add' | 'who' | 'clipboard'>();
});

test('tools in a list are known by any name', () => {
  new ToolUse({ model, tools: [add] }).onEvent('ToolCallCompleted', (event) => {
    expectTypeOf(event.tool).toBeString();
    if (event.success) expectTypeOf(event.result).toEqualTypeOf<number>();
  });
});

test('listening narrows, and gives back how to leave', () => {
  const toolUse = new ToolUse({ model });
  expectTypeOf(toolUse.onEvent('TextDelta', ({ text }) => expectTypeOf(text).toBeString())).toEqualTypeOf<Unsubscribe>();
  expectTypeOf(toolUse.wiretap((event) => expectTypeOf(event.type).toExtend<string>())).toEqualTypeOf<Unsubscribe>();
  // @ts-expect-error -- there is no such event
  toolUse.onEvent('Exploded', () => undefined);
});

test('it deals in tool-use states', async () => {
  const toolUse = new ToolUse({ model, output: z.object({ id: z.string() }) });
  const end = await toolUse.run(state.withUserMessage('x'));
  expectTypeOf(end).toEqualTypeOf<ToolUseState>();
  expectTypeOf(end.output).toEqualTypeOf<Json | undefined>();
  expectTypeOf(await toolUse.nextStep(state)).toEqualTypeOf<ToolUseState>();
  for await (const each of toolUse.iterate(state)) expectTypeOf(each).toEqualTypeOf<ToolUseState>();
  expectTypeOf(await toolUse.start('x').result).toEqualTypeOf<RunResult<ToolUseState, { id: string }>>();
  expectTypeOf(await toolUse.toResult(end)).toEqualTypeOf<RunResult<ToolUseState, { id: string }>>();
  expectTypeOf(ToolUseState.fromJSON({})).toEqualTypeOf<ToolUseState>();
});

test('criteria read the tool-use state without being told', () => {
  new ToolUse({
    model,
    tools: { add },
    errors: ErrorPolicy.retryAll(),
    criteria: [
      stopWhen('x', (state) => {
        expectTypeOf(state).toEqualTypeOf<ToolUseState>();
        return state.stepCount > 3 && 'enough';
      }),
      when('y', (state) => (state.text === '' ? ContinuationDecision.AllowContinuation : ContinuationDecision.AllowStop)),
    ],
  });
});

test('it is an Orchestrator of its states', () => {
  const orchestrator: Orchestrator<ToolUseState, undefined, { readonly user: number }, ToolEvent<{ whoAmI: typeof whoAmI }>> = new ToolUse({
    model,
    tools: { whoAmI },
  });
  orchestrator.run(state, { context: { user: 1 } });
  const plain: Orchestrator<ToolUseState, undefined, unknown, ToolEvent> = new ToolUse({ model });
  plain.run(state);
});

test('it can be put through the conformance suite as it is', () => {
  const toolUse = new ToolUse({ model, tools: { add } });
  orchestratorConformance(() => ({ orchestrator: toolUse, start: state, restore: (stored) => ToolUseState.fromJSON(JSON.parse(stored)) }));
});

test('a misspelt option is an error', () => {
  // @ts-expect-error -- it is called tools
  new ToolUse({ model, tool: { add } });
  // @ts-expect-error -- a model is needed
  new ToolUse({ tools: { add } });
});

test('one bus may serve several', () => {
  const bus = createEventBus<ToolEvent>();
  new ToolUse({ model, events: bus });
  new ToolUse({ model, events: bus, tools: { add } });
});
