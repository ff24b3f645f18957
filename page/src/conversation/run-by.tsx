import type { ReactElement } from 'react';
import { useCallback } from 'react';
import { getJson } from '../app/server.ts';
import { useLate } from '../app/use-late.ts';
import { usePolling } from '../app/use-polling.ts';
import { config } from '../config.ts';
import type { RunFacts } from './status-line.tsx';
import { describeRunBy } from './status-line.tsx';

/** Says which worker runs a session that is in progress, or that none does. */
export function RunBy({ sessionId }: { readonly sessionId: string }): ReactElement | null {
  const read = useCallback(
    (signal: AbortSignal) => getJson(`${config.api}/sessions/${encodeURIComponent(sessionId)}/facts`, signal) as Promise<RunFacts>,
    [sessionId],
  );
  const { value } = usePolling(read);
  // A worker takes a session up within a moment.
  const isLate = useLate(1_500);
  const text = value && describeRunBy(value, isLate);
  return text === undefined ? null : <span>{text}</span>;
}
