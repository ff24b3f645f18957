// Text and files of a person's message.
import { describeValue, InvalidArgumentError, isRecord } from '../../../lib/index.ts';
import type { ContentPart } from '../../../messages/index.ts';

/** The media type and the base64 data of a data URL; undefined if it is another address. */
export function readDataUrl(url: string): { readonly mediaType: string; readonly data: string } | undefined {
  const found = /^data:([^;,]*)(?:;[^;,]*)*;base64,([A-Za-z0-9+/=_-]*)$/.exec(url);
  return found === null ? undefined : { mediaType: found[1] ?? '', data: found[2] ?? '' };
}

function toFilePart(part: Readonly<Record<string, unknown>>): ContentPart {
  const { url, mediaType, filename } = part;
  if (typeof url !== 'string' || typeof mediaType !== 'string')
    throw new InvalidArgumentError(`A file needs url and mediaType, not ${describeValue(part)}.`);
  const data = readDataUrl(url);
  if (data === undefined && !/^https?:/.test(url))
    throw new InvalidArgumentError(`A file needs an address or a data URL with base64, not ${describeValue(url)}.`);
  const content = data === undefined ? { url } : { data: data.data };
  if (mediaType.startsWith('image')) return { type: 'image', mediaType, ...content };
  return { type: 'file', mediaType, ...content, ...(typeof filename === 'string' && { filename }) };
}

/** Reads the parts of a person's UI message. Throws if nothing of it can be sent to a model. */
export function toContentParts(parts: readonly unknown[]): readonly ContentPart[] {
  const content = parts.flatMap((part): readonly ContentPart[] => {
    if (!isRecord(part)) return [];
    if (part['type'] === 'file') return [toFilePart(part)];
    return part['type'] === 'text' && typeof part['text'] === 'string' ? [{ type: 'text', text: part['text'] }] : [];
  });
  if (content.length > 0) return content;
  throw new InvalidArgumentError('A message needs text or a file. Send { "parts": [{ "type": "text", "text": "Hello" }] }, for example.');
}
