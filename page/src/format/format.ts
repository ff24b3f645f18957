// Numbers and times as people read them.

const toFixed = (value: number): string => String(Math.round(value * 10) / 10);

/** Writes a count in full: 12,480. */
export const formatCount = (value: number): string => (Math.round(value * 100) / 100).toLocaleString('en-US');

/** Writes a count in short: 4,084, 31 k, 1.2 M. */
export function formatShort(value: number): string {
  if (value < 10_000) return formatCount(value);
  if (value < 999_500) return `${Math.round(value / 1_000)} k`;
  return `${toFixed(value / 1_000_000)} M`;
}

/** Writes a duration: 340 ms, 4.2 s, 3 min 5 s, 9 h 2 min, 2 d 3 h. */
export function formatDuration(ms: number): string {
  if (Math.round(ms) < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 9_950) return `${toFixed(ms / 1_000)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const join = (large: number, small: number, units: readonly [string, string]): string =>
    small === 0 ? `${large} ${units[0]}` : `${large} ${units[0]} ${small} ${units[1]}`;
  if (seconds < 3_600) return join(Math.floor(seconds / 60), seconds % 60, ['min', 's']);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1_440) return join(Math.floor(minutes / 60), minutes % 60, ['h', 'min']);
  const hours = Math.floor(minutes / 60);
  return join(Math.floor(hours / 24), hours % 24, ['d', 'h']);
}

/** Writes a clock that ticks: whole seconds only. */
export const formatClock = (ms: number): string => (ms < 1_000 ? '0 s' : formatDuration(Math.floor(ms / 1_000) * 1_000));

/** Says how long ago a time was: just now, 4 min ago, 3 d ago. */
export function formatAge(iso: string, now: number): string {
  const seconds = Math.floor((now - Date.parse(iso)) / 1_000);
  if (!Number.isFinite(seconds)) return '';
  if (seconds < 45) return 'just now';
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.round(minutes / 60);
  if (hours < 24) return `${hours} h ago`;
  return `${Math.round(hours / 24)} d ago`;
}

/** Says the same in short, for lists: now, 4 min, 3 d. */
export const formatShortAge = (iso: string, now: number): string => formatAge(iso, now).replace(/^just | ago$/, '');

/** Writes the time of a message: 14:03, with the day if it was another one. */
export function formatTime(iso: string, now: number): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return '';
  const time = date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  if (date.toDateString() === new Date(now).toDateString()) return time;
  return `${date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}, ${time}`;
}
