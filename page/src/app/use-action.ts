import { useCallback, useEffect, useRef, useState } from 'react';
import type { ActionReceipt } from 'stepline/ui';
import { describeError } from './server.ts';

/** Something that a person started: whether it runs, and what went wrong with it. */
export interface Action {
  /** Runs it; returns true if it worked. Nothing happens while it runs already. One that is refused later is an error then. */
  readonly run: (work: () => Promise<unknown>) => Promise<boolean>;
  readonly isBusy: boolean;
  /** True if the last one worked. */
  readonly isDone: boolean;
  /** Words for people; empty if nothing went wrong. */
  readonly error: string;
  readonly setError: (error: string) => void;
  /** Forgets that the last one worked. */
  readonly reset: () => void;
}

const isReceipt = (value: unknown): value is ActionReceipt => typeof value === 'object' && value !== null && 'whenSettled' in value;

/** Runs one thing at a time and keeps the words of its error. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const [isDone, setDone] = useState(false);
  const [error, setError] = useState('');
  const busy = useRef(false);
  const following = useRef(new AbortController());
  useEffect(() => () => following.current.abort(), []);
  const follow = useCallback(async (receipt: ActionReceipt): Promise<void> => {
    const { signal } = (following.current = new AbortController());
    try {
      await receipt.whenSettled(signal);
    } catch (problem) {
      if (signal.aborted) return;
      setDone(false);
      setError(describeError(problem));
    }
  }, []);
  const run = useCallback(
    async (work: () => Promise<unknown>): Promise<boolean> => {
      if (busy.current) return false;
      following.current.abort();
      busy.current = true;
      setBusy(true);
      setDone(false);
      setError('');
      try {
        const receipt = await work();
        setDone(true);
        if (isReceipt(receipt)) void follow(receipt);
        return true;
      } catch (problem) {
        setError(describeError(problem));
        return false;
      } finally {
        busy.current = false;
        setBusy(false);
      }
    },
    [follow],
  );
  const reset = useCallback(() => setDone(false), []);
  return { run, isBusy, isDone, error, setError, reset };
}
