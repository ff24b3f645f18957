// Shorter names for the fields of a stored state.
// H1. `restoreKeys(shortenKeys(value))` equals `value`, whatever its fields are called.
// H2. A name keeps its code for ever: the list only grows, at its end.
import type { Json, JsonObject } from '../../lib/index.ts';
import { childPath, DamagedDataError, isRecord, setOwn } from '../../lib/index.ts';

const mark = '_';
const digits = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

const names = [
  ...['execution', 'results', 'messages', 'timing', 'startedAt', 'endedAt', 'activeMs', 'waitedMs', 'outcome', 'decision'],
  ...['resolvedBy', 'stopReason', 'criteria', 'evaluations', 'reason', 'context', 'limit', 'atLimit', 'fields', 'stepType'],
  ...['executions', 'durationMs', 'toolCalls', 'answers', 'nested', 'model', 'saidOutput', 'output', 'usage', 'input'],
  ...['cacheRead', 'cacheWrite', 'reasoning', 'unknownCalls', 'errors', 'message', 'retryable', 'toolName', 'toolCallId', 'finishReason'],
  ...['hasToolCalls', 'interrupted', 'handling', 'errorType', 'consecutiveFailures', 'totalFailures', 'pendingStep', 'number', 'partial'],
  ...['waits', 'parkedAt', 'agent', 'fingerprint', 'version', 'failedSteps', 'type', 'args', 'value', 'status', 'parts', 'content'],
];

const codes: ReadonlyMap<string, string> = new Map(names.map((name, index) => [name, mark + digits.charAt(index)]));
const namesByCode: ReadonlyMap<string, string> = new Map(Array.from(codes, ([name, code]) => [code, name]));

// A name that begins with the mark gets a second one, so that it is not taken for a code.
const toCode = (name: string): string => codes.get(name) ?? (name.startsWith(mark) ? mark + name : name);

/** Replaces the names of fields, at every depth. */
export function shortenKeys(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (!isRecord(value)) return value.map(shortenKeys);
  const short: Record<string, Json> = {};
  for (const [name, field] of Object.entries(value)) setOwn(short, toCode(name), shortenKeys(field));
  return short;
}

function toName(code: string, path: string): string {
  if (!code.startsWith(mark)) return code;
  const name = code.startsWith(mark + mark) ? code.slice(mark.length) : namesByCode.get(code);
  if (name !== undefined) return name;
  throw new DamagedDataError(childPath(path, code), 'there is no field with this short name');
}

function restoreFields(value: JsonObject, path: string): JsonObject {
  const fields: Record<string, Json> = {};
  for (const [code, field] of Object.entries(value)) {
    const name = toName(code, path);
    setOwn(fields, name, restoreKeys(field, childPath(path, name)));
  }
  return fields;
}

/** Gives fields their own names back. `path` names the place of `value` in errors. */
export function restoreKeys(value: Json, path: string): Json {
  if (typeof value !== 'object' || value === null) return value;
  return isRecord(value) ? restoreFields(value, path) : value.map((item, index) => restoreKeys(item, childPath(path, index)));
}
