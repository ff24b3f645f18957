/** Source of time. Everything that reads or waits for time takes one of these. */
export interface Clock {
  /** Milliseconds since the epoch; may jump when the machine's clock is set. */
  readonly now: () => number;
  /** Milliseconds that only ever go forward; for durations. */
  readonly monotonic: () => number;
  /**
   * Calls back once after at least `afterMs`; the returned function cancels. In the background, a timer does not keep the process from
   * ending.
   */
  readonly schedule: (afterMs: number, call: () => void, inBackground?: boolean) => () => void;
}

// Above this, setTimeout fires at once instead of late.
const longestTimerMs = 2 ** 31 - 1;

function schedule(afterMs: number, call: () => void, inBackground = false): () => void {
  let remainingMs = Math.max(0, afterMs);
  let timer: ReturnType<typeof setTimeout>;
  const arm = (): void => {
    const leg = Math.min(remainingMs, longestTimerMs);
    remainingMs -= leg;
    timer = setTimeout(remainingMs > 0 ? arm : call, leg);
    // Only Node has timers that can be left in the background; elsewhere they are numbers.
    if (inBackground && typeof timer === 'object') timer.unref();
  };
  arm();
  return () => clearTimeout(timer);
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule,
};

/** Waits on the given clock; rejects with the signal's reason when it aborts, and leaves no timer behind. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason as Error);
      return;
    }
    const stop = (): void => {
      cancel();
      reject(signal?.reason as Error);
    };
    const cancel = clock.schedule(ms, () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    });
    signal?.addEventListener('abort', stop, { once: true });
  });
}
