// Runs the cells one after the other: all contenders of a row in turn, and all rows in each round, so that a slow moment of the machine
// affects neighbouring cells alike.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Figures } from './jobs.ts';
import type { Options } from './options.ts';
import type { Cell } from './report.ts';
import type { ContenderId, JobPlan } from './rows.ts';
import { contenders, slowCells } from './rows.ts';

const program = fileURLToPath(new URL('cell.ts', import.meta.url));
const longestMs = 300_000;

type Outcome = { readonly figures: Figures } | { readonly failure: string };

function runCell(plan: JobPlan, contender: ContenderId, { effort }: Options): Outcome {
  const args = [plan.id, contender, String(effort.warmUpMs), String(effort.measureMs)];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--expose-gc', '--disable-warning=ExperimentalWarning', program, ...args],
    {
      encoding: 'utf8',
      timeout: longestMs,
    },
  );
  if (status === 0) return { figures: JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Figures };
  const message = stderr.split('\n').find((line) => /^\w*Error/.test(line));
  return { failure: message ?? (status === null ? `it took more than ${longestMs / 1000} s` : stderr.slice(-200).trim()) };
}

function findReason({ id, leftOut }: JobPlan, contender: ContenderId, isQuick: boolean): string | undefined {
  return leftOut[contender] ?? (isQuick && slowCells.includes(`${id}/${contender}`) ? 'left out by --quick' : undefined);
}

/** Outcomes of a job, by contender, in the order of the rounds. */
type Outcomes = ReadonlyMap<string, Outcome[]>;

const toKey = (plan: JobPlan, contender: ContenderId): string => `${plan.id}/${contender}`;

function toCells(plan: JobPlan, outcomes: Outcomes, isQuick: boolean): readonly Cell[] {
  return plan.rows.flatMap((row) =>
    contenders.map(({ id: contender }): Cell => {
      const head = { row: row.id, contender };
      const reason = findReason(plan, contender, isQuick);
      if (reason !== undefined) return { ...head, leftOut: reason };
      const seen = outcomes.get(toKey(plan, contender)) ?? [];
      const failed = seen.find((outcome) => 'failure' in outcome);
      if (failed !== undefined) return { ...head, failure: failed.failure };
      return { ...head, values: seen.flatMap((outcome) => ('figures' in outcome ? (outcome.figures[row.figure] ?? []) : [])) };
    }),
  );
}

function runPlan(plan: JobPlan, outcomes: Map<string, Outcome[]>, options: Options): void {
  const open = contenders.filter(({ id }) => findReason(plan, id, options.isQuick) === undefined);
  for (const { id } of open) {
    const key = toKey(plan, id);
    outcomes.set(key, [...(outcomes.get(key) ?? []), runCell(plan, id, options)]);
  }
}

/** Yields all cells after each round, with the values of the rounds so far. Prints its progress to stderr. */
export function* runRounds(options: Options): Generator<readonly Cell[]> {
  const outcomes = new Map<string, Outcome[]>();
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const plan of options.plans.filter(({ isExact = false }) => !isExact || round === 1)) {
      process.stderr.write(`round ${round} of ${options.rounds}: ${plan.id}\n`);
      runPlan(plan, outcomes, options);
    }
    yield options.plans.flatMap((plan) => toCells(plan, outcomes, options.isQuick));
  }
}
