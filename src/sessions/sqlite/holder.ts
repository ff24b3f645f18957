// The process that holds the store, in its own row.
// H1. A row that is damaged, or of another claim, names nobody: the number of the claim alone says who may write.
import { isRecord } from '../../lib/index.ts';
import type { StoreClaim, StoreHolder } from '../index.ts';
import type { Connection } from './connection.ts';
import { sql } from './sql.ts';
import { isIntact, withChecksum } from './tables.ts';

/** A holder as it is stored. */
interface HolderRow {
  readonly epoch: number;
  readonly beats: number;
  /** JSON text. */
  readonly body: string;
}

function findHolder(db: Connection): HolderRow | undefined {
  const row = db.get(sql.holder);
  if (row === undefined || !isIntact('holder', row)) return undefined;
  return { epoch: Number(row['epoch']), beats: Number(row['beats']), body: String(row['body']) };
}

export function setHolder(db: Connection, row: HolderRow | undefined): void {
  if (row === undefined) db.run(sql.dropHolder);
  else db.run(sql.setHolder, ...withChecksum('holder', [1, row.epoch, row.beats, row.body]));
}

/** Counts a sign of life of the holder, if it has said who it is. */
export function addBeat(db: Connection, epoch: number): void {
  const row = findHolder(db);
  if (row?.epoch === epoch) setHolder(db, { ...row, beats: row.beats + 1 });
}

/** Reads who holds the store. */
export function readClaim(db: Connection): StoreClaim {
  const epoch = Number(db.get(sql.meta, 'epoch')?.['value'] ?? 0);
  const row = findHolder(db);
  if (row?.epoch !== epoch) return { epoch, beats: 0 };
  const holder: unknown = JSON.parse(row.body);
  // Holds: the row is as it was written, and holders are written whole.
  return { epoch, beats: row.beats, ...(isRecord(holder) && { holder: holder as unknown as StoreHolder }) };
}
