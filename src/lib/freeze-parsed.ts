// Values that JSON.parse made are new, plain and without getters, so that they can be checked and frozen in one walk.
import { isCleanKey } from './clean-text.ts';
import { cleanText } from './clean-text.ts';
import { markCanonical } from './known-canonical.ts';

function freezeContent(value: object, depth: number): boolean {
  if (depth === 0) return false;
  if (Array.isArray(value)) return value.every((item) => freezeValue(item, depth - 1));
  const fields = value as Readonly<Record<string, unknown>>; // Holds: fields of any object can be read by name.
  for (const key in fields) if (Object.hasOwn(fields, key) && !(isCleanKey(key) && freezeValue(fields[key], depth - 1))) return false;
  return true;
}

function freezeValue(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
      return cleanText(value) === value;
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0);
    case 'object':
      if (value === null) return true;
      // What is inside comes first, so that whatever is frozen is frozen all the way down.
      if (!freezeContent(value, depth)) return false;
      Object.freeze(value);
      return true;
    default:
      return true;
  }
}

/**
 * Freezes a value that JSON.parse made, all the way down. Returns false if it is not canonical, and then part of it may be frozen.
 * `isSmall` vouches that it is within the usual limit of bytes: it is then marked, and nobody checks it again.
 */
export function freezeParsed(value: unknown, { maxDepth, isSmall }: { readonly maxDepth: number; readonly isSmall: boolean }): boolean {
  if (!isSmall || typeof value !== 'object' || value === null) return freezeValue(value, maxDepth);
  if (!freezeContent(value, maxDepth)) return false;
  markCanonical(value);
  return true;
}
