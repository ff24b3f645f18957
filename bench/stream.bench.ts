// Cost of a streamed piece of text on its way through the AI SDK adapter, over reading the same stream by hand.
import { Message } from 'stepline';
import { aiSdk } from 'stepline/ai-sdk';
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Contender } from './measure.ts';

const pieces = 2000;
const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: pieces, text: pieces, reasoning: undefined },
};

function parts(): readonly LanguageModelV4StreamPart[] {
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: '1' },
    ...Array.from({ length: pieces }, (): LanguageModelV4StreamPart => ({ type: 'text-delta', id: '1', delta: 'some words ' })),
    { type: 'text-end', id: '1' },
    { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage },
  ];
}

const source = parts();
const createStream = (): ReadableStream<LanguageModelV4StreamPart> =>
  new ReadableStream({
    start: (controller) => {
      for (const part of source) controller.enqueue(part);
      controller.close();
    },
  });

const model: LanguageModelV4 = {
  specificationVersion: 'v4',
  provider: 'bench',
  modelId: 'bench',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('The bench streams.')),
  doStream: () => Promise.resolve({ stream: createStream() }),
};

const keepFromBeingOptimisedAway = { characters: 0 };

export const throughAdapter: Contender = {
  name: 'a delta through aiSdk()',
  units: pieces,
  work: async () => {
    const outcome = await aiSdk(model).stream({ messages: [Message.user('Go.')] }, (delta) => {
      if (delta.type === 'text') keepFromBeingOptimisedAway.characters += delta.text.length;
    });
    if (!outcome.ok) throw new Error(`The bench failed: ${outcome.failure.message}`);
  },
};

export const readByHand: Contender = {
  name: 'a delta read by hand',
  units: pieces,
  work: async () => {
    const reader = createStream().getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (next.value.type === 'text-delta') keepFromBeingOptimisedAway.characters += next.value.delta.length;
    }
  },
};
