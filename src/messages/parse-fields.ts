// Checks of what callers make messages of: whatever is in a message can be stored, and read again as it is.
import type { Json, JsonObject } from '../lib/index.ts';
import { DamagedDataError, describeValue, InvalidArgumentError, isRecord, toCanonical } from '../lib/index.ts';
import { textPart } from './content-part.ts';
import type { MessageFields } from './message.ts';
import { messageRoles } from './message-role.ts';
import type { Part } from './parts.ts';
import { readPart } from './read-part.ts';

const mostDepth = 64;
/** Levels of a part above the JSON in it, such as the arguments of a call. */
const partDepth = 4;

function refuse(field: string, problem: string, cause?: unknown): never {
  throw new InvalidArgumentError(`A message cannot hold this: ${field} ${problem}.`, cause);
}

function parseJson(value: unknown, field: string, maxDepth: number): Json {
  const canonical = toCanonical(value, { maxDepth, maxBytes: Infinity });
  if (canonical.ok) return canonical.value;
  const { path, problem } = canonical;
  return refuse(path === '' ? field : `${field}${path.startsWith('[') ? '' : '.'}${path}`, problem);
}

function parseObject(value: unknown, field: string): JsonObject | undefined {
  if (value === undefined) return undefined;
  const parsed = isRecord(value) ? parseJson(value, field, mostDepth) : undefined;
  return isRecord(parsed) ? parsed : refuse(field, `must be an object, not ${describeValue(value)}`);
}

const isPlainText = (value: unknown): value is { readonly text: string } =>
  isRecord(value) && value['type'] === 'text' && typeof value['text'] === 'string' && Object.keys(value).length === 2;

function parsePart(value: unknown, index: number): Part {
  const field = `parts[${index}]`;
  // Most messages are a text.
  if (isPlainText(value)) return textPart(value.text);
  const json = parseJson(value, field, mostDepth + partDepth);
  try {
    return readPart(json, field);
  } catch (error) {
    return error instanceof DamagedDataError ? refuse(error.path, error.problem, error) : refuse(field, 'cannot be read', error);
  }
}

/** Checks the fields of a new message, and brings them into their stored form. Throws for the first that cannot be stored. */
export function parseFields(fields: MessageFields): MessageFields {
  const { id, role, parts, name, metadata, providerOptions }: { readonly [Key in keyof MessageFields]: unknown } = fields;
  if (typeof id !== 'string') return refuse('id', `must be a string, not ${describeValue(id)}`);
  const found = messageRoles.find((each) => each === role);
  if (found === undefined) return refuse('role', `must be one of ${messageRoles.join(', ')}, not ${describeValue(role)}`);
  if (!Array.isArray(parts)) return refuse('parts', `must be a list, not ${describeValue(parts)}`);
  if (name !== undefined && typeof name !== 'string') return refuse('name', `must be a string, not ${describeValue(name)}`);
  return {
    id,
    role: found,
    parts: Array.from(parts, parsePart),
    name,
    metadata: parseObject(metadata, 'metadata'),
    providerOptions: parseObject(providerOptions, 'providerOptions'),
  };
}
