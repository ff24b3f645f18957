// A model of the AI SDK that plays a script. It keeps no state: it finds its place by the results that it is sent.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { Script } from './contender.ts';
import { piece, readStep, toCallId } from './contender.ts';

const usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 20, text: 20, reasoning: 0 },
};

function findStep({ prompt }: LanguageModelV4CallOptions): number {
  const part = prompt.at(-1)?.content.at(-1);
  return readStep(typeof part === 'object' && part.type === 'tool-result' ? part.toolCallId : undefined);
}

const toFinishReason = (isLast: boolean): LanguageModelV4FinishReason => ({ unified: isLast ? 'stop' : 'tool-calls', raw: undefined });

function toCalls(step: number, count: number): Extract<LanguageModelV4Content, { type: 'tool-call' }>[] {
  return Array.from({ length: count }, (_, index) => ({
    type: 'tool-call',
    toolCallId: toCallId(step, index),
    toolName: 'look',
    input: `{"id":${step}}`,
  }));
}

/** Parts of a streamed text, made once. */
function createTextParts(deltas: number): readonly LanguageModelV4StreamPart[] {
  return [
    { type: 'text-start', id: '1' },
    ...Array.from({ length: deltas }, (): LanguageModelV4StreamPart => ({ type: 'text-delta', id: '1', delta: piece })),
    { type: 'text-end', id: '1' },
  ];
}

const toStream = (parts: readonly LanguageModelV4StreamPart[]): ReadableStream<LanguageModelV4StreamPart> =>
  new ReadableStream({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });

/** Creates a model that calls the tool until the last step, and then answers. */
export function createLanguageModel({ steps, calls, deltas, tally, onRequest }: Script): LanguageModelV4 {
  const textParts = createTextParts(deltas);
  const text = piece.repeat(deltas);
  const takeRequest = (options: LanguageModelV4CallOptions): number => {
    tally.requests += 1;
    onRequest?.(options.prompt, options.tools);
    return findStep(options);
  };
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'bench',
    supportedUrls: {},
    doGenerate: (options) => {
      const step = takeRequest(options);
      const isLast = step >= steps;
      const content: LanguageModelV4Content[] = isLast ? [{ type: 'text', text }] : toCalls(step, calls);
      return Promise.resolve({ content, finishReason: toFinishReason(isLast), usage, warnings: [] });
    },
    doStream: (options) => {
      const step = takeRequest(options);
      const isLast = step >= steps;
      const parts: LanguageModelV4StreamPart[] = [
        { type: 'stream-start', warnings: [] },
        ...(isLast ? textParts : toCalls(step, calls)),
        { type: 'finish', finishReason: toFinishReason(isLast), usage },
      ];
      return Promise.resolve({ stream: toStream(parts) });
    },
  };
}
