import { readField } from '../../lib/index.ts';

/** Colours of a terminal, by their codes. */
export const Color = { Dim: 2, Red: 31, Green: 32, Yellow: 33, Blue: 34, Magenta: 35, Cyan: 36 } as const;
export type Color = (typeof Color)[keyof typeof Color];

/** Writes text in a colour, or as it is. */
export type Paint = (color: Color, text: string) => string;

export const paintPlain: Paint = (_, text) => text;
export const paintColored: Paint = (color, text) => `\u001b[${color}m${text}\u001b[0m`;

/** True if the output of this process is a terminal that wants colours: see no-color.org. */
export function isColorTerminal(): boolean {
  const process = readField(globalThis, 'process');
  const noColor = readField(readField(process, 'env'), 'NO_COLOR');
  if (typeof noColor === 'string' && noColor !== '') return false;
  return readField(readField(process, 'stdout'), 'isTTY') === true;
}
