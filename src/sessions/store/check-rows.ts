// Checks of rows that were read, for stores that keep sessions in tables.
// Owns:     finding damaged and missing rows in what was read.
// Does not: read or repair anything.
import type { EffectRow } from '../../journal/index.ts';
import { latestTime } from '../../lib/index.ts';
import { SessionDamagedError } from '../core/errors.ts';
import type { LeaseRow } from './lease-row.ts';
import type { LogEntry, Mail, SessionHeader } from './session-store.ts';
import type { RowSums, StoredRow, StoredTable } from './stored-rows.ts';
import { readDamagedMail, readEffect, readEntry, readHeader, readLease, readMailRow } from './stored-rows.ts';

/** Facts that a writer needs about a session. */
export interface KnownSession {
  readonly num: number;
  readonly header: SessionHeader;
  readonly head: number;
  /** Number of stored effects. */
  readonly effects: number;
  readonly lease: LeaseRow;
}

/** Reads rows of a session. Throws a `SessionDamagedError` if one is damaged or missing. */
export interface RowChecks {
  readKnown(sessionId: string, rows: { readonly session: StoredRow | undefined; readonly head: StoredRow | undefined }): KnownSession;
  /** Reads the entries from one number to another. */
  readEntries(
    session: KnownSession,
    rows: readonly StoredRow[],
    range: { readonly from: number; readonly to: number },
  ): readonly LogEntry[];
  /** Reads one entry. */
  readEntry(sessionId: string, row: StoredRow): LogEntry;
  /** Reads effects of the open step. Each is checked; that one is missing is noticed if they are to be all. */
  readEffects(session: KnownSession, rows: readonly StoredRow[], areAll: boolean): readonly EffectRow[];
  /** Describes the damage to the rows that a session is found with by its tags; undefined if there is none. */
  findTagDamage(header: SessionHeader, rows: readonly StoredRow[]): string | undefined;
  /** Returns the id that a tombstone keeps of a session. */
  toTombstoneId(sessionId: string): string;
  /** Returns when a session was deleted. `rows`: the tombstones that have that id in either column, damaged ones too. */
  findDeletion(sessionId: string, rows: readonly StoredRow[]): number | undefined;
  /** Reads mails of sessions. A damaged one is never applied; it is left out unless it is asked for. Whoever posted it can post it again. */
  readMail(rows: readonly StoredRow[], includesDamaged?: boolean): readonly Mail[];
}

// A damaged time must not keep the deletion from being reported.
const readTime = (value: unknown): number => (typeof value === 'number' && Math.abs(value) <= latestTime ? value : 0);

/** `sha256` returns a digest in hexadecimal digits. */
export function createRowChecks({ isIntact }: RowSums, sha256: (text: string) => string): RowChecks {
  const toTombstoneId = (sessionId: string): string => `sha256:${sha256(sessionId)}`;

  /** Throws unless the row is there and intact. */
  function assertIntact(
    table: StoredTable,
    row: StoredRow | undefined,
    { id, name }: { readonly id: string; readonly name: string },
  ): asserts row is StoredRow {
    if (row === undefined) throw new SessionDamagedError(id, `${name} is missing`);
    if (!isIntact(table, row)) throw new SessionDamagedError(id, `${name} does not match its checksum`);
  }

  return {
    readKnown: (id, { session, head }) => {
      assertIntact('sessions', session, { id, name: 'its header' });
      assertIntact('heads', head, { id, name: 'the number of its last entry' });
      const [num, last, effects] = [Number(session['num']), Number(head['head']), Number(head['effects'])];
      return { num, header: readHeader(session), head: last, effects, lease: readLease(head) };
    },
    readEntries: ({ header }, rows, { from, to }) => {
      for (let n = from; n <= to; n += 1) {
        const row = rows[n - from];
        assertIntact('log', row?.['n'] === n ? row : undefined, { id: header.id, name: `entry ${n}` });
      }
      return rows.map(readEntry);
    },
    readEntry: (id, row) => {
      assertIntact('log', row, { id, name: `entry ${String(row['n'])}` });
      return readEntry(row);
    },
    readEffects: ({ header, effects }, rows, areAll) => {
      const intact = rows.filter((row) => isIntact('effects', row));
      const expected = areAll ? Array.from({ length: effects }, (_, index) => index + 1) : rows.map((row) => row['k']);
      for (const [index, k] of expected.entries()) {
        if (intact[index]?.['k'] === k) continue;
        const problem = rows.some((row) => row['k'] === k) ? 'does not match its checksum' : 'is missing';
        throw new SessionDamagedError(header.id, `effect ${String(k)} of its open step ${problem}`);
      }
      if (intact.length > expected.length) throw new SessionDamagedError(header.id, 'its open step has more effects than were counted');
      return intact.map(readEffect);
    },
    toTombstoneId,
    findDeletion: (sessionId, rows) => {
      const hasId = (row: StoredRow, id: string): boolean =>
        (row['id'] === id && row['id_copy'] === id) || isIntact('tombstones', { ...row, id, id_copy: id });
      const row = rows.find((each) => hasId(each, toTombstoneId(sessionId)));
      return row && readTime(row['at']);
    },
    readMail: (rows, includesDamaged = false) =>
      rows.flatMap((row) => (isIntact('mail', row) ? readMailRow(row) : includesDamaged ? readDamagedMail(row) : [])),
    findTagDamage: ({ tags }, rows) => {
      // A row that is not intact may belong to another session, so it does not count.
      const intact = rows.filter((row) => isIntact('session_tags', row));
      const lost = tags.find((tag) => !intact.some((row) => row['tag'] === tag));
      return lost === undefined ? undefined : `the row of its tag "${lost}" is damaged or missing`;
    },
  };
}
