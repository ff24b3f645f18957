// Benchmarks. Ratios compare within one run; absolute figures are medians, reported, and gate nothing.
//   npm run bench            nine rounds
//   npm run bench -- --quick five rounds
//   npm run bench -- --store writes the ratios to the loop by hand to bench/ratios.json
//   npm run bench -- --check fails if a ratio exceeds 1.5 times the stored one
import { readFileSync, writeFileSync } from 'node:fs';
import { coldImport } from './cold-import.bench.ts';
import type { Ratios } from './compare-ratios.ts';
import { compareRatios } from './compare-ratios.ts';
import { measureEnvelopes } from './envelopes.bench.ts';
import { compare } from './measure.ts';
import type { Row } from './rows.ts';
import { growths, rows } from './rows.ts';

const [quick, checks, stores] = ['--quick', '--check', '--store'].map((option) => process.argv.includes(option));
const effort = quick === true ? { rounds: 5, unitsPerRound: 20_000 } : { rounds: 9, unitsPerRound: 40_000 };
const ratiosFile = new URL('ratios.json', import.meta.url);

/** Costs of a row in microseconds for one unit. */
interface Costs {
  readonly ours: number;
  readonly hand: number;
  /** Ratio of the fastest rounds: a busy machine slows the two sides down unequally. */
  readonly ratio: number;
}

function print(name: string, cells: readonly string[] = [], note = ''): void {
  process.stdout.write(`  ${name.padEnd(48)}${cells.map((cell) => cell.padStart(12)).join('')}   ${note}`.trimEnd() + '\n');
}
const micros = (value: number): string => `${value.toFixed(2)} µs`;
const writeRatio = (value: number): string => `${value.toFixed(2)} ×`;

async function measureRow({ ours, hand }: Row): Promise<Costs> {
  const [own, byHand] = await compare([ours, hand], effort);
  if (own === undefined || byHand === undefined) throw new Error('A contender was not measured.');
  return { ours: own.microsPerUnit, hand: byHand.microsPerUnit, ratio: own.lowestMicros / byHand.lowestMicros };
}

async function measureRows(): Promise<ReadonlyMap<string, Costs>> {
  const costs = new Map<string, Costs>();
  print('', ['Stepline', 'by hand', 'added', 'ratio']);
  for (const row of rows) {
    const { ours, hand, ratio } = await measureRow(row);
    costs.set(row.name, { ours, hand, ratio });
    print(row.name, [micros(ours), micros(hand), micros(ours - hand), writeRatio(ratio)], row.wanted);
  }
  return costs;
}

const toRatios = (costs: ReadonlyMap<string, Costs>): Ratios =>
  Object.fromEntries([...costs].map(([name, { ratio }]) => [name, Number(ratio.toFixed(2))]));

function printGrowth(costs: ReadonlyMap<string, Costs>): void {
  print('');
  for (const [long, short] of growths) {
    const ratio = (costs.get(long)?.ours ?? 0) / (costs.get(short)?.ours ?? 0);
    print(`${long} : 100 steps`, [writeRatio(ratio)], 'wanted: 1.3 or less');
  }
}

/** Prints what has no counterpart by hand. */
async function printOthers(): Promise<void> {
  print('');
  const { medianMicros, meanMicros } = await measureEnvelopes(effort.rounds);
  print('an event as envelopes: median, mean', [micros(medianMicros), micros(meanMicros)], 'wanted: a median of 3 µs or less');
  const { emptyMs, importMs } = coldImport();
  print('a cold import, wall time', [`${(importMs - emptyMs).toFixed(2)} ms`], 'wanted: 25 ms or less');
}

process.stdout.write(`Node ${process.version}, medians of ${effort.rounds} rounds, CPU time of all threads\n`);
const costs = await measureRows();
printGrowth(costs);
if (stores === true) writeFileSync(ratiosFile, `${JSON.stringify(toRatios(costs), undefined, 2)}\n`);
if (checks === true) {
  // Holds: --store wrote it.
  const problems = compareRatios(JSON.parse(readFileSync(ratiosFile, 'utf8')) as Ratios, toRatios(costs));
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
}
if (checks !== true && stores !== true) await printOthers();
