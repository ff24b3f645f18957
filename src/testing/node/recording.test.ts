import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findRecordings, listRecordings } from '../../../tests/support/recordings/find-recordings.ts';
import { readRecording } from './recording.ts';
import { WireApi, detectWireApi } from './wire-api.ts';

const folder = mkdtempSync(join(tmpdir(), 'stepline-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function writeFile(name: string, content: string): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

const lines = (...events: readonly object[]): string => `${events.map((event) => JSON.stringify(event)).join('\n')}\n`;

describe('readRecording', () => {
  it('reads a conversation', () => {
    const content = {
      provider: 'groq',
      interactions: [
        {
          request: { method: 'POST', path: '/openai/v1/chat/completions', body: { model: 'm' } },
          response: { status: 404, headers: { a: 'b' }, body: { error: {} } },
        },
      ],
    };
    const recording = readRecording(writeFile('groq--x.json', JSON.stringify(content)));
    expect(recording).toMatchObject({
      provider: 'groq',
      interactions: [{ request: { path: '/openai/v1/chat/completions' }, response: { status: 404 } }],
    });
    expect(detectWireApi(recording)).toBe(WireApi.OpenAiChat);
  });

  it.each([
    ['openai', { object: 'response', output: [] }, WireApi.OpenAiResponses],
    ['openai', { object: 'chat.completion', choices: [] }, WireApi.OpenAiChat],
    ['anthropic', { type: 'message', content: [] }, WireApi.Anthropic],
    ['google', { candidates: [] }, WireApi.Google],
    ['mistral', { choices: [] }, WireApi.OpenAiChat],
  ])('reads a single answer of %s and tells its form', (provider, body, api) => {
    const recording = readRecording(writeFile(`${provider}--one.json`, JSON.stringify(body)));
    expect(recording).toMatchObject({ provider, interactions: [{ response: { status: 200, body } }] });
    expect(detectWireApi(recording)).toBe(api);
  });

  it.each([
    [{ error: { type: 'insufficient_quota', message: 'x' } }, 429],
    [{ error: { type: 'invalid_request_error', message: 'x' } }, 400],
    [{ type: 'error', error: { type: 'overloaded_error', message: 'x' } }, 529],
    [{ error: { code: 503, status: 'UNAVAILABLE', message: 'x' } }, 503],
    [{ error: { message: 'x' } }, 500],
    [{ id: 'r', object: 'response', error: { code: 'x' }, output: [] }, 200],
  ])('tells the status of %j', (body, status) => {
    expect(readRecording(writeFile('openai--e.json', JSON.stringify(body))).interactions[0]?.response.status).toBe(status);
  });

  it('makes a stream of events in lines, and splits answers that follow one another', () => {
    const two = readRecording(
      writeFile(
        'anthropic--two.chunks.txt',
        lines({ type: 'message_start', n: 1 }, { type: 'message_stop' }, { type: 'message_start', n: 2 }, { type: 'message_stop' }),
      ),
    );
    expect(two.interactions.map(({ response }) => response.body)).toEqual([
      'data: {"type":"message_start","n":1}\n\ndata: {"type":"message_stop"}\n\n',
      'data: {"type":"message_start","n":2}\n\ndata: {"type":"message_stop"}\n\n',
    ]);
    const chat = readRecording(writeFile('openai--chat.chunks.txt', lines({ object: 'chat.completion.chunk', choices: [] })));
    expect(chat.interactions[0]?.response.body).toMatch(/data: \[DONE\]\n\n$/);
    const raw = readRecording(
      writeFile(
        'openai--raw.sse',
        'event: a\ndata: {"type":"response.created"}\n\ndata: {"type":"x"}\n\ndata: {"type":"response.created"}\n\n',
      ),
    );
    expect(raw.interactions).toHaveLength(2);
  });
});

describe('findRecordings', () => {
  it('says why there are none', () => {
    expect(findRecordings('/nowhere/project', undefined)).toEqual({
      found: false,
      reason: expect.stringContaining('/nowhere/shared/recordings') as string,
    });
    expect(findRecordings('/nowhere', 'elsewhere')).toEqual({
      found: false,
      reason: expect.stringContaining('/nowhere/elsewhere') as string,
    });
    expect(findRecordings('/nowhere', folder)).toEqual({ found: true, folder });
    expect(listRecordings(folder, 'loops')).toEqual([]);
  });
});
