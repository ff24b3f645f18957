// Notes in their table.
import type { NoteQuery, NoteWrite, StoredNote, StoredRow } from '../index.ts';
import { checkNote, parseNoteQuery, readNoteRow, SessionDeletedError, StoreUnavailableError, toNoteValues } from '../index.ts';
import type { Connection } from './connection.ts';
import { findDeletion } from './read-session.ts';
import { sql } from './sql.ts';
import { insertInto, isIntact, withChecksum } from './tables.ts';

const isIntactNote = (row: StoredRow): boolean => isIntact('notes', row);

export function readNote(db: Connection, name: string): StoredNote | undefined {
  const row = db.get(sql.note, name);
  if (row === undefined) return undefined;
  if (!isIntactNote(row)) throw new StoreUnavailableError('failed', `the note "${name}" does not match its checksum`);
  return readNoteRow(row);
}

/** Lists notes by their names, without damaged ones. */
export function listNotes(db: Connection, query: NoteQuery): readonly StoredNote[] {
  const { prefix, after, limit } = parseNoteQuery(query);
  return db.all(sql.notes, prefix, prefix, prefix, after, limit).filter(isIntactNote).map(readNoteRow);
}

function assertNotDeleted(db: Connection, sessionId: string): void {
  const deletedAt = findDeletion(db, sessionId);
  if (deletedAt !== undefined) throw new SessionDeletedError(sessionId, deletedAt);
}

/** Writes a note inside a transaction. Returns false if its version is another. */
export function writeNote(db: Connection, note: NoteWrite): boolean {
  checkNote(note);
  const { name, version, body, sessionId } = note;
  if (sessionId !== undefined && body !== undefined) assertNotDeleted(db, sessionId);
  if (Number(db.get(sql.note, name)?.['version'] ?? 0) !== version) return false;
  const dropped = db.run(sql.dropNote, name);
  if (body === undefined) return dropped > 0;
  db.run(insertInto('notes'), ...withChecksum('notes', toNoteValues({ ...note, version: version + 1, body })));
  return true;
}
