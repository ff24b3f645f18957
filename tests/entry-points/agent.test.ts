import { tool as aiTool } from 'ai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { AgentEvent, AgentOptions, RunResult } from '../../src/entry/index.ts';
import {
  AgentState,
  defineContext,
  ContinuationDecision,
  createAgent,
  createEventBus,
  defineClientTool,
  defineTool,
  ErrorHandlingDecision,
  ErrorPolicy,
  Message,
  MessageStore,
  priceTable,
  SectionName,
  StepResult,
  stopWhen,
  ToolUseState,
  when,
} from '../../src/entry/index.ts';
import { aiSdkTools } from '../../src/inference/ai-sdk/index.ts';
import { toolResultText } from '../../src/messages/index.ts';
import type { FakeClock, ScriptedAnswer, ScriptedEntry } from '../../src/testing/index.ts';
import { createCountingIds, createFakeClock, orchestratorConformance, scriptedModel } from '../../src/testing/index.ts';

const day = 86_400_000;

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => a + b,
});
const fail = defineTool({
  name: 'fail',
  description: 'Fails.',
  input: z.object({}),
  run: (): string => {
    throw new Error('no such lead');
  },
});
const clipboard = defineClientTool({ name: 'clipboard', description: 'Reads the clipboard.', input: z.object({}) });
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: z.object({ amount: z.number() }),
  needsApproval: true,
  run: ({ amount }) => `paid ${amount}`,
});

const usage = { input: 3, output: 2 };
const callAdd: ScriptedAnswer = { toolCalls: [{ name: 'add', args: { a: 2, b: 3 } }], usage };
const callFail: ScriptedAnswer = { toolCalls: [{ name: 'fail' }], usage };
const five: ScriptedAnswer = { text: 'It is 5.', usage };
const busy: ScriptedAnswer = { error: { type: 'rate_limit', code: 'http-429', message: 'Too many requests.', retryable: true } };
const broken: ScriptedAnswer = { error: { type: 'model', code: 'http-500', message: 'Broken.', retryable: true } };
const denied: ScriptedAnswer = { error: { type: 'model', code: 'http-401', message: 'No key.', retryable: false } };

/** Time and ids that do as they are told; chance that always says the same. */
function stage() {
  const clock = createFakeClock();
  const problems: unknown[] = [];
  const ports = { clock, ids: createCountingIds(), random: () => 0.5, onProblem: (error: unknown) => problems.push(error) };
  return { clock, ports, problems };
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

/** Takes a state through storage, as JSON text. */
const roundTrip = (state: AgentState): AgentState => AgentState.fromJSON(JSON.parse(JSON.stringify(state)));

const getEnd = <Result extends RunResult<AgentState>>(result: Result) => [
  result.status,
  'stopReason' in result ? result.stopReason : undefined,
  result.state.stepCount,
];

const mapNames = (events: readonly { readonly type: string }[]): readonly string[] => events.map(({ type }) => type);

const toolText = (message: Message | undefined): string => (message?.toolResults ?? []).map(({ output }) => toolResultText(output)).join();

/** Passes a value that the types forbid, as plain JavaScript can. */
const asUntyped = <Value>(value: unknown): Value => value as Value;

describe('the promised example', () => {
  const searchEntities = defineTool({
    name: 'searchEntities',
    description: 'Finds partners.',
    input: z.object({ name: z.string() }),
    context: defineContext<{ tenant: string; db: ReadonlyMap<string, string> }>(),
    run: ({ name }, { context }) => ({ id: context.db.get(name) ?? null, tenant: context.tenant }),
  });
  const createLead = defineTool({
    name: 'createLead',
    description: 'Creates a lead.',
    input: z.object({ entityId: z.string() }),
    run: ({ entityId }) => ({ leadId: `lead-${entityId}` }),
  });
  const existing = { look_up: aiTool({ description: 'Looks up.', inputSchema: z.object({}), execute: () => 'found' }) };
  const context = { tenant: 'acme', db: new Map([['Acme', 'e-1']]) };

  function createPromisedModel(script: readonly ScriptedEntry[]) {
    const model = scriptedModel(script);
    const agent = createAgent({
      id: 'partner',
      version: '3',
      context: defineContext<{ tenant: string; db: ReadonlyMap<string, string> }>(),
      model,
      settings: { maxOutputTokens: 2000 },
      instructions: ({ context }) => `You work for ${context.tenant}.`,
      tools: { searchEntities, createLead, ...aiSdkTools(existing) },
      output: z.object({ leadId: z.string() }),
      limits: { steps: 20, tokens: 500_000, wallMs: 300_000, activeMs: 1_800_000, costUsd: 2, onLimit: 'finalize' },
      price: priceTable({}),
      errors: ErrorPolicy.retryToolErrors(3),
      criteria: [stopWhen('Weekend', (state) => (state.text.includes('weekend') ? 'it is the weekend' : false))],
      fallback: [scriptedModel([])],
      ports: stage().ports,
    });
    return { model, agent };
  }

  const script: readonly ScriptedEntry[] = [
    { text: 'I look.', toolCalls: [{ name: 'searchEntities', args: { name: 'Acme' } }], usage },
    { toolCalls: [{ name: 'createLead', args: { entityId: 'e-1' } }], usage },
    { text: '{"leadId":"lead-e-1"}', usage },
    { text: '{"leadId":"lead-berlin"}', usage },
  ];

  test('works: words in, events on the way, a typed answer at the end, and a second turn', async () => {
    const { agent, model } = createPromisedModel(script);
    const heard: string[] = [];
    const run = agent.start('Find Acme', { context, signal: new AbortController().signal, onEvent: ({ type }) => heard.push(type) });
    const told: string[] = [];
    for await (const event of run) told.push(event.type);
    const result = await run.result;
    expect(result.status === 'completed' && result.output.leadId).toBe('lead-e-1');
    expect(told.filter((type) => type !== 'TextDelta')).toStrictEqual(heard.filter((type) => type !== 'TextDelta'));
    expect(told.at(-1)).toBe('AgentFinished');
    expect(model.calls[0]?.messages.map(({ role, text }) => [role, text])).toStrictEqual([
      ['system', 'You work for acme.'],
      ['user', 'Find Acme'],
    ]);
    expect(model.calls[0]?.settings).toStrictEqual({ maxOutputTokens: 2000 });
    expect(result.state.steps[0]?.executions[0]).toMatchObject({ status: 'succeeded', value: { id: 'e-1', tenant: 'acme' } });

    const second = await agent.start(result.state.withUserMessage('And in Berlin?'), { context }).result;
    expect(second.status === 'completed' && second.output.leadId).toBe('lead-berlin');
    expect(second.state.session.executions).toHaveLength(2);
    run.requestStop('user pressed stop');
  });

  test('offers every tool under its own name, those of the AI SDK too', async () => {
    const { agent, model } = createPromisedModel(script);
    await agent.start('Find Acme', { context }).result;
    expect(model.calls[0]?.tools?.map(({ name }) => name)).toStrictEqual(['searchEntities', 'createLead', 'look_up']);
  });

  test('says why it stopped where a rule of the host ended it', async () => {
    const { agent } = createPromisedModel([{ text: 'It is the weekend.', toolCalls: [{ name: 'createLead', args: { entityId: '1' } }] }]);
    const result = await agent.start('Find Acme', { context }).result;
    expect(getEnd(result)).toStrictEqual(['stopped', 'guard', 1]);
    expect(result.explain()).toContain('it is the weekend');
  });
});

describe('what start takes', () => {
  const image = { type: 'image', mediaType: 'image/png', data: 'aGk=' } as const;

  test.each<[string, Parameters<ReturnType<typeof createAgent>['start']>[0], string]>([
    ['text', 'Hello', 'Hello'],
    ['a message', Message.user('Hello'), 'Hello'],
    ['a part', { type: 'text', text: 'Hello' }, 'Hello'],
    ['parts', [{ type: 'text', text: 'Hello' }, image], 'Hello'],
    ['a state', AgentState.empty().withUserMessage('Hello'), 'Hello'],
  ])('%s', async (_what, input, text) => {
    const model = scriptedModel([five]);
    const result = await createAgent({ model, ports: stage().ports }).start(input).result;
    expect(result.status).toBe('completed');
    expect(model.calls[0]?.messages.map((message) => [message.role, message.text])).toStrictEqual([['user', text]]);
  });

  test.each<[string, unknown, string?]>([
    ['nothing', undefined],
    ['null', null],
    ['a number', 5],
    ['true', true],
    ['a function', () => 'Hello'],
    ['any object', { text: 'Hello' }],
    ['a stored state that nobody read', JSON.parse(JSON.stringify(AgentState.empty())) as unknown],
    ['a state of another kind', ToolUseState.empty().withUserMessage('Hello')],
    ['a list of what are no parts', [1, 2], 'parts[0] expected an object, found a number'],
    ['a part of no known type', { type: 'smell', smell: 'smoke' }, 'parts[0].type expected one of'],
  ])('refuses %s with a clear error', (_what, input, says = 'start() needs a string') => {
    const model = scriptedModel([five]);
    const agent = createAgent({ model, ports: stage().ports });
    expect(() => agent.start(asUntyped(input))).toThrow(
      expect.objectContaining({ code: 'invalid-argument', message: expect.stringContaining(says) as string }) as Error,
    );
    expect(model.calls).toHaveLength(0);
  });
});

describe('a run that was started', () => {
  test('begins at once and settles without a reader', async () => {
    const model = scriptedModel([callAdd, five]);
    const result = await createAgent({ model, tools: { add }, ports: stage().ports }).start('2 + 3?').result;
    expect(getEnd(result)).toStrictEqual(['completed', 'completed', 2]);
    expect(result.text).toBe('It is 5.');
    expect(result.usage).toMatchObject({ input: 6, output: 4, total: 10 });
  });

  test('goes on when its reader leaves the loop', async () => {
    const run = createAgent({ model: scriptedModel([callAdd, five]), tools: { add }, ports: stage().ports }).start('2 + 3?');
    for await (const event of run) if (event.type === 'AgentStepStarted') break;
    expect(getEnd(await run.result)).toStrictEqual(['completed', 'completed', 2]);
  });

  test('ends at the next boundary when it is asked to', async () => {
    const run = createAgent({ model: scriptedModel([callAdd], { repeatLast: true }), tools: { add }, ports: stage().ports }).start('x');
    for await (const event of run) if (event.type === 'AgentStepCompleted') run.requestStop('user pressed stop');
    const result = await run.result;
    expect(result.status).toBe('stopped');
    expect('stopReason' in result && result.stopReason).toBe('user_requested');
    expect(result.explain()).toContain('user pressed stop');
  });

  test('is cut off by its signal, and keeps the words that had come', async () => {
    const controller = new AbortController();
    const model = scriptedModel([{ chunks: endless(['It ', 'is ']) }]);
    const { clock, ports } = stage();
    const run = createAgent({ model, ports }).start('x', { signal: controller.signal });
    for await (const event of run) if (event.type === 'TextDelta') break;
    controller.abort('enough');
    const result = await inTime(clock, run.result);
    expect(getEnd(result)).toStrictEqual(['stopped', 'user_requested', 1]);
    expect(result.text.startsWith('It')).toBe(true);
    expect(result.state.errors).toStrictEqual([]);
  });

  test('rejects when its store fails, and nobody else is disturbed', async () => {
    const run = createAgent({ model: scriptedModel([five]), ports: stage().ports }).start('x', {
      commit: () => Promise.reject(new Error('disk full')),
    });
    await expect(run.result).rejects.toThrow('disk full');
  });

  async function* endless(pieces: readonly string[]): AsyncGenerator<string> {
    yield* pieces;
    await new Promise(() => undefined);
  }
});

describe('who hears what', () => {
  test('the listener of a run hears that run only; those of the agent hear all, until they leave', async () => {
    const agent = createAgent({ model: scriptedModel([five], { repeatLast: true }), ports: stage().ports });
    const [own, typed, all]: string[][] = [[], [], []];
    const leaveTyped = agent.onEvent('AgentFinished', ({ agentId }) => typed?.push(agentId));
    const leaveAll = agent.wiretap(({ type }) => all?.push(type));
    const first = await agent.start('one', { onEvent: ({ type }) => own?.push(type) }).result;
    const heardByOwn = own?.length;
    const second = await agent.start('two').result;
    expect(own).toHaveLength(heardByOwn ?? -1);
    expect(typed).toStrictEqual([first.state.agentId, second.state.agentId]);
    expect(all).toHaveLength((heardByOwn ?? 0) * 2);
    leaveTyped();
    leaveAll();
    await agent.start('three').result;
    expect([typed?.length, all?.length]).toStrictEqual([2, (heardByOwn ?? 0) * 2]);
  });

  test('run, iterate, nextStep and stream are heard too', async () => {
    const agent = createAgent({ model: scriptedModel([five], { repeatLast: true }), ports: stage().ports });
    const finished: string[] = [];
    agent.onEvent('AgentFinished', ({ status }) => finished.push(status));
    const state = AgentState.empty().withUserMessage('x');
    await agent.run(state);
    const states: AgentState[] = [];
    for await (const each of agent.iterate(state)) states.push(each);
    await agent.nextStep(state);
    await agent.start(state).result;
    expect([finished, states.length]).toStrictEqual([['completed', 'completed', 'completed', 'completed'], 1]);
  });

  test('two agents on one bus are both heard, and can be told apart', async () => {
    const bus = createEventBus<AgentEvent>();
    const heard: string[] = [];
    bus.on('AgentFinished', ({ agentId }) => heard.push(agentId));
    const { ports } = stage();
    const one = createAgent({ model: scriptedModel([five]), events: bus, ports });
    const other = createAgent({ model: scriptedModel([five]), events: bus, ports });
    const ends = await Promise.all([one.start('x').result, other.start('y').result]);
    expect(heard.sort()).toStrictEqual(ends.map(({ state }) => state.agentId).sort());
    const viaAgent: string[] = [];
    one.onEvent('AgentFinished', ({ agentId }) => viaAgent.push(agentId));
    await other.start(AgentState.empty()).result;
    expect(viaAgent).toHaveLength(1);
  });

  test('a run with a tool tells the documents’ events, in their order, and of each decision once', async () => {
    const events: AgentEvent[] = [];
    const agent = createAgent({ model: scriptedModel([callAdd, five]), tools: { add }, ports: stage().ports });
    const { state } = await agent.start('x', { onEvent: (event) => events.push(event) }).result;
    expect(mapNames(events)).toStrictEqual([
      'AgentExecutionStarted',
      ...['AgentStepStarted', 'InferenceStarted', 'ToolCallStarted', 'ToolCallCompleted'],
      ...['ContinuationEvaluated', 'AgentStateUpdated', 'AgentStepCompleted', 'TokenUsageReported'],
      ...['AgentStepStarted', 'InferenceStarted', 'TextDelta'],
      ...['ContinuationEvaluated', 'AgentStateUpdated', 'AgentStepCompleted', 'TokenUsageReported'],
      'AgentFinished',
    ]);
    expect(events.every((event) => event.orchestrator === 'agent' && event.agentId === state.agentId)).toBe(true);
    const completed = events.find((event) => event.type === 'ToolCallCompleted');
    expect(completed).toMatchObject({ tool: 'add', success: true, result: 5, durationMs: 0, toolCallId: 'call-1' });
    expect(completed?.error).toBeNull();
    const decided = events.filter((event) => event.type === 'ContinuationEvaluated');
    expect(decided.map(({ outcome }) => outcome)).toStrictEqual(state.stepResults.map(({ outcome }) => outcome));
    expect(String(decided.at(-1))).toMatch(/STOP.*completed/);
  });

  test('a failed call says why, and has no result', async () => {
    const agent = createAgent({
      model: scriptedModel([callFail]),
      tools: { fail },
      errors: ErrorPolicy.stopOnAnyError(),
      ports: stage().ports,
    });
    const events: AgentEvent[] = [];
    const result = await agent.start('x', { onEvent: (event) => events.push(asUntyped(event)) }).result;
    const completed = events.find((event) => event.type === 'ToolCallCompleted');
    expect(completed).toMatchObject({ tool: 'fail', success: false, error: expect.stringContaining('no such lead') as string });
    expect(completed).not.toHaveProperty('result');
    expect(mapNames(events).slice(-2)).toStrictEqual(['AgentFailed', 'AgentFinished']);
    expect(mapNames(events).filter((type) => type === 'ContinuationEvaluated')).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ status: 'failed', stopReason: 'error', resolvedBy: 'ErrorPolicyCriterion' });
    expect(result.status === 'failed' && result.error).toMatchObject({ type: 'tool', toolName: 'fail', message: 'no such lead' });
  });

  test('a listener that throws is reported, and changes nothing', async () => {
    const { ports, problems } = stage();
    const agent = createAgent({ model: scriptedModel([five]), ports });
    agent.wiretap(() => {
      throw new Error('listener');
    });
    expect(getEnd(await agent.start('x').result)).toStrictEqual(['completed', 'completed', 1]);
    expect(problems.length).toBeGreaterThan(0);
  });
});

describe('fifty states on one agent', () => {
  test('do not disturb each other', async () => {
    const model = scriptedModel(
      [
        ({ messages }) => {
          const [said] = messages;
          const number = Number(said?.text);
          return messages.some((message) => message.isTool())
            ? { text: toolText(messages.at(-1)), usage: { input: number, output: 0 } }
            : { toolCalls: [{ name: 'add', args: { a: number, b: 1000 } }], usage: { input: number, output: 0 } };
        },
      ],
      { repeatLast: true },
    );
    const agent = createAgent({ model, tools: { add }, ports: stage().ports });
    const numbers = Array.from({ length: 50 }, (_, index) => index + 1);
    const results = await Promise.all(numbers.map((number) => agent.start(String(number)).result));
    expect(results.map(({ text }) => text)).toStrictEqual(numbers.map((number) => String(number + 1000)));
    expect(results.map(({ usage }) => usage.input)).toStrictEqual(numbers.map((number) => number * 2));
    expect(new Set(results.map(({ state }) => state.agentId)).size).toBe(50);
    expect(new Set(results.map(({ state }) => state.execution.id)).size).toBe(50);
    expect(results.every(({ state }) => state.messages.length === 4)).toBe(true);
  });

  test('and one state that was run twice gives two branches', async () => {
    const agent = createAgent({ model: scriptedModel([{ text: 'a' }, { text: 'b' }]), ports: stage().ports });
    const state = AgentState.empty().withUserMessage('x');
    const [one, other] = [await agent.run(state), await agent.run(state)];
    expect([one.text, other.text, state.text, state.status]).toStrictEqual(['a', 'b', '', 'pending']);
  });
});

describe('who did it', () => {
  const ports = () => stage().ports;

  test('each execution records agent id, version and fingerprint, also after storage', async () => {
    const agent = createAgent({ id: 'partner', version: '3', model: scriptedModel([five], { repeatLast: true }), ports: ports() });
    const identity = { id: 'partner', version: '3', fingerprint: agent.fingerprint };
    expect([agent.id, agent.version]).toStrictEqual(['partner', '3']);
    const first = roundTrip(await agent.run(AgentState.empty().withUserMessage('x')));
    expect(first.execution.agent).toStrictEqual(identity);
    const released = createAgent({ id: 'partner', version: '4', model: scriptedModel([five]), instructions: 'Be kind.', ports: ports() });
    const second = roundTrip(await released.run(first.withUserMessage('y')));
    expect(second.session.executions.map((execution) => execution.agent)).toStrictEqual([
      identity,
      { id: 'partner', version: '4', fingerprint: released.fingerprint },
    ]);
  });

  test('without a name it is called agent, and has no version', async () => {
    const agent = createAgent({ model: scriptedModel([five]), ports: ports() });
    const { state } = await agent.start('x').result;
    expect([agent.id, agent.version]).toStrictEqual(['agent', undefined]);
    expect(state.execution.agent).toStrictEqual({ id: 'agent', fingerprint: agent.fingerprint });
  });

  const base = (): AgentOptions => ({
    model: scriptedModel([]),
    instructions: 'Be brief.',
    tools: { add },
    limits: { steps: 5 },
    errors: ErrorPolicy.retryToolErrors(3),
    output: z.object({ id: z.string() }),
  });
  const getFingerprint = (options: AgentOptions): string => createAgent(options).fingerprint;

  test('the same configuration has the same fingerprint, however it is written and whoever answers', () => {
    const same: readonly AgentOptions[] = [
      base(),
      { ...base(), model: scriptedModel([five]) },
      { ...base(), id: 'other', version: '9' },
      { ...base(), tools: [add] },
      { ...base(), ports: ports(), events: createEventBus<AgentEvent>() },
      { ...base(), limits: { steps: 5, tokens: 500_000, wallMs: 300_000 } },
      { ...base(), limits: { wallMs: 300_000, steps: 5 } },
      { ...base(), errors: ErrorPolicy.retryToolErrors() },
      { ...base(), settings: {} },
    ];
    expect(new Set(same.map(getFingerprint))).toStrictEqual(new Set([getFingerprint(base())]));
    const two = { add, fail };
    expect(getFingerprint({ ...base(), tools: two })).toBe(getFingerprint({ ...base(), tools: { fail, add } }));
  });

  test.each<[string, Partial<AgentOptions>]>([
    ['onLimit stop', { limits: { steps: 5, onLimit: 'stop' } }],
    ['no finish reasons', { finishReasons: [] }],
    ['no rules', { criteria: [] }],
  ])('the same fingerprint where %s is said that goes without saying', (_what, change) => {
    expect(getFingerprint({ ...base(), ...change })).toBe(getFingerprint(base()));
  });

  test('settings that are no JSON do not hide a difference elsewhere', () => {
    const settings = asUntyped<NonNullable<AgentOptions['settings']>>({ providerOptions: { mine: { seen: new Map() } } });
    expect(getFingerprint({ ...base(), settings, instructions: 'Be long.' })).not.toBe(getFingerprint({ ...base(), settings }));
  });

  const createAddTool = (change: object) =>
    defineTool({
      name: 'add',
      description: 'Adds two numbers.',
      input: z.object({ a: z.number(), b: z.number() }),
      run: () => 1,
      ...change,
    });

  test.each<[string, Partial<AgentOptions>]>([
    ['instructions', { instructions: 'Be long.' }],
    ['instructions that are made', { instructions: () => 'Be brief.' }],
    ['the tools', { tools: { add, fail } }],
    ['a tool’s name', { tools: [createAddTool({ name: 'plus' })] }],
    ['a tool’s schema', { tools: { add: createAddTool({ input: z.object({ a: z.number() }) }) } }],
    ['a tool’s description', { tools: { add: createAddTool({ description: 'Adds.' }) } }],
    ['a tool’s gate', { tools: { add: createAddTool({ needsApproval: true }) } }],
    ['a limit', { limits: { steps: 6 } }],
    ['a limit that was taken away', { limits: { steps: 5, tokens: Infinity } }],
    ['one more limit', { limits: { steps: 5, costUsd: 1 }, price: priceTable({}) }],
    ['what happens at a limit', { limits: { steps: 5, onLimit: 'pause' } }],
    ['the policy', { errors: ErrorPolicy.retryToolErrors(2) }],
    ['the policy for one tool', { errors: ErrorPolicy.retryToolErrors(3).withTool('add', ErrorHandlingDecision.Stop) }],
    ['the output', { output: z.object({ id: z.number() }) }],
    ['the settings', { settings: { temperature: 1 } }],
    ['the rules', { criteria: [stopWhen('Mine', () => false)] }],
    ['the finish reasons', { finishReasons: ['length'] }],
  ])('another fingerprint where it differs in %s', (_what, change) => {
    expect(getFingerprint({ ...base(), ...change })).not.toBe(getFingerprint(base()));
  });
});

describe('options', () => {
  test.each<[string, object, string]>([
    ['an unknown option', { tool: {} }, 'Unknown option "tool" in createAgent(). Did you mean "tools"?'],
    ['an unknown limit', { limits: { maxSteps: 1 } }, 'Unknown option "maxSteps" in limits. Use steps.'],
    ['what to do at a limit', { limits: { onLimit: 'explode' } }, 'onLimit must be one of stop, finalize, pause'],
    ['options that are none', { 0: 'x' }, 'Unknown option "0" in createAgent()'],
    ['no model', { model: undefined }, 'createAgent() needs a model. Pass aiSdk('],
    ['a name in place of a model', { model: 'gpt-5' }, 'createAgent(): model must be a model object, not "gpt-5".'],
    ['no model among the fallbacks', { fallback: [scriptedModel([]), {}] }, 'fallback[1] must be a model object, not an object.'],
    ['instructions that are no words', { instructions: 5 }, 'instructions must be a string'],
    ['an output that is no schema', { output: 5 }, 'output must be a Standard Schema'],
    ['a tool that is none', { tools: { add: {} } }, 'not a tool'],
  ])('%s: refused with a clear message', (_what, change, message) => {
    expect(() => createAgent(asUntyped<AgentOptions>({ model: scriptedModel([]), ...change }))).toThrow(message);
  });

  const every = ['id', 'version', 'fallback', 'settings', 'timeouts', 'context', 'tools', 'instructions', 'output', 'limits', 'errors'];
  const more = ['finishReasons', 'criteria', 'driver', 'price', 'onUnknown', 'toolConcurrency', 'streaming', 'events', 'ports'];

  test.each([...every, ...more])('%s: undefined counts as absent', async (name) => {
    const make = (options: object) =>
      createAgent(asUntyped<AgentOptions>({ model: scriptedModel([five]), ports: stage().ports, ...options }));
    const [agent, plain] = [make({ [name]: undefined }), make({})];
    expect([agent.id, agent.version, agent.fingerprint]).toStrictEqual(['agent', undefined, plain.fingerprint]);
    const result = await agent.start('x').result;
    expect(getEnd(result)).toStrictEqual(['completed', 'completed', 1]);
    expect(result.status === 'completed' && result.output).toBeUndefined();
  });

  test.each(['steps', 'tokens', 'wallMs', 'activeMs', 'costUsd', 'onLimit', 'finalizeMs', 'repeatedToolCalls'])(
    'limits.%s: undefined counts as absent',
    async (name) => {
      const make = (limits: object) => createAgent(asUntyped<AgentOptions>({ model: scriptedModel([five]), limits, ports: stage().ports }));
      const [agent, plain] = [make({ [name]: undefined }), make({})];
      const votes = async (each: typeof agent) => (await each.start('x').result).state.lastContinuationOutcome?.evaluations;
      expect(await votes(agent)).toStrictEqual(await votes(plain));
      expect(agent.fingerprint).toBe(plain.fingerprint);
    },
  );

  test('limits.wallMs: undefined beside activeMs does not take the wall limit away', async () => {
    const limits = asUntyped<NonNullable<AgentOptions['limits']>>({ wallMs: undefined, activeMs: 1000 });
    const { state } = await createAgent({ model: scriptedModel([five]), limits, ports: stage().ports }).start('x').result;
    expect(state.lastContinuationOutcome?.evaluations.map(({ criterion }) => criterion)).toContain('ExecutionTimeLimit');
  });

  test('ports that are undefined are the machine’s own', async () => {
    const ports = asUntyped<NonNullable<AgentOptions['ports']>>({
      clock: undefined,
      ids: undefined,
      random: undefined,
      onProblem: undefined,
    });
    expect(getEnd(await createAgent({ model: scriptedModel([five]), ports }).start('x').result)).toStrictEqual([
      'completed',
      'completed',
      1,
    ]);
  });

  test('a run takes undefined options too', async () => {
    const agent = createAgent({ model: scriptedModel([five]), ports: stage().ports });
    const options = { context: undefined, signal: undefined, onEvent: undefined, commit: undefined, effects: undefined };
    expect(getEnd(await agent.start('x', asUntyped(options)).result)).toStrictEqual(['completed', 'completed', 1]);
  });
});

describe('what createAgent does unless told otherwise', () => {
  test('it watches 20 steps, 500,000 tokens and 300 seconds', async () => {
    const { state } = await createAgent({ model: scriptedModel([five]), ports: stage().ports }).start('x').result;
    const votes = state.lastContinuationOutcome?.evaluations ?? [];
    const contexts = Object.fromEntries(votes.map(({ criterion, context }) => [criterion, context]));
    expect(contexts).toMatchObject({
      StepsLimit: { maxSteps: 20 },
      TokenUsageLimit: { maxTokens: 500_000 },
      ExecutionTimeLimit: { maxSeconds: 300 },
      ErrorPolicyCriterion: { maxRetries: 3 },
    });
    expect(Object.keys(contexts)).toStrictEqual([
      ...['StopRequested', 'ErrorPolicyCriterion', 'StepsLimit', 'TokenUsageLimit', 'ExecutionTimeLimit', 'FinishReasonCheck'],
      ...['PendingRetry', 'ToolCallPresenceCheck'],
    ]);
  });

  test('it stops after 20 steps', async () => {
    const agent = createAgent({ model: scriptedModel([callAdd], { repeatLast: true }), tools: { add }, ports: stage().ports });
    expect(getEnd(await agent.start('x').result)).toStrictEqual(['stopped', 'steps_limit', 20]);
  });

  test.each([
    [499_999, ['completed', 'completed', 2]],
    [500_000, ['stopped', 'token_limit', 1]],
  ])('after %i tokens: %j', async (input, end) => {
    const script = [
      { ...(callAdd as object), usage: { input, output: 0 } },
      { text: 'done', usage: { input: 0, output: 0 } },
    ];
    expect(
      getEnd(await createAgent({ model: scriptedModel(script), tools: { add }, ports: stage().ports }).start('x').result),
    ).toStrictEqual(end);
  });

  function slow(clock: FakeClock, ms: number) {
    return defineTool({
      name: 'slow',
      description: 'A tool.',
      input: z.object({}),
      run: (): string => {
        clock.skip(ms);
        return 'done';
      },
    });
  }
  const callSlow: ScriptedEntry = { toolCalls: [{ name: 'slow' }] };

  test.each([
    [299_999, ['completed', 'completed', 2]],
    [300_000, ['stopped', 'time_limit', 1]],
  ])('after %i ms on the wall clock: %j', async (ms, end) => {
    const { clock, ports } = stage();
    const agent = createAgent({ model: scriptedModel([callSlow, five]), tools: { slow: slow(clock, ms) }, ports });
    expect(getEnd(await inTime(clock, agent.start('x').result))).toStrictEqual(end);
  });

  test('activeMs stands beside the wall limit', async () => {
    const { clock, ports } = stage();
    const agent = createAgent({
      model: scriptedModel([callSlow, five]),
      tools: { slow: slow(clock, 1000) },
      limits: { activeMs: 1000 },
      ports,
    });
    const { state } = await inTime(clock, agent.start('x').result);
    expect([state.stopReason, state.lastContinuationOutcome?.resolvedBy]).toStrictEqual(['time_limit', 'CumulativeExecutionTimeLimit']);
    const named = state.lastContinuationOutcome?.evaluations.map(({ criterion }) => criterion);
    expect(named).toEqual(expect.arrayContaining(['ExecutionTimeLimit', 'CumulativeExecutionTimeLimit']));
  });

  test('a failing tool goes back to the model twice; the third failure in a row ends it', async () => {
    const model = scriptedModel([callFail], { repeatLast: true });
    const result = await createAgent({ model, tools: { fail }, ports: stage().ports }).start('x').result;
    expect(getEnd(result)).toStrictEqual(['failed', 'retry_limit', 3]);
    expect(model.calls[1]?.messages.at(-1)?.toolResults[0]).toMatchObject({ toolName: 'fail' });
    expect(result.status === 'failed' && result.error.toolName).toBe('fail');
  });

  test.each<[string, ScriptedEntry, readonly unknown[]]>([
    ['a broken model is asked again', broken, ['completed', 'completed', 2]],
    ['a busy model is asked again', busy, ['completed', 'completed', 2]],
    ['an empty answer is asked for again', { text: '' }, ['completed', 'completed', 2]],
    ['a model that says no for good is not', denied, ['failed', 'error', 1]],
  ])('%s', async (_what, entry, end) => {
    const { clock, ports } = stage();
    const retries: number[] = [];
    const agent = createAgent({ model: scriptedModel([entry, five]), ports });
    agent.onEvent('RetryScheduled', ({ delayMs }) => retries.push(delayMs));
    expect(getEnd(await inTime(clock, agent.start('x').result))).toStrictEqual(end);
    expect(retries).toHaveLength(end[0] === 'completed' ? 1 : 0);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('broken answers end it once three in a row span ten seconds', async () => {
    const { clock, ports } = stage();
    const agent = createAgent({ model: scriptedModel([broken], { repeatLast: true }), ports });
    expect(getEnd(await inTime(clock, agent.start('x').result))).toStrictEqual(['failed', 'retry_limit', 5]);
  });
});

describe('one loop', () => {
  test('an answer without calls is one step', async () => {
    const { state } = await createAgent({ model: scriptedModel([five]), tools: { add }, ports: stage().ports }).start('x').result;
    expect(state.steps.map(({ stepType }) => stepType)).toStrictEqual(['final_response']);
    expect(state.messages.toArray().map(({ role, text }) => [role, text])).toStrictEqual([
      ['user', 'x'],
      ['assistant', 'It is 5.'],
    ]);
  });

  test('a call and an answer are two steps; the tool runs once with its arguments', async () => {
    const seen: unknown[] = [];
    const spy = defineTool({
      name: 'spy',
      description: 'A tool.',
      input: z.object({ n: z.number() }),
      run: (args) => {
        seen.push(args);
        return 'seen';
      },
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'spy', args: { n: 1 } }] }, five]);
    const { state } = await createAgent({ model, tools: { spy }, ports: stage().ports }).start('x').result;
    expect(seen).toStrictEqual([{ n: 1 }]);
    expect(state.steps.map(({ stepType }) => stepType)).toStrictEqual(['tool_execution', 'final_response']);
    expect(state.messages.toArray().map(({ role }) => role)).toStrictEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(state.stepResults.every((result) => result instanceof StepResult)).toBe(true);
  });

  test.each<[string, string, string]>([
    ['a call with no words leaves no words', '', ''],
    ['words beside a call are kept', 'I add them.', 'I add them.'],
    ['leaked arguments are dropped', '{"a": 2, "b": 3}', ''],
    ['other JSON is dropped', '{"a": 9}', ''],
    ['JSON in a code fence is dropped', '```json\n{"a": 2, "b": 3}\n```', ''],
    ['JSON that is cut off is dropped', '[{"a": 2', ''],
    ['words with JSON in them are kept', 'I add {"a": 2, "b": 3}.', 'I add {"a": 2, "b": 3}.'],
  ])('%s', async (_what, text, kept) => {
    const deltas: string[] = [];
    const model = scriptedModel([{ ...(callAdd as object), text }, five]);
    const agent = createAgent({ model, tools: { add }, ports: stage().ports });
    const { state } = await agent.start('x', {
      onEvent: (event) => event.type === 'TextDelta' && event.stepNumber === 1 && deltas.push(event.text),
    }).result;
    expect(state.messages.toArray().filter((message) => message.isAssistant())[0]?.text).toBe(kept);
    expect(deltas.join('')).toBe(kept);
    expect(state.text).toBe('It is 5.');
  });

  test('pieces of a call never show up as words', async () => {
    const deltas: string[] = [];
    const chunks = ['{"a":', ' 2', ', "b": 3}'].map((text) => ({ type: 'tool-input' as const, toolCallId: 'c-1', toolName: 'add', text }));
    const model = scriptedModel([{ chunks }, five]);
    const agent = createAgent({ model, tools: { add }, ports: stage().ports });
    agent.onEvent('TextDelta', ({ text }) => deltas.push(text));
    const { state } = await agent.start('x').result;
    expect(deltas.join('')).toBe('It is 5.');
    expect(state.steps[0]?.executions[0]).toMatchObject({ status: 'succeeded', value: 5 });
  });

  test('the model reads summary, buffer and conversation, in this order, behind the instructions', async () => {
    const store = MessageStore.empty()
      .append(SectionName.Messages, Message.user('now'))
      .append(SectionName.Buffer, Message.user('before'))
      .append(SectionName.Summary, Message.user('long ago'));
    const model = scriptedModel([five]);
    await createAgent({ model, instructions: 'Be brief.', ports: stage().ports }).run(AgentState.empty().evolve({ store }));
    expect(model.calls[0]?.messages.map(({ text }) => text)).toStrictEqual(['Be brief.', 'long ago', 'before', 'now']);
  });

  test('a failed step keeps its usage, and counts it once', async () => {
    const agent = createAgent({ model: scriptedModel([callFail, five]), tools: { fail }, ports: stage().ports });
    const { state } = await agent.start('x').result;
    expect(state.steps.map((step) => step.usage.total)).toStrictEqual([5, 5]);
    expect([state.usage.total, state.session.usage.total, roundTrip(state).usage.total]).toStrictEqual([10, 10, 10]);
  });

  test.each<[string, ScriptedEntry, object]>([
    ['a tool', callFail, { errorType: 'tool', consecutiveFailures: 1, totalFailures: 1, decision: 'stop' }],
    ['a rate limit', busy, { errorType: 'rate_limit', consecutiveFailures: 1, decision: 'stop' }],
    ['a model', broken, { errorType: 'model', consecutiveFailures: 1, decision: 'stop' }],
    ['an unknown tool', { toolCalls: [{ name: 'nope' }] }, { errorType: 'tool', decision: 'stop' }],
    ['arguments that break the schema', { toolCalls: [{ name: 'add', args: { a: 'x' } }] }, { errorType: 'tool', decision: 'stop' }],
  ])('a failure of %s is classified and recorded', async (_what, entry, handling) => {
    const agent = createAgent({
      model: scriptedModel([entry]),
      tools: { add, fail },
      errors: ErrorPolicy.stopOnAnyError(),
      ports: stage().ports,
    });
    const { state } = await agent.start('x').result;
    expect(state.lastStepResult?.handling).toMatchObject(handling);
    expect([state.status, state.stopReason, state.stepCount]).toStrictEqual(['failed', 'error', 1]);
    expect(agent.hasNextStep(state)).toBe(false);
    expect(state.steps[0]?.stepType).toBe('error');
  });

  test('a rule that throws keeps the step, adds the failure and ends the run', async () => {
    const rule = when<AgentState>('Mine', ({ stepCount }) => {
      if (stepCount > 0) throw new Error('a bug in a rule');
      return ContinuationDecision.AllowContinuation;
    });
    const agent = createAgent({ model: scriptedModel([five]), criteria: [rule], ports: stage().ports });
    const decided: (string | null)[] = [];
    agent.onEvent('ContinuationEvaluated', ({ stopReason }) => decided.push(stopReason));
    const result = await agent.start('x').result;
    expect(getEnd(result)).toStrictEqual(['failed', 'error', 1]);
    expect([result.text, result.usage.total]).toStrictEqual(['It is 5.', 5]);
    expect(result.status === 'failed' && result.error).toMatchObject({ code: 'criterion-failed' });
    expect(result.explain()).toContain('a bug in a rule');
    expect(decided).toStrictEqual(['error']);
    expect(agent.hasNextStep(result.state)).toBe(false);
  });

  test('a rule that throws before the first step leaves no step, and a reason', async () => {
    const rule = when<AgentState>('Mine', () => {
      throw new Error('a bug in a rule');
    });
    const model = scriptedModel([five]);
    const result = await createAgent({ model, criteria: [rule], ports: stage().ports }).start('x').result;
    expect(getEnd(result)).toStrictEqual(['failed', 'error', 0]);
    expect(result.status === 'failed' && result.error.code).toBe('criterion-failed');
    expect(result.status === 'failed' && result.error.message).toContain('a bug in a rule');
    expect([model.calls.length, result.state.startOutcome?.stopReason]).toStrictEqual([0, 'error']);
    expect(roundTrip(result.state).startOutcome?.toJSON()).toStrictEqual(result.state.startOutcome?.toJSON());
  });

  const throwing = (): never => {
    throw new Error('a bug of the host');
  };

  test.each<[string, Partial<AgentOptions>]>([
    ['instructions', { instructions: throwing }],
    ['a driver', { driver: { name: 'mine', ask: throwing } }],
    ['a driver, later', { driver: { name: 'mine', ask: async () => throwing() } }],
    ['a model that breaks its promise', { model: { ...scriptedModel([]), generate: throwing, stream: throwing } }],
    ['a tool', { tools: { add: defineTool({ name: 'add', description: 'A tool.', input: z.object({}), run: throwing }) } }],
    [
      'the question whether a call is gated',
      { tools: { add: defineTool({ name: 'add', description: 'A tool.', input: z.object({}), run: () => 1, needsApproval: throwing }) } },
    ],
  ])('what is thrown by %s ends in a recorded state that says so', async (_what, options) => {
    const agent = createAgent({
      model: scriptedModel([callAdd, five]),
      tools: { add },
      errors: ErrorPolicy.stopOnAnyError(),
      ...options,
      ports: stage().ports,
    });
    const decided: (string | null)[] = [];
    agent.onEvent('ContinuationEvaluated', ({ stopReason }) => decided.push(stopReason));
    const result = await agent.start('x').result;
    expect(getEnd(result)).toStrictEqual(['failed', 'error', 1]);
    expect(result.status === 'failed' && result.error.message).toContain('a bug of the host');
    expect(result.explain()).toContain('a bug of the host');
    expect(decided).toStrictEqual(['error']);
    expect(roundTrip(result.state).explain()).toBe(result.explain());
  });

  test('a price list that throws is one that does not know', async () => {
    const result = await createAgent({ model: scriptedModel([five]), price: throwing, ports: stage().ports }).start('x').result;
    expect([result.status, result.cost]).toStrictEqual(['completed', { usd: 0, unknownCalls: 1 }]);
  });

  test('the context reaches tools and instructions, and is never stored', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'tenant' }] }, five]);
    const tenant = defineTool({
      name: 'tenant',
      description: 'A tool.',
      input: z.object({}),
      context: defineContext<{ tenant: string; secret: string }>(),
      run: (_args, { context }) => context.tenant,
    });
    const agent = createAgent({ model, tools: { tenant }, instructions: ({ context }) => `For ${context.tenant}.`, ports: stage().ports });
    const { state } = await agent.start('x', { context: { tenant: 'acme', secret: 'xyzzy' } }).result;
    expect(state.steps[0]?.executions[0]).toMatchObject({ value: 'acme' });
    expect(model.calls[0]?.messages[0]?.text).toBe('For acme.');
    expect(JSON.stringify(state)).not.toContain('xyzzy');
    expect(JSON.stringify(state)).not.toContain('For acme.');
  });

  test('a start that is refused is a stop without a step, told once', async () => {
    const model = scriptedModel([five]);
    const agent = createAgent({ model, limits: { steps: 0 }, ports: stage().ports });
    const events: string[] = [];
    const result = await agent.start('x', { onEvent: ({ type }) => events.push(type) }).result;
    expect(getEnd(result)).toStrictEqual(['stopped', 'steps_limit', 0]);
    expect(events.filter((type) => type === 'ContinuationEvaluated')).toHaveLength(1);
    expect(model.calls).toHaveLength(0);
  });

  test.each<[string, readonly ContinuationDecision[], readonly unknown[]]>([
    ['a request goes on where the answer would have ended it', ['request'], ['stopped', 'steps_limit', 3, 'forbid']],
    ['an allowance does not', ['allow'], ['completed', 'completed', 1, 'stop']],
    ['a forbid beats a request, and is seen as one', ['request', 'forbid'], ['stopped', 'guard', 0, 'forbid']],
    ['nothing but letting go ends it', ['stop'], ['completed', 'completed', 1, 'stop']],
  ])('%s', async (_what, votes, end) => {
    const criteria = votes.map((vote, index) => when<AgentState>(`Mine${index}`, () => vote));
    const agent = createAgent({ model: scriptedModel([five], { repeatLast: true }), criteria, limits: { steps: 3 }, ports: stage().ports });
    const result = await agent.start('x').result;
    expect([...getEnd(result), result.state.lastContinuationOutcome?.decision]).toStrictEqual(end);
    const trace = result.state.lastContinuationOutcome?.evaluations.map(({ criterion }) => criterion);
    expect(trace).toEqual(expect.arrayContaining(criteria.map(({ name }) => name)));
  });

  test('a failure is named before a limit that was reached in the same step', async () => {
    const agent = createAgent({
      model: scriptedModel([callFail]),
      tools: { fail },
      limits: { steps: 1 },
      errors: ErrorPolicy.stopOnAnyError(),
      ports: stage().ports,
    });
    expect(getEnd(await agent.start('x').result)).toStrictEqual(['failed', 'error', 1]);
  });

  test('the whole trace survives storage', async () => {
    const agent = createAgent({ model: scriptedModel([callAdd, five]), tools: { add }, ports: stage().ports });
    const { state } = await agent.start('x').result;
    const outcomes = (each: AgentState) => each.stepResults.map(({ outcome }) => outcome.toJSON());
    expect(outcomes(roundTrip(state))).toStrictEqual(outcomes(state));
    expect(roundTrip(state).explain()).toBe(state.explain());
    expect(JSON.parse(JSON.stringify(roundTrip(state)))).toStrictEqual(JSON.parse(JSON.stringify(state)));
    expect(state.lastStepResult?.outcome.resolvedBy).toBe('ToolCallPresenceCheck');
  });

  test('finish reasons that were named end the run', async () => {
    const model = scriptedModel([{ ...(callAdd as object), finishReason: 'length' }]);
    const agent = createAgent({ model, tools: { add }, finishReasons: ['length'], ports: stage().ports });
    expect(getEnd(await agent.start('x').result)).toStrictEqual(['stopped', 'finish_reason', 1]);
  });

  test('a developer’s words count as the system’s', () => {
    expect([Message.developer('x').isSystem(), Message.system('x').isSystem(), Message.user('x').isSystem()]).toStrictEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('many turns', () => {
  test('a second turn days later starts at once, with clocks of its own', async () => {
    const { clock, ports } = stage();
    const wait = defineTool({
      name: 'wait',
      description: 'A tool.',
      input: z.object({}),
      run: (): string => {
        clock.skip(200_000);
        return 'done';
      },
    });
    const script: readonly ScriptedEntry[] = [{ toolCalls: [{ name: 'wait' }], usage }, five];
    const agent = createAgent({ model: scriptedModel([...script, ...script]), tools: { wait }, limits: { activeMs: 250_000 }, ports });
    const first = await inTime(clock, agent.run(AgentState.empty({ clock }).withUserMessage('one')));
    const begun = first.info.startedAt;
    clock.skip(9 * day);
    const again = agent.restore(JSON.parse(JSON.stringify(first))).withUserMessage('two');
    expect([again.status, again.stepCount, again.usage.total, again.execution.activeMs]).toStrictEqual(['pending', 0, 0, 0]);
    const second = await inTime(clock, agent.run(again));
    expect([second.status, second.stopReason, second.stepCount]).toStrictEqual(['completed', 'completed', 2]);
    expect(second.info.startedAt).toBe(begun);
    expect(second.execution.wallStartedAt).toBeGreaterThan(begun + 9 * day);
    expect(roundTrip(second).execution.wallStartedAt).toBeUndefined();
    expect(second.info.cumulativeExecutionSeconds).toBe(400);
    expect(second.stepResults.map(({ number }) => number)).toStrictEqual([1, 2]);
  });

  test('the session sums up what the executions count', async () => {
    const agent = createAgent({ model: scriptedModel([callAdd, five, five, callAdd, five]), tools: { add }, ports: stage().ports });
    let state = await agent.run(AgentState.empty().withUserMessage('one'));
    for (const words of ['two', 'three']) state = await agent.run(roundTrip(state).withUserMessage(words));
    expect([state.stepCount, state.usage.total]).toStrictEqual([2, 10]);
    expect([state.session.executions.length, state.session.stepCount, state.session.usage.total]).toStrictEqual([3, 5, 25]);
    expect(state.session.executions.map(({ number, results }) => [number, results.length])).toStrictEqual([
      [1, 2],
      [2, 1],
      [3, 2],
    ]);
    expect(state.messages.toArray().filter((message) => message.isUser())).toHaveLength(3);
  });

  test('active time goes on over a pause and storage, failures included, and the pause counts nowhere', async () => {
    const { clock, ports } = stage();
    const work = defineTool({
      name: 'work',
      description: 'A tool.',
      input: z.object({ ms: z.number(), fails: z.boolean() }),
      run: ({ ms, fails }): string => {
        clock.skip(ms);
        if (fails) throw new Error('in vain');
        return 'done';
      },
    });
    const call = (ms: number, fails: boolean): ScriptedEntry => ({ toolCalls: [{ name: 'work', args: { ms, fails } }] });
    const agent = createAgent({
      model: scriptedModel([call(400, true), { toolCalls: [{ name: 'clipboard', id: 'c' }] }, call(600, false), five]),
      tools: { work, clipboard },
      limits: { activeMs: 1000 },
      ports,
    });
    const waiting = await agent.run(AgentState.empty({ clock }).withUserMessage('x'));
    expect([waiting.status, waiting.execution.activeMs]).toStrictEqual(['waiting', 400]);
    clock.skip(7 * day);
    const end = await agent.run(roundTrip(waiting).answer('c', 'text'));
    expect([end.stopReason, end.execution.activeMs, end.info.cumulativeExecutionSeconds]).toStrictEqual(['time_limit', 1000, 1]);
    expect(end.stepResults.reduce((sum, { timing }) => sum + timing.activeMs, 0)).toBe(1000);
  });
});

describe('waiting', () => {
  test('a gated call waits for a person, and runs after a yes, also after storage', async () => {
    const agent = createAgent({
      model: scriptedModel([{ toolCalls: [{ name: 'pay', args: { amount: 5 }, id: 'p' }] }, five]),
      tools: { pay },
      ports: stage().ports,
    });
    const asked: string[] = [];
    agent.onEvent('ToolApprovalRequested', ({ tool }) => asked.push(tool));
    const told: string[] = [];
    const result = await agent.start('x', { onEvent: ({ type }) => told.push(type) }).result;
    expect(result.status === 'waiting' && result.waitingFor).toStrictEqual([
      { type: 'approval', id: 'p', toolName: 'pay', args: { amount: 5 } },
    ]);
    expect(result).not.toHaveProperty('stopReason');
    expect(told.at(-1)).toBe('AgentFinished');
    expect(result.explain()).toBe('Waiting in step 1 for approval of pay (p).\nNext: Approve or reject "p".');
    const again = await agent.start(result.state).result;
    expect(again.status).toBe('waiting');
    const end = await agent.start(agent.restore(JSON.parse(JSON.stringify(result.state))).approve('p')).result;
    expect(getEnd(end)).toStrictEqual(['completed', 'completed', 2]);
    expect(end.state.steps[0]?.executions[0]).toMatchObject({ status: 'succeeded', value: 'paid 5' });
    expect(asked).toStrictEqual(['pay']);
    expect(end.state.session.executions).toHaveLength(1);
  });

  test('a call that was refused is read by the model', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'pay', args: { amount: 5 }, id: 'p' }] }, five]);
    const agent = createAgent({ model, tools: { pay }, ports: stage().ports });
    const { state } = await agent.start('x').result;
    expect(getEnd(await agent.start(state.reject('p', 'too much')).result)).toStrictEqual(['completed', 'completed', 2]);
    expect(JSON.stringify(model.calls[1]?.messages.at(-1))).toContain('too much');
  });

  test('a limit with onLimit pause waits for a grant, and goes on after it', async () => {
    const model = scriptedModel([callAdd, callAdd, five]);
    const agent = createAgent({ model, tools: { add }, limits: { steps: 1, onLimit: 'pause' }, ports: stage().ports });
    const result = await agent.start('x').result;
    expect(result.status === 'waiting' && result.waitingFor).toStrictEqual([{ type: 'grant', id: 'grant/steps', limit: 'steps' }]);
    const same = await agent.start(result.state).result;
    expect([same.status, model.calls.length]).toStrictEqual(['waiting', 1]);
    const end = await agent.start(roundTrip(result.state).grant({ steps: 2 })).result;
    expect(getEnd(end)).toStrictEqual(['completed', 'steps_limit', 3]);
    expect(end.explain()).toMatch(/^Completed in step 3: .* The step limit was reached in the same step/);
    expect(end.state.execution.grants).toStrictEqual([{ steps: 2 }]);
  });

  test('a limit with onLimit finalize sums up with the same tools offered, and is a stop', async () => {
    const model = scriptedModel([callAdd, { text: 'So far: 5.' }]);
    const agent = createAgent({ model, tools: { add }, limits: { steps: 1, onLimit: 'finalize' }, ports: stage().ports });
    const result = await agent.start('x').result;
    expect(getEnd(result)).toStrictEqual(['stopped', 'steps_limit', 2]);
    expect([result.text, model.calls[1]?.tools]).toStrictEqual(['So far: 5.', model.calls[0]?.tools]);
  });
});

describe('money', () => {
  const price = priceTable({ 'scripted/script': { inputPerMillion: 1_000_000, outputPerMillion: 0 } });
  const dear = (usd: number, entry: ScriptedAnswer): ScriptedAnswer => ({ ...entry, usage: { input: usd, output: 0 } });

  test('a cost limit ends the run once it is spent, and the result says what it cost', async () => {
    const agent = createAgent({
      model: scriptedModel([dear(1, callAdd), dear(1, callAdd), five]),
      tools: { add },
      price,
      limits: { costUsd: 2 },
      ports: stage().ports,
    });
    const result = await agent.start('x').result;
    expect(getEnd(result)).toStrictEqual(['stopped', 'guard', 2]);
    expect([result.cost?.usd, result.state.lastContinuationOutcome?.resolvedBy]).toStrictEqual([2, 'CostLimit']);
    expect(roundTrip(result.state).cost).toStrictEqual({ usd: 2 });
  });

  test('a price that is not known allows, and says so', async () => {
    const agent = createAgent({ model: scriptedModel([five]), price: priceTable({}), limits: { costUsd: 2 }, ports: stage().ports });
    const result = await agent.start('x').result;
    expect([result.status, result.cost]).toStrictEqual(['completed', { usd: 0, unknownCalls: 1 }]);
    const vote = result.state.lastContinuationOutcome?.evaluations.find(({ criterion }) => criterion === 'CostLimit');
    expect([vote?.decision, vote?.reason]).toStrictEqual(['allow', expect.stringContaining('not known')]);
  });

  test('where nobody asks, no cost is told', async () => {
    const result = await createAgent({ model: scriptedModel([five]), ports: stage().ports }).start('x').result;
    expect('cost' in result).toBe(false);
  });

  test('money can be granted', async () => {
    const agent = createAgent({
      model: scriptedModel([dear(2, callAdd), five]),
      tools: { add },
      price,
      limits: { costUsd: 1, onLimit: 'pause' },
      ports: stage().ports,
    });
    const result = await agent.start('x').result;
    expect(result.status === 'waiting' && result.waitingFor[0]).toMatchObject({ type: 'grant', limit: 'cost' });
    const end = await agent.start(result.state.grant({ costUsd: 100 })).result;
    expect(end.status).toBe('completed');
  });
});

describe('fallback', () => {
  test('the next model is asked in the same step, and that is told', async () => {
    const agent = createAgent({
      model: scriptedModel([busy]),
      fallback: [scriptedModel([five], { provider: 'other', modelId: 'second' })],
      ports: stage().ports,
    });
    const turns: unknown[] = [];
    agent.onEvent('ModelFallback', ({ from, to, failure }) => turns.push([from, to, failure.code]));
    const result = await agent.start('x').result;
    expect(getEnd(result)).toStrictEqual(['completed', 'completed', 1]);
    expect(turns).toStrictEqual([['scripted/script', 'other/second', 'http-429']]);
    expect(result.state.steps[0]?.model).toBe('other/second');
  });

  test('where all fail, the step is one failure for the policy', async () => {
    const agent = createAgent({
      model: scriptedModel([busy]),
      fallback: [scriptedModel([broken])],
      errors: ErrorPolicy.stopOnAnyError(),
      ports: stage().ports,
    });
    expect(getEnd(await agent.start('x').result)).toStrictEqual(['failed', 'error', 1]);
  });
});

describe('a typed answer', () => {
  const output = z.object({ day: z.string().transform((text) => new Date(text)) });
  const answer: ScriptedEntry = { text: '{"day":"2026-02-01"}' };

  test('is parsed, and parsed again after storage', async () => {
    const agent = createAgent({ model: scriptedModel([answer]), output, ports: stage().ports });
    const result = await agent.start('x').result;
    expect(result.status === 'completed' && result.output).toStrictEqual({ day: new Date('2026-02-01') });
    expect(result.state.output).toStrictEqual({ day: '2026-02-01' });
    const again = await agent.start(roundTrip(result.state)).result;
    expect(again.status === 'completed' && again.output.day).toStrictEqual(new Date('2026-02-01'));
  });

  test('that does not fit is repaired by way of the policy', async () => {
    const model = scriptedModel([{ text: 'Sunday.' }, { text: '```json\n{"day":"2026-02-01"}\n```' }]);
    const result = await createAgent({ model, output, ports: stage().ports }).start('x').result;
    expect(getEnd(result)).toStrictEqual(['completed', 'completed', 2]);
    expect(model.calls[1]?.messages.at(-1)?.text).toContain('not valid JSON');
    expect(model.calls[0]?.output?.schema).toMatchObject({ type: 'object' });
  });

  test('that never fits is a failure of validation', async () => {
    const agent = createAgent({ model: scriptedModel([{ text: '{}' }], { repeatLast: true }), output, ports: stage().ports });
    const result = await agent.start('x').result;
    expect(getEnd(result)).toStrictEqual(['failed', 'retry_limit', 3]);
    expect(result.status === 'failed' && result.error).toMatchObject({ type: 'validation', code: 'invalid-output' });
  });

  test('that a rule of the host did not wait for does not make the result reject', async () => {
    const rule = when<AgentState>('Done', ({ stepCount }) =>
      stepCount === 0
        ? ContinuationDecision.AllowContinuation
        : { decision: ContinuationDecision.ForbidContinuation, stopReason: 'completed' },
    );
    const agent = createAgent({ model: scriptedModel([callAdd]), tools: { add }, output, criteria: [rule], ports: stage().ports });
    await expect(agent.start('x').result).resolves.toMatchObject({ state: { stepCount: 1, stopReason: 'completed' } });
  });

  test('is undefined where none was asked for', async () => {
    const result = await createAgent({ model: scriptedModel([five]), ports: stage().ports }).start('x').result;
    expect(result.status === 'completed' && result.output).toBeUndefined();
    expect('output' in result).toBe(true);
  });

  test.each<[string, ReturnType<typeof createAgent>, string]>([
    ['none', createAgent({ model: scriptedModel([five]), ports: stage().ports }), 'there is none'],
    [
      'another',
      asUntyped(
        createAgent({
          model: scriptedModel([{ text: '{"id":"1"}' }]),
          output: z.object({ id: z.string() }),
          ports: stage().ports,
        }),
      ),
      'day',
    ],
  ])('cannot be had from a state whose agent had %s', async (_what, other, problem) => {
    const ended = await other.run(AgentState.empty().withUserMessage('x'));
    const run = createAgent({ model: scriptedModel([]), output, ports: stage().ports }).start(ended);
    const result = await run.result;
    expect(result).toMatchObject({ status: 'failed', error: { code: 'no-output', message: expect.stringContaining(problem) as string } });
    expect(result.state).toBe(ended);
  });
});

describe('what cannot be restored', () => {
  const agent = createAgent({ model: scriptedModel([five]), ports: stage().ports });
  const written = JSON.parse(JSON.stringify(AgentState.empty().withUserMessage('x'))) as Record<string, unknown>;

  test.each<[string, unknown, object]>([
    [
      'a state of another kind',
      JSON.parse(JSON.stringify(ToolUseState.empty())),
      { code: 'wrong-kind', message: 'Expected data of kind "agent-state", found kind "tool-use-state".' },
    ],
    ['a newer schema', { ...written, schema: 99 }, { code: 'newer-schema', kind: 'agent-state', found: 99 }],
    ['nothing', undefined, { code: 'damaged-data' }],
    ['text that nobody parsed', JSON.stringify(written), { code: 'damaged-data' }],
    ['an empty object', {}, { code: 'damaged-data' }],
    ['data without its fields', { ...written, data: {} }, { code: 'damaged-data' }],
  ])('%s: a clear error', (_what, data, error) => {
    expect(() => agent.restore(data)).toThrow(expect.objectContaining(error) as Error);
  });

  test('a state that is whole can be', async () => {
    const end = await agent.run(agent.restore(written));
    expect([end instanceof AgentState, end.status, end.text]).toStrictEqual([true, 'completed', 'It is 5.']);
  });

  test('stored data that nobody read cannot be run', async () => {
    await expect(agent.run(asUntyped(written))).rejects.toThrow('agent.restore() for stored data');
  });
});

describe('what every orchestrator does', () => {
  const cases = orchestratorConformance<AgentState>(() => {
    const { ports } = stage();
    const model = scriptedModel([({ messages }) => (messages.at(-1)?.isTool() === true ? { text: 'It is 5.', usage } : callAdd)], {
      repeatLast: true,
    });
    const agent = createAgent({ model, tools: { add }, ports });
    return {
      orchestrator: agent,
      start: AgentState.empty(ports).withUserMessage('2 + 3?'),
      restore: (text) => agent.restore(JSON.parse(text)),
    };
  });

  test.each(cases.map((each) => [each.name, each] as const))('%s', async (_name, { run }) => {
    await run();
    expect.assertions(0);
  });
});
