// Foreign text on one line.
// X1. Foreign text never moves the cursor, changes a colour, starts a line or turns its direction: such characters are shown as escapes.

// Joiners stay: emoji and some scripts need them, and they cannot do harm.
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]|(?![\u200c\u200d])\p{Cf}/gu;
const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const toEscape = (text: string): string =>
  named[text] ?? Array.from({ length: text.length }, (_, index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`).join('');

/** Makes text safe to print on one line. */
export const toLine = (text: string): string => text.replace(unsafe, toEscape);

// JSON allows these escapes in its strings, and such characters are nowhere else in it.
/** Writes JSON that is safe to print. */
export const toJsonText = (value: unknown, indent?: number): string =>
  JSON.stringify(value, undefined, indent).replace(unsafe, (found) => (found === '\n' ? found : toEscape(found)));

/** Number of characters of a foreign text that a line has room for. */
const longestText = 300;

/** Cuts a line after 300 characters, never inside a character or an escape. A cut line ends with an ellipsis. */
export function cutLine(line: string): string {
  if (line.length <= longestText) return line;
  return `${line.slice(0, longestText - 1).replace(/[\ud800-\udbff]$|\\u?[0-9a-f]{0,3}$/, '')}…`;
}
