// The rows that a batch changes.
// Owns:     turning the plan into rows.
// Does not: decide which tasks fit, or store anything.
import { jsonEquals, omitUndefined } from '../../lib/index.ts';
import type { BatchPlan, LogEntry, SessionDraft } from '../index.ts';
import { toEffectValues, toEntryValues, toHeaderValues, toMailValues, toTombstoneValues } from '../index.ts';
import type { Facts, ReadSession } from './facts.ts';
import { createStoredFacts, findNumbers } from './facts.ts';
import type { JsonRow } from './json-row.ts';
import { toJsonRow } from './json-row.ts';
import { checks } from './tables.ts';

/** Rows to be written. */
export interface Changes {
  readonly added: { readonly [Table in 'sessions' | 'heads' | 'session_tags' | 'log' | 'effects' | 'tombstones']: JsonRow[] };
  readonly headers: JsonRow[];
  readonly heads: JsonRow[];
  /** Entries with new texts. */
  readonly rewritten: JsonRow[];
  /** Mails with their replies. */
  readonly replied: JsonRow[];
  /** Numbers of mails that are removed. */
  readonly taken: number[];
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

function addDraft(changes: Changes, draft: SessionDraft<ReadSession>, newNum: () => number): void {
  const { added } = changes;
  const { before, header, head } = draft;
  const num = before?.num ?? newNum();
  const kept = draft.dropsEffects ? 0 : (before?.effects ?? 0);
  const effects = kept + draft.effects.length;
  const headRow = toJsonRow('heads', [num, head, effects]);
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
    if (before.head !== head || before.effects !== effects) changes.heads.push({ ...headRow, old_sum: before.headSum });
    if (draft.dropsEffects && before.effects > 0) changes.cleared.push(num);
  }
  if (isTagged) for (const tag of new Set(header.tags)) added.session_tags.push(toJsonRow('session_tags', [num, tag]));
  for (const [index, effect] of draft.effects.entries())
    added.effects.push(toJsonRow('effects', toEffectValues(num, kept + index + 1, effect)));
  addEntries(changes, num, draft);
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
export function toChanges({ drafts, deletions, mail }: BatchPlan<ReadSession>, facts: Facts): Changes {
  const changes: Changes = {
    added: { sessions: [], heads: [], session_tags: [], log: [], effects: [], tombstones: [] },
    headers: [],
    heads: [],
    rewritten: [],
    replied: [],
    taken: [],
    retagged: [],
    cleared: [],
    deleted: [],
  };
  let num = facts.lastNum;
  for (const draft of drafts.values()) addDraft(changes, draft, () => (num += 1));
  for (const [id, at] of deletions) addDeletion(changes, facts, { id, at });
  for (const [number, changed] of mail.changed) {
    if (changed === undefined) changes.taken.push(number);
    else changes.replied.push(toJsonRow('mail', toMailValues(changed)));
  }
  return changes;
}
