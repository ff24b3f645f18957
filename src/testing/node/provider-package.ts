// The provider packages are loaded when one is needed: whoever replays a recording has the package of its provider installed.
import type { WireApi } from './wire-api.ts';

/** Where a model is to be found. */
export interface ModelAddress {
  /** As recordings name it: `openai`, `anthropic`, `google`, `groq`, `mistral`, `deepseek`, `xai`, `openai-compatible`. */
  readonly provider: string;
  readonly api: WireApi;
  readonly modelId: string;
  readonly baseURL: string;
}

const apiKey = 'no-key-is-needed';

async function openAi({ api, modelId, baseURL }: ModelAddress): Promise<object> {
  const { createOpenAI } = await import('@ai-sdk/openai');
  const openai = createOpenAI({ apiKey, baseURL });
  if (api === 'openai-chat') return openai.chat(modelId);
  return api === 'openai-completion' ? openai.completion(modelId) : openai.responses(modelId);
}

async function compatible({ provider, modelId, baseURL }: ModelAddress): Promise<object> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return createOpenAICompatible({ name: provider, apiKey, baseURL, includeUsage: true }).chatModel(modelId);
}

async function anthropic({ modelId, baseURL }: ModelAddress): Promise<object> {
  const { createAnthropic } = await import('@ai-sdk/anthropic');
  return createAnthropic({ apiKey, baseURL })(modelId);
}

async function google({ modelId, baseURL }: ModelAddress): Promise<object> {
  const { createGoogle } = await import('@ai-sdk/google');
  return createGoogle({ apiKey, baseURL })(modelId);
}

async function groq({ modelId, baseURL }: ModelAddress): Promise<object> {
  const { createGroq } = await import('@ai-sdk/groq');
  return createGroq({ apiKey, baseURL })(modelId);
}

async function mistral({ modelId, baseURL }: ModelAddress): Promise<object> {
  const { createMistral } = await import('@ai-sdk/mistral');
  return createMistral({ apiKey, baseURL })(modelId);
}

async function deepSeek({ modelId, baseURL }: ModelAddress): Promise<object> {
  const { createDeepSeek } = await import('@ai-sdk/deepseek');
  return createDeepSeek({ apiKey, baseURL })(modelId);
}

async function xai({ modelId, baseURL }: ModelAddress): Promise<object> {
  const { createXai } = await import('@ai-sdk/xai');
  return createXai({ apiKey, baseURL })(modelId);
}

const ownChat: Readonly<Record<string, (address: ModelAddress) => Promise<object>>> = { openai: openAi, groq, mistral, deepseek: deepSeek };

/** The model of the AI SDK package that speaks to this provider in this form. */
export async function connectModel(address: ModelAddress): Promise<object> {
  const { provider, api } = address;
  switch (api) {
    case 'anthropic':
      return anthropic(address);
    case 'google':
      return google(address);
    case 'openai-responses':
      return provider === 'xai' ? xai(address) : openAi(address);
    case 'openai-completion':
      return openAi(address);
    case 'openai-chat':
      // The package of xAI speaks in responses only; its chat is spoken as that of any compatible provider.
      return ((Object.hasOwn(ownChat, provider) ? ownChat[provider] : undefined) ?? compatible)(address);
    default:
      return openAi(address);
  }
}
