import type { Json } from '../../lib/index.ts';
import { isRecord, toCanonical } from '../../lib/index.ts';
import type { ContentPart, FilePart, ImagePart } from '../../messages/index.ts';
import { textPart } from '../../messages/index.ts';
import type { ModelOutput } from '../../tools/index.ts';
import { toBase64 } from './base64.ts';

type Fields = Readonly<Record<string, unknown>>;

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function jsonOf(value: unknown): Json {
  const canonical = toCanonical(value, { maxBytes: Number.POSITIVE_INFINITY });
  return canonical.ok ? canonical.value : null;
}

// Ids may be given per provider; one of them is as good as another to keep.
function idOf(value: unknown): string {
  return isRecord(value) ? textOf(Object.values(value)[0]) : textOf(value);
}

interface Content {
  readonly data?: string;
  readonly url?: string;
  readonly id?: string;
}

function contentOf({ data, url, fileId, text }: Fields): Content {
  if (fileId !== undefined) return { id: idOf(fileId) };
  if (typeof url === 'string' || url instanceof URL) return { url: String(url) };
  if (typeof text === 'string') return { data: toBase64(new TextEncoder().encode(text)) };
  if (data instanceof URL) return { url: data.href };
  if (data instanceof Uint8Array) return { data: toBase64(data) };
  if (!isRecord(data)) return { data: textOf(data) };
  return data['reference'] === undefined ? contentOf(data) : { id: idOf(data['reference']) };
}

function filePart(item: Fields): FilePart | ImagePart {
  const { type, filename } = item;
  const isImage = textOf(type).startsWith('image');
  const mediaType = textOf(item['mediaType']) === '' ? (isImage ? 'image/*' : 'application/octet-stream') : textOf(item['mediaType']);
  const { data, url, id } = contentOf(item);
  const named = typeof filename === 'string' ? { filename } : {};
  if (id !== undefined) return { type: 'file', mediaType, id, ...named };
  const source = url === undefined ? { data: data ?? '' } : { url };
  return mediaType.startsWith('image') ? { type: 'image', mediaType, ...source } : { type: 'file', mediaType, ...source, ...named };
}

function contentPart(item: unknown): ContentPart {
  if (!isRecord(item)) return textPart('');
  return item['type'] === 'text' ? textPart(textOf(item['text'])) : filePart(item);
}

/** What an AI SDK tool shows to the model, in our words. */
export function toModelOutput(output: unknown): ModelOutput {
  if (!isRecord(output)) return jsonOf(output);
  const { type, value, reason } = output;
  switch (type) {
    case 'text':
    case 'error-text':
      return textOf(value);
    case 'execution-denied':
      return textOf(reason) === '' ? 'The call was rejected.' : textOf(reason);
    case 'content':
      return Array.isArray(value) ? value.map(contentPart) : [];
    default:
      return jsonOf(value);
  }
}
