// Frozen copies of plain data: checked, converted, copied and frozen in one walk.
// Owns:     the quick way for values that consist of plain objects, lists, text, numbers, booleans and null.
// Does not: handle anything else, or say what is wrong: canonical.ts does both.
import { isCleanKey } from './clean-text.ts';
import { cleanText } from './clean-text.ts';
import type { Json, JsonObject } from './json.ts';
import { setOwn } from './json.ts';

const notPlain: unique symbol = Symbol('not plain');
type Copied = Json | typeof notPlain;

/** Bytes that are left for the JSON text of the rest, if all of its text is escaped. */
interface Room {
  bytes: number;
}

function copyList(source: readonly unknown[], depth: number, room: Room): Copied {
  // An item takes three bytes or more. Checked first, because a copy of a list with billions of holes takes minutes.
  if (3 * source.length > room.bytes || Object.getPrototypeOf(source) !== Array.prototype) return notPlain;
  const copy = source.slice();
  for (let index = 0; index < copy.length; index += 1) {
    const item = copyValue(copy[index], depth, room);
    if (item === notPlain) return notPlain;
    copy[index] = item;
  }
  // Holds: every item was found canonical, or was replaced.
  return Object.freeze(copy as Json[]);
}

function copyFields(source: Readonly<Record<string, unknown>>, depth: number, room: Room): Copied {
  if (Object.getPrototypeOf(source) !== Object.prototype || Object.getOwnPropertySymbols(source).length > 0) return notPlain;
  // A spread copies all fields at once and reads getters; only fields that change are written again.
  const copy: Record<string, unknown> = { ...source };
  for (const key in copy) {
    if (!Object.hasOwn(copy, key)) continue;
    if (!isCleanKey(key)) return notPlain;
    room.bytes -= 6 * key.length + 3;
    const field = copy[key];
    const kept = copyValue(field, depth, room);
    if (kept === notPlain) return notPlain;
    if (!Object.is(kept, field)) setOwn(copy, key, kept);
  }
  // Holds: every field was found canonical, or was replaced.
  return Object.freeze(copy as JsonObject);
}

function copyContainer(source: object, depth: number, room: Room): Copied {
  room.bytes -= 3;
  const isRefused =
    depth === 0 || room.bytes < 0 || ArrayBuffer.isView(source) || ('toJSON' in source && typeof source.toJSON === 'function');
  if (isRefused) return notPlain;
  // Holds: fields of any object can be read by name.
  return Array.isArray(source) ? copyList(source, depth - 1, room) : copyFields(source as JsonObject, depth - 1, room);
}

function copyValue(value: unknown, depth: number, room: Room): Copied {
  switch (typeof value) {
    case 'string':
      room.bytes -= 6 * value.length + 3;
      return cleanText(value);
    case 'number':
      room.bytes -= 26;
      // The comparison also turns -0 into 0.
      return Number.isFinite(value) ? (value === 0 ? 0 : value) : null;
    case 'boolean':
      room.bytes -= 6;
      return value;
    case 'object':
      if (value !== null) return copyContainer(value, depth, room);
      room.bytes -= 5;
      return null;
    default:
      return notPlain;
  }
}

/** Copies plain data that certainly fits the limits; undefined if it has to be looked at more closely. Never throws. */
export function copyPlain(value: unknown, maxDepth: number, maxBytes: number): Json | undefined {
  const room: Room = { bytes: maxBytes };
  try {
    const copy = copyValue(value, maxDepth, room);
    return copy === notPlain || room.bytes < 0 ? undefined : copy;
  } catch {
    return undefined;
  }
}
