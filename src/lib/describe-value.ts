import { cleanText } from './clean-text.ts';
import { quoteText } from './quote-text.ts';
import { defaultRedactor } from './redactor.ts';

function readClassName(value: object): string | undefined {
  try {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (typeof prototype !== 'object' || prototype === null || prototype === Object.prototype) return undefined;
    const { name } = prototype.constructor;
    return name === '' || name === 'Object' ? undefined : name;
  } catch {
    // A proxy may throw whatever it is asked.
    return undefined;
  }
}

/** Describes a value in an error message: short values as they are, others by their type. Obvious secrets are hidden. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return quoteText(defaultRedactor.text(cleanText(value)));
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  const name = readClassName(value);
  return name === undefined ? 'an object' : `an instance of ${name}`;
}
