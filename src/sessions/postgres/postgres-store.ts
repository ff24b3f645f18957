// Sessions in a Postgres database.
// Owns:     opening the schema, and which calls are refused before anything is sent.
// Does not: store or read anything itself.
import { cleanText } from '../../lib/index.ts';
import type { SessionStore, StoreTask } from '../index.ts';
import { checkTask, StoreUnavailableError } from '../index.ts';
import { createChangeFeed } from './change-feed.ts';
import { checkTexts, isStorable } from './check-texts.ts';
import { toSessionError, toStoreError } from './classify-error.ts';
import type { Query } from './connection.ts';
import { ignoreError, withConnection } from './connection.ts';
import { readFeed } from './feed.ts';
import { createLeases } from './leases.ts';
import { listSessions } from './list-sessions.ts';
import { pruneMail, readMail } from './mailbox.ts';
import type { NotePlace } from './notes.ts';
import { listNotes, readNote, writeNote } from './notes.ts';
import { prepareSchema, toOpenError } from './open-database.ts';
import type { PostgresStoreOptions } from './postgres-options.ts';
import { parseOptions } from './postgres-options.ts';
import { findAnswer, loadSession, readEffects, readEntries, readHead } from './read-session.ts';
import { retryWhilePassing } from './retry.ts';
import { createSql } from './sql.ts';
import type { KeptTask } from './write-queue.ts';
import { createWriteQueue } from './write-queue.ts';

/** Keeps sessions in a Postgres database, in tables of their own schema. Created when it is first used. */
export function postgresStore(given: PostgresStoreOptions): SessionStore {
  const options = parseOptions(given);
  const { pool, schema } = options;
  const sql = createSql(schema, options.timeoutMs);
  let opening: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  function open(): Promise<void> {
    if (opening === undefined) {
      pool.on?.('error', ignoreError);
      opening = retryWhilePassing(() => withConnection(options, (query) => prepareSchema(query, schema)), options).catch(
        (error: unknown) => {
          pool.removeListener?.('error', ignoreError);
          opening = undefined;
          throw toOpenError(schema, error);
        },
      );
    }
    return opening;
  }

  const writes = createWriteQueue(options, sql, open);
  const feed = createChangeFeed(options);
  const place: NotePlace = { schema, sql };

  async function enqueue(task: StoreTask): Promise<KeptTask> {
    assertOpen();
    checkTask(task);
    checkTexts(task);
    return writes.add(task);
  }

  function assertOpen(): void {
    if (closing !== undefined) throw new StoreUnavailableError('closed', 'it was closed');
  }

  async function read<Value>(work: (query: Query) => Promise<Value>, sessionId?: string): Promise<Value> {
    assertOpen();
    await open();
    const readOnce = (): Promise<Value> => {
      assertOpen();
      return withConnection(options, work);
    };
    try {
      return await retryWhilePassing(readOnce, options);
    } catch (error) {
      throw sessionId === undefined ? toStoreError(error) : toSessionError(sessionId, error);
    }
  }

  /** Works on what has these names. Names that cannot be stored belong to nothing, and would be read as other names. */
  async function withNames<Value>(names: readonly (string | undefined)[], empty: Value, work: () => Promise<Value>): Promise<Value> {
    assertOpen();
    return names.every((name) => name === undefined || isStorable(name)) ? work() : empty;
  }

  async function close(): Promise<void> {
    await Promise.all([writes.finish(), feed.close()]);
    await opening?.catch(() => undefined);
    // A pool that is ending can still lose connections.
    if (options.endsPool) await pool.end();
    else pool.removeListener?.('error', ignoreError);
  }

  /** Queues a task whose result nobody needs. */
  const store = async (task: StoreTask): Promise<void> => {
    await enqueue(task);
  };

  return {
    log: {
      load: (sessionId) => withNames([sessionId], undefined, () => read((query) => loadSession(query, sql, sessionId), sessionId)),
      entries: (sessionId, asked = {}) =>
        withNames([sessionId], [], () => read((query) => readEntries(query, sql, { ...asked, sessionId }), sessionId)),
      findRequest: (sessionId, requestId) =>
        withNames([sessionId, requestId], undefined, () => read((query) => findAnswer(query, sql, { sessionId, requestId }), sessionId)),
      effects: (sessionId, asked = {}) => {
        // A prefix that cannot be stored begins no key.
        const { prefix = '', skip = 0 } = asked;
        const query = isStorable(prefix) ? { prefix, skip } : { skip: Number.MAX_SAFE_INTEGER };
        return withNames([sessionId], undefined, () => read((run) => readEffects(run, sql, { ...query, sessionId }), sessionId));
      },
      write: async (write) => {
        const { hasMail = false } = await enqueue({ type: 'write', write });
        return { hasMail };
      },
      delete: (deletion) => store({ type: 'delete', deletion }),
    },
    heads: {
      read: (sessionId) => withNames([sessionId], undefined, () => read((query) => readHead(query, sql, sessionId), sessionId)),
      list: (asked = {}) => {
        const { tenant, agentName, owner, status, stopReason, tag } = asked;
        return withNames([tenant, agentName, owner, status, stopReason, tag], { sessions: [] }, () =>
          read((query) => listSessions(query, { sql, schema }, asked)),
        );
      },
      quarantine: (sessionId, damage) =>
        withNames([sessionId], undefined, () =>
          store({ type: 'quarantine', sessionId, damage: damage === undefined ? undefined : cleanText(damage) }),
        ),
    },
    leases: createLeases({ schema, sql, run: (work) => read(work), getListener: () => feed.getListener() }),
    inbox: {
      post: async (mail) => (await enqueue({ type: 'post', mail })).mail,
      read: (asked = {}) => withNames([asked.sessionId, asked.requestId], [], () => read((query) => readMail(query, schema, asked))),
      prune: (before) => read((query) => pruneMail(query, schema, before)),
    },
    notes: {
      read: (name) => withNames([name], undefined, () => read((query) => readNote(query, schema, name))),
      list: (asked) => withNames([asked.prefix, asked.after], [], () => read((query) => listNotes(query, schema, asked))),
      write: (note) => read((query) => writeNote(query, place, note)),
    },
    feed: {
      read: (asked = {}) => {
        const empty = { entries: [], cursor: asked.after ?? 'end', hasMore: false };
        return withNames([asked.tenant], empty, () => read((query) => readFeed(query, schema, asked)));
      },
    },
    changes: {
      watch: (listener) => {
        assertOpen();
        return feed.watch(listener);
      },
    },
    close: () => (closing ??= close()),
  };
}
