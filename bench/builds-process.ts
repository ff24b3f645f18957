// Runs sessions with one build of the package, and prints the steps per second, and the microseconds of CPU per step. Started by builds.ts.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as core from 'stepline';
import type * as postgres from 'stepline/postgres';
import type * as sessionsEntry from 'stepline/sessions';
import type * as sqlite from 'stepline/sqlite';
import type * as testing from 'stepline/testing';
import { openPool } from '../tests/postgres/server.ts';

const [folder = '', store = 'sqlite', place = '', sessions = '200', steps = '10', cpuMs = '0'] = process.argv.slice(2);

// Holds: both builds export what this one does.
const load = async <Module>(entry: string): Promise<Module> =>
  (await import(pathToFileURL(join(folder, 'dist/entry', `${entry}.js`)).href)) as Module;
const { createAgent, defineTool } = await load<typeof core>('index');
const { createSessionRuntime } = await load<typeof sessionsEntry>('sessions');
const { sqliteStore } = await load<typeof sqlite>('sqlite');
const { postgresStore } = await load<typeof postgres>('postgres');

const by = { id: 'bench', kind: 'service' };
const last = Number(steps);
const usage = { input: 100, output: 20 };

function burn(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

const { scriptedModel } = await load<typeof testing>('testing');
const model = scriptedModel(
  [
    ({ messages }) => {
      burn(Number(cpuMs));
      const step = (messages.length + 1) / 2;
      return step < last ? { toolCalls: [{ name: 'look', id: `call-${step}`, args: { id: step } }], usage } : { text: 'Done.', usage };
    },
  ],
  { repeatLast: true },
);
const look = defineTool({
  name: 'look',
  description: 'Looks something up.',
  input: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] } as const,
  effect: 'once',
  run: ({ id }) => ({ id, found: true }),
});

/** Runs sessions side by side; returns the steps per second from the first message to the last end, and the microseconds of CPU per step. */
async function measure(openStore: () => ReturnType<typeof sqliteStore>, count: number): Promise<readonly [rate: number, micros: number]> {
  const opened = openStore();
  const agent = createAgent({ id: 'bench', model, tools: [look], limits: { steps: 1_000_000, tokens: 1_000_000_000 } });
  const runtime = createSessionRuntime({ agents: [agent], store: opened });
  const made = await Promise.all(Array.from({ length: count }, () => runtime.create({}, { by })));
  const [began, before] = [performance.now(), process.cpuUsage()];
  const results = await Promise.all(made.map(({ id }) => runtime.send(id, 'Go.', { by })));
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(before);
  const wrong = results.find(({ status }) => status !== 'completed');
  if (wrong !== undefined) throw new Error(`A session did not complete: ${wrong.explain()}`);
  await runtime.drain();
  await opened.close();
  return [(count * last) / seconds, (user + system) / (count * last)];
}

const pool = store === 'sqlite' ? undefined : await openPool(place);
const open = (suffix: string) => () =>
  pool === undefined ? sqliteStore({ path: `${place}-${suffix}.db` }) : postgresStore({ pool, schema: `bench_${suffix}` });
const round = `r${process.pid}`;
await measure(open(`${round}_warm`), Math.ceil(Number(sessions) / 2));
process.stdout.write((await measure(open(round), Number(sessions))).join(' '));
await pool?.end();
