// The process that holds a store, in a row of its own.
// H1. A row that is damaged, or of another claim, names nobody: the number of the claim alone says who may write.
import { isRecord } from '../../lib/index.ts';
import type { StoreClaim, StoreHolder } from './session-store.ts';
import type { RowSums, StoredRow } from './stored-rows.ts';

/** A holder as it is stored. */
export interface HolderRow {
  readonly epoch: number;
  readonly beats: number;
  /** JSON text. */
  readonly body: string;
}

/** Reads the row of the holder; undefined if it is damaged or missing. */
export function readHolderRow(row: StoredRow | undefined, { isIntact }: Pick<RowSums, 'isIntact'>): HolderRow | undefined {
  if (row === undefined || !isIntact('holder', row)) return undefined;
  return { epoch: Number(row['epoch']), beats: Number(row['beats']), body: String(row['body']) };
}

/** Returns the claim that a store has. */
export function toStoreClaim(epoch: number, row: HolderRow | undefined): StoreClaim {
  if (row?.epoch !== epoch) return { epoch, beats: 0 };
  const holder: unknown = JSON.parse(row.body);
  // Holds: the row is as it was written, and holders are written whole.
  return { epoch, beats: row.beats, ...(isRecord(holder) && { holder: holder as unknown as StoreHolder }) };
}
