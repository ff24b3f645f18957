// The changes of a batch, each by a statement of its own.
// Y1. Columns that stay as they are are not written: their indexes are left alone.
import type { StoredTable, StoredValue } from '../index.ts';
import { RowChangedError } from '../table/index.ts';
import type { Change } from '../table/index.ts';
import type { Connection } from './connection.ts';
import { getColumns, insertInto } from './tables.ts';

const match = (columns: readonly string[]): string => columns.map((column) => `${column} = ?`).join(' AND ');
const countKeys = (table: StoredTable): number => (table === 'log' || table === 'mail' ? 2 : 1);

const texts = new Map<string, Map<number, string>>();

/** Returns an `UPDATE` of the columns at these places, one bit each: always the same text, so that it is prepared once. */
function getText(table: StoredTable, places: number, keys: number): string {
  const known = texts.get(table) ?? new Map<number, string>();
  texts.set(table, known);
  const columns = getColumns(table);
  const set = (): string => columns.flatMap((column, at) => ((places >> at) % 2 === 0 ? [] : `${column} = ?`)).join(', ');
  const text = known.get(places) ?? `UPDATE ${table} SET ${set()} WHERE ${match(columns.slice(0, keys))}`;
  known.set(places, text);
  return text;
}

function update(db: Connection, { table, values, before }: Extract<Change, { readonly type: 'set' }>): number {
  const keys = countKeys(table);
  const changed: StoredValue[] = [];
  let places = 0;
  for (let at = 0; at < values.length; at += 1) {
    if (values[at] === before[at]) continue;
    places |= 1 << at;
    changed.push(values[at] ?? null);
  }
  return db.run(getText(table, places, keys), ...changed, ...values.slice(0, keys));
}

/** Applies a change inside a transaction. */
export function applyChange(db: Connection, change: Change): void {
  if (change.type === 'add') db.run(insertInto(change.table), ...change.values);
  else if (change.type === 'remove') db.run(`DELETE FROM ${change.table} WHERE ${match(change.columns)}`, ...change.values);
  else if (update(db, change) !== 1) throw new RowChangedError(`a row of ${change.table} is missing`);
}
