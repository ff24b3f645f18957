import { useCallback, useRef, useState } from 'react';
import { describeError } from './server.ts';

/** Something that a person started: whether it runs, and what went wrong with it. */
export interface Action {
  /** Runs it; returns true if it worked. Nothing happens while it runs already. */
  readonly run: (work: () => Promise<void>) => Promise<boolean>;
  readonly isBusy: boolean;
  /** True if the last one worked. */
  readonly isDone: boolean;
  /** Words for people; empty if nothing went wrong. */
  readonly error: string;
  readonly setError: (error: string) => void;
  /** Forgets that the last one worked. */
  readonly reset: () => void;
}

/** Runs one thing at a time and keeps the words of its error. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const [isDone, setDone] = useState(false);
  const [error, setError] = useState('');
  const busy = useRef(false);
  const run = useCallback(async (work: () => Promise<void>): Promise<boolean> => {
    if (busy.current) return false;
    busy.current = true;
    setBusy(true);
    setDone(false);
    setError('');
    try {
      await work();
      setDone(true);
      return true;
    } catch (problem) {
      setError(describeError(problem));
      return false;
    } finally {
      busy.current = false;
      setBusy(false);
    }
  }, []);
  const reset = useCallback(() => setDone(false), []);
  return { run, isBusy, isDone, error, setError, reset };
}
