// One transaction for all that was asked for since the last one.
// Owns:     deciding which writes fit, and storing those that do.
// Does not: begin or end the transaction, or tell anybody.
// G1. A write is judged against what stands once those before it are stored; refusing one leaves the others as they are.
// G2. Everything is judged before anything is stored: what a later write of the batch drops is never stored at all.
// G3. What is known of sessions is only believed as long as nobody else has written.
import type { EffectRow } from '../../journal/index.ts';
import { refusedWrite } from '../index.ts';
import type { LogEntry, SessionHeader, SessionWrite } from '../index.ts';
import { SessionConflictError, SessionDamagedError, StoreFencedError, StoreUnavailableError } from '../index.ts';
import { toSessionError, toStoreError } from './classify-error.ts';
import type { KnownSession } from './read-session.ts';
import { findSession, getRow } from './read-session.ts';
import { effectValues, entryValues, headerValues } from './rows.ts';
import type { Statements } from './statements.ts';
import { isIntact, withChecksum } from './tables.ts';

/** Something to do in a batch. */
export type Task =
  | { readonly type: 'write'; readonly write: SessionWrite }
  | { readonly type: 'claim' }
  | { readonly type: 'quarantine'; readonly sessionId: string; readonly damage: string | undefined };

/** What became of a task once the batch is stored: the epoch of a claim, or why it was refused. */
export type TaskResult = { readonly ok: true; readonly epoch: number } | { readonly ok: false; readonly error: unknown };

/** What the store believes to stand in the file. */
export interface Knowledge {
  /** Changes when another connection has written. */
  dataVersion: number;
  epoch: number;
  readonly sessions: Map<string, KnownSession>;
}

/** A session as the batch leaves it. */
interface Draft {
  /** Absent where the batch makes it. */
  readonly before: KnownSession | undefined;
  header: SessionHeader;
  head: number;
  dropsEffects: boolean;
  effects: EffectRow[];
  readonly entries: LogEntry[];
}

// Enough for every session that is at work; beyond it they are read again.
const mostKnown = 10_000;

export const createKnowledge = (): Knowledge => ({ dataVersion: -1, epoch: 0, sessions: new Map() });

export function forget(knowledge: Knowledge): void {
  knowledge.dataVersion = -1;
  knowledge.sessions.clear();
}

function readEpoch(statements: Statements): number {
  const row = getRow(statements.meta, 'epoch');
  if (row !== undefined && isIntact('meta', row)) return Number(row['value']);
  throw new StoreUnavailableError('failed', 'the row that says who may write does not match its checksum');
}

/** Reads again what another may have changed. Called inside the transaction. */
function refresh(statements: Statements, knowledge: Knowledge): void {
  const dataVersion = Number(getRow(statements.dataVersion)?.['data_version']);
  if (dataVersion === knowledge.dataVersion) return;
  knowledge.sessions.clear();
  knowledge.epoch = readEpoch(statements);
  knowledge.dataVersion = dataVersion;
}

/** Runs the tasks inside a transaction. What it gives holds once that is committed; `settle` then makes it known. */
export function runBatch(
  statements: Statements,
  knowledge: Knowledge,
  tasks: readonly Task[],
): { readonly results: readonly TaskResult[]; readonly settle: () => void } {
  refresh(statements, knowledge);
  const drafts = new Map<string, Draft>();
  let { epoch } = knowledge;

  function getDraft(sessionId: string): Draft | undefined {
    const drafted = drafts.get(sessionId);
    if (drafted !== undefined) return drafted;
    const before = knowledge.sessions.get(sessionId) ?? findSession(statements, sessionId);
    return before && { before, header: before.header, head: before.head, dropsEffects: false, effects: [], entries: [] };
  }

  function plan(write: SessionWrite): void {
    const { sessionId, after } = write;
    if (write.epoch !== epoch) throw new StoreFencedError({ own: write.epoch, current: epoch });
    const draft = getDraft(sessionId);
    const found = draft?.head ?? 0;
    if (after === 0 ? draft !== undefined : found !== after) throw new SessionConflictError(sessionId, { expected: after, found });
    if (draft !== undefined) checkNew(statements, draft, write);
    drafts.set(sessionId, extendDraft(draft ?? createDraft(write), write));
  }

  function run(task: Task): TaskResult {
    try {
      if (task.type === 'claim') epoch += 1;
      else if (task.type === 'quarantine') note(statements, task);
      else plan(task.write);
      return { ok: true, epoch };
    } catch (error) {
      return { ok: false, error: task.type === 'write' ? toSessionError(task.write.sessionId, error) : toStoreError(error) };
    }
  }

  const results = tasks.map(run);
  if (epoch !== knowledge.epoch) {
    const [, value = null, sum = null] = withChecksum('meta', ['epoch', epoch]);
    statements.setMeta.run(value, sum, 'epoch');
  }
  const stored = [...drafts].map(([id, draft]) => [id, store(statements, draft)] as const);
  const settle = (): void => {
    knowledge.epoch = epoch;
    if (knowledge.sessions.size + stored.length > mostKnown) knowledge.sessions.clear();
    for (const [id, session] of stored) knowledge.sessions.set(id, session);
  };
  return { results, settle };
}

function note(statements: Statements, { sessionId, damage }: { readonly sessionId: string; readonly damage: string | undefined }): void {
  if (damage === undefined) {
    statements.dropQuarantine.run(sessionId);
    return;
  }
  const num = getRow(statements.session, sessionId)?.['num'];
  if (typeof num === 'number') statements.addQuarantine.run(...withChecksum('quarantine', [sessionId, num, damage]));
}

function createDraft({ sessionId, header }: SessionWrite): Draft {
  if (header === undefined) throw refusedWrite(sessionId, 'a session is made with a header and its first entry');
  return { before: undefined, header, head: 0, dropsEffects: false, effects: [], entries: [] };
}

/** Refuses what would stand twice. */
function checkNew(statements: Statements, draft: Draft, { sessionId, entries = [], effects = [], clearsEffects }: SessionWrite): void {
  for (const { requestId } of entries) {
    if (requestId === undefined || !isAnswered(statements, draft, requestId)) continue;
    throw refusedWrite(sessionId, `the request "${requestId}" was answered before`);
  }
  if (clearsEffects === true) return;
  for (const effect of effects) {
    if (isStored(statements, draft, effect)) throw refusedWrite(sessionId, `the ${effect.phase} of "${effect.key}" is kept already`);
  }
}

function isAnswered(statements: Statements, { before, entries }: Draft, requestId: string): boolean {
  if (entries.some((entry) => entry.requestId === requestId)) return true;
  return before !== undefined && getRow(statements.request, before.num, requestId, before.head) !== undefined;
}

function isStored(statements: Statements, { before, dropsEffects, effects }: Draft, { key, phase }: EffectRow): boolean {
  if (effects.some((effect) => effect.key === key && effect.phase === phase)) return true;
  if (before === undefined || before.effects === 0 || dropsEffects) return false;
  return getRow(statements.effect, before.num, key, phase) !== undefined;
}

function extendDraft(draft: Draft, { header, entries = [], effects = [], clearsEffects }: SessionWrite): Draft {
  // A copy: it is compared with the next one.
  if (header !== undefined) draft.header = { ...header, tags: [...header.tags] };
  if (clearsEffects === true) {
    draft.dropsEffects = true;
    draft.effects = [];
  }
  draft.effects.push(...effects);
  draft.entries.push(...entries);
  draft.head += entries.length;
  return draft;
}

function store(statements: Statements, draft: Draft): KnownSession {
  const { before, header, head } = draft;
  const num = before?.num ?? Number(getRow(statements.lastNum)?.['num']) + 1;
  const kept = draft.dropsEffects ? 0 : (before?.effects ?? 0);
  const known: KnownSession = { num, header, head, effects: kept + draft.effects.length };
  if (before === undefined) addSession(statements, known);
  else if (header !== before.header) changeHeader(statements, known, before.header);
  if (draft.dropsEffects && before !== undefined && before.effects > 0) statements.dropEffects.run(num);
  for (const [index, effect] of draft.effects.entries()) statements.addEffect.run(...effectValues(num, kept + index + 1, effect));
  for (const entry of draft.entries) statements.addEntry.run(...entryValues({ num, id: header.id }, entry));
  if (before !== undefined && (before.head !== head || before.effects !== known.effects)) setHead(statements, known);
  return known;
}

function addSession(statements: Statements, { num, header, head, effects }: KnownSession): void {
  statements.addSession.run(...headerValues(num, header));
  statements.addHead.run(...withChecksum('heads', [num, head, effects]));
  addTags(statements, num, header.tags);
}

function addTags(statements: Statements, num: number, tags: readonly string[]): void {
  for (const tag of new Set(tags)) statements.addTag.run(...withChecksum('session_tags', [num, tag]));
}

function setHead(statements: Statements, { num, header, head, effects }: KnownSession): void {
  const [, ...values] = withChecksum('heads', [num, head, effects]);
  if (Number(statements.setHead.run(...values, num).changes) !== 1) {
    throw new SessionDamagedError(header.id, 'the number of its last entry is missing');
  }
}

const foundBy = ['agentId', 'tenant', 'owner', 'status', 'stopReason', 'isOpen', 'wakeAt', 'createdAt'] as const;

const haveSameTags = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((tag, index) => tag === other[index]);

function changeHeader(statements: Statements, { num, header }: KnownSession, before: SessionHeader): void {
  const [, , ...values] = headerValues(num, header);
  const hasTags = haveSameTags(header.tags, before.tags);
  const isTouched = hasTags && foundBy.every((field) => header[field] === before[field]);
  // The narrow statement leaves the indexes alone. It sets the last three values.
  const { changes } = isTouched ? statements.touchHeader.run(...values.slice(-3), num) : statements.setHeader.run(...values, num);
  if (Number(changes) !== 1) throw new SessionDamagedError(header.id, 'its header is missing');
  if (hasTags) return;
  statements.dropTags.run(num);
  addTags(statements, num, header.tags);
}
