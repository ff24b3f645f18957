import { useEffect, useState } from 'react';
import type { ViewWait } from 'stepline/ui';
import type { Action } from '../app/use-action.ts';
import { useAction } from '../app/use-action.ts';

/** A decision about a wait. */
export interface Decision extends Action {
  /** True while another one would make no sense: one is on its way. */
  readonly isLocked: boolean;
}

/** Time after which a decision that nobody took up may be made again. */
const unlockMs = 10_000;

/** Sends a decision once: until another wait begins, or nobody has taken it up for long. */
export function useDecision({ since }: ViewWait): Decision {
  const action = useAction();
  const { isBusy, isDone, reset } = action;
  const [isOld, setOld] = useState(false);
  useEffect(() => reset, [since, reset]);
  useEffect(() => {
    setOld(false);
    if (!isDone) return;
    const timer = setTimeout(() => setOld(true), unlockMs);
    return () => clearTimeout(timer);
  }, [isDone]);
  return { ...action, isLocked: isBusy || (isDone && !isOld) };
}
