// The command line of a run on several stores.
import { parseArgs } from 'node:util';
import type { Figure } from '../figures.ts';
import { toTable, wrongOnes } from '../figures.ts';
import type { Database } from './orders.ts';

type Store = Database['type'];

interface Amounts {
  readonly sessions: number;
  readonly steps: number;
  readonly kills: number;
}

export interface RunArguments extends Amounts {
  readonly seed: number;
  readonly stores: readonly Store[];
}

function readNumber(name: string, value: string): number {
  const number = Number(value);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`--${name} must be a whole number above 0, not "${value}".`);
}

function readStores(store: string | undefined): readonly Store[] {
  if (store === undefined) return ['sqlite', 'postgres'];
  if (store === 'sqlite' || store === 'postgres') return [store];
  throw new Error(`--store must be sqlite or postgres, not "${store}".`);
}

/** Reads the command line; what is not given is as here. */
export function readArguments({ sessions, steps, kills }: Amounts): RunArguments {
  const { values } = parseArgs({
    options: {
      store: { type: 'string' },
      sessions: { type: 'string', default: String(sessions) },
      steps: { type: 'string', default: String(steps) },
      kills: { type: 'string', default: String(kills) },
      seed: { type: 'string', default: '1' },
    },
  });
  return {
    sessions: readNumber('sessions', values.sessions),
    steps: readNumber('steps', values.steps),
    kills: readNumber('kills', values.kills),
    seed: readNumber('seed', values.seed),
    stores: readStores(values.store),
  };
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

export interface StoreRun {
  readonly title: string;
  readonly run: (
    options: Amounts & { readonly seed: number; readonly store: Store; readonly onProgress: (line: string) => void },
  ) => Promise<readonly Figure[]>;
}

/** Runs on each store, prints the figures, and sets the exit code. */
export async function runOnStores({ stores, ...amounts }: RunArguments, { title, run }: StoreRun): Promise<void> {
  const { sessions, steps, kills, seed } = amounts;
  const all: Figure[] = [];
  for (const store of stores) {
    const figures = await run({ ...amounts, store, onProgress: print });
    all.push(...figures);
    print(`\n${toTable(`${store}, ${title}: ${sessions} sessions × ${steps} steps, ${kills} kills, seed ${seed}`, figures)}\n`);
  }
  const wrong = wrongOnes(all);
  print(wrong.length === 0 ? 'All figures are right.' : `${wrong.length} figures are wrong.`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}
