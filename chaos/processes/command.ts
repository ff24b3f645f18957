// The command line of a run on several stores.
import { parseArgs } from 'node:util';
import type { Figure } from '../figures.ts';
import { toTable, wrongOnes } from '../figures.ts';
import type { BlowCounts } from './disturb.ts';
import type { Database } from './orders.ts';

type Store = Database['type'];

/** Numbers that can be given. */
export interface Amounts extends BlowCounts {
  readonly workers: number;
  readonly clients: number;
  readonly sessions: number;
  readonly steps: number;
  readonly seed: number;
}

export interface RunArguments {
  readonly stores: readonly (Amounts & { readonly store: Store })[];
  readonly isUnfenced: boolean;
}

const toFlag = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function readNumber(name: string, value: string): number {
  const number = Number(value);
  if (Number.isInteger(number) && number >= 0) return number;
  throw new Error(`--${toFlag(name)} must be a whole number, not "${value}".`);
}

function readStores(store: string | undefined): readonly Store[] {
  if (store === undefined) return ['sqlite', 'postgres'];
  if (store === 'sqlite' || store === 'postgres') return [store];
  throw new Error(`--store must be sqlite or postgres, not "${store}".`);
}

/** Reads the command line; what is not given is as here. */
export function readArguments(given: Readonly<Record<Store, Amounts>>): RunArguments {
  // Holds: both have the same names.
  const names = Object.keys(given.sqlite) as (keyof Amounts)[];
  const text = { type: 'string' } as const;
  const numbers: Readonly<Record<string, typeof text>> = Object.fromEntries(names.map((name) => [toFlag(name), text]));
  const { values } = parseArgs({ options: { store: text, 'without-fence': { type: 'boolean', default: false }, ...numbers } });
  const texts: Readonly<Record<string, string | boolean | undefined>> = values;
  const asked = names.flatMap((name) => {
    const value = texts[toFlag(name)];
    return typeof value === 'string' ? [[name, readNumber(name, value)] as const] : [];
  });
  return {
    stores: readStores(values.store).map((store) => ({ ...given[store], ...Object.fromEntries(asked), store })),
    isUnfenced: values['without-fence'],
  };
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

type RunOptions = Amounts & { readonly store: Store; readonly isUnfenced: boolean; readonly onProgress: (line: string) => void };

/** Runs on each store, prints the figures, and sets the exit code. */
export async function runOnStores(
  { stores, isUnfenced }: RunArguments,
  run: (options: RunOptions) => Promise<readonly Figure[]>,
): Promise<void> {
  const all: Figure[] = [];
  for (const amounts of stores) {
    const { store, workers, clients, sessions, steps, seed } = amounts;
    const figures = await run({ ...amounts, isUnfenced, onProgress: print });
    all.push(...figures);
    const title = `${store}, ${workers} workers and ${clients} clients: ${sessions} sessions × ${steps} steps, seed ${seed}`;
    print(`\n${toTable(isUnfenced ? `${title}, without the fence` : title, figures)}\n`);
  }
  const wrong = wrongOnes(all);
  print(wrong.length === 0 ? 'All figures are right.' : `${wrong.length} figures are wrong.`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}
