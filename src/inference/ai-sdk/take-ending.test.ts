import { describe, expect, it } from 'vitest';
import { driveRecording } from '../../../tests/support/recordings/drive-recording.ts';
import type { UsageCounts } from '../../messages/index.ts';
import { aiSdk } from './index.ts';
import { readUsage } from './take-ending.ts';

const nothing = { input: undefined, output: undefined, cacheRead: undefined, cacheWrite: undefined, reasoning: undefined };
const zeros = { inputTokens: { total: 0, noCache: 0, cacheRead: 0 }, outputTokens: { total: 0, text: 0, reasoning: 0 } };
const inputOnly = { ...zeros, inputTokens: { total: 9, noCache: 9, cacheRead: 0 } };

describe('readUsage', () => {
  it.each([
    ['an empty report', { ...zeros, raw: {} }, nothing],
    ['a report without the output', { ...inputOnly, raw: { promptTokenCount: 9 } }, { ...nothing, input: 9, cacheRead: 0 }],
    ['a report of null', { ...inputOnly, raw: { prompt_tokens: 9, completion_tokens: null } }, { ...nothing, input: 9, cacheRead: 0 }],
    ['a total alone', { ...zeros, raw: { totalTokenCount: 9 } }, nothing],
  ])('takes what %s leaves out for unknown', (_, usage, expected) => {
    expect(readUsage(usage)).toEqual(expected);
  });

  it.each([
    ['was sent', { promptTokenCount: 0, candidatesTokenCount: 0 }],
    ['comes from a report in unfamiliar words', { tokens_in: 0 }],
    ['comes without a report', undefined],
  ])('keeps a zero that %s', (_, raw) => {
    expect(readUsage({ ...zeros, raw })).toEqual({ input: 0, output: 0, cacheRead: 0, cacheWrite: undefined, reasoning: 0 });
  });

  it('counts thinking as output where nothing was said', () => {
    const usage = { ...inputOnly, outputTokens: { total: 4, text: 0, reasoning: 4 }, raw: { promptTokenCount: 9, thoughtsTokenCount: 4 } };
    expect(readUsage(usage)).toMatchObject({ input: 9, output: 4, reasoning: 4 });
  });
});

const told: readonly (readonly [string, object | undefined, Partial<UsageCounts>])[] = [
  ['nothing', undefined, { input: 0, output: 0, unknownCalls: 1 }],
  ['an empty report', {}, { input: 0, output: 0, unknownCalls: 1 }],
  ['the input alone', { promptTokenCount: 9, totalTokenCount: 9 }, { input: 9, output: 0, unknownCalls: 1 }],
  ['both', { promptTokenCount: 9, candidatesTokenCount: 2, totalTokenCount: 11 }, { input: 9, output: 2 }],
];

describe('the usage of an answer of Google', () => {
  it.each(told)('that tells %s', async (_, usageMetadata, expected) => {
    const candidates = [{ content: { role: 'model', parts: [{ text: 'Hi.' }] }, finishReason: 'STOP' }];
    const body = { candidates, ...(usageMetadata !== undefined && { usageMetadata }) };
    const answers = [
      { status: 200, headers: { 'content-type': 'application/json' }, body },
      { status: 200, headers: { 'content-type': 'text/event-stream' }, body: `data: ${JSON.stringify(body)}\n\n` },
    ];
    const calls = await driveRecording(
      { name: 'made-up', provider: 'google', interactions: answers.map((response) => ({ response })) },
      aiSdk,
    );
    expect(calls).toHaveLength(2);
    for (const { outcome } of calls) {
      const usage = outcome.ok ? outcome.response.usage : undefined;
      expect(usage).toMatchObject(expected);
      expect(usage?.unknownCalls).toBe(expected.unknownCalls);
    }
  });
});
