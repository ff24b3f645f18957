// One transaction for everything that was queued since the last one.
// Owns:     storing the tasks that fit, as planned.
// Does not: end the transaction, or settle any promise.
// B1. However many sessions there are: one round trip to lock them, one to read, one to write.
// B4. Results belong to tasks by their places in the batch: a session may have a stale write and a valid one in it.
import { jsonEquals, omitUndefined } from '../../lib/index.ts';
import type { BatchPlan, StoreChange, StoreTask, StoreTaskResult } from '../index.ts';
import { createPlan, getSessionId, planTask, toStoreChange } from '../index.ts';
import { toChannel, toPayload } from './change-feed.ts';
import type { Changes } from './changes.ts';
import { toChanges } from './changes.ts';
import { RowChangedError, toSessionError } from './classify-error.ts';
import type { Query } from './connection.ts';
import { queryJson, readRow } from './connection.ts';
import type { Facts, ReadSession } from './facts.ts';
import { createStoredFacts, readFacts } from './facts.ts';
import type { Locked } from './locks.ts';
import { lockText } from './locks.ts';
import type { Sql } from './sql.ts';
import { addChanges, createStatement } from './statement.ts';
import { inSchema, withChecksum } from './tables.ts';
import type { WakingSession } from './wake.ts';
import { chooseWorkers } from './wake.ts';

/** The store that a batch belongs to, and the number of the batch. */
export interface BatchToken {
  readonly writer: string;
  readonly batch: number;
}

/** The transaction of a batch, as the server knows it. */
export interface TransactionId {
  readonly pid: number;
  readonly xid: string;
}

export interface BatchOptions {
  readonly schema: string;
  readonly sql: Sql;
  readonly token: BatchToken;
}

/** A batch that is ready to be committed. */
export interface PreparedBatch {
  readonly results: readonly StoreTaskResult[];
  /** Absent if there is nothing to commit. */
  readonly transaction?: TransactionId;
}

/** Rows of writers that have not written for longer than this are of no use to anybody. */
const forgottenAfter = '7 days';

interface StoredBatch {
  readonly changes: Changes;
  /** Changes to notify watchers of. */
  readonly change?: StoreChange;
}

/** Writes all changes in one statement, and notifies watchers. */
async function storeChanges(query: Query, { schema, token }: BatchOptions, batch: StoredBatch): Promise<TransactionId> {
  const { displaced } = batch.changes;
  if (displaced.length > 0) await query(...dropMails(schema, displaced));
  const statement = createStatement();
  const { add, place, values } = statement;
  const counts = addChanges(statement, schema, batch.changes);
  const writers = inSchema(schema, 'writers');
  const id = place(token.writer);
  add(
    'add_writer',
    `INSERT INTO ${writers} (id, batch) VALUES (${id}, ${place(token.batch)}::bigint)
      ON CONFLICT (id) DO UPDATE SET batch = excluded.batch, written_at = excluded.written_at`,
  );
  if (token.batch === 1)
    add('forget_writers', `DELETE FROM ${writers} WHERE written_at < now() - interval '${forgottenAfter}' AND id <> ${id}`);
  const { change } = batch;
  const notify = change && `'notified', (SELECT count(*) FROM pg_notify(${place(toChannel(schema))}, ${place(toPayload(change))})),`;
  const found = await queryJson(
    query,
    statement.toText(`'counts', json_build_array(${counts.map(([count]) => count).join(', ')}), ${notify ?? ''}
      'pid', pg_backend_pid(), 'xid', pg_current_xact_id()::xid::text`),
    values,
  );
  const expected = counts.map(([, rows]) => rows);
  if (!jsonEquals(found['counts'], expected)) throw new RowChangedError('a row was changed between reading and writing it');
  return { pid: Number(found['pid']), xid: String(found['xid']) };
}

/** A statement that removes mails before others are added in their place. */
const dropMails = (schema: string, mails: Changes['displaced']): [string, unknown[]] => [
  `DELETE FROM ${inSchema(schema, 'mail')}
    WHERE (session, num) IN (SELECT session, num FROM json_to_recordset($1::json) AS r(session bigint, num bigint))`,
  [JSON.stringify(mails)],
];

async function noteDamage(
  query: Query,
  sql: Sql,
  { sessionId, damage, num }: { sessionId: string; damage: string | undefined; num: unknown },
): Promise<boolean> {
  if (damage === undefined) await query(sql.dropQuarantine, [sessionId]);
  else if (typeof num === 'number') await query(sql.addQuarantine, [...withChecksum('quarantine', [sessionId, num, damage])]);
  else return false;
  return true;
}

/** Returns what a batch locks. Only a write that takes a lease can give it to a worker that is being freed. */
function toLocked(tasks: readonly StoreTask[]): Locked {
  const writes = tasks.flatMap((task) => (task.type === 'write' ? task.write : []));
  return {
    deleted: tasks.flatMap((task) => (task.type === 'delete' ? task.deletion.sessionId : [])),
    named: writes.filter(({ after }) => after === 0).map(({ sessionId }) => sessionId),
    workers: writes.filter(({ lease, keepsLease }) => keepsLease && lease.type === 'free').map(({ lease }) => lease.worker),
    sessions: tasks.map(getSessionId),
  };
}

/** Lists the sessions that somebody is to look at. */
function listWaking({ drafts, deletions }: BatchPlan<ReadSession>, { rows }: Facts): readonly WakingSession[] {
  const waking = [...drafts.values()].filter(({ lease, posted }) => lease.isReady || posted.length > 0);
  const owners = [...deletions.keys()].map((id) => readRow(rows.get(id)?.['head'])?.['owner']).filter((owner) => typeof owner === 'string');
  return [
    ...waking.map(({ header: { agentName }, lease: { owner, last } }) => ({ agentName, owner, last })),
    ...owners.map((owner) => ({ agentName: '', owner })),
  ];
}

/** Runs the tasks in a transaction, up to its commit. Begins it. */
export async function runBatch(query: Query, options: BatchOptions, tasks: readonly StoreTask[]): Promise<PreparedBatch> {
  const { sql, schema } = options;
  await query(`${sql.begin}; ${lockText(schema, toLocked(tasks))}`);
  const facts = await readFacts(query, sql, tasks);
  const plan = createPlan({ now: facts.now, facts: createStoredFacts(facts) });
  const results: StoreTaskResult[] = [];
  let hasNotes = false;
  for (const task of tasks) {
    try {
      let receipt = {};
      if (task.type === 'quarantine') {
        const num = readRow(facts.rows.get(task.sessionId)?.['session'])?.['num'];
        hasNotes = (await noteDamage(query, sql, { ...task, num })) || hasNotes;
      } else receipt = planTask(plan, task);
      results.push({ ok: true, ...receipt });
    } catch (error) {
      // A failed statement has ended the transaction.
      if (task.type === 'quarantine') throw error;
      results.push({ ok: false, error: toSessionError(getSessionId(task), error) });
    }
  }
  if (plan.drafts.size + plan.deletions.size === 0 && !hasNotes) return { results };
  const change = toStoreChange(tasks, results);
  const workers = chooseWorkers(listWaking(plan, facts), facts.workers);
  const batch = omitUndefined({ changes: toChanges(plan, facts), change: change && omitUndefined({ ...change, workers }) });
  return { results, transaction: await storeChanges(query, options, batch) };
}
