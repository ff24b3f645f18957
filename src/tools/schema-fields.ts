// Finds schemas of a library in a place where they check nothing: as the fields of a plain object.
import { childPath, isPlainObject, listSome } from '../lib/index.ts';
import { clipText } from './clip-text.ts';
import { isStandardSchema } from './standard-schema.ts';

const wrappers: ReadonlyMap<string, string> = new Map([
  ['zod', 'z.object({ … })'],
  ['valibot', 'toStandardJsonSchema(v.object({ … }))'],
  ['arktype', 'type({ … })'],
]);

/** Names the library of a schema; undefined if the value is not one. */
function findVendor(value: unknown): string | undefined {
  // A JSON Schema that zod wrote has this property too, hidden; it is one nevertheless.
  if (isStandardSchema(value) && !(isPlainObject(value) && !Object.keys(value).includes('~standard'))) return value['~standard'].vendor;
  // Older ones of zod do not implement the standard.
  const isOldZod = typeof value === 'object' && value !== null && 'safeParse' in value && typeof value.safeParse === 'function';
  return isOldZod ? 'zod' : undefined;
}

interface Found {
  readonly path: string;
  readonly vendor: string;
}

function findSchemas(value: unknown, path: string, seen: Set<unknown>): readonly Found[] {
  const vendor = path === '' ? undefined : findVendor(value);
  if (vendor !== undefined) return [{ path, vendor }];
  if ((!isPlainObject(value) && !Array.isArray(value)) || seen.has(value)) return [];
  seen.add(value);
  return Object.entries(value).flatMap(([key, inner]) =>
    findSchemas(inner, childPath(path, Array.isArray(value) ? Number(key) : key), seen),
  );
}

/** Describes the mistake of a plain object with schemas of a library inside; undefined if there are none. `what` names the object. */
export function findFieldsProblem(given: unknown, what: string): string | undefined {
  const found = findSchemas(given, '', new Set());
  const [first] = found;
  if (first === undefined) return undefined;
  const vendor = clipText(first.vendor, 40);
  const names = listSome(
    found.map(({ path }) => clipText(path, 60)),
    3,
  );
  const wrapper = wrappers.get(first.vendor);
  const advice = wrapper === undefined ? `Make one schema of them with the object type of ${vendor}` : `Wrap it in ${wrapper}`;
  return `${what} is a plain object with ${vendor} schemas inside (${names}), which is not a schema and checks nothing. ${advice}.`;
}
