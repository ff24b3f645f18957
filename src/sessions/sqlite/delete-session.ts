// Removing everything of a session; its tombstone has a digest of the id.
// X1. The rows of another session are never touched, whatever is damaged: a number counts only if no intact row gives it to another.
// X2. A damaged session can be deleted, as far as its rows can be found.
import { toTombstoneValues } from '../index.ts';
import type { Connection } from './connection.ts';
import { findDeletion } from './read-session.ts';
import { sql } from './sql.ts';
import { checks, isIntact, withChecksum } from './tables.ts';

function isOfAnother(db: Connection, num: number, sessionId: string): boolean {
  const header = db.get(sql.headerAt, num);
  const first = db.get(sql.firstEntry, num);
  return (
    (header !== undefined && header['id'] !== sessionId && isIntact('sessions', header)) ||
    (first !== undefined && first['session_id'] !== sessionId && isIntact('log', first))
  );
}

/** Finds the number of a session. With damage, the header and the first entry may have different ones. */
function findNumbers(db: Connection, sessionId: string): readonly number[] {
  const numbers = new Set([db.get(sql.sessionNum, sessionId)?.['num'], db.get(sql.firstEntryNum, sessionId)?.['session']]);
  return [...numbers].filter((num): num is number => typeof num === 'number' && !isOfAnother(db, num, sessionId));
}

const tablesByNumber = ['log', 'heads', 'effects', 'session_tags', 'quarantine', 'mail'] as const;

/** Deletes a session inside a transaction, and keeps a tombstone. */
export function deleteSession(db: Connection, sessionId: string, at: number): void {
  const numbers = findNumbers(db, sessionId);
  for (const num of numbers) {
    for (const table of tablesByNumber) db.run(`DELETE FROM ${table} WHERE session = ?`, num);
    db.run('DELETE FROM sessions WHERE num = ?', num);
  }
  db.run('DELETE FROM sessions WHERE id = ?', sessionId);
  db.run(sql.dropQuarantine, sessionId);
  db.run('DELETE FROM mail WHERE session_id = ?', sessionId);
  db.run(sql.dropSessionNotes, sessionId);
  const [num] = numbers;
  if (findDeletion(db, sessionId) !== undefined) return;
  db.run(
    sql.addTombstone,
    ...withChecksum('tombstones', toTombstoneValues({ id: checks.toTombstoneId(sessionId), at, ...(num !== undefined && { num }) })),
  );
}
