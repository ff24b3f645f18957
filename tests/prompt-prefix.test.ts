// What an AI SDK model is sent from step to step, however the run is driven.
import { describe, expect, test } from 'vitest';
import type { AgentOptions } from '../src/agent/index.ts';
import { AgentState, createAgent } from '../src/agent/index.ts';
import type { Effects } from '../src/effects/index.ts';
import { aiSdk } from '../src/inference/ai-sdk/index.ts';
import { createCountingIds, createFakeClock } from '../src/lib/index.ts';
import { scriptedModel } from '../src/testing/index.ts';
import { defineTool } from '../src/tools/index.ts';
import { compaction } from '../src/capabilities/index.ts';

const steps = 12;

type Prompt = readonly { readonly role: string }[];

function setUp(more: Partial<Omit<AgentOptions, 'model' | 'tools'>> = {}) {
  const prompts: Prompt[] = [];
  const model = aiSdk({
    specificationVersion: 'v4',
    provider: 'fake',
    modelId: 'fake',
    doGenerate: ({ prompt }: { readonly prompt: Prompt }) => {
      prompts.push(prompt);
      const [number, isLast] = [prompts.length, prompts.length === steps];
      const call = { type: 'tool-call', toolCallId: `call-${number}`, toolName: 'look', input: '{}' };
      return Promise.resolve({
        content: [isLast ? { type: 'text', text: 'Done.' } : call],
        finishReason: { unified: isLast ? 'stop' : 'tool-calls', raw: undefined },
        usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
        warnings: [],
      });
    },
    doStream: () => Promise.reject(new Error('It does not stream.')),
  });
  const look = defineTool({ name: 'look', description: 'Looks.', input: { type: 'object', properties: {} } as const, run: () => 'seen' });
  const agent = createAgent({
    model,
    tools: { look },
    streaming: false,
    instructions: ({ state }) => `Step ${state.stepCount + 1}.`,
    ports: { clock: createFakeClock(), ids: createCountingIds('id') },
    ...more,
  });
  return { agent, prompts, start: AgentState.empty().withUserMessage('Go.') };
}

/** Numbers of the requests that do not begin, after the instructions, with the bytes of the request before. */
const listBreaks = (prompts: readonly Prompt[]): readonly number[] =>
  prompts.flatMap((prompt, index) => {
    const before = JSON.stringify(prompts[index - 1]?.slice(1) ?? []).slice(0, -1);
    return JSON.stringify(prompt.slice(1)).startsWith(before) ? [] : [index];
  });

/** Counts the messages of a request, without those that are new in it or were the last before, that were converted again. */
const countAgain = (prompts: readonly Prompt[], index: number): number => {
  const [before = [], now = []] = [prompts[index - 1], prompts[index]];
  return before.slice(1, -1).filter((message, place) => now[place + 1] !== message).length;
};
const countAllAgain = (prompts: readonly Prompt[]): number => prompts.reduce((sum, _, index) => sum + countAgain(prompts, index), 0);

describe('a growing conversation', () => {
  test.each(['run', 'start', 'nextStep', 'iterate'] as const)('driven by %s is converted once, and keeps its beginning', async (driver) => {
    const { agent, prompts, start } = setUp();
    if (driver === 'run') await agent.run(start);
    if (driver === 'start') await agent.start(start).result;
    if (driver === 'nextStep') for (let state = start; agent.hasNextStep(state);) state = await agent.nextStep(state);
    if (driver === 'iterate') for await (const state of agent.iterate(start)) expect(state.stepCount).toBeGreaterThan(0);
    expect([prompts.length, listBreaks(prompts), countAllAgain(prompts)]).toStrictEqual([steps, [], 0]);
  });

  test('that is compacted changes its beginning only in the step that writes a summary', async () => {
    const summarizer = scriptedModel(Array.from({ length: steps }, () => ({ text: 'In short.' })));
    const { agent, prompts, start } = setUp({
      capabilities: [compaction({ model: summarizer, countTokens: () => 10, maxTokens: 40, maxBufferTokens: 60 })],
    });
    await agent.run(start);
    const breaks = listBreaks(prompts);
    expect(prompts).toHaveLength(steps);
    expect(summarizer.calls.length).toBeGreaterThan(0);
    expect(breaks).toHaveLength(summarizer.calls.length);
    // Between two summaries, summary, buffer and messages are converted once, too.
    for (const index of prompts.keys()) if (!breaks.includes(index)) expect(countAgain(prompts, index)).toBe(0);
  });
});

test('an engine that wraps the effects sees every model call and every tool call', async () => {
  const { agent, start } = setUp();
  const keys: string[] = [];
  const watch = (direct: Effects): Effects => ({
    ...direct,
    run: (key, work, options) => {
      keys.push(key);
      return direct.run(key, work, options);
    },
  });
  await agent.run(start, { effects: watch });
  const numbers = Array.from({ length: steps }, (_, index) => index + 1);
  expect(keys).toStrictEqual(numbers.flatMap((number) => [`model/${number}`, ...(number < steps ? [`tool/${number}/0`] : [])]));
});
