// Forms that a value from outside must have. Values that have theirs are returned as they are, so that a check costs no copy.
import { isPlainObject, isRecord, readField, setOwn } from '../lib/index.ts';

/** A value of the wrong form: the expected form, the value found, and its path. */
export class Mismatch {
  readonly expected: string;
  readonly found: unknown;
  readonly keys: readonly (string | number)[];

  constructor(expected: string, found: unknown, keys: readonly (string | number)[] = []) {
    this.expected = expected;
    this.found = found;
    this.keys = keys;
  }

  /** Returns the same mismatch as seen from the value that has this key. */
  inside(key: string | number): Mismatch {
    return new Mismatch(this.expected, this.found, [key, ...this.keys]);
  }
}

/** Returns the value in its form, the very same one if it has that already, or a mismatch. */
export type Form = (value: unknown) => unknown;

/** Describes a value in a few words. */
export function describeFound(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? 'an array' : 'an object';
}

const form =
  (expected: string, isRight: (value: unknown) => boolean): Form =>
  (value) =>
    isRight(value) ? value : new Mismatch(expected, value);

// What replaces itself when it is stored may be anything then.
const hasOwnForm = (value: unknown): boolean => typeof readField(value, 'toJSON') === 'function';

export const textForm: Form = form('a string', (value) => typeof value === 'string');
export const nameForm: Form = form('a string that is not empty', (value) => typeof value === 'string' && value !== '');
export const flagForm: Form = form('true or false', (value) => typeof value === 'boolean');
export const countForm: Form = form(
  `a number from 0 to ${Number.MAX_SAFE_INTEGER}`,
  (value) => typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER,
);
export const jsonForm: Form = form(
  'a JSON value',
  (value) => value !== undefined && typeof value !== 'function' && typeof value !== 'symbol' && !hasOwnForm(value),
);
export const jsonObjectForm: Form = form('an object', (value) => isPlainObject(value) && !hasOwnForm(value));

/** The form of a value that is one of these words. */
export function wordForm(words: readonly string[]): Form {
  const expected = `one of ${words.map((word) => JSON.stringify(word)).join(', ')}`;
  return form(expected, (value) => typeof value === 'string' && words.includes(value));
}

const isUnknownList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** The form of a list. */
export function listForm(item: Form): Form {
  return (value) => {
    if (!isUnknownList(value)) return new Mismatch('an array', value);
    let copy: unknown[] | undefined;
    for (let index = 0; index < value.length; index += 1) {
      const given = value[index];
      const parsed = item(given);
      if (parsed instanceof Mismatch) return parsed.inside(index);
      if (parsed !== given) copy ??= value.slice(0, index);
      copy?.push(parsed);
    }
    return copy ?? value;
  };
}

/** The forms of the fields of an object. */
export interface FieldForms {
  readonly required: Readonly<Record<string, Form>>;
  /** Left out of the object if they are null. */
  readonly optional?: Readonly<Record<string, Form>>;
}

const readOwn = (value: Readonly<Record<string, unknown>>, key: string): unknown => (Object.hasOwn(value, key) ? value[key] : undefined);

/** The form of an object. Fields that are not named are left out of it. */
export function objectForm({ required, optional = {} }: FieldForms): Form {
  const toFields = (forms: Readonly<Record<string, Form>>, isNeeded: boolean): readonly Field[] =>
    Object.entries(forms).map(([key, parse]) => ({ key, parse, isNeeded }));
  const fields = [...toFields(required, true), ...toFields(optional, false)];
  const forms = new Map(fields.map((field) => [field.key, field]));
  const needed = Object.keys(required).length;
  return (value) => {
    if (!isRecord(value)) return new Mismatch('an object', value);
    if (hasForm(value, forms, needed)) return value;
    let count = 0;
    let isSame = isPlainObject(value);
    for (const { key, parse, isNeeded } of fields) {
      const given = readOwn(value, key);
      if (!isNeeded && (given === undefined || given === null)) continue;
      const parsed = parse(given);
      if (parsed instanceof Mismatch) return parsed.inside(key);
      if (parsed !== given) isSame = false;
      count += 1;
    }
    return isSame && Object.keys(value).length === count ? value : copyFields(fields, value);
  };
}

/** True if an object has its form already, which most have: every field of it is known and as it must be, and none is missing. */
function hasForm(value: Readonly<Record<string, unknown>>, forms: ReadonlyMap<string, Field>, needed: number): boolean {
  if (!isPlainObject(value)) return false;
  let missing = needed;
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    const field = forms.get(key);
    const given = value[key];
    // What is null or undefined is left out, or is a mismatch: not looked at here.
    if (field === undefined || given === undefined || given === null || field.parse(given) !== given) return false;
    if (field.isNeeded) missing -= 1;
  }
  return missing === 0;
}

interface Field {
  readonly key: string;
  readonly parse: Form;
  readonly isNeeded: boolean;
}

function copyFields(fields: readonly Field[], value: Readonly<Record<string, unknown>>): object {
  const copy: Record<string, unknown> = {};
  for (const { key, parse, isNeeded } of fields) {
    const given = readOwn(value, key);
    if (isNeeded || (given !== undefined && given !== null)) setOwn(copy, key, parse(given));
  }
  return copy;
}

/** The form of an object whose `type` says which form it has. */
export function unionForm(members: Readonly<Record<string, Form>>): Form {
  const word = wordForm(Object.keys(members));
  const forms = new Map<unknown, Form>(Object.entries(members));
  return (value) => {
    if (!isRecord(value)) return new Mismatch('an object', value);
    const type = readOwn(value, 'type');
    const named = forms.get(type);
    if (named !== undefined) return named(value);
    const mismatch = word(type);
    return mismatch instanceof Mismatch ? mismatch.inside('type') : mismatch;
  };
}
