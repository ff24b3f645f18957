// One transaction for everything that was queued since the last one.
// Owns:     storing the writes that fit, as planned.
// Does not: begin or end the transaction, or settle any promise.
// G3. Facts about sessions are kept only as long as no other connection has written.
import { jsonEquals } from '../../lib/index.ts';
import type { KnownSession, LogEntry, SessionDraft, SessionHeader, StoredFacts, StoreTask, StoreTaskResult } from '../index.ts';
import {
  createPlan,
  getSessionId,
  isHolderTask,
  planTask,
  SessionDamagedError,
  StoreUnavailableError,
  toEffectValues,
  toEntryValues,
  toHeaderValues,
} from '../index.ts';
import { toSessionError, toStoreError } from './classify-error.ts';
import type { Connection } from './connection.ts';
import { deleteSession } from './delete-session.ts';
import { findHolder, setHolder } from './holder.ts';
import { findMail, findRequestMail, storeMail } from './mailbox.ts';
import { findDeletion, findEntry, findSession } from './read-session.ts';
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
    throw new StoreUnavailableError('failed', 'the row with the current claim does not match its checksum');
  knowledge.epoch = Number(row['value']);
  knowledge.dataVersion = dataVersion;
}

/** A batch that is ready to be committed. */
export interface RunBatch {
  readonly results: readonly StoreTaskResult[];
  /** Call it once the transaction is committed. */
  readonly settle: () => void;
}

/** Runs the tasks inside a transaction. */
export function runBatch(db: Connection, knowledge: Knowledge, tasks: readonly StoreTask[]): RunBatch {
  refresh(db, knowledge);
  const plan = createPlan<KnownSession>({
    epoch: knowledge.epoch,
    holder: tasks.some(isHolderTask) ? findHolder(db) : undefined,
    facts: createFacts(db, knowledge),
  });

  function run(task: StoreTask): StoreTaskResult {
    try {
      if (task.type !== 'quarantine') return { ok: true, ...planTask(plan, task), epoch: plan.epoch };
      noteDamage(db, task.sessionId, task.damage);
      return { ok: true, epoch: plan.epoch };
    } catch (error) {
      const sessionId = getSessionId(task);
      return { ok: false, error: sessionId === undefined ? toStoreError(error) : toSessionError(sessionId, error) };
    }
  }

  const results = tasks.map(run);
  const { epoch, drafts, deletions } = plan;
  if (epoch !== knowledge.epoch) db.run(sql.setMeta, ...withChecksum('meta', ['epoch', epoch]).slice(1), 'epoch');
  if (plan.changesHolder === true) setHolder(db, plan.holder);
  const stored = [...drafts].map(([id, draft]) => [id, storeDraft(db, draft)] as const);
  storeMail(db, plan);
  for (const [id, at] of deletions) deleteSession(db, id, at);
  const settle = (): void => {
    knowledge.epoch = epoch;
    for (const id of deletions.keys()) knowledge.sessions.delete(id);
    if (knowledge.sessions.size + stored.length > mostKnown) knowledge.sessions.clear();
    for (const [id, session] of stored) knowledge.sessions.set(id, session);
  };
  return { results, settle };
}

const createFacts = (db: Connection, knowledge: Knowledge): StoredFacts => ({
  find: (sessionId) => knowledge.sessions.get(sessionId) ?? findSession(db, sessionId),
  hasAnswer: ({ num, head }, requestId) => db.get(sql.request, num, requestId, head) !== undefined,
  hasEffect: ({ num }, { key, phase }) => db.get(sql.effect, num, key, phase) !== undefined,
  findDeletion: (sessionId) => (knowledge.sessions.has(sessionId) ? undefined : findDeletion(db, sessionId)),
  findEntry: (session, n) => findEntry(db, session, n),
  findMail: (num) => findMail(db, num),
  findRequestMail: (mail) => findRequestMail(db, mail),
  findLastMail: () => Number(db.get(sql.lastMail)?.['num']),
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
  let place = kept;
  for (const effect of draft.effects) {
    place += 1;
    db.run(sql.addEffect, ...withChecksum('effects', toEffectValues(num, place, effect)));
  }
  for (const entry of draft.rewritten.values()) setTexts(db, known, entry);
  for (const entry of draft.entries) db.run(sql.addEntry, ...withChecksum('log', toEntryValues({ num, id: header.id }, entry)));
  if (before !== undefined && (before.head !== head || before.effects !== known.effects)) setHead(db, known);
  return known;
}

function addTags(db: Connection, num: number, tags: readonly string[]): void {
  for (const tag of new Set(tags)) db.run(sql.addTag, ...withChecksum('session_tags', [num, tag]));
}

function setTexts(db: Connection, { num, header: { id } }: KnownSession, entry: LogEntry): void {
  const values = withChecksum('log', toEntryValues({ num, id }, entry)).slice(-3);
  if (db.run(sql.setTexts, ...values, num, entry.n) !== 1) throw new SessionDamagedError(id, `entry ${entry.n} is missing`);
}

function setHead(db: Connection, { num, header, head, effects }: KnownSession): void {
  const values = withChecksum('heads', [num, head, effects]).slice(1);
  if (db.run(sql.setHead, ...values, num) !== 1) throw new SessionDamagedError(header.id, 'the number of its last entry is missing');
}

const foundBy = ['agentName', 'tenant', 'owner', 'status', 'stopReason', 'isOpen', 'wakeAt', 'createdAt'] as const;

function changeHeader(db: Connection, { num, header }: KnownSession, before: SessionHeader): void {
  const values = withChecksum('sessions', toHeaderValues(num, header)).slice(2);
  const hasTags = jsonEquals(header.tags, before.tags);
  const isTouched = hasTags && foundBy.every((field) => header[field] === before[field]);
  // The narrow statement leaves the indexes alone. It sets the last three values.
  const changes = isTouched ? db.run(sql.touchHeader, ...values.slice(-3), num) : db.run(sql.setHeader, ...values, num);
  if (changes !== 1) throw new SessionDamagedError(header.id, 'its header is missing');
  if (hasTags) return;
  db.run(sql.dropTags, num);
  addTags(db, num, header.tags);
}
