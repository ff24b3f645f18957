// Sessions in one SQLite file.
// Owns:     the queue of writes, and when they are stored.
// Does not: check or store a write: the batch does.
// W1. Writes of one turn of the event loop are stored in one transaction, and so with one wait for the disk.
// W2. A promise settles after the transaction has ended, in the order of the calls.
// W3. A transaction that fails rejects its writes and leaves the store usable.
// W4. A change of leases does not wait for the disk: a power failure that takes it away has ended its worker too. The next write keeps it.
// W5. While another process holds the file, everything waits in its order, and the event loop is not blocked.
import { statSync } from 'node:fs';
import type { SessionStore, StoreTask, StoreTaskResult } from '../index.ts';
import { checkTask, getSessionId, StoreUnavailableError, toStoreChange } from '../index.ts';
import { createKnowledge, forget, forgetLeases, runBatch } from './batch.ts';
import { mayBeOneWrite, toSessionError, toStoreError } from './classify-error.ts';
import type { Connection } from './connection.ts';
import { connect } from './connection.ts';
import { createLogEraser } from './erase-log.ts';
import { readFeed } from './feed.ts';
import type { LeaseChange } from './leases.ts';
import { beatWorker, claimSessions, freeSessions, addWorker, leaveSessions, listWorkers } from './leases.ts';
import { listSessions } from './list-sessions.ts';
import { readMail } from './mailbox.ts';
import { listNotes, readNote, writeNote } from './notes.ts';
import { openFile, prepareDatabase } from './open-database.ts';
import { findAnswer, loadSession, readEffects, readEntries, readHead } from './read-session.ts';
import { isBusy, retryWhileBusy } from './retry-while-busy.ts';
import { sql } from './sql.ts';
import type { ParsedOptions, SqliteStoreOptions } from './sqlite-options.ts';
import { parseOptions } from './sqlite-options.ts';
import { createStoreWatch } from './watch-store.ts';

interface QueuedTask {
  readonly task: StoreTask;
  readonly settle: (result: StoreTaskResult) => void;
}

// One transaction must not hold up the event loop for long.
const mostInBatch = 2000;

/** True if text must not be found in the file after a task. */
function isErasing(task: StoreTask): boolean {
  if (task.type !== 'write') return task.type === 'delete';
  const { rewrites = [], dropsMail = [] } = task.write;
  return rewrites.length > 0 || dropsMail.length > 0;
}

function ignoreErrors(work: () => unknown): void {
  try {
    work();
  } catch {
    // SQLite has already ended the transaction itself.
  }
}

async function openStore(options: ParsedOptions): Promise<Connection> {
  if ('path' in options) return connect(await openFile(options.path));
  return connect(prepareDatabase(options.database, 'the database'));
}

/** Keeps sessions in a SQLite file, or in a database of your own. Text is the path of the file. Opened when it is first used. */
export function sqliteStore(given: SqliteStoreOptions | string): SessionStore {
  const options = parseOptions(given);
  const busy = { clock: options.clock, timeoutMs: options.busyTimeoutMs };
  const knowledge = createKnowledge();
  const eraser = createLogEraser(options.clock);
  const watch = createStoreWatch({
    clock: options.clock,
    readVersion: async () => Number((await open()).get(sql.dataVersion)?.['data_version']),
  });
  let queue: QueuedTask[] = [];
  let writing: Promise<void> | undefined;
  let opening: Promise<Connection> | undefined;
  let closing: Promise<void> | undefined;
  let file: number | undefined;

  function open(): Promise<Connection> {
    opening ??= retryWhileBusy(() => openStore(options), busy).catch((error: unknown) => {
      opening = undefined;
      throw toStoreError(error);
    });
    return opening;
  }

  function commit(db: Connection, tasks: readonly StoreTask[]): readonly StoreTaskResult[] {
    checkFile();
    try {
      db.run(sql.begin);
      const batch = runBatch(db, tasks, { knowledge, now: options.clock.now() });
      db.run(sql.commit);
      batch.settle();
      if (tasks.some(isErasing)) eraser.erase(db);
      return batch.results;
    } catch (error) {
      ignoreErrors(() => db.run(sql.rollback));
      forget(knowledge);
      throw error;
    }
  }

  /** Throws if the file was removed: SQLite would continue to write to it, and nobody would find it again. */
  function checkFile(): void {
    if (!('path' in options) || options.path === ':memory:') return;
    const inode = statSync(options.path, { throwIfNoEntry: false })?.ino;
    file ??= inode;
    if (inode === undefined || inode !== file)
      throw new StoreUnavailableError('failed', `"${options.path}" was removed or replaced while it was open`);
  }

  /** Runs tasks in one transaction, or, if one of them may be at fault, each in its own. Throws if another process holds the file. */
  function runTasks(db: Connection, tasks: readonly StoreTask[], isSplit = false): readonly StoreTaskResult[] {
    try {
      return commit(db, tasks);
    } catch (error) {
      // Tasks before this one are stored already: only this one is refused.
      if (!isSplit && isBusy(error)) throw error;
      if (tasks.length > 1 && mayBeOneWrite(error)) return tasks.flatMap((task) => runTasks(db, [task], true));
      const [first] = tasks;
      const isOne = first !== undefined && tasks.length === 1;
      const reported = isOne ? toSessionError(getSessionId(first), error) : toStoreError(error);
      return tasks.map(() => ({ ok: false, error: reported }));
    }
  }

  async function writeOut(): Promise<void> {
    try {
      const db = await open();
      let batch: readonly QueuedTask[] = [];
      const results = await retryWhileBusy(() => {
        // Whatever came while the file was held belongs to the same transaction.
        batch = queue.slice(0, mostInBatch);
        return runTasks(
          db,
          batch.map(({ task }) => task),
        );
      }, busy);
      queue = queue.slice(batch.length);
      for (const [index, result] of results.entries()) batch[index]?.settle(result);
      const change = toStoreChange(
        batch.map(({ task }) => task),
        results,
      );
      if (change !== undefined) watch.notify(change);
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

  async function enqueue(task: StoreTask): Promise<Extract<StoreTaskResult, { readonly ok: true }>> {
    assertOpen();
    checkTask(task);
    return new Promise((resolve, reject) => {
      queue.push({ task, settle: (result) => (result.ok ? resolve(result) : reject(result.error)) });
      schedule();
    });
  }

  function assertOpen(): void {
    if (closing !== undefined) throw new StoreUnavailableError('closed', 'it was closed');
  }

  /** Reads in one transaction, so that everything is of one state of the file. */
  async function read<Value>(work: (db: Connection) => Value, sessionId?: string): Promise<Value> {
    assertOpen();
    const db = await open();
    const readOnce = (): Value => {
      assertOpen();
      try {
        db.run(sql.beginReading);
        return work(db);
      } finally {
        ignoreErrors(() => db.run(sql.commit));
      }
    };
    try {
      return await retryWhileBusy(readOnce, busy);
    } catch (error) {
      throw sessionId === undefined ? toStoreError(error) : toSessionError(sessionId, error);
    }
  }

  /** Writes in a transaction of its own, beside the queue: nobody waits for it, and it waits for nobody. */
  async function writeAlone<Value>(work: (db: Connection) => Value, waitsForDisk = true): Promise<Value> {
    assertOpen();
    const db = await open();
    const writeOnce = (): Value => {
      assertOpen();
      checkFile();
      try {
        if (!waitsForDisk) db.run(sql.syncLater);
        db.run(sql.begin);
        const value = work(db);
        db.run(sql.commit);
        return value;
      } catch (error) {
        ignoreErrors(() => db.run(sql.rollback));
        throw error;
      } finally {
        if (!waitsForDisk) db.run(sql.syncAtOnce);
      }
    };
    try {
      return await retryWhileBusy(writeOnce, busy);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Changes leases in a transaction of its own. */
  const changeLeases = <Value>(work: (db: Connection, now: number) => LeaseChange<Value>): Promise<LeaseChange<Value>> =>
    writeAlone((db) => {
      const change = work(db, options.clock.now());
      forgetLeases(knowledge, change.sessionIds);
      return change;
    }, false);

  /** Changes leases, and tells everybody which sessions are ready now. */
  async function freeLeases<Value>(work: (db: Connection, now: number) => LeaseChange<Value>): Promise<Value> {
    const { value, sessionIds } = await changeLeases((db, now) => {
      knowledge.workers.clear();
      return work(db, now);
    });
    if (sessionIds.length > 0) watch.notify({ sessionIds, hasMail: true });
    return value;
  }

  async function close(): Promise<void> {
    watch.close();
    while (writing !== undefined) await writing;
    const db = await opening?.catch(() => undefined);
    const database = 'database' in options ? options.database : db;
    if (db !== undefined) eraser.close(db);
    try {
      database?.close();
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Queues a task whose result nobody needs. */
  const store = async (task: StoreTask): Promise<void> => {
    await enqueue(task);
  };

  return {
    log: {
      load: (sessionId) => read((db) => loadSession(db, sessionId), sessionId),
      entries: (sessionId, query = {}) => read((db) => readEntries(db, sessionId, query), sessionId),
      findRequest: (sessionId, requestId) => read((db) => findAnswer(db, sessionId, requestId), sessionId),
      effects: (sessionId, query = {}) => read((db) => readEffects(db, sessionId, query), sessionId),
      write: async (write) => {
        const { hasMail = false } = await enqueue({ type: 'write', write });
        return { hasMail };
      },
      delete: (deletion) => store({ type: 'delete', deletion }),
    },
    heads: {
      read: (sessionId) => read((db) => readHead(db, sessionId), sessionId),
      list: (query = {}) => read((db) => listSessions(db, query)),
      quarantine: (sessionId, damage) => store({ type: 'quarantine', sessionId, damage }),
    },
    leases: {
      join: async (info, sign) => {
        await changeLeases((db, now) => addWorker(db, { info, ...sign, now }));
        // What a crash has left undone.
        eraser.erase(await open());
      },
      beat: (worker, room) => writeAlone((db) => beatWorker(db, worker, { room, now: options.clock.now() }), false),
      workers: () => read((db) => listWorkers(db, options.clock.now())),
      free: (gone) => freeLeases((db, now) => freeSessions(db, gone, now)),
      claim: async (query) => (await changeLeases((db, now) => claimSessions(db, query, now))).value,
      leave: (worker, sessionIds) => freeLeases((db, now) => leaveSessions(db, { worker, sessionIds, now })),
    },
    inbox: {
      post: async (mail) => (await enqueue({ type: 'post', mail })).mail,
      read: (query = {}) => read((db) => readMail(db, query)),
      prune: async (before) => {
        await writeAlone((db) => db.run(sql.pruneMail, before));
      },
    },
    notes: {
      read: (name) => read((db) => readNote(db, name)),
      list: (query) => read((db) => listNotes(db, query)),
      write: async (note) => {
        const isWritten = await writeAlone((db) => writeNote(db, note));
        if (isWritten && note.isAnnounced === true) watch.notify({ hasMail: false });
        return isWritten;
      },
    },
    feed: { read: (query = {}) => read((db) => readFeed(db, query)) },
    changes: {
      watch: (listener) => {
        assertOpen();
        return watch.add(listener);
      },
    },
    close: () => (closing ??= close()),
  };
}
