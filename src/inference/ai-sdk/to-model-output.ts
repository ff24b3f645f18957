import { isRecord, omitUndefined } from '../../lib/index.ts';
import type { ContentPart, FilePart, ImagePart } from '../../messages/index.ts';
import { textPart } from '../../messages/index.ts';
import type { ModelOutput } from '../../tools/index.ts';
import { toBase64 } from './base64.ts';
import type { Fields } from './fields.ts';
import { getText, readText, toList } from './fields.ts';
import { toJson } from './take-part.ts';

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

// Ids may be given per provider; one of them is as good as another to keep.
function readId(value: unknown): string {
  return isRecord(value) ? toText(Object.values(value)[0]) : toText(value);
}

interface Content {
  readonly data?: string;
  readonly url?: string;
  readonly id?: string;
}

function readContent({ data, url, fileId, text }: Fields): Content {
  if (fileId !== undefined) return { id: readId(fileId) };
  if (typeof url === 'string' || url instanceof URL) return { url: String(url) };
  if (typeof text === 'string') return { data: toBase64(new TextEncoder().encode(text)) };
  if (data instanceof URL) return { url: data.href };
  if (data instanceof Uint8Array) return { data: toBase64(data) };
  if (!isRecord(data)) return { data: toText(data) };
  return data['reference'] === undefined ? readContent(data) : { id: readId(data['reference']) };
}

function toFilePart(item: Fields): FilePart | ImagePart {
  const fallback = getText(item, 'type').startsWith('image') ? 'image/*' : 'application/octet-stream';
  const mediaType = getText(item, 'mediaType') || fallback;
  const { data, url, id } = readContent(item);
  const named = omitUndefined({ filename: readText(item, 'filename') });
  if (id !== undefined) return { type: 'file', mediaType, id, ...named };
  const source = url === undefined ? { data: data ?? '' } : { url };
  return mediaType.startsWith('image') ? { type: 'image', mediaType, ...source } : { type: 'file', mediaType, ...source, ...named };
}

function toContentPart(item: unknown): ContentPart {
  if (!isRecord(item)) return textPart('');
  return item['type'] === 'text' ? textPart(getText(item, 'text')) : toFilePart(item);
}

/** Reads what an AI SDK tool shows to the model. */
export function toModelOutput(output: unknown): ModelOutput {
  if (!isRecord(output)) return toJson(output);
  const { type, value, reason } = output;
  switch (type) {
    case 'text':
    case 'error-text':
      return toText(value);
    case 'execution-denied':
      return toText(reason) || 'The call was rejected.';
    case 'content':
      return toList(value).map(toContentPart);
    default:
      return toJson(value);
  }
}
