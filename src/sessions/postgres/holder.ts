import type { HolderRow, StoreClaim } from '../index.ts';
import { readHolderRow, toStoreClaim } from '../index.ts';
import type { Query } from './connection.ts';
import { queryJson, readRow } from './connection.ts';
import type { Sql } from './sql.ts';
import { isIntact, withChecksum } from './tables.ts';

interface FoundHolder {
  readonly epoch: number;
  readonly row: HolderRow | undefined;
}

export async function findHolder(query: Query, sql: Sql): Promise<FoundHolder> {
  const found = await queryJson(query, sql.holder);
  return { epoch: Number(found['epoch']), row: readHolderRow(readRow(found['holder']), { isIntact }) };
}

export async function setHolder(query: Query, sql: Sql, row: HolderRow | undefined): Promise<void> {
  if (row === undefined) await query(sql.dropHolder);
  else await query(sql.setHolder, [...withChecksum('holder', [1, row.epoch, row.beats, row.body])]);
}

/** Reads who holds the store. */
export async function readClaim(query: Query, sql: Sql): Promise<StoreClaim> {
  const { epoch, row } = await findHolder(query, sql);
  return toStoreClaim(epoch, row);
}
