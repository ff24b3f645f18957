import type { EffectRow } from '../../journal/index.ts';
import { StopReason } from '../../continuation/index.ts';
import { omitUndefined, readArray, readObject, readString } from '../../lib/index.ts';
import { ExecutionStatus } from '../../step-by-step/index.ts';
import type { LogEntry, SessionHeader } from '../index.ts';
import type { SqliteValue } from './sqlite-database.ts';
import type { Row } from './tables.ts';
import { withChecksum } from './tables.ts';

export function headerValues(num: number, header: SessionHeader): readonly SqliteValue[] {
  return withChecksum('sessions', [
    num,
    header.id,
    header.agentId,
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
  ]);
}

/** Reads the header of a row whose checksum is right. */
export function toHeader(row: Row): SessionHeader {
  const data = readObject(row, 'sessions');
  return omitUndefined({
    id: data.string('id'),
    agentId: data.string('agent_id'),
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
export function entryValues(session: { readonly num: number; readonly id: string }, entry: LogEntry): readonly SqliteValue[] {
  return withChecksum('log', [
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
  ]);
}

/** Reads the entry of a row whose checksum is right. */
export function toEntry(row: Row): LogEntry {
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

export const effectValues = (num: number, k: number, effect: EffectRow): readonly SqliteValue[] =>
  withChecksum('effects', [num, k, effect.key, effect.phase, effect.body]);

/** Reads the effect of a row whose checksum is right. */
export function toEffect(row: Row): EffectRow {
  const data = readObject(row, 'effects');
  return { key: data.string('key'), phase: data.oneOf('phase', ['intent', 'result']), body: data.string('body') };
}
