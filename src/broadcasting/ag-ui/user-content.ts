// What a person wrote.
import { describeValue, InvalidArgumentError, isRecord } from '../../lib/index.ts';
import type { Attachment, ContentPart } from '../../messages/index.ts';
import { findAttachmentProblem, textPart, toLeftOutText } from '../../messages/index.ts';

const mediaTypes: Readonly<Record<string, string>> = {
  image: 'image/*',
  audio: 'audio/*',
  video: 'video/*',
  document: 'application/octet-stream',
};

/** Reads a part; none if it cannot be used: the protocol does not let a run fail because of that. */
function readPart(part: Readonly<Record<string, unknown>>): readonly ContentPart[] {
  const { type, text, source } = part;
  if (type === 'text') return typeof text === 'string' && text !== '' ? [textPart(text)] : [];
  const otherwise = typeof type === 'string' ? mediaTypes[type] : undefined;
  if (otherwise === undefined || !isRecord(source)) return [];
  const { type: kind, value, mimeType } = source;
  if (typeof value !== 'string' || value === '') return [];
  const mediaType = typeof mimeType === 'string' && mimeType !== '' ? mimeType : otherwise;
  if (kind === 'file') return [toReadable({ type: 'file', id: value, mediaType })];
  const place = kind === 'data' ? { data: value } : kind === 'url' ? { url: value } : undefined;
  if (place === undefined) return [];
  if (type === 'image') return [toReadable({ type: 'image', ...place, ...(mediaType !== otherwise && { mediaType }) })];
  return [toReadable({ type: 'file', ...place, mediaType })];
}

// The model is told that something was sent which it cannot read.
function toReadable(part: Attachment): ContentPart {
  const problem = findAttachmentProblem(part);
  return problem === undefined ? part : textPart(toLeftOutText(part, `its ${problem.field} is not ${problem.expected}`));
}

/** Reads the content of a message: a text, or parts. Parts that cannot be used are left out. */
export function readUserContent(content: unknown): string | readonly ContentPart[] {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.flatMap((part: unknown) => (isRecord(part) ? readPart(part) : []));
  throw new InvalidArgumentError(`The content of a message must be a text or a list of parts, not ${describeValue(content)}.`);
}
