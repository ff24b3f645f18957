// One transaction for everything that was queued since the last one.
// Owns:     storing the tasks that fit, as planned.
// Does not: begin or end the transaction, or settle any promise.
// B1. However many sessions there are: one statement to read, one to write.
import { jsonEquals, omitUndefined } from '../../lib/index.ts';
import type { StoreChange, StoreTask, StoreTaskResult } from '../index.ts';
import { createPlan, getSessionId, isHolderTask, planTask, toStoreChange } from '../index.ts';
import { toChannel, toPayload } from './change-feed.ts';
import type { Changes } from './changes.ts';
import { toChanges } from './changes.ts';
import { RowChangedError, toSessionError, toStoreError } from './classify-error.ts';
import type { Query } from './connection.ts';
import { queryJson, readRow } from './connection.ts';
import { createStoredFacts, readFacts } from './facts.ts';
import { findHolder, setHolder } from './holder.ts';
import { lockSessions } from './mailbox.ts';
import type { Sql } from './sql.ts';
import { addChanges, createStatement } from './statement.ts';
import { inSchema, withChecksum } from './tables.ts';

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
  /** Number of the claim that the batch made. */
  readonly epoch?: number;
  /** Changes to notify watchers of. */
  readonly change?: StoreChange;
}

/** Writes all changes in one statement, and notifies watchers. */
async function storeChanges(query: Query, { schema, token }: BatchOptions, batch: StoredBatch): Promise<TransactionId> {
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
  if (batch.epoch !== undefined) {
    const [, value, sum] = withChecksum('meta', ['epoch', batch.epoch]);
    const set = `value = ${place(value)}::bigint, sum = ${place(sum)}::bigint`;
    add('claim', `UPDATE ${inSchema(schema, 'meta')} SET ${set} WHERE name = 'epoch'`);
    add('forget_writers', `DELETE FROM ${writers} WHERE written_at < now() - interval '${forgottenAfter}' AND id <> ${id}`);
  }
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

function toTaskError(task: StoreTask, error: unknown): unknown {
  const sessionId = getSessionId(task);
  return sessionId === undefined ? toStoreError(error) : toSessionError(sessionId, error);
}

/** Runs the tasks inside a transaction, up to its commit. */
export async function runBatch(query: Query, options: BatchOptions, tasks: readonly StoreTask[]): Promise<PreparedBatch> {
  const { sql, schema } = options;
  const facts = await readFacts(query, sql, tasks);
  const holder = tasks.some(isHolderTask) ? (await findHolder(query, sql)).row : undefined;
  const plan = createPlan({ epoch: facts.epoch, holder, facts: createStoredFacts(facts) });
  const results: StoreTaskResult[] = [];
  let hasNotes = false;
  for (const task of tasks) {
    try {
      let found = {};
      if (task.type === 'quarantine') {
        const num = readRow(facts.rows.get(task.sessionId)?.['session'])?.['num'];
        hasNotes = (await noteDamage(query, sql, { ...task, num })) || hasNotes;
      } else found = planTask(plan, task);
      results.push({ ok: true, epoch: plan.epoch, ...found });
    } catch (error) {
      // A failed statement has ended the transaction.
      if (task.type === 'quarantine') throw error;
      results.push({ ok: false, error: toTaskError(task, error) });
    }
  }
  const { drafts, deletions, mail } = plan;
  if (plan.changesHolder === true) await setHolder(query, sql, plan.holder);
  else if (drafts.size + deletions.size + mail.changed.size === 0 && !hasNotes) return { results };
  // A mail to one of these sessions, or a note about it, is either there to be removed, or finds the tombstone.
  if (deletions.size > 0) await query(lockSessions(schema, [...deletions.keys()], false));
  const batch = omitUndefined({
    changes: toChanges(plan, facts),
    epoch: plan.epoch === facts.epoch ? undefined : plan.epoch,
    change: toStoreChange(tasks, results),
  });
  return { results, transaction: await storeChanges(query, options, batch) };
}
