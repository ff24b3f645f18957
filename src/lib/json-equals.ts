import type { Json, JsonObject } from './json.ts';
import { isList } from './json.ts';

function listsEqual(left: readonly Json[], right: readonly Json[]): boolean {
  return left.length === right.length && left.every((item, index) => jsonEquals(item, right[index]));
}

function objectsEqual(left: JsonObject, right: JsonObject): boolean {
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => Object.hasOwn(right, key) && jsonEquals(left[key], right[key]));
}

/** True where both say the same, whatever the order of their keys. Nothing equals only nothing. */
export function jsonEquals(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (isList(left)) return isList(right) && listsEqual(left, right);
  return !isList(right) && objectsEqual(left, right);
}
