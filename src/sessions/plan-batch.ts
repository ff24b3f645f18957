// The plan of a transaction that stores many writes, for stores that keep sessions in tables.
// Owns:     checking which writes fit, and what they leave of each session.
// Does not: read or store anything.
// G1. A write is checked against the state after the writes before it; refusing one leaves the others as they are.
// G2. Everything is checked before anything is stored: effects that a later write of the batch drops are never stored at all.
import type { EffectRow } from '../journal/index.ts';
import type { KnownSession } from './check-rows.ts';
import { refusedWrite } from './check-write.ts';
import { SessionConflictError } from './session-conflict-error.ts';
import type { HolderRow } from './holder-row.ts';
import type { ClaimRequest, LogEntry, SessionHeader, SessionWrite } from './session-store.ts';
import { StoreFencedError } from './store-fenced-error.ts';

/** A change of who holds the store. */
export type HolderTask =
  { readonly type: 'claim'; readonly request: ClaimRequest } | { readonly type: 'beat' | 'release'; readonly epoch: number };

/** Something to do in a batch. */
export type StoreTask =
  | { readonly type: 'write'; readonly write: SessionWrite }
  | HolderTask
  | { readonly type: 'quarantine'; readonly sessionId: string; readonly damage: string | undefined };

/** Result of a task once the batch is stored: the current epoch, or the error that refused it. */
export type StoreTaskResult = { readonly ok: true; readonly epoch: number } | { readonly ok: false; readonly error: unknown };

/** A session as the batch leaves it. */
export interface SessionDraft<Known extends KnownSession = KnownSession> {
  /** Absent if the batch creates it. */
  readonly before: Known | undefined;
  header: SessionHeader;
  head: number;
  dropsEffects: boolean;
  effects: EffectRow[];
  readonly entries: LogEntry[];
}

/** Facts about stored sessions. */
export interface StoredFacts<Known extends KnownSession = KnownSession> {
  /** Throws if the session is damaged. */
  find(sessionId: string): Known | undefined;
  hasAnswer(session: Known, requestId: string): boolean;
  hasEffect(session: Known, effect: EffectRow): boolean;
}

/** A batch that is being planned. */
export interface BatchPlan<Known extends KnownSession = KnownSession> {
  epoch: number;
  /** Row of the holder; read only for batches with a task that needs it. */
  holder: HolderRow | undefined;
  /** True if that row is to be written. */
  changesHolder?: boolean;
  readonly facts: StoredFacts<Known>;
  readonly drafts: Map<string, SessionDraft<Known>>;
}

const createDraft = <Known extends KnownSession>(header: SessionHeader, before?: Known): SessionDraft<Known> => ({
  before,
  header,
  head: before?.head ?? 0,
  dropsEffects: false,
  effects: [],
  entries: [],
});

function checkEpoch({ epoch }: Pick<BatchPlan, 'epoch'>, own: number): void {
  if (own !== epoch) throw new StoreFencedError({ own, current: epoch });
}

/** Adds a change of the holder to the plan. Throws if it does not fit, and leaves the plan as it is. */
export function planHolder(plan: Pick<BatchPlan, 'epoch' | 'holder' | 'changesHolder'>, task: HolderTask): void {
  if (task.type === 'claim') {
    const { holder, after = plan.epoch } = task.request;
    checkEpoch(plan, after);
    plan.epoch += 1;
    plan.holder = holder && { epoch: plan.epoch, beats: 0, body: JSON.stringify(holder) };
  } else {
    checkEpoch(plan, task.epoch);
    const { holder } = plan;
    if (task.type === 'release') plan.holder = undefined;
    else if (holder?.epoch === plan.epoch) plan.holder = { ...holder, beats: holder.beats + 1 };
  }
  plan.changesHolder = true;
}

/** Adds a write to the plan. Throws if it does not fit, and leaves the plan as it is. */
export function planWrite<Known extends KnownSession>({ epoch, facts, drafts }: BatchPlan<Known>, write: SessionWrite): void {
  const { sessionId, after, header } = write;
  checkEpoch({ epoch }, write.epoch);
  let draft = drafts.get(sessionId);
  if (draft === undefined) {
    const before = facts.find(sessionId);
    draft = before && createDraft(before.header, before);
  }
  const found = draft?.head ?? 0;
  if (after === 0 ? draft !== undefined : found !== after) throw new SessionConflictError(sessionId, { expected: after, found });
  if (draft !== undefined) checkNew(facts, draft, write);
  else if (header !== undefined) draft = createDraft<Known>(header);
  else throw refusedWrite(sessionId, 'a session is made with a header and its first entry');
  extendDraft(draft, write);
  drafts.set(sessionId, draft);
}

/** Throws if a request was answered before, or an effect is stored already. */
function checkNew<Known extends KnownSession>(facts: StoredFacts<Known>, draft: SessionDraft<Known>, write: SessionWrite): void {
  const { sessionId, entries = [], effects = [], clearsEffects } = write;
  const { before } = draft;
  for (const { requestId } of entries) {
    if (requestId === undefined) continue;
    const isDrafted = draft.entries.some((entry) => entry.requestId === requestId);
    if (isDrafted || (before !== undefined && facts.hasAnswer(before, requestId)))
      throw refusedWrite(sessionId, `the request "${requestId}" was answered before`);
  }
  if (clearsEffects === true) return;
  const hasStored = before !== undefined && before.effects > 0 && !draft.dropsEffects;
  for (const effect of effects) {
    const { key, phase } = effect;
    const isDrafted = draft.effects.some((other) => other.key === key && other.phase === phase);
    if (isDrafted || (hasStored && facts.hasEffect(before, effect)))
      throw refusedWrite(sessionId, `the ${phase} of "${key}" is kept already`);
  }
}

function extendDraft(draft: SessionDraft, { header, entries = [], effects = [], clearsEffects }: SessionWrite): void {
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
