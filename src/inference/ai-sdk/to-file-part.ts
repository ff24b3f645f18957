import type { FilePart, ImagePart } from '../../messages/index.ts';
import type { SpecificationVersion } from './language-model-like.ts';
import type { PromptPart } from './prompt.ts';
import { withOptions } from './prompt.ts';

/** Whom a part is written for. */
export interface Reader {
  readonly version: SpecificationVersion;
  /** As the model names its provider: `openai.responses`. */
  readonly provider: string;
}

type Source =
  | { readonly type: 'data'; readonly data: string }
  | { readonly type: 'url'; readonly url: string }
  | { readonly type: 'id'; readonly id: string };

interface ReadFile {
  readonly source: Source;
  readonly mediaType: string;
}

const dataUrl = /^data:([^;,]*)(?:;[^,;]+)*;base64,(.*)$/s;

const imageTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

// Some providers refuse a picture by its address unless its full type is told.
function guessImageType(url: string): string {
  const ending = /\.(\w+)(?:[?#]|$)/.exec(url)?.[1]?.toLowerCase() ?? '';
  return (Object.hasOwn(imageTypes, ending) ? imageTypes[ending] : undefined) ?? 'image/*';
}

function fromUrl(url: string, mediaType: string | undefined): ReadFile {
  const inline = dataUrl.exec(url);
  if (inline === null) return { source: { type: 'url', url }, mediaType: mediaType ?? guessImageType(url) };
  const [, inlineType = '', data = ''] = inline;
  return { source: { type: 'data', data }, mediaType: mediaType ?? (inlineType === '' ? 'image/*' : inlineType) };
}

function readFile(part: FilePart | ImagePart): ReadFile {
  if (part.url !== undefined) return fromUrl(part.url, part.mediaType);
  if (part.type === 'file' && part.id !== undefined) return { source: { type: 'id', id: part.id }, mediaType: part.mediaType };
  return { source: { type: 'data', data: part.data }, mediaType: part.mediaType ?? 'image/*' };
}

// A provider looks its own id up by its name, and Azure's name differs from what it calls itself.
function toReference(id: string, provider: string): Readonly<Record<string, string>> {
  const [family = provider] = provider.split('.');
  return { [family]: id, ...(family.startsWith('azure') && { azure: id }) };
}

function toV4Data(source: Source, provider: string): PromptPart['data'] {
  if (source.type === 'data') return source;
  if (source.type === 'id') return { type: 'reference', reference: toReference(source.id, provider) };
  const url = new URL(source.url);
  return { type: 'url', url, ...(url.href !== source.url && { originalUrl: source.url }) };
}

// V3 has no word for a provider's own files; its packages know an id by its prefix.
function toV3Data(source: Source): PromptPart['data'] {
  if (source.type === 'url') return new URL(source.url);
  return source.type === 'data' ? source.data : source.id;
}

const getName = (part: FilePart | ImagePart): { readonly filename?: string } =>
  part.type === 'file' && part.filename !== undefined ? { filename: part.filename } : {};

/** A picture or a file as a part of a message. */
export function toFilePart(part: FilePart | ImagePart, { version, provider }: Reader): PromptPart {
  const { source, mediaType } = readFile(part);
  const data = version === 'v4' ? toV4Data(source, provider) : toV3Data(source);
  return withOptions({ type: 'file', data, mediaType, ...getName(part) }, part.providerMetadata);
}

function toV3ResultPart({ source, mediaType }: ReadFile, part: FilePart | ImagePart): PromptPart {
  const isImage = part.type === 'image' || mediaType.startsWith('image/');
  if (source.type === 'url') return { type: isImage ? 'image-url' : 'file-url', url: source.url };
  if (source.type === 'id') return { type: isImage ? 'image-file-id' : 'file-id', fileId: source.id };
  return { type: isImage ? 'image-data' : 'file-data', data: source.data, mediaType, ...getName(part) };
}

function decodeText(base64: string): string {
  const standard = base64.replaceAll('-', '+').replaceAll('_', '/');
  return new TextDecoder().decode(Uint8Array.from(atob(standard), (character) => character.charCodeAt(0)));
}

/** A picture or a file as a piece of a tool's answer. */
export function toFileResult(part: FilePart | ImagePart, reader: Reader): PromptPart {
  // Anthropic's package leaves text files out of results; as plain text they are read.
  if (part.type === 'file' && part.data !== undefined && part.mediaType.startsWith('text/') && reader.provider.includes('anthropic')) {
    return withOptions({ type: 'text', text: decodeText(part.data) }, part.providerMetadata);
  }
  return reader.version === 'v4' ? toFilePart(part, reader) : withOptions(toV3ResultPart(readFile(part), part), part.providerMetadata);
}
