// Time to open a stored session of 10,000 steps, each time in a new process: from the start of the program until the status, last text and
// last decision of the session that `runtime.get(id)` returns have been read.
//   npm run bench:open
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAgent, defineTool } from 'stepline';
import { createSessionRuntime } from 'stepline/sessions';
import { sqliteStore } from 'stepline/sqlite';
import { benchLimits, benchModel } from './agent.bench.ts';
import { median } from './measure.ts';

const by = { id: 'bench', kind: 'service' };
const steps = 10_000;
const opens = 7;
const self = fileURLToPath(import.meta.url);

/** The last step before the process dies. */
interface Filling {
  readonly path: string;
  readonly dies: boolean;
}

const setUpAgent = (last: number, dies = false) => {
  const look = defineTool({
    name: 'look',
    description: 'Looks something up.',
    input: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] } as const,
    effect: 'pure',
    run: ({ id }) => {
      if (dies && id === steps) process.exit(0);
      return { id, found: true };
    },
  });
  return createAgent({ id: 'bench', model: benchModel(last), tools: [look], limits: benchLimits });
};

/** Stores a session; if its process dies, without a snapshot at the end. */
async function fill({ path, dies }: Filling): Promise<void> {
  const store = sqliteStore({ path });
  const runtime = createSessionRuntime({ agents: [setUpAgent(dies ? steps + 1 : steps, dies)], store });
  await runtime.create({ id: 'long' }, { by });
  await runtime.send('long', 'Go.', { by });
  await runtime.drain();
  await store.close();
}

/** Opens the session and prints the milliseconds that it took. */
async function open(path: string, role: 'client' | 'worker'): Promise<void> {
  const began = performance.now();
  const store = sqliteStore({ path });
  const runtime = createSessionRuntime({ agents: [setUpAgent(steps)], store, role });
  const session = await runtime.get('long');
  const shown = [session.status, session.state.text, session.state.lastContinuationOutcome?.explain()];
  const opened = performance.now() - began;
  const counted = session.state.stepResults.reduce((sum, { step }) => sum + step.outputMessages.length, 0);
  const whole = performance.now() - began;
  process.stdout.write(JSON.stringify({ opened, whole, counted, status: shown[0] }));
  await runtime.drain();
  await store.close();
}

interface Opened {
  readonly opened: number;
  readonly whole: number;
  readonly counted: number;
}

function runSelf(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', self, ...args], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

const print = (line = ''): void => {
  process.stdout.write(`${line}\n`);
};

function measure(name: string, path: string, role: 'client' | 'worker'): void {
  const figures = Array.from({ length: opens }, () => JSON.parse(runSelf('open', path, role)) as Opened);
  const [first] = figures;
  if (figures.some(({ counted }) => counted !== first?.counted)) throw new Error('Two processes read different sessions.');
  const opened = median(figures.map((figure) => figure.opened));
  const whole = median(figures.map((figure) => figure.whole));
  print(`  ${name.padEnd(44)} ${opened.toFixed(0).padStart(6)} ms   every step read: ${whole.toFixed(0).padStart(6)} ms`);
}

function measureAll(): void {
  const folder = mkdtempSync(join(tmpdir(), 'stepline-bench-'));
  try {
    const [ended, killed] = [join(folder, 'ended.db'), join(folder, 'killed.db')];
    runSelf('fill', ended, '');
    runSelf('fill', killed, 'dies');
    const size = (statSync(ended).size / 1e6).toFixed(0);
    print(`Node ${process.version}, a session of ${steps.toLocaleString('en')} steps (${size} MB), median of ${String(opens)} processes`);
    measure('by the process that runs sessions', ended, 'worker');
    measure('by a client', ended, 'client');
    measure('by a client, after the process was killed', killed, 'client');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const [, , mode, path = '', how = ''] = process.argv;
if (mode === 'fill') await fill({ path, dies: how === 'dies' });
else if (mode === 'open') await open(path, how === 'client' ? 'client' : 'worker');
else measureAll();
