// Writes an object as its changes since an earlier one.
// G1. `withChanges(before, diffFields(before, after))` equals `after`.
// G2. A removed field is named; an unchanged one is not written.
import type { Json, JsonObject } from '../lib/index.ts';
import { DamagedDataError, InvalidArgumentError, isRecord, jsonEquals, readArray, readString, setOwn } from '../lib/index.ts';

/** Key of the list of removed fields. No field of ours has this name. */
export const goneKey = '-';

/** The fields of `after` that are not in `before`, or not the same. */
export function diffFields(before: JsonObject, after: JsonObject): JsonObject {
  const changes: Record<string, Json> = {};
  if (Object.hasOwn(after, goneKey) || Object.hasOwn(before, goneKey))
    throw new InvalidArgumentError(`A stored field cannot be named "${goneKey}". Use another name.`);
  // Key by key, without Object.entries(): this runs for every stored step.
  for (const key of Object.keys(after)) {
    const value = after[key];
    if (value !== undefined && (!Object.hasOwn(before, key) || !jsonEquals(before[key], value))) setOwn(changes, key, value);
  }
  const gone = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  if (gone.length > 0) changes[goneKey] = gone;
  return changes;
}

/** Applies changes to `before`. Values from the changes are still unread. */
export function withChanges(before: JsonObject, changes: unknown, path: string): JsonObject {
  if (!isRecord(changes)) throw new DamagedDataError(path, 'expected an object of changes');
  const gone = changes[goneKey] === undefined ? [] : readArray(changes[goneKey], `${path}.${goneKey}`, readString);
  const after: Record<string, Json> = {};
  // Holds as far as the data is JSON; whoever reads a field checks it.
  for (const key of Object.keys(before)) if (!gone.includes(key)) setOwn(after, key, before[key] as Json);
  for (const key of Object.keys(changes)) if (key !== goneKey) setOwn(after, key, changes[key] as Json);
  return after;
}
