import { isRecord, toCanonical } from '../lib/index.ts';
import { ConformanceError } from './conformance-error.ts';

/** One promise of a port, checked. Suites are plain lists, so that any test runner can run them. */
export interface ConformanceCase {
  readonly name: string;
  readonly run: () => void | Promise<void>;
}

/** Fails the case unless the claim holds. */
export function holds(claim: boolean, otherwise: string): asserts claim {
  if (!claim) throw new ConformanceError(otherwise);
}

const sortKeys = (_: string, value: unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))) : value;

/** Fails the case unless both are the same JSON, whatever the order of their keys. */
export function same(actual: unknown, expected: unknown, name: string): void {
  const [found, wanted] = [JSON.stringify(actual, sortKeys), JSON.stringify(expected, sortKeys)];
  holds(found === wanted, `${name}: expected ${wanted}, found ${found}`);
}

/** Fails the case unless the value is plain JSON data: anything else would read differently after it was stored. */
export function storable(value: unknown, what: string): void {
  const stored = toCanonical(value);
  if (!stored.ok) throw new ConformanceError(`${what} cannot be stored: ${stored.path === '' ? 'it' : stored.path} ${stored.problem}`);
  // A canonical value comes back as the very same one.
  holds(stored.value === value, `${what} is not plain JSON data: it would be stored as ${JSON.stringify(stored.value)}`);
}
