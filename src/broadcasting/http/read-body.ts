// The JSON body of a request.
// B1. No more than the limit is read, whatever the request says about its length.
// B2. Depth and number of values are counted in the text, before anything is built of it: a value costs far more memory than its two bytes.
// B3. Anything but a JSON object is refused with a sentence.
// B4. A body has the form in which its values are stored, broken characters replaced: whoever decides about it sees what will be used.
import type { Json, JsonObject } from '../../lib/index.ts';
import { describeValue, InvalidArgumentError, isRecord, parseJsonText, toCanonical } from '../../lib/index.ts';
import { BodyTooLargeError } from './errors/body-too-large-error.ts';
import { WrongContentTypeError } from './errors/wrong-content-type-error.ts';

/** Containers inside containers: more than anything that can be stored, and far from what a stack holds. */
const maxDepth = 80;

/** Returns how many values a body may have: one for every 16 bytes that it may have, which is far more than pages send. */
const getMaxValues = (maxBytes: number): number => Math.max(1000, Math.floor(maxBytes / 16));

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

const createSizeError = (maxBytes: number): Error => new BodyTooLargeError(`The body is larger than ${maxBytes} bytes.`);

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw createSizeError(maxBytes);
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
      throw createSizeError(maxBytes);
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

/** Characters of JSON. Numbers, because megabytes of them are compared. */
const codes = { quote: 0x22, backslash: 0x5c, comma: 0x2c, list: 0x5b, listEnd: 0x5d, object: 0x7b, objectEnd: 0x7d } as const;

/**
 * Throws if JSON text is nested too deep, or has too many values for a body of this size. Each comma and each list or object counts, so that
 * an empty one counts twice.
 */
export function assertParsable(text: string, maxBytes: number): void {
  const maxValues = getMaxValues(maxBytes);
  let depth = 0;
  let values = 1;
  let isInText = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === codes.quote) isInText = !isInText;
    else if (isInText) {
      if (code === codes.backslash) index += 1;
    } else if (code === codes.comma) values += 1;
    else if (code === codes.list || code === codes.object) {
      depth += 1;
      values += 1;
      if (depth > maxDepth) throw new InvalidArgumentError(`The body is nested deeper than ${maxDepth} levels. Send a flatter value.`);
    } else if (code === codes.listEnd || code === codes.objectEnd) depth -= 1;
    if (values > maxValues) throw new BodyTooLargeError(`The body has more than ${maxValues} values, the most for ${maxBytes} bytes.`);
  }
}

function parseJson(bytes: Uint8Array, maxBytes: number): Json {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new InvalidArgumentError('The body is not UTF-8 text. Send JSON.');
  }
  if (text.trim() === '') return {};
  assertParsable(text, maxBytes);
  const parsed = parseJsonText(text);
  // Holds: what was parsed can be stored, however large it is.
  const canonical = toCanonical(parsed, { maxDepth, maxBytes: Infinity });
  if (parsed === undefined || !canonical.ok) throw new InvalidArgumentError(`The body is not JSON: ${describeValue(text)}.`);
  return canonical.value;
}

/** Reads the fields of a form. */
export async function readForm(request: Request, maxBytes: number): Promise<Readonly<Record<string, unknown>>> {
  return Object.fromEntries(new URLSearchParams(new TextDecoder().decode(await readBytes(request, maxBytes))));
}

/** Reads the JSON object in a request. An empty body is an empty object. */
export async function readBody(request: Request, maxBytes: number): Promise<JsonObject> {
  if (request.body === null && request.headers.get('content-type') === null) return {};
  checkContentType(request);
  const value = parseJson(await readBytes(request, maxBytes), maxBytes);
  if (!isRecord(value)) throw new InvalidArgumentError(`The body must be a JSON object, not ${describeValue(value)}.`);
  return value;
}
