// The JSON body of a request.
// B1. No more than the limit is read, whatever the request says about its length.
// B2. Anything but a JSON object is refused with a sentence.
import { describeValue, InvalidArgumentError, isRecord } from '../../lib/index.ts';
import { BodyTooLargeError } from './errors/body-too-large-error.ts';
import { WrongContentTypeError } from './errors/wrong-content-type-error.ts';

/** Containers inside containers: more than anything that can be stored, and far from what a stack holds. */
const maxDepth = 80;

function checkContentType(request: Request): void {
  const given = request.headers.get('content-type');
  const [type = ''] = (given ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json') throw new WrongContentTypeError(given === null ? 'none' : describeValue(given));
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

async function readNext(reader: BodyReader): Promise<Awaited<ReturnType<BodyReader['read']>>> {
  try {
    return await reader.read();
  } catch {
    throw new InvalidArgumentError('The body ended before it was complete. Send it again.');
  }
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw new BodyTooLargeError(maxBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Holds: the body of a request is bytes.
  const body = request.body as ReadableStream<Uint8Array> | null;
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  for (let next = await readNext(reader); !next.done; next = await readNext(reader)) {
    size += next.value.byteLength;
    if (size > maxBytes) {
      // Nobody waits for the rest of it.
      void reader.cancel().catch(() => undefined);
      throw new BodyTooLargeError(maxBytes);
    }
    chunks.push(next.value);
  }
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}

/** True if containers are nested too deep. Reads the text only: whatever walks the value later may not have the stack for it. */
function isTooDeep(text: string): boolean {
  let [depth, isInText] = [0, false];
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (isInText) {
      if (character === '\\') index += 1;
      else if (character === '"') isInText = false;
    } else if (character === '"') isInText = true;
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    if (depth > maxDepth) return true;
  }
  return false;
}

function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new InvalidArgumentError('The body is not UTF-8 text. Send JSON.');
  }
  if (text.trim() === '') return {};
  if (isTooDeep(text)) throw new InvalidArgumentError(`The body is nested deeper than ${maxDepth} levels. Send a flatter value.`);
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError(`The body is not JSON: ${describeValue(text)}.`);
  }
}

/** Reads the fields of a form. */
export async function readForm(request: Request, maxBytes: number): Promise<Readonly<Record<string, unknown>>> {
  return Object.fromEntries(new URLSearchParams(new TextDecoder().decode(await readBytes(request, maxBytes))));
}

/** Reads the JSON object in a request. An empty body is an empty object. */
export async function readBody(request: Request, maxBytes: number): Promise<Readonly<Record<string, unknown>>> {
  if (request.body === null && request.headers.get('content-type') === null) return {};
  checkContentType(request);
  const value = parseJson(await readBytes(request, maxBytes));
  if (!isRecord(value)) throw new InvalidArgumentError(`The body must be a JSON object, not ${describeValue(value)}.`);
  return value;
}
