// Short forms of arguments and results.
import type { Json } from '../../lib/index.ts';
import { isList, isRecord, jsonEquals, setOwn } from '../../lib/index.ts';
import { truncateText } from './event-view.ts';

/** Number of arguments in a summary. */
const mostEntries = 3;
/** Number of characters of an argument in a summary. */
const longestValue = 30;

const toShortText = (value: Json): string =>
  typeof value === 'string' ? `'${truncateText(value, longestValue)}'` : truncateText(JSON.stringify(value), longestValue);

/** Summarizes redacted arguments: the first three, each cut. */
export function summarizeArgs(args: Json): string {
  if (!isRecord(args)) return args === null ? '' : toShortText(args);
  return Object.entries(args)
    .slice(0, mostEntries)
    .map(([name, value]) => `${name}: ${toShortText(value)}`)
    .join(', ');
}

const isShort = (value: Json): boolean => (typeof value === 'string' ? value : JSON.stringify(value)).length <= longestValue;

const isShownWhole = (value: Json, shown: Json | undefined): boolean => shown !== undefined && jsonEquals(value, shown) && isShort(value);

/** Names the arguments that a summary does not show as they are: redacted, cut, or beyond the first three. */
export function findHiddenFields(args: Json, redacted: Json): readonly string[] {
  if (!isRecord(args)) return isShownWhole(args, redacted) ? [] : [''];
  const shown = isRecord(redacted) ? redacted : {};
  return Object.entries(args)
    .filter(([name, value], place) => place >= mostEntries || !isShownWhole(value, shown[name]))
    .map(([name]) => name);
}

/** Cuts every text inside a value. */
export function truncateTexts(value: Json, longest: number): Json {
  if (typeof value === 'string') return truncateText(value, longest);
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map((item) => truncateTexts(item, longest));
  const cut: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) setOwn(cut, key, truncateTexts(item, longest));
  return cut;
}

/** Summarizes a redacted result as text. */
export const summarizeResult = (result: Json, longest: number): string =>
  truncateText(typeof result === 'string' ? result : JSON.stringify(result), longest);
