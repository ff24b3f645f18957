// Puts what a provider sends into the response builder. The AI SDK's unions grow with its patch releases, so nothing
// here is exhaustive: an unknown part is kept as a part of its provider, with a warning (M9).
import type { Json, JsonObject } from '../../lib/index.ts';
import { isRecord, omitUndefined, toCanonical } from '../../lib/index.ts';
import type { FilePart, ImagePart, PartExtras } from '../../messages/index.ts';
import type { ResponseBuilder } from '../index.ts';
import { toBase64 } from './base64.ts';
import type { Fields } from './fields.ts';
import { getText, readText } from './fields.ts';

/** A part as it comes: its type is known, all else is to be looked at. */
export type RawPart = Fields & { readonly type: string };

/** The builder that takes the parts, and the provider that sends them. */
export interface PartSink {
  readonly builder: ResponseBuilder;
  /** As the model names its provider. */
  readonly provider: string;
}

/** Returns what the provider wants to read again. */
export function getMetadata({ providerMetadata }: Fields): JsonObject | undefined {
  // Holds: the builder brings it into canonical form, and warns if that cannot be done.
  return isRecord(providerMetadata) ? (providerMetadata as JsonObject) : undefined;
}

const getExtras = (part: RawPart): PartExtras => omitUndefined({ providerMetadata: getMetadata(part) });

/** Reads a value as JSON; null if it cannot be kept. */
export function toJson(value: unknown): Json {
  const canonical = toCanonical(value, { maxBytes: Number.POSITIVE_INFINITY });
  return canonical.ok ? canonical.value : null;
}

function takeCall(part: RawPart, { builder }: PartSink): void {
  builder.toolCall({
    id: getText(part, 'toolCallId'),
    name: getText(part, 'toolName'),
    input: part['input'],
    providerExecuted: part['providerExecuted'] === true,
    providerMetadata: getMetadata(part),
  });
}

function takeResult(part: RawPart, { builder }: PartSink): void {
  const value = toJson(part['result']);
  const error = typeof value === 'string' ? value : JSON.stringify(value);
  builder.toolResult({
    toolCallId: getText(part, 'toolCallId'),
    toolName: getText(part, 'toolName'),
    output: part['isError'] === true ? { type: 'error', value: error } : { type: 'json', value },
    providerExecuted: true,
    ...getExtras(part),
  });
}

type FileData = { readonly data: string } | { readonly url: string };

// V4 wraps the data and says which kind it is, V3 gives it bare.
function readFileData(data: unknown): FileData | undefined {
  if (data instanceof URL) return { url: data.href };
  if (data instanceof Uint8Array) return { data: toBase64(data) };
  if (typeof data === 'string') return { data };
  if (!isRecord(data)) return undefined;
  const { url, originalUrl } = data;
  if (typeof url === 'string' || url instanceof URL) return { url: typeof originalUrl === 'string' ? originalUrl : String(url) };
  return readFileData(data['data']);
}

function takeFile(part: RawPart, sink: PartSink): void {
  const data = readFileData(part['data']);
  if (data === undefined) {
    takeUnknown(part, sink);
    return;
  }
  const mediaType = getText(part, 'mediaType');
  const rest = { mediaType, ...data, ...getExtras(part) };
  const file: FilePart | ImagePart = mediaType.startsWith('image/')
    ? { type: 'image', ...rest }
    : { type: 'file', ...rest, ...omitUndefined({ filename: readText(part, 'filename') }) };
  sink.builder.part(file);
}

function takeSource(part: RawPart, { builder }: PartSink): void {
  builder.part({
    type: 'source',
    sourceType: part['sourceType'] === 'document' ? 'document' : 'url',
    id: getText(part, 'id'),
    ...omitUndefined({
      url: readText(part, 'url'),
      title: readText(part, 'title'),
      mediaType: readText(part, 'mediaType'),
      filename: readText(part, 'filename'),
    }),
    ...getExtras(part),
  });
}

// Bytes and addresses are not JSON; everything else is kept as it came.
function toOpaque({ providerMetadata: _, ...part }: RawPart): Json {
  const data = readFileData(part['data']);
  if (data === undefined) return toJson(part);
  return toJson({ ...part, data: 'url' in data ? { type: 'url', url: data.url } : { type: 'data', data: data.data } });
}

/** Keeps a part as one of its provider, which only that provider reads again. */
export function takeOpaque(part: RawPart, { builder, provider }: PartSink): void {
  builder.part({ type: 'provider', provider, data: toOpaque(part), ...getExtras(part) });
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

/** True for text that sums up the conversation for its provider (Anthropic's compaction): it is not part of the answer. */
export function isSummary({ providerMetadata }: RawPart): boolean {
  return isRecord(providerMetadata) && Object.values(providerMetadata).some((each) => isRecord(each) && each['type'] === 'compaction');
}

function takeText(part: RawPart, sink: PartSink): void {
  if (isSummary(part)) {
    takeOpaque(part, sink);
    return;
  }
  // Each stands alone: an id of its own keeps neighbours apart.
  sink.builder.text(getText(part, 'text'), 'text', getMetadata(part));
  sink.builder.textEnd('text');
}

const takers: Readonly<Record<string, (part: RawPart, sink: PartSink) => void>> = {
  text: takeText,
  reasoning: (part, { builder }) => {
    builder.reasoning(getText(part, 'text'), 'reasoning', getMetadata(part));
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

/** True for a value with a type. */
export function isRawPart(value: unknown): value is RawPart {
  return isRecord(value) && typeof value['type'] === 'string';
}

/** Takes one whole part of an answer. */
export function takePart(part: RawPart, sink: PartSink): void {
  const take = Object.hasOwn(takers, part.type) ? takers[part.type] : undefined;
  (take ?? takeUnknown)(part, sink);
}
