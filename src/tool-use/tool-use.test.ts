import type { Effects } from '../effects/index.ts';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { stopWhen, when } from '../continuation/index.ts';
import { ErrorPolicy, ToolFailedError } from '../errors/index.ts';
import { createEventBus } from '../events/index.ts';
import { createModelLimits, withModelLimits, priceTable } from '../inference/index.ts';
import type { Model } from '../inference/index.ts';
import { createCountingIds, createFakeClock, sleep } from '../lib/index.ts';
import type { FakeClock } from '../lib/index.ts';
import type { ScriptedAnswer, ScriptedEntry, ScriptedToolCall } from '../testing/index.ts';
import { orchestratorConformance, scriptedModel } from '../testing/index.ts';
import type { Tool, Tools } from '../tools/index.ts';
import { defineContext, defineClientTool, defineTool } from '../tools/index.ts';
import type { ToolEvent, ToolUseEvent, ToolUseOptions } from './index.ts';
import { ToolUse, ToolUseState } from './index.ts';

const anything = z.looseObject({});
const numbers = z.object({ a: z.number(), b: z.number() });
const add = defineTool({ name: 'add', description: 'Adds.', input: numbers, effect: 'pure', run: ({ a, b }) => a + b });
const broken = defineTool({
  name: 'broken',
  description: 'Never works.',
  input: anything,
  run: (): string => {
    throw new ToolFailedError('out of order');
  },
});

type Options = Partial<Omit<ToolUseOptions<ToolUseState>, 'model' | 'tools'>> & { readonly tools?: Tools; readonly clock?: FakeClock };

function setUp(script: readonly ScriptedEntry[] | Model, { tools = [add, broken], clock = createFakeClock(), ...options }: Options = {}) {
  const ids = createCountingIds();
  const problems: unknown[] = [];
  const model = 'generate' in script ? script : scriptedModel(script);
  const orchestrator = new ToolUse({ model, tools, ports: { clock, ids, onProblem: (error) => problems.push(error) }, ...options });
  const start = ToolUseState.empty({ clock, ids }).withUserMessage('Add 2 and 3, then report.', { ids });
  const getCall = (index: number) => ('calls' in model ? (model as ReturnType<typeof scriptedModel>).calls[index]! : undefined!);
  return { clock, orchestrator, start, asked: getCall, problems };
}

const usage = { input: 10, output: 2 };
const calls = (...toolCalls: readonly ScriptedToolCall[]): ScriptedAnswer => ({ toolCalls, usage });
const sum = calls({ name: 'add', args: { a: 2, b: 3 } });
const five: ScriptedAnswer = { text: 'It is 5.', usage: { input: 20, output: 3 } };
const done: ScriptedAnswer = { text: 'Done.' };
const roundTrip = (state: ToolUseState): ToolUseState => ToolUseState.fromJSON(JSON.parse(JSON.stringify(state)));
const roles = (state: ToolUseState): readonly string[] => state.messages.toArray().map(({ role }) => role);
const summarizeEnd = ({ status, stopReason, stepCount }: ToolUseState): readonly unknown[] => [status, stopReason, stepCount];
const statuses = (state: ToolUseState, step = 0): unknown =>
  state.steps[step]!.executions.map(({ toolName, status }) => [toolName, status]);

/** The calls of a conversation that nothing answers, and the results that nobody asked for. */
function looseEnds(messages: ToolUseState['messages']): readonly string[] {
  const list = messages.toArray();
  const called = list.flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id));
  const answered = list.flatMap(({ toolResults }) => toolResults.map(({ toolCallId }) => toolCallId));
  return [...called.filter((id) => !answered.includes(id)), ...answered.filter((id) => !called.includes(id))];
}

describe('Add 2 and 3, then report', () => {
  test('takes two steps, each with all that came before it, and ends with the answer', async () => {
    const { orchestrator, start, asked } = setUp([sum, five]);
    const end = await orchestrator.run(start);
    expect(summarizeEnd(end)).toStrictEqual(['completed', 'completed', 2]);
    expect([end.text, end.usage, end.session.usage]).toStrictEqual([
      'It is 5.',
      { input: 30, output: 5, total: 35 },
      { input: 30, output: 5, total: 35 },
    ]);
    const [first, second] = end.steps;
    expect(first).toMatchObject({
      stepType: 'tool_execution',
      hasToolCalls: true,
      errors: [],
      finishReason: 'tool_calls',
      usage: { total: 12 },
    });
    expect(first!.outputMessages.map(({ role, parts }) => [role, parts])).toStrictEqual([
      ['assistant', [{ type: 'tool-call', toolCallId: 'call-1', toolName: 'add', args: { a: 2, b: 3 } }]],
      ['tool', [{ type: 'tool-result', toolCallId: 'call-1', toolName: 'add', output: { type: 'json', value: 5 } }]],
    ]);
    expect(second).toMatchObject({ stepType: 'final_response', hasToolCalls: false, toolCalls: [], executions: [], finishReason: 'stop' });
    expect(asked(1).messages).toStrictEqual([...start.messages.toArray(), ...first!.outputMessages]);
    expect(end.messages.toArray()).toStrictEqual([...asked(1).messages, ...second!.outputMessages]);
  });

  test('tells what happens, in order, and of the end last', async () => {
    const { orchestrator, start } = setUp([sum, five]);
    const events: ToolUseEvent[] = [];
    const end = await orchestrator.run(start, { onEvent: (event) => events.push(event) });
    expect(events.map(({ type, stepNumber }) => `${stepNumber} ${type}`)).toStrictEqual([
      '0 AgentExecutionStarted',
      '1 AgentStepStarted',
      '1 InferenceStarted',
      '1 ToolCallStarted',
      '1 ToolCallCompleted',
      '1 ContinuationEvaluated',
      '1 AgentStateUpdated',
      '1 AgentStepCompleted',
      '1 TokenUsageReported',
      '2 AgentStepStarted',
      '2 InferenceStarted',
      '2 TextDelta',
      '2 ContinuationEvaluated',
      '2 AgentStateUpdated',
      '2 AgentStepCompleted',
      '2 TokenUsageReported',
      '2 AgentFinished',
    ]);
    expect(events.at(-1)).toMatchObject({
      status: 'completed',
      stopReason: 'completed',
      stepCount: 2,
      usage: end.usage,
      orchestrator: 'tool-use',
    });
    expect(events.find(({ type }) => type === 'InferenceStarted')).toMatchObject({
      model: 'scripted/script',
      messageCount: 1,
      tools: ['add', 'broken'],
    });
    expect(events.find(({ type }) => type === 'ToolCallCompleted')).toMatchObject({
      tool: 'add',
      success: true,
      result: 5,
      toolCallId: 'call-1',
    });
  });

  test('explains itself', async () => {
    const { orchestrator, start } = setUp([sum, five]);
    const end = await orchestrator.run(start);
    expect(end.explain()).toMatchInlineSnapshot(`
      "Completed in step 2: the model answered and called no tools.
      Decided by ToolCallPresenceCheck.
      No objection: StopRequested, ErrorPolicyCriterion, FinishReasonCheck, PendingRetry. Under the limit: StepsLimit (2 of 3), TokenUsageLimit (35 of 8192), ExecutionTimeLimit."
    `);
    expect(end.lastStepResult?.outcome.resolvedBy).toBe('ToolCallPresenceCheck');
  });

  test.each([true, false])('comes to the same, streaming or not (%s)', async (streaming) => {
    const { orchestrator, start } = setUp([sum, five], { streaming });
    const pieces: string[] = [];
    const end = await orchestrator.run(start, { onEvent: (event) => event.type === 'TextDelta' && pieces.push(event.text) });
    expect([...summarizeEnd(end), end.text, pieces.join('')]).toStrictEqual([
      'completed',
      'completed',
      2,
      'It is 5.',
      streaming ? 'It is 5.' : '',
    ]);
  });
});

describe('as an orchestrator', () => {
  const suite = orchestratorConformance(() => {
    const model = scriptedModel([({ messages }) => (messages.at(-1)?.isUser() === true ? sum : five)], { repeatLast: true });
    const { orchestrator, start } = setUp(model);
    // Holds: the suite hears every event as a base event.
    return { orchestrator: orchestrator, start, restore: (text) => ToolUseState.fromJSON(JSON.parse(text)) };
  });
  test.each(suite)('$name', async ({ run }) => {
    await run();
  });

  test('tells a bus that it was given, and one of its own otherwise', async () => {
    const [heard, own]: [string[], string[]] = [[], []];
    const events = createEventBus<ToolEvent>();
    events.wiretap(({ type }) => heard.push(type));
    const given = setUp([five], { events });
    await given.orchestrator.run(given.start);
    const other = setUp([five]);
    other.orchestrator.onEvent('AgentFinished', ({ type }) => own.push(type));
    await other.orchestrator.run(other.start);
    expect([heard.at(-1), own]).toStrictEqual(['AgentFinished', ['AgentFinished']]);
  });
});

describe('the bounds of the loop', () => {
  test('by default there is a first step', () => {
    const { orchestrator, start } = setUp([five]);
    expect(orchestrator.hasNextStep(start)).toBe(true);
  });

  test('no steps: the start is refused, and nobody is asked', async () => {
    const { orchestrator, start, asked } = setUp([five], { limits: { steps: 0 } });
    const end = await orchestrator.run(start);
    expect(summarizeEnd(end)).toStrictEqual(['stopped', 'steps_limit', 0]);
    expect([asked(0), end.startOutcome?.resolvedBy, end.messages.length]).toStrictEqual([undefined, 'StepsLimit', 1]);
    expect([orchestrator.hasNextStep(end), await orchestrator.run(end)]).toStrictEqual([false, end]);
  });

  test('one step is one step', async () => {
    const { orchestrator, start } = setUp([sum, five], { limits: { steps: 1 } });
    expect(summarizeEnd(await orchestrator.run(start))).toStrictEqual(['stopped', 'steps_limit', 1]);
    const last = setUp([five], { limits: { steps: 1 } });
    expect(summarizeEnd(await last.orchestrator.run(last.start))).toStrictEqual(['completed', 'steps_limit', 1]);
  });

  test('by default 3 steps, 8,192 tokens and 30 seconds', async () => {
    const many = setUp([sum, sum, sum, sum]);
    expect(summarizeEnd(await many.orchestrator.run(many.start))).toStrictEqual(['stopped', 'steps_limit', 3]);
    const large = setUp([{ ...sum, usage: { input: 8000, output: 192 } }, five]);
    expect(summarizeEnd(await large.orchestrator.run(large.start))).toStrictEqual(['stopped', 'token_limit', 1]);
    const slow = setUp([() => new Promise<never>(() => undefined)]);
    const running = slow.orchestrator.run(slow.start);
    await slow.clock.advance(30_000);
    expect(summarizeEnd(await running)).toStrictEqual(['stopped', 'time_limit', 1]);
  });

  test('9 of 10 tokens go on, 11 do not', async () => {
    const { orchestrator, start } = setUp([{ ...sum, usage: { input: 6, output: 3 } }, { ...sum, usage: { input: 1, output: 1 } }, five], {
      limits: { tokens: 10 },
    });
    const states: ToolUseState[] = [];
    for await (const state of orchestrator.iterate(start)) states.push(state);
    const [first, second] = states;
    expect([first!.status, first!.usage.total]).toStrictEqual(['in_progress', 9]);
    expect([...summarizeEnd(second!), second!.usage.total]).toStrictEqual(['stopped', 'token_limit', 2, 11]);
  });

  test.each([
    ['length', ['stopped', 'finish_reason', 1]],
    ['stop', ['completed', 'completed', 1]],
  ])('a finish reason may end the run: %s', async (finishReason, expected) => {
    const { orchestrator, start } = setUp([{ ...five, finishReason }], { finishReasons: ['length'] });
    expect(summarizeEnd(await orchestrator.run(start))).toStrictEqual(expected);
  });

  test('a misspelt limit is refused', () => {
    expect(() => setUp([five], { limits: { step: 1 } as never })).toThrow('Unknown option "step" in limits');
  });

  test.each<[object, string]>([
    [{ model: { doGenerate: () => undefined } }, 'model is a model of the AI SDK. Wrap it with aiSdk()'],
    [{ fallback: [undefined] }, 'fallback[0] must be a model object, not undefined.'],
    [{ instructions: 7 }, 'instructions must be a string, or a function that returns one, not 7.'],
    [{ tools: [{}] }, 'not a tool'],
  ])('options that cannot work are refused: %o', (options, message) => {
    expect(() => new ToolUse({ model: scriptedModel([]), ...options })).toThrow(message);
  });
});

describe('own rules', () => {
  test('judge a step with its messages, before anything comes after it', async () => {
    const seen: unknown[] = [];
    const { orchestrator, start } = setUp([sum, five], {
      criteria: [
        when('Watcher', ({ currentStep, messages, usage: used }) => {
          seen.push([currentStep?.executions.length, messages.length, used.total]);
          return 'allow';
        }),
      ],
    });
    await orchestrator.run(start);
    expect(seen.slice(-2)).toStrictEqual([
      [1, 3, 12],
      [0, 4, 35],
    ]);
  });

  test('may forbid', async () => {
    const { orchestrator, start } = setUp([sum, five], {
      criteria: [stopWhen('Curfew', ({ stepCount }) => stepCount > 0 && 'it is late')],
    });
    const end = await orchestrator.run(start);
    expect([...summarizeEnd(end), end.lastStepResult?.outcome.resolvedBy]).toStrictEqual(['stopped', 'guard', 1, 'Curfew']);
  });

  test('that throw keep the step, its messages and its usage, and end with an error', async () => {
    const { orchestrator, start } = setUp([sum, five], {
      criteria: [
        when('Bad', ({ stepCount }) => {
          if (stepCount > 0) throw new Error('cannot judge');
          return 'allow';
        }),
      ],
    });
    const end = await orchestrator.run(start);
    expect([...summarizeEnd(end), end.usage.total, roles(end)]).toStrictEqual(['failed', 'error', 1, 12, ['user', 'assistant', 'tool']]);
    expect([end.steps[0]!.executions.length, orchestrator.hasNextStep(end)]).toStrictEqual([1, false]);
  });
});

describe('failures', () => {
  test('a tool that throws is a failed call, never a rejected run; calls beside it count', async () => {
    const { orchestrator, start } = setUp([calls({ name: 'broken' }, { name: 'add', args: { a: 1, b: 1 } }), five]);
    const events: string[] = [];
    const end = await orchestrator.run(start, { onEvent: ({ type }) => events.push(type) });
    expect(summarizeEnd(end)).toStrictEqual(['failed', 'error', 1]);
    expect(statuses(end)).toStrictEqual([
      ['broken', 'failed'],
      ['add', 'succeeded'],
    ]);
    expect(end.steps[0]).toMatchObject({
      stepType: 'error',
      errors: [{ type: 'tool', toolName: 'broken', toolCallId: 'call-1', readable: true }],
    });
    expect([events.slice(-2), end.usage.total]).toStrictEqual([['AgentFailed', 'AgentFinished'], 12]);
    expect(end.messages.toArray().at(-2)!.toolResults[0]!.output).toStrictEqual({ type: 'error', value: '"broken" failed: out of order' });
  });

  test.each<[string, ErrorPolicy, number, readonly unknown[]]>([
    ['stop', ErrorPolicy.stopOnAnyError(), 9, ['failed', 'error', 1]],
    ['retry: two further tries, then the end', ErrorPolicy.retryToolErrors(3), 9, ['failed', 'retry_limit', 3]],
    ['ignore: the model lives with it', ErrorPolicy.ignoreToolErrors(), 2, ['stopped', 'steps_limit', 2]],
  ])('are handled as the policy says: %s', async (_, errors, steps, expected) => {
    const failing = scriptedModel([calls({ name: 'broken' })], { repeatLast: true });
    const { orchestrator, start } = setUp(failing, { errors, limits: { steps } });
    expect(summarizeEnd(await orchestrator.run(start))).toStrictEqual(expected);
  });

  test('a success between failures starts the count over', async () => {
    const bad = calls({ name: 'broken' });
    const { orchestrator, start } = setUp([bad, bad, sum, bad, bad, five], {
      errors: ErrorPolicy.retryToolErrors(3),
      limits: { steps: 9 },
    });
    expect(summarizeEnd(await orchestrator.run(start))).toStrictEqual(['completed', 'completed', 6]);
  });

  test.each<[string, ScriptedToolCall, string]>([
    ['a missing argument', { name: 'add', args: { a: 2 } }, 'The arguments of "add" do not fit'],
    ['an unknown tool', { name: 'subtract' }, 'subtract'],
    ['arguments that are no JSON', { name: 'add', args: '{"a":' }, 'not valid JSON'],
  ])('%s stands in the conversation as an error, and the model goes on', async (_, call, words) => {
    const { orchestrator, start, asked } = setUp([calls(call), five], { errors: ErrorPolicy.retryToolErrors(3) });
    const end = await orchestrator.run(start);
    expect([...summarizeEnd(end), end.errors]).toStrictEqual(['completed', 'completed', 2, []]);
    const [result] = asked(1).messages.at(-1)!.toolResults;
    expect([result!.output.type, JSON.stringify(result!.output)]).toStrictEqual([
      'error',
      expect.stringContaining(words.replaceAll('"', '\\"')),
    ]);
  });

  test('a driver that throws leaves one failed step, and nothing is left to do', async () => {
    const driver = {
      name: 'broken',
      resultMessages: () => [],
      ask: () => Promise.reject(new Error('driver broken')),
    };
    const { orchestrator, start } = setUp([five], { driver });
    const end = await orchestrator.run(start);
    expect([...summarizeEnd(end), end.errors[0]?.message, orchestrator.hasNextStep(end)]).toStrictEqual([
      'failed',
      'error',
      1,
      'driver broken',
      false,
    ]);
    expect(end.stepResults).toHaveLength(1);
  });

  test('a failed answer is retried where the policy says so, and its usage counts once', async () => {
    const { orchestrator, start, clock } = setUp([{ error: new Error('hiccup'), usage }, five], { errors: ErrorPolicy.retryAll(3) });
    const running = orchestrator.run(start);
    await clock.advance(1000);
    const end = await running;
    expect([...summarizeEnd(end), end.usage.total]).toStrictEqual(['completed', 'completed', 2, 35]);
    expect(roles(end)).toStrictEqual(['user', 'assistant']);
  });

  test('a listener that throws harms nothing', async () => {
    const { orchestrator, start, problems } = setUp([sum, five]);
    const end = await orchestrator.run(start, {
      onEvent: () => {
        throw new Error('deaf');
      },
    });
    expect([...summarizeEnd(end), problems.length > 0]).toStrictEqual(['completed', 'completed', 2, true]);
  });
});

describe('several calls in one answer', () => {
  const both = calls({ name: 'add', args: { a: 1, b: 1 } }, { name: 'add', args: { a: 2, b: 2 } });

  test('stand in one message, followed by one result each, in the order of the calls', async () => {
    const { orchestrator, start, asked } = setUp([{ ...both, text: 'Both at once.' }, five]);
    const end = await orchestrator.run(start);
    expect(roles(end)).toStrictEqual(['user', 'assistant', 'tool', 'tool', 'assistant']);
    const [, answer, ...results] = asked(1).messages;
    expect([answer!.text, answer!.toolCalls.map(({ id }) => id)]).toStrictEqual(['Both at once.', ['call-1', 'call-2']]);
    expect(results.map(({ toolResults }) => toolResults.map(({ toolCallId, output }) => [toolCallId, output]))).toStrictEqual([
      [['call-1', { type: 'json', value: 2 }]],
      [['call-2', { type: 'json', value: 4 }]],
    ]);
  });

  const slow = (clock: FakeClock) =>
    defineTool({
      name: 'slow',
      description: 'Takes its time.',
      input: z.object({ ms: z.number() }),
      run: async ({ ms }) => {
        await sleep(clock, ms);
        return ms;
      },
    });
  const three = calls(...[300, 100, 200].map((ms) => ({ name: 'slow', args: { ms } })));

  test.each([
    ['side by side', undefined, 300, [100, 200, 300]],
    ['one by one', 1, 600, [300, 100, 200]],
    ['two at a time', 2, 300, [100, 300, 200]],
  ])('run %s', async (_, toolConcurrency, activeMs, endedInOrder) => {
    const clock = createFakeClock();
    const { orchestrator, start } = setUp([three, done], {
      clock,
      tools: [slow(clock)],
      ...(toolConcurrency !== undefined && { toolConcurrency }),
    });
    const results: unknown[] = [];
    const running = orchestrator.run(start, { onEvent: (event) => event.type === 'ToolCallCompleted' && results.push(event.result) });
    await clock.advance(1000);
    const end = await running;
    expect(end.steps[0]!.executions.map(({ value }) => value)).toStrictEqual([300, 100, 200]);
    expect(end.stepResults[0]!.timing.activeMs).toBe(activeMs);
    expect(results).toStrictEqual(endedInOrder);
  });

  test('are told apart by keys that stay the same', async () => {
    const keys: string[] = [];
    const idempotency: string[] = [];
    const note = defineTool({
      name: 'note',
      description: 'Notes.',
      input: anything,
      run: (_args, { idempotencyKey }) => {
        idempotency.push(idempotencyKey);
        return null;
      },
    });
    const { orchestrator, start } = setUp([calls({ name: 'note' }, { name: 'note' }), done], { tools: [note] });
    const end = await orchestrator.run(start, {
      effects: (direct) => ({
        ...direct,
        run: (key, work, options) => {
          keys.push(key);
          return direct.run(key, work, options);
        },
      }),
    });
    expect(keys).toStrictEqual(['model/1', 'tool/1/0', 'tool/1/1', 'model/2']);
    expect(idempotency).toStrictEqual([`${end.execution.id!}/1/call-1`, `${end.execution.id!}/1/call-2`]);
  });

  test('tell how far they have come', async () => {
    const counting = defineTool({
      name: 'count',
      description: 'Counts.',
      input: anything,
      run: async function* () {
        yield { done: 1 };
        yield { done: 2 };
      },
    });
    const { orchestrator, start } = setUp([calls({ name: 'count' }), done], { tools: [counting] });
    const told: unknown[] = [];
    const end = await orchestrator.run(start, { onEvent: (event) => event.type === 'ToolCallProgress' && told.push(event.progress) });
    expect([told[0], end.steps[0]!.executions[0]!.value]).toStrictEqual([{ done: 1 }, { done: 2 }]);
  });
});

describe('text beside a call', () => {
  const call = { name: 'add', args: { a: 2, b: 3 } };

  test.each<[string, readonly string[], string]>([
    ['nothing', [], ''],
    ['the arguments', ['{"a":2,"b":3}'], ''],
    ['the arguments in another order, in pieces', [' {"b"', ':3,', '"a":2}\n'], ''],
    ['prose', ['Let me', ' add.'], 'Let me add.'],
    ['prose with the arguments in it', ['I call add with {"a":2,"b":3}.'], 'I call add with {"a":2,"b":3}.'],
    ['other JSON', ['{"a":2,', '"b":4}'], ''],
    ['the call in a code fence', ['```js', 'on\n{"name":"add","arg', 'uments":{"a":2,"b":3}}\n```'], ''],
    ['several objects, the last one cut off', ['{"a":2,"b":3}\n{"a"', ':2'], ''],
    ['a bare number', ['5'], '5'],
    ['code in a fence', ['```', 'ts\nadd(2, 3);\n```'], '```ts\nadd(2, 3);\n```'],
  ])('%s: kept unless it is nothing but JSON, and so it is streamed', async (_, chunks, text) => {
    const { orchestrator, start } = setUp([{ chunks, toolCalls: [call] }, five]);
    const pieces: string[] = [];
    const end = await orchestrator.run(start, {
      onEvent: (event) => event.type === 'TextDelta' && event.stepNumber === 1 && pieces.push(event.text),
    });
    const [answer, ...results] = end.steps[0]!.outputMessages;
    expect([answer!.text, pieces.join('')]).toStrictEqual([text, text]);
    expect(answer!.parts.map(({ type }) => type)).toStrictEqual(text === '' ? ['tool-call'] : ['text', 'tool-call']);
    expect(results.map(({ role }) => role)).toStrictEqual(['tool']);
  });

  test('arguments that are streamed are never text', async () => {
    const chunks = ['{"a":2', ',"b":3}'].map((text) => ({ type: 'tool-input' as const, toolCallId: 'call-7', toolName: 'add', text }));
    const { orchestrator, start } = setUp([{ chunks }, five]);
    const pieces: string[] = [];
    const end = await orchestrator.run(start, { onEvent: (event) => event.type === 'TextDelta' && pieces.push(event.text) });
    expect([pieces.join(''), end.steps[0]!.executions[0]?.value]).toStrictEqual(['It is 5.', 5]);
  });

  test('JSON without a call is an answer', async () => {
    const { orchestrator, start } = setUp([{ text: '{"a":2,"b":3}' }]);
    const end = await orchestrator.run(start);
    expect([...summarizeEnd(end), end.text]).toStrictEqual(['completed', 'completed', 1, '{"a":2,"b":3}']);
  });

  test('thoughts are told apart from words', async () => {
    const { orchestrator, start } = setUp([{ reasoning: 'Two and three.', text: 'Five.' }]);
    const told: unknown[] = [];
    const end = await orchestrator.run(start, {
      onEvent: (event) => (event.type === 'ReasoningDelta' || event.type === 'TextDelta') && told.push([event.type, event.text]),
    });
    expect([told, end.text]).toStrictEqual([
      [
        ['ReasoningDelta', 'Two and three.'],
        ['TextDelta', 'Five.'],
      ],
      'Five.',
    ]);
  });
});

describe('calls that wait for somebody', () => {
  const pays = () => {
    const paid: unknown[] = [];
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      input: z.object({ to: z.string(), usd: z.number() }),
      needsApproval: ({ usd }) => usd > 10,
      run: (args) => {
        paid.push(args);
        return { paid: args.usd };
      },
    });
    const click = defineClientTool({
      name: 'click',
      description: 'The user clicks.',
      input: anything,
      output: z.object({ clicked: z.boolean() }),
    });
    return { paid, tools: [add, pay, click] as readonly Tool[] };
  };
  const pay = (to: string, usd = 100): ScriptedToolCall => ({ name: 'pay', args: { to, usd } });
  const script = [calls(pay('Ann'), { name: 'add', args: { a: 2, b: 3 } }, pay('Bob'), { name: 'click' }), done];

  const waitingRun = async (options: Options = {}) => {
    const { tools, paid } = pays();
    const { orchestrator, start, asked, clock } = setUp(script, { tools, ...options });
    const events: ToolUseEvent[] = [];
    const onEvent = (event: ToolUseEvent): unknown => events.push(event);
    const waiting = roundTrip(await orchestrator.run(start, { onEvent }));
    return { orchestrator, start, asked, clock, paid, events, onEvent, waiting };
  };
  const ids = (state: ToolUseState): readonly string[] => state.waitingFor.map(({ type, id }) => `${type} ${id}`);

  test('wait together, while the others run at once', async () => {
    const { waiting, paid, orchestrator, events } = await waitingRun();
    expect([waiting.status, waiting.stopReason, waiting.stepCount]).toStrictEqual(['waiting', undefined, 0]);
    expect(ids(waiting)).toStrictEqual(['approval call-1', 'approval call-3', 'client-tool call-4']);
    expect(waiting.waitingFor[0]).toStrictEqual({ type: 'approval', id: 'call-1', toolName: 'pay', args: { to: 'Ann', usd: 100 } });
    expect(waiting.pendingStep?.partial.executions.map(({ toolCallId, status }) => [toolCallId, status])).toStrictEqual([
      ['call-2', 'succeeded'],
    ]);
    expect([paid, orchestrator.hasNextStep(waiting), roles(waiting)]).toStrictEqual([[], false, ['user']]);
    expect(
      events.filter(({ type }) => type === 'ToolApprovalRequested').map((event) => JSON.parse(JSON.stringify(event)) as object),
    ).toMatchObject([
      { tool: 'pay', toolCallId: 'call-1', args: { to: 'Ann', usd: 100 } },
      { tool: 'pay', toolCallId: 'call-3' },
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'AgentFinished', status: 'waiting' });
  });

  test('a call that needs no yes does not wait', async () => {
    const { tools, paid } = pays();
    const { orchestrator, start } = setUp([calls(pay('Ann', 10)), done], { tools });
    expect([...summarizeEnd(await orchestrator.run(start)), paid.length]).toStrictEqual(['completed', 'completed', 2, 1]);
  });

  test('some are answered: those run, the rest wait', async () => {
    const { waiting, orchestrator, paid, asked } = await waitingRun();
    const partly = roundTrip(await orchestrator.run(roundTrip(waiting.approve('call-3'))));
    expect([partly.status, ids(partly), paid]).toStrictEqual([
      'waiting',
      ['approval call-1', 'client-tool call-4'],
      [{ to: 'Bob', usd: 100 }],
    ]);
    expect(asked(1)).toBeUndefined();
    const end = await orchestrator.run(partly.reject('call-1', 'too dear').answer('call-4', { clicked: true }));
    expect(summarizeEnd(end)).toStrictEqual(['completed', 'completed', 2]);
    expect(end.steps[0]!.executions.map(({ toolCallId, status }) => `${toolCallId} ${status}`)).toStrictEqual([
      'call-1 rejected',
      'call-2 succeeded',
      'call-3 succeeded',
      'call-4 succeeded',
    ]);
    expect([paid.length, roles(end), end.usage.input]).toStrictEqual([
      1,
      ['user', 'assistant', 'tool', 'tool', 'tool', 'tool', 'assistant'],
      10,
    ]);
    expect(
      asked(1)
        .messages.slice(2)
        .map(({ toolResults }) => toolResults[0]!.output),
    ).toStrictEqual([
      { type: 'rejected', reason: 'too dear' },
      { type: 'json', value: 5 },
      { type: 'json', value: { paid: 100 } },
      { type: 'json', value: { clicked: true } },
    ]);
  });

  test('a call that was answered is not run again by a run without answers', async () => {
    const { waiting, orchestrator, paid } = await waitingRun();
    const partly = await orchestrator.run(waiting.approve('call-1'));
    expect([await orchestrator.run(partly), paid.length]).toStrictEqual([partly, 1]);
  });

  test('are told of once: that they begin, and that they end', async () => {
    const { waiting, orchestrator, events, onEvent } = await waitingRun();
    await orchestrator.run(waiting.approve('call-1').reject('call-3', 'no').answer('call-4', { clicked: true }), { onEvent });
    const findEvent = (type: string): unknown =>
      events.flatMap((event) => (event.type === type && 'toolCallId' in event ? [event.toolCallId] : [])).sort();
    expect(findEvent('ToolCallCompleted')).toStrictEqual(['call-1', 'call-2', 'call-3', 'call-4']);
    expect(findEvent('ToolCallStarted')).toStrictEqual(['call-1', 'call-2', 'call-4']);
    expect(findEvent('ToolApprovalRequested')).toStrictEqual(['call-1', 'call-3']);
  });

  test('arguments may be edited; what does not fit waits again, and says why', async () => {
    const { waiting, orchestrator, paid } = await waitingRun();
    const wrong = roundTrip(await orchestrator.run(roundTrip(waiting.approve('call-1', { args: { to: 'Ann' } }))));
    expect([ids(wrong).length, paid]).toStrictEqual([3, []]);
    expect(wrong.waitingFor.find(({ id }) => id === 'call-1')?.problem).toMatch(/^The arguments of "pay" do not fit: .*usd/);
    const right = wrong
      .approve('call-1', { args: { to: 'Ann', usd: 7 } })
      .reject('call-3', 'no')
      .answer('call-4', { clicked: false });
    const end = await orchestrator.run(right);
    expect([...summarizeEnd(end), paid]).toStrictEqual(['completed', 'completed', 2, [{ to: 'Ann', usd: 7 }]]);
    expect(end.steps[0]!.executions[0]).toMatchObject({ args: { to: 'Ann', usd: 7 }, value: { paid: 7 } });
  });

  test('arguments that were edited run as they were sent, or the call waits again: the schema does not change them', async () => {
    const paid: unknown[] = [];
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      input: z.object({ usd: z.number(), fee: z.number().default(100) }),
      needsApproval: true,
      run: (args) => paid.push(args),
    });
    const { orchestrator, start } = setUp([calls({ id: 'c1', name: 'pay', args: { usd: 5 } }), five, five], { tools: [pay] });
    const waiting = await orchestrator.run(start);
    const again = await orchestrator.run(waiting.approve('c1', { args: { usd: 6 } }));
    expect([again.waitingFor[0]?.problem, paid]).toStrictEqual([
      'The edited arguments were not run: the schema of "pay" changes them (fee). Send them as they will run, defaults included.',
      [],
    ]);
    await orchestrator.run(again.approve('c1', { args: { usd: 6, fee: 1 } }));
    // What was shown runs as it would without an approval.
    await orchestrator.run(waiting.approve('c1'));
    expect(paid).toStrictEqual([
      { usd: 6, fee: 1 },
      { usd: 5, fee: 100 },
    ]);
  });

  test('an answer that does not fit waits again, and says why', async () => {
    const { waiting, orchestrator } = await waitingRun();
    const wrong = await orchestrator.run(waiting.answer('call-4', { clicked: 'yes' }));
    expect(wrong.waitingFor.find(({ id }) => id === 'call-4')?.problem).toMatch(/does not fit its output schema/);
    const rejected = await orchestrator.run(wrong.reject('call-4', 'the window is closed'));
    expect(ids(rejected)).toStrictEqual(['approval call-1', 'approval call-3']);
  });

  test('a new message gives them up, and opens a new execution', async () => {
    const { waiting, orchestrator, asked, paid } = await waitingRun();
    const next = roundTrip(waiting.approve('call-1').reject('call-3', 'too dear').withUserMessage('Something else.'));
    expect([next.status, next.stepCount, next.execution.number, looseEnds(next.messages)]).toStrictEqual(['pending', 0, 2, []]);
    const [given] = next.session.executions[0]!.results.toArray();
    expect(given).toMatchObject({ step: { interrupted: 'superseded', usage: { total: 12 } }, stopReason: 'user_requested' });
    expect(given!.step.executions.map(({ status, output }) => [status, output])).toMatchObject([
      ['rejected', { reason: 'superseded by a new message' }],
      ['succeeded', {}],
      ['rejected', { reason: 'too dear' }],
      ['rejected', { reason: 'superseded by a new message' }],
    ]);
    const end = await orchestrator.run(next);
    expect([...summarizeEnd(end), paid, end.session.usage.input]).toStrictEqual(['completed', 'completed', 1, [], 10]);
    expect(asked(1).messages.at(-1)!.text).toBe('Something else.');
    expect(looseEnds(end.messages)).toStrictEqual([]);
  });

  test('what was spent on a step that waits is counted, money too', async () => {
    const { waiting } = await waitingRun({ price: ({ total }) => ({ usd: total }) });
    expect([waiting.usage.total, waiting.cost]).toStrictEqual([12, { usd: 12 }]);
  });

  test('what was spent on a step that was given up is counted, money too', async () => {
    const { waiting } = await waitingRun({ price: ({ total }) => ({ usd: total }) });
    const [execution] = waiting.withUserMessage('Something else.').session.executions;
    expect([execution!.usage.total, execution!.results.at(0)?.step.cost, execution!.cost]).toStrictEqual([12, { usd: 12 }, { usd: 12 }]);
  });

  test('a message after the last answer waits its turn, behind the results', async () => {
    const { waiting, orchestrator, asked } = await waitingRun();
    const answered = waiting.reject('call-1', 'no').reject('call-3', 'no').answer('call-4', { clicked: true });
    const end = await orchestrator.run(roundTrip(answered.withUserMessage('And hurry.')));
    expect([...summarizeEnd(end), end.execution.number]).toStrictEqual(['completed', 'completed', 2, 1]);
    expect(asked(1).messages.map(({ role }) => role)).toStrictEqual(['user', 'assistant', 'tool', 'tool', 'tool', 'tool', 'user']);
  });

  test('the time until somebody answers counts nowhere', async () => {
    const { waiting, orchestrator, clock } = await waitingRun({ limits: { activeMs: 1000, wallMs: 5000 } });
    clock.skip(7 * 24 * 3_600_000);
    const end = await orchestrator.run(waiting.approve('call-1').approve('call-3').answer('call-4', { clicked: true }));
    expect([...summarizeEnd(end), end.execution.activeMs, end.execution.waitedMs]).toStrictEqual(['completed', 'completed', 2, 0, 0]);
  });

  test('a run that is called off closes them, and runs nothing', async () => {
    const { waiting, orchestrator, paid } = await waitingRun();
    const end = await orchestrator.run(waiting.approve('call-1').approve('call-3').answer('call-4', { clicked: true }), {
      signal: AbortSignal.abort(),
    });
    expect([...summarizeEnd(end), paid, looseEnds(end.messages)]).toStrictEqual(['stopped', 'user_requested', 1, [], []]);
    expect(statuses(end)).toStrictEqual([
      ['pay', 'cancelled'],
      ['add', 'succeeded'],
      ['pay', 'cancelled'],
      ['click', 'succeeded'],
    ]);
  });

  test('a run that is called off while one of them runs closes all, and forgets nothing', async () => {
    const slow = defineTool({
      name: 'slow',
      description: 'Hangs.',
      input: anything,
      needsApproval: true,
      run: () => new Promise<never>(() => undefined),
    });
    const names = ['slow', 'slow', 'slow'];
    const { orchestrator, start, clock } = setUp([calls(...names.map((name) => ({ name }))), done], { tools: [slow], onUnknown: 'ask' });
    const waiting = await orchestrator.run(start);
    const controller = new AbortController();
    const running = orchestrator.run(waiting.approve('call-1').reject('call-2', 'no'), { signal: controller.signal });
    await clock.advance(10);
    controller.abort();
    await clock.advance(100);
    const end = roundTrip(await running);
    expect([...summarizeEnd(end), end.errors, looseEnds(end.messages)]).toStrictEqual(['stopped', 'user_requested', 1, [], []]);
    expect(end.steps[0]!.executions.map(({ status }) => status)).toStrictEqual(['unknown', 'rejected', 'cancelled']);
  });

  test('two answers to one call are refused, and so is one to nobody', async () => {
    const { waiting } = await waitingRun();
    expect(() => waiting.approve('call-1').reject('call-1', 'no')).toThrow('call-1');
    expect(() => waiting.approve('call-2')).toThrow('call-2');
    expect(() => waiting.answer('call-1', 7)).toThrow('Answer it with approve(id) or reject(id, reason)');
  });
});

describe('a call whose end nobody saw', () => {
  const lost = { ok: false, kind: 'unknown', type: 'unknown', code: 'lost', message: 'The process died.', retryable: false } as const;
  const losing =
    (...keys: readonly string[]) =>
    (direct: Effects): Effects => ({
      ...direct,
      run: async (key, work, options) => (keys.includes(key) ? lost : direct.run(key, work, options)),
    });
  const ship = (reconcile?: () => { readonly happened: boolean; readonly result?: string }) =>
    defineTool({
      name: 'ship',
      description: 'Ships.',
      input: anything,
      run: () => 'shipped',
      ...(reconcile !== undefined && { reconcile: reconcile as never }),
    });
  const script = [calls({ name: 'ship', args: { order: 7 } }, { name: 'add', args: { a: 1, b: 1 } }), done];

  test('is told to the model by default, and is no failure', async () => {
    const { orchestrator, start, asked } = setUp(script, { tools: [ship(), add] });
    const end = await orchestrator.run(start, { effects: losing('tool/1/0') });
    expect([...summarizeEnd(end), end.steps[0]!.errors, end.steps[0]!.stepType]).toStrictEqual([
      'completed',
      'completed',
      2,
      [],
      'tool_execution',
    ]);
    expect(statuses(end)).toStrictEqual([
      ['ship', 'unknown'],
      ['add', 'succeeded'],
    ]);
    expect(asked(1).messages[2]!.toolResults[0]!.output).toMatchObject({
      type: 'error',
      value: expect.stringContaining('may or may not') as string,
    });
  });

  test.each<[string, (waiting: ToolUseState) => ToolUseState, readonly unknown[]]>([
    [
      'somebody knows the result',
      (waiting) => waiting.answer('call-1', 'shipped at noon'),
      ['succeeded', { type: 'text', value: 'shipped at noon' }],
    ],
    ['nobody does', (waiting) => waiting.reject('call-1', 'lost for good'), ['rejected', { type: 'rejected', reason: 'lost for good' }]],
  ])('is asked about where the options say so: %s', async (_, settle, expected) => {
    const { orchestrator, start } = setUp(script, { tools: [ship(), add], onUnknown: 'ask' });
    const waiting = roundTrip(await orchestrator.run(start, { effects: losing('tool/1/0') }));
    expect([waiting.status, waiting.waitingFor]).toStrictEqual([
      'waiting',
      [{ type: 'unknown-call', id: 'call-1', toolName: 'ship', args: { order: 7 } }],
    ]);
    const end = await orchestrator.run(settle(waiting));
    const [execution] = end.steps[0]!.executions;
    expect([...summarizeEnd(end), execution!.status, execution!.output]).toStrictEqual(['completed', 'completed', 2, ...expected]);
    expect(looseEnds(end.messages)).toStrictEqual([]);
  });

  // K2: every call ends in one execution or one wait.
  test('is told to have ended when it has, and only then', async () => {
    const { orchestrator, start } = setUp(script, { tools: [ship(), add], onUnknown: 'ask' });
    const told: string[] = [];
    const onEvent = (event: ToolUseEvent): unknown =>
      event.type === 'ToolCallCompleted' && told.push(`${event.toolCallId} ${event.status}`);
    const waiting = await orchestrator.run(start, { effects: losing('tool/1/0'), onEvent });
    expect(told).toStrictEqual(['call-2 succeeded']);
    await orchestrator.run(waiting.answer('call-1', 'shipped'), { onEvent });
    expect(told).toStrictEqual(['call-2 succeeded', 'call-1 succeeded']);
  });

  test.each([
    ['happened', { happened: true, result: 'shipped' }, 'succeeded'],
    ['did not happen', { happened: false }, 'cancelled'],
  ])('is not asked about where the tool itself knows that it %s', async (_, found, status) => {
    const { orchestrator, start } = setUp(script, { tools: [ship(() => found), add], onUnknown: 'ask' });
    const end = await orchestrator.run(start, { effects: losing('tool/1/0') });
    expect([...summarizeEnd(end), end.steps[0]!.executions[0]!.status]).toStrictEqual(['completed', 'completed', 2, status]);
  });

  test('after an approval is asked about, too, and does not run again', async () => {
    let runs = 0;
    const gated = defineTool({ name: 'ship', description: 'Ships.', input: anything, needsApproval: true, run: () => (runs += 1) });
    const { orchestrator, start } = setUp(script, { tools: [gated, add], onUnknown: 'ask' });
    const waiting = await orchestrator.run(start);
    const lostCall = await orchestrator.run(waiting.approve('call-1'), { effects: losing('tool/1/0') });
    expect(lostCall.waitingFor).toMatchObject([{ type: 'unknown-call', id: 'call-1' }]);
    const end = await orchestrator.run(roundTrip(lostCall).answer('call-1', 1));
    expect([...summarizeEnd(end), runs]).toStrictEqual(['completed', 'completed', 2, 0]);
  });
});

describe('a run that is cut off', () => {
  const never = (): Promise<never> => new Promise(() => undefined);

  test('keeps the words that had come, and is no error', async () => {
    const chunks = async function* () {
      yield 'It is ';
      await never();
    };
    const { orchestrator, start, clock } = setUp([{ chunks: chunks() }]);
    const controller = new AbortController();
    const running = orchestrator.run(start, { signal: controller.signal });
    await clock.advance(10);
    controller.abort('enough');
    await clock.advance(100);
    const end = await running;
    expect([...summarizeEnd(end), end.text, end.errors, end.steps[0]!.interrupted]).toStrictEqual([
      'stopped',
      'user_requested',
      1,
      'It is ',
      [],
      'signal',
    ]);
    expect([end.usage.unknownCalls, clock.pendingTimers()]).toStrictEqual([1, 0]);
  });

  test.each([
    ['once', 'unknown'],
    ['pure', 'cancelled'],
    ['idempotent', 'cancelled'],
  ] as const)('closes a deaf tool of class %s as %s, and asks nobody', async (effect, status) => {
    const deaf = defineTool({ name: 'deaf', description: 'Hangs.', input: anything, effect, run: never });
    const { orchestrator, start, clock } = setUp([calls({ name: 'deaf' }, { name: 'add', args: { a: 1, b: 1 } })], {
      tools: [deaf, add],
      onUnknown: 'ask',
    });
    const controller = new AbortController();
    const running = orchestrator.run(start, { signal: controller.signal });
    await clock.advance(10);
    controller.abort();
    await clock.advance(100);
    const end = await running;
    expect([...summarizeEnd(end), end.errors, looseEnds(end.messages)]).toStrictEqual(['stopped', 'user_requested', 1, [], []]);
    expect(statuses(end)).toStrictEqual([
      ['deaf', status],
      ['add', 'succeeded'],
    ]);
  });

  // decisions.md, Abort: what is dropped and reported is the late result of work that ignores its signal.
  test('reports no problem where the model heeds its signal', async () => {
    const { orchestrator, start, clock, problems } = setUp([never]);
    const controller = new AbortController();
    const running = orchestrator.run(start, { signal: controller.signal });
    await clock.advance(10);
    controller.abort();
    await clock.advance(100);
    expect([...summarizeEnd(await running), problems]).toStrictEqual(['stopped', 'user_requested', 1, []]);
  });

  test('at the time limit ends with it, and the step is no failure', async () => {
    const deaf = defineTool({ name: 'deaf', description: 'Hangs.', input: anything, effect: 'pure', run: never });
    const { orchestrator, start, clock } = setUp([calls({ name: 'deaf' })], { tools: [deaf], limits: { wallMs: 1000 } });
    const running = orchestrator.run(start);
    await clock.advance(1100);
    const end = await running;
    expect([...summarizeEnd(end), end.errors, end.steps[0]!.interrupted, looseEnds(end.messages)]).toStrictEqual([
      'stopped',
      'time_limit',
      1,
      [],
      'deadline',
      [],
    ]);
  });

  test('on request finishes the step first', async () => {
    const { orchestrator, start } = setUp([sum, five]);
    const run = orchestrator.start(start);
    run.requestStop('lunch');
    const { state: end } = await run.result;
    expect(end.stopReason).toBe('user_requested');
    expect(looseEnds(end.messages)).toStrictEqual([]);
  });
});

describe('time', () => {
  const takes =
    (clock: FakeClock, ms: number, answer: ScriptedAnswer): ScriptedEntry =>
    async () => {
      await sleep(clock, ms);
      return answer;
    };

  const inLine = (limits: Options['limits'] = {}) => {
    const clock = createFakeClock();
    const model = withModelLimits(
      scriptedModel([takes(clock, 100, five), takes(clock, 100, five)]),
      createModelLimits({ concurrent: 1, clock }),
    );
    return { ...setUp(model, { clock, limits }), clock };
  };

  test('spent in line for a model counts as waiting, on the wall clock only', async () => {
    const { orchestrator, start, clock } = inLine();
    const running = Promise.all([orchestrator.run(start), orchestrator.run(start)]);
    await clock.advance(500);
    const [first, second] = await running;
    expect(first.stepResults[0]!.timing).toMatchObject({ activeMs: 100, waitedMs: 0 });
    expect(second.stepResults[0]!.timing).toMatchObject({ activeMs: 100, waitedMs: 100 });
    expect([second.execution.activeMs, second.execution.waitedMs]).toStrictEqual([100, 100]);
    expect([summarizeEnd(first), summarizeEnd(second)]).toStrictEqual([
      ['completed', 'completed', 1],
      ['completed', 'completed', 1],
    ]);
  });

  test.each([
    ['does not use up active time', { activeMs: 150, wallMs: 10_000 }, ['completed', 'completed', 1]],
    ['uses up the wall clock', { wallMs: 150 }, ['stopped', 'time_limit', 1]],
  ])('spent in line %s', async (_, limits, expected) => {
    const { orchestrator, start, clock } = inLine(limits);
    const running = Promise.all([orchestrator.run(start), orchestrator.run(start)]);
    await clock.advance(500);
    const [, second] = await running;
    expect(summarizeEnd(second)).toStrictEqual(expected);
  });

  test('a second turn days later starts at once, also after being stored', async () => {
    const { orchestrator, start, clock } = setUp([sum, five, { text: 'You are welcome.', usage }]);
    const first = await orchestrator.run(start);
    for (const end of [first, roundTrip(first)]) {
      const again = setUp([{ text: 'You are welcome.', usage }], { clock });
      clock.skip(7 * 24 * 3_600_000);
      const next = await again.orchestrator.run(end.withUserMessage('Thanks.'));
      expect([...summarizeEnd(next), next.text, next.usage.total]).toStrictEqual(['completed', 'completed', 1, 'You are welcome.', 12]);
      expect([next.session.executions.length, next.session.stepCount, next.session.usage.total]).toStrictEqual([2, 3, 47]);
      expect(next.info.startedAt).toStrictEqual(start.info.startedAt);
    }
  });

  test('a second turn reads the first', async () => {
    const { orchestrator, start, asked } = setUp([sum, five, done]);
    const end = await orchestrator.run(roundTrip(await orchestrator.run(start)).withUserMessage('Thanks.'));
    expect(end.status).toBe('completed');
    expect(asked(2).messages.map(({ role }) => role)).toStrictEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
  });

  test('a limit on active time goes on where it was after pauses, storage and failures', async () => {
    const clock = createFakeClock();
    const bad = calls({ name: 'broken' });
    const { orchestrator, start } = setUp(
      [takes(clock, 100, sum), takes(clock, 100, bad), takes(clock, 100, five), takes(clock, 100, five)],
      {
        clock,
        limits: { activeMs: 250, wallMs: 10_000, steps: 9 },
        errors: ErrorPolicy.retryToolErrors(3),
      },
    );
    let state = start;
    for (const activeMs of [100, 200, 250]) {
      const stepping = orchestrator.nextStep(state);
      await clock.advance(200);
      state = roundTrip(await stepping);
      expect(state.execution.activeMs).toBe(activeMs);
      clock.skip(3_600_000);
    }
    expect([...summarizeEnd(state), state.steps[2]!.interrupted]).toStrictEqual(['stopped', 'time_limit', 3, 'deadline']);
    expect(state.info.cumulativeExecutionSeconds).toBe(0.25);
    const again = orchestrator.run(state.withUserMessage('Again.'));
    await clock.advance(200);
    expect([...summarizeEnd(await again), (await again).execution.activeMs]).toStrictEqual(['completed', 'completed', 1, 100]);
  });

  test('a model that keeps silent too long has failed with a time-out', async () => {
    const { orchestrator, start, clock } = setUp([() => new Promise<never>(() => undefined)], { timeouts: { firstByteMs: 1000 } });
    const running = orchestrator.run(start);
    await clock.advance(1000);
    const end = await running;
    expect([...summarizeEnd(end), end.errors[0]?.type, clock.pendingTimers()]).toStrictEqual(['failed', 'error', 1, 'timeout', 0]);
  });
});

describe('who answered, and what it cost', () => {
  const one = (script: readonly ScriptedEntry[]) => scriptedModel(script, { provider: 'acme', modelId: 'one' });
  const busy: ScriptedAnswer = {
    error: { type: 'rate_limit', code: 'busy', message: 'busy', retryable: true },
    usage: { input: 1, output: 0 },
  };

  test('is written on each step', async () => {
    const { orchestrator, start } = setUp(one([sum, five]));
    const end = await orchestrator.run(start);
    expect(end.steps.map(({ model }) => model)).toStrictEqual(['acme/one', 'acme/one']);
  });

  test('a fallback is told, and named on the step', async () => {
    const fallback = [scriptedModel([five], { provider: 'other', modelId: 'two' })];
    const { orchestrator, start } = setUp(one([{ ...busy, chunks: ['Half an'] }]), { fallback });
    const events: ToolUseEvent[] = [];
    const end = await orchestrator.run(start, { onEvent: (event) => events.push(event) });
    expect([...summarizeEnd(end), end.text, end.steps[0]!.model]).toStrictEqual(['completed', 'completed', 1, 'It is 5.', 'other/two']);
    expect(events.find(({ type }) => type === 'ModelFallback')).toMatchObject({
      from: 'acme/one',
      to: 'other/two',
      failure: { type: 'rate_limit' },
    });
  });

  const price = priceTable({ 'acme/one': { inputPerMillion: 1_000_000, outputPerMillion: 2_000_000 } });

  test('a price gives each step its cost, and the run its sum', async () => {
    const { orchestrator, start } = setUp(one([sum, five]), { price });
    const end = await orchestrator.run(start);
    expect([end.steps.map(({ cost }) => cost), end.cost]).toStrictEqual([[{ usd: 14 }, { usd: 26 }], { usd: 40 }]);
    expect(roundTrip(end).cost).toStrictEqual({ usd: 40 });
  });

  test('without prices nothing is said about costs', async () => {
    const { orchestrator, start } = setUp(one([five]));
    const end = await orchestrator.run(start);
    expect([end.cost, 'cost' in end.steps[0]!]).toStrictEqual([undefined, false]);
  });

  const throwing = (): never => {
    throw new Error('no list');
  };
  test('a limit of the cost without a price is refused', () => {
    expect(() => setUp(one([five]), { limits: { costUsd: 1 } })).toThrow(
      'limits.costUsd is 1, but the cost is unknown without prices. Pass price: priceTable({…}), or remove the limit.',
    );
  });

  test.each<[string, ScriptedAnswer, Options]>([
    ['the model is not in the list', five, { price: priceTable({}) }],
    ['the usage is unknown', done, { price }],
    ['the price list throws', five, { price: throwing }],
    ['the price list gives what is no number', five, { price: () => ({ usd: Number.NaN }) }],
    ['the model is not in the list, and there is a limit', five, { price: priceTable({}), limits: { costUsd: 1 } }],
  ])('what is not known is not nothing: %s', async (_, answer, options) => {
    const { orchestrator, start } = setUp(one([answer]), options);
    const end = await orchestrator.run(start);
    expect(roundTrip(end).cost).toStrictEqual(end.cost);
    expect([...summarizeEnd(end), end.cost]).toStrictEqual(['completed', 'completed', 1, { usd: 0, unknownCalls: 1 }]);
  });

  test('a limit on costs ends the run, and may let it sum up', async () => {
    const limits = { costUsd: 14 };
    const stopping = setUp(one([sum, five]), { price, limits });
    const end = await stopping.orchestrator.run(stopping.start);
    expect([...summarizeEnd(end), end.lastStepResult?.outcome.resolvedBy]).toStrictEqual(['stopped', 'guard', 1, 'CostLimit']);
    const summing = setUp(one([sum, five]), { price, limits: { ...limits, onLimit: 'finalize' } });
    expect(summarizeEnd(await summing.orchestrator.run(summing.start))).toStrictEqual(['stopped', 'guard', 2]);
    const pausing = setUp(one([sum, five]), { price, limits: { ...limits, onLimit: 'pause' } });
    const waiting = roundTrip(await pausing.orchestrator.run(pausing.start));
    expect(waiting.waitingFor).toStrictEqual([{ type: 'grant', id: 'grant/cost', limit: 'cost' }]);
    expect(summarizeEnd(await pausing.orchestrator.run(waiting.grant({ costUsd: 100 })))).toStrictEqual(['completed', 'completed', 2]);
  });

  test('a failed answer costs what it used', async () => {
    const { orchestrator, start } = setUp(one([busy]), { price });
    const end = await orchestrator.run(start);
    expect([end.status, end.cost]).toStrictEqual(['failed', { usd: 1 }]);
  });
});

describe('summing up at a limit', () => {
  const limits = { steps: 1, onLimit: 'finalize' } as const;
  const summary: ScriptedAnswer = { text: 'In short: 5.', usage };

  test('asks with the same tools but does not force a call, and says why', async () => {
    const { orchestrator, start, asked } = setUp([sum, summary], {
      limits,
      settings: { temperature: 0, toolChoice: 'required' },
      instructions: 'Be brief.',
    });
    const end = await orchestrator.run(start);
    expect([...summarizeEnd(end), end.text]).toStrictEqual(['stopped', 'steps_limit', 2, 'In short: 5.']);
    expect(asked(0)).toHaveProperty('tools');
    expect(asked(1).tools).toStrictEqual(asked(0).tools);
    expect([asked(1).settings, asked(1).messages[0]!.text]).toStrictEqual([{ temperature: 0 }, 'Be brief.']);
    const request = asked(1).messages.at(-1)!;
    expect([request.role, request.text]).toStrictEqual([
      'user',
      'A limit of this run has been reached (StepsLimit: 1 of 1 steps used, limit reached; one more step to sum up), and no tool can be called any more. ' +
        'Answer now with what you have: say what you found out or did, and what is left to do.',
    ]);
  });

  test('does not keep its request in the conversation', async () => {
    const { orchestrator, start, asked } = setUp([sum, summary, done], { limits });
    const end = await orchestrator.run(start);
    expect([roles(end), end.steps[1]!.finalizing]).toStrictEqual([['user', 'assistant', 'tool', 'assistant'], true]);
    await orchestrator.run(end.withUserMessage('Go on.'));
    expect(asked(2).messages.map(({ role }) => role)).toStrictEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
    expect(JSON.stringify(asked(2).messages)).not.toContain('A limit of this run');
  });

  test('closes calls that are made all the same as cancelled, and runs none', async () => {
    let runs = 0;
    const note = defineTool({ name: 'note', description: 'Notes.', input: anything, run: () => (runs += 1) });
    const gated = defineTool({ name: 'gated', description: 'Gated.', input: anything, needsApproval: true, run: () => (runs += 1) });
    const { orchestrator, start } = setUp([calls({ name: 'note' }), { ...calls({ name: 'note' }, { name: 'gated' }), text: 'One more.' }], {
      tools: [note, gated],
      limits,
    });
    const end = await orchestrator.run(start);
    expect([...summarizeEnd(end), runs, looseEnds(end.messages), end.errors]).toStrictEqual(['stopped', 'steps_limit', 2, 1, [], []]);
    expect(statuses(end, 1)).toStrictEqual([
      ['note', 'cancelled'],
      ['gated', 'cancelled'],
    ]);
    expect(end.messages.toArray().at(-1)!.toolResults[0]!.output).toStrictEqual({
      type: 'error',
      value: 'The call was not made: a limit has been reached, and no tool can be called any more.',
    });
  });

  test('asks once more in words, without tools, if the model only called tools', async () => {
    const { orchestrator, start, asked } = setUp([sum, sum, summary], { limits });
    const end = await orchestrator.run(start);
    expect([...summarizeEnd(end), end.text, looseEnds(end.messages), end.errors]).toStrictEqual([
      'stopped',
      'steps_limit',
      2,
      'In short: 5.',
      [],
      [],
    ]);
    expect(roles(end)).toStrictEqual(['user', 'assistant', 'tool', 'assistant', 'tool', 'assistant']);
    expect(statuses(end, 1)).toStrictEqual([['add', 'cancelled']]);
    expect(asked(2)).not.toHaveProperty('tools');
    const words = asked(2).messages.map(({ text }) => text);
    expect(words.slice(1, 5)).toStrictEqual([
      '[Called add with {"a":2,"b":3}]',
      '[add returned: 5]',
      '[Called add with {"a":2,"b":3}]',
      '[add returned: The call was not made: a limit has been reached, and no tool can be called any more.]',
    ]);
    // Both answers are paid for.
    expect(end.steps[1]!.usage.total).toBe(2 * end.steps[0]!.usage.total);
  });

  test('ends without text if the model will not give any', async () => {
    const { orchestrator, start } = setUp([sum, sum, sum], { limits });
    const end = await orchestrator.run(start);
    expect([...summarizeEnd(end), end.text, looseEnds(end.messages)]).toStrictEqual(['stopped', 'steps_limit', 2, '', []]);
    expect(roles(end)).toStrictEqual(['user', 'assistant', 'tool', 'assistant', 'tool']);
  });

  test('keeps the refused calls if the second question fails', async () => {
    const failed = { error: { type: 'model', code: 'overloaded', message: 'No.', retryable: true } } as const;
    const { orchestrator, start } = setUp([sum, sum, failed], { limits });
    const end = await orchestrator.run(start);
    expect([end.stepCount, statuses(end, 1), looseEnds(end.messages)]).toStrictEqual([2, [['add', 'cancelled']], []]);
    expect(end.errors.map(({ code }) => code)).toStrictEqual(['overloaded']);
  });

  test('needs no form, where the answer has one', async () => {
    const { orchestrator, start, asked } = setUp([sum, summary], { limits, output: z.object({ sum: z.number() }) });
    const end = await orchestrator.run(start);
    expect([...summarizeEnd(end), end.output, asked(1).output]).toStrictEqual(['stopped', 'steps_limit', 2, undefined, undefined]);
  });

  test('has time of its own', async () => {
    const never = (): Promise<never> => new Promise(() => undefined);
    const { orchestrator, start, clock, asked } = setUp([never, never], { limits: { wallMs: 1000, onLimit: 'finalize', finalizeMs: 500 } });
    const running = orchestrator.run(start);
    await clock.advance(1600);
    expect([...summarizeEnd(await running), asked(2)]).toStrictEqual(['stopped', 'time_limit', 2, undefined]);
  });
});

describe('a model that goes round in circles', () => {
  const other = calls({ name: 'add', args: { a: 9, b: 9 } });
  const reordered = calls({ name: 'add', args: { b: 3, a: 2 } });

  test.each<[string, readonly ScriptedAnswer[], readonly unknown[]]>([
    ['the same call three times', [sum, sum, sum, five], ['stopped', 'guard', 3]],
    ['the same arguments in another order', [sum, reordered, sum, five], ['stopped', 'guard', 3]],
    ['the same call twice', [sum, sum, five], ['completed', 'completed', 3]],
    ['another call between', [sum, sum, other, sum, five], ['completed', 'completed', 5]],
  ])('%s', async (_, script, expected) => {
    const { orchestrator, start } = setUp(script, { limits: { repeatedToolCalls: 3, steps: 9 } });
    const end = await orchestrator.run(start);
    expect(summarizeEnd(end)).toStrictEqual(expected);
  });

  test('says so, and is found out after being stored, too', async () => {
    const { orchestrator, start } = setUp([sum, sum, sum, five], { limits: { repeatedToolCalls: 3, steps: 9 } });
    let state = start;
    while (orchestrator.hasNextStep(state)) state = roundTrip(await orchestrator.nextStep(state));
    expect(summarizeEnd(state)).toStrictEqual(['stopped', 'guard', 3]);
    expect(state.explain()).toContain('RepeatedToolCall: add was called with the same arguments in 3 steps in a row');
  });

  test('is not watched unless asked for, and a watch that makes no sense is refused', async () => {
    const { orchestrator, start } = setUp([sum, sum, sum, five], { limits: { steps: 9 } });
    expect(summarizeEnd(await orchestrator.run(start))).toStrictEqual(['completed', 'completed', 4]);
    expect(() => setUp([], { limits: { repeatedToolCalls: 1 } })).toThrow(
      'limits.repeatedToolCalls must be a whole number of 2 or more, not 1.',
    );
  });

  test('starts over with a new execution', async () => {
    const { orchestrator, start } = setUp([sum, sum, five, sum, sum, five], { limits: { repeatedToolCalls: 3, steps: 9 } });
    const end = await orchestrator.run((await orchestrator.run(start)).withUserMessage('Again.'));
    expect(summarizeEnd(end)).toStrictEqual(['completed', 'completed', 3]);
  });
});

describe('instructions and context', () => {
  test('instructions stand first, and are not kept in the conversation', async () => {
    const { orchestrator, start, asked } = setUp([sum, five], { instructions: 'Be kind.' });
    const end = await orchestrator.run(start);
    expect([0, 1].map((index) => asked(index).messages.map(({ role, text }) => `${role} ${text}`)[0])).toStrictEqual([
      'system Be kind.',
      'system Be kind.',
    ]);
    expect(roles(end)).not.toContain('system');
  });

  test.each([undefined, '', () => ''])('no instructions, no message: %o', async (instructions) => {
    const { orchestrator, start, asked } = setUp([five], instructions === undefined ? {} : { instructions });
    await orchestrator.run(start);
    expect(asked(0).messages.map(({ role }) => role)).toStrictEqual(['user']);
  });

  test('both are given to whoever asks for them, anew for each step, and are never stored', async () => {
    interface Host {
      readonly tenant: string;
    }
    const whoami = defineTool({
      name: 'whoami',
      description: 'Says who.',
      input: anything,
      context: defineContext<Host>(),
      run: (_, { context }) => context.tenant,
    });
    const model = scriptedModel([calls({ name: 'whoami' }), done]);
    const orchestrator = new ToolUse({
      model,
      tools: [whoami],
      instructions: ({ context, state }) => `For ${context.tenant}, step ${state.stepCount + 1}.`,
    });
    const end = await orchestrator.run(ToolUseState.empty().withUserMessage('Who am I?'), { context: { tenant: 'acme' } });
    expect(model.calls.map(({ messages }) => messages[0]!.text)).toStrictEqual(['For acme, step 1.', 'For acme, step 2.']);
    expect(end.steps[0]!.executions[0]!.value).toBe('acme');
    expect(JSON.stringify(end)).not.toContain('tenant');
  });

  test('instructions that throw fail the step', async () => {
    const { orchestrator, start } = setUp([five], {
      instructions: () => {
        throw new Error('no words');
      },
    });
    const end = await orchestrator.run(start);
    expect([...summarizeEnd(end), end.errors[0]?.message]).toStrictEqual(['failed', 'error', 1, 'no words']);
  });
});
