import { loopWords } from './loop.ts';
import { workWords } from './work.ts';
import type { Describers } from './event-line.ts';

/** Words for the events of a run: all that an agent emits by itself. */
export const runWords: Describers = { ...loopWords, ...workWords };
