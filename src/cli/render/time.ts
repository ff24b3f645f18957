/** Writes a time, to the second. */
export const toTime = (at: number): string => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}Z`;

/** Writes a time, to the millisecond. */
export const toExactTime = (at: number): string => new Date(at).toISOString();

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** Writes a span of time in its largest unit. */
export function toSpan(ms: number): string {
  const [unit, size] = units.find(([, least]) => ms >= least) ?? ['s', 1000];
  return `${Math.max(0, Math.floor(ms / size))} ${unit}`;
}

/** Writes how long ago a time was. */
export const toAge = (at: number, now: number): string => (now - at < 1000 ? 'now' : `${toSpan(now - at)} ago`);

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Writes a number of bytes. */
export function toSize(bytes: number): string {
  const power = Math.min(byteUnits.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${byteUnits[power] ?? 'B'}`;
}
