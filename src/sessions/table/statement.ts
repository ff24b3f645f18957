// Statements, and work that asks for the rows of some.
// Owns:     their form: a database turns it into its own.
// Does not: run anything.
// D1. In a text, `@log` is a table of the store, `{log}` all columns of one, numbers no larger than JavaScript can hold, `wanted(?)` the
//     rows `id`, `ref` and `num` of a JSON list, named `w`, and `?` a value.
// D2. The rows of one reading are of one moment.
import type { StoredRow, StoredValue } from '../index.ts';

/** A statement, or a part of one, with its values in the order of their places. */
export interface Statement {
  readonly text: string;
  readonly values: readonly StoredValue[];
  /** True if it need not run if the first statement of its reading finds something. */
  readonly isForMissing?: boolean;
}

/** Writes a statement. Whatever stands in it is a value, or a part with values of its own. */
export function sql(texts: TemplateStringsArray, ...parts: readonly (StoredValue | Statement)[]): Statement {
  let text = texts[0] ?? '';
  const values: StoredValue[] = [];
  for (const [index, part] of parts.entries()) {
    const isPart = typeof part === 'object' && part !== null;
    if (isPart) values.push(...part.values);
    else values.push(part);
    text += (isPart ? part.text : '?') + (texts[index + 1] ?? '');
  }
  return { text, values };
}

/** A part without values. */
export const raw = (text: string): Statement => ({ text, values: [] });

/** Joins parts, each of which is a condition. */
export const joinConditions = (conditions: readonly Statement[]): Statement => ({
  text: conditions.map(({ text }) => text).join(' AND ') || 'TRUE',
  values: conditions.flatMap(({ values }) => values),
});

/** Something that a statement is about: a session, and what is asked for of it. */
export interface Wanted {
  readonly id?: string;
  readonly ref?: string;
  readonly num?: number;
}

/** The rows that a list stands for, as the table `w`. */
export const listWanted = (wanted: readonly Wanted[]): Statement => sql`${raw('wanted(')}${JSON.stringify(wanted)}${raw(')')}`;

/** Statements that are answered together. Those that change something return rows too. */
export interface Reading {
  /** A statement without values that runs and is committed before. */
  readonly before?: string | undefined;
  /** Rows that the statements know as the table `page`. */
  readonly page?: Statement | undefined;
  readonly parts: readonly Statement[];
}

type Rows = readonly StoredRow[];
const noRows: Rows = [];

/** Work on the tables. A database answers what it asks for, each in its own way. */
export type TableWork<Value> = Generator<Reading, Value, readonly Rows[]>;

/** Asks for the rows of statements, by their names. One that is undefined has none. */
export function* ask<Name extends string>(
  asked: Readonly<Record<Name, Statement | undefined>>,
  page?: Statement,
  before?: string,
): TableWork<Readonly<Record<Name, Rows>>> {
  // Holds: those are its keys.
  const names = Object.keys(asked) as Name[];
  const given = names.filter((name) => asked[name] !== undefined);
  const found = given.length === 0 ? [] : yield { before, page, parts: given.map((name) => asked[name] ?? raw('')) };
  const rows: Partial<Record<Name, Rows>> = {};
  for (const name of names) rows[name] = noRows;
  for (const [index, name] of given.entries()) rows[name] = found[index] ?? noRows;
  // Holds: every name has a list.
  return rows as Record<Name, Rows>;
}
