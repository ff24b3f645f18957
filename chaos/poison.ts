// A session that kills its workers, among healthy ones.
// N1. It is resumed three times, by whichever worker claims it; then it waits for a person, and both workers live.
// N2. All others finish, also those whose step takes longer than a process lives.
// N3. Once it does no harm any more, `resume` lets it finish.
import { spawn } from 'node:child_process';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figures.ts';
import { exactly, none, info } from './figures.ts';
import { filesIn } from './orders.ts';
import { withFolder } from './with-folder.ts';

/** Lifetime of a process once the poisoned session runs. */
export const killAfterMs = 150;

/** Duration of one call of a slow healthy session. */
export const longMs = 400;

/** The sessions by id, each with the tool that it calls. */
export const poisonSessions: readonly (readonly [id: string, tool: 'look' | 'long' | 'poison'])[] = [
  ...Array.from({ length: 20 }, (_, index) => [`short-${String(index + 1)}`, 'look'] as const),
  ['poisoned', 'poison'],
  ...Array.from({ length: 4 }, (_, index) => [`long-${String(index + 1)}`, 'long'] as const),
];

/** A worker's report about the sessions before it ends. */
export type PoisonReport = readonly {
  readonly id: string;
  readonly status: string;
  readonly waitingFor: readonly string[];
  readonly explanation: string;
}[];

const workerFile = fileURLToPath(new URL('poison-worker.ts', import.meta.url));

/** Runs a worker to its end. Returns its report, or undefined if it was killed. */
async function runWorker(...args: readonly string[]): Promise<PoisonReport | undefined> {
  const worker = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', workerFile, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  worker.stdout.setEncoding('utf8').on('data', (more: string) => (text += more));
  const [code, signal] = await new Promise<readonly [number | null, string | null]>((resolve) => {
    worker.once('close', (...end) => resolve(end));
  });
  if (signal === 'SIGKILL') return undefined;
  if (code !== 0) throw new Error(`The worker ended with ${String(code ?? signal)}.`);
  // Holds: that is what a worker prints.
  return JSON.parse(text) as PoisonReport;
}

/** More starts than this are a crash loop without an end. */
const mostStarts = 20;

/** Reads how many workers were lost in the open step of the poisoned session. */
function readAttempts(folder: string): number {
  const database = new DatabaseSync(filesIn(folder).store, { readOnly: true });
  const row = database.prepare("SELECT attempts FROM heads JOIN sessions ON session = num WHERE id = 'poisoned'").get();
  database.close();
  return Number(row?.['attempts']);
}

export async function runPoison(): Promise<readonly Figure[]> {
  return withFolder(async (folder) => {
    let kills = 0;
    const runToEnd = async (): Promise<PoisonReport> => {
      for (;;) {
        const report = await runWorker(folder);
        if (report !== undefined || kills >= mostStarts) return report ?? [];
        kills += 1;
      }
    };
    const [sessions] = await Promise.all([runToEnd(), runToEnd()]);
    const attempts = readAttempts(folder);
    const poisoned = sessions.filter(({ id }) => id === 'poisoned');
    const others = sessions.filter(({ id }) => id !== 'poisoned');
    const cured = (await runWorker(folder, 'cured')) ?? [];
    return [
      exactly('workers that the poisoned session killed', kills, 4),
      exactly('workers that the store counts against it', attempts, 4),
      none(
        'poisoned sessions that do not wait after 3 attempts',
        poisoned.filter(({ waitingFor }) => waitingFor.join() !== 'crash-loop after 3 attempts').map(({ explanation }) => explanation),
      ),
      exactly('healthy sessions', others.length, poisonSessions.length - 1),
      none(
        'healthy sessions that did not finish',
        others.filter(({ status }) => status !== 'completed').map(({ id, explanation }) => `${id}: ${explanation}`),
      ),
      none(
        'sessions that did not finish after resume',
        cured.filter(({ status }) => status !== 'completed').map(({ id, explanation }) => `${id}: ${explanation}`),
      ),
      info('  sessions after resume', cured.length),
    ];
  });
}
