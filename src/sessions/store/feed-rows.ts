// Entries of the feed, for stores that keep sessions in tables.
// Owns:     which rows of the feed are shown, and which are damage.
// Does not: read anything.
import { omitUndefined, SteplineError } from '../../lib/index.ts';
import type { RowChecks } from './check-rows.ts';
import type { FeedEntry } from './session-store.ts';
import type { StoredRow } from './stored-rows.ts';

/** Rows that belong to one place in the feed. */
export interface FedRows {
  readonly cursor: string;
  /** Number of the entry in its session. */
  readonly n: number;
  readonly session: StoredRow | undefined;
  readonly head: StoredRow | undefined;
  readonly entry: StoredRow | undefined;
}

/** Damage of a row of the feed itself. */
export const feedRowDamage = 'a row of the feed does not match its checksum';

function describeDamage(error: unknown): string | undefined {
  if (error instanceof SyntaxError) return error.message;
  if (!SteplineError.is(error) || (error.code !== 'session-damaged' && error.code !== 'damaged-data')) return undefined;
  return 'damage' in error ? String(error.damage) : error.message;
}

/** Returns an entry of the feed; undefined if it was deleted, never became part of its log, or has no events. */
export function toFeedEntry(checks: RowChecks, { cursor, n, session, head, entry: row }: FedRows): FeedEntry | undefined {
  if (session === undefined && row === undefined) return undefined;
  const id = session?.['id'] ?? row?.['session_id'];
  const sessionId = typeof id === 'string' ? id : undefined;
  try {
    const known = checks.readKnown(sessionId ?? '', { session, head });
    if (n > known.head) return undefined;
    if (row === undefined) return omitUndefined({ cursor, sessionId, damage: `entry ${n} is missing` });
    const entry = checks.readEntry(known.header.id, row);
    return entry.events === undefined ? undefined : { cursor, sessionId: known.header.id, header: known.header, entry };
  } catch (error) {
    const damage = describeDamage(error);
    if (damage === undefined) throw error;
    return omitUndefined({ cursor, sessionId, damage });
  }
}
