// What a step costs may not depend on the steps before it. Times tell that badly; copies and comparisons can be counted.
import { expect, test, vi } from 'vitest';
import { aiSdk } from '../src/inference/ai-sdk/index.ts';
import type { Model } from '../src/inference/index.ts';
import { Messages, Usage } from '../src/messages/index.ts';
import { defineTool } from '../src/tools/index.ts';
import { AgentState, createAgent } from '../src/agent/index.ts';

const steps = 12;
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const look = defineTool({ name: 'look', description: 'Looks.', input: { type: 'object' }, run: () => 'found' });

function createSdkModel(): Model {
  let asked = 0;
  const doGenerate = (): Promise<object> => {
    asked += 1;
    const call = { type: 'tool-call', toolCallId: `call-${asked}`, toolName: 'look', input: '{}' };
    const content = [asked < steps ? call : { type: 'text', text: 'Done.' }];
    return Promise.resolve({ content, finishReason: { unified: 'stop', raw: undefined }, usage, warnings: [] });
  };
  const doStream = (): Promise<never> => Promise.reject(new Error('It does not stream.'));
  return aiSdk({ specificationVersion: 'v4', provider: 'fake', modelId: 'fake-1', doGenerate, doStream });
}

test('a step through the AI SDK copies no list of messages and compares no message with those of the request before', async () => {
  const agent = createAgent({ model: createSdkModel(), streaming: false, tools: { look }, instructions: () => 'Be brief.' });
  const copies = vi.spyOn(Messages.prototype, 'copyAfter');
  const comparisons = vi.spyOn(Messages.prototype, 'countSame');
  try {
    const { stepCount } = await agent.run(AgentState.empty().withUserMessage('Go.'));
    expect([stepCount, copies.mock.calls.length]).toEqual([steps, 0]);
    // By the first request, which has nothing to compare with.
    expect(comparisons).toHaveBeenCalledTimes(1);
  } finally {
    vi.restoreAllMocks();
  }
});

test('a model that changes the list it gets, or keeps it, sees nothing of that in the next request', async () => {
  const lists: unknown[][] = [];
  const seen: number[] = [];
  const generate: Model['generate'] = ({ messages }) => {
    seen.push(messages.length);
    // Holds at run time: the list is the model's own.
    lists.push(messages as unknown[]);
    lists.at(-1)?.pop();
    const call = { type: 'tool-call' as const, toolCallId: `call-${seen.length}`, toolName: 'look', args: {} };
    const parts = [seen.length < 3 ? call : { type: 'text' as const, text: 'Done.' }];
    return Promise.resolve({ ok: true, response: { parts, usage: Usage.none() } });
  };
  const agent = createAgent({ model: { provider: 'own', modelId: 'own-1', generate, stream: generate }, tools: { look } });
  await agent.run(AgentState.empty().withUserMessage('Go.'));
  expect([seen, lists.map(({ length }) => length)]).toEqual([
    [1, 3, 5],
    [0, 2, 4],
  ]);
});
