// Notes in their table, each written by one statement.
// N1. A statement whose answer was lost is run again. If it was kept, the second one finds another version and says so: whoever writes
//     notes reads the note again, and finds its own.
// N2. A note about a session and the deletion of that session exclude each other: either the deletion removes the note, or the note finds
//     the tombstone.
import type { NoteQuery, NoteWrite, StoredNote, StoredRow } from '../index.ts';
import { parseNoteQuery, readNoteRow, SessionDeletedError, StoreUnavailableError, toNoteValues } from '../index.ts';
import type { Changed } from './driver.ts';
import { findTombstones } from './read-session.ts';
import { checks, isIntact, withChecksum } from './rows.ts';
import type { Statement, TableWork } from './statement.ts';
import { ask, sql } from './statement.ts';

const isIntactNote = (row: StoredRow): boolean => isIntact('notes', row);

export function* readNote(name: string): TableWork<StoredNote | undefined> {
  const { rows } = yield* ask({ rows: sql`SELECT {notes} FROM @notes WHERE name = ${name}` });
  const [row] = rows;
  if (row === undefined) return undefined;
  if (!isIntactNote(row)) throw new StoreUnavailableError('failed', `the note "${name}" does not match its checksum`);
  return readNoteRow(row);
}

/** Lists notes by their names, without damaged ones. */
export function* listNotes(query: NoteQuery): TableWork<readonly StoredNote[]> {
  const { prefix, after, limit } = parseNoteQuery(query);
  const fits = sql`name >= ${prefix} AND substr(name, 1, length(${prefix})) = ${prefix} AND name > ${after}`;
  const { rows } = yield* ask({ rows: sql`SELECT {notes} FROM @notes WHERE ${fits} ORDER BY name LIMIT ${limit}` });
  return rows.filter(isIntactNote).map(readNoteRow);
}

/** Adds, replaces or removes a note. Returns nothing if its version is another. */
function putNote({ body, ...note }: NoteWrite): Statement {
  const { name, version } = note;
  if (body === undefined) return sql`DELETE FROM @notes WHERE name = ${name} AND version = ${version} RETURNING name`;
  const [, next = null, about = null, text = null, sum = null] = withChecksum(
    'notes',
    toNoteValues({ ...note, version: version + 1, body }),
  );
  if (version > 0)
    return sql`UPDATE @notes SET version = ${next}, session_id = ${about}, body = ${text}, sum = ${sum}
      WHERE name = ${name} AND version = ${version} RETURNING name`;
  return sql`INSERT INTO @notes (name, version, session_id, body, sum) VALUES (${name}, ${next}, ${about}, ${text}, ${sum})
    ON CONFLICT DO NOTHING RETURNING name`;
}

/** Writes a note. Returns false if its version is another. */
export function* writeNote(note: NoteWrite): TableWork<Changed<boolean>> {
  const { sessionId, body, isAnnounced } = note;
  if (sessionId !== undefined && body !== undefined) {
    const { tombstones } = yield* ask({ tombstones: findTombstones(sessionId) });
    const deletedAt = checks.findDeletion(sessionId, tombstones);
    if (deletedAt !== undefined) throw new SessionDeletedError(sessionId, deletedAt);
  }
  const value = (yield* ask({ put: putNote(note) })).put.length === 1;
  return { value, ...(value && isAnnounced === true && { change: { hasMail: false } }) };
}
