// What a provider sends, put into the response builder. The AI SDK's unions grow with its patch releases, so nothing
// here is exhaustive: what is not known is kept as a part of its provider, and told as a warning (M9).
import type { Json, JsonObject } from '../../lib/index.ts';
import { isRecord, toCanonical } from '../../lib/index.ts';
import type { FilePart, ImagePart } from '../../messages/index.ts';
import type { ResponseBuilder } from '../index.ts';
import { toBase64 } from './base64.ts';

/** A part as it comes: it says its type, all else is to be looked at. */
export type RawPart = Readonly<Record<string, unknown>> & { readonly type: string };

/** Where parts go, and who sends them. */
export interface PartSink {
  readonly builder: ResponseBuilder;
  /** As the model names its provider. */
  readonly provider: string;
}

/** The words of a field; none where there are none. */
export function textOf(part: RawPart, key: string): string {
  const value = part[key];
  return typeof value === 'string' ? value : '';
}

function optionalText<Key extends string>(part: RawPart, key: Key): { readonly [Name in Key]?: string } {
  const value = part[key];
  // Holds: a computed key has the type of its name.
  return typeof value === 'string' ? ({ [key]: value } as { readonly [Name in Key]?: string }) : {};
}

/** What the provider wants to read again. */
export function metadataOf(part: RawPart): JsonObject | undefined {
  const value = part['providerMetadata'];
  // The builder brings it into canonical form, and warns where that cannot be done.
  return isRecord(value) ? (value as JsonObject) : undefined;
}

const extrasOf = (part: RawPart): { readonly providerMetadata?: JsonObject } => {
  const providerMetadata = metadataOf(part);
  return providerMetadata === undefined ? {} : { providerMetadata };
};

function jsonOf(value: unknown): Json {
  const canonical = toCanonical(value, { maxBytes: Number.POSITIVE_INFINITY });
  return canonical.ok ? canonical.value : null;
}

function takeCall(part: RawPart, { builder }: PartSink): void {
  builder.toolCall({
    id: textOf(part, 'toolCallId'),
    name: textOf(part, 'toolName'),
    input: part['input'],
    providerExecuted: part['providerExecuted'] === true,
    providerMetadata: metadataOf(part),
  });
}

function takeResult(part: RawPart, { builder }: PartSink): void {
  const value = jsonOf(part['result']);
  const error = typeof value === 'string' ? value : JSON.stringify(value);
  builder.toolResult({
    toolCallId: textOf(part, 'toolCallId'),
    toolName: textOf(part, 'toolName'),
    output: part['isError'] === true ? { type: 'error', value: error } : { type: 'json', value },
    providerExecuted: true,
    ...extrasOf(part),
  });
}

type FileData = { readonly data: string } | { readonly url: string };

// V4 wraps the data and says which kind it is, V3 gives it bare.
function fileDataOf(data: unknown): FileData | undefined {
  if (data instanceof URL) return { url: data.href };
  if (data instanceof Uint8Array) return { data: toBase64(data) };
  if (typeof data === 'string') return { data };
  if (!isRecord(data)) return undefined;
  const { url, originalUrl } = data;
  if (typeof url === 'string' || url instanceof URL) return { url: typeof originalUrl === 'string' ? originalUrl : String(url) };
  return fileDataOf(data['data']);
}

function takeFile(part: RawPart, sink: PartSink): void {
  const data = fileDataOf(part['data']);
  if (data === undefined) {
    takeUnknown(part, sink);
    return;
  }
  const mediaType = textOf(part, 'mediaType');
  const rest = { mediaType, ...data, ...extrasOf(part) };
  const file: FilePart | ImagePart = mediaType.startsWith('image/')
    ? { type: 'image', ...rest }
    : { type: 'file', ...rest, ...optionalText(part, 'filename') };
  sink.builder.part(file);
}

function takeSource(part: RawPart, { builder }: PartSink): void {
  builder.part({
    type: 'source',
    sourceType: part['sourceType'] === 'document' ? 'document' : 'url',
    id: textOf(part, 'id'),
    ...optionalText(part, 'url'),
    ...optionalText(part, 'title'),
    ...optionalText(part, 'mediaType'),
    ...optionalText(part, 'filename'),
    ...extrasOf(part),
  });
}

// Bytes and addresses are no JSON; everything else is kept as it came.
function opaque({ providerMetadata: _, ...part }: RawPart): Json {
  const data = fileDataOf(part['data']);
  if (data === undefined) return jsonOf(part);
  return jsonOf({ ...part, data: 'url' in data ? { type: 'url', url: data.url } : { type: 'data', data: data.data } });
}

function takeOpaque(part: RawPart, { builder, provider }: PartSink): void {
  builder.part({ type: 'provider', provider, data: opaque(part), ...extrasOf(part) });
}

// Anthropic begins each stream with one that only repeats who answers and what the prompt has cost.
function takeCustom(part: RawPart, sink: PartSink): void {
  if (part['kind'] !== 'anthropic.message_start') takeOpaque(part, sink);
  else sink.builder.alive();
}

function takeUnknown(part: RawPart, sink: PartSink): void {
  sink.builder.warn(`A part of the unknown type "${part.type}" came; it is kept as it is.`);
  takeOpaque(part, sink);
}

const takers: Readonly<Record<string, (part: RawPart, sink: PartSink) => void>> = {
  text: (part, { builder }) => {
    // Each stands alone: an id of its own keeps neighbours apart.
    builder.text(textOf(part, 'text'), 'text', metadataOf(part));
    builder.textEnd('text');
  },
  reasoning: (part, { builder }) => {
    builder.reasoning(textOf(part, 'text'), 'reasoning', metadataOf(part));
    builder.reasoningEnd('reasoning');
  },
  'tool-call': takeCall,
  'tool-result': takeResult,
  file: takeFile,
  source: takeSource,
  custom: takeCustom,
  'reasoning-file': takeOpaque,
  'tool-approval-request': takeOpaque,
};

/** True for what says its type. */
export function isRawPart(value: unknown): value is RawPart {
  return isRecord(value) && typeof value['type'] === 'string';
}

/** Takes one whole part of an answer. */
export function takePart(part: RawPart, sink: PartSink): void {
  const take = Object.hasOwn(takers, part.type) ? takers[part.type] : undefined;
  (take ?? takeUnknown)(part, sink);
}
