// One transaction for everything that was queued since the last one.
// Owns:     checking which writes fit, and storing those that do.
// Does not: begin or end the transaction, or settle any promise.
// G1. A write is checked against the state after the writes before it; refusing one leaves the others as they are.
// G2. Everything is checked before anything is stored: effects that a later write of the batch drops are never stored at all.
// G3. Facts about sessions are kept only as long as no other connection has written.
import type { EffectRow } from '../../journal/index.ts';
import { jsonEquals } from '../../lib/index.ts';
import type { ClaimRequest, LogEntry, SessionHeader, SessionWrite } from '../index.ts';
import { refusedWrite, SessionConflictError, SessionDamagedError, StoreFencedError, StoreUnavailableError } from '../index.ts';
import { toSessionError, toStoreError } from './classify-error.ts';
import type { Connection } from './connection.ts';
import type { KnownSession } from './read-session.ts';
import { findSession } from './read-session.ts';
import { addBeat, setHolder } from './holder.ts';
import { effectValues, entryValues, headerValues } from './rows.ts';
import { sql } from './sql.ts';
import { isIntact, withChecksum } from './tables.ts';

/** Something to do in a batch. */
export type Task =
  | { readonly type: 'write'; readonly write: SessionWrite }
  | { readonly type: 'claim'; readonly request: ClaimRequest }
  | { readonly type: 'beat' | 'release'; readonly epoch: number }
  | { readonly type: 'quarantine'; readonly sessionId: string; readonly damage: string | undefined };

/** Result of a task once the batch is stored: the current epoch, or the error that refused it. */
export type TaskResult = { readonly ok: true; readonly epoch: number } | { readonly ok: false; readonly error: unknown };

/** Facts about the file that the store need not read again. */
export interface Knowledge {
  /** Changes when another connection has written. */
  dataVersion: number;
  epoch: number;
  readonly sessions: Map<string, KnownSession>;
}

/** A session as the batch leaves it. */
interface Draft {
  /** Absent if the batch creates it. */
  readonly before: KnownSession | undefined;
  header: SessionHeader;
  head: number;
  dropsEffects: boolean;
  effects: EffectRow[];
  readonly entries: LogEntry[];
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
  tasks: readonly Task[],
): { readonly results: readonly TaskResult[]; readonly settle: () => void } {
  refresh(db, knowledge);
  const drafts = new Map<string, Draft>();
  let { epoch } = knowledge;

  function plan(write: SessionWrite): void {
    const { sessionId, after, header } = write;
    checkEpoch(write.epoch);
    let draft = drafts.get(sessionId);
    if (draft === undefined) {
      const before = knowledge.sessions.get(sessionId) ?? findSession(db, sessionId);
      draft = before && createDraft(before.header, before);
    }
    const found = draft?.head ?? 0;
    if (after === 0 ? draft !== undefined : found !== after) throw new SessionConflictError(sessionId, { expected: after, found });
    if (draft !== undefined) checkNew(db, draft, write);
    else if (header !== undefined) draft = createDraft(header);
    else throw refusedWrite(sessionId, 'a session is made with a header and its first entry');
    extendDraft(draft, write);
    drafts.set(sessionId, draft);
  }

  function checkEpoch(own: number): void {
    if (own !== epoch) throw new StoreFencedError({ own, current: epoch });
  }

  function claim({ holder, after = epoch }: ClaimRequest): void {
    checkEpoch(after);
    epoch += 1;
    setHolder(db, holder && { epoch, beats: 0, body: JSON.stringify(holder) });
  }

  function runTask(task: Task): void {
    if (task.type === 'write') plan(task.write);
    else if (task.type === 'claim') claim(task.request);
    else if (task.type === 'quarantine') noteDamage(db, task.sessionId, task.damage);
    else {
      checkEpoch(task.epoch);
      if (task.type === 'beat') addBeat(db, epoch);
      else setHolder(db, undefined);
    }
  }

  function run(task: Task): TaskResult {
    try {
      runTask(task);
      return { ok: true, epoch };
    } catch (error) {
      return { ok: false, error: task.type === 'write' ? toSessionError(task.write.sessionId, error) : toStoreError(error) };
    }
  }

  const results = tasks.map(run);
  if (epoch !== knowledge.epoch) db.run(sql.setMeta, ...withChecksum('meta', ['epoch', epoch]).slice(1), 'epoch');
  const stored = [...drafts].map(([id, draft]) => [id, storeDraft(db, draft)] as const);
  const settle = (): void => {
    knowledge.epoch = epoch;
    if (knowledge.sessions.size + stored.length > mostKnown) knowledge.sessions.clear();
    for (const [id, session] of stored) knowledge.sessions.set(id, session);
  };
  return { results, settle };
}

function noteDamage(db: Connection, sessionId: string, damage: string | undefined): void {
  const num = damage === undefined ? undefined : db.get(sql.session, sessionId)?.['num'];
  if (damage === undefined) db.run(sql.dropQuarantine, sessionId);
  else if (typeof num === 'number') db.run(sql.addQuarantine, ...withChecksum('quarantine', [sessionId, num, damage]));
}

const createDraft = (header: SessionHeader, before?: KnownSession): Draft => ({
  before,
  header,
  head: before?.head ?? 0,
  dropsEffects: false,
  effects: [],
  entries: [],
});

/** Throws if a request was answered before, or an effect is stored already. */
function checkNew(db: Connection, draft: Draft, { sessionId, entries = [], effects = [], clearsEffects }: SessionWrite): void {
  const { before } = draft;
  for (const { requestId } of entries) {
    if (requestId === undefined) continue;
    const isDrafted = draft.entries.some((entry) => entry.requestId === requestId);
    if (isDrafted || (before !== undefined && db.get(sql.request, before.num, requestId, before.head) !== undefined))
      throw refusedWrite(sessionId, `the request "${requestId}" was answered before`);
  }
  if (clearsEffects === true) return;
  const hasStored = before !== undefined && before.effects > 0 && !draft.dropsEffects;
  for (const { key, phase } of effects) {
    const isDrafted = draft.effects.some((effect) => effect.key === key && effect.phase === phase);
    if (isDrafted || (hasStored && db.get(sql.effect, before.num, key, phase) !== undefined))
      throw refusedWrite(sessionId, `the ${phase} of "${key}" is kept already`);
  }
}

function extendDraft(draft: Draft, { header, entries = [], effects = [], clearsEffects }: SessionWrite): void {
  // A copy: it is compared with the next one.
  if (header !== undefined) draft.header = { ...header, tags: [...header.tags] };
  if (clearsEffects === true) {
    draft.dropsEffects = true;
    draft.effects = [];
  }
  draft.effects.push(...effects);
  draft.entries.push(...entries);
  draft.head += entries.length;
}

function storeDraft(db: Connection, draft: Draft): KnownSession {
  const { before, header, head } = draft;
  const num = before?.num ?? Number(db.get(sql.lastNum)?.['num']) + 1;
  const kept = draft.dropsEffects ? 0 : (before?.effects ?? 0);
  const known: KnownSession = { num, header, head, effects: kept + draft.effects.length };
  if (before === undefined) {
    db.run(sql.addSession, ...headerValues(num, header));
    db.run(sql.addHead, ...withChecksum('heads', [num, head, known.effects]));
    addTags(db, num, header.tags);
  } else if (header !== before.header) changeHeader(db, known, before.header);
  if (draft.dropsEffects && before !== undefined && before.effects > 0) db.run(sql.dropEffects, num);
  for (const [index, effect] of draft.effects.entries()) db.run(sql.addEffect, ...effectValues(num, kept + index + 1, effect));
  for (const entry of draft.entries) db.run(sql.addEntry, ...entryValues({ num, id: header.id }, entry));
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
  const [, , ...values] = headerValues(num, header);
  const hasTags = jsonEquals(header.tags, before.tags);
  const isTouched = hasTags && foundBy.every((field) => header[field] === before[field]);
  // The narrow statement leaves the indexes alone. It sets the last three values.
  const changes = isTouched ? db.run(sql.touchHeader, ...values.slice(-3), num) : db.run(sql.setHeader, ...values, num);
  if (changes !== 1) throw new SessionDamagedError(header.id, 'its header is missing');
  if (hasTags) return;
  db.run(sql.dropTags, num);
  addTags(db, num, header.tags);
}
