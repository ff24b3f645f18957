// One run: a database, two workers, some clients, and everything that happens to them.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Figure } from '../figures.ts';
import { atMost, exactly, none, info } from '../figures.ts';
import { createRandom } from '../random.ts';
import { withFolder } from '../with-folder.ts';
import { checkRun } from './check.ts';
import type { Child } from './child.ts';
import { startChild } from './child.ts';
import type { DatabaseServer, DisturbanceCounts, DisturbanceResults } from './disturb.ts';
import { disturb, planDisturbances } from './disturb.ts';
import type { ClientOrders, Database } from './orders.ts';
import { countSteps, openDatabase } from './open-database.ts';
import { startProxy } from './proxy.ts';
import { WorkerPair } from './worker-pair.ts';

export interface WatchedRun {
  readonly folder: string;
  readonly database: Database;
  readonly pair: WorkerPair;
}

export interface ProcessOptions extends DisturbanceCounts {
  readonly store: Database['type'];
  readonly sessions: number;
  readonly steps: number;
  readonly seed: number;
  /** Folders of the builds: workers and clients take turns in using them. @default this one */
  readonly builds?: readonly string[];
  readonly onProgress?: (line: string) => void;
  /** Watches the run, and checks more at the end. */
  readonly watch?: (database: Database) => Promise<(facts: WatchedRun) => Promise<readonly Figure[]>>;
}

const clients = 4;

/** Longest time from the kill of a worker to the first write of the next one. */
const takeoverMs = 3000;

const root = fileURLToPath(new URL('../..', import.meta.url));
const getScript = (build: string, name: 'worker' | 'client'): string => join(build, 'chaos', 'processes', `${name}.ts`);

interface StartedDatabase {
  readonly database: Database;
  readonly server?: DatabaseServer;
  readonly stop: () => Promise<void>;
}

/** Finds a package from the place of a file: it is installed there, and nowhere else. */
const findPackage = (from: URL, name: string): string => createRequire(from).resolve(name);

async function startDatabase(store: Database['type'], folder: string): Promise<StartedDatabase> {
  if (store === 'sqlite') return { database: { type: 'sqlite', path: join(folder, 'sessions.sqlite') }, stop: () => Promise.resolve() };
  const serverFile = new URL('../../tests/postgres/server.ts', import.meta.url);
  const { startServer } = await import('../../tests/postgres/server.ts');
  const server = await startServer();
  const url = new URL(server.url);
  const proxy = await startProxy(Number(url.port));
  url.port = String(proxy.port);
  const database: Database = { type: 'postgres', url: url.href, schema: 'chaos', pg: findPackage(serverFile, 'pg') };
  return {
    database,
    server: { server, proxy },
    stop: async () => {
      await proxy.close();
      await server.dispose();
    },
  };
}

const median = (values: readonly number[]): number => [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;

function checkTakeovers(
  { kills: killed, fenced, takeovers, claims, frozenTakeovers, killsAtSpots }: DisturbanceResults,
  { kills, freezes }: DisturbanceCounts,
): readonly Figure[] {
  return [
    exactly('kills of the worker that held the store', killed.length, kills),
    info('  at a chosen spot', killsAtSpots.length),
    atMost('ms from a kill to the first write of the next worker, at most', Math.max(0, ...takeovers), takeoverMs),
    info('  median', median(takeovers)),
    info('  ms to its claim, at most', Math.max(0, ...claims)),
    info('  median', median(claims)),
    exactly('workers that were stopped, continued, and found out that their time was over', fenced.length, freezes),
    ...frozenTakeovers.map((ms) => atMost('ms from its stop to the first write of the next worker', ms, takeoverMs)),
  ];
}

/** Problems that a worker may report: that its time is over, and what follows from that. */
function findProblems(pair: WorkerPair, hasOutages: boolean): readonly string[] {
  const expected = ['store-fenced', 'late-result', ...(hasOutages ? ['store-unavailable'] : [])];
  return pair.all.flatMap(({ child }) =>
    child.problems
      .filter(({ code }) => !expected.includes(code))
      .map(({ code, where, message }) => `${child.name}, ${code}, ${where}: ${message}`),
  );
}

function startClients(createOrders: (client: number) => ClientOrders, builds: readonly string[]): readonly Child[] {
  return Array.from({ length: clients }, (_, client) =>
    startChild(getScript(builds[client % builds.length] ?? root, 'client'), createOrders(client)),
  );
}

async function finishClients(started: readonly Child[]): Promise<void> {
  for (const child of started) child.command({ type: 'finish' });
  await Promise.all(started.map(({ gone }) => gone));
}

/** Counts the recorded steps again and again. Returns the function that stops it. */
async function startCounting(database: Database, onCount: (steps: number) => void): Promise<() => Promise<void>> {
  const opened = await openDatabase(database);
  const stopping = new AbortController();
  const count = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      // The tables are created by the first worker, and a server may be down.
      await countSteps(opened).then(onCount, () => undefined);
      await pause(100);
    }
  };
  const counting = count();
  return async () => {
    stopping.abort();
    await counting;
    await opened.close();
  };
}

async function work(folder: string, options: ProcessOptions, { database, server }: StartedDatabase): Promise<readonly Figure[]> {
  const { sessions, steps, seed, builds = [root], onProgress = () => undefined, watch } = options;
  const shared = { folder, database, sessions, steps };
  const [first = root, second = first] = builds;
  const pair = new WorkerPair({
    scripts: [getScript(first, 'worker'), getScript(second, 'worker')],
    createOrders: (name) => ({ ...shared, name }),
    allSteps: sessions * steps,
  });
  const started = performance.now();
  const checkMore = await watch?.(database);
  const stopCounting = await startCounting(database, (steps) => (pair.steps = steps));
  pair.start();
  const atOnce = Math.max(2, Math.ceil(sessions / 16));
  const running = startClients((client) => ({ ...shared, name: `client-${client + 1}`, client, clients, atOnce }), builds);
  try {
    const done = Promise.all(running.map((child) => child.expect('done')));
    // Whatever fails first ends the run.
    done.catch(() => undefined);
    const plan = planDisturbances(options, createRandom(seed));
    const results = await Promise.race([
      disturb(plan, { pair, database: server, onProgress }),
      // Rejects if a client ends before its time.
      done.then(() => new Promise<never>(() => undefined)),
    ]);
    await done;
    onProgress('all clients have seen the end of their sessions');
    await finishClients(running);
    await pair.finish();
    const hasOutages = options.restarts > 0;
    return [
      ...checkTakeovers(results, options),
      ...(server === undefined ? [] : [exactly('connections cut in the middle of a commit', server.proxy.cuts.length, 2 * options.cuts)]),
      info('workers that held the store, one after the other', pair.holders.length),
      none('problems that workers reported', findProblems(pair, hasOutages)),
      none(
        'problems that clients reported',
        running.flatMap(({ problems, name }) => problems.map(({ code, where, message }) => `${name}, ${code}, ${where}: ${message}`)),
      ),
      ...(await checkRun({
        ...shared,
        workers: pair.all.map(({ child }) => child.name),
        clients: running.map(({ name }) => name),
        freezes: results.freezes,
        hasOutages,
      })),
      ...((await checkMore?.({ folder, database, pair })) ?? []),
      info('seconds in all', Math.round((performance.now() - started) / 100) / 10),
    ];
  } finally {
    await stopCounting();
    pair.kill();
    for (const child of running) child.signal('SIGKILL');
  }
}

/** Runs everything, and returns the figures that must hold. */
export async function runProcesses(options: ProcessOptions): Promise<readonly Figure[]> {
  return withFolder(async (folder) => {
    const database = await startDatabase(options.store, folder);
    try {
      return await work(folder, options, database);
    } finally {
      await database.stop();
    }
  });
}
