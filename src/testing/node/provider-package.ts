// The provider packages are loaded when one is needed: whoever replays a recording has the package of its provider installed.
import type { WireApi } from './wire-api.ts';

/** Address of a model. */
export interface ModelAddress {
  /** The provider's name in recordings: `openai`, `anthropic`, `google`, `groq`, `mistral`, `deepseek`, `xai`, `openai-compatible`. */
  readonly provider: string;
  readonly api: WireApi;
  readonly modelId: string;
  readonly baseURL: string;
}

/** Returns the model of the AI SDK package that speaks to this provider in this form. */
export async function connectModel({ provider, api, modelId, baseURL }: ModelAddress): Promise<object> {
  const settings = { apiKey: 'no-key-is-needed', baseURL };
  const chatProvider = api === 'openai-chat' ? provider : undefined;
  if (api === 'anthropic') return (await import('@ai-sdk/anthropic')).createAnthropic(settings)(modelId);
  if (api === 'google') return (await import('@ai-sdk/google')).createGoogle(settings)(modelId);
  if (api === 'openai-responses' && provider === 'xai') return (await import('@ai-sdk/xai')).createXai(settings)(modelId);
  if (chatProvider === 'groq') return (await import('@ai-sdk/groq')).createGroq(settings)(modelId);
  if (chatProvider === 'mistral') return (await import('@ai-sdk/mistral')).createMistral(settings)(modelId);
  if (chatProvider === 'deepseek') return (await import('@ai-sdk/deepseek')).createDeepSeek(settings)(modelId);
  if (chatProvider !== undefined && chatProvider !== 'openai') {
    // The package of xAI speaks in responses only; its chat is spoken as that of any compatible provider.
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    return createOpenAICompatible({ ...settings, name: provider, includeUsage: true }).chatModel(modelId);
  }
  const openai = (await import('@ai-sdk/openai')).createOpenAI(settings);
  if (api === 'openai-chat') return openai.chat(modelId);
  return api === 'openai-completion' ? openai.completion(modelId) : openai.responses(modelId);
}
