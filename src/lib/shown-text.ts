// Foreign text in an explanation: words of models, tools, errors and people.
// F1. It is redacted, on one line, without control characters, and cut.
import { toLine } from './one-line.ts';
import { defaultRedactor } from './redactor.ts';

/** Number of characters of a foreign text that an explanation shows. */
const longestText = 240;

/** Shows foreign text inside a sentence: without a full stop at its end. */
export function toShownText(text: string): string {
  // Redacted before it is cut: half a secret would not be recognised.
  const line = toLine(defaultRedactor.text(text.trim())).replace(/\.$/, '');
  return line.length <= longestText ? line : `${line.slice(0, longestText - 1).replace(/[\ud800-\udbff]$|\\u?[0-9a-f]{0,3}$/, '')}…`;
}

/** Ends a sentence with a full stop, unless it has an end. A code in parentheses may follow the end. */
export const toSentence = (text: string): string => (/[.!?…](?:["')]| \([\w-]+\))?$/.test(text) ? text : `${text}.`);

/** Lists all items: `a, b and c`. */
export const listAll = (items: readonly string[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1) ?? ''}`;

/** Lists a few of many: `a, b and 3 more`. */
export function listSome(items: readonly string[], most: number, separator = ', '): string {
  if (items.length <= most) return items.join(separator);
  return `${items.slice(0, most).join(separator)}${separator.trimEnd() === ';' ? ';' : ''} and ${items.length - most} more`;
}

const ordinals = ['zeroth', 'first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth'];

/** Number in words: `third`, `12th`. */
export function toOrdinal(count: number): string {
  const word = ordinals[count];
  if (word !== undefined) return word;
  const isTeen = count % 100 >= 11 && count % 100 <= 13;
  return `${count}${isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][count % 10] ?? 'th')}`;
}
