// The rows that a batch changes.
// Owns:     turning the plan into rows.
// Does not: decide which tasks fit, or store anything.
import { jsonEquals, omitUndefined } from '../../lib/index.ts';
import type { BatchPlan, LogEntry, Mail, SessionDraft } from '../index.ts';
import { leaseColumns, toEffectValues, toEntryValues, toHeaderValues, toLeaseValues, toMailValues, toTombstoneValues } from '../index.ts';
import type { Facts, ReadSession } from './facts.ts';
import { createStoredFacts, findNumbers } from './facts.ts';
import type { JsonRow } from './json-row.ts';
import { toJsonRow } from './json-row.ts';
import { checks, isIntact } from './tables.ts';

/** Rows to be written. */
export interface Changes {
  readonly added: { readonly [Table in 'sessions' | 'heads' | 'session_tags' | 'log' | 'effects' | 'mail' | 'tombstones']: JsonRow[] };
  readonly headers: JsonRow[];
  readonly heads: JsonRow[];
  /** Entries with new texts. */
  readonly rewritten: JsonRow[];
  /** Mails with their replies. */
  readonly replied: JsonRow[];
  /** Mails that are removed. */
  readonly taken: { readonly session: number; readonly num: number }[];
  /** Damaged mails that new ones take the place of. */
  readonly displaced: { readonly session: number; readonly num: unknown }[];
  /** Sessions whose tags are replaced. */
  readonly retagged: number[];
  /** Sessions whose effects are dropped. */
  readonly cleared: number[];
  /** Sessions that are deleted. */
  readonly deleted: { readonly id: string; readonly nums: readonly number[] }[];
}

function addEntries(changes: Changes, num: number, { before, header, entries, rewritten }: SessionDraft<ReadSession>): void {
  const toRow = (entry: LogEntry): JsonRow => toJsonRow('log', toEntryValues({ num, id: header.id }, entry));
  for (const entry of entries) changes.added.log.push(toRow(entry));
  for (const entry of rewritten.values()) changes.rewritten.push({ ...toRow(entry), old_sum: before?.rewritten.get(entry.n)?.['sum'] });
}

function addMails(changes: Changes, num: number, { before, posted, mails }: SessionDraft<ReadSession>): void {
  const toRow = (mail: Mail): JsonRow => toJsonRow('mail', toMailValues(num, mail));
  for (const mail of posted) {
    const kept = mails.has(mail.num) ? mails.get(mail.num) : mail;
    if (kept !== undefined) changes.added.mail.push(toRow(kept));
    for (const row of before?.mail ?? [])
      if (row['request_id'] === mail.requestId && !isIntact('mail', row)) changes.displaced.push({ session: num, num: row['num'] });
  }
  for (const [answered, mail] of mails) {
    if (posted.some((each) => each.num === answered)) continue;
    if (mail === undefined) changes.taken.push({ session: num, num: answered });
    else changes.replied.push(toRow(mail));
  }
}

const toLeaseRow = (lease: SessionDraft['lease']): JsonRow => {
  const values = toLeaseValues(lease);
  return Object.fromEntries(leaseColumns.map((column, index) => [column, values[index]]));
};

function addDraft(changes: Changes, draft: SessionDraft<ReadSession>, newNum: () => number): void {
  const { added } = changes;
  const { before, header, head } = draft;
  const num = before?.num ?? newNum();
  const kept = draft.dropsEffects ? 0 : (before?.effects ?? 0);
  const effects = kept + draft.effects.length;
  const headRow = { ...toJsonRow('heads', [num, head, effects]), ...toLeaseRow(draft.lease) };
  let isTagged = false;
  if (before === undefined) {
    added.sessions.push(toJsonRow('sessions', toHeaderValues(num, header)));
    added.heads.push(headRow);
    isTagged = true;
  } else {
    if (header !== before.header) {
      changes.headers.push({ ...toJsonRow('sessions', toHeaderValues(num, header)), old_sum: before.headerSum });
      isTagged = !jsonEquals(header.tags, before.header.tags);
      if (isTagged) changes.retagged.push(num);
    }
    if (before.head !== head || before.effects !== effects || !jsonEquals(draft.lease, before.lease))
      changes.heads.push({ ...headRow, old_sum: before.headSum });
    if (draft.dropsEffects && before.effects > 0) changes.cleared.push(num);
  }
  if (isTagged) for (const tag of new Set(header.tags)) added.session_tags.push(toJsonRow('session_tags', [num, tag]));
  for (const [index, effect] of draft.effects.entries())
    added.effects.push(toJsonRow('effects', toEffectValues(num, kept + index + 1, effect)));
  addEntries(changes, num, draft);
  addMails(changes, num, draft);
}

function addDeletion(changes: Changes, facts: Facts, { id, at }: { readonly id: string; readonly at: number }): void {
  const nums = findNumbers(facts, id);
  const [num] = nums;
  changes.deleted.push({ id, nums });
  const isBuried = createStoredFacts(facts).findDeletion(id) !== undefined;
  if (isBuried) return;
  const tombstone = omitUndefined({ id: checks.toTombstoneId(id), num, at });
  changes.added.tombstones.push(toJsonRow('tombstones', toTombstoneValues(tombstone)));
}

/** Collects the rows that a batch changes. */
export function toChanges({ drafts, deletions }: BatchPlan<ReadSession>, facts: Facts): Changes {
  const changes: Changes = {
    added: { sessions: [], heads: [], session_tags: [], log: [], effects: [], mail: [], tombstones: [] },
    headers: [],
    heads: [],
    rewritten: [],
    replied: [],
    taken: [],
    displaced: [],
    retagged: [],
    cleared: [],
    deleted: [],
  };
  const nums = [...facts.nums];
  // Holds: there is one for each write that creates a session.
  for (const draft of drafts.values()) addDraft(changes, draft, () => nums.shift() as number);
  for (const [id, at] of deletions) addDeletion(changes, facts, { id, at });
  return changes;
}
