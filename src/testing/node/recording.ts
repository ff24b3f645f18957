import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { DamagedDataError, isRecord, readObject } from '../../lib/index.ts';
import type { RecordedResponse } from './recorded-response.ts';
import { findAnswers } from './find-answers.ts';

/** Request of a call. Recordings of single answers have none. */
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
  /** Name of the provider in the recording. */
  readonly provider: string;
  readonly interactions: readonly Interaction[];
}

function readHeaders(headers: unknown): Readonly<Record<string, string>> {
  const pairs = Object.entries(isRecord(headers) ? headers : {});
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
}

function readInteraction(value: unknown, path: string): Interaction {
  const reader = readObject(value, path);
  const [request, response] = [reader.object('request'), reader.object('response')];
  const { body } = request.raw;
  return {
    request: { path: request.string('path'), body: isRecord(body) ? body : {} },
    response: { status: response.number('status'), headers: readHeaders(response.raw['headers']), body: response.raw['body'] },
  };
}

// Uploads, counts and the like stand in recordings too; nobody asks a model there.
const modelCall = /(\/(responses|completions|messages)|:(stream)?generateContent)(\?|$)/i;

function parseJson(text: string, path: string): unknown {
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
  const content = name.endsWith('.json') ? parseJson(text, name) : undefined;
  if (isRecord(content) && Array.isArray(content['interactions'])) {
    const reader = readObject(content, name);
    const interactions = reader.array('interactions', readInteraction).filter(({ request }) => modelCall.test(request?.path ?? ''));
    return { name, provider: reader.string('provider'), interactions };
  }
  const provider = name.includes('--') ? name.slice(0, name.indexOf('--')) : name.slice(0, name.indexOf('.'));
  const responses = findAnswers(name, content ?? text);
  return { name, provider, interactions: responses.map((response) => ({ response })) };
}
