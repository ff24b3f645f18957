import type { EffectRow } from '../../journal/index.ts';
import type { LogEntry, SessionHeader } from '../index.ts';
import type { SqliteValue } from './sqlite-database.ts';
import type { Row } from './tables.ts';
import { sealed } from './tables.ts';

type Field = string | number | undefined;

const orNull = (value: Field): SqliteValue => value ?? null;

/** Absent where the column is null. */
const ifThere = (fields: Row): Row => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

export function headerValues(num: number, header: SessionHeader): SqliteValue[] {
  return sealed('sessions', [
    num,
    header.id,
    header.agentId,
    orNull(header.tenant),
    orNull(header.owner),
    JSON.stringify(header.tags),
    header.status,
    orNull(header.stopReason),
    header.isOpen ? 1 : 0,
    orNull(header.wakeAt),
    header.createdAt,
    header.updatedAt,
    header.details,
  ]);
}

/** The header of a row that was found to be whole. */
export function toHeader(row: Row): SessionHeader {
  // Holds because the row says what `headerValues` once wrote from a header.
  return {
    id: row['id'],
    agentId: row['agent_id'],
    ...ifThere({ tenant: row['tenant'], owner: row['owner'] }),
    tags: JSON.parse(row['tags'] as string) as readonly string[],
    status: row['status'],
    ...ifThere({ stopReason: row['stop_reason'] }),
    isOpen: row['is_open'] === 1,
    ...ifThere({ wakeAt: row['wake_at'] }),
    createdAt: row['created_at'],
    updatedAt: row['updated_at'],
    details: row['details'],
  } as SessionHeader;
}

/** The first entry also names its session: found by it where the header is lost. */
export function entryValues(session: { readonly num: number; readonly id: string }, entry: LogEntry): SqliteValue[] {
  return sealed('log', [
    session.num,
    entry.n,
    entry.at,
    entry.isSnapshot ? 1 : 0,
    orNull(entry.execution),
    orNull(entry.step),
    orNull(entry.requestId),
    orNull(entry.lastSeq),
    entry.n === 1 ? session.id : null,
    entry.body,
    orNull(entry.events),
  ]);
}

/** The entry of a row that was found to be whole. */
export function toEntry(row: Row): LogEntry {
  // Holds because the row says what `entryValues` once wrote from an entry.
  return {
    n: row['n'],
    at: row['at'],
    isSnapshot: row['is_snapshot'] === 1,
    ...ifThere({ execution: row['execution'], step: row['step'], requestId: row['request_id'] }),
    body: row['body'],
    ...ifThere({ events: row['events'], lastSeq: row['last_seq'] }),
  } as LogEntry;
}

export const effectValues = (num: number, k: number, effect: EffectRow): SqliteValue[] =>
  sealed('effects', [num, k, effect.key, effect.phase, effect.body]);

/** The effect of a row that was found to be whole. */
export const toEffect = (row: Row): EffectRow =>
  // Holds because the row says what `effectValues` once wrote from an effect.
  ({ key: row['key'], phase: row['phase'], body: row['body'] }) as EffectRow;
