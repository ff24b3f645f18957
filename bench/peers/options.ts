// Options of the command line.
import { parseArgs } from 'node:util';
import type { Effort } from './measure-cpu.ts';
import type { JobPlan } from './rows.ts';
import { plans } from './rows.ts';

export interface Options {
  readonly rounds: number;
  readonly isQuick: boolean;
  readonly effort: Effort;
  readonly plans: readonly JobPlan[];
  /** File that gets the report. */
  readonly json?: string;
  /** Report of an earlier run to print again. */
  readonly from?: string;
  readonly printsMarkdown: boolean;
  readonly writesDocs: boolean;
}

const usage = `npm run bench:peers -- [options]
  --rounds N      rounds of each cell, at least 3 (default 3)
  --quick         one round, less time for each cell, without the slowest cells
  --only ROW      only these rows; may be repeated
  --json FILE     writes all figures to a file
  --from FILE     measures nothing: prints the figures of such a file
  --markdown      prints the tables as the documentation holds them
  --write-docs    writes the tables into docs/performance.md and README.md`;

function findPlans(only: readonly string[]): readonly JobPlan[] {
  const found = plans.filter(({ id, rows }) => only.includes(id) || rows.some((row) => only.includes(row.id)));
  const known = plans.flatMap(({ id, rows }) => [id, ...rows.map((row) => row.id)]);
  const unknown = only.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`Unknown row "${unknown.join('", "')}". Rows: ${[...new Set(known)].join(', ')}.`);
  return only.length === 0 ? plans : found;
}

function parseRounds(text: string): number {
  const rounds = Number(text);
  if (!Number.isInteger(rounds) || rounds < 3) throw new Error(`--rounds must be a whole number of 3 or more, not ${text}.`);
  return rounds;
}

/** Reads the options. Returns the help text if it is asked for. */
export function parseOptions(args: readonly string[]): Options | string {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ quick: flag, markdown: flag, 'write-docs': flag, help: flag },
      ...{ rounds: { type: 'string', default: '3' }, json: { type: 'string' }, from: { type: 'string' } },
      only: { type: 'string', multiple: true, default: [] },
    },
  });
  if (values.help) return usage;
  const picked = findPlans(values.only);
  if (values['write-docs'] && (values.quick || values.only.length > 0))
    throw new Error('--write-docs needs all rows and all rounds. Leave --quick and --only out.');
  return {
    rounds: values.quick ? 1 : parseRounds(values.rounds),
    isQuick: values.quick,
    // Long enough that the code is compiled, as in a server that runs for days: after one second, most contenders still get faster.
    effort: values.quick ? { warmUpMs: 1000, measureMs: 200 } : { warmUpMs: 3000, measureMs: 500 },
    plans: picked,
    printsMarkdown: values.markdown,
    writesDocs: values['write-docs'],
    ...(values.json === undefined ? {} : { json: values.json }),
    ...(values.from === undefined ? {} : { from: values.from }),
  };
}
