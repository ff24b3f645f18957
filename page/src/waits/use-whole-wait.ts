import { useEffect, useState } from 'react';
import type { AgentActions, ShownWait, ViewWait } from 'stepline/ui';
import { describeError } from '../app/server.ts';

/** Everything that somebody who decides has to read. */
export interface WholeWait {
  /** Undefined if they are not known: see `summary`. */
  readonly args: unknown;
  readonly summary: string | undefined;
  /** The wait to be answered: its digest is that of what is shown. */
  readonly shown: ShownWait;
  /** Proof that all of it was shown. */
  readonly seen: string | undefined;
  readonly requestedBy: string | undefined;
  readonly isLoading: boolean;
  /** True if everything is here that has to be read before somebody approves. */
  readonly isWhole: boolean;
  /** Words for people; empty if nothing went wrong. */
  readonly error: string;
}

interface Read {
  readonly wait_id: string;
  readonly args?: unknown;
  readonly digest?: string;
  readonly seen?: string;
  readonly requestedBy?: string;
}

/** The call may be asked about a moment before it is stored; a server that is gone is asked less often. */
const retryMs = { soon: 1_500, later: 10_000 };
const soonTries = 4;

const readId = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string' ? value.id : undefined;

function toRead(wait_id: string, found: Readonly<Record<string, unknown>>): Read {
  const { args, digest, seen } = found;
  const requestedBy = readId(found['requested_by']);
  return {
    wait_id,
    args,
    ...(typeof digest === 'string' && { digest }),
    ...(typeof seen === 'string' && { seen }),
    ...(requestedBy !== undefined && { requestedBy }),
  };
}

const toShown = (wait_id: string, digest: string | undefined): ShownWait => (digest === undefined ? { wait_id } : { wait_id, digest });

/** Fetches what a wait does not show: arguments that are too long, or secret. */
export function useWholeWait(wait: ViewWait, readWait: AgentActions['readWait']): WholeWait {
  const { wait_id, args, args_summary, hidden_fields = [], digest } = wait;
  const isNeeded = digest === undefined || hidden_fields.length > 0 || args === undefined;
  const [read, setRead] = useState<Read>();
  const [error, setError] = useState('');
  useEffect(() => {
    if (!isNeeded) return;
    let isCurrent = true;
    setError('');
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = (soonLeft: number): void =>
      void readWait(wait_id).then(
        (found) => {
          if (!isCurrent) return;
          setRead(toRead(wait_id, found));
          setError('');
        },
        (problem: unknown) => {
          if (!isCurrent) return;
          setError(describeError(problem));
          timer = setTimeout(() => ask(soonLeft - 1), soonLeft > 0 ? retryMs.soon : retryMs.later);
        },
      );
    ask(soonTries);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [isNeeded, wait_id, digest, readWait]);
  const found = read?.wait_id === wait_id ? read : undefined;
  return {
    args: found?.args ?? args,
    summary: args_summary,
    shown: toShown(wait_id, found?.digest ?? digest),
    seen: found?.seen,
    requestedBy: found?.requestedBy,
    isLoading: isNeeded && found === undefined && error === '',
    isWhole: !isNeeded || found !== undefined,
    error,
  };
}
