import { isRecord } from '../../lib/index.ts';

/** What a provider answered: JSON, or the text of an event stream. */
export interface RecordedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const json = { 'content-type': 'application/json' };
const eventStream = { 'content-type': 'text/event-stream' };

const statusOfWord: readonly (readonly [RegExp, number])[] = [
  [/quota|rate_?limit|exhausted/, 429],
  [/authentication|api_key/, 401],
  [/permission/, 403],
  [/not_found/, 404],
  [/overloaded/, 529],
  [/invalid|unsupported|bad_request/, 400],
];

// A body alone does not say its status; an error says enough of itself to tell.
function statusOf(body: unknown): number {
  const error =
    isRecord(body) && Object.keys(body).every((key) => key === 'error' || key === 'type' || key === 'request_id')
      ? body['error']
      : undefined;
  if (!isRecord(error)) return 200;
  const { code, status, type } = error;
  if (typeof code === 'number' && code >= 400 && code <= 599) return code;
  const words = [code, status, type]
    .filter((word) => typeof word === 'string')
    .join(' ')
    .toLowerCase();
  return statusOfWord.find(([pattern]) => pattern.test(words))?.[1] ?? 500;
}

interface Event {
  readonly type?: unknown;
  readonly object?: unknown;
}

function eventOf(line: string): Event {
  try {
    const event: unknown = JSON.parse(line);
    return isRecord(event) ? event : {};
  } catch {
    return {};
  }
}

const firstEvents: readonly unknown[] = ['response.created', 'message_start'];

// A file may hold several answers one after another, each with its own first event.
function split<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): readonly (readonly Item[])[] {
  const groups: Item[][] = [];
  for (const item of items) {
    if (groups.length === 0 || isFirst(item)) groups.push([item]);
    else groups.at(-1)?.push(item);
  }
  return groups;
}

function fromChunks(text: string): readonly string[] {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return split(lines, (line) => firstEvents.includes(eventOf(line).type)).map((group) => {
    const isChat = group.some((line) => ['chat.completion.chunk', 'text_completion'].includes(String(eventOf(line).object)));
    return [...group, ...(isChat ? ['[DONE]'] : [])].map((line) => `data: ${line}\n\n`).join('');
  });
}

function fromEventStream(text: string): readonly string[] {
  const blocks = text.split(/\r?\n\r?\n/).filter((block) => block.trim() !== '');
  const dataOf = (block: string): string =>
    block
      .split('\n')
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice(5).trim())
      .join('');
  return split(blocks, (block) => firstEvents.includes(eventOf(dataOf(block)).type)).map((group) =>
    group.map((block) => `${block}\n\n`).join(''),
  );
}

/** The answers in a file that holds answers alone, in the form in which they were sent. */
export function answersIn(name: string, content: unknown): readonly RecordedResponse[] {
  if (typeof content !== 'string') return [{ status: statusOf(content), headers: json, body: content }];
  const texts = name.endsWith('.sse') ? fromEventStream(content) : fromChunks(content);
  return texts.map((body) => ({ status: 200, headers: eventStream, body }));
}
