// Which sessions run at once.
// U1. At most so many sessions run; the others wait in the order in which they came.
// U2. The last attempt at a step that may be ending the process has no other attempt beside it: nobody is blamed for what another did.

/** The right to run. */
export interface RunSlot {
  /** Settles when the session may run; undefined if it may at once. */
  readonly granted: Promise<void> | undefined;
  /** Does not wait any longer. */
  grantNow(): void;
  /** Gives it back. */
  free(): void;
}

interface Waiting {
  grant: () => void;
}

export class RunSlots {
  readonly #size: number;
  readonly #waiting = new Set<Waiting>();
  #taken = 0;

  constructor(size: number, closing: AbortSignal) {
    this.#size = size;
    // Whoever waits has to see that nothing more starts.
    closing.addEventListener('abort', () => {
      for (const { grant } of [...this.#waiting]) grant();
    });
  }

  take(): RunSlot {
    if (this.#taken < this.#size) {
      this.#taken += 1;
      return { granted: undefined, grantNow: () => undefined, free: once(() => this.#free()) };
    }
    const waiting: Waiting = { grant: () => undefined };
    const granted = new Promise<void>((resolve) => {
      waiting.grant = once(() => {
        this.#waiting.delete(waiting);
        this.#taken += 1;
        resolve();
      });
    });
    this.#waiting.add(waiting);
    return {
      granted,
      grantNow: () => waiting.grant(),
      free: once(() => {
        waiting.grant();
        this.#free();
      }),
    };
  }

  #free(): void {
    this.#taken -= 1;
    const [next] = this.#waiting;
    if (this.#taken < this.#size) next?.grant();
  }
}

/** Attempts at steps that another process left open. */
export class RecoveryGate {
  readonly #waiting: (() => void)[] = [];
  #open = 0;

  constructor(closing: AbortSignal) {
    closing.addEventListener('abort', () => {
      const waiting = this.#waiting.splice(0);
      this.#open += waiting.length;
      for (const enter of waiting) enter();
    });
  }

  /** Starts an attempt; the last one that a step has waits until it is alone. The returned function ends it. */
  async enter(isLast: boolean): Promise<() => void> {
    if (isLast && this.#open > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#open += 1;
    return once(() => this.#leave());
  }

  #leave(): void {
    const next = this.#open === 1 ? this.#waiting.shift() : undefined;
    // The next one takes its place.
    if (next === undefined) this.#open -= 1;
    else next();
  }
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}
