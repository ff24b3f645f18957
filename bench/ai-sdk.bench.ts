// What a step costs through an AI SDK model, the path that most users take, over the same loop by hand.
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import { AgentState, createAgent } from 'stepline';
import { aiSdk } from 'stepline/ai-sdk';
import { benchLimits, benchTools } from './agent.bench.ts';
import type { Contender } from './measure.ts';

const usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 20, text: 20, reasoning: 0 },
};

function answer(number: number, last: number): LanguageModelV4GenerateResult {
  const isLast = number >= last;
  return {
    content: isLast
      ? [{ type: 'text', text: 'Done.' }]
      : [{ type: 'tool-call', toolCallId: `call-${String(number)}`, toolName: 'look', input: `{"id":${String(number)}}` }],
    finishReason: { unified: isLast ? 'stop' : 'tool-calls', raw: undefined },
    usage,
    warnings: [],
  };
}

/** A model of the AI SDK that calls the tool until the last step. It counts the steps by its prompt: user, then two messages a step. */
export function fakeModel(last: number): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'bench',
    supportedUrls: {},
    doGenerate: ({ prompt }) => Promise.resolve(answer((prompt.length + 1) / 2, last)),
    doStream: () => Promise.reject(new Error('The bench does not stream.')),
  };
}

const kept = { events: 0, messages: 0 };

/** An agent with its default criteria and one listener, over a model of the AI SDK. */
export function agentOverAiSdk(steps: number): Contender {
  const agent = createAgent({ model: aiSdk(fakeModel(steps)), streaming: false, tools: benchTools, limits: benchLimits });
  agent.wiretap(() => {
    kept.events += 1;
  });
  return {
    name: `agent, ${String(steps)} steps`,
    units: steps,
    work: async () => {
      const state = await agent.run(AgentState.empty().withUserMessage('Go.'));
      if (state.stepCount !== steps) throw new Error(`The bench took ${String(state.stepCount)} steps: ${state.explain()}`);
      kept.messages += state.messages.length;
    },
  };
}

/** A hand-written loop: call the model, run the tool, keep the prompt, look whether to go on. */
export function aiSdkByHand(steps: number): Contender {
  const model = fakeModel(steps);
  return {
    name: `by hand, ${String(steps)} steps`,
    units: steps,
    work: async () => {
      const prompt: LanguageModelV4CallOptions['prompt'] = [{ role: 'user', content: [{ type: 'text', text: 'Go.' }] }];
      let total = 0;
      for (;;) {
        const { content, usage: spent } = await model.doGenerate({ prompt });
        total += (spent.inputTokens.total ?? 0) + (spent.outputTokens.total ?? 0);
        const call = content.find((part) => part.type === 'tool-call');
        if (call === undefined || total > benchLimits.tokens) break;
        const { toolCallId, toolName } = call;
        const input = JSON.parse(call.input) as { readonly id: number };
        prompt.push({ role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName, input }] });
        const output = { type: 'json' as const, value: { id: input.id, found: true } };
        prompt.push({ role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] });
      }
      kept.messages += prompt.length;
    },
  };
}
