// The rows of stores that keep sessions in tables.
// Owns:     the columns of each table, the values of a row, reading them back, and the text that a checksum is made of.
// Does not: know a database, or compute the checksum: that is the store's.
// Q1. Changing any column of a row is found when the row is read: the sum covers the table, every column and the boundaries between them.
// Q2. Removing a row is found: heads counts entries and effects, and the first entry names the session that it begins.
// Q3. A tombstone has the id twice: the session stays deleted if one of them is damaged.
// Q4. A tombstone has a digest of the id: it is known again, and nobody can read it.
import type { EffectRow } from '../../journal/index.ts';
import { StopReason } from '../../continuation/index.ts';
import { cleanText, omitUndefined, readArray, readObject, readString } from '../../lib/index.ts';
import { ExecutionStatus } from '../../step-by-step/index.ts';
import type { LeaseRow } from './lease-row.ts';
import type { LogEntry, Mail, SessionHeader, StoredNote } from './session-store.ts';

/** Kind of the values of a column. A count is a whole number that the store keeps; a number may have any value of JavaScript's. */
export type ColumnKind = 'count' | 'number' | 'flag' | 'text';

const columns = {
  meta: 'name:text value:count',
  sessions: `num:count id:text agent_id:text agent_release:text format:number tenant:text owner:text tags:text status:text stop_reason:text
    is_open:flag wake_at:number created_at:number updated_at:number details:text`,
  heads: 'session:count head:count effects:count',
  session_tags: 'session:count tag:text',
  // The long texts are last, so that the columns before them are read without them.
  log: `session:count n:count at:number is_snapshot:flag execution:number step:number request_id:text last_seq:number session_id:text
    body:text events:text`,
  effects: 'session:count k:count key:text phase:text body:text',
  quarantine: 'id:text session:count damage:text',
  mail: 'session:count num:count session_id:text request_id:text at:number body:text reply:text',
  tombstones: 'id:text num:count at:number id_copy:text',
  notes: 'name:text version:count session_id:text body:text',
};
const ofLease = `fence:count owner:text last:text is_ready:flag ready_at:number posted:count applied:count attempts:count blamed:text
  is_stepping:flag is_urgent:flag`;

export type StoredTable = keyof typeof columns;

const parseColumns = (text: string): ReadonlyMap<string, ColumnKind> =>
  // Holds: that is how they are written above.
  new Map(text.split(/\s+/).map((column) => column.split(':') as [string, ColumnKind]));

const mapTables = <Value>(toValue: (text: string) => Value): Readonly<Record<StoredTable, Value>> =>
  // Holds: the tables are the same.
  Object.fromEntries(Object.entries(columns).map(([table, text]) => [table, toValue(text)])) as Record<StoredTable, Value>;

/** The kinds of the columns of each table. */
export const columnKinds: Readonly<Record<StoredTable, ReadonlyMap<string, ColumnKind>>> = mapTables(parseColumns);

/** The columns of each table, in the order of its checksum. */
export const storedColumns: Readonly<Record<StoredTable, readonly string[]>> = mapTables((text) => [...parseColumns(text).keys()]);

/**
 * Columns of `heads` that say who runs a session. They are not part of its checksum: the store changes them for many sessions at once. Who
 * writes with a wrong one is refused, or a session is claimed again.
 */
export const leaseKinds: ReadonlyMap<string, ColumnKind> = parseColumns(ofLease);
export const leaseColumns: readonly string[] = [...leaseKinds.keys()];

/** A row as it was read, by column. */
export type StoredRow = Readonly<Record<string, unknown>>;
export type StoredValue = string | number | null;

function toChecksumPart(value: unknown): string {
  if (typeof value === 'string') return `${value.length}:${value}`;
  if (typeof value === 'number') return String(value);
  return value === null ? '-' : '?';
}

/** Checksums of rows. */
export interface RowSums {
  /** Values of a row, with null for each that is absent and the checksum at the end. */
  readonly withChecksum: (table: StoredTable, values: readonly (StoredValue | undefined)[]) => readonly StoredValue[];
  /** True if a row reads as it was written. */
  readonly isIntact: (table: StoredTable, row: StoredRow) => boolean;
}

/** Computes checksums of rows with the given function. */
export function createRowSums(sum: (text: string) => number): RowSums {
  function computeChecksum(table: StoredTable, values: readonly unknown[]): number {
    let text: string = table;
    for (const value of values) text += `,${toChecksumPart(value)}`;
    return sum(text);
  }
  return {
    withChecksum: (table, values) => {
      const row: StoredValue[] = [];
      for (const value of values) row.push(value ?? null);
      row.push(computeChecksum(table, row));
      return row;
    },
    isIntact: (table, row) => {
      const values = storedColumns[table].map((column) => row[column]);
      return row['sum'] === computeChecksum(table, values);
    },
  };
}

type Values = readonly (StoredValue | undefined)[];

export function toHeaderValues(num: number, header: SessionHeader): Values {
  return [
    num,
    header.id,
    header.agentName,
    header.agentRelease,
    header.format,
    header.tenant,
    header.owner,
    JSON.stringify(header.tags),
    header.status,
    header.stopReason,
    header.isOpen ? 1 : 0,
    header.wakeAt,
    header.createdAt,
    header.updatedAt,
    header.details,
  ];
}

/** Reads the header of a row whose checksum is right. */
export function readHeader(row: StoredRow): SessionHeader {
  const data = readObject(row, 'sessions');
  return omitUndefined({
    id: data.string('id'),
    agentName: data.string('agent_id'),
    agentRelease: data.string('agent_release'),
    format: data.number('format'),
    tenant: data.optionalString('tenant'),
    owner: data.optionalString('owner'),
    tags: readArray(JSON.parse(data.string('tags')), 'sessions.tags', readString),
    status: data.oneOf('status', Object.values(ExecutionStatus)),
    stopReason: data.optionalOneOf('stop_reason', Object.values(StopReason)),
    isOpen: data.number('is_open') === 1,
    wakeAt: data.optionalTime('wake_at'),
    createdAt: data.time('created_at'),
    updatedAt: data.time('updated_at'),
    details: data.string('details'),
  });
}

/** Values of an entry. The first one also names its session, which is found by it if the header is lost. */
export function toEntryValues(session: { readonly num: number; readonly id: string }, entry: LogEntry): Values {
  return [
    session.num,
    entry.n,
    entry.at,
    entry.isSnapshot ? 1 : 0,
    entry.execution,
    entry.step,
    entry.requestId,
    entry.lastSeq,
    entry.n === 1 ? session.id : undefined,
    entry.body,
    entry.events,
  ];
}

/** Reads the entry of a row whose checksum is right. */
export function readEntry(row: StoredRow): LogEntry {
  const data = readObject(row, 'log');
  return omitUndefined({
    n: data.number('n'),
    at: data.time('at'),
    isSnapshot: data.number('is_snapshot') === 1,
    execution: data.optionalNumber('execution'),
    step: data.optionalNumber('step'),
    requestId: data.optionalString('request_id'),
    body: data.string('body'),
    events: data.optionalString('events'),
    lastSeq: data.optionalNumber('last_seq'),
  });
}

export const toEffectValues = (num: number, k: number, effect: EffectRow): Values => [num, k, effect.key, effect.phase, effect.body];

/** Reads the effect of a row whose checksum is right. */
export function readEffect(row: StoredRow): EffectRow {
  const data = readObject(row, 'effects');
  return { key: data.string('key'), phase: data.oneOf('phase', ['intent', 'result']), body: data.string('body') };
}

/** Values of the lease columns. */
export const toLeaseValues = (row: LeaseRow): readonly StoredValue[] => [
  ...[row.fence, row.owner ?? null, row.last ?? null, row.isReady ? 1 : 0, row.readyAt, row.posted, row.applied],
  ...[row.attempts, row.blamed ?? null, row.isStepping ? 1 : 0, row.isUrgent ? 1 : 0],
];

/** Reads the lease columns of a row of `heads`. Numbers may come as text. */
export function readLease(row: StoredRow): LeaseRow {
  const readName = (column: string): string | undefined => (typeof row[column] === 'string' ? row[column] : undefined);
  return omitUndefined({
    ...{ fence: Number(row['fence']), owner: readName('owner'), last: readName('last') },
    ...{ isReady: Number(row['is_ready']) === 1, readyAt: Number(row['ready_at']) },
    ...{ posted: Number(row['posted']), applied: Number(row['applied']) },
    ...{ attempts: Number(row['attempts']), blamed: readName('blamed') },
    ...{ isStepping: Number(row['is_stepping']) === 1, isUrgent: Number(row['is_urgent']) === 1 },
  });
}

export const toMailValues = (session: number, mail: Mail): Values => [
  session,
  mail.num,
  mail.sessionId,
  mail.requestId,
  mail.at,
  mail.body,
  mail.reply,
];

/** Reads the mail of a row whose checksum is right. */
export function readMailRow(row: StoredRow): Mail {
  const data = readObject(row, 'mail');
  return omitUndefined({
    num: data.number('num'),
    sessionId: data.string('session_id'),
    requestId: data.string('request_id'),
    at: data.time('at'),
    body: data.string('body'),
    reply: data.optionalString('reply'),
  });
}

/** Reads the mail of a row whose checksum is wrong, as far as it can be read. */
export function readDamagedMail(row: StoredRow): Mail {
  const { num, session_id: sessionId, request_id: requestId } = row;
  const readId = (id: unknown): string => (typeof id === 'string' ? cleanText(id) : '');
  const isNumber = typeof num === 'number' && Number.isSafeInteger(num);
  return {
    ...{ num: isNumber ? num : 0, sessionId: readId(sessionId), requestId: readId(requestId), at: 0, body: '' },
    damage: 'its row does not match its checksum',
  };
}

/** The deletion of a session as it is stored. */
export interface Tombstone {
  /** Digest of the session's id. */
  readonly id: string;
  /** Number that the session had; absent if it was never created. */
  readonly num?: number;
  readonly at: number;
}

export const toTombstoneValues = ({ id, num, at }: Tombstone): Values => [id, num, at, id];

export const toNoteValues = ({ name, version, body, sessionId }: StoredNote): Values => [name, version, sessionId, body];

/** Reads the note of a row whose checksum is right. */
export function readNoteRow(row: StoredRow): StoredNote {
  const data = readObject(row, 'notes');
  const sessionId = data.optionalString('session_id');
  return omitUndefined({ name: data.string('name'), version: data.number('version'), body: data.string('body'), sessionId });
}
