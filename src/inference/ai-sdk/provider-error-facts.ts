import type { Json } from '../../lib/index.ts';
import { isRecord, omitUndefined, parseJsonText, readField, setOwn, toCanonical } from '../../lib/index.ts';
import type { Fields } from './fields.ts';
import { toList } from './fields.ts';

// Errors of providers come as many things: APICallError of one of several copies of @ai-sdk/provider, plain objects of
// a stream's error event, strings. So they are read by their structure, never by their class.

/** Facts read from an error, wherever in it the provider put them. */
export interface ProviderErrorFacts {
  readonly message: string;
  /** HTTP status; 2xx if the answer began well and broke later. */
  readonly status?: number;
  /** The provider's own words for it (`type`, `code`, `status`, error names), in lower case. */
  readonly words: readonly string[];
  /** Network codes such as ECONNRESET, as Node and undici give them. */
  readonly networkCodes: readonly string[];
  readonly names: readonly string[];
  readonly headers?: Readonly<Record<string, unknown>>;
  /** The parsed body, or the event that carried the error. */
  readonly body?: Json;
  /** The provider package's opinion on trying again. */
  readonly isRetryable?: boolean;
}

const mostLinks = 24;
const networkCode = /^(E[A-Z]{3,}|UND_ERR_[A-Z_]+|ERR_[A-Z_]+|Connection[A-Z]\w+|FailedToOpenSocket)$/;

function parseText(text: unknown): unknown {
  return typeof text === 'string' && /^\s*[[{]/.test(text) ? parseJsonText(text) : undefined;
}

// The error, its causes, and the error objects that APIs nest in their bodies; outermost first.
function collectLinks(error: unknown): readonly object[] {
  const links = new Set<object>();
  const queue: unknown[] = [typeof error === 'string' ? parseText(error) : error];
  for (let index = 0; index < queue.length && links.size < mostLinks; index += 1) {
    const link = queue[index];
    if (typeof link !== 'object' || link === null || links.has(link)) continue;
    links.add(link);
    const nested = ['error', 'data', 'cause', 'response', 'lastError'].map((key) => readField(link, key));
    queue.push(...toList(link).slice(0, 3), ...nested, parseText(readField(link, 'responseBody')), parseText(readField(link, 'message')));
  }
  return [...links];
}

function toStatus(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 200 && number <= 599 ? number : undefined;
}

function first<Value>(links: readonly object[], read: (link: object) => Value | undefined): Value | undefined {
  return links.map(read).find((value) => value !== undefined);
}

function readTexts(links: readonly object[], keys: readonly string[]): readonly string[] {
  return links.flatMap((link) => keys.map((key) => readField(link, key))).filter((value) => typeof value === 'string');
}

function readWords(links: readonly object[]): readonly string[] {
  const found = readTexts(links, ['type', 'code', 'status', 'reason']);
  return found.filter((word) => word.length < 80).map((word) => word.toLowerCase());
}

function readMessage(error: unknown, links: readonly object[]): string {
  if (typeof error === 'string' && error.trim() !== '' && links.length === 0) return error;
  const messages = readTexts(links, ['message']);
  return messages.find((message) => message.trim() !== '' && parseText(message) === undefined) ?? 'The provider gave no reason.';
}

// An error status wins over a 200 further out: the 200 says only that the answer had begun.
function findStatus(links: readonly object[]): number | undefined {
  const found = links.flatMap((link) =>
    ['statusCode', 'status', 'status_code', 'code'].flatMap((key) => toStatus(readField(link, key)) ?? []),
  );
  return found.find((status) => status >= 400) ?? found[0];
}

// Headers of fetch keep their entries out of sight; any copy of the class hands them out one by one.
function readHeaders(value: unknown): Fields | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const [each, tag] = [readField(value, 'forEach'), readField(value, Symbol.toStringTag)];
  if (tag !== 'Headers' || typeof each !== 'function') return isRecord(value) ? value : undefined;
  const found: Record<string, unknown> = {};
  try {
    each.call(value, (content: unknown, name: unknown) => typeof name === 'string' && setOwn(found, name, content));
  } catch {
    return undefined;
  }
  return found;
}

/** Reads the facts of an error. Never throws, and keeps no reference to the error. */
export function readProviderError(error: unknown): ProviderErrorFacts {
  const links = collectLinks(error);
  const status = findStatus(links);
  const isRetryable = links.map((link) => readField(link, 'isRetryable')).find((value) => typeof value === 'boolean');
  const headers = first(links, (link) => readHeaders(readField(link, 'responseHeaders') ?? readField(link, 'headers')));
  const body =
    first(links, (link) => parseText(readField(link, 'responseBody')) ?? readField(link, 'data')) ??
    (links[0] instanceof Error ? undefined : links[0]);
  const plainBody = toCanonical(body);
  return {
    message: readMessage(error, links),
    words: readWords(links),
    networkCodes: readTexts(links, ['code']).filter((code) => networkCode.test(code)),
    names: readTexts(links, ['name']),
    ...omitUndefined({ status, headers, body: body !== undefined && plainBody.ok ? plainBody.value : undefined, isRetryable }),
  };
}
