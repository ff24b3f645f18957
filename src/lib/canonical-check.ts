// The quick check for values that are canonical already. Most values are, and it costs a fraction of a walk that can also convert.
// Does not: convert, or say what is wrong: `false` means that canonical-walk.ts has to look.
import { isCleanKey } from './clean-text.ts';
import { cleanText } from './clean-text.ts';
import type { Json } from './json.ts';

type Fields = Readonly<Record<string, unknown>>;

const notCanonical = -1;

// Finds the getter of a field without allocating a descriptor. Holds: every engine has this method, and it accepts any object.
const { __lookupGetter__: lookUpGetter } = Object.prototype as unknown as { readonly __lookupGetter__: (key: string) => unknown };

function measureArray(source: readonly unknown[], depth: number, bytes: number): number {
  if (Object.getPrototypeOf(source) !== Array.prototype || Object.keys(source).length !== source.length) return notCanonical;
  let size = 3;
  for (let index = 0; index < source.length; index += 1) {
    const inner = measure(source[index], depth, bytes - size);
    if (inner === notCanonical) return notCanonical;
    size += inner;
  }
  return size;
}

function measureFields(source: Fields, depth: number, bytes: number): number {
  if (Object.getPrototypeOf(source) !== Object.prototype || Object.getOwnPropertySymbols(source).length > 0) return notCanonical;
  let size = 3;
  // Not with Object.keys(): engines read the fields of a for…in loop without looking each of them up.
  for (const key in source) {
    if (!Object.hasOwn(source, key)) continue;
    if (lookUpGetter.call(source, key) !== undefined || !isCleanKey(key)) return notCanonical;
    size += 6 * key.length + 3;
    const inner = measure(source[key], depth, bytes - size);
    if (inner === notCanonical) return notCanonical;
    size += inner;
  }
  return size;
}

/** Returns an upper bound for the JSON bytes of a value that is already canonical and certainly within the limits. */
function measure(value: unknown, depth: number, bytes: number): number {
  if (bytes < 0) return notCanonical;
  switch (typeof value) {
    case 'string':
      return cleanText(value) === value ? 6 * value.length + 3 : notCanonical;
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? 26 : notCanonical;
    case 'boolean':
      return 6;
    case 'object':
      if (value === null) return 5;
      if (depth === 0 || ArrayBuffer.isView(value) || typeof Reflect.get(value, 'toJSON') === 'function') return notCanonical;
      return Array.isArray(value) ? measureArray(value, depth - 1, bytes) : measureFields(value as Fields, depth - 1, bytes);
    default:
      return notCanonical;
  }
}

/** True if a value is canonical and certainly within the limits. */
export function isCanonical(value: unknown, maxDepth: number, maxBytes: number): value is Json {
  try {
    const size = measure(value, maxDepth, maxBytes);
    return size !== notCanonical && size <= maxBytes;
  } catch {
    return false;
  }
}
