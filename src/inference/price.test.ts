import { calcPrice } from '@pydantic/genai-prices';
import { describe, expect, test } from 'vitest';
import { InvalidArgumentError } from '../lib/index.ts';
import { Usage } from '../messages/index.ts';
import { pricesFrom, priceTable } from './price.ts';

const gpt = { provider: 'openai', modelId: 'gpt-5' };

describe('a table of prices', () => {
  const priceOf = priceTable({
    'openai/gpt-5': { inputPerMillion: 2, outputPerMillion: 10, cacheReadPerMillion: 0.5, cacheWritePerMillion: 3 },
    'openai/plain': { inputPerMillion: 1, outputPerMillion: 2 },
    'local/free': { inputPerMillion: 0, outputPerMillion: 0 },
  });

  test('counts input, output and what was cached, each at its price', () => {
    expect(priceOf(Usage.of({ input: 1_000_000, output: 100_000 }), gpt)).toStrictEqual({ usd: 3 });
    expect(priceOf(Usage.of({ input: 1_000_000, output: 0, cacheRead: 400_000, cacheWrite: 200_000 }), gpt)?.usd).toBeCloseTo(
      0.8 + 0.2 + 0.6,
    );
  });

  test('what was cached costs as much as other input where no other price is named', () => {
    expect(priceOf(Usage.of({ input: 1_000_000, output: 0, cacheRead: 500_000 }), { provider: 'openai', modelId: 'plain' })).toStrictEqual({
      usd: 1,
    });
  });

  test('reasoning is part of the output and not paid twice', () => {
    expect(priceOf(Usage.of({ input: 0, output: 100_000, reasoning: 90_000 }), gpt)).toStrictEqual({ usd: 1 });
  });

  test('more cached tokens than input do not make it cheaper', () => {
    expect(priceOf(Usage.of({ input: 10, output: 0, cacheRead: 1_000_000 }), gpt)).toStrictEqual({ usd: 0.5 });
  });

  test('unknown is not zero: an unknown model, an unknown usage', () => {
    const usage = Usage.of({ input: 1, output: 1 });
    expect(priceOf(usage, { provider: 'openai', modelId: 'gpt-6' })).toBeUndefined();
    expect(priceOf(usage, { provider: 'azure', modelId: 'gpt-5' })).toBeUndefined();
    expect(priceOf(Usage.add(usage, Usage.unknown()), gpt)).toBeUndefined();
    expect(priceOf(usage, { provider: 'local', modelId: 'free' })).toStrictEqual({ usd: 0 });
  });

  test('a provider that names its API is the provider', () => {
    expect(priceOf(Usage.of({ input: 1_000_000, output: 0 }), { provider: 'openai.responses', modelId: 'gpt-5' })).toStrictEqual({
      usd: 2,
    });
  });

  test('names like those of methods are no models', () => {
    expect(priceOf(Usage.none(), { provider: '__proto__', modelId: 'constructor' })).toBeUndefined();
  });

  test.each([Number.NaN, -1, Number.POSITIVE_INFINITY])('a price of %d is refused', (inputPerMillion) => {
    expect(() => priceTable({ 'a/b': { inputPerMillion, outputPerMillion: 1 } })).toThrow(InvalidArgumentError);
    expect(() => priceTable({ 'a/b': { inputPerMillion, outputPerMillion: 1 } })).toThrow('inputPerMillion of "a/b"');
  });
});

describe('prices of @pydantic/genai-prices', () => {
  const priceOf = pricesFrom(calcPrice);
  const at = Date.UTC(2026, 0, 1);

  test('are those of the package, cached tokens included', () => {
    const usage = Usage.of({ input: 1000, output: 100, cacheRead: 500 });
    const expected = calcPrice({ input_tokens: 1000, output_tokens: 100, cache_read_tokens: 500 }, 'gpt-5', {
      providerId: 'openai',
      timestamp: new Date(at),
    });
    expect(expected?.total_price).toBeGreaterThan(0);
    expect(priceOf(usage, { ...gpt, at })).toStrictEqual({ usd: expected?.total_price });
    expect(priceOf(usage, gpt)?.usd).toBeLessThan(priceOf(Usage.of({ input: 1000, output: 100 }), gpt)?.usd ?? 0);
  });

  test('find the provider behind the name of its API', () => {
    const usage = Usage.of({ input: 1000, output: 100 });
    expect(priceOf(usage, { provider: 'google.generative-ai', modelId: 'gemini-2.5-pro' })?.usd).toBeGreaterThan(0);
    expect(priceOf(usage, { provider: 'anthropic.messages', modelId: 'claude-sonnet-4-5' })?.usd).toBeGreaterThan(0);
  });

  test('are unknown for an unknown model, unknown usage and counts that contradict each other', () => {
    expect(priceOf(Usage.of({ input: 1, output: 1 }), { provider: 'openai', modelId: 'no-such-model' })).toBeUndefined();
    expect(priceOf(Usage.unknown(), gpt)).toBeUndefined();
    expect(priceOf(Usage.of({ input: 1, output: 1, cacheRead: 5 }), gpt)).toBeUndefined();
    expect(pricesFrom(() => ({ total_price: Number.NaN }))(Usage.none(), gpt)).toBeUndefined();
  });
});
