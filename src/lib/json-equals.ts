import { isRecord } from './json.ts';

function itemsEqual(left: readonly unknown[], right: readonly unknown[]): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index += 1) if (!jsonEquals(left[index], right[index])) return false;
  return true;
}

/** True if both are the same JSON, whatever the order of their keys. Undefined equals only undefined. */
export function jsonEquals(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) return Array.isArray(right) && itemsEqual(left, right);
  if (!isRecord(left) || !isRecord(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  for (const key of keys) if (!Object.hasOwn(right, key) || !jsonEquals(left[key], right[key])) return false;
  return true;
}
