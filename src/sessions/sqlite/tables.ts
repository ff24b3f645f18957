// The tables, and how damage to a row is found.
// Owns:     the tables, and the checksum that every row has over all its columns.
// Does not: read or write them.
import type { StoredTable } from '../index.ts';
import { columnKinds, feedSum, leaseKinds } from '../index.ts';
import { listColumns } from '../table/index.ts';

/** The release of the tables below. */
export const schemaVersion = 3;

/** Marks the file as ours ("Step"). */
export const applicationId = 0x53746570;

const keys: Readonly<Record<string, string>> = {
  ...{ 'meta.name': ' PRIMARY KEY', 'sessions.num': ' PRIMARY KEY', 'heads.session': ' PRIMARY KEY' },
  ...{ 'sessions.id': ' UNIQUE', 'quarantine.id': ' UNIQUE', 'notes.name': ' UNIQUE' },
};

/** Copies in `heads` of the tenant, empty if there is none, and of the time: sessions to claim are found by them. */
const copies = { tenant: 'text', wake_at: 'number' } as const;

// Holds: those are its keys.
const tables = Object.keys(columnKinds) as readonly StoredTable[];

function createTable(table: StoredTable): string {
  const kinds = [...columnKinds[table], ...(table === 'heads' ? [...leaseKinds, ...Object.entries(copies)] : [])];
  const columns = kinds.map(([name, kind]) => `${name} ${kind === 'text' ? 'TEXT' : 'INTEGER'}${keys[`${table}.${name}`] ?? ''}`);
  return `CREATE TABLE ${table} (${columns.join(', ')}, sum INTEGER);`;
}

/** Creates the tables and their indexes. The feed has the order in which entries were committed; SQLite never gives a number twice. */
export const schema: string = `
  ${tables.map(createTable).join('\n')}
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

const most = Number.MAX_SAFE_INTEGER;
const integers: ReadonlySet<string> = new Set([
  ...[...Object.values(columnKinds), leaseKinds].flatMap((kinds) => [...kinds].flatMap(([name, kind]) => (kind === 'text' ? [] : name))),
  ...['sum', 'room', 'beats'],
]);

/** Columns for a `SELECT` of many rows: a damaged number may be too large to be read, and would take all rows with it. */
export const readSafely = (columns: readonly string[]): string =>
  columns.map((column) => (integers.has(column) ? `max(min(${column}, ${most}), ${-most}) AS ${column}` : column)).join(', ');

const stored = new Map(
  tables.map((table) => {
    const columns = [...listColumns(table), ...(table === 'heads' ? Object.keys(copies) : [])];
    const conflict = table === 'quarantine' ? ' ON CONFLICT DO NOTHING' : '';
    const insert = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})${conflict}`;
    return [table, { columns, insert }];
  }),
);

/** The columns of a row as they are stored, in the order of its values. */
export const getColumns = (table: StoredTable): readonly string[] => stored.get(table)?.columns ?? [];

/** Returns an `INSERT` for the values of a row. Damage that was noted before stays. */
export const insertInto = (table: StoredTable): string => stored.get(table)?.insert ?? '';
