// Readers: the real executable, in processes of their own.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../scripts/run.mjs';
import type { ExpectedAnswer } from './plan.ts';

const run = promisify(execFile);
const executable = join(root, 'dist/cli/stepline.js');

async function ask(path: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [executable, ...args, '--db', path], { maxBuffer: 64_000_000 });
  return stdout;
}

/** The answer of `why --json` for one session. */
export interface WhyAnswer {
  readonly sessionId: string;
  readonly status?: string;
  readonly stopReason?: string;
  readonly resolvedBy?: string;
  readonly step?: number;
  readonly explanation?: string;
}

/** Asks one process about several sessions. */
export async function askAboutAll(path: string, ids: readonly string[]): Promise<readonly WhyAnswer[]> {
  const text = await ask(path, 'why', '--json', ...ids);
  // Holds: that is what the executable writes with --json.
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as WhyAnswer);
}

/** Asks a process of its own about one session, for people. */
export const askAboutOne = (path: string, id: string): Promise<string> => ask(path, 'why', id);

/** Lists what is wrong with an answer. */
export function findMistakes(answer: WhyAnswer | undefined, expected: ExpectedAnswer): readonly string[] {
  if (answer === undefined) return ['no answer'];
  const fields = (['status', 'stopReason', 'resolvedBy', 'step'] as const).filter((field) => answer[field] !== expected[field]);
  return [
    ...fields.map((field) => `${field} is ${String(answer[field])}, not ${String(expected[field])}`),
    ...findMissing(answer.explanation ?? '', expected),
  ];
}

/** Lists what a text does not say. */
export const findMissing = (text: string, { says }: ExpectedAnswer): readonly string[] =>
  says.filter((pattern) => !pattern.test(text)).map((pattern) => `${String(pattern)} is not in: ${text.replaceAll('\n', ' | ')}`);
