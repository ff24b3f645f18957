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

  /** Number of sessions that could start now. */
  get room(): number {
    return Math.max(0, this.#size - this.#taken - this.#waiting.size);
  }

  take(): RunSlot {
    if (this.#taken < this.#size) {
      this.#taken += 1;
      return { granted: undefined, grantNow: () => undefined, free: once(() => this.#free()) };
    }
    const { granted, grant } = createGrant(this.#waiting, () => (this.#taken += 1));
    return {
      granted,
      grantNow: grant,
      free: once(() => {
        grant();
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
  readonly #waiting = new Set<Waiting>();
  #open = 0;

  constructor(closing: AbortSignal) {
    closing.addEventListener('abort', () => {
      for (const { grant } of [...this.#waiting]) grant();
    });
  }

  /** Starts an attempt; the last one that a step has waits until it is alone. */
  enter(isLast: boolean): RunSlot {
    if (!isLast || this.#open === 0) {
      this.#open += 1;
      return { granted: undefined, grantNow: () => undefined, free: once(() => this.#leave()) };
    }
    const { granted, grant } = createGrant(this.#waiting, () => (this.#open += 1));
    return {
      granted,
      grantNow: grant,
      free: once(() => {
        grant();
        this.#leave();
      }),
    };
  }

  #leave(): void {
    this.#open -= 1;
    const [next] = this.#waiting;
    if (this.#open === 0) next?.grant();
  }
}

/** Adds somebody to those who wait. */
function createGrant(all: Set<Waiting>, onGrant: () => void): Waiting & { readonly granted: Promise<void> } {
  const waiting: Waiting = { grant: () => undefined };
  const granted = new Promise<void>((resolve) => {
    waiting.grant = once(() => {
      all.delete(waiting);
      onGrant();
      resolve();
    });
  });
  all.add(waiting);
  return { granted, grant: () => waiting.grant() };
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}
