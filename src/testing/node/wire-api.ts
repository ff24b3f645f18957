import { isRecord } from '../../lib/index.ts';
import type { RecordedResponse } from './recorded-response.ts';
import { parseLine } from './recorded-response.ts';
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

function findApiByShape(value: unknown): WireApi | undefined {
  if (!isRecord(value)) return undefined;
  const { object, type } = value;
  if (object === 'response' || (typeof type === 'string' && type.startsWith('response.'))) return WireApi.OpenAiResponses;
  if (typeof object === 'string' && object.startsWith('chat.completion')) return WireApi.OpenAiChat;
  if (object === 'text_completion') return WireApi.OpenAiCompletion;
  if ('candidates' in value || 'promptFeedback' in value) return WireApi.Google;
  return type === 'message' || type === 'message_start' ? WireApi.Anthropic : undefined;
}

const findData = (text: string): readonly string[] =>
  text.split(/\r?\n/).flatMap((line) => (line.startsWith('data:') ? [line.slice(5)] : []));

/** Returns the events of an event stream's text that are JSON. */
export const parseEvents = (text: string): readonly unknown[] =>
  findData(text)
    .map(parseLine)
    .filter((event) => event !== undefined);

/** True if a stream holds an event that is not JSON: it was damaged before it was recorded. */
export const isCorrupt = (text: string): boolean =>
  findData(text).some((line) => line.trim() !== '[DONE]' && parseLine(line) === undefined);

/** Looks through the first events of an answer, or the one body that it is. */
export function findInAnswer<Found>({ body }: RecordedResponse, find: (value: unknown) => Found | undefined): Found | undefined {
  const samples = typeof body === 'string' ? parseEvents(body).slice(0, 3) : [body];
  return samples.map(find).find((found) => found !== undefined);
}

function findApi({ request, response }: Interaction): WireApi | undefined {
  if (request === undefined) return findInAnswer(response, findApiByShape);
  return byPath.find(([pattern]) => pattern.test(request.path))?.[1];
}

const usual: ReadonlyMap<string, WireApi> = new Map([
  ['openai', WireApi.OpenAiResponses],
  ['anthropic', WireApi.Anthropic],
  ['google', WireApi.Google],
]);

/** Returns the form in which the provider of a recording was spoken to: by the path of its requests, else by the shape of its answers. */
export function detectWireApi({ provider, interactions }: Recording): WireApi {
  // An error alone has no shape of its own.
  return interactions.map(findApi).find((api) => api !== undefined) ?? usual.get(provider) ?? WireApi.OpenAiChat;
}
