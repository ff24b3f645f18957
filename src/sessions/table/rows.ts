// Checksums of rows, and the columns of whole rows.
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ColumnKind, RowChecks, RowSums, StoredTable } from '../index.ts';
import { columnKinds, createRowChecks, createRowSums, leaseKinds } from '../index.ts';

const sums: RowSums = createRowSums((text) => crc32(text));
export const withChecksum: RowSums['withChecksum'] = sums.withChecksum;
export const isIntact: RowSums['isIntact'] = sums.isIntact;
export const checks: RowChecks = createRowChecks(sums, (text) => createHash('sha256').update(text).digest('hex'));

/** The columns of a row, its checksum, and what the checksum leaves out, in order, with their kinds. */
export const listKinds = (table: StoredTable): readonly (readonly [string, ColumnKind])[] => [
  ...columnKinds[table],
  ['sum', 'count'],
  ...(table === 'heads' ? leaseKinds : []),
];

const columns = new Map<StoredTable, readonly string[]>();

export function listColumns(table: StoredTable): readonly string[] {
  const known = columns.get(table) ?? listKinds(table).map(([name]) => name);
  columns.set(table, known);
  return known;
}
