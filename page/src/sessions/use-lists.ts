import { useCallback, useState } from 'react';
import { getJson } from '../app/server.ts';
import type { Polled } from '../app/use-polling.ts';
import { usePolling } from '../app/use-polling.ts';
import { config } from '../config.ts';
import type { ListedSession, ListedWait } from './session-types.ts';

/** Largest page that the server sends. */
const largestPage = 200;

export interface SessionList extends Polled<readonly ListedSession[]> {
  /** Undefined if there are no more. */
  readonly showMore: (() => void) | undefined;
}

const firstCount = 50;
const moreCount = 150;

interface SessionPage {
  readonly sessions?: readonly ListedSession[];
  readonly cursor?: string;
}

/** Reads the newest sessions, page by page. */
async function readSessions(count: number, signal: AbortSignal): Promise<{ sessions: readonly ListedSession[]; hasMore: boolean }> {
  const found: ListedSession[] = [];
  let cursor: string | undefined;
  do {
    const after = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const limit = Math.min(largestPage, count - found.length);
    const page = (await getJson(`${config.api}/sessions?limit=${limit}${after}`, signal)) as SessionPage;
    found.push(...(page.sessions ?? []));
    ({ cursor } = page);
  } while (cursor !== undefined && found.length < count);
  const sessions = found.toSorted((one, other) => (one.updated_at < other.updated_at ? 1 : -1));
  return { sessions, hasMore: cursor !== undefined };
}

/** The newest sessions, newest first. */
export function useSessionList(): SessionList {
  const [count, setCount] = useState(firstCount);
  const read = useCallback((signal: AbortSignal) => readSessions(count, signal), [count]);
  const { value, error, refresh } = usePolling(read);
  const showMore = value?.hasMore === true ? () => setCount(count + moreCount) : undefined;
  return { value: value?.sessions, error, refresh, showMore };
}

async function readWaits(signal: AbortSignal): Promise<readonly ListedWait[]> {
  const body = (await getJson(`${config.api}/waits?limit=${largestPage}`, signal)) as { readonly waits?: readonly ListedWait[] };
  return body.waits ?? [];
}

/** Everything that waits for somebody. */
export const useInbox = (): Polled<readonly ListedWait[]> => usePolling(readWaits);
