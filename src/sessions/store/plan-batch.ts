// The plan of a transaction that stores many writes, for stores that keep sessions in tables.
// Owns:     checking which writes fit, and what they leave of each session.
// Does not: read or store anything.
// G1. A write is checked against the state after the writes before it; refusing one leaves the others as they are.
// G2. Everything is checked before anything is stored: effects that a later write of the batch drops are never stored at all.
import type { EffectRow } from '../../journal/index.ts';
import type { KnownSession } from './check-rows.ts';
import { createWriteError } from './check-write.ts';
import { omitUndefined } from '../../lib/index.ts';
import { SessionConflictError } from '../core/session-conflict-error.ts';
import { SessionDeletedError } from '../core/session-deleted-error.ts';
import type { HolderRow } from './holder-row.ts';
import type {
  ClaimRequest,
  LogEntry,
  Mail,
  NewMail,
  SessionDeletion,
  SessionHeader,
  SessionRewrite,
  SessionWrite,
} from './session-store.ts';
import { StoreFencedError } from '../core/store-fenced-error.ts';

/** A change of who holds the store. */
export type HolderTask =
  { readonly type: 'claim'; readonly request: ClaimRequest } | { readonly type: 'beat' | 'release'; readonly epoch: number };

/** An answer to a mail; without a reply, the mail is removed. */
export interface MailAnswer {
  readonly epoch: number;
  readonly num: number;
  readonly reply?: string;
}

/** Something that the plan of a batch takes in. */
export type PlannedTask =
  | { readonly type: 'write'; readonly write: SessionWrite }
  | { readonly type: 'rewrite'; readonly rewrite: SessionRewrite }
  | { readonly type: 'delete'; readonly deletion: SessionDeletion }
  | { readonly type: 'post'; readonly mail: NewMail }
  | { readonly type: 'answer-mail'; readonly answer: MailAnswer }
  | HolderTask;

/** Something to do in a batch. */
export type StoreTask = PlannedTask | { readonly type: 'quarantine'; readonly sessionId: string; readonly damage: string | undefined };

/** Result of a task once the batch is stored: the current epoch, or the error that refused it. */
export type StoreTaskResult =
  | {
      readonly ok: true;
      readonly epoch: number;
      /** The mail that was posted, or is there already. */
      readonly mail?: Mail;
    }
  | { readonly ok: false; readonly error: unknown };

/** A session as the batch leaves it. */
export interface SessionDraft<Known extends KnownSession = KnownSession> {
  /** Absent if the batch creates it. */
  readonly before: Known | undefined;
  header: SessionHeader;
  head: number;
  dropsEffects: boolean;
  effects: EffectRow[];
  readonly entries: LogEntry[];
  /** Stored entries with new texts. */
  readonly rewritten: Map<number, LogEntry>;
}

/** Facts about what is stored. The plan asks only for sessions and mails that a task of the batch names. */
export interface StoredFacts<Known extends KnownSession = KnownSession> {
  /** Returns when a session was deleted. */
  findDeletion(sessionId: string): number | undefined;
  /** Throws if the session is damaged. */
  find(sessionId: string): Known | undefined;
  hasAnswer(session: Known, requestId: string): boolean;
  hasEffect(session: Known, effect: EffectRow): boolean;
  /** Returns a stored entry that is to be rewritten. Throws if it is damaged or missing. */
  findEntry(session: Known, n: number): LogEntry;
  /** Undefined if it is gone or damaged. */
  findMail(num: number): Mail | undefined;
  /** Finds the mail of a request. Undefined if there is none, or if it is damaged. */
  findRequestMail(mail: NewMail): Mail | undefined;
  /** The highest number that a mail ever had. Asked for only if a mail is posted. */
  findLastMail(): number;
}

/** Changes of the mailbox. Store them in this order: add what was posted, then change, then drop what deletions drop. */
export interface MailDraft {
  /** New mails, numbered. Also those that the same batch removes: their numbers are never used again. */
  readonly posted: Mail[];
  /** Mails with their replies; undefined for those that are removed. */
  readonly changed: Map<number, Mail | undefined>;
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
  /** Deletion time of each session. Everything of it is removed, mails too, and a tombstone kept; an existing tombstone stays. */
  readonly deletions: Map<string, number>;
  readonly mail: MailDraft;
}

/** Begins the plan of a batch. */
export const createPlan = <Known extends KnownSession>(known: Pick<BatchPlan<Known>, 'epoch' | 'holder' | 'facts'>): BatchPlan<Known> => ({
  ...known,
  drafts: new Map(),
  deletions: new Map(),
  mail: { posted: [], changed: new Map() },
});

const createDraft = <Known extends KnownSession>(header: SessionHeader, before?: Known): SessionDraft<Known> => ({
  before,
  header,
  head: before?.head ?? 0,
  dropsEffects: false,
  effects: [],
  entries: [],
  rewritten: new Map(),
});

export function checkEpoch({ epoch }: Pick<BatchPlan, 'epoch'>, own: number): void {
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

/** Throws if the session was deleted. */
export function checkNotDeleted(
  { facts, deletions }: Pick<BatchPlan, 'deletions'> & { readonly facts: Pick<StoredFacts, 'findDeletion'> },
  sessionId: string,
): void {
  const at = deletions.get(sessionId) ?? facts.findDeletion(sessionId);
  if (at !== undefined) throw new SessionDeletedError(sessionId, at);
}

/** Returns a session as the batch leaves it; undefined if there is none. */
function findDraft<Known extends KnownSession>(plan: BatchPlan<Known>, sessionId: string): SessionDraft<Known> | undefined {
  const { facts, drafts } = plan;
  const draft = drafts.get(sessionId);
  if (draft !== undefined) return draft;
  checkNotDeleted(plan, sessionId);
  const before = facts.find(sessionId);
  return before && createDraft(before.header, before);
}

function takeMail({ mail }: Pick<BatchPlan, 'mail'>, numbers: readonly number[] = []): void {
  for (const num of numbers) mail.changed.set(num, undefined);
}

/** Adds a write to the plan. Throws if it does not fit, and leaves the plan as it is. */
export function planWrite<Known extends KnownSession>(plan: BatchPlan<Known>, write: SessionWrite): void {
  const { sessionId, after, header } = write;
  checkEpoch(plan, write.epoch);
  let draft = findDraft(plan, sessionId);
  const found = draft?.head ?? 0;
  if (after === 0 ? draft !== undefined : found !== after) throw new SessionConflictError(sessionId, { expected: after, found });
  if (draft !== undefined) checkNew(plan.facts, draft, write);
  else if (header !== undefined) draft = createDraft<Known>(header);
  else throw createWriteError(sessionId, 'a new session needs a header and its first entry');
  extendDraft(draft, write);
  takeMail(plan, write.takesMail);
  plan.drafts.set(sessionId, draft);
}

/** Adds new texts to the plan. Throws if they do not fit, and leaves the plan as it is. */
export function planRewrite<Known extends KnownSession>(plan: BatchPlan<Known>, rewrite: SessionRewrite): void {
  const { sessionId, epoch, after, header } = rewrite;
  checkEpoch(plan, epoch);
  const draft = findDraft(plan, sessionId);
  const found = draft?.head ?? 0;
  if (draft === undefined || found !== after) throw new SessionConflictError(sessionId, { expected: after, found });
  const stored = draft.before?.head ?? 0;
  const entries = rewrite.entries.map(({ n, body, events }) => {
    const { events: _, ...kept } = findEntry(plan.facts, draft, n);
    return { ...kept, body, ...omitUndefined({ events }) };
  });
  for (const entry of entries)
    if (entry.n > stored) draft.entries[entry.n - stored - 1] = entry;
    else draft.rewritten.set(entry.n, entry);
  if (header !== undefined) draft.header = copyHeader(header);
  plan.drafts.set(sessionId, draft);
}

function findEntry<Known extends KnownSession>(
  facts: StoredFacts<Known>,
  { before, entries, rewritten }: SessionDraft<Known>,
  n: number,
): LogEntry {
  const entry = entries[n - (before?.head ?? 0) - 1] ?? rewritten.get(n) ?? (before && facts.findEntry(before, n));
  // Holds: the number was checked against the head, and every entry up to that is stored or drafted.
  return entry as LogEntry;
}

/** Adds a deletion to the plan. Throws if it does not fit, and leaves the plan as it is. */
export function planDeletion(plan: BatchPlan, { sessionId, epoch, at, takesMail }: SessionDeletion): void {
  checkEpoch(plan, epoch);
  const { deletions, drafts, facts, mail } = plan;
  deletions.set(sessionId, deletions.get(sessionId) ?? facts.findDeletion(sessionId) ?? at);
  drafts.delete(sessionId);
  takeMail(plan, takesMail);
  for (const [num, changed] of mail.changed) if (changed?.sessionId === sessionId) mail.changed.set(num, undefined);
}

/** Throws if a request was answered before, or an effect is stored already. */
function checkNew<Known extends KnownSession>(facts: StoredFacts<Known>, draft: SessionDraft<Known>, write: SessionWrite): void {
  const { sessionId, entries = [], effects = [], clearsEffects } = write;
  const { before } = draft;
  for (const { requestId } of entries) {
    if (requestId === undefined) continue;
    const isDrafted = draft.entries.some((entry) => entry.requestId === requestId);
    if (isDrafted || (before !== undefined && facts.hasAnswer(before, requestId)))
      throw createWriteError(sessionId, `the request "${requestId}" was answered before`);
  }
  if (clearsEffects === true) return;
  const hasStored = before !== undefined && before.effects > 0 && !draft.dropsEffects;
  for (const effect of effects) {
    const { key, phase } = effect;
    const isDrafted = draft.effects.some((other) => other.key === key && other.phase === phase);
    if (isDrafted || (hasStored && facts.hasEffect(before, effect)))
      throw createWriteError(sessionId, `the ${phase} of "${key}" is kept already`);
  }
}

// A copy: it is compared with the next one.
const copyHeader = (header: SessionHeader): SessionHeader => ({ ...header, tags: [...header.tags] });

function extendDraft(draft: SessionDraft, { header, entries = [], effects = [], clearsEffects }: SessionWrite): void {
  if (header !== undefined) draft.header = copyHeader(header);
  if (clearsEffects === true) {
    draft.dropsEffects = true;
    draft.effects = [];
  }
  draft.effects.push(...effects);
  draft.entries.push(...entries);
  draft.head += entries.length;
}
