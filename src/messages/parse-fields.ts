// Checks of what callers make messages of: whatever is in a message can be stored, and read again as it is.
import type { Json, JsonObject } from '../lib/index.ts';
import { cutLine, DamagedDataError, describeValue, getKnownForm, InvalidArgumentError, isRecord, toCanonical } from '../lib/index.ts';
import { textPart } from './content-part.ts';
import type { MessageFields } from './message-fields.ts';
import type { MessageRole } from './message-role.ts';
import { messageRoles } from './message-role.ts';
import type { Part } from './parts.ts';
import { readPart } from './read-part.ts';

const mostDepth = 64;
/** Levels of a part above the JSON in it, such as the arguments of a call. */
const partDepth = 4;

function refuse(field: string, problem: string, cause?: unknown): never {
  throw new InvalidArgumentError(`A message cannot hold this: ${cutLine(field)} ${cutLine(problem)}.`, cause);
}

function parseJson(value: unknown, field: string, maxDepth: number): Json {
  const canonical = toCanonical(value, { maxDepth, maxBytes: Infinity });
  if (canonical.ok) return canonical.value;
  const { path, problem } = canonical;
  return refuse(path === '' ? field : `${field}${path.startsWith('[') ? '' : '.'}${path}`, problem);
}

/** Checks the metadata or the provider options of a message. */
export function parseObject(value: unknown, field: string): JsonObject | undefined {
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

/** Checks the role of a message. */
export function parseRole(role: unknown): MessageRole {
  const found = messageRoles.find((each) => each === role);
  return found ?? refuse('role', `must be one of ${messageRoles.join(', ')}, not ${describeValue(role)}`);
}

/** Checks the name of an author. */
export function parseName(name: unknown): string | undefined {
  return name === undefined || typeof name === 'string' ? name : refuse('name', `must be a string, not ${describeValue(name)}`);
}

/** Checks the parts of a message, and brings them into their stored form. */
export function parseParts(parts: readonly Part[]): readonly Part[] {
  const given: unknown = parts;
  if (!Array.isArray(given)) return refuse('parts', `must be a list, not ${describeValue(given)}`);
  // Those of an answer that was put together here were checked as a whole.
  return Object.isFrozen(parts) && getKnownForm(parts) !== undefined ? parts : Array.from<unknown, Part>(parts, parsePart);
}

/** Checks the fields of a new message, and brings them into their stored form. Throws for the first that cannot be stored. */
export function parseFields({ id, role, parts, name, metadata, providerOptions }: MessageFields): MessageFields {
  const given: unknown = id;
  if (typeof given !== 'string') return refuse('id', `must be a string, not ${describeValue(given)}`);
  return {
    id,
    role: parseRole(role),
    parts: parseParts(parts),
    name: parseName(name),
    metadata: parseObject(metadata, 'metadata'),
    providerOptions: parseObject(providerOptions, 'providerOptions'),
  };
}
