import type { DatabaseSync } from 'node:sqlite';

/** The number of the last entry of every session, as it stands in the file. */
export function readHeads(database: DatabaseSync): Readonly<Record<string, number>> {
  const rows = database.prepare('SELECT id, head FROM sessions JOIN heads ON session = num').all();
  return Object.fromEntries(rows.map(({ id, head }) => [String(id), Number(head)]));
}
