// The queue of writes.
// Owns:     when they are stored, and whether they were kept if the connection is lost.
// Does not: check or store a write: the batch does.
// P1. Writes of one turn of the event loop are stored in one transaction; those that come meanwhile are the next one.
// P2. A promise settles after the transaction has ended, in the order of the calls.
// P3. A transaction that failed before its commit is tried again while the server cannot be reached, until the time is over.
// P4. A commit whose answer was lost is looked up before anything else is written: kept, it is reported so; not kept, it is tried
//     again. Only if that cannot be found out in time is the write rejected, with words that say so.
import { systemIds } from '../../lib/index.ts';
import type { StoreTask, StoreTaskResult } from '../index.ts';
import { getSessionId, StoreUnavailableError } from '../index.ts';
import type { BatchOptions, TransactionId } from './batch.ts';
import { runBatch } from './batch.ts';
import { isOutcomeUnknown, isUniqueViolation, LostCommitError, mayBeOneWrite, toSessionError, toStoreError } from './classify-error.ts';
import { withConnection } from './connection.ts';
import type { ParsedOptions } from './postgres-options.ts';
import { findOutcome } from './resolve-commit.ts';
import { retryWhilePassing } from './retry.ts';
import type { Sql } from './sql.ts';

interface QueuedTask {
  readonly task: StoreTask;
  readonly settle: (result: StoreTaskResult) => void;
}

// Many enough for every session that runs; few enough for one statement that is answered in time.
const mostInBatch = 2000;
const longestBatch = 16_000_000;

// A row that is still in the way then is damage.
const attemptsToAdd = 3;

function measureTask({ task }: QueuedTask): number {
  if (task.type === 'post') return task.mail.body.length;
  if (task.type !== 'write') return 0;
  const { header, entries = [], rewrites = [], effects = [], mail } = task.write;
  let length = (header?.details.length ?? 0) + (mail?.reply?.length ?? 0);
  for (const { body, events = '' } of [...entries, ...rewrites]) length += body.length + events.length;
  for (const { body } of effects) length += body.length;
  return length;
}

/** Counts the tasks that are stored together: one at least. */
function countBatch(queue: readonly QueuedTask[]): number {
  let length = 0;
  const count = queue.findIndex((each, index) => (length += measureTask(each)) > longestBatch && index > 0);
  return Math.min(count === -1 ? queue.length : count, mostInBatch);
}

/** A batch whose commit was sent. */
interface SentBatch {
  readonly options: BatchOptions;
  readonly transaction: TransactionId;
  readonly results: readonly StoreTaskResult[];
}

/** Result of a task that was stored. */
export type KeptTask = Extract<StoreTaskResult, { readonly ok: true }>;

/** Tasks that wait for their transaction. */
export interface WriteQueue {
  /** Settles when the task is stored. */
  add(task: StoreTask): Promise<KeptTask>;
  /** Settles when nothing is left to store. */
  finish(): Promise<void>;
}

/** Creates the queue of a store. */
export function createWriteQueue(options: ParsedOptions, sql: Sql, open: () => Promise<void>): WriteQueue {
  const { schema } = options;
  const writer = systemIds();
  let batches = 0;
  let queue: QueuedTask[] = [];
  let writing: Promise<void> | undefined;

  /** Runs tasks in one transaction. */
  function commit(tasks: readonly StoreTask[]): Promise<readonly StoreTaskResult[]> {
    const batch: BatchOptions = { schema, sql, token: { writer, batch: (batches += 1) } };
    return withConnection(options, async (query) => {
      const { results, transaction } = await runBatch(query, batch, tasks);
      if (transaction === undefined) {
        await query('ROLLBACK');
        return results;
      }
      try {
        await query('COMMIT');
      } catch (error) {
        if (!isOutcomeUnknown(error)) throw error;
        throw new LostCommitError<SentBatch>({ options: batch, transaction, results }, error);
      }
      return results;
    });
  }

  /** Finds out whether a commit was kept; undefined if it was not. */
  async function resolveCommit(lost: LostCommitError<SentBatch>): Promise<readonly StoreTaskResult[] | undefined> {
    const { results, ...sent } = lost.batch;
    try {
      const isKept = await retryWhilePassing(() => withConnection(options, (query) => findOutcome(query, sent)), options);
      return isKept ? results : undefined;
    } catch (error) {
      const what = `the connection was lost during a commit ("${lost.message}"), and its outcome could not be found out`;
      const advice = 'The write may or may not have been kept. Read the session again before you repeat it.';
      throw new StoreUnavailableError('failed', { what, advice }, error);
    }
  }

  async function commitOrResolve(tasks: readonly StoreTask[]): Promise<readonly StoreTaskResult[]> {
    const began = options.clock.monotonic();
    for (;;) {
      try {
        return await retryWhilePassing(() => commit(tasks), options);
      } catch (error) {
        if (!(error instanceof LostCommitError)) throw error;
        // Holds: only commit() throws it.
        const results = await resolveCommit(error as LostCommitError<SentBatch>);
        if (results !== undefined) return results;
        if (options.clock.monotonic() - began > options.timeoutMs) throw toStoreError(error, 'each commit was cut off:');
      }
    }
  }

  /** Runs tasks in one transaction, or, if one of them may be at fault, each in its own. */
  async function runTasks(tasks: readonly StoreTask[], attempt = 1): Promise<readonly StoreTaskResult[]> {
    try {
      return await commitOrResolve(tasks);
    } catch (error) {
      const [first] = tasks;
      // Another store may have created the session since this one looked; then there is another answer now.
      if (isUniqueViolation(error) && attempt < attemptsToAdd) return runTasks(tasks, attempt + 1);
      if (tasks.length > 1 && mayBeOneWrite(error)) {
        const results: StoreTaskResult[] = [];
        for (const task of tasks) results.push(...(await runTasks([task])));
        return results;
      }
      const sessionId = tasks.length === 1 && first !== undefined && first.type !== 'quarantine' ? getSessionId(first) : undefined;
      const reported = sessionId === undefined ? toStoreError(error) : toSessionError(sessionId, error);
      return tasks.map(() => ({ ok: false, error: reported }));
    }
  }

  async function writeOut(): Promise<void> {
    try {
      await open();
      const batch = queue.slice(0, countBatch(queue));
      queue = queue.slice(batch.length);
      const results = await runTasks(batch.map(({ task }) => task));
      for (const [index, result] of results.entries()) batch[index]?.settle(result);
    } catch (error) {
      const failed = queue;
      queue = [];
      for (const { settle } of failed) settle({ ok: false, error });
    }
  }

  function schedule(): void {
    if (writing !== undefined || queue.length === 0) return;
    writing = new Promise<void>((resolve) => {
      setImmediate(resolve);
    })
      .then(writeOut)
      .finally(() => {
        writing = undefined;
        schedule();
      });
  }

  return {
    add: (task) =>
      new Promise((resolve, reject) => {
        queue.push({ task, settle: (result) => (result.ok ? resolve(result) : reject(result.error)) });
        schedule();
      }),
    finish: async () => {
      while (writing !== undefined) await writing;
    },
  };
}
