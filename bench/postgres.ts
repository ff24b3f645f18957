// Sessions in Postgres beside sessions in SQLite, in one run, both with every commit on the disk. Reported, and gates nothing.
//   npm run bench:postgres
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAgent, defineTool } from 'stepline';
import { postgresStore } from 'stepline/postgres';
import type { SessionStore } from 'stepline/sessions';
import { createSessionRuntime } from 'stepline/sessions';
import { sqliteStore } from 'stepline/sqlite';
import { openPool, startServer } from '../tests/postgres/server.ts';
import { benchLimits, benchModel } from './agent.bench.ts';
import { median } from './measure.ts';

const by = { id: 'bench', kind: 'service' };
const rounds = 5;

const look = defineTool({
  name: 'look',
  description: 'Looks something up.',
  input: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] } as const,
  effect: 'once',
  run: ({ id }) => ({ id, found: true }),
});

/** Runs sessions side by side; returns the seconds from the first send to the last end. */
async function measureSeconds(store: SessionStore, sessions: number, steps: number): Promise<number> {
  const agent = createAgent({ id: 'bench', model: benchModel(steps), tools: [look], limits: benchLimits });
  const runtime = createSessionRuntime({ agents: [agent], store });
  const made = await Promise.all(Array.from({ length: sessions }, () => runtime.create({}, { by })));
  const began = performance.now();
  const results = await Promise.all(made.map(({ id }) => runtime.send(id, 'Go.', { by })));
  const seconds = (performance.now() - began) / 1000;
  const wrong = results.find(({ status }) => status !== 'completed');
  if (wrong !== undefined) throw new Error(`A session did not complete: ${wrong.explain()}`);
  await runtime.drain();
  await store.close();
  return seconds;
}

const folder = mkdtempSync(join(tmpdir(), 'stepline-bench-'));
const server = await startServer();
const pool = await openPool(server.url);
let places = 0;
const stores: Readonly<Record<string, () => SessionStore>> = {
  SQLite: () => sqliteStore({ path: join(folder, `${String((places += 1))}.db`) }),
  Postgres: () => postgresStore({ pool, schema: `bench_${String((places += 1))}` }),
};

const figures = new Map<string, number[]>();
const add = (name: string, figure: number): void => void figures.set(name, [...(figures.get(name) ?? []), figure]);

// The first round is the compiler's. Both stores take turns, so that a slow moment of the machine hits both.
for (let round = 0; round <= rounds; round += 1) {
  for (const [name, open] of Object.entries(stores)) {
    const many = (200 * 20) / (await measureSeconds(open(), 200, 20));
    const one = (1000 * (await measureSeconds(open(), 1, 100))) / 100;
    if (round === 0) continue;
    add(`${name} many`, many);
    add(`${name} one`, one);
  }
}

process.stdout.write(
  `Node ${process.version}, medians of ${String(rounds)}; a step: one model call and one tool call that must not happen twice\n`,
);
for (const name of Object.keys(stores)) {
  const [many, one] = ['many', 'one'].map((each) => median(figures.get(`${name} ${each}`) ?? []));
  process.stdout.write(
    `  ${name.padEnd(10)} 200 sessions ${(many ?? 0).toFixed(0).padStart(6)} steps/s   one session ${(one ?? 0).toFixed(2).padStart(6)} ms/step\n`,
  );
}
await pool.end();
await server.dispose();
rmSync(folder, { recursive: true });
