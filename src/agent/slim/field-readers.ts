// Readers of single fields, and the reader of an object that is made of them.
import type { Json, JsonObject, ObjectReader, ReadValue } from '../../lib/index.ts';
import { childPath, DamagedDataError, readAmount, readObject } from '../../lib/index.ts';

/** Reads one field of an object. */
export type FieldReader<Value> = (data: ObjectReader, key: string) => Value;

export const string: FieldReader<string> = (data, key) => data.string(key);
export const number: FieldReader<number> = (data, key) => data.number(key);
/** A number of 0 or more. */
export const amount: FieldReader<number> = (data, key) => data.value(key, readAmount);
export const boolean: FieldReader<boolean> = (data, key) => data.boolean(key);
export const jsonObject: FieldReader<JsonObject> = (data, key) => data.jsonObject(key);
/** Any JSON value, or none. Null is a value. */
export const json: FieldReader<Json | undefined> = (data, key) => data.optionalJson(key);

/** A date and time as text, kept as text. */
export const time: FieldReader<string> = (data, key) => {
  const text = data.string(key);
  if (!Number.isNaN(Date.parse(text))) return text;
  throw new DamagedDataError(childPath(data.path, key), `expected a date and time, found ${JSON.stringify(text.slice(0, 60))}`);
};

export const oneOf = <Value extends string>(values: Readonly<Record<string, Value>> | readonly Value[]): FieldReader<Value> => {
  const list = Object.values(values);
  return (data, key) => data.oneOf(key, list);
};

export const object =
  <Value>(read: ReadValue<Value>): FieldReader<Value> =>
  (data, key) =>
    data.value(key, read);

export const array =
  <Item>(read: ReadValue<Item>): FieldReader<readonly Item[]> =>
  (data, key) =>
    data.array(key, read);

export const optional =
  <Value>(field: FieldReader<Value>): FieldReader<Value | undefined> =>
  (data, key) =>
    data.optionalValue(key, () => field(data, key));

export const optionalString: FieldReader<string | undefined> = (data, key) => data.optionalString(key);
export const optionalBoolean: FieldReader<boolean | undefined> = (data, key) => data.optionalBoolean(key);
export const optionalNumber: FieldReader<number | undefined> = (data, key) => data.optionalNumber(key);

/** A field that must be there and may be null. */
export const nullable =
  <Value>(field: FieldReader<Value>): FieldReader<Value | null> =>
  (data, key) => {
    if (!data.has(key)) throw new DamagedDataError(childPath(data.path, key), 'expected a value or null, found nothing');
    return data.optionalValue(key, () => field(data, key)) ?? null;
  };

/** Reads an object by a reader for each of its fields. Other fields are ignored. */
export function createReader<Value extends object>(fields: {
  readonly [Key in keyof Value]-?: FieldReader<Value[Key]>;
}): ReadValue<Value> {
  return (input, path) => {
    const data = readObject(input, path);
    const value: Partial<Value> = {};
    for (const key in fields) {
      const found = fields[key](data, key);
      if (found !== undefined) value[key] = found;
    }
    // Holds: a field that is not optional has a reader that throws if it is missing.
    return value as Value;
  };
}
