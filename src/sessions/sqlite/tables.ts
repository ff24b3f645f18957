// What is stored, and how a row vouches for itself.
// Owns:     the tables, and the checksum that every row has over all that it says.
// Does not: read or write them.
// Q1. Changing any column of a row is found when the row is read: the sum covers the table, every column and where one ends.
// Q2. Taking a row away is found: heads counts entries and effects, and the first entry names the session that it begins.
import { crc32 } from 'node:zlib';
import type { SqliteValue } from './sqlite-database.ts';

/** The release of the tables below. */
export const schemaVersion = 1;

/** Marks the file as ours ("Step"). */
export const applicationId = 0x53746570;

const columnsOf = {
  meta: ['name', 'value'],
  sessions: [
    'num',
    'id',
    'agent_id',
    'tenant',
    'owner',
    'tags',
    'status',
    'stop_reason',
    'is_open',
    'wake_at',
    'created_at',
    'updated_at',
    'details',
  ],
  heads: ['session', 'head', 'effects'],
  session_tags: ['session', 'tag'],
  // The long texts stand last: what stands before them is read without them.
  log: ['session', 'n', 'at', 'is_snapshot', 'execution', 'step', 'request_id', 'last_seq', 'session_id', 'body', 'events'],
  effects: ['session', 'k', 'key', 'phase', 'body'],
  quarantine: ['id', 'session', 'damage'],
} as const;

export type TableName = keyof typeof columnsOf;
export type Row = Readonly<Record<string, unknown>>;

/** The columns of a table, in the order of its checksum. */
export const columns: Readonly<Record<TableName, readonly string[]>> = columnsOf;

export const schema = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER, sum INTEGER);

  CREATE TABLE sessions (
    num INTEGER PRIMARY KEY, id TEXT UNIQUE, agent_id TEXT, tenant TEXT, owner TEXT, tags TEXT, status TEXT, stop_reason TEXT,
    is_open INTEGER, wake_at INTEGER, created_at INTEGER, updated_at INTEGER, details TEXT, sum INTEGER
  );
  CREATE INDEX sessions_tenant ON sessions (tenant) WHERE tenant IS NOT NULL;
  CREATE INDEX sessions_agent ON sessions (agent_id);
  CREATE INDEX sessions_owner ON sessions (owner) WHERE owner IS NOT NULL;
  CREATE INDEX sessions_status ON sessions (status);
  CREATE INDEX sessions_stop_reason ON sessions (stop_reason) WHERE stop_reason IS NOT NULL;
  CREATE INDEX sessions_open ON sessions (is_open) WHERE is_open = 1;
  CREATE INDEX sessions_wake ON sessions (wake_at) WHERE wake_at IS NOT NULL;

  CREATE TABLE heads (session INTEGER PRIMARY KEY, head INTEGER, effects INTEGER, sum INTEGER);

  CREATE TABLE session_tags (session INTEGER, tag TEXT, sum INTEGER);
  CREATE UNIQUE INDEX session_tags_session ON session_tags (session, tag);
  CREATE INDEX session_tags_tag ON session_tags (tag, session);

  CREATE TABLE log (
    session INTEGER, n INTEGER, at INTEGER, is_snapshot INTEGER, execution INTEGER, step INTEGER, request_id TEXT, last_seq INTEGER,
    session_id TEXT, sum INTEGER, body TEXT, events TEXT
  );
  CREATE UNIQUE INDEX log_entry ON log (session, n);
  CREATE UNIQUE INDEX log_request ON log (session, request_id) WHERE request_id IS NOT NULL;
  CREATE UNIQUE INDEX log_first ON log (session_id) WHERE session_id IS NOT NULL;

  CREATE TABLE effects (session INTEGER, k INTEGER, key TEXT, phase TEXT, body TEXT, sum INTEGER);
  CREATE INDEX effects_session ON effects (session);

  CREATE TABLE quarantine (id TEXT UNIQUE, session INTEGER, damage TEXT, sum INTEGER);
  CREATE INDEX quarantine_session ON quarantine (session);
`;

function toChecksumPart(value: unknown): string {
  if (typeof value === 'string') return `${value.length}:${value}`;
  if (typeof value === 'number') return String(value);
  return value === null ? '-' : '?';
}

function computeChecksum(table: TableName, values: readonly unknown[]): number {
  let text: string = table;
  for (const value of values) text += `,${toChecksumPart(value)}`;
  return crc32(text);
}

/** The columns of a row with its checksum behind them. */
export const withChecksum = (table: TableName, values: readonly SqliteValue[]): SqliteValue[] => [
  ...values,
  computeChecksum(table, values),
];

/** True where a row says what it said when it was written. */
export const isIntact = (table: TableName, row: Row): boolean =>
  row['sum'] ===
  computeChecksum(
    table,
    columns[table].map((column) => row[column]),
  );

/** `INSERT` for the values that `withChecksum` gives. */
export const insertInto = (table: TableName): string =>
  `INSERT INTO ${table} (${columns[table].join(', ')}, sum) VALUES (${'?, '.repeat(columns[table].length)}?)`;

/** What to select of a whole row. */
export const selected = (table: TableName): string => [...columns[table], 'sum'].join(', ');
