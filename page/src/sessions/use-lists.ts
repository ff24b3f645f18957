import { useCallback, useState } from 'react';
import { getJson } from '../app/server.ts';
import type { Polled } from '../app/use-polling.ts';
import { usePolling } from '../app/use-polling.ts';
import { config } from '../config.ts';
import type { ListedSession, ListedWait } from './session-types.ts';

/** Largest page that the server sends. */
const largestPage = 200;

export interface SessionList extends Polled<readonly ListedSession[]> {
  /** Undefined if there are no more, or no more are shown. */
  readonly showMore: (() => void) | undefined;
}

/** The newest sessions, newest first. */
export function useSessionList(): SessionList {
  const [limit, setLimit] = useState(50);
  const read = useCallback(
    async (signal: AbortSignal) => {
      const body = (await getJson(`${config.api}/sessions?limit=${limit}`, signal)) as {
        readonly sessions?: readonly ListedSession[];
        readonly cursor?: string;
      };
      const sessions = (body.sessions ?? []).toSorted((one, other) => (one.updated_at < other.updated_at ? 1 : -1));
      return { sessions, hasMore: body.cursor !== undefined };
    },
    [limit],
  );
  const { value, error, refresh } = usePolling(read);
  const showMore = value?.hasMore === true && limit < largestPage ? () => setLimit(largestPage) : undefined;
  return { value: value?.sessions, error, refresh, showMore };
}

async function readWaits(signal: AbortSignal): Promise<readonly ListedWait[]> {
  const body = (await getJson(`${config.api}/waits?limit=${largestPage}`, signal)) as { readonly waits?: readonly ListedWait[] };
  return body.waits ?? [];
}

/** Everything that waits for somebody. */
export const useInbox = (): Polled<readonly ListedWait[]> => usePolling(readWaits);
