import { storedColumns } from '../index.ts';
import { headColumns, insertInto, listColumns, listColumnsSafely, readSafely } from './tables.ts';

const headerColumns = storedColumns.sessions.slice(2);
const setColumns = (columns: readonly string[]): string => columns.map((column) => `${column} = ?`).join(', ');

type SqlName =
  | 'begin'
  | 'beginReading'
  | 'commit'
  | 'rollback'
  | 'dataVersion'
  | 'syncLater'
  | 'syncAtOnce'
  | 'meta'
  | 'checkpoint'
  | 'session'
  | 'sessionNum'
  | 'headerAt'
  | 'addSession'
  | 'setHeader'
  | 'touchHeader'
  | 'lastNum'
  | 'head'
  | 'addHead'
  | 'setHead'
  | 'touchHead'
  | 'tags'
  | 'addTag'
  | 'dropTags'
  | 'addEntry'
  | 'entries'
  | 'lastSnapshot'
  | 'lastUntil'
  | 'request'
  | 'firstEntry'
  | 'firstEntryOf'
  | 'firstEntryNum'
  | 'setTexts'
  | 'lost'
  | 'effects'
  | 'effect'
  | 'effectsFrom'
  | 'addEffect'
  | 'dropEffects'
  | 'quarantined'
  | 'addQuarantine'
  | 'dropQuarantine'
  | 'tombstones'
  | 'addTombstone'
  | 'deletedBetween'
  | 'mail'
  | 'requestMail'
  | 'addMail'
  | 'setReply'
  | 'dropMail'
  | 'dropRequestMail'
  | 'pruneMail'
  | 'worker'
  | 'feedAfter'
  | 'feedEnd'
  | 'entryAt'
  | 'note'
  | 'notes'
  | 'dropNote'
  | 'dropSessionNotes';

// A number above this is damaged, and must not be counted on from.
const mostNum = 2 ** 52;

// Parameters have no numbers: better-sqlite3 and Node before 24.7 do not know them.
/** SQL texts of a store, except for the lists of sessions and for leases. */
export const sql: Readonly<Record<SqlName, string>> = {
  begin: 'BEGIN IMMEDIATE',
  beginReading: 'BEGIN',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
  dataVersion: 'PRAGMA data_version',
  syncLater: 'PRAGMA synchronous = NORMAL',
  syncAtOnce: 'PRAGMA synchronous = FULL',
  checkpoint: 'PRAGMA wal_checkpoint(TRUNCATE)',

  meta: `SELECT ${listColumns('meta')} FROM meta WHERE name = ?`,

  session: `SELECT ${listColumns('sessions')} FROM sessions WHERE id = ?`,
  sessionNum: `SELECT num FROM sessions WHERE id = ? AND num BETWEEN 1 AND ${Number.MAX_SAFE_INTEGER}`,
  headerAt: `SELECT ${listColumnsSafely('sessions')} FROM sessions WHERE num = ?`,
  addSession: insertInto('sessions'),
  setHeader: `UPDATE sessions SET ${setColumns([...headerColumns, 'sum'])} WHERE num = ?`,
  touchHeader: 'UPDATE sessions SET updated_at = ?, details = ?, sum = ? WHERE num = ?',
  // A number is never given twice, even if the row that had it is lost.
  lastNum: `SELECT max(coalesce((SELECT max(num) FROM sessions), 0), coalesce((SELECT max(session) FROM log), 0),
    coalesce((SELECT max(session) FROM heads), 0), coalesce((SELECT max(num) FROM tombstones WHERE num < ${mostNum}), 0)) AS num`,

  head: `SELECT ${readSafely(headColumns)} FROM heads WHERE session = ?`,
  addHead: `INSERT INTO heads (${headColumns.join(', ')}) VALUES (${headColumns.map(() => '?').join(', ')})`,
  setHead: `UPDATE heads SET ${setColumns(headColumns.slice(1))} WHERE session = ?`,
  touchHead: `UPDATE heads SET head = ?, effects = ?, sum = ?, fence = ?, last = ?, posted = ?, applied = ?, is_stepping = ?
    WHERE session = ?`,

  tags: `SELECT ${listColumns('session_tags')} FROM session_tags WHERE session = ?`,
  addTag: insertInto('session_tags'),
  dropTags: 'DELETE FROM session_tags WHERE session = ?',

  addEntry: insertInto('log'),
  entries: `SELECT ${listColumns('log')} FROM log WHERE session = ? AND n >= ? AND n <= ? ORDER BY n LIMIT ?`,
  lastSnapshot: 'SELECT n FROM log WHERE session = ? AND n <= ? AND is_snapshot = 1 ORDER BY n DESC LIMIT 1',
  lastUntil: 'SELECT n FROM log WHERE session = ? AND n >= ? AND n <= ? AND last_seq <= ? ORDER BY n DESC LIMIT 1',
  request: `SELECT ${listColumns('log')} FROM log WHERE session = ? AND request_id = ? AND n <= ?`,
  firstEntry: `SELECT ${listColumnsSafely('log')} FROM log WHERE session = ? AND n = 1`,
  firstEntryOf: 'SELECT 1 FROM log WHERE session_id = ?',
  firstEntryNum: `SELECT session FROM log WHERE session_id = ? AND session BETWEEN 1 AND ${Number.MAX_SAFE_INTEGER}`,
  setTexts: 'UPDATE log SET body = ?, events = ?, sum = ? WHERE session = ? AND n = ?',
  lost: `SELECT session AS num, session_id AS id FROM log WHERE session_id IS NOT NULL AND session BETWEEN ? AND ?
    AND session NOT IN (SELECT num FROM sessions) AND session_id NOT IN (SELECT id FROM sessions WHERE id IS NOT NULL)`,

  effects: `SELECT ${listColumns('effects')} FROM effects WHERE session = ? ORDER BY k`,
  effect: 'SELECT 1 FROM effects WHERE session = ? AND key = ? AND phase = ?',
  // In the order of the index, which is that of `k`: rows that are skipped are not read.
  effectsFrom: `SELECT ${listColumns('effects')} FROM effects WHERE session = ? AND substr(key, 1, length(?)) = ?
    ORDER BY rowid LIMIT -1 OFFSET ?`,
  addEffect: insertInto('effects'),
  dropEffects: 'DELETE FROM effects WHERE session = ?',

  quarantined: `SELECT ${listColumns('quarantine')} FROM quarantine WHERE id = ? OR session = ?`,
  addQuarantine: `${insertInto('quarantine')} ON CONFLICT DO NOTHING`,
  dropQuarantine: 'DELETE FROM quarantine WHERE id = ?',

  tombstones: `SELECT ${listColumnsSafely('tombstones')} FROM tombstones WHERE id = ? OR id_copy = ?`,
  addTombstone: insertInto('tombstones'),
  deletedBetween: 'SELECT count(*) AS count FROM tombstones WHERE num BETWEEN ? AND ?',

  mail: `SELECT ${listColumnsSafely('mail')} FROM mail WHERE session = ? AND num = ?`,
  requestMail: `SELECT ${listColumnsSafely('mail')} FROM mail WHERE session_id = ? AND request_id = ?`,
  addMail: insertInto('mail'),
  setReply: 'UPDATE mail SET reply = ?, sum = ? WHERE session = ? AND num = ?',
  dropMail: 'DELETE FROM mail WHERE session = ? AND num = ?',
  dropRequestMail: 'DELETE FROM mail WHERE session_id = ? AND request_id = ?',
  pruneMail: 'DELETE FROM mail WHERE reply IS NOT NULL AND at < ?',

  worker: 'SELECT 1 FROM workers WHERE id = ?',

  feedAfter: 'SELECT num, session, n, sum FROM feed WHERE num > ? ORDER BY num LIMIT ?',
  feedEnd: 'SELECT max(num) AS num FROM feed',
  entryAt: `SELECT ${listColumnsSafely('log')} FROM log WHERE session = ? AND n = ?`,

  note: `SELECT ${listColumnsSafely('notes')} FROM notes WHERE name = ?`,
  notes: `SELECT ${listColumnsSafely('notes')} FROM notes
    WHERE name >= ? AND substr(name, 1, length(?)) = ? AND name > ? ORDER BY name LIMIT ?`,
  dropNote: 'DELETE FROM notes WHERE name = ?',
  dropSessionNotes: 'DELETE FROM notes WHERE session_id = ?',
};
