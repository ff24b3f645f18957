// Events in words: one line per event, the same for an event that was just emitted and one that was stored.
// Owns:     the text of every event that this package emits.
// Does not: hold events, or need their classes.
import type { Redactor } from '../../lib/index.ts';
import { defaultRedactor } from '../../lib/index.ts';
import type { Describers } from './event-line.ts';
import { describeWith, formatLine } from './event-line.ts';
import { peopleWords } from './people.ts';
import { runWords } from './run-words.ts';

const words: Describers = { ...runWords, ...peopleWords };

/** Describes an event, or the data of one, in a few words and without its header. */
export const describeEvent = (event: object, redactor: Redactor = defaultRedactor): string => describeWith(words, event, redactor);

/** Options of a line. */
export interface EventLineOptions {
  /** Removes secrets. @default the one that knows the obvious secrets */
  readonly redactor?: Redactor;
}

/** Writes an event that was stored as the line that the event itself had. */
export const formatEvent = (event: object, { redactor = defaultRedactor }: EventLineOptions = {}): string =>
  formatLine(event, describeEvent(event, redactor), redactor);
