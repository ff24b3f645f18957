// Bounds as shares of the model's context window, and a prompt whose beginning stays the same between two summaries.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AgentState, createAgent } from '../../agent/index.ts';
import type { Model } from '../../inference/index.ts';
import { withModelLimits, withFallback, withModelSettings, withTimeouts } from '../../inference/index.ts';
import { createCountingIds, createFakeClock } from '../../lib/index.ts';
import type { Message } from '../../messages/index.ts';
import type { ScriptedEntry } from '../../testing/index.ts';
import { scriptedModel } from '../../testing/index.ts';
import { defineTool } from '../../tools/index.ts';
import { compaction } from './compaction.ts';
import { estimateTokens } from './estimate-tokens.ts';
import type { CompactionOptions } from './options.ts';
import { toSettings } from './options.ts';

const plain = scriptedModel([]);
const withWindow = (contextWindow: number): Model => ({ ...plain, contextWindow });

describe('bounds', () => {
  test.each<[string, Omit<CompactionOptions, 'model'> & { readonly model?: Model }, readonly [number, number, number]]>([
    ['nothing: 40 % of 128,000 tokens each', {}, [51_200, 51_200, 2560]],
    ['the window of the model', { model: withWindow(200_000) }, [80_000, 80_000, 4000]],
    ['a window', { contextWindow: 1_000_000 }, [400_000, 400_000, 20_000]],
    ['a window beside that of the model', { model: withWindow(200_000), contextWindow: 32_000 }, [12_800, 12_800, 640]],
    ['a small window: a summary has room for 512', { contextWindow: 8000 }, [3200, 3200, 512]],
    ['a window that no message fits', { contextWindow: 1 }, [1, 1, 512]],
    ['maxTokens: the buffer has as many', { maxTokens: 2000 }, [2000, 2000, 512]],
    ['maxTokens beside a window', { maxTokens: 2000, contextWindow: 200_000 }, [2000, 2000, 512]],
    ['maxBufferTokens', { maxBufferTokens: 9 }, [51_200, 9, 2560]],
    ['all of them', { maxTokens: 3, maxBufferTokens: 4, maxSummaryTokens: 5 }, [3, 4, 5]],
  ])('from %s', (_, options, bounds) => {
    const { maxTokens, maxBufferTokens, maxSummaryTokens } = toSettings({ model: plain, ...options });
    expect([maxTokens, maxBufferTokens, maxSummaryTokens]).toStrictEqual(bounds);
  });

  test.each([[0], [-1], [1.5], [Number.NaN], ['big']])('a window of %j is refused, whoever gives it', (contextWindow) => {
    const window = contextWindow as number;
    const wanted = `contextWindow must be a whole number of 1 or more, not ${typeof contextWindow === 'string' ? '"big"' : String(contextWindow)}.`;
    expect(() => compaction({ model: plain, contextWindow: window })).toThrow(`compaction(): ${wanted}`);
    expect(() => compaction({ model: withWindow(window) })).toThrow(`compaction(): model.${wanted}`);
  });

  test.each<[string, (model: Model) => Model]>([
    ['time-outs', (model) => withTimeouts(model, {}, createFakeClock())],
    ['settings', (model) => withModelSettings(model, {})],
    ['a rate', (model) => withModelLimits(model, { concurrent: 1 })],
    ['a fallback', (model) => withFallback(model, [plain])],
  ])('a model with %s around it tells the window of the model', (_, wrap) => {
    expect(wrap(withWindow(9000)).contextWindow).toBe(9000);
    expect(wrap(plain)).not.toHaveProperty('contextWindow');
  });
});

const search = defineTool({
  name: 'search',
  description: 'Searches.',
  input: { type: 'object', properties: { size: { type: 'number' } }, required: ['size'] } as const,
  run: ({ size }) => 'x'.repeat(size),
});
const contextWindow = 2000;
const bytes = (message: Message): string => JSON.stringify(message);

/** Talks for a while; each turn is one call with a result of this size, and an answer. Returns what the model read each time. */
async function talk(sizes: readonly number[], { storesBetween = false } = {}) {
  const [clock, ids] = [createFakeClock(), createCountingIds('id')];
  const script = sizes.flatMap((size): readonly ScriptedEntry[] => [
    { toolCalls: [{ name: 'search', args: { size } }] },
    { text: 'Found.' },
  ]);
  const model = scriptedModel(script);
  const summarizer = scriptedModel([{ text: 'They searched.' }], { repeatLast: true });
  const agent = createAgent({
    model,
    tools: [search],
    instructions: 'You search.',
    capabilities: [compaction({ model: summarizer, contextWindow })],
    ports: { clock, ids },
  });
  let state = AgentState.empty({ clock, ids });
  for (const [turn] of sizes.entries()) {
    const end = await agent.run(state.withUserMessage(`Search ${turn}.`, { ids }));
    state = storesBetween ? AgentState.fromJSON(JSON.parse(JSON.stringify(end))) : end;
  }
  const prompts = model.calls.map(({ messages }) => messages.map(bytes));
  const tokens = model.calls.map(({ messages }) => messages.slice(1).reduce((sum, message) => sum + estimateTokens(message), 0));
  const isPrefix = (before: readonly string[], after: readonly string[]): boolean => before.every((line, index) => line === after[index]);
  const cuts = prompts.flatMap((prompt, index) => (index === 0 || isPrefix(prompts[index - 1] ?? [], prompt) ? [] : [index]));
  return { prompts, tokens, cuts, summaries: summarizer.calls.length };
}

describe('the prompt (K5)', () => {
  test.each([[false], [true]])(
    'begins with the same bytes from one summary to the next (stored between turns: %j)',
    async (storesBetween) => {
      const { cuts, summaries, prompts } = await talk(
        Array.from({ length: 60 }, () => 200),
        { storesBetween },
      );
      expect(cuts).toHaveLength(summaries);
      expect(summaries).toBeGreaterThan(3);
      expect(prompts.length).toBe(120);
    },
  );

  test('is cut at 80 % of the window, down to 40 %, so that a cut is rare', async () => {
    const { cuts, tokens } = await talk(Array.from({ length: 60 }, () => 200));
    const largest = Math.max(...tokens);
    // One turn is about 80 tokens, and a cut falls between turns.
    expect(largest).toBeLessThanOrEqual(0.8 * contextWindow + 80);
    expect(largest).toBeGreaterThan(0.75 * contextWindow);
    for (const cut of cuts) {
      expect(tokens[cut - 1]).toBeGreaterThan(0.75 * contextWindow);
      expect(tokens[cut]).toBeLessThan(0.45 * contextWindow);
    }
    const gaps = cuts.slice(1).map((cut, index) => cut - (cuts[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThan(15);
  });

  test('changes its beginning by a summary alone, and each summary takes in at least 40 % of the window, whatever is said', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 1500 }), { minLength: 1, maxLength: 40 }),
        fc.boolean(),
        async (sizes, storesBetween) => {
          const { cuts, summaries, tokens } = await talk(sizes, { storesBetween });
          expect(cuts).toHaveLength(summaries);
          for (const cut of cuts) expect(tokens[cut]).toBeLessThan((tokens[cut - 1] ?? 0) + 400);
          const said = sizes.reduce((sum, size) => sum + size / 4 + 40, 0);
          expect(summaries).toBeLessThanOrEqual(said / (0.4 * contextWindow));
        },
      ),
      { numRuns: 25 },
    );
  });
});
