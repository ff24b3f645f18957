import type { HolderRow, StoreClaim } from '../index.ts';
import { readHolderRow, toStoreClaim } from '../index.ts';
import type { Connection } from './connection.ts';
import { sql } from './sql.ts';
import { isIntact, withChecksum } from './tables.ts';

export const findHolder = (db: Connection): HolderRow | undefined => readHolderRow(db.get(sql.holder), { isIntact });

export function setHolder(db: Connection, row: HolderRow | undefined): void {
  if (row === undefined) db.run(sql.dropHolder);
  else db.run(sql.setHolder, ...withChecksum('holder', [1, row.epoch, row.beats, row.body]));
}

/** Reads who holds the store. */
export const readClaim = (db: Connection): StoreClaim => toStoreClaim(Number(db.get(sql.meta, 'epoch')?.['value'] ?? 0), findHolder(db));
