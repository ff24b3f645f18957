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

/** Rows as they were stored: the next write compares them with its own. */
const storedRows = new WeakMap<SessionHeader | KnownSession, Values>();

function keepRow(of: SessionHeader | KnownSession, makeRow: () => Values): Values {
  const row = storedRows.get(of) ?? makeRow();
  storedRows.set(of, row);
  return row;
}

const toHeaderRow = (num: number, header: SessionHeader): Values =>
  keepRow(header, () => withChecksum('sessions', toHeaderValues(num, header)));

/** Values of all columns of `heads`. The copies at the end are what sessions to claim may be found by. */
const toHeadRow = (known: KnownSession): Values =>
  keepRow(known, () => [
    ...withChecksum('heads', [known.num, known.head, known.effects]),
    ...toLeaseValues(known.lease),
    ...[known.header.tenant ?? '', known.header.wakeAt ?? null],
  ]);

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

function listHeader(num: number, header: SessionHeader, before: SessionHeader): readonly Change[] {
  if (header === before) return [];
  const changes = set('sessions', toHeaderRow(num, header), toHeaderRow(num, before));
  return jsonEquals(header.tags, before.tags) ? changes : [...changes, remove('session_tags', ['session'], num), ...addTags(num, header)];
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
  const toRow = (entry: LogEntry): Values => withChecksum('log', toEntryValues({ num, id }, entry));
  const changes: Change[] = [
    ...(before === undefined
      ? [
          { type: 'add', table: 'sessions', values: toHeaderRow(num, header) } as const,
          { type: 'add', table: 'heads', values: toHeadRow(known) } as const,
          ...addTags(num, header),
        ]
      : listHeader(num, header, before.header)),
    ...(dropsEffects && before !== undefined && before.effects > 0 ? [remove('effects', ['session'], num)] : []),
    ...draft.effects.map((effect, index) => add('effects', toEffectValues(num, kept + index + 1, effect))),
    ...[...draft.rewritten.values()].flatMap((entry) =>
      before === undefined ? [] : set('log', toRow(entry), toRow(source.facts.findEntry(before, entry.n))),
    ),
    ...draft.entries.map((entry) => ({ type: 'add', table: 'log', values: toRow(entry) }) as const),
    ...listMails(draft, num, source),
    ...(before === undefined ? [] : set('heads', toHeadRow(known), toHeadRow(before))),
  ];
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
