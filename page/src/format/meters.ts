// Meters in words.
import type { Meter } from 'stepline/ui';
import { formatCount, formatDuration, formatShort } from './format.ts';

const unitNames: Readonly<Record<string, string>> = {
  steps: 'Steps',
  tokens: 'Tokens',
  seconds: 'Time',
  usd: 'Cost',
  failures: 'Failures in a row',
};

/** Criteria whose unit does not say what they measure: one counts work, the other everything since the start. */
const criterionNames: Readonly<Record<string, string>> = {
  ExecutionTimeLimit: 'Run time',
  CumulativeExecutionTimeLimit: 'Active time',
};

/** Names what a meter measures. A criterion of the host's own gives its name. */
export const nameMeter = ({ unit }: Meter, criterion = 'Used'): string =>
  criterionNames[criterion] ?? (unit === undefined ? criterion : (unitNames[unit] ?? unit));

function formatAmount(value: number, unit: string | undefined): string {
  if (unit === 'seconds') return formatDuration(value * 1_000);
  if (unit === 'usd') return value.toFixed(2);
  return unit === 'tokens' ? formatShort(value) : formatCount(value);
}

/** Writes a meter: 12 of 20, 31 k of 500 k, 1.20 of 5.00 USD. */
export function describeMeter({ value, limit, unit }: Meter): string {
  const words = `${formatAmount(value, unit)} of ${formatAmount(limit, unit)}`;
  return unit === 'usd' ? `${words} USD` : words;
}

/** Part of the limit that is used, from 0 to 1. */
export const getFill = ({ value, limit }: Meter): number => (limit <= 0 ? 1 : Math.min(1, Math.max(0, value / limit)));

/** Says how near the limit is, for the colour of a meter. */
export function getLevel(meter: Meter): 'calm' | 'near' | 'full' {
  const fill = getFill(meter);
  if (fill >= 1) return 'full';
  return fill >= 0.8 ? 'near' : 'calm';
}
