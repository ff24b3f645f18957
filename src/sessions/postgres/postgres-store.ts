// Sessions in a Postgres database.
// Owns:     opening the schema, its transactions, and calling those who watch.
// Does not: check or store a write: the table store does.
import type { SessionStore } from '../index.ts';
import { StoreUnavailableError } from '../index.ts';
import type { Changed, TableDriver } from '../table/index.ts';
import { createTableStore, retryWhilePassing } from '../table/index.ts';
import { createChangeFeed, joinStatements, notifyText, queryAndNotify } from './change-feed.ts';
import { checkNoteTexts, checkTexts } from './check-texts.ts';
import { createClaims } from './claim.ts';
import { isConnectionLost, isPassing, isUniqueViolation, mayBeOneWrite, toSessionError, toStoreError, toWords } from './classify-error.ts';
import { createBatches } from './commit-batch.ts';
import type { Query } from './connection.ts';
import { ignoreError, runWork, withConnection } from './connection.ts';
import { createDialect } from './dialect.ts';
import { beginText } from './locks.ts';
import { prepareSchema, toOpenError } from './open-database.ts';
import type { PostgresStoreOptions } from './postgres-options.ts';
import { parseOptions } from './postgres-options.ts';
import { chooseWorkers, findWorkers } from './wake.ts';

function giveUp(error: unknown, { seconds, attempts }: { readonly seconds: string; readonly attempts: string }): StoreUnavailableError {
  const words = `(${attempts}, the last: "${toWords(error)}")`;
  if (isPassing(error)) return new StoreUnavailableError('busy', `other transactions have locked its rows for ${seconds} ${words}`, error);
  const advice = 'Nothing was written. Sessions continue once the server can be reached again.';
  return new StoreUnavailableError('failed', { what: `Postgres could not be reached for ${seconds} ${words}`, advice }, error);
}

/** Keeps sessions in a Postgres database, in tables of their own schema. Created when it is first used. */
export function postgresStore(given: PostgresStoreOptions): SessionStore {
  const options = parseOptions(given);
  const { schema } = options;
  const pools = new Set([options.pool, options.listenPool]);
  const feed = createChangeFeed(options);
  const dialect = createDialect(() => feed.getListener());
  let opening: Promise<void> | undefined;

  const retry = <Value>(work: () => Promise<Value>): Promise<Value> =>
    retryWhilePassing(work, { ...options, isPassing: (error) => isConnectionLost(error) || isPassing(error), giveUp });
  const run = <Value>(work: (query: Query) => Promise<Value>): Promise<Value> => retry(() => withConnection(options, work));

  function open(): Promise<void> {
    if (opening === undefined) {
      for (const pool of pools) pool.on?.('error', ignoreError);
      opening = run((query) => prepareSchema(query, schema)).catch((error: unknown) => {
        for (const pool of pools) pool.removeListener?.('error', ignoreError);
        opening = undefined;
        throw toOpenError(schema, error);
      });
    }
    return opening;
  }

  /** Returns SQL that calls those who watch. */
  async function announce(query: Query, { change, waking = [] }: Changed<unknown>): Promise<string | undefined> {
    if (change === undefined) return undefined;
    const workers = waking.length === 0 ? undefined : chooseWorkers(waking, await findWorkers(query, schema));
    return notifyText(schema, { ...change, ...(workers && { workers }) });
  }

  const errors = { toStoreError, toSessionError, mayBeOneWrite, isConflict: isUniqueViolation };
  return createTableStore({
    dialect,
    errors,
    checkTask: checkTexts,
    checkNote: checkNoteTexts,
    open,
    read: (work) => run((query) => runWork(query, schema, work())),
    change: (work, { isWhole = false, sessionId }) =>
      run(async (query) => {
        if (isWhole) await query(beginText(options, { named: sessionId === undefined ? [] : [sessionId] }));
        const changed = await runWork(query, schema, work());
        const last = joinStatements(isWhole ? 'COMMIT' : undefined, await announce(query, changed));
        if (last !== '') await queryAndNotify(query, last);
        return changed.value;
      }),
    commit: createBatches(options, { dialect, errors }, retry),
    claim: createClaims(schema, run),
    watch: (listener) => feed.watch(listener),
    close: async (finished) => {
      await Promise.all([finished, feed.close()]);
      await opening?.catch(() => undefined);
      // A pool that is ending can still lose connections.
      if (options.endsPool) await Promise.all([...pools].map((pool) => pool.end()));
      else for (const pool of pools) pool.removeListener?.('error', ignoreError);
    },
  } satisfies TableDriver);
}
