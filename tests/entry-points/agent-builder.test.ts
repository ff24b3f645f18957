import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { AgentEvent, Agent, AgentOptions, Tools } from '../../src/entry/index.ts';
import {
  AgentBuilder,
  AgentState,
  defineContext,
  ContinuationDecision,
  createAgent,
  createEventBus,
  defineCapability,
  defineClientTool,
  defineTool,
  ErrorHandlingDecision,
  ErrorPolicy,
  priceTable,
  providerTool,
  RateLimitedError,
  reActDriver,
  stopWhen,
  when,
} from '../../src/entry/index.ts';
import type { FakeClock, ScriptedEntry } from '../../src/testing/index.ts';
import { createCountingIds, createFakeClock, scriptedModel } from '../../src/testing/index.ts';

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => a + b,
});
const shout = defineTool({
  name: 'shout',
  description: 'Shouts.',
  input: z.object({ text: z.string() }),
  run: ({ text }) => text.toUpperCase(),
});
const clipboard = defineClientTool({ name: 'clipboard', description: 'Reads the clipboard.', input: z.object({}) });
const search = providerTool({ id: 'openai.web_search', name: 'search' });
const fail = defineTool({
  name: 'fail',
  description: 'Fails.',
  input: z.object({}),
  run: (): string => {
    throw new Error('no such lead');
  },
});

const usage = { input: 3, output: 2 };
const callAdd: ScriptedEntry = { toolCalls: [{ name: 'add', args: { a: 2, b: 3 } }], usage };
const callFail: ScriptedEntry = { toolCalls: [{ name: 'fail' }], usage };
const five: ScriptedEntry = { text: 'It is 5.', usage };
const broken: ScriptedEntry = { error: { type: 'model', code: 'http-500', message: 'Broken.', retryable: true } };

function stage() {
  const clock = createFakeClock();
  const problems: unknown[] = [];
  const onProblem = (problem: unknown): number => problems.push(problem);
  return { clock, problems, ports: { clock, ids: createCountingIds(), random: () => 0.5, onProblem } };
}

/** Moves time on until the work has ended. */
async function inTime<Value>(clock: FakeClock, work: Promise<Value>): Promise<Value> {
  const progress = { isOver: false };
  const end = work.finally(() => {
    progress.isOver = true;
  });
  while (!progress.isOver) await clock.advance(1000);
  return end;
}

const createStart = (): AgentState => AgentState.empty().withUserMessage('x');
const getEnd = ({ status, stopReason, stepCount }: AgentState) => [status, stopReason, stepCount];
const asUntyped = <Value>(value: unknown): Value => value as Value;
const withScript = (...script: readonly ScriptedEntry[]) => AgentBuilder.base().withModel(scriptedModel(script)).withPorts(stage().ports);
const listVotes = (state: AgentState) =>
  Object.fromEntries(state.lastContinuationOutcome?.evaluations.map(({ criterion, context }) => [criterion, context]) ?? []);

describe('what a builder builds unless told otherwise', () => {
  test.each([
    ['base', AgentBuilder.base()],
    ['new', AgentBuilder.new()],
  ])('%s: 20 steps, 32,768 tokens, 300 seconds, and the end at any failure', async (_name, builder) => {
    const agent = builder
      .withModel(scriptedModel([five]))
      .withPorts(stage().ports)
      .build();
    const votes = listVotes(await agent.run(createStart()));
    expect(votes).toMatchObject({
      StepsLimit: { maxSteps: 20 },
      TokenUsageLimit: { maxTokens: 32_768 },
      ExecutionTimeLimit: { maxSeconds: 300 },
    });
    expect(Object.keys(votes)).not.toContain('CumulativeExecutionTimeLimit');
  });

  test('it stops after 20 steps', async () => {
    const agent = AgentBuilder.base()
      .withModel(scriptedModel([callAdd], { repeatLast: true }))
      .withTools(add)
      .withPorts(stage().ports)
      .build();
    expect(getEnd(await agent.run(createStart()))).toStrictEqual(['stopped', 'steps_limit', 20]);
  });

  test.each([
    [32_767, ['completed', 'completed', 2]],
    [32_768, ['stopped', 'token_limit', 1]],
  ])('after %i tokens: %j', async (input, end) => {
    const agent = withScript({ ...(callAdd as object), usage: { input, output: 0 } }, { text: 'done', usage: { input: 0, output: 0 } })
      .withTools(add)
      .build();
    expect(getEnd(await agent.run(createStart()))).toStrictEqual(end);
  });

  test.each<[string, ScriptedEntry]>([
    ['tool', callFail],
    ['model', broken],
    ['rate limit', { error: { type: 'rate_limit', code: 'http-429', message: 'Too many.', retryable: true } }],
  ])('a %s failure ends it, even where a rule asks to go on', async (_type, entry) => {
    const agent = withScript(entry, five)
      .withTools(fail)
      .addContinuationCriteria(when('More', () => ContinuationDecision.RequestContinuation))
      .build();
    const state = await agent.run(createStart());
    expect(getEnd(state)).toStrictEqual(['failed', 'error', 1]);
    expect(state.lastContinuationOutcome?.resolvedBy).toBe('ErrorPolicyCriterion');
  });

  test('a model is wanted', () => {
    expect(() => AgentBuilder.base().build()).toThrow('AgentBuilder needs a model.');
  });
});

describe('the promised example', () => {
  test('works: a run, a second turn after storage, and states one by one', async () => {
    const { clock, ports } = stage();
    const built = AgentBuilder.base()
      .withModel(scriptedModel([callAdd, five, { text: 'It is 9.' }, callAdd, five]))
      .withTools(add)
      .withMaxSteps(20)
      .withErrorPolicy(ErrorPolicy.retryToolErrors(3))
      .withCumulativeTimeout(300)
      .addContinuationCriteria(when('Mine', (_state) => ContinuationDecision.AllowContinuation))
      .withPorts(ports)
      .build();
    let state = await built.run(AgentState.empty().withUserMessage('What is 2 + 3?'), {
      context: { any: 'thing' },
      signal: new AbortController().signal,
    });
    expect(getEnd(state)).toStrictEqual(['completed', 'completed', 2]);
    expect([state.text, state.usage.total, state.steps.length, state.stepResults.length]).toStrictEqual(['It is 5.', 10, 2, 2]);
    expect(state.lastStepResult?.stopReason).toBe('completed');
    expect(state.lastContinuationOutcome?.shouldContinue).toBe(false);
    expect(state.explain()).not.toBe('');
    expect(state.messages.length).toBe(4);
    clock.skip(9 * 86_400_000);
    state = await built.run(built.restore(JSON.parse(JSON.stringify(state))).withUserMessage('And 4?'));
    expect([state.text, state.session.executions.length]).toStrictEqual(['It is 9.', 2]);
    const counts: number[] = [];
    for await (const each of built.iterate(state.withUserMessage('Again?'))) counts.push(each.stepCount);
    expect(counts).toStrictEqual([1, 2]);
  });
});

describe('a builder changes itself', () => {
  test('every method returns the builder that it was called on', () => {
    const builder = AgentBuilder.base();
    const model = scriptedModel([five]);
    const calls: readonly ((given: AgentBuilder) => unknown)[] = [
      (given) => given.withId('other', '2'),
      (given) => given.withModel(model),
      (given) => given.withModelSettings({ temperature: 0 }),
      (given) => given.withFallbackModels(model),
      (given) => given.withDriver(reActDriver()),
      (given) => given.withPrices(priceTable({})),
      (given) => given.withContext(defineContext<{ tenant: string }>()),
      (given) => given.withTools(add),
      (given) => given.withResponseFormat(z.object({ id: z.string() })),
      (given) => given.withSystemPrompt('Be brief.'),
      (given) => given.withSystemPrompt(' '),
      (given) => given.withMaxSteps(1),
      (given) => given.withMaxTokens(1),
      (given) => given.withTimeout(1),
      (given) => given.withCumulativeTimeout(1),
      (given) => given.withLimits({ costUsd: 1 }),
      (given) => given.withErrorPolicy(ErrorPolicy.retryAll()),
      (given) => given.withMaxRetries(2),
      (given) => given.withFinishReasons('length'),
      (given) => given.addContinuationCriteria(stopWhen('Mine', () => false)),
      (given) => given.withHooks(),
      (given) => given.withCapability(defineCapability({ name: 'c' })),
      (given) => given.withEvents(createEventBus<AgentEvent>()),
      (given) => given.withPorts({}),
      (given) => given.onBuild((agent) => agent),
    ];
    for (const call of calls) expect(call(builder)).toBe(builder);
  });

  test('so statements build the same agent as a chain', async () => {
    const [model, other] = [scriptedModel([callAdd, five]), scriptedModel([callAdd, five])];
    const { ports } = stage();
    const mine = stopWhen<AgentState>('Mine', () => false);
    const builder = AgentBuilder.base();
    builder.withModel(model);
    builder.withTools(add);
    builder.withTools([shout]);
    builder.withId('desk', '2');
    builder.withSystemPrompt('Be brief.');
    builder.withMaxSteps(7);
    builder.withCumulativeTimeout(9);
    builder.withErrorPolicy(ErrorPolicy.retryToolErrors(3));
    builder.withMaxRetries(4);
    builder.addContinuationCriteria(mine);
    builder.withPorts(ports);
    const built = builder.build();
    const chained = AgentBuilder.base()
      .withModel(other)
      .withTools(add)
      .withTools([shout])
      .withId('desk', '2')
      .withSystemPrompt('Be brief.')
      .withMaxSteps(7)
      .withCumulativeTimeout(9)
      .withErrorPolicy(ErrorPolicy.retryToolErrors(3))
      .withMaxRetries(4)
      .addContinuationCriteria(mine)
      .withPorts(ports)
      .build();
    expect(built.describe()).toStrictEqual(chained.describe());
    expect(built.toolNames).toStrictEqual(['add', 'shout']);
    expect(built.describe()).toMatchObject({ id: 'desk', version: '2', limits: { steps: 7, activeMs: 9000 }, errors: { maxRetries: 4 } });
    expect(getEnd(await built.run(createStart()))).toStrictEqual(getEnd(await chained.run(createStart())));
  });

  test('an agent that was built stays as it is, whatever the builder is told later', async () => {
    const model = scriptedModel([five], { repeatLast: true });
    const builder = AgentBuilder.base()
      .withModel(model)
      .withTools(add)
      .addContinuationCriteria(stopWhen('First', () => false))
      .withPorts(stage().ports);
    const first = builder.build();
    const before = JSON.stringify(first.describe());
    builder
      .withTools(shout)
      .withMaxSteps(1)
      .withSystemPrompt('Be brief.')
      .withId('other')
      .addContinuationCriteria(stopWhen('Second', () => false))
      .onBuild((agent) => ({ ...agent, version: 'changed' }));
    const second = builder.build();
    expect(JSON.stringify(first.describe())).toBe(before);
    expect([first.id, first.toolNames, first.version]).toStrictEqual(['agent', ['add'], undefined]);
    expect([second.id, second.toolNames, second.version]).toStrictEqual(['other', ['add', 'shout'], 'changed']);
    expect(listVotes(await first.run(createStart()))).toMatchObject({ StepsLimit: { maxSteps: 20 } });
    expect(listVotes(await second.run(createStart()))).toMatchObject({ StepsLimit: { maxSteps: 1 } });
    expect(Object.keys(listVotes(await first.run(createStart()))).at(-1)).toBe('First');
    expect(Object.keys(listVotes(await second.run(createStart()))).slice(-2)).toStrictEqual(['First', 'Second']);
  });

  test('two builders have nothing in common', () => {
    const [one, other] = [AgentBuilder.base(), AgentBuilder.base()];
    one.withTools(add).withMaxSteps(1).withModel(scriptedModel([]));
    other.withModel(scriptedModel([]));
    expect(other.build().describe()).toMatchObject({ tools: [], limits: { steps: 20 } });
  });

  test('a builder used twice gives agents that do not hear each other', async () => {
    const builder = AgentBuilder.base()
      .withModel(scriptedModel([five], { repeatLast: true }))
      .withPorts(stage().ports);
    const [one, other] = [builder.build(), builder.build()];
    expect([one === other, one.fingerprint]).toStrictEqual([false, other.fingerprint]);
    const heard: string[] = [];
    one.onEvent('AgentFinished', () => heard.push('one'));
    other.onEvent('AgentFinished', () => heard.push('other'));
    await one.run(createStart());
    expect(heard).toStrictEqual(['one']);
  });
});

describe('tools', () => {
  const listOffered = async (
    builder: AgentBuilder<never, never, never>,
    model: ReturnType<typeof scriptedModel>,
  ): Promise<readonly string[]> => {
    await asUntyped<Agent>(builder.build()).run(createStart());
    return model.calls[0]?.tools?.map(({ name }) => name) ?? [];
  };

  test.each<[string, (builder: AgentBuilder) => unknown, readonly string[]]>([
    ['one', (builder) => builder.withTools(add), ['add']],
    ['a list', (builder) => builder.withTools([add, clipboard, search]), ['add', 'clipboard', 'search']],
    ['a record', (builder) => builder.withTools({ add, search }), ['add', 'search']],
    ['a mix', (builder) => builder.withTools(add).withTools([shout]).withTools({ clipboard }), ['add', 'shout', 'clipboard']],
    ['none', (builder) => builder, []],
  ])('given as %s', async (_what, give, names) => {
    const model = scriptedModel([five]);
    const builder = give(AgentBuilder.base().withModel(model).withPorts(stage().ports));
    expect(await listOffered(asUntyped(builder), model)).toStrictEqual(names);
  });

  test('of two with one name the later stands', async () => {
    const other = defineTool({ name: 'add', description: 'Adds, or not.', input: z.object({}), run: () => 'later' });
    const state = await withScript(callAdd, five).withTools([add, shout]).withTools(other).build().run(createStart());
    expect(state.steps[0]?.executions[0]).toMatchObject({ status: 'succeeded', value: 'later' });
  });

  test('so it is within one list', async () => {
    const other = defineTool({ name: 'add', description: 'Adds, or not.', input: z.object({}), run: () => 'later' });
    const state = await withScript(callAdd, five).withTools([add, other]).build().run(createStart());
    expect(state.steps[0]?.executions[0]).toMatchObject({ status: 'succeeded', value: 'later' });
  });

  test('what is no tool is refused with a clear error', () => {
    expect(() =>
      AgentBuilder.base()
        .withModel(scriptedModel([]))
        .withTools(asUntyped<Tools>({ add: {} }))
        .build(),
    ).toThrow('not a tool');
    expect(() =>
      AgentBuilder.base()
        .withModel(scriptedModel([]))
        .withTools(asUntyped<Tools>([{}]))
        .build(),
    ).toThrow('not a tool');
  });
});

describe('instructions', () => {
  test.each<[string, string | undefined]>([
    ['  Be brief.\n', 'Be brief.'],
    ['', undefined],
    ['  \n ', undefined],
  ])('%j: the model is told %j', async (given, told) => {
    const model = scriptedModel([five]);
    await AgentBuilder.base().withModel(model).withSystemPrompt(given).withPorts(stage().ports).build().run(createStart());
    expect(model.calls[0]?.messages.find((message) => message.isSystem())?.text).toBe(told);
  });

  test('empty text does not take away what was said before', async () => {
    const model = scriptedModel([five]);
    await AgentBuilder.base()
      .withModel(model)
      .withSystemPrompt('Be brief.')
      .withSystemPrompt(' ')
      .withPorts(stage().ports)
      .build()
      .run(createStart());
    expect(model.calls[0]?.messages[0]?.text).toBe('Be brief.');
  });

  test('they may be made from the context', async () => {
    const model = scriptedModel([five]);
    const agent = AgentBuilder.base()
      .withContext(defineContext<{ tenant: string }>())
      .withModel(model)
      .withSystemPrompt(({ context }) => `You work for ${context.tenant}.`)
      .withPorts(stage().ports)
      .build();
    await agent.run(createStart(), { context: { tenant: 'acme' } });
    expect(model.calls[0]?.messages[0]?.text).toBe('You work for acme.');
  });
});

describe('limits', () => {
  test.each<[string, (builder: AgentBuilder) => AgentBuilder, object]>([
    ['withMaxSteps', (builder) => builder.withMaxSteps(3), { StepsLimit: { maxSteps: 3 } }],
    ['withMaxTokens', (builder) => builder.withMaxTokens(99), { TokenUsageLimit: { maxTokens: 99 } }],
    ['withTimeout, in seconds', (builder) => builder.withTimeout(7), { ExecutionTimeLimit: { maxSeconds: 7 } }],
    [
      'withCumulativeTimeout, in seconds',
      (builder) => builder.withCumulativeTimeout(7),
      { CumulativeExecutionTimeLimit: { maxSeconds: 7 } },
    ],
    [
      'withLimits, beside those that were set',
      (builder) => builder.withMaxSteps(3).withPrices(priceTable({})).withLimits({ tokens: 5000, activeMs: 9000, costUsd: 2 }),
      {
        StepsLimit: { maxSteps: 3 },
        TokenUsageLimit: { maxTokens: 5000 },
        ExecutionTimeLimit: { maxSeconds: 300 },
        CumulativeExecutionTimeLimit: { maxSeconds: 9 },
        CostLimit: {},
      },
    ],
    ['the last word, where it is said twice', (builder) => builder.withMaxSteps(3).withMaxSteps(4), { StepsLimit: { maxSteps: 4 } }],
  ])('%s', async (_name, set, votes) => {
    expect(listVotes(await set(withScript(five)).build().run(createStart()))).toMatchObject(votes);
  });

  const byOrder: readonly (readonly [string, (builder: AgentBuilder) => AgentBuilder, number])[] = [
    ['alone', (builder) => builder.withCumulativeTimeout(1), 1],
    ['after withTimeout', (builder) => builder.withTimeout(5).withCumulativeTimeout(60), 60],
    ['before withTimeout', (builder) => builder.withCumulativeTimeout(60).withTimeout(5), 5],
    ['between both', (builder) => builder.withTimeout(5).withCumulativeTimeout(60).withTimeout(7), 7],
    ['before withLimits', (builder) => builder.withCumulativeTimeout(60).withLimits({ wallMs: 5000 }), 5],
    ['beside a limit of active time', (builder) => builder.withLimits({ activeMs: 2000 }).withCumulativeTimeout(60), 2],
  ];

  test.each(byOrder)(
    'withCumulativeTimeout, %s, takes the place of the wall limit; the later number counts',
    async (_order, set, maxSeconds) => {
      const votes = listVotes(await set(withScript(five)).build().run(createStart()));
      expect(votes).toMatchObject({ CumulativeExecutionTimeLimit: { maxSeconds } });
      expect(Object.keys(votes)).not.toContain('ExecutionTimeLimit');
    },
  );

  test.each<[string, (builder: AgentBuilder, given: number) => AgentBuilder, string]>([
    ['withTimeout', (builder, given) => builder.withTimeout(given), 'withTimeout() needs a number above 0, or Infinity, not -1.'],
    [
      'withCumulativeTimeout',
      (builder, given) => builder.withCumulativeTimeout(given),
      'withCumulativeTimeout() needs a number above 0, or Infinity, not -1.',
    ],
    ['withMaxSteps', (builder, given) => builder.withMaxSteps(given), 'withMaxSteps() needs a number of 0 or more, or Infinity, not -1.'],
    [
      'withMaxTokens',
      (builder, given) => builder.withMaxTokens(given),
      'withMaxTokens() needs a number of 0 or more, or Infinity, not -1.',
    ],
  ])('%s refuses what is not a limit, under its own name', (method, set, message) => {
    expect(() => set(AgentBuilder.base(), -1)).toThrow(message);
    for (const given of [NaN, '60' as never, undefined as never])
      expect(() => set(AgentBuilder.base(), given)).toThrow(`${method}() needs a number`);
  });

  function slow(clock: FakeClock) {
    return defineTool({
      name: 'slow',
      description: 'A tool.',
      input: z.object({ ms: z.number() }),
      run: ({ ms }): string => {
        clock.skip(ms);
        return 'done';
      },
    });
  }
  const callSlow = (ms: number): ScriptedEntry => ({
    toolCalls: [
      { name: 'slow', args: { ms } },
      { name: 'clipboard', id: 'c' },
    ],
  });

  test.each([
    [500, 400, ['completed', 'completed', 3]],
    [500, 500, ['stopped', 'time_limit', 2]],
  ])('cumulative: %i ms and %i ms of work around days of waiting: %j', async (first, second, end) => {
    const { clock, ports, problems } = stage();
    const agent = AgentBuilder.base()
      .withModel(scriptedModel([callSlow(first), { toolCalls: [{ name: 'slow', args: { ms: second } }] }, five]))
      .withTools([slow(clock), clipboard])
      .withTimeout(1)
      .withCumulativeTimeout(1)
      .withPorts(ports)
      .build();
    const waiting = await inTime(clock, agent.run(createStart()));
    expect(waiting.status).toBe('waiting');
    clock.skip(5 * 86_400_000);
    const again = agent.restore(JSON.parse(JSON.stringify(waiting))).answer('c', 'text');
    expect(getEnd(await inTime(clock, agent.run(again)))).toStrictEqual(end);
    expect(problems).toMatchObject(end[0] === 'stopped' ? [{ code: 'late-result' }] : []);
  });

  test('by default the wall clock counts', async () => {
    const { clock, ports, problems } = stage();
    const agent = AgentBuilder.base()
      .withModel(scriptedModel([{ toolCalls: [{ name: 'slow', args: { ms: 300_000 } }] }, five]))
      .withTools(slow(clock))
      .withPorts(ports)
      .build();
    const state = await inTime(clock, agent.run(createStart()));
    expect([state.stopReason, state.lastContinuationOutcome?.resolvedBy]).toStrictEqual(['time_limit', 'ExecutionTimeLimit']);
    expect(problems).toMatchObject([{ code: 'late-result' }]);
  });

  test('a limit that does not exist is refused', () => {
    expect(() =>
      withScript(five)
        .withLimits(asUntyped({ maxSteps: 1 }))
        .build(),
    ).toThrow('Unknown option "maxSteps" in limits. Use steps.');
  });

  test('a limit that is undefined counts as absent', async () => {
    const votes = listVotes(
      await withScript(five)
        .withMaxTokens(99)
        .withLimits(asUntyped({ tokens: undefined }))
        .build()
        .run(createStart()),
    );
    expect(votes).toMatchObject({ TokenUsageLimit: { maxTokens: 99 } });
  });
});

describe('failures', () => {
  test('withErrorPolicy decides what happens', async () => {
    const agent = withScript(callFail, callFail, five).withTools(fail).withErrorPolicy(ErrorPolicy.retryToolErrors(3)).build();
    expect(getEnd(await agent.run(createStart()))).toStrictEqual(['completed', 'completed', 3]);
  });

  test.each([
    [1, 1],
    [2, 2],
    [4, 4],
  ])('withMaxRetries(%i) under a policy that retries: the run ends with failure %i', async (retries, steps) => {
    const agent = AgentBuilder.base()
      .withModel(scriptedModel([callFail], { repeatLast: true }))
      .withTools(fail)
      .withErrorPolicy(ErrorPolicy.retryToolErrors(3))
      .withMaxRetries(retries)
      .withPorts(stage().ports)
      .build();
    expect(getEnd(await agent.run(createStart()))).toStrictEqual(['failed', 'retry_limit', steps]);
  });

  test('a thrown failure of the model is retried under retryAll', async () => {
    const { clock, ports } = stage();
    const agent = AgentBuilder.base()
      .withModel(scriptedModel([broken, five]))
      .withErrorPolicy(ErrorPolicy.retryAll())
      .withPorts(ports)
      .build();
    expect(getEnd(await inTime(clock, agent.run(createStart())))).toStrictEqual(['completed', 'completed', 2]);
  });

  test('withMaxRetries without a policy asks the model again, and no tool', async () => {
    const agent = withScript(callFail).withTools(fail).withMaxRetries(5).build();
    expect(getEnd(await agent.run(createStart()))).toStrictEqual(['failed', 'error', 1]);
    const [clock, ids] = [createFakeClock(), createCountingIds('id')];
    const busy = { error: new RateLimitedError('429', { retryAfterMs: 1 }) };
    const patient = AgentBuilder.base()
      .withModel(scriptedModel([busy, busy, busy]))
      .withMaxRetries(2)
      .withPorts({ clock, ids })
      .build();
    const running = patient.run(createStart());
    await clock.advance(10);
    expect(getEnd(await running)).toStrictEqual(['failed', 'retry_limit', 2]);
  });
});

describe('the other methods', () => {
  test('withModelSettings reaches the model', async () => {
    const model = scriptedModel([five]);
    await AgentBuilder.base()
      .withModel(model)
      .withModelSettings({ maxOutputTokens: 7 })
      .withPorts(stage().ports)
      .build()
      .run(createStart());
    expect(model.calls[0]?.settings).toStrictEqual({ maxOutputTokens: 7 });
  });

  test('withFallbackModels are asked in turn', async () => {
    const agent = withScript(broken)
      .withFallbackModels(scriptedModel([broken], { modelId: 'second' }), scriptedModel([five], { modelId: 'third' }))
      .build();
    const state = await agent.run(createStart());
    expect([...getEnd(state), state.steps[0]?.model]).toStrictEqual(['completed', 'completed', 1, 'scripted/third']);
  });

  test('withDriver decides how a step is made', async () => {
    const decision = { thought: 'I know.', type: 'final_answer', tool: null, args: null, answer: 'It is 5.' };
    const state = await withScript({ text: JSON.stringify(decision) })
      .withDriver(reActDriver())
      .build()
      .run(createStart());
    expect([...getEnd(state), state.text]).toStrictEqual(['completed', 'completed', 1, 'It is 5.']);
  });

  test('withPrices tells what it cost', async () => {
    const price = priceTable({ 'scripted/script': { inputPerMillion: 1_000_000, outputPerMillion: 1_000_000 } });
    expect((await withScript(five).withPrices(price).build().run(createStart())).cost).toStrictEqual({ usd: 5 });
  });

  test('withFinishReasons ends the run', async () => {
    const agent = withScript({ ...(callAdd as object), finishReason: 'length' })
      .withTools(add)
      .withFinishReasons('content_filter', 'length')
      .build();
    expect(getEnd(await agent.run(createStart()))).toStrictEqual(['stopped', 'finish_reason', 1]);
  });

  test('addContinuationCriteria stands behind the built-in rules, in the order of adding', async () => {
    const agent = withScript(five)
      .addContinuationCriteria(
        stopWhen('A', () => false),
        stopWhen('B', () => false),
      )
      .addContinuationCriteria(stopWhen('C', (state) => state.stepCount > 0 && 'enough'))
      .build();
    const state = await agent.run(createStart());
    expect(Object.keys(listVotes(state)).slice(-4)).toStrictEqual(['ToolCallPresenceCheck', 'A', 'B', 'C']);
    expect([state.stopReason, state.lastContinuationOutcome?.resolvedBy]).toStrictEqual(['guard', 'C']);
  });

  test('withResponseFormat gives a typed answer', async () => {
    const agent = withScript({ text: '{"id":"7"}' })
      .withResponseFormat(z.object({ id: z.coerce.number() }))
      .build();
    const result = await agent.start('x').result;
    expect(result.status === 'completed' && result.output).toStrictEqual({ id: 7 });
  });

  test('withEvents sends the events to that bus', async () => {
    const bus = createEventBus<AgentEvent>();
    const heard: string[] = [];
    bus.on('AgentFinished', ({ orchestrator }) => heard.push(orchestrator));
    await withScript(five).withEvents(bus).build().run(createStart());
    expect(heard).toStrictEqual(['agent']);
  });

  test('withId is kept with each execution', async () => {
    const agent = withScript(five).withId('partner', '3').build();
    const { execution } = await agent.run(createStart());
    expect(execution.agent).toStrictEqual({ id: 'partner', version: '3', fingerprint: agent.fingerprint });
  });
});

describe('onBuild', () => {
  test('callbacks run in order, each on what the one before returned, at every build', () => {
    const seen: string[] = [];
    const builder = withScript(five)
      .onBuild((agent) => {
        seen.push(agent.id);
        return { ...agent, id: 'first' };
      })
      .onBuild((agent) => {
        seen.push(agent.id);
        return { ...agent, id: 'second' };
      });
    expect([builder.build().id, builder.build().id]).toStrictEqual(['second', 'second']);
    expect(seen).toStrictEqual(['agent', 'first', 'agent', 'first']);
  });

  test('they may listen to the agent', async () => {
    const heard: string[] = [];
    const agent = withScript(five)
      .onBuild((agent) => {
        agent.onEvent('AgentFinished', ({ status }) => heard.push(status));
        return agent;
      })
      .build();
    await agent.run(createStart());
    expect(heard).toStrictEqual(['completed']);
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a name', 'agent'],
    ['any object', { id: 'agent' }],
    ['a builder', AgentBuilder.base()],
  ])('a callback that returns %s is refused with a clear error', (_what, given) => {
    const builder = withScript(five).onBuild(() => given as never);
    expect(() => builder.build()).toThrow(
      expect.objectContaining({
        code: 'invalid-argument',
        message: expect.stringMatching(
          /^The callback of onBuild\(\) returned .+\. Return the agent it was given, or one derived from it\.$/,
        ) as string,
      }) as Error,
    );
  });
});

describe('built and created', () => {
  const output = z.object({ id: z.string() });
  const careful = { steps: 20, tokens: 32_768, wallMs: 300_000 };
  const stop = { errors: ErrorPolicy.stopOnAnyError() };
  const mine = stopWhen<AgentState>('Mine', () => false);

  const pairs: readonly (readonly [string, (builder: AgentBuilder) => unknown, Omit<AgentOptions, 'model'>])[] = [
    ['nothing', (builder) => builder, { ...stop, limits: careful }],
    ['tools', (builder) => builder.withTools(add).withTools({ shout }), { ...stop, limits: careful, tools: { add, shout } }],
    ['instructions', (builder) => builder.withSystemPrompt(' Be brief. '), { ...stop, limits: careful, instructions: 'Be brief.' }],
    [
      'limits',
      (builder) => builder.withMaxSteps(1).withMaxTokens(2).withTimeout(3),
      { ...stop, limits: { steps: 1, tokens: 2, wallMs: 3000 } },
    ],
    [
      'active time in place of the wall clock',
      (builder) => builder.withCumulativeTimeout(60),
      { ...stop, limits: { ...careful, wallMs: Infinity, activeMs: 60_000 } },
    ],
    [
      'a policy',
      (builder) => builder.withErrorPolicy(ErrorPolicy.retryAll()).withMaxRetries(2),
      { limits: careful, errors: ErrorPolicy.retryAll(2) },
    ],
    [
      'the working policy',
      (builder) =>
        builder
          .withErrorPolicy(ErrorPolicy.retryToolErrors(3).withModelErrorHandling(ErrorHandlingDecision.Retry).withMinRetrySpanMs(10_000))
          .withMaxTokens(500_000),
      {},
    ],
    ['an output', (builder) => builder.withResponseFormat(output), { ...stop, limits: careful, output }],
    [
      'everything else',
      (builder) =>
        builder.withModelSettings({ temperature: 0 }).withFinishReasons('length').addContinuationCriteria(mine).withDriver(reActDriver()),
      { ...stop, limits: careful, settings: { temperature: 0 }, finishReasons: ['length'], criteria: [mine], driver: reActDriver() },
    ],
  ];

  test.each(pairs)('have the same fingerprint with %s', (_what, build, options) => {
    const built = asUntyped<AgentBuilder>(build(AgentBuilder.base().withModel(scriptedModel([])))).build();
    expect(built.fingerprint).toBe(createAgent({ model: scriptedModel([]), ...options }).fingerprint);
  });

  test('behave the same with the same configuration', async () => {
    const script: readonly ScriptedEntry[] = [callAdd, callFail, callAdd, five];
    const policy = ErrorPolicy.retryToolErrors(3);
    const start = AgentState.empty(stage().ports).withUserMessage('x', { ids: createCountingIds('message') });
    const built = withScript(...script)
      .withId('same')
      .withTools([add, fail])
      .withErrorPolicy(policy)
      .build();
    const created = createAgent({
      id: 'same',
      model: scriptedModel(script),
      tools: [add, fail],
      limits: careful,
      errors: policy,
      ports: stage().ports,
    });
    const [one, other] = [await built.run(start), await created.run(start)];
    expect(JSON.stringify(one)).toBe(JSON.stringify(other));
    expect(one.explain()).toBe(other.explain());
    expect(one.stepCount).toBe(4);
  });
});
