// The two records beside the store: what really happened outside, and what workers were told to be safe.
import { readFileSync } from 'node:fs';
import { filesIn } from './orders.ts';

/** One effect on the outside world. */
export interface RecordedCall {
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
  /** The fence that it was written with. */
  readonly fence: number;
}

/** A write that the store refused. */
export interface RefusedWrite {
  readonly pid: number;
  readonly session: string;
  readonly code: string;
}

/** Result that a client received from its session. */
export interface HeardTurn {
  readonly session: string;
  readonly execution: number;
  readonly status: string;
  readonly text: string;
}

const readLines = (file: string): readonly (readonly string[])[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t'));

export function readDeeds(folder: string): readonly RecordedCall[] {
  return readLines(filesIn(folder).world).map(([pid, tool = '', key = '', session = '']) => ({ pid: Number(pid), tool, key, session }));
}

/** Everything that workers and their clients were told. */
export interface Seen {
  readonly entries: readonly SafeEntry[];
  readonly refused: readonly RefusedWrite[];
  readonly turns: readonly HeardTurn[];
}

export function readSeen(folder: string): Seen {
  const lines = readLines(filesIn(folder).seen);
  const entries = lines
    .filter(([, type]) => type === 'entry')
    .map(([pid, , session = '', n, execution = '', step = '', fence]) => ({
      pid: Number(pid),
      session,
      n: Number(n),
      step: `${execution}/${step}`,
      fence: Number(fence),
    }));
  const refused = lines
    .filter(([, type]) => type === 'refused')
    .map(([pid, , session = '', code = '']) => ({ pid: Number(pid), session, code }));
  const turns = lines
    .filter(([, type]) => type === 'turn')
    .map(([, , session = '', execution, status = '', text = '']) => ({ session, execution: Number(execution), status, text }));
  return { entries, refused, turns };
}
