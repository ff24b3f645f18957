// Notes in their table.
import type { NoteQuery, NoteWrite, StoredNote } from '../index.ts';
import { checkNote, parseNoteQuery, readNoteRow, StoreUnavailableError, toNoteValues } from '../index.ts';
import type { Connection } from './connection.ts';
import { sql } from './sql.ts';
import { isIntact, withChecksum } from './tables.ts';

export function readNote(db: Connection, name: string): StoredNote | undefined {
  const row = db.get(sql.note, name);
  if (row === undefined) return undefined;
  if (!isIntact('notes', row)) throw new StoreUnavailableError('failed', `the note "${name}" does not match its checksum`);
  return readNoteRow(row);
}

/** Lists notes by their names, without damaged ones. */
export function listNotes(db: Connection, query: NoteQuery): readonly StoredNote[] {
  const { prefix, after, limit } = parseNoteQuery(query);
  return db
    .all(sql.notes, prefix, after, limit)
    .filter((row) => isIntact('notes', row))
    .map(readNoteRow);
}

/** Writes a note inside a transaction. Returns false if its version is another. */
export function writeNote(db: Connection, note: NoteWrite): boolean {
  checkNote(note);
  const { name, version, body } = note;
  if (body === undefined) return db.run(sql.dropNote, name, version) === 1;
  const values = withChecksum('notes', toNoteValues({ name, version: version + 1, body }));
  return (version === 0 ? db.run(sql.addNote, ...values) : db.run(sql.setNote, ...values.slice(1), name, version)) === 1;
}
