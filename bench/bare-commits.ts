// Records the writes of a store, and repeats them directly with node:sqlite: the same tables, rows and transactions, each synced to disk.
import { DatabaseSync } from 'node:sqlite';

type Value = string | number | null;

/** A statement that was run. */
interface Write {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Writes of a store to its database: texts to set it up, then statements, transactions included. */
export interface RecordedWrites {
  readonly setUp: readonly string[];
  readonly writes: readonly Write[];
  readonly commits: number;
}

interface Recorder {
  /** For `sqliteStore({ database })`. */
  readonly database: Pick<DatabaseSync, 'exec' | 'close'> & { readonly prepare: (sql: string) => Statement };
  readonly take: () => RecordedWrites;
}

interface Statement {
  run(...values: Value[]): { readonly changes: number | bigint };
  get(...values: Value[]): unknown;
  all(...values: Value[]): unknown[];
}

/** Opens a database that records what is written to it. */
export function recordWrites(path: string): Recorder {
  const database = new DatabaseSync(path);
  const setUp: string[] = [];
  const writes: Write[] = [];
  return {
    database: {
      exec: (sql) => {
        setUp.push(sql);
        database.exec(sql);
      },
      close: () => {
        database.close();
      },
      prepare: (sql) => {
        const statement = database.prepare(sql);
        return {
          run: (...values) => {
            writes.push({ sql, values });
            return statement.run(...values);
          },
          get: (...values) => statement.get(...values),
          all: (...values) => statement.all(...values),
        };
      },
    },
    take: () => ({ setUp, writes, commits: writes.filter(({ sql }) => sql === 'COMMIT').length }),
  };
}

/** Repeats the writes on a new file; returns the seconds from the first statement to the last. */
export function replayWrites(path: string, { setUp, writes }: RecordedWrites): number {
  const database = new DatabaseSync(path);
  for (const sql of setUp) database.exec(sql);
  const statements = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  const began = performance.now();
  for (const { sql, values } of writes) {
    const statement = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, statement);
    statement.run(...values);
  }
  const seconds = (performance.now() - began) / 1000;
  database.close();
  return seconds;
}
