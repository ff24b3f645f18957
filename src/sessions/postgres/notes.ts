// Notes in their tables, each written by one statement.
// N1. A statement whose answer was lost is run again. If it was kept, the second one finds another version and says so: whoever writes
//     notes reads the note again, and finds its own.
// N2. A note about a session and the deletion of that session exclude each other: either the deletion removes the note, or the note finds
//     the tombstone.
import { InvalidArgumentError } from '../../lib/index.ts';
import type { NoteQuery, NoteWrite, StoredNote, StoredRow } from '../index.ts';
import { checkNote, parseNoteQuery, readNoteRow, SessionDeletedError, StoreUnavailableError, toNoteValues } from '../index.ts';
import { toChannel, toPayload } from './change-feed.ts';
import { isStorable } from './check-texts.ts';
import type { Query } from './connection.ts';
import { queryJson, readRow, readRows } from './connection.ts';
import { lockText } from './locks.ts';
import type { Sql } from './sql.ts';
import { matchTombstone } from './sql.ts';
import { checks, inSchema, isIntact, listColumns, withChecksum } from './tables.ts';

/** The store that notes belong to. */
export interface NotePlace {
  readonly schema: string;
  readonly sql: Sql;
}

const isIntactNote = (row: StoredRow): boolean => isIntact('notes', row);

const selectNotes = (schema: string, where: string): string => `SELECT * FROM ${inSchema(schema, 'notes')} WHERE ${where}`;

export async function readNote(query: Query, schema: string, name: string): Promise<StoredNote | undefined> {
  const rows = selectNotes(schema, 'name = $1');
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

/** Adds, replaces or removes a note. Returns false if its version is another. */
async function putNote(query: Query, schema: string, { body, ...note }: NoteWrite): Promise<boolean> {
  const { name, version } = note;
  const notes = inSchema(schema, 'notes');
  if (body === undefined)
    return (await query(`DELETE FROM ${notes} WHERE name = $1 AND version = $2 RETURNING 1`, [name, version])).length === 1;
  const values = withChecksum('notes', toNoteValues({ ...note, version: version + 1, body }));
  const columns = listColumns('notes');
  const places = values.map((_, index) => `$${index + 1}`).join(', ');
  const text =
    version === 0
      ? `INSERT INTO ${notes} (${columns}) VALUES (${places}) ON CONFLICT DO NOTHING RETURNING 1`
      : `UPDATE ${notes} SET (${columns}) = ROW (${places}) WHERE name = $1 AND version = $${values.length + 1} RETURNING 1`;
  return (await query(text, version === 0 ? [...values] : [...values, version])).length === 1;
}

async function write(query: Query, { schema, sql }: NotePlace, note: NoteWrite): Promise<boolean> {
  const { name, body, sessionId } = note;
  if ([name, sessionId, body].some((each) => each !== undefined && !isStorable(each)))
    throw new InvalidArgumentError(`Note "${name}" has characters that Postgres cannot store.`);
  if (body === undefined || sessionId === undefined) return putNote(query, schema, note);
  await query(`${sql.begin}; ${lockText(schema, { named: [sessionId] })}`);
  await assertNotDeleted(query, schema, sessionId);
  const isWritten = await putNote(query, schema, note);
  await query('COMMIT');
  return isWritten;
}

/** Writes a note. Returns false if its version is another. */
export async function writeNote(query: Query, place: NotePlace, note: NoteWrite): Promise<boolean> {
  checkNote(note);
  const isWritten = await write(query, place, note);
  if (isWritten && note.isAnnounced === true)
    await query('SELECT pg_notify($1, $2)', [toChannel(place.schema), toPayload({ hasMail: false })]);
  return isWritten;
}
