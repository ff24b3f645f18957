import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Effects } from '../effects/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { ScriptedToolCall } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import type { Tool, ToolContext } from '../tools/index.ts';
import { defineClientTool, defineTool } from '../tools/index.ts';
import type { ToolUseOptions } from './index.ts';
import { ToolUse, ToolUseState } from './index.ts';

const input = z.object({ n: z.number().optional() });
const tool = (name: string, run: (args: { n?: number | undefined }, ctx: ToolContext) => unknown) =>
  defineTool({ name, description: 'A tool.', input, run });
const forever = (): Promise<never> => new Promise(() => undefined);

type Options = Partial<Pick<ToolUseOptions<ToolUseState>, 'toolConcurrency' | 'onUnknown'>>;

/** A conversation whose first answer makes these calls, and whose second one ends it. */
function setUp(tools: readonly Tool[], toolCalls: readonly ScriptedToolCall[], options: Options = {}) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const model = scriptedModel([{ toolCalls }, { text: 'Done.' }]);
  const orchestrator = new ToolUse({ model, tools, ports: { clock, ids, onProblem: () => undefined }, ...options });
  const keys: string[] = [];
  const effects = (direct: Effects): Effects => ({
    ...direct,
    run: (key, work, more) => {
      if (key.startsWith('tool/')) keys.push(key);
      return direct.run(key, work, more);
    },
  });
  const events: string[] = [];
  orchestrator.wiretap((event) => {
    if ('toolCallId' in event) events.push(`${event.type} ${event.toolCallId}`);
  });
  const start = ToolUseState.empty({ clock, ids }).withUserMessage('Go.', { ids });
  return { orchestrator, start, keys, effects, events, clock };
}

const executionsIn = (state: ToolUseState) => state.steps[0]?.executions ?? [];

describe('the calls of a step', () => {
  test('have one execution each, in the order of the calls, under keys of their place', async () => {
    const slow = tool('slow', async () => {
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
      return 'slow';
    });
    const { orchestrator, start, keys, effects } = setUp(
      [slow, tool('quick', () => 'quick')],
      [{ name: 'slow' }, { name: 'quick' }, { name: 'none' }, { name: 'quick' }],
    );
    const end = await orchestrator.run(start, { effects });
    expect(executionsIn(end).map(({ toolName, status }) => [toolName, status])).toStrictEqual([
      ['slow', 'succeeded'],
      ['quick', 'succeeded'],
      ['none', 'failed'],
      ['quick', 'succeeded'],
    ]);
    expect(keys).toStrictEqual(['tool/1/0', 'tool/1/1', 'tool/1/3']);
  });

  test.each([
    [undefined, 8],
    [1, 1],
    [3, 3],
  ])('run at most as many at once as toolConcurrency %s says: %d', async (toolConcurrency, expected) => {
    let [working, most] = [0, 0];
    const busy = tool('busy', async ({ n = 0 }) => {
      most = Math.max(most, (working += 1));
      for (let turn = 0; turn < 5 + (n % 5); turn += 1) await Promise.resolve();
      working -= 1;
    });
    const calls = Array.from({ length: 100 }, (_, n) => ({ name: 'busy', args: { n } }));
    const { orchestrator, start } = setUp([busy], calls, toolConcurrency === undefined ? {} : { toolConcurrency });
    const end = await orchestrator.run(start);
    expect([most, executionsIn(end).length]).toStrictEqual([expected, 100]);
  });

  test('are cancelled by an interruption if they have not started, and unknown if they may have happened', async () => {
    const controller = new AbortController();
    const abort = (): Promise<never> => {
      setTimeout(() => controller.abort(new Error('enough')), 0);
      return forever();
    };
    const { orchestrator, start, clock } = setUp([tool('first', abort), tool('second', forever)], [{ name: 'first' }, { name: 'second' }], {
      toolConcurrency: 1,
    });
    const running = orchestrator.run(start, { signal: controller.signal });
    const settled = running.then((end) => executionsIn(end).map(({ status }) => status));
    await new Promise((resolve) => setTimeout(resolve, 5));
    await clock.advance(100);
    expect(await settled).toStrictEqual(['unknown', 'cancelled']);
  });

  test('are told of from start to end, also one that could not run', async () => {
    const { orchestrator, start, events } = setUp(
      [tool('t', () => 1)],
      [
        { id: 'a', name: 't' },
        { id: 'b', name: 'none' },
      ],
      {
        toolConcurrency: 1,
      },
    );
    await orchestrator.run(start);
    expect(events).toStrictEqual(['ToolCallStarted a', 'ToolCallCompleted a', 'ToolCallStarted b', 'ToolCallCompleted b']);
  });

  test('are not disturbed by a listener that throws', async () => {
    const reporting = tool('t', (_args, { report }) => {
      report(1);
      return 2;
    });
    const { orchestrator, start } = setUp([reporting], [{ name: 't' }]);
    orchestrator.wiretap(() => {
      throw new Error('listener');
    });
    expect(executionsIn(await orchestrator.run(start))).toMatchObject([{ status: 'succeeded', value: 2 }]);
  });
});

describe('calls that need somebody', () => {
  const ran: string[] = [];
  const gated = defineTool({
    name: 'gated',
    description: 'A tool.',
    input,
    needsApproval: true,
    run: (_args, { idempotencyKey }) => ran.push(idempotencyKey),
  });
  const client = defineClientTool({ name: 'client', description: 'A tool.', input });
  const calls = [
    { id: 'client', name: 'client', args: { n: 2 } },
    { id: 'free', name: 'free', args: {} },
    { id: 'gated', name: 'gated', args: { n: 1 } },
    { id: 'wrong', name: 'gated', args: { n: 'x' } },
  ];

  test('do not run; the others do, and the approved one runs under the key of its place', async () => {
    ran.length = 0;
    const free = tool('free', () => ran.push('free'));
    const { orchestrator, start, keys, effects, events } = setUp([gated, client, free], calls);
    const waiting = await orchestrator.run(start, { effects });
    expect(waiting.waitingFor.map(({ type, id }) => [type, id])).toStrictEqual([
      ['client-tool', 'client'],
      ['approval', 'gated'],
    ]);
    expect([ran, keys]).toStrictEqual([['free'], ['tool/1/1']]);
    expect(events.slice().sort()).toStrictEqual([
      'ToolApprovalRequested gated',
      'ToolCallCompleted free',
      'ToolCallCompleted wrong',
      'ToolCallStarted client',
      'ToolCallStarted free',
      'ToolCallStarted wrong',
    ]);

    const end = await orchestrator.run(waiting.approve('gated').answer('client', 'here'), { effects });
    expect(keys).toStrictEqual(['tool/1/1', 'tool/1/2']);
    expect(ran).toStrictEqual(['free', expect.stringMatching(/\/1\/gated$/)]);
    expect(executionsIn(end).map(({ toolCallId, status }) => [toolCallId, status])).toStrictEqual([
      ['client', 'succeeded'],
      ['free', 'succeeded'],
      ['gated', 'succeeded'],
      ['wrong', 'failed'],
    ]);
  });
});

test('a step fails as a whole if the effects reject: then nothing can be kept', async () => {
  const { orchestrator, start } = setUp([tool('t', () => 1)], [{ name: 't' }]);
  const effects = (direct: Effects): Effects => ({
    ...direct,
    run: (key, work, options) =>
      key.startsWith('tool/') ? Promise.reject(new Error('the store is gone')) : direct.run(key, work, options),
  });
  const end = await orchestrator.run(start, { effects });
  expect([end.status, end.errors[0]?.message]).toStrictEqual(['failed', 'the store is gone']);
});
