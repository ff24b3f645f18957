import { expect, test } from 'vitest';
import { DamagedDataError } from '../lib/index.ts';
import type { Part, ToolOutput } from './index.ts';
import { readContentPart, readPart, reasoningPart, textPart, toolCallPart, toolResultPart, toToolCall, toToolResult } from './index.ts';

const providerMetadata = { openai: { itemId: 'i' } };
const withOutput = (output: ToolOutput): Part => toolResultPart({ toolCallId: 'c', toolName: 't', output });

test.each<[string, Part]>([
  ['text', textPart('a')],
  ['empty text', textPart('')],
  ['text with provider metadata', textPart('a', { providerMetadata })],
  ['reasoning', reasoningPart('hm', { providerMetadata })],
  ['an image by data', { type: 'image', data: 'aGk=', mediaType: 'image/png' }],
  ['an image by address', { type: 'image', url: 'https://example.com/a.png' }],
  ['a file by data', { type: 'file', data: 'aGk=', mediaType: 'text/plain', filename: 'a.txt' }],
  ['a file by address', { type: 'file', url: 'https://example.com/a', mediaType: 'text/plain' }],
  ['a file by id', { type: 'file', id: 'file-1', mediaType: 'application/pdf', providerMetadata }],
  ['a tool call', toolCallPart({ id: 'c', name: 't', args: { a: [1] } })],
  ['a tool call with null arguments', toolCallPart({ id: 'c', name: 't', args: null })],
  ['a tool call that could not be parsed', toolCallPart({ id: 'c', name: 't', args: {}, rawArgs: '{"a":' })],
  ['a call run by the provider', toolCallPart({ id: 'c', name: 't', args: {}, providerExecuted: true, providerMetadata })],
  ['a text result', withOutput({ type: 'text', value: '' })],
  ['a JSON result', withOutput({ type: 'json', value: null })],
  ['an error result', withOutput({ type: 'error', value: 'no such file' })],
  ['a rejected call', withOutput({ type: 'rejected', reason: 'not now' })],
  ['a result of parts', withOutput({ type: 'content', parts: [textPart('a'), { type: 'image', data: 'aGk=' }] })],
  ['a source by address', { type: 'source', sourceType: 'url', id: 's', url: 'https://example.com', title: 'T' }],
  ['a source document', { type: 'source', sourceType: 'document', id: 's', mediaType: 'text/plain', filename: 'a.txt' }],
  ['a provider part', { type: 'provider', provider: 'anthropic', data: { anything: [1, null] } }],
])('%s survives storing', (_, part) => {
  expect(readPart(JSON.parse(JSON.stringify(part)), 'part')).toStrictEqual(part);
});

test.each<[string, unknown, string]>([
  ['an unknown type', { type: 'hologram' }, 'part.type'],
  ['no type', { text: 'a' }, 'part.type'],
  ['text without text', { type: 'text' }, 'part.text'],
  ['an image without data or address', { type: 'image' }, 'part.data'],
  ['a file without anything in it', { type: 'file', mediaType: 'a/b' }, 'part.data'],
  ['a file without media type', { type: 'file', data: '' }, 'part.mediaType'],
  ['a call without arguments', { type: 'tool-call', toolCallId: 'c', toolName: 't' }, 'part.args'],
  ['a result without output', { type: 'tool-result', toolCallId: 'c', toolName: 't' }, 'part.output'],
  ['an unknown output', { type: 'tool-result', toolCallId: 'c', toolName: 't', output: { type: 'smell' } }, 'part.output.type'],
  [
    'a call inside a result',
    {
      type: 'tool-result',
      toolCallId: 'c',
      toolName: 't',
      output: { type: 'content', parts: [toolCallPart({ id: 'd', name: 't', args: 1 })] },
    },
    'part.output.parts[0].type',
  ],
  ['a source of another kind', { type: 'source', sourceType: 'rumour', id: 's' }, 'part.sourceType'],
])('%s is refused', (_, json, path) => {
  expect(() => readPart(json, 'part')).toThrow(DamagedDataError);
  expect(() => readPart(json, 'part')).toThrow(expect.objectContaining({ path }));
});

test('an unknown type is refused by name', () => {
  expect(() => readPart({ type: 'hologram' }, 'part')).toThrow('found "hologram"');
});

test('a content part is text, image or file', () => {
  expect(readContentPart({ type: 'text', text: 'a' }, 'part')).toEqual(textPart('a'));
  expect(() => readContentPart(reasoningPart('a'), 'part')).toThrow(DamagedDataError);
});

test('a call and its part, a result and its part, are the same thing twice', () => {
  const call = { id: 'c', name: 't', args: [1], rawArgs: 'r', providerExecuted: false };
  const result = { toolCallId: 'c', toolName: 't', output: { type: 'text', value: 'v' } as const };
  expect(toToolCall(toolCallPart(call))).toStrictEqual(call);
  expect(toToolResult(toolResultPart(result))).toStrictEqual(result);
});
