import { isRecord } from '../../lib/index.ts';
import type { RecordedResponse } from './recorded-response.ts';
import { parseLine } from './recorded-response.ts';

const json = { 'content-type': 'application/json' };
const eventStream = { 'content-type': 'text/event-stream' };

const statusByWord: readonly (readonly [RegExp, number])[] = [
  [/quota|rate_?limit|exhausted/, 429],
  [/authentication|api_key/, 401],
  [/permission/, 403],
  [/not_found/, 404],
  [/overloaded/, 529],
  [/invalid|unsupported|bad_request/, 400],
];

// A body has no status of its own, but an error says enough to guess it.
function guessStatus(body: unknown): number {
  if (!isRecord(body) || !isRecord(body['error'])) return 200;
  if (!Object.keys(body).every((key) => key === 'error' || key === 'type' || key === 'request_id')) return 200;
  const { code, status, type } = body['error'];
  if (typeof code === 'number' && code >= 400 && code <= 599) return code;
  const words = [code, status, type].filter((word) => typeof word === 'string');
  return statusByWord.find(([pattern]) => pattern.test(words.join(' ').toLowerCase()))?.[1] ?? 500;
}

function readField(line: string, key: 'type' | 'object'): unknown {
  const event = parseLine(line);
  return isRecord(event) ? event[key] : undefined;
}

const isFirst = (line: string): boolean => ['response.created', 'message_start'].includes(String(readField(line, 'type')));
const isChat = (line: string): boolean => ['chat.completion.chunk', 'text_completion'].includes(String(readField(line, 'object')));

// A file may hold several answers one after another, each with its own first event.
function split(items: readonly string[], isStart: (item: string) => boolean): readonly (readonly string[])[] {
  const groups: string[][] = [];
  for (const item of items) {
    if (groups.length === 0 || isStart(item)) groups.push([]);
    groups.at(-1)?.push(item);
  }
  return groups;
}

function splitChunks(text: string): readonly string[] {
  const lines = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
  return split(lines, isFirst).map((group) =>
    [...group, ...(group.some(isChat) ? ['[DONE]'] : [])].map((line) => `data: ${line}\n\n`).join(''),
  );
}

function splitEventStream(text: string): readonly string[] {
  const blocks = text.split(/\r?\n\r?\n/).filter((block) => block.trim() !== '');
  const readData = (block: string): string =>
    block
      .split('\n')
      .flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []))
      .join('');
  return split(blocks, (block) => isFirst(readData(block))).map((group) => group.map((block) => `${block}\n\n`).join(''));
}

/** Returns the answers in a file that holds only answers, in the form in which they were sent. */
export function findAnswers(name: string, content: unknown): readonly RecordedResponse[] {
  if (typeof content !== 'string') return [{ status: guessStatus(content), headers: json, body: content }];
  const texts = name.endsWith('.sse') ? splitEventStream(content) : splitChunks(content);
  return texts.map((body) => ({ status: 200, headers: eventStream, body }));
}
