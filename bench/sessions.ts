// What it costs to keep sessions, with every commit on the disk. Absolute figures are medians of five, reported, and gate nothing.
//   npm run bench:sessions
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnSync } from 'node:child_process';
import { AgentState, createAgent, defineTool } from 'stepline';
import type { SessionStore } from 'stepline/sessions';
import { createSessionRuntime } from 'stepline/sessions';
import { sqliteStore } from 'stepline/sqlite';
import { benchLimits, benchModel } from './agent.bench.ts';
import type { RecordedWrites } from './bare-commits.ts';
import { recordWrites, replayWrites } from './bare-commits.ts';
import { compare, median } from './measure.ts';
import { parkedSessions } from './parked.ts';

const by = { id: 'bench', kind: 'service' };
const rounds = 5;

const look = defineTool({
  name: 'look',
  description: 'Looks something up.',
  input: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] } as const,
  // What must not happen twice is the dear kind: its intent is on the disk before it begins.
  effect: 'once',
  run: ({ id }) => ({ id, found: true }),
});

const print = (line = ''): void => {
  process.stdout.write(`${line}\n`);
};

const setUpAgent = (steps: number) => createAgent({ id: 'bench', model: benchModel(steps), tools: [look], limits: benchLimits });

async function inFolder<Value>(work: (path: string) => Promise<Value>): Promise<Value> {
  const folder = mkdtempSync(join(tmpdir(), 'stepline-bench-'));
  try {
    return await work(join(folder, 'sessions.db'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs sessions side by side; gives the seconds from the first send to the last end. */
async function secondsFor(
  sessions: number,
  steps: number,
  openStore: (path: string) => SessionStore = (path) => sqliteStore({ path }),
): Promise<number> {
  return inFolder(async (path) => {
    const store = openStore(path);
    const runtime = createSessionRuntime({ agents: [setUpAgent(steps)], store });
    const made = await Promise.all(Array.from({ length: sessions }, () => runtime.create({}, { by })));
    const began = performance.now();
    const turns = await Promise.all(made.map(({ id }) => runtime.send(id, 'Go.', { by })));
    const seconds = (performance.now() - began) / 1000;
    const wrong = turns.find(({ status }) => status !== 'completed');
    if (wrong !== undefined) throw new Error(`A session did not complete: ${wrong.explain()}`);
    await runtime.drain();
    await store.close();
    return seconds;
  });
}

async function measureMedian(work: () => Promise<number>): Promise<number> {
  // The first rounds are the compiler's.
  await work();
  await work();
  const figures: number[] = [];
  for (let round = 0; round < rounds; round += 1) figures.push(await work());
  return median(figures);
}

/** Records everything that sessions side by side write. */
async function recordSessions(sessions: number, steps: number): Promise<RecordedWrites> {
  let take: (() => RecordedWrites) | undefined;
  await secondsFor(sessions, steps, (path) => {
    const recorder = recordWrites(path);
    ({ take } = recorder);
    return sqliteStore({ database: recorder.database });
  });
  if (take === undefined) throw new Error('No store was opened.');
  return take();
}

/** Steps a second of sessions side by side, and of their writes alone; in turn, so that a slow moment of the machine hits both. */
async function compareWithBare(sessions: number, steps: number) {
  await secondsFor(sessions, steps);
  const recorded = await recordSessions(sessions, steps);
  const replay = (): Promise<number> => inFolder((path) => Promise.resolve(replayWrites(path, recorded)));
  await secondsFor(sessions, steps);
  await replay();
  const pairs: { readonly ours: number; readonly bare: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const ours = (sessions * steps) / (await secondsFor(sessions, steps));
    pairs.push({ ours, bare: (sessions * steps) / (await replay()) });
  }
  return {
    ours: median(pairs.map(({ ours }) => ours)),
    bare: median(pairs.map(({ bare }) => bare)),
    ratio: median(pairs.map(({ ours, bare }) => ours / bare)),
    commits: recorded.commits,
  };
}

/** Bytes handed to the store for each step of one session. */
async function bytesPerStep(steps: number): Promise<readonly number[]> {
  const bytes: number[] = [];
  let open = 0;
  await secondsFor(1, steps, (path) => {
    const store = sqliteStore({ path });
    return {
      ...store,
      log: {
        ...store.log,
        write: (write) => {
          open += Buffer.byteLength(JSON.stringify(write));
          if (write.clearsEffects === true) {
            bytes.push(open);
            open = 0;
          }
          return store.log.write(write);
        },
      },
    };
  });
  return bytes;
}

const around = (bytes: readonly number[], step: number): number => median(bytes.slice(step - 3, step + 2));

async function codecBytes(steps: number): Promise<number> {
  const end = await setUpAgent(steps).run(AgentState.empty().withUserMessage('Go.'));
  return Buffer.byteLength(AgentState.codec.stringify(end));
}

/** Milliseconds of CPU that it takes to write a conversation as JSON text, and to read it again. */
async function saveAndRestore(steps: number) {
  const end = await setUpAgent(steps).run(AgentState.empty().withUserMessage('Go.'));
  const text = AgentState.codec.stringify(end);
  const samples = await compare(
    [
      { name: 'save', units: 1, work: () => Promise.resolve(void AgentState.codec.stringify(end)) },
      { name: 'restore', units: 1, work: () => Promise.resolve(void AgentState.codec.parse(text)) },
    ],
    { rounds, unitsPerRound: 200, warmUpPasses: 300 },
  );
  const [save = 0, restore = 0] = samples.map(({ microsPerUnit }) => microsPerUnit / 1000);
  return { save, restore };
}

/** Kilobytes that one finished conversation takes while somebody keeps it. */
function measureKept(kind: string): number {
  const script = fileURLToPath(new URL('kept-memory.ts', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--expose-gc', script, kind], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return Number(stdout) / 1000;
}

print(`Node ${process.version}, SQLite with synchronous=FULL in ${tmpdir()}, medians of ${String(rounds)}`);
print('A step: one model call and one tool call that must not happen twice.');
const { ours, bare, ratio, commits } = await compareWithBare(200, 50);
print(`  200 sessions at once          ${ours.toFixed(0).padStart(8)} steps/s  (wanted: 8,000 or more on an idle machine)`);
print(`  their ${String(commits)} commits alone       ${bare.toFixed(0).padStart(8)} steps/s  ${ratio.toFixed(2)} × (wanted: 0.6 or more)`);
const one = await measureMedian(async () => (1000 * (await secondsFor(1, 300))) / 300);
print(`  one session                   ${one.toFixed(2).padStart(8)} ms/step  (wanted: 2 or less)`);
const saved = await saveAndRestore(100);
print(`  100 steps, saved              ${saved.save.toFixed(2).padStart(8)} ms CPU   (wanted: 0.4 or less)`);
print(`  100 steps, restored           ${saved.restore.toFixed(2).padStart(8)} ms CPU   (wanted: 0.8 or less)`);
const [keptByUs, keptByAi] = [measureKept('stepline'), measureKept('ai')];
print(
  `  kept by a finished one        ${keptByUs.toFixed(1).padStart(8)} kB       (11 steps, through the AI SDK; \`ai\` keeps ${keptByAi.toFixed(1)})`,
);
const bytes = await bytesPerStep(5005);
const [early, late] = [around(bytes, 10), around(bytes, 5000)];
print(`  written at step 10            ${early.toFixed(0).padStart(8)} bytes`);
print(`  written at step 5,000         ${late.toFixed(0).padStart(8)} bytes    ${(late / early).toFixed(3)} × (wanted: 1.05 or less)`);
print(`  100 steps in the full codec   ${((await codecBytes(100)) / 1000).toFixed(1).padStart(8)} kB       (wanted: 90 or less)`);

await inFolder(async (path) => {
  const count = 10_000;
  await parkedSessions(path, count);
  const megabytes = statSync(path).size / 1e6;
  print(
    `  ${count.toLocaleString('en')} parked sessions        ${megabytes.toFixed(1).padStart(8)} MB       (on the disk; wanted: 100 or less)`,
  );
  const found = spawnSync(process.execPath, [fileURLToPath(new URL('parked.ts', import.meta.url)), path], { encoding: 'utf8' });
  print(found.status === 0 ? found.stdout.trimEnd() : found.stderr);
});
