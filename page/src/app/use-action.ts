import { useCallback, useRef, useState } from 'react';
import { describeError } from './server.ts';

/** Something that a person started: whether it runs, and what went wrong with it. */
export interface Action {
  /** Runs it; returns true if it worked. Nothing happens while it runs already. */
  readonly run: (work: () => Promise<void>) => Promise<boolean>;
  readonly isBusy: boolean;
  /** Words for people; empty if nothing went wrong. */
  readonly error: string;
  readonly setError: (error: string) => void;
}

/** Runs one thing at a time and keeps the words of its error. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState('');
  const busy = useRef(false);
  const run = useCallback(async (work: () => Promise<void>): Promise<boolean> => {
    if (busy.current) return false;
    busy.current = true;
    setBusy(true);
    setError('');
    try {
      await work();
      return true;
    } catch (problem) {
      setError(describeError(problem));
      return false;
    } finally {
      busy.current = false;
      setBusy(false);
    }
  }, []);
  return { run, isBusy, error, setError };
}
