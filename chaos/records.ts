// The two records beside the store: what really happened outside, and what workers were told to be safe.
import { readFileSync } from 'node:fs';
import { filesIn } from './orders.ts';

/** One effect on the outside world. */
export interface Deed {
  readonly pid: number;
  readonly tool: string;
  readonly key: string;
  readonly session: string;
}

/** An entry that a worker was told to be safe. */
export interface SafeEntry {
  readonly pid: number;
  readonly session: string;
  readonly n: number;
  /** `execution/step`, or `-/-`. */
  readonly step: string;
}

/** What a client heard of its session. */
export interface HeardTurn {
  readonly session: string;
  readonly execution: number;
  readonly status: string;
  readonly text: string;
}

const linesOf = (file: string): readonly (readonly string[])[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t'));

export function readDeeds(folder: string): readonly Deed[] {
  return linesOf(filesIn(folder).world).map(([pid, tool = '', key = '', session = '']) => ({ pid: Number(pid), tool, key, session }));
}

export function readSeen(folder: string): { readonly entries: readonly SafeEntry[]; readonly turns: readonly HeardTurn[] } {
  const lines = linesOf(filesIn(folder).seen);
  const entries = lines
    .filter(([, type]) => type === 'entry')
    .map(([pid, , session = '', n, execution = '', step = '']) => ({
      pid: Number(pid),
      session,
      n: Number(n),
      step: `${execution}/${step}`,
    }));
  const turns = lines
    .filter(([, type]) => type === 'turn')
    .map(([, , session = '', execution, status = '', text = '']) => ({ session, execution: Number(execution), status, text }));
  return { entries, turns };
}
