// A run in the place of a language model: the AI SDK's loop asks it, and gets the next step.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { FollowedRun } from './followed-run.ts';

function toStream(parts: AsyncGenerator<LanguageModelV4StreamPart, void, undefined>): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream({
    pull: async (controller) => {
      const next = await parts.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    // The run goes on: only a signal ends it.
    cancel: () => void parts.return(),
  });
}

async function collect(parts: AsyncGenerator<LanguageModelV4StreamPart, void, undefined>): Promise<LanguageModelV4GenerateResult> {
  const content: LanguageModelV4Content[] = [];
  const texts = new Map<string, { type: 'text' | 'reasoning'; text: string }>();
  for await (const part of parts) {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start': {
        const said: { type: 'text' | 'reasoning'; text: string } = { type: part.type === 'text-start' ? 'text' : 'reasoning', text: '' };
        texts.set(part.id, said);
        content.push(said);
        break;
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const said = texts.get(part.id);
        if (said !== undefined) said.text += part.delta;
        break;
      }
      case 'tool-call':
      case 'tool-result':
        content.push(part);
        break;
      case 'error':
        throw part.error;
      case 'finish': {
        const { finishReason, usage, providerMetadata } = part;
        return { content, finishReason, usage, warnings: [], ...(providerMetadata !== undefined && { providerMetadata }) };
      }
      default:
    }
  }
  throw new TypeError('The run ended without an end.');
}

/** Creates a model whose answers are the steps of a run. */
export function createRunLanguageModel(id: string, run: FollowedRun): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'stepline',
    modelId: id,
    // The agent's own model says what it can read.
    supportedUrls: { '*/*': [/.*/] },
    doStream: async (options: LanguageModelV4CallOptions) => ({ stream: toStream(run.readStep(options)) }),
    doGenerate: (options: LanguageModelV4CallOptions) => collect(run.readStep(options)),
  };
}
