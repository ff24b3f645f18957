// The tables, and how damage to a row is found.
// Owns:     the tables, and the checksum that every row has over all its columns.
// Does not: read or write them.
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { RowChecks, RowSums, StoredTable } from '../index.ts';
import { createRowChecks, createRowSums, feedSum, leaseColumns, storedColumns } from '../index.ts';

/** The release of the tables below. */
export const schemaVersion = 3;

/** Marks the file as ours ("Step"). */
export const applicationId = 0x53746570;

const definitions: Readonly<Record<StoredTable, string>> = {
  meta: 'name TEXT PRIMARY KEY, value INTEGER',
  sessions: `num INTEGER PRIMARY KEY, id TEXT UNIQUE, agent_id TEXT, agent_release TEXT, format INTEGER, tenant TEXT, owner TEXT, tags TEXT,
    status TEXT, stop_reason TEXT, is_open INTEGER, wake_at INTEGER, created_at INTEGER, updated_at INTEGER, details TEXT`,
  // The tenant, empty if there is none, and the time are copies: sessions to claim are found by them.
  heads: `session INTEGER PRIMARY KEY, head INTEGER, effects INTEGER, fence INTEGER, owner TEXT, last TEXT, is_ready INTEGER,
    ready_at INTEGER, posted INTEGER, applied INTEGER, attempts INTEGER, blamed TEXT, is_stepping INTEGER, is_urgent INTEGER, tenant TEXT,
    wake_at INTEGER`,
  session_tags: 'session INTEGER, tag TEXT',
  // The long texts are last, so that the columns before them are read without them.
  log: `session INTEGER, n INTEGER, at INTEGER, is_snapshot INTEGER, execution INTEGER, step INTEGER, request_id TEXT, last_seq INTEGER,
    session_id TEXT, body TEXT, events TEXT`,
  effects: 'session INTEGER, k INTEGER, key TEXT, phase TEXT, body TEXT',
  quarantine: 'id TEXT UNIQUE, session INTEGER, damage TEXT',
  mail: 'session INTEGER, num INTEGER, session_id TEXT, request_id TEXT, at INTEGER, body TEXT, reply TEXT',
  // Not unique: a damaged id must not keep another session from being deleted.
  tombstones: 'id TEXT, num INTEGER, at INTEGER, id_copy TEXT',
  notes: 'name TEXT UNIQUE, version INTEGER, session_id TEXT, body TEXT',
};

/** Creates the tables and their indexes. The feed has the order in which entries were committed; SQLite never gives a number twice. */
export const schema: string = `
  ${Object.entries(definitions)
    .map(([table, columns]) => `CREATE TABLE ${table} (${columns}, sum INTEGER);`)
    .join('\n')}
  CREATE TABLE feed (num INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER, n INTEGER, sum INTEGER);
  CREATE UNIQUE INDEX feed_entry ON feed (session, n);
  CREATE TRIGGER log_added AFTER INSERT ON log WHEN NEW.events IS NOT NULL BEGIN
    INSERT OR IGNORE INTO feed (session, n, sum) VALUES (NEW.session, NEW.n, ${feedSum('NEW.session', 'NEW.n')});
  END;
  CREATE TRIGGER log_removed AFTER DELETE ON log BEGIN
    DELETE FROM feed WHERE session = OLD.session AND n = OLD.n;
  END;
  CREATE TABLE workers (id TEXT PRIMARY KEY, room INTEGER, beats INTEGER, beat_at INTEGER, body TEXT);
  CREATE INDEX heads_ready ON heads (tenant, attempts > 0, ready_at) WHERE is_ready = 1;
  CREATE INDEX heads_urgent ON heads (is_urgent) WHERE is_ready = 1 AND is_urgent = 1;
  CREATE INDEX heads_wake ON heads (wake_at) WHERE wake_at IS NOT NULL AND owner IS NULL AND is_ready = 0;
  CREATE INDEX heads_owner ON heads (owner) WHERE owner IS NOT NULL;
  CREATE INDEX heads_blamed ON heads (blamed) WHERE blamed IS NOT NULL;
  -- Not unique: a damaged number must not keep another mail from being posted.
  CREATE INDEX mail_num ON mail (session, num);
  CREATE INDEX mail_request ON mail (session_id, request_id);
  CREATE INDEX mail_refused ON mail (at) WHERE reply IS NOT NULL;
  CREATE INDEX tombstones_id ON tombstones (id);
  CREATE INDEX tombstones_id_copy ON tombstones (id_copy);
  CREATE INDEX tombstones_num ON tombstones (num) WHERE num IS NOT NULL;
  CREATE INDEX notes_session ON notes (session_id) WHERE session_id IS NOT NULL;
  CREATE INDEX sessions_tenant ON sessions (tenant) WHERE tenant IS NOT NULL;
  CREATE INDEX sessions_agent ON sessions (agent_id);
  CREATE INDEX sessions_owner ON sessions (owner) WHERE owner IS NOT NULL;
  CREATE INDEX sessions_status ON sessions (status);
  CREATE INDEX sessions_stop_reason ON sessions (stop_reason) WHERE stop_reason IS NOT NULL;
  CREATE INDEX sessions_open ON sessions (is_open) WHERE is_open = 1;
  CREATE INDEX sessions_wake ON sessions (wake_at) WHERE wake_at IS NOT NULL;
  CREATE UNIQUE INDEX session_tags_session ON session_tags (session, tag);
  CREATE INDEX session_tags_tag ON session_tags (tag, session);
  CREATE UNIQUE INDEX log_entry ON log (session, n);
  CREATE UNIQUE INDEX log_request ON log (session, request_id) WHERE request_id IS NOT NULL;
  CREATE UNIQUE INDEX log_first ON log (session_id) WHERE session_id IS NOT NULL;
  CREATE INDEX effects_session ON effects (session);
  CREATE INDEX quarantine_session ON quarantine (session);
`;

const sums: RowSums = createRowSums((text) => crc32(text));
export const withChecksum: RowSums['withChecksum'] = sums.withChecksum;
export const isIntact: RowSums['isIntact'] = sums.isIntact;
export const checks: RowChecks = createRowChecks(sums, (text) => createHash('sha256').update(text).digest('hex'));

/** `INSERT` for the values that `withChecksum` returns. */
export const insertInto = (table: StoredTable): string =>
  `INSERT INTO ${table} (${storedColumns[table].join(', ')}, sum) VALUES (${'?, '.repeat(storedColumns[table].length)}?)`;

const most = Number.MAX_SAFE_INTEGER;
const integers: ReadonlySet<string> = new Set(
  `num session n at is_snapshot execution step last_seq format is_open wake_at created_at updated_at head effects fence is_ready ready_at
  posted applied attempts is_stepping is_urgent room beats beat_at sum`.split(/\s+/),
);

/** Columns for a `SELECT` of many rows: a damaged number may be too large to be read, and would take all rows with it. */
export const readSafely = (columns: readonly string[]): string =>
  columns.map((column) => (integers.has(column) ? `max(min(${column}, ${most}), ${-most}) AS ${column}` : column)).join(', ');

/** The columns of a whole row, for a `SELECT` of many. */
export const listColumnsSafely = (table: StoredTable): string => readSafely([...storedColumns[table], 'sum']);

/** The columns of `heads`, in the order of the values that a batch stores. */
export const headColumns: readonly string[] = [...storedColumns.heads, 'sum', ...leaseColumns, 'tenant', 'wake_at'];

/** The columns of a whole row, for `SELECT`. */
export const listColumns = (table: StoredTable): string => [...storedColumns[table], 'sum'].join(', ');
