import type { Json, JsonObject } from '../lib/index.ts';
import { DamagedDataError, isRecord } from '../lib/index.ts';
import type { EffectRow } from './journal.ts';

/** An attempt has started: what follows is its own, until the mark of the next one. */
interface AttemptRow {
  readonly attempt: string;
}

/** The state that the execution starts from. */
interface StartRow {
  readonly start: Json;
  /** Start of the wall clock. */
  readonly at: number;
}

/** An effect of the open step. */
interface OpenEffectRow {
  readonly effect: EffectRow;
}

/** A change of the state: a step was recorded or parked, or the host replaced the state between two steps. */
export interface CommitRow {
  readonly commit: JsonObject;
  /** Events since the commit before, numbered without a gap. Empty if the host keeps a note in their place. */
  readonly events: readonly JsonObject[];
  readonly note?: Json;
  /** Set if the step stays open: its effects are still needed. */
  readonly open?: true;
}

/** The engine sleeps before the next step. */
interface SleepRow {
  readonly sleepMs: number;
}

/** Closes the list. `unfinished`: more is to be done, in a list of its own. */
export interface EndRow {
  readonly end: 'rest' | 'unfinished';
  /** Time to wait before that. */
  readonly wakeInMs?: number;
}

/** One row of the journal of an execution. */
export type JournalRow = AttemptRow | StartRow | OpenEffectRow | CommitRow | SleepRow | EndRow;

const kinds = ['attempt', 'start', 'effect', 'commit', 'sleepMs', 'end'];

const isRow = (value: unknown): value is JournalRow => isRecord(value) && kinds.some((kind) => Object.hasOwn(value, kind));

/** Reads what an engine has returned for a recorded list of rows. */
export function readRows(recorded: unknown): readonly JournalRow[] {
  // Holds: rows are of our own writing; an engine that returns something else has mixed them up with a value of somebody else.
  if (Array.isArray(recorded) && recorded.every(isRow)) return recorded;
  throw new DamagedDataError('the journal', 'expected rows of runDurably(), found something else. Record nothing else while it runs');
}
