// Notes in their table, each written by one statement.
// N1. A statement whose answer was lost is run again. If it was kept, the second one finds another version and says so: whoever writes
//     notes reads the note again, and finds its own.
import { InvalidArgumentError } from '../../lib/index.ts';
import type { NoteQuery, NoteWrite, StoredNote } from '../index.ts';
import { checkNote, parseNoteQuery, readNoteRow, StoreUnavailableError, toNoteValues } from '../index.ts';
import { isStorable } from './check-texts.ts';
import type { Query } from './connection.ts';
import { queryJson, readRow, readRows } from './connection.ts';
import { inSchema, isIntact, listColumns, withChecksum } from './tables.ts';

export async function readNote(query: Query, schema: string, name: string): Promise<StoredNote | undefined> {
  const text = `SELECT json_build_object('note', (SELECT row_to_json(n) FROM ${inSchema(schema, 'notes')} n WHERE name = $1))::text AS found`;
  const row = readRow((await queryJson(query, text, [name]))['note']);
  if (row === undefined) return undefined;
  if (!isIntact('notes', row)) throw new StoreUnavailableError('failed', `the note "${name}" does not match its checksum`);
  return readNoteRow(row);
}

/** Lists notes by their names, without damaged ones. */
export async function listNotes(query: Query, schema: string, asked: NoteQuery): Promise<readonly StoredNote[]> {
  const { prefix, after, limit } = parseNoteQuery(asked);
  const rows = `SELECT * FROM ${inSchema(schema, 'notes')} WHERE name >= $1 AND starts_with(name, $1) AND name > $2 ORDER BY name LIMIT $3::bigint`;
  const text = `SELECT json_build_object('notes', (SELECT json_agg(n ORDER BY name) FROM (${rows}) n))::text AS found`;
  const found = readRows((await queryJson(query, text, [prefix, after, limit]))['notes']);
  return found.filter((row) => isIntact('notes', row)).map(readNoteRow);
}

/** Writes a note. Returns false if its version is another. */
export async function writeNote(query: Query, schema: string, note: NoteWrite): Promise<boolean> {
  checkNote(note);
  const { name, version, body } = note;
  if (body !== undefined && !isStorable(body))
    throw new InvalidArgumentError(`The body of note "${name}" has characters that Postgres cannot store.`);
  const table = inSchema(schema, 'notes');
  if (body === undefined)
    return (await query(`DELETE FROM ${table} WHERE name = $1 AND version = $2 RETURNING 1`, [name, version])).length === 1;
  const values = withChecksum('notes', toNoteValues({ name, version: version + 1, body }));
  const text =
    version === 0
      ? `INSERT INTO ${table} (${listColumns('notes')}) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING 1`
      : `UPDATE ${table} SET version = $2, body = $3, sum = $4 WHERE name = $1 AND version = $5 RETURNING 1`;
  return (await query(text, version === 0 ? [...values] : [...values, version])).length === 1;
}
