import type { JsonObject } from '../../../src/lib/index.ts';
import type { ModelSettings, OfferedTool, OutputFormat, ProviderTool } from '../../../src/inference/index.ts';
import type { FilePart, ImagePart, Message, ToolOutput } from '../../../src/messages/index.ts';
import type { Fields } from './loose.ts';
import { camelCased, toFields, toJsonObject, toText } from './loose.ts';

/** A provider's request in our words. */
export interface WireConversation {
  readonly messages: readonly Message[];
  readonly tools: readonly OfferedTool[];
  readonly settings: ModelSettings;
  readonly output?: OutputFormat;
}

/** A call as a provider's answer holds it. */
export interface WireCall {
  /** Missing if the provider gives calls no id. */
  readonly id?: string;
  readonly name: string;
  /** Missing if a provider package is free to spell them otherwise. */
  readonly args?: unknown;
  /** False if only the tools that were offered tell whether the client or the provider carries it out. @default true */
  readonly isCertain?: boolean;
}

/** Token counts of an answer, as far as it has them. */
export interface WireUsage {
  readonly input?: number;
  readonly output?: number;
  /** Input tokens that came from a cache. */
  readonly cacheRead?: number;
  /** Output tokens of reasoning. */
  readonly reasoning?: number;
}

/** A provider's answer, read without any of the code that it is to be compared with. */
export interface WireAnswer {
  readonly text: string;
  /** The calls that are the client's to carry out. */
  readonly calls: readonly WireCall[];
  readonly usage?: WireUsage;
  /** The words with which a provider signs its thoughts or sums up the conversation, and wants to read again. */
  readonly signatures: readonly string[];
  /** True if the answer itself tells of an error, or breaks off. */
  readonly isBroken: boolean;
}

/** One way to speak to a provider. */
export interface Wire {
  readConversation(body: Fields): WireConversation;
  /** Reads an answer: its body, or its events in their order. */
  readAnswer(body: Fields | readonly Fields[]): WireAnswer;
}

/** A tool that the provider runs itself, under the name that the AI SDK has for it. */
export function providerTool(id: `${string}.${string}`, name: string, args: unknown): ProviderTool {
  return { type: 'provider', id, name, args: toJsonObject(camelCased(toJsonObject(args))) };
}

/** An output format, if a schema is asked for. */
export function readOutput(schema: unknown, name?: unknown): { readonly output?: OutputFormat } {
  if (Object.keys(toFields(schema)).length === 0) return {};
  return { output: { schema: toJsonObject(schema), ...(toText(name) !== '' && { name: toText(name) }) } };
}

/** A number, if there is one. */
export function readCount(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Returns the usage, as far as it is reported. */
export function readUsage(counts: { readonly [Key in keyof WireUsage]: unknown }): Pick<WireAnswer, 'usage'> {
  const told = Object.entries(counts).filter(([, count]) => readCount(count) !== undefined);
  return told.length === 0 ? {} : { usage: Object.fromEntries(told) };
}

const dataUrl = /^data:([^;,]*)(?:;[^,;]+)*;base64,(.*)$/s;

const types: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  csv: 'text/csv',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  mp4: 'video/mp4',
  webm: 'video/webm',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

function typeOfUrl(url: string): string | undefined {
  const ending = /\.(\w+)(?:[?#]|$)/.exec(url)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(types, ending) ? types[ending] : undefined;
}

/** A picture or a file by its address, which may hold its data. */
export function fileFromUrl(url: string, fallbackType: string, filename?: string): FilePart | ImagePart {
  const [, inlineType, data] = dataUrl.exec(url) ?? [];
  const mediaType = (inlineType === undefined ? typeOfUrl(url) : inlineType) ?? fallbackType;
  return readFile(mediaType, data === undefined ? { url } : { data }, filename);
}

/** A picture or a file. */
export function readFile(
  mediaType: string,
  source: { readonly url: string } | { readonly data: string },
  filename?: string,
): FilePart | ImagePart {
  if (mediaType.startsWith('image')) return { type: 'image', ...(mediaType.includes('/') && { mediaType }), ...source };
  return { type: 'file', mediaType, ...source, ...(filename !== undefined && { filename }) };
}

/** Joins the pieces of a result: plain text if there is nothing else. */
export function outputFrom(
  parts: readonly ((FilePart | ImagePart) | { readonly type: 'text'; readonly text: string; readonly providerMetadata?: JsonObject })[],
): ToolOutput {
  const [only] = parts;
  if (parts.length === 1 && only?.type === 'text' && only.providerMetadata === undefined) return { type: 'text', value: only.text };
  return { type: 'content', parts };
}
