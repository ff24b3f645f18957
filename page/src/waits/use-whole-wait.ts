import { useEffect, useState } from 'react';
import type { AgentActions, ViewWait } from 'stepline/ui';
import { describeError } from '../app/server.ts';

/** Everything that somebody who decides has to read. */
export interface WholeWait {
  /** Undefined if they are not known: see `summary`. */
  readonly args: unknown;
  readonly summary: string | undefined;
  /** Proof that all of it was shown. */
  readonly seen: string | undefined;
  readonly requestedBy: string | undefined;
  readonly isLoading: boolean;
  /** Words for people; empty if nothing went wrong. */
  readonly error: string;
}

interface Read {
  readonly wait_id: string;
  readonly args?: unknown;
  readonly seen?: string;
  readonly requestedBy?: string;
}

const readId = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string' ? value.id : undefined;

/** Fetches what a wait does not show: arguments that are too long, or secret. */
export function useWholeWait(wait: ViewWait, readWait: AgentActions['readWait']): WholeWait {
  const { wait_id, args, args_summary, hidden_fields = [], digest } = wait;
  const isNeeded = digest !== undefined && (hidden_fields.length > 0 || args === undefined);
  const [read, setRead] = useState<Read>();
  const [error, setError] = useState('');
  useEffect(() => {
    if (!isNeeded) return;
    let isCurrent = true;
    setError('');
    readWait(wait_id).then(
      (found) => {
        const requestedBy = readId(found['requested_by']);
        const seen = found['seen'];
        if (isCurrent)
          setRead({
            wait_id,
            args: found['args'],
            ...(typeof seen === 'string' && { seen }),
            ...(requestedBy !== undefined && { requestedBy }),
          });
      },
      (problem: unknown) => {
        if (isCurrent) setError(describeError(problem));
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [isNeeded, wait_id, digest, readWait]);
  const found = read?.wait_id === wait_id ? read : undefined;
  return {
    args: found?.args ?? args,
    summary: args_summary,
    seen: found?.seen,
    requestedBy: found?.requestedBy,
    isLoading: isNeeded && found === undefined && error === '',
    error,
  };
}
