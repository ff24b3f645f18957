// Text and files of a person's message, as a page sends them.
import { describeValue, InvalidArgumentError, isRecord } from '../../../lib/index.ts';
import type { ContentPart } from '../../../messages/index.ts';
import { readFileContent, toFile } from './file-data.ts';

function toFilePart(part: Readonly<Record<string, unknown>>): ContentPart {
  const { url, mediaType, filename } = part;
  if (typeof url !== 'string' || typeof mediaType !== 'string')
    throw new InvalidArgumentError(`A file needs url and mediaType, not ${describeValue(part)}.`);
  const content = /^(?:https?|data):/.test(url) ? readFileContent(url) : undefined;
  if (content === undefined || ('url' in content && content.url.startsWith('data:')))
    throw new InvalidArgumentError(`A file needs an address or a data URL with base64, not ${describeValue(url)}.`);
  return toFile(content, { mediaType, filename: typeof filename === 'string' ? filename : undefined }, {});
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
