// Mails, which any process adds.
// Owns:     a small transaction for those that were asked for together, beside the batches of the worker.
// Does not: begin or end it, or apply a mail.
// M1. A mail and the deletion of its session exclude each other: either the deletion removes the mail, or the mail finds the tombstone.
// M2. Numbers of mails come from a sequence, and a mail with a lower one may be stored later: read all that wait, not those after a number.
// M3. The row of the claim is not locked: however many post, nobody who claims the store waits for them.
// M4. All of it can be run again if nobody knows whether it was committed: a mail is found by its request.
import { crc32 } from 'node:zlib';
import type { Mail, MailQuery, NewMail, PlannedTask, StoredFacts, StoredRow, StoreTask, StoreTaskResult } from '../index.ts';
import { createPlan, getSessionId, parseMailQuery, planTask, toMailValues, toStoreChange } from '../index.ts';
import { toChannel, toPayload } from './change-feed.ts';
import { RowChangedError, toSessionError } from './classify-error.ts';
import type { Query } from './connection.ts';
import { queryJson, readRows } from './connection.ts';
import type { Sql } from './sql.ts';
import { matchTombstone } from './sql.ts';
import { toJsonRow } from './json-row.ts';
import { createStatement, insert } from './statement.ts';
import { checks, inSchema, isIntact } from './tables.ts';

/** A task that needs no claim. */
export type MailTask = Extract<PlannedTask, { readonly type: 'post' }>;

export const isMailTask = (task: StoreTask): task is MailTask => task.type === 'post';

/** The store that mails belong to. */
export interface MailPlace {
  readonly schema: string;
  readonly sql: Sql;
}

/**
 * SQL that locks sessions until the transaction ends: shared by those who post or note something, and for nobody else while one is deleted.
 * Sessions that have a lock in common wait for each other, and that is all. Locked in order, so that no two wait for each other.
 */
export function lockSessions(schema: string, sessionIds: readonly string[], isShared: boolean): string {
  const keys = [...new Set(sessionIds.map((id) => crc32(id) | 0))].sort((one, other) => one - other);
  const lock = isShared ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock';
  return `SELECT ${lock}(${crc32(schema) | 0}, key) FROM unnest('{${keys.join()}}'::int[]) AS locked(key)`;
}

interface MailFacts {
  readonly tombstones: readonly StoredRow[];
  readonly mail: readonly StoredRow[];
}

const listPosts = (tasks: readonly MailTask[]): readonly NewMail[] => tasks.map(({ mail }) => mail);

/** Begins the transaction, waits for deletions, and returns numbers for new mails. */
async function begin(query: Query, { schema, sql }: MailPlace, posts: readonly NewMail[]): Promise<readonly number[]> {
  const sessionIds = posts.map(({ sessionId }) => sessionId);
  const numbers = `SELECT json_agg(nextval('${inSchema(schema, 'mail_num')}')) FROM generate_series(1, ${posts.length})`;
  const found = await queryJson(
    query,
    `${sql.begin}; ${lockSessions(schema, sessionIds, true)}; SELECT json_build_object('numbers', (${numbers}))::text AS found`,
  );
  return Array.isArray(found['numbers']) ? found['numbers'].map(Number) : [];
}

async function readFacts(query: Query, { schema }: MailPlace, tasks: readonly MailTask[]): Promise<MailFacts> {
  const posts = listPosts(tasks).map(({ sessionId, requestId }) => ({ session_id: sessionId, request_id: requestId }));
  const posted = 'json_to_recordset($1::json) AS posted(session_id text, request_id text)';
  const found = await queryJson(
    query,
    `SELECT json_build_object(
      'mail', (SELECT json_agg(m) FROM ${inSchema(schema, 'mail')} m
        WHERE (session_id, request_id) IN (SELECT session_id, request_id FROM ${posted})),
      'tombstones', (SELECT json_agg(t) FROM ${inSchema(schema, 'tombstones')} t
        JOIN (SELECT DISTINCT session_id FROM ${posted}) p ON ${matchTombstone('p.session_id')})
    )::text AS found`,
    [JSON.stringify(posts)],
  );
  return { tombstones: readRows(found['tombstones']), mail: readRows(found['mail']) };
}

// Mails are planned with numbers below zero, which stand for places in the list of those that the sequence gave.
const lowest = -(2 ** 31);

const failUnexpectedly = (): never => {
  throw new Error('A mail asks for nothing of a session.');
};

function createFacts({ tombstones, mail }: MailFacts): StoredFacts {
  const mails = checks.readMail(mail);
  return {
    findDeletion: (sessionId) => checks.findDeletion(sessionId, tombstones),
    findRequestMail: ({ sessionId, requestId }) => mails.find((each) => each.sessionId === sessionId && each.requestId === requestId),
    findLastMail: () => lowest - 1,
    find: failUnexpectedly,
    hasAnswer: failUnexpectedly,
    hasEffect: failUnexpectedly,
    findEntry: failUnexpectedly,
    findMail: failUnexpectedly,
  };
}

interface MailChanges {
  readonly posted: readonly Mail[];
  /** Mails that a new one takes the place of. */
  readonly damaged: readonly StoredRow[];
  readonly payload: string;
}

async function store(query: Query, { schema }: MailPlace, { posted, damaged, payload }: MailChanges): Promise<void> {
  if (damaged.length > 0) {
    const numbers = JSON.stringify(damaged.map(({ num }) => num));
    await query(`DELETE FROM ${inSchema(schema, 'mail')} WHERE num IN (SELECT json_array_elements_text($1::json)::bigint)`, [numbers]);
  }
  const statement = createStatement();
  const mails = posted.map((mail) => toJsonRow('mail', toMailValues(mail)));
  const added = insert(statement, schema, { table: 'mail', rows: mails, onConflict: 'ON CONFLICT DO NOTHING' });
  const notify = `(SELECT count(*) FROM pg_notify(${statement.place(toChannel(schema))}, ${statement.place(payload)}))`;
  const found = await queryJson(query, statement.toText(`'added', ${added}, 'notified', ${notify}`), statement.values);
  if (found['added'] !== posted.length) throw new RowChangedError('a mail of the same request was added meanwhile');
}

/** Runs the tasks in a transaction, up to its commit. Begins it. */
export async function runMailTasks(query: Query, place: MailPlace, tasks: readonly MailTask[]): Promise<readonly StoreTaskResult[]> {
  const numbers = await begin(query, place, listPosts(tasks));
  const facts = await readFacts(query, place, tasks);
  const plan = createPlan({ epoch: 0, holder: undefined, facts: createFacts(facts) });
  const number = (mail: Mail): Mail => (mail.num < 0 ? { ...mail, num: numbers[mail.num - lowest] ?? 0 } : mail);
  const results = tasks.map((task): StoreTaskResult => {
    try {
      const { mail } = planTask(plan, task);
      return { ok: true, epoch: 0, ...(mail !== undefined && { mail: number(mail) }) };
    } catch (error) {
      return { ok: false, error: toSessionError(getSessionId(task) ?? '', error) };
    }
  });
  const change = toStoreChange(tasks, results);
  if (change !== undefined) {
    const damaged = facts.mail.filter((row) => !isIntact('mail', row));
    await store(query, place, { posted: plan.mail.posted.map(number), damaged, payload: toPayload(change) });
  }
  return results;
}

/** Reads mails by their numbers. */
export async function readMail(query: Query, { schema }: MailPlace, asked: MailQuery): Promise<readonly Mail[]> {
  const { sessionId, requestId, isWaiting, includesDamaged, after, limit } = parseMailQuery(asked);
  const values: unknown[] = [limit];
  const conditions: string[] = [];
  if (sessionId !== undefined) conditions.push(`session_id = $${values.push(sessionId)}`);
  if (requestId !== undefined) conditions.push(`request_id = $${values.push(requestId)}`);
  // Written out, so that the index of waiting mails is used.
  if (isWaiting !== undefined) conditions.push(isWaiting ? 'reply IS NULL' : 'reply IS NOT NULL');
  conditions.push(`num > $${values.length + 1}::bigint`);
  const rows = `SELECT * FROM ${inSchema(schema, 'mail')} WHERE ${conditions.join(' AND ')} ORDER BY num LIMIT $1::bigint`;
  const text = `SELECT json_build_object('mail', (SELECT json_agg(m ORDER BY num) FROM (${rows}) m))::text AS found`;
  const mails: Mail[] = [];
  let last = Math.max(0, Math.min(after, Number.MAX_SAFE_INTEGER));
  for (;;) {
    const found = readRows((await queryJson(query, text, [...values, last]))['mail']);
    mails.push(...checks.readMail(found, includesDamaged));
    if (found.length < limit || mails.length >= limit) return mails.slice(0, limit);
    last = Number(found.at(-1)?.['num']);
  }
}
