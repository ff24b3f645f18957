import type { Json, Redactor } from '../lib/index.ts';
import type { Page } from './render/page.ts';

/** Place that a command writes to. */
export interface Output {
  /** True if the reader is a program: JSON, one value per line. */
  readonly isJson: boolean;
  /** True if a person can be asked. */
  readonly isInteractive: boolean;
  readonly page: Page;
  /** Replaces secrets in everything that is shown, unless they are to be revealed. */
  readonly redactor: Redactor;
  /** Writes a line, or several, for the reader. */
  readonly print: (text: string) => void;
  /** Writes a remark that is not part of the result. */
  readonly note: (text: string) => void;
  /** Writes an error. */
  readonly fail: (error: unknown) => void;
  /** Asks the person; returns the typed line. */
  readonly ask: (question: string) => Promise<string>;
}

/** Shows everything as it is. */
export const revealing: Redactor = { text: (value: string) => value, value: (value: Json) => value };
