// Pictures and files in the forms that the AI SDK has for them.
import { isRecord } from '../../../lib/index.ts';
import type { FilePart, ImagePart, PartExtras } from '../../../messages/index.ts';

/** Content of a file: its bytes as base64, or its address. Undefined for a file that only its provider can read. */
type FileContent = { readonly data: string } | { readonly url: string } | undefined;

const piece = 0x8000;

/** Bytes as base64 text. */
function toBase64(bytes: Uint8Array): string {
  let binary = '';
  // In pieces: so many arguments at once would overflow the stack.
  for (let start = 0; start < bytes.length; start += piece) binary += String.fromCharCode(...bytes.subarray(start, start + piece));
  return btoa(binary);
}

/** Reads a data URL with base64; undefined if it is another address. */
export function readDataUrl(url: string): string | undefined {
  return /^data:[^;,]*(?:;[^;,]*)*;base64,([A-Za-z0-9+/=_-]*)$/.exec(url)?.[1];
}

function readUrl(url: string): FileContent {
  const data = readDataUrl(url);
  return data === undefined ? { url } : { data };
}

/** Reads a text: an address, or base64. */
const readText = (text: string): FileContent => (/^(?:https?|data):/.test(text) ? readUrl(text) : { data: text });

/** Reads the content of a file in any of its forms. */
export function readFileContent(given: unknown): FileContent {
  if (typeof given === 'string') return readText(given);
  if (given instanceof URL) return readUrl(given.href);
  if (given instanceof Uint8Array) return { data: toBase64(given) };
  if (given instanceof ArrayBuffer) return { data: toBase64(new Uint8Array(given)) };
  if (!isRecord(given)) return undefined;
  const { type, data, url, originalUrl, text } = given;
  if (type === 'text' && typeof text === 'string') return { data: toBase64(new TextEncoder().encode(text)) };
  if (type === 'url') return readUrl(typeof originalUrl === 'string' ? originalUrl : String(url));
  if (type !== 'data') return undefined;
  if (typeof data === 'string') return { data };
  if (data instanceof Uint8Array) return { data: toBase64(data) };
  return data instanceof ArrayBuffer ? { data: toBase64(new Uint8Array(data)) } : undefined;
}

/** Facts about a file beside its content. */
export interface FileFacts {
  readonly mediaType?: string | undefined;
  readonly filename?: string | undefined;
}

const isWholeType = (mediaType: string | undefined): mediaType is string => mediaType !== undefined && /^[^/*]+\/[^/*]+$/.test(mediaType);

/** Makes a picture of an image without a name, and a file of everything else. */
export function toFile(
  content: { readonly data: string } | { readonly url: string },
  facts: FileFacts,
  extras: PartExtras,
): ImagePart | FilePart {
  const { mediaType, filename } = facts;
  const isImage = filename === undefined && (mediaType === undefined || mediaType.startsWith('image'));
  if (isImage) return { type: 'image', ...content, ...(isWholeType(mediaType) && { mediaType }), ...extras };
  const type = mediaType ?? 'application/octet-stream';
  return { type: 'file', ...content, mediaType: type, ...(filename !== undefined && { filename }), ...extras };
}

/** The address under which a page finds a file; a data URL if it has its bytes. Undefined for a file that only its provider can read. */
export function toFileUrl(part: ImagePart | FilePart): string | undefined {
  if (part.url !== undefined) return part.url;
  return part.data === undefined ? undefined : `data:${part.mediaType ?? 'image/*'};base64,${part.data}`;
}
