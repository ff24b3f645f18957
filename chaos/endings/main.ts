// Shows that the executable names the right rule, numbers and step for every session of a store, while its worker goes on.
// Exits with 1 if one answer is wrong.
//   npm run endings                                  1,000 sessions, 60 of them asked about in a process each
//   npm run endings -- --sessions 240 --alone 12 --seconds 3
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { askAboutAll, askAboutOne, findMissing, findMistakes } from './ask.ts';
import type { PlannedSession } from './plan.ts';
import { endings, expectAnswer, planSessions } from './plan.ts';

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '1000' },
    alone: { type: 'string', default: '60' },
    seconds: { type: 'string', default: '12' },
  },
});
const [count, alone, seconds] = [Number(values.sessions), Number(values.alone), Number(values.seconds)];
const rounds = 4;
const print = (line = ''): void => void process.stdout.write(`${line}\n`);

const folder = mkdtempSync(join(tmpdir(), 'stepline-endings-'));
const path = join(folder, 'sessions.db');
const workerFile = fileURLToPath(new URL('worker.ts', import.meta.url));
const worker = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', workerFile, path, String(count)], {
  stdio: ['ignore', 'pipe', 'inherit'],
});

let steps = 0;
const ended = new Promise<void>((resolve, reject) => {
  worker.on('exit', (code) => reject(new Error(`The worker ended with ${String(code)}.`)));
  createInterface({ input: worker.stdout }).on('line', (line) => {
    // Holds: the worker writes these lines.
    const said = JSON.parse(line) as { readonly type: string; readonly steps?: number };
    if (said.type === 'ended') resolve();
    steps = said.steps ?? steps;
  });
});

/** Steps that were recorded, and the time that it took. */
interface Pace {
  steps: number;
  ms: number;
}

/** Adds the steps that the worker records while something else is done. */
async function measure(pace: Pace, work: () => Promise<unknown>): Promise<void> {
  const [stepsBefore, began] = [steps, performance.now()];
  await work();
  pace.steps += steps - stepsBefore;
  pace.ms += performance.now() - began;
}

const toRate = (pace: Pace): number => (pace.steps * 1000) / pace.ms;

const mistakes: { readonly id: string; readonly ending: string; readonly what: string }[] = [];
const rows = new Map(endings.map((ending) => [ending, { sessions: 0, alone: 0, example: '' }]));

const plan = planSessions(count);

async function askTogether(sessions: readonly PlannedSession[]): Promise<void> {
  const asked = await askAboutAll(
    path,
    sessions.map(({ id }) => id),
  );
  const answers = new Map(asked.map((answer) => [answer.sessionId, answer]));
  for (const session of sessions) {
    const answer = answers.get(session.id);
    const row = rows.get(session.ending);
    if (row !== undefined) {
      row.sessions += 1;
      row.example ||= (answer?.explanation ?? '').split('\n').slice(0, 2).join(' ');
    }
    for (const what of findMistakes(answer, expectAnswer(session))) mistakes.push({ id: session.id, ending: session.ending, what });
  }
}

async function askAlone(sessions: readonly PlannedSession[]): Promise<void> {
  for (const session of sessions) {
    const text = await askAboutOne(path, session.id);
    const row = rows.get(session.ending);
    if (row !== undefined) row.alone += 1;
    for (const what of findMissing(text, expectAnswer(session))) mistakes.push({ id: session.id, ending: session.ending, what });
  }
}

/** Deals sessions out to the rounds. */
const deal = (sessions: readonly PlannedSession[], round: number): readonly PlannedSession[] =>
  sessions.filter((_, index) => index % rounds === round);

const round = (value: number): string => Math.round(value).toLocaleString('en');

print(`Taking ${count} sessions to ${endings.length} different endings …`);
await ended;
print('The worker goes on with other sessions. Its steps per second:');
await pause(2000);
// The same readers on a copy take the same processor time, and cannot disturb the worker in any other way.
const copy = join(folder, 'copy.db');
const database = new DatabaseSync(path, { readOnly: true });
database.prepare('VACUUM INTO ?').run(copy);
database.close();

const [quiet, busy, control]: readonly Pace[] = Array.from({ length: 3 }, () => ({ steps: 0, ms: 0 }));
if (quiet === undefined || busy === undefined || control === undefined) throw new Error('There are three of them.');
const took = { together: 0, alone: 0 };
// In turns: a machine that has other things to do too has them in all three.
for (let round = 0; round < rounds; round += 1) {
  const [together, apart] = [deal(plan, round), deal(plan.slice(0, alone), round)];
  await measure(quiet, () => pause((seconds * 1000) / rounds));
  await measure(busy, async () => {
    const began = performance.now();
    await askTogether(together);
    const between = performance.now();
    await askAlone(apart);
    took.together += (between - began) / 1000;
    took.alone += (performance.now() - between) / 1000;
  });
  await measure(control, async () => {
    await askAboutAll(
      copy,
      together.map(({ id }) => id),
    );
    for (const { id } of apart) await askAboutOne(copy, id);
  });
}
worker.removeAllListeners('exit');
worker.kill('SIGTERM');

const showRate = (what: string, pace: Pace): void =>
  print(`  ${what.padEnd(32)} ${round(toRate(pace)).padStart(8)}   ${round((toRate(pace) / toRate(quiet)) * 100).padStart(3)} %`);
showRate('without readers', quiet);
showRate('with readers of this store', busy);
showRate('with the same readers of a copy', control);
print(`  ${rounds} processes asked about ${count} sessions in ${took.together.toFixed(1)} s`);
print(`  ${alone} processes asked about one session each in ${took.alone.toFixed(1)} s`);
print(
  `  load of the machine: ${loadavg()
    .map((load) => load.toFixed(1))
    .join(', ')} on ${availableParallelism()} processors`,
);
print();
print(`${'ENDING'.padEnd(16)}  SESSIONS  ALONE  WRONG  EXAMPLE`);
for (const [ending, { sessions, alone: asked, example }] of rows) {
  const wrong = new Set(mistakes.filter((mistake) => mistake.ending === ending).map(({ id }) => id)).size;
  print(
    `${ending.padEnd(16)}  ${String(sessions).padStart(8)}  ${String(asked).padStart(5)}  ${String(wrong).padStart(5)}  ${example.slice(0, 110)}`,
  );
}
for (const { id, what } of mistakes.slice(0, 20)) print(`WRONG ${id}: ${what}`);
print(
  mistakes.length === 0 ? '\nEvery answer names the right rule, numbers and step.' : `\n${mistakes.length} mistakes. The store is ${path}.`,
);
if (mistakes.length === 0) rmSync(folder, { recursive: true, force: true });
process.exitCode = mistakes.length === 0 ? 0 : 1;
