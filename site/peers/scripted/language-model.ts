// A model of the AI SDK that answers from a script. Mastra uses such models too.
import type { MockLanguageModelV4 as MockModel } from 'ai/test';
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test';
import type { Answer } from './answer.ts';

type Generated = Awaited<ReturnType<MockModel['doGenerate']>>;
type Streamed = Awaited<ReturnType<MockModel['doStream']>>;
type StreamPart = Streamed['stream'] extends ReadableStream<infer Part> ? Part : never;

const usage: Generated['usage'] = {
  inputTokens: { total: 40, noCache: 40, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 8, text: 8, reasoning: 0 },
};

const toContent = (answer: Answer): Generated['content'] =>
  typeof answer === 'string'
    ? [{ type: 'text', text: answer }]
    : [{ type: 'tool-call', toolCallId: answer.id, toolName: answer.name, input: JSON.stringify(answer.args) }];

const toFinishReason = (answer: Answer): Generated['finishReason'] =>
  typeof answer === 'string' ? { unified: 'stop', raw: 'stop' } : { unified: 'tool-calls', raw: 'tool_calls' };

const toStream = (answer: Answer): StreamPart[] => [
  { type: 'stream-start', warnings: [] },
  ...(typeof answer === 'string'
    ? ([
        { type: 'text-start', id: 't' },
        { type: 'text-delta', id: 't', delta: answer },
        { type: 'text-end', id: 't' },
      ] as const)
    : (toContent(answer) as StreamPart[])),
  { type: 'finish', usage, finishReason: toFinishReason(answer) },
];

/** Makes a model that gives one answer after the other. */
export function scriptedLanguageModel(answers: readonly Answer[]): MockModel {
  let index = 0;
  const next = (): Answer => answers[index++] ?? 'The script has ended.';
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const answer = next();
      return { content: toContent(answer), finishReason: toFinishReason(answer), usage, warnings: [] };
    },
    doStream: async () => ({ stream: convertArrayToReadableStream(toStream(next())) }),
  });
}
