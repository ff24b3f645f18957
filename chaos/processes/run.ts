// One run: a database, some workers and clients, and everything that happens to them.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Figure } from '../figures.ts';
import { atMost, exactly, none, info } from '../figures.ts';
import { createRandom } from '../random.ts';
import { withFolder } from '../with-folder.ts';
import { checkRun } from './check.ts';
import type { Member } from './crew.ts';
import { Crew } from './crew.ts';
import type { BlowCounts, BlowResults, DatabaseServer, Loss } from './disturb.ts';
import { disturb, findTakeover, planBlows } from './disturb.ts';
import type { ClientOrders, Database, WorkerOrders } from './orders.ts';
import { openDatabase } from './open-database.ts';
import { watchProgress } from './progress.ts';
import { startProxy } from './proxy.ts';

export interface WatchedRun {
  readonly folder: string;
  readonly database: Database;
  readonly workers: Crew;
}

export interface ProcessOptions extends BlowCounts {
  readonly store: Database['type'];
  readonly workers: number;
  readonly clients: number;
  readonly sessions: number;
  readonly steps: number;
  readonly seed: number;
  /** True if nothing keeps a worker from writing that has lost a session: the run must fail then. @default false */
  readonly isUnfenced?: boolean;
  /** Folders of the builds: workers and clients take turns in using them. @default this one */
  readonly builds?: readonly string[];
  readonly onProgress?: (line: string) => void;
  /** Watches the run, and checks more at the end. */
  readonly watch?: (database: Database) => Promise<(facts: WatchedRun) => Promise<readonly Figure[]>>;
}

/** Longest time from a death that others see to the next claim of a session of the worker: the median. */
const takeoverMs = 2000;

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

const findTakeovers = (workers: Crew, losses: readonly Loss[]): readonly number[] =>
  losses.flatMap((loss) => findTakeover(workers, loss) ?? []);

/** True if a worker that was stopped has joined again: its sessions belonged to others by then. */
const hasRejoined = ({ member: { reports, ids } }: Loss): boolean =>
  reports.some((report) => report.type === 'joined' && report.before !== undefined && ids.has(report.before));

function checkBlows(workers: Crew, results: BlowResults, options: ProcessOptions): readonly Figure[] {
  const { kills, clientKills, stops, blocks } = options;
  const takeovers = findTakeovers(workers, results.kills);
  const stopped = results.stops.filter((loss) => findTakeover(workers, loss) !== undefined);
  const frozen = new Set(results.stops.map(({ member }) => member));
  const countRefused = (members: Iterable<Member>, code: string): number =>
    [...members].flatMap(({ reports }) => reports).filter((report) => report.type === 'refused' && report.code === code).length;
  const joins = workers.all.flatMap(({ reports }) => reports.filter((report) => report.type === 'joined' && report.before !== undefined));
  const conflicts = workers.all.flatMap(({ child, reports }) =>
    reports.flatMap((report) =>
      report.type === 'refused' && report.code === 'session-conflict' ? [`${child.name}: ${report.session}`] : [],
    ),
  );
  return [
    exactly('kills of workers', results.kills.length, kills),
    info('  at a chosen spot', results.killsAtSpots.length),
    atMost('ms from a kill to the next claim of a session of the worker, median', median(takeovers), takeoverMs),
    info('  at most', Math.max(0, ...takeovers)),
    exactly('kills of clients', results.clientKills.length, clientKills),
    exactly('workers that were stopped and continued', results.stops.length, stops),
    none(
      'stopped workers that lost their sessions and did not join again',
      stopped.filter((loss) => !hasRejoined(loss) && !workers.drained.has(loss.member.child)).map(({ member }) => member.child.name),
    ),
    info('  ms from a stop to the next claim of a session of the worker, median', median(findTakeovers(workers, stopped))),
    info('  writes of theirs that were refused', countRefused(frozen, 'lease-lost')),
    exactly('workers that were kept busy', results.blocks.length, blocks),
    info('  workers that were taken for gone, and joined again', joins.length),
    info('  writes that were refused because another worker had the session', countRefused(workers.all, 'lease-lost')),
    none('writes that were refused by their place in the log alone', conflicts),
    exactly('workers that were drained and replaced', results.drains.length, options.workers),
    info('  ms to end, at most', Math.max(0, ...results.drains)),
  ];
}

/** Problems that a worker may report: that its time is over, and what follows from that. */
function findProblems({ all }: Crew, expected: readonly string[]): readonly string[] {
  return all.flatMap(({ child }) =>
    child.problems
      .filter(({ code }) => !expected.includes(code))
      .map(({ code, where, message }) => `${child.name}, ${code}, ${where}: ${message}`),
  );
}

async function work(folder: string, options: ProcessOptions, { database, server }: StartedDatabase): Promise<readonly Figure[]> {
  const { sessions, steps, seed, builds = [root], isUnfenced = false, onProgress = () => undefined, watch } = options;
  const shared = { folder, database, sessions, steps };
  const started = performance.now();
  const workers = new Crew({
    size: options.workers,
    scripts: builds.map((build) => getScript(build, 'worker')),
    createOrders: (_, before): WorkerOrders => ({ ...shared, name: `worker-${before + 1}`, isUnfenced }),
  });
  const atOnce = Math.max(2, Math.ceil(sessions / 16));
  const clients = new Crew({
    size: options.clients,
    scripts: builds.map((build) => getScript(build, 'client')),
    createOrders: (client): ClientOrders => ({ ...shared, name: `client-${client + 1}`, client, clients: options.clients, atOnce }),
  });
  const checkMore = await watch?.(database);
  const opened = await openDatabase(database);
  const progress = watchProgress(opened);
  workers.start();
  clients.start();
  try {
    const random = createRandom(seed);
    const allSteps = sessions * steps;
    const more = { workers, clients, opened, server, progress, allSteps, random, onProgress };
    const results = await disturb(planBlows(options, random), more);
    await progress.until(allSteps);
    await clients.whenDone();
    onProgress('all clients have seen the end of their sessions');
    await clients.finish();
    await workers.finish();
    const hasOutages = options.restarts > 0;
    const outages = hasOutages ? ['store-unavailable'] : [];
    return [
      ...checkBlows(workers, results, options),
      ...(server === undefined ? [] : [exactly('connections cut in the middle of a commit', server.proxy.cuts.length, 2 * options.cuts)]),
      none('problems that workers reported', findProblems(workers, ['lease-lost', 'late-result', ...outages])),
      none('problems that clients reported', findProblems(clients, outages)),
      ...(await checkRun({
        ...shared,
        workers: workers.all.map(({ child }) => child.name),
        clients: [...new Set(clients.all.map(({ child }) => child.name))],
        hasOutages,
      })),
      ...((await checkMore?.({ folder, database, workers })) ?? []),
      info('seconds in all', Math.round((performance.now() - started) / 100) / 10),
    ];
  } finally {
    workers.kill();
    clients.kill();
    await progress.stop();
    await opened.close();
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
