// The input of a run.
// N1. Of the client's history nothing counts but its end: the newest message, if a person wrote it, and outputs of the page's tools.
// N2. Members that are not known are ignored, as the protocol asks.
import { describeValue, InvalidArgumentError, isRecord } from '../../lib/index.ts';
import type { ContentPart } from '../../messages/index.ts';
import { readUserContent } from './user-content.ts';

/** The newest message of a person. */
export interface InputMessage {
  readonly id: string;
  readonly content: string | readonly ContentPart[];
}

/** Output of a tool that the page ran. */
export interface ToolAnswer {
  readonly toolCallId: string;
  readonly content: string;
  /** Why there is no output. */
  readonly error?: string;
}

/** An answer to an interrupt. */
export interface ResumeEntry {
  readonly interruptId: string;
  readonly status: 'resolved' | 'cancelled';
  readonly payload?: unknown;
}

/** The input of a run, as far as it counts. */
export interface RunInput {
  readonly threadId: string;
  readonly runId: string;
  readonly message?: InputMessage;
  readonly toolAnswers: readonly ToolAnswer[];
  readonly resume: readonly ResumeEntry[];
  /** Ids of all messages that the client has. */
  readonly knownIds: ReadonlySet<string>;
}

type Fields = Readonly<Record<string, unknown>>;

/** Longest id of a thread, a run or a message; those of calls and interrupts are our own, and longer. */
const longestId = 200;
const longestOwnId = 2000;

function readId(fields: Fields, key: string, longest = longestId): string {
  const value = fields[key];
  if (typeof value === 'string' && value !== '' && value.length <= longest) return value;
  throw new InvalidArgumentError(`${key} must be a string of 1 to ${longest} characters, not ${describeValue(value)}.`);
}

function readList(fields: Fields, key: string): readonly Fields[] {
  const value = fields[key] ?? [];
  if (Array.isArray(value) && value.every((item): item is Fields => isRecord(item))) return value;
  throw new InvalidArgumentError(`${key} must be a list of objects, not ${describeValue(fields[key])}.`);
}

function readResume(fields: Fields, index: number): ResumeEntry {
  const { status, payload } = fields;
  const interruptId = readId(fields, 'interruptId', longestOwnId);
  if (status !== 'resolved' && status !== 'cancelled')
    throw new InvalidArgumentError(`resume[${index}].status must be "resolved" or "cancelled", not ${describeValue(status)}.`);
  return { interruptId, status, ...(payload !== undefined && { payload }) };
}

function readToolAnswer(fields: Fields): ToolAnswer {
  const content = readUserContent(fields['content'] ?? '');
  const text = typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const error = fields['error'];
  return { toolCallId: readId(fields, 'toolCallId', longestOwnId), content: text, ...(typeof error === 'string' && { error }) };
}

function readMessage(fields: Fields): InputMessage {
  const content = readUserContent(fields['content']);
  if (content.length === 0) throw new InvalidArgumentError('The newest message is empty. Send at least one character or part.');
  return { id: readId(fields, 'id'), content };
}

/** Reads the answers. Two to one interrupt contradict each other, or one of them is too many. */
function readAnswers(body: Fields): readonly ResumeEntry[] {
  const entries = readList(body, 'resume').map(readResume);
  const ids = new Set<string>();
  for (const { interruptId } of entries) {
    if (ids.has(interruptId))
      throw new InvalidArgumentError(`resume answers the interrupt ${describeValue(interruptId)} twice. Answer each interrupt once.`);
    ids.add(interruptId);
  }
  return entries;
}

/** Reads the body of a request. */
export function readInput(body: Fields): RunInput {
  const messages = readList(body, 'messages');
  const last = messages.at(-1);
  const lastOther = messages.findLastIndex(({ role }) => role !== 'tool');
  const ids = messages.flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
  return {
    threadId: readId(body, 'threadId'),
    runId: readId(body, 'runId'),
    ...(last?.['role'] === 'user' && { message: readMessage(last) }),
    toolAnswers: messages.slice(lastOther + 1).map(readToolAnswer),
    resume: readAnswers(body),
    knownIds: new Set(ids),
  };
}
