import type { StoredTable } from '../index.ts';
import { storedColumns } from '../index.ts';
import { withChecksum } from './tables.ts';

/** A row by its columns. */
export type JsonRow = Readonly<Record<string, unknown>>;

/** A row for `json_to_recordset`. */
export function toJsonRow(table: StoredTable, values: Parameters<typeof withChecksum>[1]): JsonRow {
  const row: Record<string, unknown> = {};
  const names: readonly string[] = storedColumns[table];
  for (const [index, value] of withChecksum(table, values).entries()) row[names[index] ?? 'sum'] = value;
  return row;
}
