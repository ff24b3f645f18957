import { APICallError } from '@ai-sdk/provider';
import { describe, test } from 'vitest';
import type { StagedAnswer } from '../../testing/index.ts';
import { modelConformance } from '../../testing/index.ts';
import type { Model } from '../index.ts';
import { aiSdk } from './index.ts';

const finishes: Readonly<Record<string, string>> = {
  finished: 'stop',
  refused: 'content-filter',
  'breaks-off': 'interrupted',
  error: 'tool-calls',
};

function tooMany({ retryAfterMs = 0 }: StagedAnswer): APICallError {
  return new APICallError({
    message: 'Slow down.',
    url: 'x',
    requestBodyValues: {},
    statusCode: 429,
    responseHeaders: { 'retry-after-ms': String(retryAfterMs) },
  });
}

function toEnd({ ending, usage }: StagedAnswer): object {
  return {
    finishReason: { unified: finishes[ending] ?? 'stop', raw: undefined },
    usage: usage === undefined ? {} : { inputTokens: { total: usage.input }, outputTokens: { total: usage.output } },
  };
}

function toStream(staged: StagedAnswer): readonly object[] {
  const { text = [], calls = [], ending } = staged;
  const said = text.map((delta) => ({ type: 'text-delta', id: 't', delta }));
  const called = calls.flatMap(({ id, name, args }) => [
    { type: 'tool-input-start', id, toolName: name },
    { type: 'tool-input-delta', id, delta: args },
    { type: 'tool-input-end', id },
    { type: 'tool-call', toolCallId: id, toolName: name, input: args },
  ]);
  const error = ending === 'error' ? [{ type: 'error', error: new Error('in the middle') }] : [];
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: 't' },
    ...said,
    ...called,
    ...error,
    { type: 'finish', ...toEnd(staged) },
  ];
}

function stage(specificationVersion: 'v3' | 'v4') {
  return (staged: StagedAnswer): Model => {
    const { text = [], calls = [], ending } = staged;
    const answer = async (make: () => object): Promise<object> => {
      if (ending === 'never') return new Promise(() => {});
      if (ending === 'rate-limited') throw tooMany(staged);
      return make();
    };
    const content = [
      ...(text.length > 0 ? [{ type: 'text', text: text.join('') }] : []),
      ...calls.map(({ id, name, args }) => ({ type: 'tool-call', toolCallId: id, toolName: name, input: args })),
    ];
    const model = {
      specificationVersion,
      provider: 'fake.chat',
      modelId: 'fake',
      doGenerate: () =>
        answer(() => {
          if (ending === 'error') throw new Error('in the middle');
          return { content, warnings: [], ...toEnd(staged) };
        }),
      doStream: () => answer(() => ({ stream: ReadableStream.from(toStream(staged)) })),
    };
    return aiSdk(model as never);
  };
}

describe.each(['v3', 'v4'] as const)('an AI SDK model of %s', (version) => {
  test.each(modelConformance(stage(version)))('$name', async ({ run }) => {
    await run();
  });
});
