import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ErrorPolicy } from '../../errors/index.ts';
import type { JsonObject } from '../../lib/index.ts';
import { createCountingIds, createFakeClock } from '../../lib/index.ts';
import type { ScriptedAnswer, ScriptedEntry } from '../../testing/index.ts';
import { scriptedModel } from '../../testing/index.ts';
import { defineTool } from '../../tools/index.ts';
import type { ReActOptions, ToolUseOptions } from '../index.ts';
import { reActDriver, ToolUse, ToolUseState } from '../index.ts';

const input = z.object({ a: z.number(), b: z.number() });
const add = defineTool({ name: 'add', description: 'Adds two numbers.', input, effect: 'pure', run: ({ a, b }) => a + b });
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: z.object({ to: z.string() }),
  needsApproval: true,
  run: ({ to }) => `paid ${to}`,
});

type Options = Partial<Omit<ToolUseOptions<ToolUseState>, 'model' | 'tools' | 'driver'>> & { readonly reAct?: ReActOptions };

function setUp(script: readonly ScriptedEntry[], { reAct, ...options }: Options = {}) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const model = scriptedModel(script);
  const orchestrator = new ToolUse({ model, tools: [add, pay], driver: reActDriver(reAct), ports: { clock, ids }, ...options });
  const start = ToolUseState.empty({ clock, ids }).withUserMessage('Add 2 and 3.', { ids });
  return { orchestrator, start, model };
}

const usage = { input: 10, output: 2 };
const decides = (decision: JsonObject): ScriptedAnswer => ({ text: JSON.stringify(decision), usage });
const calls = (tool: string, args: JsonObject, thought = ''): ScriptedAnswer =>
  decides({ thought, type: 'call_tool', tool, args: JSON.stringify(args), answer: null });
const answers = (answer: string, thought = ''): ScriptedAnswer =>
  decides({ thought, type: 'final_answer', tool: null, args: null, answer });
const listTexts = (state: ToolUseState): readonly unknown[] => state.messages.toArray().map(({ role, text }) => [role, text]);
const roundTrip = (state: ToolUseState): ToolUseState => ToolUseState.fromJSON(JSON.parse(JSON.stringify(state)));
const retry = ErrorPolicy.retryToolErrors(3);

describe('a model that decides in JSON', () => {
  test('calls, observes, and answers in plain words', async () => {
    const { orchestrator, start, model } = setUp([calls('add', { a: 2, b: 3 }, 'I need the sum.'), answers('It is 5.', 'Done.')]);
    const end = await orchestrator.run(start);
    expect([end.status, end.stopReason, end.text, end.usage.total]).toStrictEqual(['completed', 'completed', 'It is 5.', 24]);
    expect(listTexts(end)).toStrictEqual([
      ['user', 'Add 2 and 3.'],
      ['assistant', 'Thought: I need the sum.\nAction: add {"a":2,"b":3}'],
      ['user', 'Observation: 5'],
      ['assistant', 'It is 5.'],
    ]);
    expect(end.steps).toMatchObject([
      { stepType: 'tool_execution', hasToolCalls: true, toolCalls: [{ name: 'add' }], executions: [{ status: 'succeeded', value: 5 }] },
      { stepType: 'final_response', hasToolCalls: false, toolCalls: [], executions: [] },
    ]);
    expect(end.steps[0]!.executions[0]!.toolCallId).toBe(end.steps[0]!.toolCalls[0]!.id);
    const read = model.calls[1]!.messages.slice(1);
    expect(read.map(({ role, text }) => [role, text])).toStrictEqual(listTexts(end).slice(0, 3));
  });

  test('is offered no tools, but told of them in words, behind its own instructions', async () => {
    const { orchestrator, start, model } = setUp([answers('Hello.')], {
      instructions: 'You are kind.',
      settings: { temperature: 0, toolChoice: 'required' },
    });
    await orchestrator.run(start);
    const [request] = model.calls;
    expect(request).not.toHaveProperty('tools');
    expect(request!.settings).toStrictEqual({ temperature: 0 });
    expect(request!.output?.name).toBe('decision');
    const [system, ...rest] = request!.messages;
    expect([system!.role, rest.length]).toStrictEqual(['system', 1]);
    expect(system!.text).toMatch(/^You are kind\.\n\nWork step by step\./);
    expect(system!.text).toContain('- add: Adds two numbers.\n  arguments: {"');
    expect(system!.text).toContain('- pay: Pays.');
  });

  test('is told where there are no tools', async () => {
    const { start, model } = setUp([answers('Hello.')]);
    await new ToolUse({ model, driver: reActDriver() }).run(start);
    expect(model.calls[0]!.messages[0]!.text).toMatch(/There are no tools\.$/);
  });

  test('keeps its thought with the answer, where nobody reads it out', async () => {
    const { orchestrator, start } = setUp([answers('It is 5.', 'Easy.')]);
    const end = await orchestrator.run(start);
    expect(end.messages.toArray().at(-1)).toMatchObject({ metadata: { thought: 'Easy.' } });
  });

  test('tells readers the answer, never the decision', async () => {
    const { orchestrator, start } = setUp([calls('add', { a: 2, b: 3 }, 'I need the sum.'), answers('It is 5.', 'Done.')]);
    const pieces: string[] = [];
    await orchestrator.run(start, { onEvent: (event) => event.type === 'TextDelta' && pieces.push(event.text) });
    expect(pieces.join('')).toBe('It is 5.');
  });

  test('sees a missing argument as an error that it observes', async () => {
    const { orchestrator, start } = setUp([calls('add', { a: 2 }), answers('I could not.')], { errors: retry });
    const end = await orchestrator.run(start);
    const [observation] = end.steps[0]!.outputMessages.slice(-1);
    expect(observation!.text).toMatch(/^Observation: ERROR: The arguments of "add" do not fit: .*b/);
    expect([observation!.role, observation!.metadata]).toStrictEqual([
      'user',
      { purpose: 'observation', toolCallId: end.steps[0]!.toolCalls[0]!.id },
    ]);
    expect([end.status, end.steps[0]!.stepType, end.steps[0]!.errors[0]?.type]).toStrictEqual(['completed', 'error', 'tool']);
  });
});

describe('a final answer that is asked for once more', () => {
  const reAct = { finalViaInference: true };
  const decision = answers('5', 'I have the sum.');

  test('replaces the first, and both questions count', async () => {
    const { orchestrator, start, model } = setUp([decision, { text: 'The sum is 5.', usage: { input: 7, output: 4 } }], {
      reAct,
      price: ({ total }) => ({ usd: total }),
      settings: { temperature: 0 },
    });
    const pieces: string[] = [];
    const end = await orchestrator.run(start, { onEvent: (event) => event.type === 'TextDelta' && pieces.push(event.text) });
    expect([end.status, end.text, end.stepCount, pieces.join('')]).toStrictEqual(['completed', 'The sum is 5.', 1, 'The sum is 5.']);
    expect([end.usage, end.cost]).toStrictEqual([{ input: 17, output: 6, total: 23 }, { usd: 23 }]);
    expect(listTexts(end)).toStrictEqual([
      ['user', 'Add 2 and 3.'],
      ['assistant', 'The sum is 5.'],
    ]);
    const second = model.calls[1]!;
    expect([second.tools, second.output, second.settings]).toStrictEqual([undefined, undefined, { temperature: 0 }]);
    expect(second.messages.at(-1)!.text).toBe(
      'You have decided to answer: I have the sum. Give the user the final answer now, in plain words.',
    );
  });

  test('that fails is a failed step, and both questions count', async () => {
    const { orchestrator, start } = setUp([decision, { usage: { input: 7, output: 0 } }], { reAct });
    const end = await orchestrator.run(start);
    expect([end.status, end.errors[0]?.code, end.usage.input, end.text]).toStrictEqual(['failed', 'empty-response', 17, '']);
  });

  test('sends no choice of tools, because no tools are offered', async () => {
    const { orchestrator, start, model } = setUp([decision, { text: 'The sum is 5.' }], { reAct, settings: { toolChoice: 'required' } });
    await orchestrator.run(start);
    expect(model.calls[1]!.settings).toStrictEqual({});
  });

  test('is checked by the schema, which the model is given', async () => {
    const { orchestrator, start, model } = setUp([decision, { text: '{"sum":5}' }], { reAct, output: z.object({ sum: z.number() }) });
    const end = await orchestrator.run(start);
    expect([end.status, end.output]).toStrictEqual(['completed', { sum: 5 }]);
    expect(model.calls[1]!.output?.schema).toMatchObject({ type: 'object', required: ['sum'] });
  });
});

describe('a decision that cannot be read', () => {
  const good = answers('It is 5.');

  test.each<[string, string, RegExp]>([
    ['bad JSON', '{"type": "call_tool",', /not a JSON object/],
    ['prose', 'I would add them.', /not a JSON object/],
    ['an unknown type', '{"type":"give_up"}', /"type" must be/],
    ['an unknown tool', '{"type":"call_tool","tool":"subtract","args":"{}"}', /Unknown tool "subtract"/],
    ['arguments as a list', '{"type":"call_tool","tool":"add","args":"[2,3]"}', /must be a JSON object/],
    ['an empty answer', '{"type":"final_answer","answer":""}', /"answer" is empty/],
  ])('%s: a validation failure that the model reads, and that the policy retries', async (_, text, problem) => {
    const { orchestrator, start, model } = setUp([{ text, usage }, good], { errors: retry });
    const end = await orchestrator.run(start);
    expect([end.status, end.stepCount, end.text, end.usage.total]).toStrictEqual(['completed', 2, 'It is 5.', 24]);
    expect(end.steps[0]).toMatchObject({
      stepType: 'error',
      toolCalls: [],
      executions: [],
      usage: { total: 12 },
      errors: [{ type: 'validation', code: 'invalid-decision', message: expect.stringMatching(problem) as string, retryable: true }],
    });
    const read = model.calls[1]!.messages.slice(-2).map(({ role, text: words }) => [role, words]);
    expect(read).toStrictEqual([
      ['assistant', text],
      ['user', `Observation: ERROR: ${end.steps[0]!.errors[0]!.message}`],
    ]);
    expect(roundTrip(end).steps).toStrictEqual(end.steps);
  });

  test.each([
    ['stop', ErrorPolicy.stopOnAnyError(), ['failed', 'error', 1]],
    ['ignore, because the model reads what was wrong', ErrorPolicy.ignoreToolErrors(), ['completed', 'completed', 2]],
  ])('ends as the policy says: %s', async (_, errors, expected) => {
    const { orchestrator, start } = setUp([{ text: 'hm' }, good], { errors });
    const end = await orchestrator.run(start);
    expect([end.status, end.stopReason, end.stepCount]).toStrictEqual(expected);
  });

  test('that stays so ends with retry_limit', async () => {
    const { orchestrator, start } = setUp([{ text: 'hm' }, { text: 'hm' }, { text: 'hm' }, good], { errors: retry, limits: { steps: 9 } });
    const end = await orchestrator.run(start);
    expect([end.status, end.stopReason, end.stepCount]).toStrictEqual(['failed', 'retry_limit', 3]);
  });
});

test('run, iterate, nextStep and stream come to the same end and the same steps', async () => {
  const script = [calls('add', { a: 2, b: 3 }), { text: 'hm', usage }, answers('It is 5.')];
  const [ran, iterated, stepped, streamed] = [1, 2, 3, 4].map(() => setUp(script, { errors: retry }));
  const ends = [await ran!.orchestrator.run(ran!.start)];
  for await (const state of iterated!.orchestrator.iterate(iterated!.start)) ends[1] = state;
  let state = stepped!.start;
  while (stepped!.orchestrator.hasNextStep(state)) state = await stepped!.orchestrator.nextStep(state);
  ends.push(state, (await streamed!.orchestrator.start(streamed!.start).result).state);
  expect(ends.map((end) => [end.status, end.stepCount, end.text])).toStrictEqual(Array(4).fill(['completed', 3, 'It is 5.']));
  expect(new Set(ends.map(({ steps }) => JSON.stringify(steps))).size).toBe(1);
});

describe('a call that somebody must agree to', () => {
  const script = [calls('pay', { to: 'Ann' }, 'She asked.'), answers('Done.')];

  test.each<[string, (waiting: ToolUseState, id: string) => ToolUseState, string]>([
    ['runs when it was approved', (waiting, id) => waiting.approve(id), 'Observation: paid Ann'],
    [
      'runs with the arguments that were given',
      (waiting, id) => waiting.approve(id, { args: { to: 'Bob' } }),
      'Observation: A person changed the arguments to {"to":"Bob"}.\npaid Bob',
    ],
    [
      'does not run when it was rejected',
      (waiting, id) => waiting.reject(id, 'too dear'),
      'Observation: ERROR: The call was rejected: too dear',
    ],
  ])('%s, also after being stored', async (_, settle, observation) => {
    const { orchestrator, start } = setUp(script);
    const waiting = roundTrip(await orchestrator.run(start));
    expect([waiting.status, waiting.waitingFor]).toMatchObject(['waiting', [{ type: 'approval', toolName: 'pay', args: { to: 'Ann' } }]]);
    const end = await orchestrator.run(roundTrip(settle(waiting, waiting.waitingFor[0]!.id)));
    expect([end.status, end.text]).toStrictEqual(['completed', 'Done.']);
    expect(listTexts(end)).toStrictEqual([
      ['user', 'Add 2 and 3.'],
      ['assistant', 'Thought: She asked.\nAction: pay {"to":"Ann"}'],
      ['user', observation],
      ['assistant', 'Done.'],
    ]);
  });

  test('is observed as given up when a new message comes: no tool message stands in a conversation without tool calls', async () => {
    const { orchestrator, start, model } = setUp([calls('pay', { to: 'Ann' }), answers('Never mind.')]);
    const next = (await orchestrator.run(start)).withUserMessage('Forget it.');
    const end = await orchestrator.run(next);
    expect(end.status).toBe('completed');
    expect(model.calls[1]!.messages.slice(1).map(({ role, text }) => [role, text])).toStrictEqual([
      ['user', 'Add 2 and 3.'],
      ['assistant', 'Action: pay {"to":"Ann"}'],
      ['user', 'Observation: ERROR: The call was rejected: superseded by a new message'],
      ['user', 'Forget it.'],
    ]);
  });
});

test('a call that waits is observed as cancelled when the run is called off, in plain words, too', async () => {
  const { orchestrator, start } = setUp([calls('pay', { to: 'Ann' })]);
  const waiting = await orchestrator.run(start);
  const end = await orchestrator.run(waiting.approve(waiting.waitingFor[0]!.id), { signal: AbortSignal.abort() });
  expect([end.stopReason, end.messages.toArray().map(({ role }) => role)]).toStrictEqual(['user_requested', ['user', 'assistant', 'user']]);
});

describe('a final answer in a form', () => {
  const output = z.object({ sum: z.number() });
  const good = answers('{"sum": 5}');
  const bad = answers('{"sum": "five"}');

  test.each<[string, ScriptedAnswer]>([
    ['as text', good],
    ['fenced', answers('```json\n{"sum": 5}\n```')],
    ['as an object', decides({ thought: '', type: 'final_answer', answer: { sum: 5 } })],
  ])('is read %s', async (_, entry) => {
    const { orchestrator, start } = setUp([entry], { output });
    const end = await orchestrator.run(start);
    expect([end.status, end.output]).toStrictEqual(['completed', { sum: 5 }]);
  });

  test('is repaired once', async () => {
    const { orchestrator, start, model } = setUp([bad, good], { output, errors: retry });
    const end = await orchestrator.run(start);
    expect([end.status, end.output, end.usage.total, end.steps[0]!.errors[0]?.code]).toStrictEqual([
      'completed',
      { sum: 5 },
      24,
      'invalid-output',
    ]);
    expect(model.calls[1]!.messages.at(-1)!.text).toMatch(/^Your last answer cannot be used: /);
  });

  test('that never fits ends with retry_limit, and is an error where the policy ignores', async () => {
    const never = setUp([bad, bad, bad, good], { output, errors: retry, limits: { steps: 9 } });
    const end = await never.orchestrator.run(never.start);
    expect([end.status, end.stopReason, end.stepCount]).toStrictEqual(['failed', 'retry_limit', 3]);
    const ignoring = setUp([bad, good], { output, errors: ErrorPolicy.ignoreToolErrors() });
    const ignored = await ignoring.orchestrator.run(ignoring.start);
    expect([ignored.status, ignored.stopReason, ignored.stepCount]).toStrictEqual(['failed', 'error', 1]);
  });

  // The model cannot answer in a form that nobody told it.
  test('is asked for in words that name the form', async () => {
    const { orchestrator, start, model } = setUp([good], { output });
    await orchestrator.run(start);
    expect(JSON.stringify(model.calls[0])).toContain('sum');
  });
});

describe('summing up at a limit', () => {
  const limits = { steps: 1, onLimit: 'finalize' } as const;

  test('asks in plain words, without the form of a decision', async () => {
    const { orchestrator, start, model } = setUp([calls('add', { a: 2, b: 3 }), { text: 'I added.' }], { limits });
    const end = await orchestrator.run(start);
    expect([end.status, end.stopReason, end.text]).toStrictEqual(['stopped', 'steps_limit', 'I added.']);
    const [, last] = model.calls;
    expect([last!.output, last!.tools, last!.messages[0]!.role]).toStrictEqual([undefined, undefined, 'user']);
  });
});

// U1: a call that was made always has a result in the conversation. No tools were offered, but some models call all the same.
test.each<[string, readonly ScriptedEntry[], Options]>([
  [
    'sums up',
    [calls('add', { a: 2, b: 3 }), { text: 'I added.', toolCalls: [{ name: 'add', args: { a: 1, b: 1 } }] }],
    { limits: { steps: 1, onLimit: 'finalize' } },
  ],
  [
    'gives the final answer',
    [answers('5'), { text: 'I added.', toolCalls: [{ name: 'add', args: { a: 1, b: 1 } }] }],
    { reAct: { finalViaInference: true } },
  ],
])('no call is left without a result where the model calls while it %s', async (_, script, options) => {
  const { orchestrator, start } = setUp(script, options);
  const end = await orchestrator.run(start);
  const messages = end.messages.toArray();
  const called = messages.flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id));
  const resulted = messages.flatMap(({ toolResults }) => toolResults.map(({ toolCallId }) => toolCallId));
  expect([end.text, called.filter((id) => !resulted.includes(id))]).toStrictEqual(['I added.', []]);
});
