// Sessions in one SQLite file.
// Owns:     opening it, its transactions, and calling those who watch.
// Does not: check or store a write: the table store does.
// W4. A change of leases does not wait for the disk: a power failure that takes it away has ended its worker too. The next write keeps it.
// W5. While another process holds the file, everything waits in its order, and the event loop is not blocked.
import { statSync } from 'node:fs';
import type { SessionStore, StoreTask } from '../index.ts';
import { StoreUnavailableError } from '../index.ts';
import type { Changed, PlannedBatch, TableDriver } from '../table/index.ts';
import { createTableStore, planBatch, retryWhilePassing } from '../table/index.ts';
import { applyChange } from './apply-changes.ts';
import { claimSessions } from './claim.ts';
import { isBusy, mayBeOneWrite, toSessionError, toStoreError } from './classify-error.ts';
import type { Connection } from './connection.ts';
import { connect, runWork } from './connection.ts';
import { createDialect } from './dialect.ts';
import { createLogEraser } from './erase-log.ts';
import { FileKnowledge, readDataVersion } from './knowledge.ts';
import { openFile, prepareDatabase } from './open-database.ts';
import type { ParsedOptions, SqliteStoreOptions } from './sqlite-options.ts';
import { parseOptions } from './sqlite-options.ts';
import { createStoreWatch } from './watch-store.ts';

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
  const { clock, busyTimeoutMs: timeoutMs } = options;
  const dialect = createDialect(clock);
  const known = new FileKnowledge();
  const eraser = createLogEraser(clock);
  const watch = createStoreWatch({ clock, readVersion: async () => readDataVersion(await open()) });
  let opening: Promise<Connection> | undefined;
  let file: number | undefined;

  const retry = <Value>(work: () => Value | Promise<Value>): Promise<Value> =>
    retryWhilePassing(work, {
      ...{ clock, timeoutMs, isPassing: isBusy },
      giveUp: (error, { seconds, attempts }) =>
        new StoreUnavailableError('busy', `another process has held it for ${seconds} (${attempts})`, error),
    });

  function open(): Promise<Connection> {
    opening ??= retry(() => openStore(options)).catch((error: unknown) => {
      opening = undefined;
      throw toStoreError(error);
    });
    return opening;
  }

  /** Throws if the file was removed: SQLite would continue to write to it, and nobody would find it again. */
  function checkFile(): void {
    if (!('path' in options) || options.path === ':memory:') return;
    const inode = statSync(options.path, { throwIfNoEntry: false })?.ino;
    file ??= inode;
    if (inode === undefined || inode !== file)
      throw new StoreUnavailableError('failed', `"${options.path}" was removed or replaced while it was open`);
  }

  /** Runs work in a transaction. `settle`: called as soon as it is committed. */
  async function transact<Value>(
    work: (db: Connection) => Value,
    { settle, mayBeLost = false }: { readonly settle?: (value: Value) => void; readonly mayBeLost?: boolean | undefined },
  ): Promise<Value> {
    const db = await open();
    return retry(() => {
      checkFile();
      try {
        if (mayBeLost) db.run('PRAGMA synchronous = NORMAL');
        db.run('BEGIN IMMEDIATE');
        const value = work(db);
        db.run('COMMIT');
        settle?.(value);
        return value;
      } catch (error) {
        ignoreErrors(() => db.run('ROLLBACK'));
        known.forget();
        throw error;
      } finally {
        if (mayBeLost) db.run('PRAGMA synchronous = FULL');
      }
    });
  }

  /** Changes something beside the queue: nobody waits for it, and it waits for nobody. */
  async function changeAlone<Value>(work: (db: Connection) => Changed<Value>, mayBeLost?: boolean): Promise<Value> {
    const settle = ({ sessionIds = [], change }: Changed<Value>): void => {
      known.forgetLeases(sessionIds);
      if (change !== undefined) watch.notify(change);
    };
    return (await transact(work, { settle, mayBeLost })).value;
  }

  const driver: TableDriver = {
    dialect,
    errors: { toStoreError, toSessionError, mayBeOneWrite, isConflict: () => false },
    open,
    read: async (work) => {
      const db = await open();
      return retry(() => {
        try {
          db.run('BEGIN');
          return runWork(db, work());
        } finally {
          ignoreErrors(() => db.run('COMMIT'));
        }
      });
    },
    change: (work, { mayBeLost }) => changeAlone((db) => runWork(db, work()), mayBeLost),
    commit: async (tasks) => {
      const plan = (db: Connection): PlannedBatch => {
        known.refresh(db);
        const batch = runWork(db, planBatch(driver, known, tasks));
        for (const change of batch.changes) applyChange(db, change);
        return batch;
      };
      const batch = await transact(plan, { settle: (planned) => known.learn(planned) });
      if (tasks.some(isErasing)) eraser.erase(await open());
      if (batch.change !== undefined) watch.notify(batch.change);
      return batch.results;
    },
    claim: (query) => changeAlone((db) => claimSessions(db, query, clock.now()), true),
    watch: watch.add,
    close: async (finished) => {
      watch.close();
      await finished;
      const db = await opening?.catch(() => undefined);
      const database = 'database' in options ? options.database : db;
      if (db !== undefined) eraser.close(db);
      try {
        database?.close();
      } catch (error) {
        throw toStoreError(error);
      }
    },
  };
  const store = createTableStore(driver);
  const join: SessionStore['leases']['join'] = async (info, sign) => {
    await store.leases.join(info, sign);
    // What a crash has left undone.
    eraser.erase(await open());
  };
  return { ...store, leases: { ...store.leases, join } };
}
