// Notes in their tables, each written by one statement.
// N1. A statement whose answer was lost is run again. If it was kept, the second one finds another version and says so: whoever writes
//     notes reads the note again, and finds its own.
// N2. A note about a session and the deletion of that session exclude each other, as mails do.
import { InvalidArgumentError } from '../../lib/index.ts';
import type { NoteQuery, NoteWrite, StoredNote, StoredRow } from '../index.ts';
import {
  checkNote,
  getNoteTable,
  parseNoteQuery,
  readNoteRow,
  SessionDeletedError,
  StoreUnavailableError,
  toNoteValues,
} from '../index.ts';
import { isStorable } from './check-texts.ts';
import type { Query } from './connection.ts';
import { queryJson, readRow, readRows } from './connection.ts';
import type { MailPlace } from './mailbox.ts';
import { lockSessions } from './mailbox.ts';
import { matchTombstone } from './sql.ts';
import { checks, inSchema, isIntact, listColumns, withChecksum } from './tables.ts';

// A damaged session makes it a row of the other table, with another checksum.
const isIntactNote = (row: StoredRow): boolean => isIntact(row['session_id'] === null ? 'notes' : 'session_notes', row);

/** Selects notes, those about sessions too. */
const selectNotes = (schema: string, where: string): string =>
  `SELECT ${listColumns('notes')}, NULL AS session_id FROM ${inSchema(schema, 'notes')} WHERE ${where}
    UNION ALL SELECT ${listColumns('notes')}, session_id FROM ${inSchema(schema, 'session_notes')} WHERE ${where}`;

export async function readNote(query: Query, schema: string, name: string): Promise<StoredNote | undefined> {
  // Those about sessions first: a note that an earlier build has written since is older.
  const rows = `${selectNotes(schema, 'name = $1')} ORDER BY session_id NULLS LAST LIMIT 1`;
  const row = readRow(
    (await queryJson(query, `SELECT json_build_object('note', (SELECT row_to_json(n) FROM (${rows}) n))::text AS found`, [name]))['note'],
  );
  if (row === undefined) return undefined;
  if (!isIntactNote(row)) throw new StoreUnavailableError('failed', `the note "${name}" does not match its checksum`);
  return readNoteRow(row);
}

/** Lists notes by their names, without damaged ones. */
export async function listNotes(query: Query, schema: string, asked: NoteQuery): Promise<readonly StoredNote[]> {
  const { prefix, after, limit } = parseNoteQuery(asked);
  const rows = `${selectNotes(schema, 'name >= $1 AND starts_with(name, $1) AND name > $2')} ORDER BY name LIMIT $3::bigint`;
  const text = `SELECT json_build_object('notes', (SELECT json_agg(n ORDER BY name) FROM (${rows}) n))::text AS found`;
  const found = readRows((await queryJson(query, text, [prefix, after, limit]))['notes']);
  return found.filter(isIntactNote).map(readNoteRow);
}

async function assertNotDeleted(query: Query, schema: string, sessionId: string): Promise<void> {
  const rows = `SELECT json_agg(t) FROM ${inSchema(schema, 'tombstones')} t WHERE ${matchTombstone('$1::text')}`;
  const found = await queryJson(query, `SELECT json_build_object('tombstones', (${rows}))::text AS found`, [sessionId]);
  const deletedAt = checks.findDeletion(sessionId, readRows(found['tombstones']));
  if (deletedAt !== undefined) throw new SessionDeletedError(sessionId, deletedAt);
}

/** Adds a note. Returns false if there is one of its name. */
async function insertNote(query: Query, schema: string, note: StoredNote): Promise<boolean> {
  const table = getNoteTable(note);
  const values = withChecksum(table, toNoteValues({ ...note, version: note.version + 1 }));
  const places = values.map((_, index) => `$${index + 1}`).join(', ');
  const text = `INSERT INTO ${inSchema(schema, table)} (${listColumns(table)}) VALUES (${places}) ON CONFLICT DO NOTHING RETURNING 1`;
  return (await query(text, [...values])).length === 1;
}

/** Adds or replaces a note in its table. Returns false if its version is another. */
async function putNote(query: Query, schema: string, note: StoredNote): Promise<boolean> {
  const { version } = note;
  if (version === 0) return insertNote(query, schema, note);
  const table = getNoteTable(note);
  const values = withChecksum(table, toNoteValues({ ...note, version: version + 1 }));
  const columns = listColumns(table).split(', ');
  const set = columns.map((column, index) => `${column} = $${index + 1}`).join(', ');
  const text = `UPDATE ${inSchema(schema, table)} SET ${set} WHERE name = $1 AND version = $${columns.length + 1} RETURNING 1`;
  return (await query(text, [...values, version])).length === 1;
}

async function dropNote(query: Query, schema: string, { name, version }: NoteWrite): Promise<boolean> {
  const drop = (table: 'notes' | 'session_notes'): string =>
    `DELETE FROM ${inSchema(schema, table)} WHERE name = $1 AND version = $2 RETURNING 1`;
  const text = `WITH one AS (${drop('notes')}), other AS (${drop('session_notes')}) SELECT 1 FROM one UNION ALL SELECT 1 FROM other`;
  return (await query(text, [name, version])).length === 1;
}

/** Adds or replaces a note about a session, inside a transaction. One of an earlier build did not say so, and is moved. */
async function putSessionNote(query: Query, schema: string, note: StoredNote): Promise<boolean> {
  const { name, version } = note;
  const others = inSchema(schema, 'notes');
  if (version === 0) {
    const isTaken = (await query(`SELECT 1 FROM ${others} WHERE name = $1`, [name])).length > 0;
    return !isTaken && putNote(query, schema, note);
  }
  if (await putNote(query, schema, note)) return true;
  const isMoved = (await query(`DELETE FROM ${others} WHERE name = $1 AND version = $2 RETURNING 1`, [name, version])).length === 1;
  return isMoved && insertNote(query, schema, note);
}

/** Writes a note. Returns false if its version is another. */
export async function writeNote(query: Query, { schema, sql }: MailPlace, note: NoteWrite): Promise<boolean> {
  checkNote(note);
  const { name, body, sessionId } = note;
  if ([name, sessionId, body].some((each) => each !== undefined && !isStorable(each)))
    throw new InvalidArgumentError(`Note "${name}" has characters that Postgres cannot store.`);
  if (body === undefined) return dropNote(query, schema, note);
  if (sessionId === undefined) return putNote(query, schema, { ...note, body });
  await query(`${sql.begin}; ${lockSessions(schema, [sessionId], true)}`);
  await assertNotDeleted(query, schema, sessionId);
  const isWritten = await putSessionNote(query, schema, { ...note, body });
  await query('COMMIT');
  return isWritten;
}
