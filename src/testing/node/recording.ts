import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { DamagedDataError, isRecord, readObject } from '../../lib/index.ts';
import type { RecordedResponse } from './answers-in.ts';
import { answersIn } from './answers-in.ts';

/** What was asked. Recordings of single answers have none. */
export interface RecordedRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** One call. */
export interface Interaction {
  readonly request?: RecordedRequest;
  readonly response: RecordedResponse;
}

/** Real traffic with a provider. */
export interface Recording {
  readonly name: string;
  /** Who answered, as the recording names it. */
  readonly provider: string;
  readonly interactions: readonly Interaction[];
}

function textHeaders(headers: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(isRecord(headers) ? headers : {}).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );
}

function readRequest(value: unknown, path: string): RecordedRequest {
  const reader = readObject(value, path);
  const { body } = reader.raw;
  return { path: reader.string('path'), body: isRecord(body) ? body : {} };
}

function readResponse(value: unknown, path: string): RecordedResponse {
  const reader = readObject(value, path);
  return { status: reader.number('status'), headers: textHeaders(reader.raw['headers']), body: reader.raw['body'] };
}

function readInteraction(value: unknown, path: string): Interaction {
  const reader = readObject(value, path);
  return { request: reader.value('request', readRequest), response: reader.value('response', readResponse) };
}

// Uploads, counts and the like stand in recordings too; nobody asks a model there.
const modelCall = /(\/(responses|completions|messages)|:(stream)?generateContent)(\?|$)/i;

function parsed(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DamagedDataError(path, `expected JSON: ${String(error)}`);
  }
}

/**
 * Reads a recording: a conversation (`{provider, interactions}`), or the answers alone, as a body (`.json`), as one event a line
 * (`.chunks.txt`) or as an event stream (`.sse`). A file of answers alone is named `PROVIDER--NAME`.
 */
export function readRecording(file: string): Recording {
  const name = basename(file);
  const text = readFileSync(file, 'utf8');
  const content = name.endsWith('.json') ? parsed(text, name) : undefined;
  if (isRecord(content) && Array.isArray(content['interactions'])) {
    const reader = readObject(content, name);
    const interactions = reader.array('interactions', readInteraction).filter(({ request }) => modelCall.test(request?.path ?? ''));
    return { name, provider: reader.string('provider'), interactions };
  }
  const provider = name.includes('--') ? name.slice(0, name.indexOf('--')) : name.slice(0, name.indexOf('.'));
  const responses = answersIn(name, content ?? text);
  return { name, provider, interactions: responses.map((response) => ({ response })) };
}
