import { cleanText } from './clean-text.ts';
import { isPlainObject, isRecord, setOwn } from './json.ts';

type Finish = <Item>(item: Item) => Item;

const leave: Finish = (item) => item;
const freeze: Finish = (item) => Object.freeze(item);

type Fields = Readonly<Record<string, unknown>>;

function copyFields(source: Fields, copyField: (value: unknown) => unknown): Fields {
  const copy: Record<string, unknown> = {};
  // By key: a list of entries would cost, and every message, argument and result is copied here.
  for (const key of Object.keys(source)) setOwn(copy, key, copyField(source[key]));
  return copy;
}

function copyJson(value: unknown, finish: Finish): unknown {
  if (Array.isArray(value)) return finish(value.map((item: unknown) => copyJson(item, finish)));
  return isRecord(value) ? finish(copyFields(value, (field) => copyJson(field ?? null, finish))) : value;
}

/** Copies JSON data. The copy may be changed. */
export function jsonCopy<Value>(value: Value): Value {
  // Holds: JSON data is copied to the same data.
  return copyJson(value, leave) as Value;
}

/** Copies JSON data so that nobody can change the copy. */
export function copyFrozen<Value>(value: Value): Value {
  // Holds: JSON data is copied to the same data.
  return copyJson(value, freeze) as Value;
}

const isOpenData = (value: unknown): value is readonly unknown[] | Fields =>
  (Array.isArray(value) || isPlainObject(value)) && !Object.isFrozen(value);

/** Freezes plain data all the way down. Data that is frozen already is taken to be so below, too. */
export function deepFreeze<Value>(value: Value): Value {
  if (!isOpenData(value)) return value;
  for (const item of Object.values<unknown>(value)) deepFreeze(item);
  return Object.freeze(value);
}

/** Cleans the name of a field; one that another field has already gets a further U+FFFD, so that no field is lost. */
function cleanKey(key: string, source: Fields, copy: Fields): string {
  let name = cleanText(key);
  if (name === key) return key;
  while (Object.hasOwn(source, name) || Object.hasOwn(copy, name)) name += '\uFFFD';
  return name;
}

function ownFields(source: Fields): Fields {
  const copy: Record<string, unknown> = {};
  let isSame = Object.isFrozen(source);
  for (const key of Object.keys(source)) {
    const name = cleanKey(key, source, copy);
    const value = toFrozen(source[key]);
    isSame &&= name === key && value === source[key];
    setOwn(copy, name, value);
  }
  return isSame ? source : Object.freeze(copy);
}

function ownItems(source: readonly unknown[]): readonly unknown[] {
  const copy = source.map(toFrozen);
  return Object.isFrozen(source) && copy.every((item, index) => item === source[index]) ? source : Object.freeze(copy);
}

function own(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (Array.isArray(value)) return ownItems(value);
  return isPlainObject(value) ? ownFields(value) : value;
}

/**
 * Copies and freezes plain data all the way down, and replaces characters that cannot be stored. Data that needs no change, or is not
 * plain, is returned as it is.
 */
export function toFrozen<Value>(value: Value): Value {
  // Holds: plain data is copied to data of the same form.
  return own(value) as Value;
}
