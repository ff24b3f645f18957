import { isRecord } from '../../lib/index.ts';

/** Fields of something that came from outside; each is to be looked at. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns the fields of a value; none if it is not an object. */
export function toFields(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** Returns a value that is a list; an empty one for anything else. */
export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Reads a field that is text; undefined if it is not. */
export function readText(fields: Fields, key: string): string | undefined {
  const value = fields[key];
  return typeof value === 'string' ? value : undefined;
}

/** Reads a field that is text; '' if it is not. */
export function getText(fields: Fields, key: string): string {
  return readText(fields, key) ?? '';
}
