// Messages without their words.
// X1. Ids, roles, and names of tools stay: everything else of the log refers to them. So do the marks that the runtime itself gives a
//     message, as it is read by them. The rest of the metadata is the caller's, or repeats the words, and goes with them.
import type { Json, JsonObject } from '../../lib/index.ts';
import { isList, isRecord, parseJsonText } from '../../lib/index.ts';

/** Replaces erased text. */
export const erased = '[erased]';

/** Replaces the erased arguments of a call. */
export const erasedArgs: JsonObject = {};

export const isObject = (value: Json | undefined): value is JsonObject => isRecord(value);

export const getItems = (value: Json | undefined): readonly Json[] => (isList(value) ? value : []);

/** A message in its stored form. */
export type StoredMessage = JsonObject & { readonly id: string };

export const isMessage = (value: Json | undefined): value is StoredMessage =>
  isObject(value) && typeof value['id'] === 'string' && typeof value['role'] === 'string' && ('content' in value || 'parts' in value);

export const getParts = ({ parts }: JsonObject): readonly JsonObject[] => getItems(parts).filter(isObject);

/** Returns the id of the call whose result a message says in plain words. */
export function getObservedCall({ metadata }: JsonObject): string | undefined {
  const { purpose, toolCallId } = isObject(metadata) ? metadata : {};
  return purpose === 'observation' && typeof toolCallId === 'string' ? toolCallId : undefined;
}

const observation = /^(Observation: (?:ERROR: )?)(.*)$/s;

/** Words that a result is read from stay so: they begin as before, and are JSON if they were. */
function eraseText(text: string, message: JsonObject): string {
  const [, start, words] = (getObservedCall(message) !== undefined && observation.exec(text)) || [];
  if (start === undefined || words === undefined) return erased;
  return `${start}${parseJsonText(words) === undefined ? erased : JSON.stringify(erased)}`;
}

/** Returns the output of a call without its words. */
export function eraseOutput(output: JsonObject): JsonObject {
  const { type } = output;
  if (type === 'rejected') return { type, reason: erased };
  return { type: type === 'error' ? type : 'text', value: erased };
}

/** Calls and results keep their names. Everything else of a message is its words. */
function erasePart({ type, toolCallId = '', toolName = '', providerExecuted, output }: JsonObject): JsonObject | undefined {
  const names = { toolCallId, toolName, ...(providerExecuted !== undefined && { providerExecuted }) };
  if (type === 'tool-call') return { type, ...names, args: erasedArgs };
  return type === 'tool-result' ? { type, ...names, output: eraseOutput(isObject(output) ? output : {}) } : undefined;
}

/** Purposes of messages that the runtime writes. */
const purposes: readonly Json[] = ['action', 'critique', 'finalize', 'observation', 'repair', 'summary', 'undecided'];

/** Returns the marks of a message: what it is for, whose turn it is, which artifact it is a version of. */
function getMarks({ metadata, name }: JsonObject): JsonObject {
  const { purpose, toolCallId, turn, artifact, version } = isObject(metadata) ? metadata : {};
  // The name is that of a participant then.
  const named = typeof name === 'string' ? { name } : {};
  if (turn === true) return { ...named, metadata: { turn } };
  if (typeof artifact === 'string' && typeof version === 'number') return { ...named, metadata: { artifact, version } };
  if (purpose === undefined || !purposes.includes(purpose)) return {};
  return { metadata: typeof toolCallId === 'string' ? { purpose, toolCallId } : { purpose } };
}

/** Returns a message without its content. */
export function eraseContent(message: StoredMessage): JsonObject {
  const { id, role = null, content } = message;
  const rest = { id, role, ...getMarks(message) };
  if (typeof content === 'string') return { ...rest, content: eraseText(content, message) };
  const all = getParts(message);
  const kept = all.flatMap((part) => erasePart(part) ?? []);
  if (kept.length === 0) return { ...rest, content: erased };
  return { ...rest, parts: kept.length === all.length ? kept : [{ type: 'text', text: erased }, ...kept] };
}
