// Batches, each in a transaction.
// Owns:     their locks, and what became of a commit whose answer was lost with the connection.
// P3. A transaction that failed before its commit is tried again while the server cannot be reached, until the time is over.
// P4. A commit whose answer was lost, or whose message failed (it may have been the notification behind it), is looked up before anything else is written: kept, it is reported so; not kept, it is tried
//     again. Only if that cannot be found out in time is the write rejected, with words that say so.
// R1. The answer is final: "not kept" is only said once the lost transaction has ended, so that it cannot be kept later.
// R2. Each batch leaves its number in a row of its store, in the same transaction. No other store writes that row, so it tells the truth
//     whoever has written to the sessions since, and after a failover to a server that never got the batch. Nobody else is waited for.
import { omitUndefined, systemIds } from '../../lib/index.ts';
import type { StoreTask, StoreTaskResult } from '../index.ts';
import { getSessionId, StoreUnavailableError } from '../index.ts';
import type { Knowledge, TableDriver } from '../table/index.ts';
import { planBatch } from '../table/index.ts';
import { isOutcomeUnknown, isPassing, LostCommitError, toStoreError } from './classify-error.ts';
import { joinStatements, notifyText, queryAndNotify } from './change-feed.ts';
import type { Query } from './connection.ts';
import { queryJson, runWork, withConnection } from './connection.ts';
import type { Locked } from './locks.ts';
import { beginText } from './locks.ts';
import type { ParsedOptions } from './postgres-options.ts';
import type { TransactionId } from './store-changes.ts';
import { storeChanges } from './store-changes.ts';
import { inSchema } from './tables.ts';
import { chooseWorkers, readWorkers } from './wake.ts';

/** A batch whose commit was sent. */
interface SentBatch {
  readonly batch: number;
  readonly transaction: TransactionId;
  /** SQL that calls those who watch. */
  readonly notify: string | undefined;
  readonly results: readonly StoreTaskResult[];
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

const nothing: Knowledge = { sessions: new Map(), workers: new Set() };

/** Creates the function that stores batches. `retry`: runs work again while the server cannot be reached. */
export function createBatches(
  options: ParsedOptions,
  driver: Pick<TableDriver, 'dialect' | 'errors'>,
  retry: <Value>(work: () => Promise<Value>) => Promise<Value>,
): TableDriver['commit'] {
  const { schema } = options;
  const writer = systemIds();
  let batches = 0;

  /** Runs tasks in one transaction. */
  function commit(tasks: readonly StoreTask[]): Promise<readonly StoreTaskResult[]> {
    const batch = (batches += 1);
    return withConnection(options, async (query) => {
      await query(beginText(options, toLocked(tasks)));
      const { results, changes, change, waking, workers } = await runWork(query, schema, planBatch(driver, nothing, tasks));
      if (changes.length === 0) {
        await query('ROLLBACK');
        return results;
      }
      const called = chooseWorkers(waking, readWorkers(workers));
      const notify = change && notifyText(schema, omitUndefined({ ...change, workers: called }));
      const transaction = await storeChanges(query, { schema, writer, batch }, changes);
      try {
        await query(joinStatements('COMMIT', notify));
      } catch (error) {
        throw new LostCommitError<SentBatch>({ batch, transaction, notify, results }, error);
      }
      return results;
    });
  }

  /** True if the batch was kept. Rejects if the server cannot be reached, or the lost transaction does not end in time. */
  async function isKept(query: Query, { transaction: { pid, xid }, batch, notify }: SentBatch): Promise<boolean> {
    await query(beginText(options));
    // A server that has not noticed the loss waits for us, and would keep its locks meanwhile.
    const idle = "pid = $1::int AND backend_xid::text = $2 AND state LIKE 'idle in transaction%'";
    await query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${idle}`, [pid, xid]);
    // The lost transaction holds that row until it has ended. Adding the row waits for whoever is adding or changing it, even if it was
    // never committed before.
    const text = `WITH last AS (
        INSERT INTO ${inSchema(schema, 'writers')} AS w (id, batch) VALUES ($1, 0) ON CONFLICT (id) DO UPDATE SET batch = w.batch RETURNING batch
      )
      SELECT json_build_object('batch', (SELECT batch FROM last))::text AS found`;
    const last = (await queryJson(query, text, [writer]))['batch'];
    await query('ROLLBACK');
    // The notification may be lost too.
    if (last === batch && notify !== undefined) await queryAndNotify(query, notify);
    return last === batch;
  }

  /** Finds out whether a commit was kept; undefined if it was not. */
  async function resolveCommit(lost: LostCommitError<SentBatch>): Promise<readonly StoreTaskResult[] | undefined> {
    try {
      return (await retry(() => withConnection(options, (query) => isKept(query, lost.batch)))) ? lost.batch.results : undefined;
    } catch (error) {
      const what = `the connection was lost during a commit ("${lost.message}"), and its outcome could not be found out`;
      const advice = 'The write may or may not have been kept. Read the session again before you repeat it.';
      throw new StoreUnavailableError('failed', { what, advice }, error);
    }
  }

  return async (tasks) => {
    const began = options.clock.monotonic();
    for (;;) {
      try {
        return await retry(() => commit(tasks));
      } catch (error) {
        if (!(error instanceof LostCommitError)) throw error;
        // Holds: only commit() throws it.
        const results = await resolveCommit(error as LostCommitError<SentBatch>);
        if (results !== undefined) return results;
        if (!isOutcomeUnknown(error.cause) && !isPassing(error.cause)) throw error.cause;
        if (options.clock.monotonic() - began > options.timeoutMs) throw toStoreError(error, 'each commit was cut off:');
      }
    }
  };
}
