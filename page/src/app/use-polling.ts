import { useCallback, useEffect, useRef, useState } from 'react';
import { describeError } from './server.ts';

const intervalMs = 2_000;
/** After failures, ask less often. */
const longestMs = 30_000;

export interface Polled<Value> {
  /** Undefined before the first answer. */
  readonly value: Value | undefined;
  /** Words for people; empty if the last request worked. */
  readonly error: string;
  /** Asks again at once. */
  readonly refresh: () => void;
}

/** Asks for a value again and again while the page is visible. A value that has not changed stays the same object. */
export function usePolling<Value>(read: (signal: AbortSignal) => Promise<Value>): Polled<Value> {
  const [value, setValue] = useState<Value>();
  const [error, setError] = useState('');
  const wake = useRef<() => void>(() => undefined);
  useEffect(() => {
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = '';
    let failures = 0;
    let isAsking = false;
    /** True if somebody asked again meanwhile. */
    let isWanted = false;
    const hasLeft = (): boolean => leaving.signal.aborted;
    const ask = async (): Promise<void> => {
      clearTimeout(timer);
      isWanted = isAsking;
      if (isAsking || hasLeft()) return;
      isAsking = true;
      try {
        const next = await read(leaving.signal);
        if (hasLeft()) return;
        const text = JSON.stringify(next);
        failures = 0;
        if (text !== last) setValue(next);
        last = text;
        setError('');
      } catch (problem) {
        if (hasLeft()) return;
        failures += 1;
        setError(describeError(problem));
      }
      isAsking = false;
      if (!document.hidden) timer = setTimeout(() => void ask(), isWanted ? 0 : Math.min(longestMs, intervalMs * 2 ** failures));
    };
    const onWake = (): void => {
      if (!document.hidden) void ask();
    };
    wake.current = onWake;
    document.addEventListener('visibilitychange', onWake);
    addEventListener('online', onWake);
    void ask();
    return () => {
      leaving.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onWake);
      removeEventListener('online', onWake);
    };
  }, [read]);
  const refresh = useCallback(() => wake.current(), []);
  return { value, error, refresh };
}
