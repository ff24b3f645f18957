// The begin of a transaction, and the locks that it takes before it reads anything.
// Owns:     their order, which is the same in every transaction, so that no two wait for each other.
// Does not: decide what has to be locked.
// K1. Ids first, then workers, then sessions, each in their own order: what is read afterwards cannot change before the commit.
// K2. Whoever creates a session or notes something about it shares the lock of its id; whoever deletes it has the lock for itself. There
//     are few of these locks, since the server has room for a few thousand in all.
import { crc32 } from 'node:zlib';
import type { ParsedOptions } from './postgres-options.ts';
import { inSchema } from './tables.ts';

const idLocks = 64;

/** Rows and ids to lock. */
export interface Locked {
  /** Sessions that are deleted. */
  readonly deleted?: readonly string[];
  /** Sessions that are created, or that a note is about. */
  readonly named?: readonly string[];
  /** Workers that must not be freed meanwhile. */
  readonly workers?: readonly string[];
  /** Sessions whose heads are changed, if they exist. */
  readonly sessions?: readonly string[];
}

// As base64, so that nothing has to be quoted.
const inlineTexts = (texts: readonly string[]): string =>
  `SELECT json_array_elements_text(convert_from(decode('${Buffer.from(JSON.stringify([...new Set(texts)])).toString('base64')}', 'base64'), 'UTF8')::json)`;

/**
 * Time that the server waits for the next statement of a transaction. A process that stands still meanwhile would keep its sessions locked.
 * One that continues later tries its transaction again.
 */
const idleMs = 1000;

/** SQL that begins a transaction with these locks: several statements in one, without values. */
export const beginText = ({ schema, timeoutMs }: Pick<ParsedOptions, 'schema' | 'timeoutMs'>, locked: Locked = {}): string => `
  BEGIN ISOLATION LEVEL READ COMMITTED;
  SET LOCAL jit = off;
  SET LOCAL lock_timeout = ${timeoutMs};
  SET LOCAL idle_in_transaction_session_timeout = ${Math.min(timeoutMs, idleMs)};
  SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off';
  ${lockText(schema, locked)}`;

function lockText(schema: string, { deleted = [], named = [], workers = [], sessions = [] }: Locked): string {
  const toKey = (id: string): number => crc32(id) % idLocks;
  const own = new Set(deleted.map(toKey));
  const keys = [...new Set([...own, ...named.map(toKey)])].sort((one, other) => one - other);
  const calls = keys.map((key) => `pg_advisory_xact_lock${own.has(key) ? '' : '_shared'}(${crc32(schema) | 0}, ${key})`);
  const parts = calls.length === 0 ? [] : [`SELECT ${calls.join(', ')}`];
  if (workers.length > 0)
    parts.push(
      `SELECT count(*) FROM (SELECT 1 FROM ${inSchema(schema, 'workers')} WHERE id IN (${inlineTexts(workers)}) ORDER BY id FOR KEY SHARE) l`,
    );
  if (sessions.length > 0)
    parts.push(`SELECT count(*) FROM (
      SELECT 1 FROM ${inSchema(schema, 'heads')}
        WHERE session IN (SELECT num FROM ${inSchema(schema, 'sessions')} WHERE id IN (${inlineTexts(sessions)}))
        ORDER BY session FOR UPDATE
    ) l`);
  return parts.join('; ');
}
