// Sessions in a Postgres database.
// Owns:     the queue of writes, when they are stored, and what becomes of them if the connection is lost.
// Does not: check or store a write: the batch does.
// P1. Writes of one turn of the event loop are stored in one transaction; those that come meanwhile are the next one.
// P2. A promise settles after the transaction has ended, in the order of the calls.
// P3. A transaction that failed before its commit is tried again while the server cannot be reached, until the time is over.
// P4. A commit whose answer was lost is looked up before anything else is written: kept, it is reported so; not kept, it is tried
//     again. Only if that cannot be found out in time is the write rejected, with words that say so.
import { cleanText, systemIds } from '../../lib/index.ts';
import type { SessionStore, SessionWrite, StoreTask, StoreTaskResult } from '../index.ts';
import { checkWrite, refusedWrite, StoreUnavailableError } from '../index.ts';
import type { BatchOptions, TransactionId } from './batch.ts';
import { runBatch } from './batch.ts';
import { isOutcomeUnknown, isUniqueViolation, LostCommitError, mayBeOneWrite, toSessionError, toStoreError } from './classify-error.ts';
import type { Query } from './connection.ts';
import { ignoreError, withConnection } from './connection.ts';
import { readClaim } from './holder.ts';
import { listSessions } from './list-sessions.ts';
import { prepareSchema, toOpenError } from './open-database.ts';
import type { PostgresStoreOptions } from './postgres-options.ts';
import { parseOptions } from './postgres-options.ts';
import { findAnswer, loadSession, readEntries } from './read-session.ts';
import { findOutcome } from './resolve-commit.ts';
import { retryWhilePassing } from './retry.ts';
import { createSql } from './sql.ts';

interface QueuedTask {
  readonly task: StoreTask;
  readonly settle: (result: StoreTaskResult) => void;
}

// Many enough for every session that runs; few enough for one statement that is answered in time.
const mostInBatch = 2000;
const longestBatch = 16_000_000;

// A row that is still in the way then is damage.
const attemptsToAdd = 3;

// An index of Postgres holds no longer text.
const longestFoundBy = 2000;

const isStorable = (text: unknown): boolean => typeof text === 'string' && cleanText(text) === text;

/** Throws for texts that Postgres cannot keep. */
function checkTexts({ sessionId, header, entries = [], effects = [] }: SessionWrite): void {
  const texts: readonly (readonly [string, unknown])[] = [
    ['its id', sessionId],
    ...(header === undefined ? [] : [['its details', header.details] as const]),
    ...entries.flatMap(({ n, body, events = '' }) => [
      [`the body of entry ${n}`, body] as const,
      [`the events of entry ${n}`, events] as const,
    ]),
    ...effects.map(({ key, body }) => [`the body of effect "${key}"`, body] as const),
  ];
  const broken = texts.find(([, text]) => !isStorable(text));
  if (broken !== undefined)
    throw refusedWrite(
      sessionId,
      `${broken[0]} has characters that Postgres cannot store (NUL, or half of a surrogate pair), or is not text`,
    );
  const foundBy = [
    sessionId,
    header?.agentId,
    header?.tenant,
    header?.owner,
    ...(header?.tags ?? []),
    ...entries.map(({ requestId }) => requestId),
  ];
  const long = foundBy.find((text = '') => text.length > longestFoundBy / 4 && Buffer.byteLength(text) > longestFoundBy);
  if (long !== undefined)
    throw refusedWrite(sessionId, `"${long.slice(0, 40)}…" is longer than ${longestFoundBy} bytes, and sessions are found by it`);
}

function measureTask({ task }: QueuedTask): number {
  if (task.type !== 'write') return 0;
  const { header, entries = [], effects = [] } = task.write;
  let length = header?.details.length ?? 0;
  for (const { body, events = '' } of entries) length += body.length + events.length;
  for (const { body } of effects) length += body.length;
  return length;
}

/** Counts the tasks that are stored together: one at least. */
function countBatch(queue: readonly QueuedTask[]): number {
  let length = 0;
  const count = queue.findIndex((task, index) => (length += measureTask(task)) > longestBatch && index > 0);
  return Math.min(count === -1 ? queue.length : count, mostInBatch);
}

/** A batch whose commit was sent. */
interface SentBatch {
  readonly options: BatchOptions;
  readonly transaction: TransactionId;
  readonly results: readonly StoreTaskResult[];
}

/** Keeps sessions in a Postgres database, in tables of their own schema. Created when it is first used. */
export function postgresStore(given: PostgresStoreOptions): SessionStore {
  const options = parseOptions(given);
  const { pool, schema } = options;
  const sql = createSql(schema, options.timeoutMs);
  const writer = systemIds();
  let batches = 0;
  let queue: QueuedTask[] = [];
  let writing: Promise<void> | undefined;
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

  /** Runs tasks in one transaction. */
  function commit(tasks: readonly StoreTask[]): Promise<readonly StoreTaskResult[]> {
    const batch: BatchOptions = { schema, sql, token: { writer, batch: (batches += 1) } };
    return withConnection(options, async (query) => {
      await query(sql.begin);
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

  /** Finds out what became of a commit; undefined if it was not kept. */
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
      // Another store may have added the row since this one looked; then there is another answer now.
      if (tasks.length === 1 && isUniqueViolation(error) && attempt < attemptsToAdd) return runTasks(tasks, attempt + 1);
      if (tasks.length > 1 && mayBeOneWrite(error)) {
        const results: StoreTaskResult[] = [];
        for (const task of tasks) results.push(...(await runTasks([task])));
        return results;
      }
      const isOneWrite = tasks.length === 1 && first?.type === 'write';
      const reported = isOneWrite ? toSessionError(first.write.sessionId, error) : toStoreError(error);
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

  async function enqueue(task: StoreTask): Promise<number> {
    assertOpen();
    if (task.type === 'write') {
      checkWrite(task.write);
      checkTexts(task.write);
    }
    return new Promise((resolve, reject) => {
      queue.push({ task, settle: (result) => (result.ok ? resolve(result.epoch) : reject(result.error)) });
      schedule();
    });
  }

  function assertOpen(): void {
    if (closing !== undefined) throw new StoreUnavailableError('closed', 'the store is closed');
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
    while (writing !== undefined) await writing;
    await opening?.catch(() => undefined);
    // A pool that is ending can still lose connections.
    if (options.endsPool) await pool.end();
    else pool.removeListener?.('error', ignoreError);
  }

  return {
    claim: (request = {}) => enqueue({ type: 'claim', request }),
    readClaim: () => read((query) => readClaim(query, sql)),
    beat: async (epoch) => {
      await enqueue({ type: 'beat', epoch });
    },
    release: async (epoch) => {
      await enqueue({ type: 'release', epoch });
    },
    write: async (write) => {
      await enqueue({ type: 'write', write });
    },
    load: (sessionId) => withNames([sessionId], undefined, () => read((query) => loadSession(query, sql, sessionId), sessionId)),
    entries: (sessionId, asked = {}) =>
      withNames([sessionId], [], () => read((query) => readEntries(query, sql, { ...asked, sessionId }), sessionId)),
    findRequest: (sessionId, requestId) =>
      withNames([sessionId, requestId], undefined, () => read((query) => findAnswer(query, sql, { sessionId, requestId }), sessionId)),
    list: (asked = {}) => {
      const { tenant, agentId, owner, status, stopReason, tag } = asked;
      return withNames([tenant, agentId, owner, status, stopReason, tag], { sessions: [] }, () =>
        read((query) => listSessions(query, { sql, schema }, asked)),
      );
    },
    quarantine: (sessionId, damage) =>
      withNames([sessionId], undefined, async () => {
        await enqueue({ type: 'quarantine', sessionId, damage: damage === undefined ? undefined : cleanText(damage) });
      }),
    close: () => (closing ??= close()),
  };
}
