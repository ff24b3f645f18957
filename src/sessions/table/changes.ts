// What a batch changes in the tables.
// Owns:     turning its plan into changes of rows.
// Does not: decide which tasks fit, or store anything.
import { jsonEquals, omitUndefined } from '../../lib/index.ts';
import type {
  BatchPlan,
  KnownSession,
  LogEntry,
  Mail,
  SessionDraft,
  SessionHeader,
  StoredTable,
  StoredValue,
  StoreTask,
} from '../index.ts';
import { toEffectValues, toEntryValues, toHeaderValues, toLeaseValues, toMailValues, toTombstoneValues } from '../index.ts';
import type { Dialect } from './dialect.ts';
import type { Facts } from './facts.ts';
import { checks, withChecksum } from './rows.ts';

type Values = readonly StoredValue[];

/** A change of a row, or of rows. Values are in the order of the columns. */
export type Change =
  | { readonly type: 'add'; readonly table: StoredTable; readonly values: Values }
  | { readonly type: 'set'; readonly table: StoredTable; readonly values: Values; readonly before: Values }
  | Removal;

/** Removes the rows that have these values. */
interface Removal {
  readonly type: 'remove';
  readonly table: StoredTable;
  readonly columns: readonly string[];
  readonly values: Values;
  /** True if a row that is added may take the place of one of them. */
  readonly isFirst?: boolean;
}

type Row = Parameters<typeof withChecksum>[1];

const add = (table: StoredTable, row: Row): Change => ({ type: 'add', table, values: withChecksum(table, row) });
const remove = (table: StoredTable, columns: readonly string[], ...values: Values): Removal => ({ type: 'remove', table, columns, values });
/** Changes nothing if the rows are the same. */
const set = (table: StoredTable, values: Values, before: Values): readonly Change[] =>
  values.every((value, at) => value === before[at]) ? [] : [{ type: 'set', table, values, before }];

/** Facts that changes are made from. */
interface Source {
  readonly facts: Facts;
  readonly dialect: Dialect;
}

/** The rows of a session in `sessions` and `heads`. */
interface SessionRows {
  readonly header: Values;
  readonly head: Values;
}

const toHeaderRow = (num: number, header: SessionHeader): Values => withChecksum('sessions', toHeaderValues(num, header));

/** Values of all columns of `heads`. The copies at the end are what sessions to claim may be found by. */
const toHeadRow = ({ num, head, effects, lease, header }: KnownSession): Values => [
  ...withChecksum('heads', [num, head, effects]),
  ...toLeaseValues(lease),
  header.tenant ?? '',
  header.wakeAt ?? null,
];

/** Rows as they were stored: the next write compares them with its own. */
const storedRows = new WeakMap<KnownSession, SessionRows>();

const getRows = (known: KnownSession): SessionRows =>
  storedRows.get(known) ?? { header: toHeaderRow(known.num, known.header), head: toHeadRow(known) };

const addTags = (num: number, { tags }: SessionHeader): readonly Change[] =>
  [...new Set(tags)].map((tag) => add('session_tags', [num, tag]));

function listMails({ before, header, posted, mails }: SessionDraft, num: number, { facts, dialect }: Source): readonly Change[] {
  const toRow = (mail: Mail): Values => withChecksum('mail', toMailValues(num, mail));
  const changes: Change[] = [];
  for (const mail of posted) {
    const owner = dialect.mailKey === 'session' ? num : header.id;
    // A damaged mail of the same request may be left.
    if (before !== undefined && facts.hasDamagedMail(before, mail.requestId))
      changes.push({ ...remove('mail', [dialect.mailKey, 'request_id'], owner, mail.requestId), isFirst: true });
    const left = mails.has(mail.num) ? mails.get(mail.num) : mail;
    if (left !== undefined) changes.push({ type: 'add', table: 'mail', values: toRow(left) });
  }
  for (const [answered, mail] of mails) {
    if (posted.some((each) => each.num === answered)) continue;
    const known = before && facts.findMail(before, answered);
    if (mail === undefined) changes.push(remove('mail', ['session', 'num'], num, answered));
    else if (known !== undefined) changes.push(...set('mail', toRow(mail), toRow(known)));
  }
  return changes;
}

/** Lists the changes of a session, and says what it is then. */
function listDraft(
  draft: SessionDraft,
  num: number,
  source: Source,
): { readonly changes: readonly Change[]; readonly known: KnownSession } {
  const { before, header, head, lease, dropsEffects } = draft;
  const { id } = header;
  const kept = dropsEffects ? 0 : (before?.effects ?? 0);
  const known: KnownSession = { num, header, head, effects: kept + draft.effects.length, lease };
  const old = before && getRows(before);
  const rows = { header: old !== undefined && header === before?.header ? old.header : toHeaderRow(num, header), head: toHeadRow(known) };
  storedRows.set(known, rows);
  const toRow = (entry: LogEntry): Values => withChecksum('log', toEntryValues({ num, id }, entry));
  const changes: Change[] = [];
  if (before === undefined || old === undefined) {
    changes.push({ type: 'add', table: 'sessions', values: rows.header }, { type: 'add', table: 'heads', values: rows.head });
    changes.push(...addTags(num, header));
  } else {
    changes.push(...set('sessions', rows.header, old.header));
    if (!jsonEquals(header.tags, before.header.tags)) changes.push(remove('session_tags', ['session'], num), ...addTags(num, header));
    if (dropsEffects && before.effects > 0) changes.push(remove('effects', ['session'], num));
    for (const entry of draft.rewritten.values()) changes.push(...set('log', toRow(entry), toRow(source.facts.findEntry(before, entry.n))));
  }
  for (const [index, effect] of draft.effects.entries()) changes.push(add('effects', toEffectValues(num, kept + index + 1, effect)));
  for (const entry of draft.entries) changes.push({ type: 'add', table: 'log', values: toRow(entry) });
  changes.push(...listMails(draft, num, source));
  if (old !== undefined) changes.push(...set('heads', rows.head, old.head));
  return { changes, known };
}

const byNumber = ['log', 'heads', 'effects', 'session_tags', 'quarantine', 'mail'] as const;

// X1. The rows of another session are never touched, whatever is damaged.
// X2. A damaged session can be deleted, as far as its rows can be found.
function listDeletion(facts: Facts, id: string, at: number): readonly Change[] {
  const nums = facts.findNumbers(id);
  const [num] = nums;
  const changes = [
    ...nums.flatMap((each) => [...byNumber.map((table) => remove(table, ['session'], each)), remove('sessions', ['num'], each)]),
    remove('sessions', ['id'], id),
    remove('quarantine', ['id'], id),
    ...(['log', 'mail', 'notes'] as const).map((table) => remove(table, ['session_id'], id)),
  ];
  if (facts.findDeletion(id) !== undefined) return changes;
  return [...changes, add('tombstones', toTombstoneValues(omitUndefined({ id: checks.toTombstoneId(id), at, num })))];
}

/** Lists what is noted of the damage of sessions: the first note stays until it is dropped. */
function listNotes(tasks: readonly StoreTask[], { deletions, facts }: BatchPlan & { readonly facts: Facts }): readonly Change[] {
  const dropped = new Set<string>();
  const noted = new Map<string, string>();
  for (const task of tasks) {
    if (task.type !== 'quarantine') continue;
    const { sessionId, damage } = task;
    if (damage === undefined) {
      dropped.add(sessionId);
      noted.delete(sessionId);
    } else if (!noted.has(sessionId) && !deletions.has(sessionId)) noted.set(sessionId, damage);
  }
  return [
    ...[...dropped].map((id) => ({ ...remove('quarantine', ['id'], id), isFirst: true })),
    ...[...noted].flatMap(([id, damage]) => {
      const num = facts.findNum(id);
      return num === undefined ? [] : [add('quarantine', [id, num, damage])];
    }),
  ];
}

/** Lists the changes of a batch, and the sessions that it writes as they are then. */
export function listChanges(
  tasks: readonly StoreTask[],
  plan: BatchPlan & { readonly facts: Facts },
  dialect: Dialect,
): { readonly changes: readonly Change[]; readonly known: ReadonlyMap<string, KnownSession> } {
  const { facts, drafts, deletions } = plan;
  const nums = [...facts.nums];
  // Holds: there is a number for each write that creates a session.
  const listed = [...drafts.values()].map((draft) => listDraft(draft, draft.before?.num ?? (nums.shift() as number), { facts, dialect }));
  return {
    changes: [
      ...listNotes(tasks, plan),
      ...listed.flatMap(({ changes }) => changes),
      ...[...deletions].flatMap(([id, at]) => listDeletion(facts, id, at)),
    ],
    known: new Map(listed.map(({ known }) => [known.header.id, known])),
  };
}

/** A row is not there, or not as it was read. */
export class RowChangedError extends Error {
  override readonly name = 'RowChangedError';
}
