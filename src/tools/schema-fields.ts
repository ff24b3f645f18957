// Finds schemas of a library, and functions, in a place where they check nothing: as the fields of a plain object.
import { childPath, isPlainObject, listSome, mostCanonicalDepth } from '../lib/index.ts';
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

interface Place {
  readonly value: unknown;
  readonly path: string;
  readonly depth: number;
}

/** Lists everything inside a plain object, each thing once. Nothing is looked into that is a schema of a library, or deeper than any JSON. */
function listPlaces({ value, path, depth }: Place, seen: Set<unknown>): readonly Place[] {
  if (depth > mostCanonicalDepth) return [];
  if ((!isPlainObject(value) && !Array.isArray(value)) || seen.has(value) || (path !== '' && findVendor(value) !== undefined)) return [];
  seen.add(value);
  return Object.entries<unknown>(value).flatMap(([key, inner]) => {
    const place = { value: inner, path: childPath(path, Array.isArray(value) ? Number(key) : key), depth: depth + 1 };
    return [place, ...listPlaces(place, seen)];
  });
}

function findSchemas(given: unknown): readonly Found[] {
  return listPlaces({ value: given, path: '', depth: 0 }, new Set()).flatMap(({ value, path }) => {
    const vendor = findVendor(value);
    return vendor === undefined ? [] : [{ path, vendor }];
  });
}

/** Describes the mistake of a plain object with schemas of a library inside; undefined if there are none. `what` names the object. */
export function findFieldsProblem(given: unknown, what: string): string | undefined {
  const found = findSchemas(given);
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

/** Describes the mistake of a plain object with functions inside (`{ order: Number }`); undefined if there are none. `what` names the object. */
export function findFunctionProblem(given: unknown, what: string): string | undefined {
  const found = listPlaces({ value: given, path: '', depth: 0 }, new Set()).find(({ value }) => typeof value === 'function');
  if (found === undefined) return undefined;
  return `${what} has a function at ${clipText(found.path, 60)}, which is not a schema and checks nothing. Write { type: 'number' }, for example, in its place.`;
}
