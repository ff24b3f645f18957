// What the samples of a run say: whether memory stops growing, and whether every conversation ended.
import type { Figure } from '../figures.ts';
import { atMost, exactly, info, none } from '../figures.ts';
import type { Sample, SoakResult } from './run-soak.ts';

/** Growth that counts as none, in percent: the collector's own size varies by as much. */
const mostGrowth = 5;

function getMedian(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

const toMb = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);

/** Compares the third quarter of the run with the last one: before that, the process takes what it needs. */
function judgeGrowth(samples: readonly Sample[], what: string, read: (sample: Sample) => number): readonly Figure[] {
  const quarter = Math.floor(samples.length / 4);
  const [third, last] = [samples.slice(-2 * quarter, -quarter), samples.slice(-quarter)].map((part) => getMedian(part.map(read)));
  const [from = Number.NaN, to = Number.NaN] = [third, last];
  return [
    info(`${what}, third quarter → last`, `${toMb(from)} → ${toMb(to)} MB`),
    atMost(`${what}, growth in percent`, Number((((to - from) / from) * 100).toFixed(1)), mostGrowth),
  ];
}

export function judgeSamples({ samples, failures, made, ended }: SoakResult, rate: number): readonly Figure[] {
  return [
    exactly('conversations that ended', ended, made),
    none('conversations that failed, and problems', failures),
    info('sessions a minute, least', Math.min(...samples.map((sample) => sample.ended))),
    info('sessions a minute, wanted', rate * 60),
    ...judgeGrowth(samples, 'rss', ({ rss }) => rss),
    ...judgeGrowth(samples, 'heap', ({ heapUsed }) => heapUsed),
    ...judgeGrowth(samples, 'external', ({ external }) => external),
  ];
}
