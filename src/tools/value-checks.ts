// The keywords of JSON Schema that look at one value and not inside it.
import type { Json } from '../lib/index.ts';
import { childPath, isList, stableStringify } from '../lib/index.ts';
import { clipText } from './clip-text.ts';
import { isObject, toPattern, typeChecks } from './json-schema-keywords.ts';
import type { SchemaIssue } from './schema-issue.ts';

/** A value and where it stands. */
export interface Place {
  readonly path: string;
  readonly value: Json;
}

export type Issues = readonly SchemaIssue[];

/** Says what in a value does not fit a keyword. */
export type ValueCheck = (given: Json, place: Place) => Issues;

export const noIssues: Issues = [];

/** One issue, unless all is right. */
export const issueUnless = (isRight: boolean, { path }: Place, message: string): Issues => (isRight ? noIssues : [{ path, message }]);

const shown = (value: Json): string => clipText(JSON.stringify(value), 60);
const texts = (given: Json): readonly string[] => (isList(given) ? given : [given]).filter((each) => typeof each === 'string');

function describeKind(value: Json): string {
  if (value === null) return 'null';
  return isList(value) ? 'array' : typeof value;
}

// Characters as people count them, not UTF-16 units.
function countCharacters(value: Json): number | undefined {
  if (typeof value !== 'string') return undefined;
  const pairs = value.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g);
  return value.length - (pairs?.length ?? 0);
}

const readNumber = (value: Json): number | undefined => (typeof value === 'number' ? value : undefined);
const countItems = (value: Json): number | undefined => (isList(value) ? value.length : undefined);
const isAtLeast = (size: number, limit: number): boolean => size >= limit;
const isAtMost = (size: number, limit: number): boolean => size <= limit;
const isAbove = (size: number, limit: number): boolean => size > limit;
const isBelow = (size: number, limit: number): boolean => size < limit;

function limit(
  getSize: (value: Json) => number | undefined,
  isRight: (size: number, limit: number) => boolean,
  words: (limit: number) => string,
): ValueCheck {
  return (given, place) => {
    const size = getSize(place.value);
    return typeof given === 'number' && size !== undefined ? issueUnless(isRight(size, given), place, `must ${words(given)}`) : noIssues;
  };
}

const checkType: ValueCheck = (given, place) => {
  const names = texts(given);
  const fits = names.some((name) => typeChecks.get(name)?.(place.value) === true);
  return issueUnless(fits, place, `must be ${names.join(' or ')}, found ${describeKind(place.value)}`);
};

const checkEnum: ValueCheck = (given, place) => {
  const text = stableStringify(place.value);
  const allowed = isList(given) ? given : [given];
  const fits = allowed.some((one) => stableStringify(one) === text);
  return issueUnless(fits, place, `must be one of ${clipText(allowed.map(shown).join(', '), 200)}`);
};

const checkConst: ValueCheck = (given, place) =>
  issueUnless(stableStringify(given) === stableStringify(place.value), place, `must be ${shown(given)}`);

const checkPattern: ValueCheck = (given, place) =>
  typeof given === 'string' && typeof place.value === 'string'
    ? issueUnless(toPattern(given).test(place.value), place, `must match the pattern ${given}`)
    : noIssues;

const checkRequired: ValueCheck = (given, { value, path }) => {
  const missing = isObject(value) ? texts(given).filter((key) => !Object.hasOwn(value, key)) : [];
  return missing.map((key) => ({ path: childPath(path, key), message: 'is required' }));
};

export const valueChecks: ReadonlyMap<string, ValueCheck> = new Map([
  ['type', checkType],
  ['enum', checkEnum],
  ['const', checkConst],
  ['pattern', checkPattern],
  ['required', checkRequired],
  ['minimum', limit(readNumber, isAtLeast, (least) => `be at least ${least}`)],
  ['maximum', limit(readNumber, isAtMost, (most) => `be at most ${most}`)],
  ['exclusiveMinimum', limit(readNumber, isAbove, (least) => `be more than ${least}`)],
  ['exclusiveMaximum', limit(readNumber, isBelow, (most) => `be less than ${most}`)],
  ['minLength', limit(countCharacters, isAtLeast, (least) => `have at least ${least} characters`)],
  ['maxLength', limit(countCharacters, isAtMost, (most) => `have at most ${most} characters`)],
  ['minItems', limit(countItems, isAtLeast, (least) => `have at least ${least} items`)],
  ['maxItems', limit(countItems, isAtMost, (most) => `have at most ${most} items`)],
]);
