// All changes of a batch in one statement.
// Owns:     its text and its values.
// Does not: know what the rows mean.
// B3. A row that another transaction changed since it was read is not written over: the whole batch is refused, and tried again.
import type { StoredTable } from '../index.ts';
import type { Changes } from './changes.ts';
import type { JsonRow } from './json-row.ts';
import { recordset } from './sql.ts';
import { getColumns, inSchema, listColumns, typedColumns } from './tables.ts';

/** The parts of a statement; each has its rows as a parameter. */
export interface Statement {
  readonly values: unknown[];
  /** Adds a value, and returns its place. */
  readonly place: (value: unknown) => string;
  /** Adds a part under a name. */
  readonly add: (name: string, text: string) => void;
  /** Returns the whole text, which answers with these pairs of names and values. */
  readonly toText: (selection: string) => string;
}

export function createStatement(): Statement {
  const parts: string[] = [];
  const values: unknown[] = [];
  return {
    values,
    place: (value) => `$${values.push(value)}`,
    add: (name, text) => void parts.push(`${name} AS (${text})`),
    toText: (selection) => `${parts.length === 0 ? '' : `WITH ${parts.join(',\n')}`} SELECT json_build_object(${selection})::text AS found`,
  };
}

interface Insert {
  readonly table: StoredTable;
  readonly rows: readonly JsonRow[];
}

function insert({ place, add }: Statement, schema: string, { table, rows }: Insert): void {
  if (rows.length === 0) return;
  const source = `${listColumns(table)} FROM ${recordset(place(JSON.stringify(rows)), typedColumns(table))}`;
  add(`add_${table}`, `INSERT INTO ${inSchema(schema, table)} (${listColumns(table)}) SELECT ${source}`);
}

interface Update {
  readonly table: StoredTable;
  /** Columns that a row is found by. */
  readonly keys: readonly string[];
  readonly rows: readonly JsonRow[];
}

/** Returns an expression for the number of rows that were updated. */
function update({ place, add }: Statement, schema: string, { table, keys, rows }: Update): string {
  if (rows.length === 0) return '0';
  const source = recordset(place(JSON.stringify(rows)), `${typedColumns(table)}, old_sum bigint`);
  const columns = getColumns(table).filter((column) => !keys.includes(column));
  const set = columns.map((column) => `${column} = r.${column}`).join(', ');
  const where = [...keys.map((key) => `t.${key} = r.${key}`), '(t.sum = r.old_sum OR r.old_sum IS NULL)'].join(' AND ');
  add(`set_${table}`, `UPDATE ${inSchema(schema, table)} t SET ${set} FROM ${source} WHERE ${where} RETURNING 1`);
  return `(SELECT count(*) FROM set_${table})`;
}

/** Values of columns, or of pairs of columns. */
type Listed = Readonly<Record<string, readonly (string | number | JsonRow)[]>>;

/** Removes the rows in which one of the columns has one of its values. */
function remove({ place, add }: Statement, schema: string, [table, listed]: readonly [StoredTable, Listed]): void {
  const conditions = Object.entries(listed)
    .filter(([, list]) => list.length > 0)
    .map(([column, list]) => {
      const values = `${place(JSON.stringify(list))}::json`;
      if (typeof list[0] !== 'object')
        return `${column} IN (SELECT json_array_elements_text(${values})${typeof list[0] === 'number' ? '::bigint' : ''})`;
      return `(${column}) IN (SELECT ${column} FROM json_to_recordset(${values}) AS r(session bigint, num bigint))`;
    });
  if (conditions.length > 0) add(`drop_${table}`, `DELETE FROM ${inSchema(schema, table)} WHERE ${conditions.join(' OR ')}`);
}

/** Adds all changes to a statement. Returns expressions for the numbers of updated rows, each with the number that is right. */
export function addChanges(statement: Statement, schema: string, changes: Changes): readonly (readonly [string, number])[] {
  const { added, headers, heads, rewritten, replied, retagged, cleared, taken } = changes;
  const ids = changes.deleted.map(({ id }) => id);
  const nums = changes.deleted.flatMap((each) => each.nums);
  for (const table of ['sessions', 'heads', 'session_tags', 'log', 'effects', 'mail', 'tombstones'] as const)
    insert(statement, schema, { table, rows: added[table] });
  remove(statement, schema, ['sessions', { id: ids, num: nums }]);
  remove(statement, schema, ['heads', { session: nums }]);
  remove(statement, schema, ['session_tags', { session: [...retagged, ...nums] }]);
  remove(statement, schema, ['log', { session_id: ids, session: nums }]);
  remove(statement, schema, ['effects', { session: [...cleared, ...nums] }]);
  remove(statement, schema, ['quarantine', { id: ids, session: nums }]);
  remove(statement, schema, ['mail', { session_id: ids, session: nums, 'session, num': taken }]);
  remove(statement, schema, ['notes', { session_id: ids }]);
  update(statement, schema, { table: 'mail', keys: ['session', 'num'], rows: replied });
  return [
    [update(statement, schema, { table: 'sessions', keys: ['num'], rows: headers }), headers.length],
    [update(statement, schema, { table: 'heads', keys: ['session'], rows: heads }), heads.length],
    [update(statement, schema, { table: 'log', keys: ['session', 'n'], rows: rewritten }), rewritten.length],
  ];
}
