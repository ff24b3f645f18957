import type { Json, JsonObject } from '../lib/index.ts';
import { DamagedDataError, isRecord } from '../lib/index.ts';
import type { EffectRow } from './journal.ts';

/** Start of an attempt. The rows up to the next such row belong to it. */
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

/** A change to the state: a step was recorded or parked, or the host replaced the state between two steps. */
export interface CommitRow {
  readonly commit: JsonObject;
  /** Events since the previous commit, numbered without gaps. Empty if the host stores a note instead. */
  readonly events: readonly JsonObject[];
  readonly note?: Json;
  /** Set if the step stays open, because its effects are still needed. */
  readonly open?: true;
}

/** The engine sleeps before the next step. */
interface SleepRow {
  readonly sleepMs: number;
}

/** Closes the list. `unfinished`: the run continues in another list. */
export interface EndRow {
  readonly end: 'rest' | 'unfinished';
  /** Time to wait before it continues. */
  readonly resumeAfterMs?: number;
}

/** One row in the journal of an execution. */
export type JournalRow = AttemptRow | StartRow | OpenEffectRow | CommitRow | SleepRow | EndRow;

const kinds = ['attempt', 'start', 'effect', 'commit', 'sleepMs', 'end'];

const isRow = (value: unknown): value is JournalRow => isRecord(value) && kinds.some((kind) => Object.hasOwn(value, kind));

/** Reads a recorded list of rows that an engine returned. */
export function readRows(recorded: unknown): readonly JournalRow[] {
  // Holds: only runDurably() writes rows; an engine that returns anything else has mixed them up with another value.
  if (Array.isArray(recorded) && recorded.every(isRow)) return recorded;
  throw new DamagedDataError('the journal', 'expected rows of runDurably(), found another value. Record nothing else while it runs');
}
