import { isCleanKey } from './clean-text.ts';
import { cleanText } from './clean-text.ts';
import { isPlainObject, isRecord, setOwn } from './json.ts';

type Finish = <Item>(item: Item) => Item;

const leave: Finish = (item) => item;
const freeze: Finish = (item) => Object.freeze(item);

type Fields = Readonly<Record<string, unknown>>;

function copyFields(source: Fields, finish: Finish): Fields {
  // A spread copies all fields at once; only nested values are written again.
  const copy: Record<string, unknown> = { ...source };
  for (const key in copy) {
    if (!Object.hasOwn(copy, key)) continue;
    const field = copy[key];
    if (typeof field === 'object' || field === undefined) setOwn(copy, key, copyJson(field ?? null, finish));
  }
  return finish(copy);
}

function copyJson(value: unknown, finish: Finish): unknown {
  if (Array.isArray(value)) return finish(value.map((item: unknown) => copyJson(item, finish)));
  return isRecord(value) ? copyFields(value, finish) : value;
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
  // A spread copies all fields at once; only those that change are written again.
  const copy: Record<string, unknown> = { ...source };
  for (const key in copy) {
    if (!Object.hasOwn(copy, key)) continue;
    if (!isCleanKey(key)) return ownFieldByField(source);
    const field = copy[key];
    const owned = own(field);
    if (owned !== field) setOwn(copy, key, owned);
  }
  return Object.freeze(copy);
}

function ownFieldByField(source: Fields): Fields {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(source)) setOwn(copy, cleanKey(key, source, copy), own(source[key]));
  return Object.freeze(copy);
}

function own(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value !== 'object' || value === null || isOwn(value)) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(own));
  return isPlainObject(value) ? ownFields(value) : value;
}

/** True for plain data that is frozen and clean at every level. Most data is, by the time it is put into a message. */
function isOwn(value: object): boolean {
  if (!Object.isFrozen(value)) return false;
  if (Array.isArray(value)) return isOwnList(value);
  // Not with Object.keys(): engines read the fields of a for…in loop without looking each of them up.
  const fields = value as Fields; // Holds: fields of any object can be read by name.
  for (const key in fields) if (Object.hasOwn(fields, key) && (!isCleanKey(key) || !isOwnField(fields[key]))) return false;
  return true;
}

// By index: engines are slow at the methods of frozen lists.
function isOwnList(list: readonly unknown[]): boolean {
  for (let index = 0; index < list.length; index += 1) if (!isOwnField(list[index])) return false;
  return true;
}

function isOwnField(value: unknown): boolean {
  if (typeof value === 'string') return cleanText(value) === value;
  return typeof value !== 'object' || value === null || isOwn(value);
}

/**
 * Copies and freezes plain data all the way down, and replaces characters that cannot be stored. Data that needs no change, or is not
 * plain, is returned as it is.
 */
export function toFrozen<Value>(value: Value): Value {
  // Holds: plain data is copied to data of the same form.
  return own(value) as Value;
}
