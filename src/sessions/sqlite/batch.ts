// One transaction for everything that was queued since the last one.
// Owns:     storing the writes that fit, as planned.
// Does not: begin or end the transaction, or settle any promise.
// G3. Facts about sessions and workers are kept only as long as no other connection has written, and this one has not changed leases.
import { jsonEquals } from '../../lib/index.ts';
import type { KnownSession, LogEntry, SessionDraft, SessionHeader, StoredFacts, StoreTask, StoreTaskResult } from '../index.ts';
import {
  createPlan,
  getSessionId,
  planTask,
  SessionDamagedError,
  toEffectValues,
  toEntryValues,
  toHeaderValues,
  toLeaseValues,
} from '../index.ts';
import { toSessionError } from './classify-error.ts';
import type { Connection } from './connection.ts';
import { deleteSession } from './delete-session.ts';
import { findMail, findRequestMail, storeMail } from './mailbox.ts';
import { findDeletion, findEntry, findSession } from './read-session.ts';
import { sql } from './sql.ts';
import type { SqliteValue } from './sqlite-database.ts';
import { withChecksum } from './tables.ts';

/** Facts about the file that the store need not read again. */
export interface Knowledge {
  /** Changes when another connection has written. */
  dataVersion: number;
  readonly sessions: Map<string, KnownSession>;
  /** Ids of workers that have joined. */
  readonly workers: Set<string>;
}

// Enough for every session that is running; with more, they are read again.
const mostKnown = 10_000;

export const createKnowledge = (): Knowledge => ({ dataVersion: -1, sessions: new Map(), workers: new Set() });

export function forget(knowledge: Knowledge): void {
  knowledge.dataVersion = -1;
  knowledge.sessions.clear();
  knowledge.workers.clear();
}

/** Forgets what a change of leases by this connection has made wrong. Called inside its transaction. */
export function forgetLeases(knowledge: Knowledge, sessionIds: readonly string[]): void {
  for (const id of sessionIds) knowledge.sessions.delete(id);
}

/** Forgets what another connection may have changed. Called inside the transaction. */
function refresh(db: Connection, knowledge: Knowledge): void {
  const dataVersion = Number(db.get(sql.dataVersion)?.['data_version']);
  if (dataVersion === knowledge.dataVersion) return;
  forget(knowledge);
  knowledge.dataVersion = dataVersion;
}

/** A batch that is ready to be committed. */
export interface RunBatch {
  readonly results: readonly StoreTaskResult[];
  /** Call it once the transaction is committed. */
  readonly settle: () => void;
}

/** Runs the tasks inside a transaction. `now`: time on the clock of the store. */
export function runBatch(db: Connection, tasks: readonly StoreTask[], { knowledge, now }: { knowledge: Knowledge; now: number }): RunBatch {
  refresh(db, knowledge);
  const plan = createPlan<KnownSession>({ now, facts: createFacts(db, knowledge) });

  function run(task: StoreTask): StoreTaskResult {
    try {
      if (task.type !== 'quarantine') return { ok: true, ...planTask(plan, task) };
      noteDamage(db, task.sessionId, task.damage);
      return { ok: true };
    } catch (error) {
      return { ok: false, error: toSessionError(getSessionId(task), error) };
    }
  }

  const results = tasks.map(run);
  const { drafts, deletions } = plan;
  const stored = [...drafts].map(([id, draft]) => [id, storeDraft(db, draft)] as const);
  for (const [id, at] of deletions) deleteSession(db, id, at);
  const settle = (): void => {
    for (const id of deletions.keys()) knowledge.sessions.delete(id);
    if (knowledge.sessions.size + stored.length > mostKnown) knowledge.sessions.clear();
    for (const [id, session] of stored) knowledge.sessions.set(id, session);
  };
  return { results, settle };
}

const createFacts = (db: Connection, { sessions, workers }: Knowledge): StoredFacts => ({
  find: (sessionId) => sessions.get(sessionId) ?? findSession(db, sessionId),
  hasAnswer: ({ num, head }, requestId) => db.get(sql.request, num, requestId, head) !== undefined,
  hasEffect: ({ num }, { key, phase }) => db.get(sql.effect, num, key, phase) !== undefined,
  findDeletion: (sessionId) => (sessions.has(sessionId) ? undefined : findDeletion(db, sessionId)),
  findEntry: (session, n) => findEntry(db, session, n),
  findMail: (session, num) => findMail(db, session, num),
  findRequestMail: (session, requestId) => findRequestMail(db, session, requestId),
  hasWorker: (id) => {
    if (!workers.has(id) && db.get(sql.worker, id) !== undefined) workers.add(id);
    return workers.has(id);
  },
});

function noteDamage(db: Connection, sessionId: string, damage: string | undefined): void {
  const num = damage === undefined ? undefined : db.get(sql.session, sessionId)?.['num'];
  if (damage === undefined) db.run(sql.dropQuarantine, sessionId);
  else if (typeof num === 'number') db.run(sql.addQuarantine, ...withChecksum('quarantine', [sessionId, num, damage]));
}

function storeDraft(db: Connection, draft: SessionDraft): KnownSession {
  const { before, header, head, lease } = draft;
  const num = before?.num ?? Number(db.get(sql.lastNum)?.['num']) + 1;
  const kept = draft.dropsEffects ? 0 : (before?.effects ?? 0);
  const known: KnownSession = { num, header, head, effects: kept + draft.effects.length, lease };
  if (before === undefined) {
    db.run(sql.addSession, ...withChecksum('sessions', toHeaderValues(num, header)));
    db.run(sql.addHead, ...toHeadValues(known));
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
  storeMail(db, num, draft);
  if (before !== undefined) changeHead(db, known, before);
  return known;
}

function addTags(db: Connection, num: number, tags: readonly string[]): void {
  for (const tag of new Set(tags)) db.run(sql.addTag, ...withChecksum('session_tags', [num, tag]));
}

function setTexts(db: Connection, { num, header: { id } }: KnownSession, entry: LogEntry): void {
  const values = withChecksum('log', toEntryValues({ num, id }, entry)).slice(-3);
  if (db.run(sql.setTexts, ...values, num, entry.n) !== 1) throw new SessionDamagedError(id, `entry ${entry.n} is missing`);
}

/** Values of all columns of `heads`. */
const toHeadValues = ({ num, header, head, effects, lease }: KnownSession): readonly SqliteValue[] => [
  ...withChecksum('heads', [num, head, effects]),
  ...toLeaseValues(lease),
  ...[header.tenant ?? '', header.wakeAt ?? null],
];

const claimedBy = ['owner', 'isReady', 'readyAt', 'attempts', 'blamed', 'isUrgent'] as const;
const plainFields = ['fence', 'last', 'posted', 'applied', 'isStepping'] as const;

function changeHead(db: Connection, known: KnownSession, before: KnownSession): void {
  const { num, header, head, effects, lease } = known;
  const hasCopies = header.tenant === before.header.tenant && header.wakeAt === before.header.wakeAt;
  const isTouched = hasCopies && claimedBy.every((field) => lease[field] === before.lease[field]);
  const hasCounts = head === before.head && effects === before.effects;
  if (isTouched && hasCounts && plainFields.every((field) => lease[field] === before.lease[field])) return;
  const values = toHeadValues(known).slice(1);
  const { fence, last = null, posted, applied, isStepping } = lease;
  // The narrow statement leaves the indexes alone.
  const changes = isTouched
    ? db.run(sql.touchHead, ...values.slice(0, 3), fence, last, posted, applied, isStepping ? 1 : 0, num)
    : db.run(sql.setHead, ...values, num);
  if (changes !== 1) throw new SessionDamagedError(header.id, 'the number of its last entry is missing');
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
