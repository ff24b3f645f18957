// The rows of one turn.
// Owns:     the order in which changes are recorded, and what is recorded together.
// Does not: know Restate: it is given a function that records.
// W1. One row is recorded at a time. A change is safe once its row is recorded.
// W2. Changes made in the same turn of the event loop share a row. Effects of a step that is recorded in the same row are left out.
// W3. After a failure nothing more is recorded, and pending writes reject.
import type { LogEntry } from '../index.ts';
import { SessionTooLargeError } from './session-too-large-error.ts';
import type { TurnChange } from './protocol.ts';
import { mergeChanges } from './session-image.ts';

/** The end of a turn. */
export interface TurnEnd {
  /** True if another turn has to continue at once. */
  readonly goesOn: boolean;
  /** Delay until the session has to be checked again, and the time from which it was computed. */
  readonly wake?: { readonly inMs: number; readonly at: number };
}

/** Changes that an attempt recorded together. */
export interface TurnRow {
  /** The attempt that recorded it. */
  readonly by: string;
  readonly changes: readonly TurnChange[];
  /** The worker, if everything up to this row must be reported. */
  readonly reportBy?: string;
  /** Closes the list. */
  readonly end?: TurnEnd;
}

/** A change that is not safe yet. */
interface PendingChange {
  readonly change: TurnChange;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Changes to record in one row. */
export interface NextRow {
  readonly changes: readonly TurnChange[];
  /** Settles the pending writes. */
  readonly settle: () => void;
}

const nextTick = (call: () => void): void => {
  const immediate: unknown = Reflect.get(globalThis, 'setImmediate');
  if (typeof immediate === 'function') Reflect.apply(immediate, undefined, [call]);
  else setTimeout(call, 0);
};

const measureText = (text = ''): number => text.length;

/** Estimates the size of a change; nothing but its texts can be large. */
function measure(change: TurnChange): number {
  if (change.type === 'answer') return measureText(change.reply);
  if (change.type === 'delete') return 0;
  const entries: readonly Partial<Pick<LogEntry, 'body' | 'events'>>[] = change.entries ?? [];
  const effects = change.type === 'write' ? (change.effects ?? []) : [];
  const texts = [change.header?.details, ...entries.flatMap(({ body, events }) => [body, events]), ...effects.map(({ body }) => body)];
  return texts.reduce((sum, text) => sum + measureText(text), 0);
}

export class TurnWriter {
  readonly #maxBytes: number;
  readonly #pending: PendingChange[] = [];
  #failure: { readonly error: unknown } | undefined;
  #wake = (): void => undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }
  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  /** Settles when the change is safe. */
  write(change: TurnChange): Promise<void> {
    return new Promise((resolve, reject) => {
      const bytes = measure(change);
      if (this.#failure !== undefined) reject(this.#failure.error);
      else if (bytes > this.#maxBytes) reject(new SessionTooLargeError(bytes, this.#maxBytes));
      else this.#pending.push({ change, resolve, reject });
      this.#wake();
    });
  }

  fail(error: unknown): void {
    this.#failure ??= { error };
    for (const { reject } of this.#pending.splice(0)) reject(error);
    this.#wake();
  }

  /** Wakes the pump. */
  wake(): void {
    this.#wake();
  }

  /** Settles when there is something to record, the pump is woken, or the time is up. */
  async whenReady(ms: number | undefined): Promise<void> {
    if (this.#pending.length === 0 && this.#failure === undefined)
      await new Promise<void>((resolve) => {
        const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    this.#wake = () => undefined;
    if (this.#pending.length > 0) await new Promise<void>(nextTick);
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Takes the changes to record in the next row. */
  take(): NextRow {
    const taken: PendingChange[] = [];
    let bytes = 0;
    while (this.#pending[0] !== undefined && (taken.length === 0 || bytes < this.#maxBytes / 2)) {
      const [next] = this.#pending.splice(0, 1) as [PendingChange];
      taken.push(next);
      bytes += measure(next.change);
    }
    return {
      changes: mergeChanges(taken.map(({ change }) => change)),
      settle: () => {
        for (const { resolve } of taken) resolve();
      },
    };
  }
}
