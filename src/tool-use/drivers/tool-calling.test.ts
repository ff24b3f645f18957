import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ErrorPolicy } from '../../errors/index.ts';
import type { ModelRequest } from '../../inference/index.ts';
import { createCountingIds, createFakeClock } from '../../lib/index.ts';
import type { ScriptedEntry } from '../../testing/index.ts';
import { scriptedModel } from '../../testing/index.ts';
import { defineTool } from '../../tools/index.ts';
import type { ToolUseOptions } from '../index.ts';
import { ToolUse, toolCallingDriver, ToolUseState } from '../index.ts';

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  effect: 'pure',
  run: ({ a, b }) => a + b,
});

type Options = Partial<Omit<ToolUseOptions<ToolUseState>, 'model' | 'tools'>>;

function setUp(script: readonly ScriptedEntry[], options: Options = {}) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const model = scriptedModel(script);
  const orchestrator = new ToolUse({ model, tools: [add], driver: toolCallingDriver(), ports: { clock, ids }, ...options });
  const start = ToolUseState.empty({ clock, ids }).withUserMessage('Add 2 and 3.', { ids });
  return { orchestrator, start, model };
}

const sum: ScriptedEntry = { toolCalls: [{ name: 'add', args: { a: 2, b: 3 } }], usage: { input: 10, output: 2 } };
const five: ScriptedEntry = { text: 'It is 5.', usage: { input: 20, output: 3 } };
const listParts = ({ messages }: ModelRequest): unknown => messages.map(({ role, parts }) => [role, parts]);
const roles = (state: ToolUseState): unknown => state.messages.toArray().map(({ role }) => role);

describe('a model that calls tools', () => {
  test('calls, reads the result, and answers', async () => {
    const { orchestrator, start, model } = setUp([sum, five]);
    const end = await orchestrator.run(start);
    expect([end.status, end.text, end.steps.map(({ stepType }) => stepType)]).toStrictEqual([
      'completed',
      'It is 5.',
      ['tool_execution', 'final_response'],
    ]);
    expect(listParts(model.calls[1]!)).toStrictEqual([
      ['user', [{ type: 'text', text: 'Add 2 and 3.' }]],
      ['assistant', [{ type: 'tool-call', toolCallId: 'call-1', toolName: 'add', args: { a: 2, b: 3 } }]],
      ['tool', [{ type: 'tool-result', toolCallId: 'call-1', toolName: 'add', output: { type: 'json', value: 5 } }]],
    ]);
  });

  test('is told of the tools, of the settings, and of nothing else', async () => {
    const { orchestrator, start, model } = setUp([five], { settings: { temperature: 0, toolChoice: 'auto' } });
    await orchestrator.run(start);
    const { messages, signal, onNotice, tools, ...rest } = model.calls[0]!;
    expect(rest).toStrictEqual({ settings: { temperature: 0, toolChoice: 'auto' } });
    expect(tools).toMatchObject([{ name: 'add', description: 'Adds two numbers.', inputSchema: { type: 'object' } }]);
    expect([messages.length, signal instanceof AbortSignal, typeof onNotice]).toStrictEqual([1, true, 'function']);
  });

  test('is offered no tools where there are none', async () => {
    const { orchestrator, start, model } = setUp([five], {});
    const bare = new ToolUse({ model });
    await bare.run(start);
    expect(model.calls[0]).not.toHaveProperty('tools');
    expect(orchestrator.name).toBe('tool-use');
  });

  test.each([
    [{ a: 2 }, 'The arguments of "add" do not fit: '],
    ['{"a": 2,', 'The arguments of "add" are not valid JSON'],
  ])('reads what is wrong with the arguments %o', async (args, problem) => {
    const { orchestrator, start, model } = setUp([{ toolCalls: [{ name: 'add', args }] }, five], {
      errors: ErrorPolicy.retryToolErrors(3),
    });
    const end = await orchestrator.run(start);
    expect([end.status, end.text]).toStrictEqual(['completed', 'It is 5.']);
    const [result] = model.calls[1]!.messages.at(-1)!.toolResults;
    expect(result).toMatchObject({ toolCallId: 'call-1', output: { type: 'error', value: expect.stringContaining(problem) as string } });
    expect(end.steps[0]).toMatchObject({ stepType: 'error', errors: [{ type: 'tool', toolName: 'add', toolCallId: 'call-1' }] });
  });

  test.each<[string, ScriptedEntry, string]>([
    ['says nothing', { usage: { input: 4, output: 0 } }, 'empty-response'],
    ['breaks off', { text: 'It', finishReason: 'interrupted', usage: { input: 4, output: 1 } }, 'stream-interrupted'],
  ])('that %s has failed: a step of its own, without messages, whose usage counts', async (_, entry, code) => {
    const { orchestrator, start } = setUp([entry]);
    const end = await orchestrator.run(start);
    expect([end.status, end.stopReason, end.usage.input]).toStrictEqual(['failed', 'error', 4]);
    expect(end.steps).toMatchObject([{ stepType: 'error', outputMessages: [], errors: [{ type: 'model', code, readable: false }] }]);
  });

  test('comes to the same end and the same steps however it is driven', async () => {
    const script = [sum, { toolCalls: [{ name: 'add', args: { a: 1 } }] }, five];
    const options = { errors: ErrorPolicy.retryToolErrors(3) };
    const ran = setUp(script, options);
    const iterated = setUp(script, options);
    const stepped = setUp(script, options);
    const streamed = setUp(script, options);
    const ends: ToolUseState[] = [await ran.orchestrator.run(ran.start)];
    let last = iterated.start;
    for await (const state of iterated.orchestrator.iterate(iterated.start)) last = state;
    ends.push(last);
    last = stepped.start;
    while (stepped.orchestrator.hasNextStep(last)) last = await stepped.orchestrator.nextStep(last);
    ends.push(last);
    ends.push((await streamed.orchestrator.start(streamed.start).result).state);
    expect(ends[0]!.stepCount).toBe(3);
    for (const end of ends.slice(1)) expect(JSON.stringify(end.steps)).toBe(JSON.stringify(ends[0]!.steps));
    for (const end of ends) expect([end.status, end.stopReason, end.usage]).toStrictEqual(['completed', 'steps_limit', ends[0]!.usage]);
  });
});

describe('a final answer in a form', () => {
  const output = z.object({ sum: z.number() });
  const good = { text: '{"sum": 5}', usage: { input: 5, output: 5 } };
  const bad = { text: '{"sum": "five"}', usage: { input: 5, output: 5 } };
  const retry = ErrorPolicy.retryToolErrors(3);

  test.each<[string, string]>([
    ['plain', '{"sum": 5}'],
    ['with blanks around', ' \n{"sum": 5}\n'],
    ['fenced', '```json\n{"sum": 5}\n```'],
    ['fenced without a language', '```\n{"sum": 5}\n```'],
  ])('is read where it is %s', async (_, text) => {
    const { orchestrator, start, model } = setUp([{ text }], { output });
    const end = await orchestrator.run(start);
    expect([end.status, end.output, end.currentStep?.stepType]).toStrictEqual(['completed', { sum: 5 }, 'final_response']);
    expect(model.calls[0]?.output?.schema).toMatchObject({ type: 'object', required: ['sum'] });
  });

  test('is checked only where no call is left', async () => {
    const { orchestrator, start } = setUp([{ ...sum, text: 'One moment.' }, good], { output });
    const end = await orchestrator.run(start);
    expect([end.status, end.output, end.errors]).toStrictEqual(['completed', { sum: 5 }, []]);
  });

  test.each<[string, string, RegExp]>([
    ['that does not fit', bad.text, /^The answer does not fit the output schema: .*sum/],
    ['that is prose', 'It is five.', /^The answer is not valid JSON\.$/],
    ['that is cut off', '{"sum": ', /^The answer is not valid JSON\.$/],
  ])('%s is repaired once, and both answers count', async (_, text, problem) => {
    const { orchestrator, start, model } = setUp([{ ...bad, text }, good], { output, errors: retry });
    const end = await orchestrator.run(start);
    expect([end.status, end.stopReason, end.output, end.usage.total]).toStrictEqual(['completed', 'completed', { sum: 5 }, 20]);
    expect(end.steps[0]).toMatchObject({
      stepType: 'error',
      errors: [{ type: 'validation', code: 'invalid-output', retryable: true, message: expect.stringMatching(problem) as string }],
    });
    expect(end.steps[0]).not.toHaveProperty('output');
    const repair = model.calls[1]!.messages.at(-1)!;
    expect([repair.role, repair.metadata]).toStrictEqual(['user', { purpose: 'repair' }]);
    expect(repair.text).toBe(
      `Your last answer cannot be used: ${end.steps[0]!.errors[0]!.message} Answer again with JSON that fits the schema, and nothing else.`,
    );
    expect(roles(end)).toStrictEqual(['user', 'assistant', 'user', 'assistant']);
  });

  test('that never fits ends with retry_limit', async () => {
    const { orchestrator, start } = setUp([bad, bad, bad, good], { output, errors: retry, limits: { steps: 10 } });
    const end = await orchestrator.run(start);
    expect([end.status, end.stopReason, end.stepCount, end.output]).toStrictEqual(['failed', 'retry_limit', 3, undefined]);
  });

  test.each([
    ['stop', ErrorPolicy.stopOnAnyError()],
    ['ignore', ErrorPolicy.ignoreToolErrors()],
  ])('that does not fit is an error where the policy says %s', async (_, errors) => {
    const { orchestrator, start } = setUp([bad, good], { output, errors });
    const end = await orchestrator.run(start);
    expect([end.status, end.stopReason, end.stepCount, end.output]).toStrictEqual(['failed', 'error', 1, undefined]);
  });

  test('whose schema throws is a failure like any other', async () => {
    const throwing = z.object({ sum: z.number() }).refine(() => {
      throw new Error('schema broken');
    });
    const { orchestrator, start } = setUp([good], { output: throwing });
    const end = await orchestrator.run(start);
    expect([end.status, end.errors[0]?.message]).toStrictEqual(['failed', 'The answer could not be checked: schema broken']);
  });

  test.each<[string, z.ZodType]>([
    ['null', z.null()],
    ['false', z.boolean()],
    ['0', z.number()],
    ['[]', z.array(z.number())],
  ])('may be %s', async (text, schema) => {
    const { orchestrator, start } = setUp([{ text }], { output: schema as never });
    const end = await orchestrator.run(start);
    expect([end.status, end.output]).toStrictEqual(['completed', JSON.parse(text)]);
  });
});
