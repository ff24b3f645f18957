import { isRecord } from '../../lib/index.ts';
import type { Interaction, Recording } from './recording.ts';

/** The forms in which providers are spoken to. */
export const WireApi = {
  OpenAiResponses: 'openai-responses',
  OpenAiChat: 'openai-chat',
  OpenAiCompletion: 'openai-completion',
  Anthropic: 'anthropic',
  Google: 'google',
} as const;
export type WireApi = (typeof WireApi)[keyof typeof WireApi];

const byPath: readonly (readonly [RegExp, WireApi])[] = [
  [/\/responses\b/, WireApi.OpenAiResponses],
  [/\/chat\/completions\b/, WireApi.OpenAiChat],
  [/\/completions\b/, WireApi.OpenAiCompletion],
  [/\/messages\b/, WireApi.Anthropic],
  [/:(stream)?generatecontent\b/i, WireApi.Google],
];

function apiOfShape(value: unknown): WireApi | undefined {
  if (!isRecord(value)) return undefined;
  const { object, type } = value;
  if (object === 'response' || (typeof type === 'string' && type.startsWith('response.'))) return WireApi.OpenAiResponses;
  if (typeof object === 'string' && object.startsWith('chat.completion')) return WireApi.OpenAiChat;
  if (object === 'text_completion') return WireApi.OpenAiCompletion;
  if ('candidates' in value || 'promptFeedback' in value) return WireApi.Google;
  if (type === 'message' || type === 'message_start') return WireApi.Anthropic;
  return undefined;
}

/** The events of an event stream's text, as far as they are JSON. */
export function eventsIn(text: string): readonly unknown[] {
  return text.split(/\r?\n/).flatMap((line) => {
    if (!line.startsWith('data:')) return [];
    try {
      const event: unknown = JSON.parse(line.slice(5));
      return [event];
    } catch {
      return [];
    }
  });
}

/** True where a stream holds an event that is no JSON: it was damaged before it came to us. */
export function isCorrupt(text: string): boolean {
  const lines = text.split(/\r?\n/).filter((line) => line.startsWith('data:') && line.slice(5).trim() !== '[DONE]');
  return eventsIn(text).length < lines.length;
}

function apiOfInteraction({ request, response }: Interaction): WireApi | undefined {
  const path = request?.path;
  if (path !== undefined) return byPath.find(([pattern]) => pattern.test(path))?.[1];
  const samples = typeof response.body === 'string' ? eventsIn(response.body).slice(0, 3) : [response.body];
  for (const sample of samples) {
    const api = apiOfShape(sample);
    if (api !== undefined) return api;
  }
  return undefined;
}

const usual: Readonly<Record<string, WireApi>> = {
  openai: WireApi.OpenAiResponses,
  anthropic: WireApi.Anthropic,
  google: WireApi.Google,
};

/** How the provider of a recording was spoken to: by the path of its requests, else by the shape of its answers. */
export function wireApiOf({ provider, interactions }: Recording): WireApi {
  for (const interaction of interactions) {
    const api = apiOfInteraction(interaction);
    if (api !== undefined) return api;
  }
  // An error alone has no shape of its own.
  return (Object.hasOwn(usual, provider) ? usual[provider] : undefined) ?? WireApi.OpenAiChat;
}
