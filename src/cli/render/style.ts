import { styleText } from 'node:util';

/** Colours and weights that the output uses. */
export type StyleName = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Applies a style to text; returns the text itself if there are no colours. */
export type Style = (name: StyleName | undefined, text: string) => string;

/** Creates a style. */
export const createStyle =
  (hasColours: boolean): Style =>
  (name, text) =>
    hasColours && name !== undefined ? styleText(name, text, { validateStream: false }) : text;
