import type { Clock } from '../lib/index.ts';

/** Watches for the first byte, then for silence between one piece and the next. */
export interface SilenceWatch {
  /** Starts over: nothing has come. A limit that is undefined is not watched. */
  begin(firstByteMs: number | undefined, silenceMs: number | undefined): void;
  /** Something came. */
  heard(): void;
  /** Watches no more until it begins again. */
  stop(): void;
}

/**
 * Calls back once when it has been silent for too long. A piece only notes its time; the timer looks at that when it fires, so that
 * a stream of many pieces does not set a timer for each.
 */
export function createSilenceWatch(clock: Clock, onSilent: (kind: 'first' | 'next', ms: number) => void): SilenceWatch {
  let limitMs: number | undefined;
  let nextMs: number | undefined;
  let isFirst = true;
  let lastAt = 0;
  let cancel: (() => void) | undefined;

  const stop = (): void => {
    cancel?.();
    cancel = undefined;
    limitMs = undefined;
    nextMs = undefined;
  };
  const arm = (afterMs: number): void => {
    cancel = clock.schedule(afterMs, () => {
      cancel = undefined;
      if (limitMs === undefined) return;
      const leftMs = lastAt + limitMs - clock.monotonic();
      if (leftMs > 0) arm(leftMs);
      else onSilent(isFirst ? 'first' : 'next', limitMs);
    });
  };
  const watch = (ms: number | undefined): void => {
    cancel?.();
    cancel = undefined;
    limitMs = ms;
    if (ms !== undefined) arm(ms);
  };
  return {
    begin: (firstByteMs, silenceMs) => {
      isFirst = true;
      nextMs = silenceMs;
      lastAt = clock.monotonic();
      watch(firstByteMs);
    },
    heard: () => {
      if (isFirst) {
        isFirst = false;
        lastAt = clock.monotonic();
        watch(nextMs);
      } else if (limitMs !== undefined) lastAt = clock.monotonic();
    },
    stop,
  };
}
