import type { JsonObject } from '../lib/index.ts';

/** Provider data that any part may have, from the provider that made it or for the one that will read it. */
export interface PartExtras {
  readonly providerMetadata?: JsonObject;
}

/** Words for the reader. */
export interface TextPart extends PartExtras {
  readonly type: 'text';
  readonly text: string;
}

interface Base64Data {
  readonly data: string;
  readonly url?: never;
}

interface Url {
  readonly url: string;
  readonly data?: never;
}

/** A picture, as base64 data or by its address. */
export type ImagePart = PartExtras & { readonly type: 'image'; readonly mediaType?: string } & (Base64Data | Url);

interface FileId {
  readonly id: string;
  readonly data?: never;
  readonly url?: never;
}

/** A file, as base64 data, by its address, or by the id under which a provider keeps it. */
export type FilePart = PartExtras & { readonly type: 'file'; readonly mediaType: string; readonly filename?: string } & (
    (Base64Data & { readonly id?: never }) | (Url & { readonly id?: never }) | FileId
  );

/** Content that a person or a tool can show to a model. */
export type ContentPart = TextPart | ImagePart | FilePart;

/** Makes a text part. */
export function textPart(text: string, extras: PartExtras = {}): TextPart {
  return { type: 'text', text, ...extras };
}
