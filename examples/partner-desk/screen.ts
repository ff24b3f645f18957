// What is written to: a terminal, or something that collects text.
import { stripVTControlCharacters } from 'node:util';
import type { Json } from 'stepline';

type Painter = (text: string) => string;

export interface Paint {
  readonly bold: Painter;
  readonly dim: Painter;
  readonly red: Painter;
  readonly green: Painter;
  readonly yellow: Painter;
  readonly cyan: Painter;
}

export interface Screen {
  readonly paint: Paint;
  /** Number of characters in a line; Infinity if there is no limit. */
  readonly width: number;
  write(text: string): void;
  line(text?: string): void;
  /** Begins a new line unless one has just begun. */
  freshLine(): void;
}

interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const codes = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const;

function painter(isOn: boolean, [begin, end]: readonly [number, number]): Painter {
  return isOn ? (text) => `\u001B[${begin}m${text}\u001B[${end}m` : (text) => text;
}

export function createScreen(output: Output, env: Readonly<Record<string, string | undefined>>): Screen {
  const isTerminal = output.isTTY === true;
  const isColoured = isTerminal && (env['NO_COLOR'] ?? '') === '';
  let atStart = true;
  const write = (text: string): void => {
    if (text === '') return;
    atStart = text.endsWith('\n');
    output.write(text);
  };
  return {
    paint: {
      bold: painter(isColoured, codes.bold),
      dim: painter(isColoured, codes.dim),
      red: painter(isColoured, codes.red),
      green: painter(isColoured, codes.green),
      yellow: painter(isColoured, codes.yellow),
      cyan: painter(isColoured, codes.cyan),
    },
    get width() {
      const { columns = 0 } = output;
      // A terminal that does not know how wide it is says 0.
      return isTerminal ? (columns > 0 ? columns : 80) : Infinity;
    },
    write,
    line: (text = '') => write(`${text}\n`),
    freshLine: () => {
      if (!atStart) write('\n');
    },
  };
}

/** Column of all text: right of the labels. */
export const margin = ' '.repeat(7);

/** Label of the speaker in front of the first line. */
export const label = ({ paint }: Screen, name: string): string => `${paint.bold(name.padStart(4))} ${paint.dim('›')} `;

/** A number with its noun. */
export const pluralize = (count: number, noun: string): string => `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

const seconds = (duration: number): string => `${(duration / 1000).toFixed(1)} s`;

/** Formats a duration. */
export function time(duration: number): string {
  if (duration >= 1000) return seconds(duration);
  return duration < 1 ? 'under 1 ms' : `${Math.round(duration)} ms`;
}

/** A line in rows that are no longer than this, broken between words. */
export function wrapLine(line: string, width: number): readonly string[] {
  const rows: string[] = [];
  for (const word of line.split(' ')) {
    const last = rows.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) rows[rows.length - 1] = `${last} ${word}`;
    else rows.push(word);
  }
  return rows;
}

/** Tells what went wrong. */
export function showProblem(screen: Screen, text: string): void {
  const rows = wrapLine(harmless(text), screen.width - margin.length - 1);
  for (const [index, row] of rows.entries()) screen.line(`${index === 0 ? `     ${screen.paint.red('!')} ` : margin}${row}`);
}

/** Text from a model or a tool, without anything that would steer the terminal. */
export function harmless(text: string): string {
  // eslint-disable-next-line no-control-regex -- those are what has to go
  return stripVTControlCharacters(text).replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g, '');
}

/** The beginning of a text, on one line. */
export function clipText(text: string, width: number): string {
  const line = harmless(text).replaceAll(/\s*\n\s*/g, ' ');
  return line.length <= width ? line : `${line.slice(0, Math.max(1, width - 1))}…`;
}

/** A value as one line of JSON. */
export const json = (value: Json): string => JSON.stringify(value);
