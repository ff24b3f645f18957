// Sessions in one SQLite file.
// Owns:     the queue of what is to be written, and when it is.
// Does not: judge or store a write: the batch does.
// W1. What was asked for in one turn of the event loop is stored in one transaction, and so with one wait for the disk.
// W2. A promise settles after the transaction has ended, and in the order of asking.
// W3. A transaction that fails rejects what was in it and leaves the store usable.
import { statSync } from 'node:fs';
import { checkWrite } from '../index.ts';
import type { SessionStore } from '../index.ts';
import { StoreUnavailableError } from '../index.ts';
import type { Task, TaskResult } from './batch.ts';
import { createKnowledge, forget, runBatch } from './batch.ts';
import { mayBeOneWrite, toSessionError, toStoreError } from './classify-error.ts';
import type { Prepare } from './list-sessions.ts';
import { createPrepare, listSessions } from './list-sessions.ts';
import { openFile, prepareDatabase } from './open-database.ts';
import { findAnswer, loadSession, readEntries } from './read-session.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import type { Statements } from './statements.ts';
import { prepareAll } from './statements.ts';

interface CommonOptions {
  /** How long to wait, with the event loop standing still, for another process that is writing. @default 1000 */
  readonly busyTimeoutMs?: number;
}

/** Where the sessions are kept. */
export type SqliteStoreOptions = CommonOptions &
  (
    | {
        /** The file; made where there is none. Needs `node:sqlite`. */
        readonly path: string;
      }
    | {
        /** An open database of better-sqlite3 or node:sqlite. It is the store's alone from now on, and closed with it. */
        readonly database: SqliteDatabase;
      }
  );

interface Opened {
  readonly database: SqliteDatabase;
  readonly statements: Statements;
  readonly prepare: Prepare;
}

interface QueuedTask {
  readonly task: Task;
  readonly settle: (result: TaskResult) => void;
}

// One transaction must not hold up the event loop for long.
const mostInBatch = 2000;

function ignoreErrors(work: () => unknown): void {
  try {
    work();
  } catch {
    // SQLite has already ended the transaction itself.
  }
}

async function openStore(options: SqliteStoreOptions): Promise<Opened> {
  const { busyTimeoutMs = 1000 } = options;
  const database =
    'path' in options
      ? await openFile(options.path, { busyTimeoutMs })
      : prepareDatabase(options.database, 'the database', { busyTimeoutMs });
  return { database, statements: prepareAll(database), prepare: createPrepare(database) };
}

/** Keeps sessions in a SQLite file. Opened when it is first used. */
export function sqliteStore(options: SqliteStoreOptions): SessionStore {
  const knowledge = createKnowledge();
  let queue: QueuedTask[] = [];
  let isScheduled = false;
  let opening: Promise<Opened> | undefined;
  let closing: Promise<void> | undefined;
  let file: number | undefined;

  function open(): Promise<Opened> {
    opening ??= openStore(options).catch((error: unknown) => {
      opening = undefined;
      throw toStoreError(error);
    });
    return opening;
  }

  function commit({ statements }: Opened, tasks: readonly Task[]): readonly TaskResult[] {
    checkFile();
    try {
      statements.begin.run();
      const { results, settle } = runBatch(statements, knowledge, tasks);
      statements.commit.run();
      settle();
      return results;
    } catch (error) {
      ignoreErrors(() => statements.rollback.run());
      forget(knowledge);
      throw error;
    }
  }

  /** A file that was taken away would be written to all the same, and nobody would find it again. */
  function checkFile(): void {
    if (!('path' in options) || options.path === ':memory:') return;
    const inode = statSync(options.path, { throwIfNoEntry: false })?.ino;
    file ??= inode;
    if (inode === undefined || inode !== file)
      throw new StoreUnavailableError('failed', `"${options.path}" was removed or replaced while it was open`);
  }

  function runTasks(opened: Opened, tasks: readonly Task[]): readonly TaskResult[] {
    try {
      return commit(opened, tasks);
    } catch (error) {
      if (tasks.length > 1 && mayBeOneWrite(error)) return tasks.flatMap((task) => runTasks(opened, [task]));
      const [first] = tasks;
      const told = tasks.length === 1 && first?.type === 'write' ? toSessionError(first.write.sessionId, error) : toStoreError(error);
      return tasks.map(() => ({ ok: false, error: told }));
    }
  }

  function flush(opened: Opened): void {
    const asked = queue.slice(0, mostInBatch);
    queue = queue.slice(mostInBatch);
    const results = runTasks(
      opened,
      asked.map(({ task }) => task),
    );
    for (const [index, result] of results.entries()) asked[index]?.settle(result);
  }

  async function writeOut(): Promise<void> {
    if (queue.length === 0) return;
    try {
      flush(await open());
    } catch (error) {
      const asked = queue;
      queue = [];
      for (const { settle } of asked) settle({ ok: false, error });
    }
  }

  function schedule(): void {
    if (isScheduled || queue.length === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      void writeOut().then(schedule);
    });
  }

  function ask(task: Task): Promise<number> {
    return new Promise((resolve, reject) => {
      const settle = (result: TaskResult): void => {
        if (result.ok) resolve(result.epoch);
        else reject(result.error);
      };
      queue.push({ task, settle });
      schedule();
    });
  }

  function assertOpen(): void {
    if (closing !== undefined) throw new StoreUnavailableError('closed', 'the store is closed');
  }

  /** Reads from one state of the file. What contradicts itself is damage of the session, if one is named. */
  async function read<Value>(work: (opened: Opened) => Value, sessionId?: string): Promise<Value> {
    assertOpen();
    const opened = await open();
    assertOpen();
    try {
      opened.statements.beginReading.run();
      return work(opened);
    } catch (error) {
      throw sessionId === undefined ? toStoreError(error) : toSessionError(sessionId, error);
    } finally {
      ignoreErrors(() => opened.statements.commit.run());
    }
  }

  async function close(): Promise<void> {
    while (queue.length > 0) await writeOut();
    const opened = await opening?.catch(() => undefined);
    const database = 'database' in options ? options.database : opened?.database;
    try {
      database?.close();
    } catch (error) {
      throw toStoreError(error);
    }
  }

  return {
    claim: async () => {
      assertOpen();
      return ask({ type: 'claim' });
    },
    write: async (write) => {
      assertOpen();
      checkWrite(write);
      await ask({ type: 'write', write });
    },
    load: (sessionId) => read(({ statements }) => loadSession(statements, sessionId), sessionId),
    entries: (sessionId, query = {}) => read(({ statements }) => readEntries(statements, sessionId, query), sessionId),
    findRequest: (sessionId, requestId) => read(({ statements }) => findAnswer(statements, sessionId, requestId), sessionId),
    list: (query = {}) => read(({ statements, prepare }) => listSessions(statements, prepare, query)),
    quarantine: async (sessionId, damage) => {
      assertOpen();
      await ask({ type: 'quarantine', sessionId, damage });
    },
    close: () => (closing ??= close()),
  };
}
