import { describe, expect, test } from 'vitest';
import { priceTable, withFallback } from '../inference/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { ScriptedAnswer } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineTool } from '../tools/index.ts';
import { AgentState, createAgent } from './index.ts';

const ports = { clock: createFakeClock(), ids: createCountingIds('id') };

describe('what nested fallbacks cost', () => {
  const million = { input: 1_000_000, output: 0 };
  const broken: ScriptedAnswer = {
    text: 'I beg',
    usage: million,
    error: { type: 'model', code: 'broken', message: 'broken', retryable: true },
  };
  const createModel = (modelId: string, answer: ScriptedAnswer) => scriptedModel([answer], { provider: 'p', modelId });
  const at = (usd: number) => ({ inputPerMillion: usd, outputPerMillion: 0 });
  const price = priceTable({ 'p/a': at(1), 'p/b': at(10), 'p/c': at(100) });

  test.each([
    [
      'side by side',
      () => ({
        model: createModel('a', broken),
        fallback: [createModel('b', broken), createModel('c', { text: 'Done.', usage: million })],
      }),
    ],
    [
      'one in another',
      () => ({
        model: withFallback(createModel('a', broken), createModel('b', broken)),
        fallback: [createModel('c', { text: 'Done.', usage: million })],
      }),
    ],
  ])('is the same, each model at its own price: %s', async (_, models) => {
    const { cost, usage, status } = await createAgent({ ...models(), price, ports }).start('Go.').result;
    expect([status, cost, usage.input]).toStrictEqual(['completed', { usd: 111 }, 3_000_000]);
  });
});

test('a pause that is taken up by a release that sums up, with too small a grant, ends with a reason and its last event', async () => {
  const dig = defineTool({ name: 'dig', description: 'A tool.', input: {}, run: () => 'more' });
  const agentWith = (onLimit: 'pause' | 'finalize') =>
    createAgent({
      model: scriptedModel([({ tools }) => (tools === undefined ? { text: 'In short.' } : { toolCalls: [{ name: 'dig' }] })], {
        repeatLast: true,
      }),
      tools: { dig },
      limits: { steps: 1, onLimit },
      ports,
    });
  const paused = await agentWith('pause').run(AgentState.empty().withUserMessage('Go.'));
  const events: string[] = [];
  const end = await agentWith('finalize').run(paused.grant({ tokens: 5 }), { onEvent: ({ type }) => events.push(type) });
  expect([end.status, end.stopReason, end.text, events.at(-1)]).toStrictEqual(['stopped', 'steps_limit', 'In short.', 'AgentFinished']);
});
