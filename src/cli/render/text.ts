// Text for a terminal.
import { toLine } from '../../lib/index.ts';

export { toJsonText, toLine } from '../../lib/index.ts';

/** Makes text safe to print, line by line. */
export const toLines = (text: string): readonly string[] => text.split(/\r\n|\n/).map(toLine);

const narrow = /^[\x20-\x7e]*$/;
const ignored = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const wide =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{1b000}-\u{1b2ff}]|[\u{20000}-\u{3fffd}])$/u;

const getCharWidth = (char: string): number => (ignored.test(char) ? 0 : wide.test(char) ? 2 : 1);

/** Returns the number of columns that a line takes in a terminal. */
export function getWidth(line: string): number {
  if (narrow.test(line)) return line.length;
  let width = 0;
  for (const char of line) width += getCharWidth(char);
  return width;
}

/** Cuts a line to a number of columns. A cut line ends with an ellipsis. */
export function cut(line: string, width: number): string {
  if (getWidth(line) <= width) return line;
  return `${takeColumns(line, width - 1)}…`;
}

function takeColumns(line: string, width: number): string {
  let taken = '';
  let left = width;
  for (const char of line) {
    left -= getCharWidth(char);
    if (left < 0) break;
    taken += char;
  }
  return taken;
}

/** Fills a line with spaces. */
export function pad(line: string, width: number, align: 'left' | 'right' = 'left'): string {
  const spaces = ' '.repeat(Math.max(0, width - getWidth(line)));
  return align === 'left' ? line + spaces : spaces + line;
}

/** Breaks a line into lines of a number of columns, between words if that is possible. */
export function wrap(line: string, width: number): readonly string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    const joined = current === '' ? word : `${current} ${word}`;
    if (getWidth(joined) <= width) {
      current = joined;
      continue;
    }
    if (current !== '') lines.push(current);
    current = word;
    while (getWidth(current) > width) {
      const part = takeColumns(current, Math.max(1, width)) || current.slice(0, 1);
      lines.push(part);
      current = current.slice(part.length);
    }
  }
  return [...lines, current];
}
