// The store of sessions in tables, whatever database holds them.
// Owns:     which calls are refused before anything is read or stored, and how errors are reported.
// Does not: know the database, which is behind its driver.
import { cleanText } from '../../lib/index.ts';
import type { SessionStore, StoreTask } from '../index.ts';
import { checkNote, checkTask, StoreUnavailableError } from '../index.ts';
import type { Changed, ChangeOptions, TableDriver } from './driver.ts';
import { readFeed } from './feed.ts';
import { beat, free, join, leave, listWorkers } from './leases.ts';
import { listSessions } from './list-sessions.ts';
import { pruneMail, readMail } from './mailbox.ts';
import { listNotes, readNote, writeNote } from './notes.ts';
import { findAnswer, loadSession, readEffects, readEntries, readHead } from './read-session.ts';
import type { TableWork } from './statement.ts';
import type { KeptTask } from './write-queue.ts';
import { createWriteQueue } from './write-queue.ts';

/** Keeps sessions in the tables of a database. */
export function createTableStore(driver: TableDriver): SessionStore {
  const { dialect, errors } = driver;
  const writes = createWriteQueue(driver);
  let closing: Promise<void> | undefined;

  function assertOpen(): void {
    if (closing !== undefined) throw new StoreUnavailableError('closed', 'it was closed');
  }

  async function enqueue(task: StoreTask): Promise<KeptTask> {
    assertOpen();
    checkTask(task);
    driver.checkTask?.(task);
    return writes.add(task);
  }

  /** Queues a task whose result nobody needs. */
  const store = async (task: StoreTask): Promise<void> => {
    await enqueue(task);
  };

  async function run<Value>(work: () => Promise<Value>, sessionId?: string): Promise<Value> {
    assertOpen();
    await driver.open();
    try {
      return await work();
    } catch (error) {
      throw sessionId === undefined ? errors.toStoreError(error) : errors.toSessionError(sessionId, error);
    }
  }

  function whileOpen<Value>(work: () => TableWork<Value>): () => TableWork<Value> {
    return () => {
      assertOpen();
      return work();
    };
  }

  const read = <Value>(work: () => TableWork<Value>, sessionId?: string): Promise<Value> =>
    run(() => driver.read(whileOpen(work)), sessionId);
  const change = <Value>(work: () => TableWork<Changed<Value>>, options: ChangeOptions = {}): Promise<Value> =>
    run(() => driver.change(whileOpen(work), options));
  const changeLeases = <Value>(work: () => TableWork<Changed<Value>>, isWhole = false): Promise<Value> =>
    change(work, { mayBeLost: true, isWhole });

  return {
    log: {
      load: (id) => read(() => loadSession(id), id),
      entries: (id, query = {}) => read(() => readEntries(id, query), id),
      findRequest: (id, requestId) => read(() => findAnswer(id, requestId), id),
      effects: (id, query = {}) => read(() => readEffects(id, query), id),
      write: async (write) => {
        const { hasMail = false } = await enqueue({ type: 'write', write });
        return { hasMail };
      },
      delete: (deletion) => store({ type: 'delete', deletion }),
    },
    heads: {
      read: (id) => read(() => readHead(id), id),
      list: (query = {}) => read(() => listSessions(dialect, query)),
      quarantine: async (sessionId, damage) => {
        assertOpen();
        // No session has another id.
        if (cleanText(sessionId) === sessionId)
          await store({ type: 'quarantine', sessionId, damage: damage === undefined ? undefined : cleanText(damage) });
      },
    },
    leases: {
      join: (info, sign) => changeLeases(() => join(dialect, info, sign)),
      beat: (worker, room) => changeLeases(() => beat(dialect, worker, room)),
      workers: () => read(() => listWorkers(dialect)),
      free: (gone) => changeLeases(() => free(dialect, gone), true),
      claim: (query) => run(() => driver.claim(query)),
      leave: async (worker, sessionIds) => {
        await changeLeases(() => leave(dialect, worker, sessionIds), true);
      },
    },
    inbox: {
      post: async (mail) => (await enqueue({ type: 'post', mail })).mail,
      read: (query = {}) => read(() => readMail(query)),
      prune: (before) => change(() => pruneMail(dialect, before)),
    },
    notes: {
      read: (name) => read(() => readNote(name)),
      list: (query) => read(() => listNotes(query)),
      write: async (note) => {
        checkNote(note);
        driver.checkNote?.(note);
        return change(() => writeNote(note), { isWhole: note.sessionId !== undefined, sessionId: note.sessionId });
      },
    },
    feed: { read: (query = {}) => read(() => readFeed(dialect, query)) },
    changes: {
      watch: (listener) => {
        assertOpen();
        return driver.watch(listener);
      },
    },
    close: () => (closing ??= driver.close(writes.finish())),
  };
}
