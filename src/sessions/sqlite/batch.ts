// One transaction for everything that was queued since the last one.
// Owns:     storing the writes that fit, as planned.
// Does not: begin or end the transaction, or settle any promise.
// G3. Facts about sessions are kept only as long as no other connection has written.
import { jsonEquals } from '../../lib/index.ts';
import type { BatchPlan, KnownSession, SessionDraft, SessionHeader, StoredFacts, StoreTask, StoreTaskResult } from '../index.ts';
import {
  planHolder,
  planWrite,
  SessionDamagedError,
  StoreUnavailableError,
  toEffectValues,
  toEntryValues,
  toHeaderValues,
} from '../index.ts';
import { toSessionError, toStoreError } from './classify-error.ts';
import type { Connection } from './connection.ts';
import { findSession } from './read-session.ts';
import { findHolder, setHolder } from './holder.ts';
import { sql } from './sql.ts';
import { isIntact, withChecksum } from './tables.ts';

/** Facts about the file that the store need not read again. */
export interface Knowledge {
  /** Changes when another connection has written. */
  dataVersion: number;
  epoch: number;
  readonly sessions: Map<string, KnownSession>;
}

// Enough for every session that is running; with more, they are read again.
const mostKnown = 10_000;

export const createKnowledge = (): Knowledge => ({ dataVersion: -1, epoch: 0, sessions: new Map() });

export function forget(knowledge: Knowledge): void {
  knowledge.dataVersion = -1;
  knowledge.sessions.clear();
}

/** Reads again what another connection may have changed. Called inside the transaction. */
function refresh(db: Connection, knowledge: Knowledge): void {
  const dataVersion = Number(db.get(sql.dataVersion)?.['data_version']);
  if (dataVersion === knowledge.dataVersion) return;
  const row = db.get(sql.meta, 'epoch');
  knowledge.sessions.clear();
  if (row === undefined || !isIntact('meta', row))
    throw new StoreUnavailableError('failed', 'the row that says who may write does not match its checksum');
  knowledge.epoch = Number(row['value']);
  knowledge.dataVersion = dataVersion;
}

/** Runs the tasks inside a transaction. Call `settle` once that is committed. */
export function runBatch(
  db: Connection,
  knowledge: Knowledge,
  tasks: readonly StoreTask[],
): { readonly results: readonly StoreTaskResult[]; readonly settle: () => void } {
  refresh(db, knowledge);
  const asksForHolder = tasks.some(({ type }) => type !== 'write' && type !== 'quarantine');
  const plan: BatchPlan = {
    epoch: knowledge.epoch,
    holder: asksForHolder ? findHolder(db) : undefined,
    facts: createFacts(db, knowledge),
    drafts: new Map(),
  };

  function run(task: StoreTask): StoreTaskResult {
    try {
      if (task.type === 'write') planWrite(plan, task.write);
      else if (task.type === 'quarantine') noteDamage(db, task.sessionId, task.damage);
      else planHolder(plan, task);
      return { ok: true, epoch: plan.epoch };
    } catch (error) {
      return { ok: false, error: task.type === 'write' ? toSessionError(task.write.sessionId, error) : toStoreError(error) };
    }
  }

  const results = tasks.map(run);
  const { epoch, drafts } = plan;
  if (epoch !== knowledge.epoch) db.run(sql.setMeta, ...withChecksum('meta', ['epoch', epoch]).slice(1), 'epoch');
  if (plan.changesHolder === true) setHolder(db, plan.holder);
  const stored = [...drafts].map(([id, draft]) => [id, storeDraft(db, draft)] as const);
  const settle = (): void => {
    knowledge.epoch = epoch;
    if (knowledge.sessions.size + stored.length > mostKnown) knowledge.sessions.clear();
    for (const [id, session] of stored) knowledge.sessions.set(id, session);
  };
  return { results, settle };
}

const createFacts = (db: Connection, knowledge: Knowledge): StoredFacts => ({
  find: (sessionId) => knowledge.sessions.get(sessionId) ?? findSession(db, sessionId),
  hasAnswer: ({ num, head }, requestId) => db.get(sql.request, num, requestId, head) !== undefined,
  hasEffect: ({ num }, { key, phase }) => db.get(sql.effect, num, key, phase) !== undefined,
});

function noteDamage(db: Connection, sessionId: string, damage: string | undefined): void {
  const num = damage === undefined ? undefined : db.get(sql.session, sessionId)?.['num'];
  if (damage === undefined) db.run(sql.dropQuarantine, sessionId);
  else if (typeof num === 'number') db.run(sql.addQuarantine, ...withChecksum('quarantine', [sessionId, num, damage]));
}

function storeDraft(db: Connection, draft: SessionDraft): KnownSession {
  const { before, header, head } = draft;
  const num = before?.num ?? Number(db.get(sql.lastNum)?.['num']) + 1;
  const kept = draft.dropsEffects ? 0 : (before?.effects ?? 0);
  const known: KnownSession = { num, header, head, effects: kept + draft.effects.length };
  if (before === undefined) {
    db.run(sql.addSession, ...withChecksum('sessions', toHeaderValues(num, header)));
    db.run(sql.addHead, ...withChecksum('heads', [num, head, known.effects]));
    addTags(db, num, header.tags);
  } else if (header !== before.header) changeHeader(db, known, before.header);
  if (draft.dropsEffects && before !== undefined && before.effects > 0) db.run(sql.dropEffects, num);
  for (const [index, effect] of draft.effects.entries())
    db.run(sql.addEffect, ...withChecksum('effects', toEffectValues(num, kept + index + 1, effect)));
  for (const entry of draft.entries) db.run(sql.addEntry, ...withChecksum('log', toEntryValues({ num, id: header.id }, entry)));
  if (before !== undefined && (before.head !== head || before.effects !== known.effects)) setHead(db, known);
  return known;
}

function addTags(db: Connection, num: number, tags: readonly string[]): void {
  for (const tag of new Set(tags)) db.run(sql.addTag, ...withChecksum('session_tags', [num, tag]));
}

function setHead(db: Connection, { num, header, head, effects }: KnownSession): void {
  const [, ...values] = withChecksum('heads', [num, head, effects]);
  if (db.run(sql.setHead, ...values, num) !== 1) throw new SessionDamagedError(header.id, 'the number of its last entry is missing');
}

const foundBy = ['agentId', 'tenant', 'owner', 'status', 'stopReason', 'isOpen', 'wakeAt', 'createdAt'] as const;

function changeHeader(db: Connection, { num, header }: KnownSession, before: SessionHeader): void {
  const [, , ...values] = withChecksum('sessions', toHeaderValues(num, header));
  const hasTags = jsonEquals(header.tags, before.tags);
  const isTouched = hasTags && foundBy.every((field) => header[field] === before[field]);
  // The narrow statement leaves the indexes alone. It sets the last three values.
  const changes = isTouched ? db.run(sql.touchHeader, ...values.slice(-3), num) : db.run(sql.setHeader, ...values, num);
  if (changes !== 1) throw new SessionDamagedError(header.id, 'its header is missing');
  if (hasTags) return;
  db.run(sql.dropTags, num);
  addTags(db, num, header.tags);
}
