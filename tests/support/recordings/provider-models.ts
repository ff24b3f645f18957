import { crc32 } from 'node:zlib';
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createDeepSeek } from '@ai-sdk/deepseek';
import { createGoogle } from '@ai-sdk/google';
import { createGroq } from '@ai-sdk/groq';
import { createMistral } from '@ai-sdk/mistral';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createXai } from '@ai-sdk/xai';
import type { Model } from '../../../src/inference/index.ts';
import { aiSdk } from '../../../src/inference/ai-sdk/index.ts';

type Fetch = typeof globalThis.fetch;

/** Body of an answer: text, or bytes. */
export type StreamBody = string | Blob;

const settings = (fetch: Fetch): { readonly apiKey: string; readonly baseURL: string; readonly fetch: Fetch } => ({
  apiKey: 'no-key-is-needed',
  baseURL: 'http://provider.test',
  fetch,
});

const models = {
  openaiResponses: (fetch: Fetch) => aiSdk(createOpenAI(settings(fetch)).responses('model')),
  openaiChat: (fetch: Fetch) => aiSdk(createOpenAI(settings(fetch)).chat('model')),
  openaiCompletion: (fetch: Fetch) => aiSdk(createOpenAI(settings(fetch)).completion('model')),
  anthropic: (fetch: Fetch) => aiSdk(createAnthropic(settings(fetch))('model')),
  google: (fetch: Fetch) => aiSdk(createGoogle(settings(fetch))('model')),
  groq: (fetch: Fetch) => aiSdk(createGroq(settings(fetch))('model')),
  mistral: (fetch: Fetch) => aiSdk(createMistral(settings(fetch))('model')),
  deepseek: (fetch: Fetch) => aiSdk(createDeepSeek(settings(fetch))('model')),
  xai: (fetch: Fetch) => aiSdk(createXai(settings(fetch)).responses('model')),
  compatible: (fetch: Fetch) =>
    aiSdk(createOpenAICompatible({ ...settings(fetch), name: 'compatible', includeUsage: true }).chatModel('model')),
  bedrock: (fetch: Fetch) => aiSdk(createAmazonBedrock({ ...settings(fetch), region: 'us-east-1' })('model')),
};

/** A provider package, and the form in which it speaks to its provider if it has several. */
export type ProviderPackage = keyof typeof models;

/** Names of all provider packages. */
// Holds: the record has exactly these keys.
export const providerPackages = Object.keys(models) as readonly ProviderPackage[];

/** Returns a model of the real provider package whose requests go to this function. */
export const createFetchingModel = (name: ProviderPackage, fetch: Fetch): Model => models[name](fetch);

/** Returns a model of the real provider package whose requests get these answers, in their order; the last one is repeated. */
export function createProviderModel(name: ProviderPackage, ...answers: readonly StreamBody[]): Model {
  let count = 0;
  const type = name === 'bedrock' ? 'application/vnd.amazon.eventstream' : 'text/event-stream';
  return models[name](() => {
    const body = answers[Math.min(count, answers.length - 1)] ?? '';
    count += 1;
    return Promise.resolve(new Response(body, { headers: { 'content-type': type } }));
  });
}

/** Writes an event of a server-sent stream. */
export const toServerEvent = (event: object | string): string => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`;

function toHeader(name: string, value: string): Buffer {
  const [key, text] = [Buffer.from(name), Buffer.from(value)];
  const length = Buffer.alloc(3);
  length.writeUInt8(7, 0);
  length.writeUInt16BE(text.length, 1);
  return Buffer.concat([Buffer.from([key.length]), key, length, text]);
}

function withChecksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return Buffer.concat([bytes, sum]);
}

/** Writes an event of Amazon's binary event stream: `{ messageStop: … }` and the like. */
export function toAmazonEvent(event: Readonly<Record<string, object>>): Buffer {
  const [[type, content] = ['', {}]] = Object.entries(event);
  const headers = Buffer.concat([
    toHeader(':event-type', type),
    toHeader(':content-type', 'application/json'),
    toHeader(':message-type', 'event'),
  ]);
  const body = Buffer.from(JSON.stringify(content));
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(headers.length + body.length + 16, 0);
  prelude.writeUInt32BE(headers.length, 4);
  return withChecksum(Buffer.concat([withChecksum(prelude), headers, body]));
}
