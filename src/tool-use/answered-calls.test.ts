// Calls whose results come in the same answer: the result is the call's, nothing runs, and nothing is left open.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Model, ModelResponse } from '../inference/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { Part } from '../messages/index.ts';
import { Usage } from '../messages/index.ts';
import { defineClientTool, defineTool } from '../tools/index.ts';
import type { Driver } from './index.ts';
import { reActDriver, ToolUse, ToolUseState } from './index.ts';

const input = z.looseObject({});
const toCall = (id: string, toolName = 'locate'): Part => ({ type: 'tool-call', toolCallId: id, toolName, args: {} });
const toResult = (id: string, rest: object = {}): Part => ({
  type: 'tool-result',
  toolCallId: id,
  toolName: 'locate',
  output: { type: 'text', value: `found ${id}` },
  ...rest,
});
const text: Part = { type: 'text', text: 'Here.' };

function setUp(answers: readonly (readonly Part[])[], driver?: Driver) {
  const ran: string[] = [];
  const ports = { clock: createFakeClock(), ids: createCountingIds() };
  const left = [...answers];
  const sent: unknown[] = [];
  const answer: Model['generate'] = (request) => {
    sent.push(request.messages.map(({ role, parts }) => [role, ...parts.map(({ type }) => type)]));
    const response: ModelResponse = { parts: left.shift() ?? [text], usage: Usage.none(), finishReason: 'stop' };
    return Promise.resolve({ ok: true, response });
  };
  const model: Model = { provider: 'hand', modelId: 'written', generate: answer, stream: answer };
  const tools = [
    defineClientTool({ name: 'locate', description: 'Finds the user.', input }),
    defineTool({ name: 'look', description: 'Looks.', input, run: () => ran.push('look') }),
  ];
  const agent = new ToolUse({ model, tools, ports, ...(driver !== undefined && { driver }) });
  const start = ToolUseState.empty(ports).withUserMessage('Where am I?', ports);
  return { agent, start, ran, sent };
}

const shape = (state: ToolUseState): unknown => state.messages.toArray().map(({ role, parts }) => [role, ...parts.map(({ type }) => type)]);
const roundTrip = (state: ToolUseState): ToolUseState => ToolUseState.fromJSON(JSON.parse(JSON.stringify(state)));

describe('a call of a client tool with its result in the same answer', () => {
  test.each<[string, object]>([
    ['as a result of its own', {}],
    ['as a result of the provider', { providerExecuted: true }],
  ])('is not run, and has that result in the history, %s', async (_, rest) => {
    const { agent, start } = setUp([[text, toCall('a'), toResult('a', rest)]]);
    const end = await agent.run(start);
    expect([end.status, end.waitingFor, end.text]).toStrictEqual(['completed', [], 'Here.']);
    expect(shape(end)).toStrictEqual([
      ['user', 'text'],
      ['assistant', 'text', 'tool-call'],
      ['tool', 'tool-result'],
    ]);
    expect(end.messages.toArray().at(-1)!.toolResults).toStrictEqual([
      { toolCallId: 'a', toolName: 'locate', output: { type: 'text', value: 'found a' } },
    ]);
    expect(end.steps[0]).toMatchObject({ toolCalls: [], executions: [], hasToolCalls: false });
    expect(roundTrip(end).steps).toStrictEqual(end.steps);
  });

  test('does not hinder the other calls of the answer', async () => {
    const { agent, start, ran, sent } = setUp([[toCall('a'), toResult('a'), toCall('b', 'look')]]);
    const end = await agent.run(start);
    expect([end.status, end.stepCount, ran]).toStrictEqual(['completed', 2, ['look']]);
    expect(sent[1]).toStrictEqual([
      ['user', 'text'],
      ['assistant', 'tool-call', 'tool-call'],
      ['tool', 'tool-result'],
      ['tool', 'tool-result'],
    ]);
    expect(end.steps[0]!.toolCalls.map(({ id }) => id)).toStrictEqual(['b']);
    expect(roundTrip(end).steps).toStrictEqual(end.steps);
  });

  test('has the last of several results', async () => {
    const again: Part = {
      ...toResult('a'),
      type: 'tool-result',
      toolCallId: 'a',
      toolName: 'locate',
      output: { type: 'text', value: 'last' },
    };
    const { agent, start } = setUp([[toCall('a'), toResult('a'), again]]);
    const end = await agent.run(start);
    expect(end.messages.toArray().at(-1)!.toolResults).toMatchObject([{ output: { value: 'last' } }]);
    expect(shape(end)).toStrictEqual([
      ['user', 'text'],
      ['assistant', 'tool-call'],
      ['tool', 'tool-result'],
    ]);
  });
});

test("a call that the provider ran keeps its result in the provider's own message", async () => {
  const call: Part = { type: 'tool-call', toolCallId: 'a', toolName: 'search', args: {}, providerExecuted: true };
  const { agent, start } = setUp([
    [call, toResult('a', { providerExecuted: true }), toResult('earlier', { providerExecuted: true }), text],
  ]);
  const end = await agent.run(start);
  expect(shape(end)).toStrictEqual([
    ['user', 'text'],
    ['assistant', 'tool-call', 'tool-result', 'tool-result', 'text'],
  ]);
});

test('a final answer of a model that was offered no tools loses its calls together with their results', async () => {
  const decision: Part = { type: 'text', text: JSON.stringify({ thought: '', type: 'final_answer', answer: 'Here.' }) };
  const { agent, start } = setUp([[decision], [toCall('a'), toResult('a'), text]], reActDriver({ finalViaInference: true }));
  expect(shape(await agent.run(start))).toStrictEqual([
    ['user', 'text'],
    ['assistant', 'text'],
  ]);
});
