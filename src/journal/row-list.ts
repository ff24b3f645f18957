// The list of rows that an engine keeps for one execution, as one attempt sees it.
// Owns:     the order in which rows are recorded, and the rows that still have to be.
// Does not: know what a row means. Its owner gets each row once, replayed or new.
// R1. Engine operations run one at a time, in the order of the list, so a replay repeats them exactly.
// R2. Rows added in the same turn of the event loop are recorded together.
// R3. The owner has handled a row before the next one is recorded, in the first attempt as in a replay.
// R4. If the engine fails, or another attempt has taken over, nothing more is recorded.
import type { Json } from '../lib/index.ts';
import { aborted, nextTurn, systemIds, toCanonical, untilAborted } from '../lib/index.ts';
import { AttemptReplacedError } from './attempt-replaced-error.ts';
import type { DurableEngine } from './durable-engine.ts';
import type { JournalRow } from './journal-row.ts';
import { readRows } from './journal-row.ts';
import { UnrecordableRowError } from './unrecordable-row-error.ts';

/** Maximum size of one recording, in bytes of JSON. Restate accepts 32 MiB. */
const defaultMaxRecordBytes = 8 * 1024 * 1024;

/** Maximum depth of a row: values of 64 levels are nested inside messages, steps and states. */
const maxDepth = 512;

export interface RowListOptions {
  readonly executionId: string;
  /** Receives each row in order, before the next one is recorded. */
  readonly onRow: (row: JournalRow, isReplayed: boolean) => Promise<void>;
  /** @default 8 MiB */
  readonly maxRecordBytes?: number | undefined;
}

export class RowList {
  readonly #engine: DurableEngine;
  readonly #options: RowListOptions;
  readonly #attempt: string = systemIds();
  #unsent: JournalRow[] = [];
  /** The next recording, if one is due. */
  #next: Promise<void> | undefined;
  #sending: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;

  constructor(engine: DurableEngine, options: RowListOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  /**
   * Reads the rows of earlier attempts, then records the start of this one, with the rows that `addFirst` returns. Returns false if the
   * list is closed.
   */
  async open(addFirst: () => readonly JournalRow[]): Promise<boolean> {
    for (;;) {
      const first = this.#toBatch([{ attempt: this.#attempt }, ...addFirst()]);
      const rows = readRows(await this.#call(() => first));
      const isOurs = rows.some((row) => 'attempt' in row && row.attempt === this.#attempt);
      for (const row of rows) await this.#options.onRow(row, !isOurs);
      if (rows.some((row) => 'end' in row)) return false;
      if (isOurs) return true;
    }
  }

  /** Adds rows; settles when these and all before them are recorded. */
  append(rows: readonly JournalRow[]): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    this.#unsent.push(...rows);
    return (this.#next ??= this.#schedule());
  }

  /** Drops effects that are not recorded yet. Their step is about to be recorded, and contains their results. */
  dropEffects(): void {
    this.#unsent = this.#unsent.filter((row) => !('effect' in row));
  }

  #schedule(): Promise<void> {
    const next = this.#sending.then(async () => {
      await nextTurn();
      this.#next = undefined;
      await this.#send(this.#unsent.splice(0));
    });
    this.#sending = next.catch((error: unknown) => {
      this.#failure ??= { error };
    });
    return next;
  }

  async #send(rows: readonly JournalRow[]): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error;
    for (const batch of this.#split(rows)) {
      let calls = 0;
      await this.#call(() => {
        calls += 1;
        return batch;
      });
      if (calls === 0) throw new AttemptReplacedError(this.#options.executionId);
      for (const row of readRows(batch)) await this.#options.onRow(row, false);
    }
  }

  /** Splits rows into lists that are small enough to record. */
  #split(rows: readonly JournalRow[]): readonly Json[] {
    if (rows.length === 0) return [];
    const whole = this.#measure(rows);
    return whole.ok ? [whole.value] : rows.map((row) => this.#toBatch([row]));
  }

  #toBatch(rows: readonly JournalRow[]): Json {
    const canonical = this.#measure(rows);
    if (canonical.ok) return canonical.value;
    const [kind = 'rows'] = Object.keys(rows.at(-1) ?? {});
    throw new UnrecordableRowError(kind, canonical.problem, canonical);
  }

  #measure(rows: readonly JournalRow[]): ReturnType<typeof toCanonical> {
    return toCanonical(rows, { maxBytes: this.#maxBytes, maxDepth });
  }

  get #maxBytes(): number {
    return this.#options.maxRecordBytes ?? defaultMaxRecordBytes;
  }

  async #call(make: () => Json): Promise<Json> {
    const { signal } = this.#engine;
    const recorded = await untilAborted(this.#engine.record(make), signal);
    if (recorded === aborted) throw new AttemptReplacedError(this.#options.executionId, signal?.reason);
    return recorded;
  }
}
