// A model of Stepline's own port that plays a script.
import type { Message, Model } from 'stepline';
import { Usage } from 'stepline';
import type { ModelOutcome } from 'stepline/inference';
import type { Script } from './contender.ts';
import { piece, readStep, toCallId } from './contender.ts';

const usage = Usage.of({ input: 100, output: 20 });

function findStep(messages: readonly Message[]): number {
  const part = messages.at(-1)?.parts.at(-1);
  return readStep(part?.type === 'tool-result' ? part.toolCallId : undefined);
}

/** Creates a model that calls the tool until the last step, and then answers. */
export function createOwnModel({ steps, calls, deltas, tally, onRequest }: Script): Model {
  const text = piece.repeat(deltas);
  const answer = (step: number): ModelOutcome => {
    const parts =
      step >= steps
        ? [{ type: 'text' as const, text }]
        : Array.from({ length: calls }, (_, index) => ({
            type: 'tool-call' as const,
            toolCallId: toCallId(step, index),
            toolName: 'look',
            args: { id: step },
          }));
    return { ok: true, response: { parts, usage, finishReason: step >= steps ? 'stop' : 'tool_calls' } };
  };
  const takeRequest = (messages: readonly Message[], tools: unknown): number => {
    tally.requests += 1;
    onRequest?.(messages, tools);
    return findStep(messages);
  };
  return {
    provider: 'bench',
    modelId: 'bench',
    generate: ({ messages, tools }) => Promise.resolve(answer(takeRequest(messages, tools))),
    stream: ({ messages, tools }, onDelta) => {
      const step = takeRequest(messages, tools);
      if (step >= steps) for (let index = 0; index < deltas; index += 1) onDelta({ type: 'text', text: piece });
      return Promise.resolve(answer(step));
    },
  };
}

/** Creates the model that writes the summaries of a compacted conversation. */
export function createSummarizer(): Model {
  const outcome: ModelOutcome = { ok: true, response: { parts: [{ type: 'text', text: 'All was found.' }], usage, finishReason: 'stop' } };
  return { provider: 'bench', modelId: 'summaries', generate: () => Promise.resolve(outcome), stream: () => Promise.resolve(outcome) };
}
