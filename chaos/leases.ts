import type { DatabaseSync } from 'node:sqlite';
import type { Leases } from './orders.ts';

/** The last entry and the fence of every session, as they stand in the file. */
export function readLeases(database: DatabaseSync): Leases {
  const rows = database.prepare('SELECT id, head, fence FROM sessions JOIN heads ON session = num').all();
  return Object.fromEntries(rows.map(({ id, head, fence }) => [String(id), { head: Number(head), fence: Number(fence) }]));
}
