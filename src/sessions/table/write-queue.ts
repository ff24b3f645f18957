// The queue of writes.
// Owns:     when they are stored.
// Does not: check or store a write: the batch does.
// W1. Writes of one turn of the event loop are stored in one transaction, and so with one wait for the disk; those that come meanwhile are
//     the next one.
// W2. A promise settles after the transaction has ended, in the order of the calls.
// W3. A transaction that fails rejects its writes and leaves the store usable.
import type { StoreTask, StoreTaskResult } from '../index.ts';
import { getSessionId } from '../index.ts';
import type { TableDriver } from './driver.ts';

interface QueuedTask {
  readonly task: StoreTask;
  readonly settle: (result: StoreTaskResult) => void;
}

// Many enough for every session that runs; few enough for one transaction that holds up nobody for long.
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
export function createWriteQueue({ open, commit, errors }: TableDriver): WriteQueue {
  let queue: QueuedTask[] = [];
  let writing: Promise<void> | undefined;

  /** Runs tasks in one transaction, or, if one of them may be at fault, each in its own. */
  async function runTasks(tasks: readonly StoreTask[], attempt = 1): Promise<readonly StoreTaskResult[]> {
    try {
      return await commit(tasks);
    } catch (error) {
      const [first] = tasks;
      if (errors.isConflict(error) && attempt < attemptsToAdd) return runTasks(tasks, attempt + 1);
      if (tasks.length > 1 && errors.mayBeOneWrite(error)) {
        const results: StoreTaskResult[] = [];
        for (const task of tasks) results.push(...(await runTasks([task])));
        return results;
      }
      const sessionId = tasks.length === 1 && first !== undefined ? getSessionId(first) : undefined;
      const reported = sessionId === undefined ? errors.toStoreError(error) : errors.toSessionError(sessionId, error);
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
