// The plan of a transaction that stores many writes, for stores that keep sessions in tables.
// Owns:     checking which writes fit, and what they leave of each session.
// Does not: read or store anything.
// G1. A write is checked against the state after the writes before it; refusing one leaves the others as they are.
// G2. Everything is checked before anything is stored: effects that a later write of the batch drops are never stored at all.
import type { EffectRow } from '../../journal/index.ts';
import type { KnownSession } from './check-rows.ts';
import { createWriteError } from './check-write.ts';
import { omitUndefined } from '../../lib/index.ts';
import { LeaseLostError, SessionConflictError, SessionDeletedError, UnknownSessionError } from '../core/errors.ts';
import type { LeaseRow } from './lease-row.ts';
import { checkLease, newLeaseRow, postLease, writeLease } from './lease-row.ts';
import type { LogEntry, Mail, NewMail, SessionDeletion, SessionHeader, SessionWrite, WriteReceipt } from './session-store.ts';

/** Something that the plan of a batch takes in. */
export type PlannedTask =
  | { readonly type: 'write'; readonly write: SessionWrite }
  | { readonly type: 'delete'; readonly deletion: SessionDeletion }
  | { readonly type: 'post'; readonly mail: NewMail };

/** Something to do in a batch. */
export type StoreTask = PlannedTask | { readonly type: 'quarantine'; readonly sessionId: string; readonly damage: string | undefined };

/** Result of a task that fits. */
export interface TaskReceipt extends Partial<WriteReceipt> {
  /** The mail that was posted, or is there already. */
  readonly mail?: Mail;
  /** True if the session is ready to be claimed now. */
  readonly isReady?: boolean;
}

/** Result of a task once the batch is stored, or the error that refused it. */
export type StoreTaskResult = ({ readonly ok: true } & TaskReceipt) | { readonly ok: false; readonly error: unknown };

/** A session as the batch leaves it. */
export interface SessionDraft<Known extends KnownSession = KnownSession> {
  /** Absent if the batch creates it. */
  readonly before: Known | undefined;
  header: SessionHeader;
  head: number;
  lease: LeaseRow;
  dropsEffects: boolean;
  effects: EffectRow[];
  readonly entries: LogEntry[];
  /** Stored entries with new texts. */
  readonly rewritten: Map<number, LogEntry>;
  /** Mails that the batch adds; also those that it removes again. */
  readonly posted: Mail[];
  /** Mails with their replies, by their numbers; undefined for those that are removed. */
  readonly mails: Map<number, Mail | undefined>;
}

/** Facts about what is stored. The plan asks only for sessions, mails and workers that a task of the batch names. */
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
  findMail(session: Known, num: number): Mail | undefined;
  /** Finds the mail of a request. Undefined if there is none, or if it is damaged. */
  findRequestMail(session: Known, requestId: string): Mail | undefined;
  /** True if a worker with this id has joined, and was not freed since. */
  hasWorker(id: string): boolean;
}

/** A batch that is being planned. */
export interface BatchPlan<Known extends KnownSession = KnownSession> {
  /** Time on the clock of the store. */
  readonly now: number;
  readonly facts: StoredFacts<Known>;
  readonly drafts: Map<string, SessionDraft<Known>>;
  /** Deletion time of each session. Everything of it is removed, mails too, and a tombstone kept; an existing tombstone stays. */
  readonly deletions: Map<string, number>;
}

/** Begins the plan of a batch. */
export const createPlan = <Known extends KnownSession>(known: Pick<BatchPlan<Known>, 'now' | 'facts'>): BatchPlan<Known> => ({
  ...known,
  drafts: new Map(),
  deletions: new Map(),
});

const createDraft = <Known extends KnownSession>(header: SessionHeader, before?: Known): SessionDraft<Known> => ({
  ...{ before, header, head: before?.head ?? 0, lease: before?.lease ?? newLeaseRow },
  ...{ dropsEffects: false, effects: [], entries: [], rewritten: new Map(), posted: [], mails: new Map() },
});

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

/** Adds a write to the plan. Throws if it does not fit, and leaves the plan as it is. */
export function planWrite<Known extends KnownSession>(plan: BatchPlan<Known>, write: SessionWrite): TaskReceipt {
  const { sessionId, after, header, lease, keepsLease } = write;
  let draft = findDraft(plan, sessionId);
  const found = draft?.head ?? 0;
  // A session that exists says so to whoever would create it.
  if (after === 0 && draft !== undefined) throw new SessionConflictError(sessionId, { expected: after, found });
  if (draft !== undefined) checkLease(draft.lease, write);
  if (keepsLease && !plan.facts.hasWorker(lease.worker)) throw new LeaseLostError(sessionId);
  if (found !== after) throw new SessionConflictError(sessionId, { expected: after, found });
  if (draft !== undefined) checkNew(plan.facts, draft, write);
  else if (header !== undefined) draft = createDraft<Known>(header);
  else throw createWriteError(sessionId, 'a new session needs a header and its first entry');
  const rewritten = planRewrites(plan, draft, write);
  extendDraft(draft, write);
  for (const entry of rewritten)
    if (entry.n > (draft.before?.head ?? 0)) draft.entries[entry.n - (draft.before?.head ?? 0) - 1] = entry;
    else draft.rewritten.set(entry.n, entry);
  answerMails(plan, draft, write);
  draft.lease = writeLease(draft.lease, write, { isOpen: draft.header.isOpen, now: plan.now });
  plan.drafts.set(sessionId, draft);
  return { hasMail: draft.lease.posted > draft.lease.applied, isReady: draft.lease.isReady };
}

/** Returns stored entries with their new texts. */
function planRewrites<Known extends KnownSession>(
  { facts }: BatchPlan<Known>,
  draft: SessionDraft<Known>,
  { rewrites = [] }: SessionWrite,
): readonly LogEntry[] {
  return rewrites.map(({ n, body, events }) => {
    const { events: _, ...kept } = findEntry(facts, draft, n);
    return { ...kept, body, ...omitUndefined({ events }) };
  });
}

/** Answers the mail that a write applies or refuses, and removes those that it drops. */
function answerMails<Known extends KnownSession>(
  { facts }: BatchPlan<Known>,
  { before, posted, mails }: SessionDraft<Known>,
  { mail, dropsMail = [] }: SessionWrite,
): void {
  for (const num of dropsMail) mails.set(num, undefined);
  if (mail === undefined) return;
  const known = posted.find(({ num }) => num === mail.num) ?? (before && facts.findMail(before, mail.num));
  mails.set(mail.num, mail.reply === undefined || known === undefined ? undefined : { ...known, reply: mail.reply });
}

/** Adds a mail to the plan. Throws if it does not fit, and leaves the plan as it is. The receipt has no mail if the log has the request. */
export function planPost<Known extends KnownSession>(plan: BatchPlan<Known>, mail: NewMail): TaskReceipt {
  const { sessionId, requestId, at, body } = mail;
  const { facts } = plan;
  const draft = findDraft(plan, sessionId);
  if (draft === undefined) throw new UnknownSessionError(sessionId);
  const { before, posted, mails, entries } = draft;
  const stored = posted.find((each) => each.requestId === requestId) ?? (before && facts.findRequestMail(before, requestId));
  const known = stored !== undefined && mails.has(stored.num) ? mails.get(stored.num) : stored;
  if (known !== undefined) return { mail: known };
  if (entries.some((entry) => entry.requestId === requestId) || (before !== undefined && facts.hasAnswer(before, requestId))) return {};
  draft.lease = postLease(draft.lease, mail, plan.now);
  const added: Mail = { num: draft.lease.posted, sessionId, requestId, at, body };
  posted.push(added);
  plan.drafts.set(sessionId, draft);
  return { mail: added, isReady: draft.lease.isReady };
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

/** Adds a deletion to the plan. */
export function planDeletion({ deletions, drafts, facts }: BatchPlan, { sessionId, at }: SessionDeletion): void {
  deletions.set(sessionId, deletions.get(sessionId) ?? facts.findDeletion(sessionId) ?? at);
  drafts.delete(sessionId);
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
