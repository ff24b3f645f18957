// Sessions on Restate, SQLite and Postgres in one run, with every commit on disk. A report only: it never fails a check.
//   npm run bench:engines
//   npm run bench:engines -- --only SQLite,Restate --rounds 3
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { postgresStore } from 'stepline/postgres';
import { restateSessions, serveDesk } from 'stepline/restate';
import type { EmbeddedRuntime } from 'stepline/sessions';
import { createSessionRuntime } from 'stepline/sessions';
import { sqliteStore } from 'stepline/sqlite';
import { startRestate } from '../tests/engines/restate/server.ts';
import { openPool, startServer } from '../tests/postgres/server.ts';
import { createBenchAgent } from './engines-agent.ts';
import type { WorkerOrder } from './engines-worker.ts';
import { median } from './measure.ts';

const by = { id: 'bench', kind: 'service' };

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, only: { type: 'string', default: 'SQLite,Postgres,Restate' } },
});
const rounds = Number(values.rounds);
const only = values.only.split(',');

/** A place to run sessions, used for one figure. */
interface Place {
  readonly runtime: EmbeddedRuntime;
  readonly dispose: () => Promise<void>;
}

/** Runs sessions side by side; returns the seconds from the first send to the last end. */
async function measureSeconds({ runtime, dispose }: Place, sessions: number): Promise<number> {
  const made = await Promise.all(Array.from({ length: sessions }, () => runtime.create({}, { by })));
  const began = performance.now();
  const results = await Promise.all(made.map(({ id }) => runtime.send(id, 'Go.', { by })));
  const seconds = (performance.now() - began) / 1000;
  const wrong = results.find(({ status }) => status !== 'completed');
  if (wrong !== undefined) throw new Error(`A session did not complete: ${wrong.explain()}`);
  await dispose();
  return seconds;
}

const folder = mkdtempSync(join(tmpdir(), 'stepline-bench-'));
const postgres = only.includes('Postgres') ? await startServer() : undefined;
const pool = postgres && (await openPool(postgres.url));
const restate = only.includes('Restate') ? await startRestate() : undefined;
const workers = restate && startWorkers();
let places = 0;
const nextPlace = (): string => String((places += 1));

function openEmbedded(store: ReturnType<typeof sqliteStore>, steps: number): Place {
  const runtime = createSessionRuntime({ agents: [createBenchAgent(steps)], store });
  return {
    runtime,
    dispose: async () => {
      await runtime.drain();
      await store.close();
    },
  };
}

/** Starts the process of the workers. Returns a function that gives it an order, and settles with its answer. */
function startWorkers(): (order: WorkerOrder) => Promise<string> {
  const script = fileURLToPath(new URL('engines-worker.ts', import.meta.url));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async (order) => {
    child.stdin.write(`${JSON.stringify(order)}\n`);
    const { value } = await lines.next();
    return String(value);
  };
}

/** As in the docs: the worker is a process of its own, the desk is part of the application, which is this process. */
async function openRestate(steps: number): Promise<Place> {
  if (restate === undefined || workers === undefined) throw new Error('There is no Restate server.');
  const list = sqliteStore({ path: join(folder, `${nextPlace()}.db`) });
  const prefix = `Bench${nextPlace()}`;
  const url = await workers({ type: 'open', ingress: restate.ingress, prefix, steps });
  const desk = createServer(serveDesk({ list, prefix }).node).listen(0, '127.0.0.1');
  await once(desk, 'listening');
  // Holds: it listens on a port.
  await restate.register(`http://127.0.0.1:${String((desk.address() as AddressInfo).port)}`);
  await restate.register(url);
  await workers({ type: 'start' });
  const runtime = restateSessions({ agents: [createBenchAgent(steps)], ingress: { url: restate.ingress }, list, prefix });
  return {
    runtime,
    dispose: async () => {
      await runtime.drain();
      await workers({ type: 'drain' });
      desk.close();
      await list.close();
    },
  };
}

const kinds: Readonly<Record<string, (steps: number) => Place | Promise<Place>>> = {
  SQLite: (steps) => openEmbedded(sqliteStore({ path: join(folder, `${nextPlace()}.db`) }), steps),
  ...(pool && { Postgres: (steps: number) => openEmbedded(postgresStore({ pool, schema: `bench_${nextPlace()}` }), steps) }),
  Restate: openRestate,
};

const figures = new Map<string, number[]>();
const add = (name: string, figure: number): void => void figures.set(name, [...(figures.get(name) ?? []), figure]);

// The first round warms up the compiler. All engines take turns, so that a slow moment of the machine affects all of them.
for (let round = 0; round <= rounds; round += 1) {
  for (const name of only) {
    const open = kinds[name];
    if (open === undefined) throw new Error(`There is no engine "${name}".`);
    const many = (200 * 20) / (await measureSeconds(await open(20), 200));
    const one = (1000 * (await measureSeconds(await open(100), 1))) / 100;
    if (round === 0) continue;
    add(`${name} many`, many);
    add(`${name} one`, one);
  }
}

process.stdout.write(
  `Node ${process.version}, medians of ${String(rounds)}; a step: one model call and one tool call that must not happen twice\n`,
);
for (const name of only) {
  const [many, one] = ['many', 'one'].map((each) => median(figures.get(`${name} ${each}`) ?? []));
  process.stdout.write(
    `  ${name.padEnd(10)} 200 sessions ${(many ?? 0).toFixed(0).padStart(6)} steps/s   one session ${(one ?? 0).toFixed(2).padStart(6)} ms/step\n`,
  );
}
await pool?.end();
await postgres?.dispose();
await restate?.dispose();
rmSync(folder, { recursive: true });
// Connections that the server keeps open must not keep the process alive.
process.exit(0);
