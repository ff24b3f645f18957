// The rows of one turn.
// Owns:     the order in which changes are recorded, and what is recorded together.
// Does not: know Restate: it is given a function that records.
// W1. One row is recorded at a time, and a change is safe once its row is.
// W2. Rows of one turn of the event loop are recorded together; effects of a step that is recorded in the same row are left out.
// W3. After a failure nothing more is recorded, and whoever waits is told.
// W4. After a step, the next one may begin before the step is safe, so that both share a row. It cannot have an effect before: the intent of
//     that is recorded behind the step. At most one step is ahead, and none when the session comes to rest.
import { cutBySize, measureChange } from './change-size.ts';
import { SessionTooLargeError } from './session-too-large-error.ts';
import type { TurnChange } from './protocol.ts';
import { mergeChanges } from './session-image.ts';
import type { TurnEnd } from './turn-end.ts';

/** Changes that an attempt recorded together. */
export interface TurnRow {
  /** The attempt that recorded it. */
  readonly by: string;
  readonly changes: readonly TurnChange[];
  /** Closes the list. */
  readonly end?: TurnEnd;
}

/** A change that is not safe yet. */
interface PendingChange {
  readonly change: TurnChange;
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** True if a change records a step after which the session continues by itself. */
function isStepOnTheWay(change: TurnChange): boolean {
  if (change.type !== 'write' || change.header?.isOpen !== true || (change.takesMail ?? []).length > 0) return false;
  return change.entries?.some(({ step }) => step !== undefined) === true;
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

export class TurnWriter {
  readonly #maxBytes: number;
  readonly #pending: PendingChange[] = [];
  #failure: { readonly error: unknown } | undefined;
  #wake = (): void => undefined;
  /** Steps on the way that are not safe yet: the first has been left behind, others wait for it. */
  #steps: readonly PendingChange[] = [];

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }
  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  /** Settles when the change is safe; for a step on the way, when the step before it is. */
  write(change: TurnChange): Promise<void> {
    return new Promise((resolve, reject) => {
      const bytes = measureChange(change);
      if (this.#failure !== undefined) reject(this.#failure.error);
      else if (bytes > this.#maxBytes) reject(new SessionTooLargeError(bytes, this.#maxBytes));
      else this.#add({ change, bytes, resolve, reject });
      this.#wake();
    });
  }

  #add(pending: PendingChange): void {
    this.#pending.push(pending);
    if (isStepOnTheWay(pending.change)) this.#setSteps([...this.#steps, pending]);
  }

  #setSteps(steps: readonly PendingChange[]): void {
    this.#steps = steps;
    steps[0]?.resolve();
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

  /** Settles when there is something to record, or the pump is woken. */
  async whenReady(): Promise<void> {
    if (this.#pending.length === 0 && this.#failure === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = () => undefined;
    if (this.#pending.length > 0) await new Promise<void>(nextTick);
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Takes the changes to record in the next row. */
  take(): NextRow {
    const [part = []] = cutBySize(this.#pending, this.#maxBytes, ({ bytes }) => bytes);
    const taken = this.#pending.splice(0, part.length);
    return {
      changes: mergeChanges(taken.map(({ change }) => change)),
      settle: () => {
        for (const { resolve } of taken) resolve();
        if (this.#steps.length > 0) this.#setSteps(this.#steps.filter((step) => !taken.includes(step)));
      },
    };
  }
}
