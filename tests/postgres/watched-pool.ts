// A pool that shows which statements run, and lets a test step in before one of them.
import type { PostgresClient, PostgresPool, PostgresResult } from '../../src/sessions/postgres/postgres-pool.ts';
import type { Pool } from './server.ts';

/** A statement that is about to run. */
export interface Statement {
  readonly text: string;
  /** Runs it on the real connection. */
  readonly run: () => Promise<PostgresResult>;
  /** The real connection. */
  readonly client: PostgresClient;
}

export interface WatchedPool {
  readonly pool: PostgresPool;
  /** Texts of the statements that ran, in order. */
  readonly ran: string[];
  /** Called in place of each statement, until it is set to something else. */
  onQuery: (statement: Statement) => Promise<PostgresResult>;
  /** Steps in once, at the next message that commits. */
  atNextCommit(work: (statement: Statement) => Promise<PostgresResult>): void;
}

/** True for a message that commits, and may notify then. */
export const isCommit = (text: string): boolean => text.startsWith('COMMIT');

const runIt = ({ run }: Statement): Promise<PostgresResult> => run();

export function watchPool(inner: Pool): WatchedPool {
  const ran: string[] = [];
  const watched: WatchedPool = {
    ran,
    onQuery: runIt,
    atNextCommit(work) {
      watched.onQuery = (statement) => {
        if (!isCommit(statement.text)) return statement.run();
        watched.onQuery = runIt;
        return work(statement);
      };
    },
    pool: {
      connect: async () => {
        const client = await inner.connect();
        return {
          query: (text, values) => {
            ran.push(text);
            return watched.onQuery({ text, run: () => client.query(text, values), client });
          },
          release: (destroy) => client.release(destroy),
          ...(client.on && { on: client.on.bind(client) }),
          ...(client.removeListener && { removeListener: client.removeListener.bind(client) }),
          ...(client.unref && { unref: client.unref.bind(client) }),
          processID: client.processID ?? null,
        };
      },
      end: () => inner.end(),
    },
  };
  return watched;
}

/** Keeps a connection open though the store closes it: the server does not notice that its client is gone. Returns what closes it. */
export function keepOpen(client: PostgresClient): () => void {
  const release = client.release.bind(client);
  client.release = () => undefined;
  client.on?.('error', () => undefined);
  return () => release(true);
}

/** The error that pg gives when a connection ends without a word. */
export const connectionLost = (): Error => new Error('Connection terminated unexpectedly');

/** The process id of a connection's server process. */
export async function readPid(client: PostgresClient): Promise<number> {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  return (rows[0] as { readonly pid: number }).pid;
}
