import { storedColumns } from '../index.ts';
import { insertInto, selected } from './tables.ts';

const headerColumns = storedColumns.sessions.slice(2);

type SqlName =
  | 'begin'
  | 'beginReading'
  | 'commit'
  | 'rollback'
  | 'dataVersion'
  | 'meta'
  | 'setMeta'
  | 'session'
  | 'addSession'
  | 'setHeader'
  | 'touchHeader'
  | 'lastNum'
  | 'head'
  | 'addHead'
  | 'setHead'
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
  | 'lost'
  | 'effects'
  | 'effect'
  | 'addEffect'
  | 'dropEffects'
  | 'holder'
  | 'setHolder'
  | 'dropHolder'
  | 'quarantined'
  | 'addQuarantine'
  | 'dropQuarantine';

/** SQL texts of a store, except for the lists of sessions. */
export const sql: Readonly<Record<SqlName, string>> = {
  begin: 'BEGIN IMMEDIATE',
  beginReading: 'BEGIN',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
  dataVersion: 'PRAGMA data_version',

  meta: `SELECT ${selected('meta')} FROM meta WHERE name = ?`,
  setMeta: 'UPDATE meta SET value = ?, sum = ? WHERE name = ?',

  session: `SELECT ${selected('sessions')} FROM sessions WHERE id = ?`,
  addSession: insertInto('sessions'),
  setHeader: `UPDATE sessions SET ${[...headerColumns, 'sum'].map((column) => `${column} = ?`).join(', ')} WHERE num = ?`,
  touchHeader: 'UPDATE sessions SET updated_at = ?, details = ?, sum = ? WHERE num = ?',
  // A number is never given twice, even if the row that had it is lost.
  lastNum: `SELECT max(coalesce((SELECT max(num) FROM sessions), 0), coalesce((SELECT max(session) FROM log), 0),
    coalesce((SELECT max(session) FROM heads), 0)) AS num`,

  head: `SELECT ${selected('heads')} FROM heads WHERE session = ?`,
  addHead: insertInto('heads'),
  setHead: 'UPDATE heads SET head = ?, effects = ?, sum = ? WHERE session = ?',

  tags: `SELECT ${selected('session_tags')} FROM session_tags WHERE session = ?`,
  addTag: insertInto('session_tags'),
  dropTags: 'DELETE FROM session_tags WHERE session = ?',

  addEntry: insertInto('log'),
  entries: `SELECT ${selected('log')} FROM log WHERE session = ? AND n >= ? AND n <= ? ORDER BY n LIMIT ?`,
  lastSnapshot: 'SELECT n FROM log WHERE session = ? AND n <= ? AND is_snapshot = 1 ORDER BY n DESC LIMIT 1',
  lastUntil: 'SELECT n FROM log WHERE session = ? AND n >= ? AND n <= ? AND last_seq <= ? ORDER BY n DESC LIMIT 1',
  request: `SELECT ${selected('log')} FROM log WHERE session = ? AND request_id = ? AND n <= ?`,
  firstEntry: `SELECT ${selected('log')} FROM log WHERE session = ? AND n = 1`,
  firstEntryOf: 'SELECT 1 FROM log WHERE session_id = ?',
  lost: `SELECT session AS num, session_id AS id FROM log WHERE session_id IS NOT NULL AND session BETWEEN ? AND ?
    AND session NOT IN (SELECT num FROM sessions) AND session_id NOT IN (SELECT id FROM sessions WHERE id IS NOT NULL)`,

  effects: `SELECT ${selected('effects')} FROM effects WHERE session = ? ORDER BY k`,
  effect: 'SELECT 1 FROM effects WHERE session = ? AND key = ? AND phase = ?',
  addEffect: insertInto('effects'),
  dropEffects: 'DELETE FROM effects WHERE session = ?',

  holder: `SELECT ${selected('holder')} FROM holder WHERE num = 1`,
  setHolder: insertInto('holder').replace('INSERT', 'INSERT OR REPLACE'),
  dropHolder: 'DELETE FROM holder',

  quarantined: `SELECT ${selected('quarantine')} FROM quarantine WHERE id = ? OR session = ?`,
  addQuarantine: `${insertInto('quarantine')} ON CONFLICT DO NOTHING`,
  dropQuarantine: 'DELETE FROM quarantine WHERE id = ?',
};
