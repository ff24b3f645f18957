// Sessions on SQLite and Postgres, and workflows on DBOS, in one run, with every commit on disk. A report only: it never fails a check.
//   npm run bench:engines
//   npm run bench:engines -- --only SQLite,Postgres --rounds 5 --warm-up 3
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { dbosEngine } from 'stepline/dbos';
import { runDurably } from 'stepline/journal';
import { postgresStore } from 'stepline/postgres';
import type { EmbeddedRuntime } from 'stepline/sessions';
import { createSessionRuntime } from 'stepline/sessions';
import { sqliteStore } from 'stepline/sqlite';
import { startWorkflows } from '../tests/engines/dbos/start-workflows.ts';
import { openPool, startServer } from '../tests/postgres/server.ts';
import { createBenchAgent } from './engines-agent.ts';
import { median } from './measure.ts';

const by = { id: 'bench', kind: 'service' };

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    'warm-up': { type: 'string', default: '3' },
    only: { type: 'string', default: 'SQLite,Postgres,DBOS' },
  },
});
const [rounds, warmUp] = [Number(values.rounds), Number(values['warm-up'])];
const only = values.only.split(',');

/** A place to run sessions, used for one figure. */
interface Place {
  /** Runs this many sessions side by side; returns the seconds from the first message to the last end. */
  readonly measure: (sessions: number) => Promise<number>;
  readonly dispose: () => Promise<void>;
}

async function measureSeconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

async function measureSessions(runtime: EmbeddedRuntime, sessions: number): Promise<number> {
  const made = await Promise.all(Array.from({ length: sessions }, () => runtime.create({}, { by })));
  return measureSeconds(async () => {
    const results = await Promise.all(made.map(({ id }) => runtime.send(id, 'Go.', { by })));
    const wrong = results.find(({ status }) => status !== 'completed');
    if (wrong !== undefined) throw new Error(`A session did not complete: ${wrong.explain()}`);
  });
}

const folder = mkdtempSync(join(tmpdir(), 'stepline-bench-'));
const postgres = ['Postgres', 'DBOS'].some((name) => only.includes(name)) ? await startServer() : undefined;
const pool = postgres && (await openPool(postgres.url));
let places = 0;
const nextPlace = (): string => String((places += 1));

function openEmbedded(store: ReturnType<typeof sqliteStore>, steps: number): Place {
  const runtime = createSessionRuntime({ agents: [createBenchAgent(steps)], store });
  return {
    measure: (sessions) => measureSessions(runtime, sessions),
    dispose: async () => {
      await runtime.drain();
      await store.close();
    },
  };
}

/** Workflows are not sessions: nobody can read or send anything while they run. */
const workflows =
  postgres && only.includes('DBOS')
    ? await startWorkflows(postgres.url, async (dbos, { id, steps }) => {
        const result = await runDurably(createBenchAgent(steps), 'Go.', { engine: dbosEngine(dbos), executionId: id });
        if (result.status !== 'completed') throw new Error(`A workflow did not complete: ${result.explain()}`);
      })
    : undefined;

const openDbos = (steps: number): Place => ({
  measure: (sessions) =>
    measureSeconds(async () =>
      workflows?.run(
        Array.from({ length: sessions }, () => `bench-${nextPlace()}`),
        steps,
      ),
    ),
  dispose: async () => undefined,
});

const kinds: Readonly<Record<string, (steps: number) => Place>> = {
  SQLite: (steps) => openEmbedded(sqliteStore({ path: join(folder, `${nextPlace()}.db`) }), steps),
  ...(pool && { Postgres: (steps: number) => openEmbedded(postgresStore({ pool, schema: `bench_${nextPlace()}` }), steps) }),
  DBOS: openDbos,
};

const figures = new Map<string, number[]>();
const add = (name: string, figure: number): void => void figures.set(name, [...(figures.get(name) ?? []), figure]);

async function measureOnce(open: (steps: number) => Place, steps: number, sessions: number): Promise<number> {
  const { measure, dispose } = open(steps);
  const seconds = await measure(sessions);
  await dispose();
  return seconds;
}

// The first rounds warm up the compiler. All engines take turns, so that a slow moment of the machine affects all of them.
for (let round = 1; round <= warmUp + rounds; round += 1) {
  for (const name of only) {
    const open = kinds[name];
    if (open === undefined) throw new Error(`There is no engine "${name}". Use ${Object.keys(kinds).join(', ')}.`);
    const many = (200 * 20) / (await measureOnce(open, 20, 200));
    const one = (1000 * (await measureOnce(open, 100, 1))) / 100;
    if (round <= warmUp) continue;
    add(`${name} many`, many);
    add(`${name} one`, one);
  }
}

process.stdout.write(
  `Node ${process.version}, medians of ${String(rounds)} after ${String(warmUp)}; a step: one model call and one tool call that must not happen twice\n`,
);
const readMedian = (name: string, each: string): number => median(figures.get(`${name} ${each}`) ?? []);
const base = only[0] ?? '';
for (const name of only) {
  const [many, one] = [readMedian(name, 'many'), readMedian(name, 'one')];
  const ratio = (many / readMedian(base, 'many')).toFixed(2);
  process.stdout.write(
    `  ${name.padEnd(10)} 200 sessions ${many.toFixed(0).padStart(6)} steps/s (${ratio} of ${base})   one session ${one.toFixed(2).padStart(6)} ms/step\n`,
  );
}
await workflows?.dispose();
await pool?.end();
await postgres?.dispose();
rmSync(folder, { recursive: true });
// Connections that the server keeps open must not keep the process alive.
process.exit(0);
