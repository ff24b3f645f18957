import type { SessionReader } from '../store/session-store.ts';
import { listAll } from '../store/session-store.ts';
import { toSummary } from './session.ts';

/** Finds the sessions that were forked from a session. Reads all headers: sessions are not found by their source. */
export async function findForks(reader: SessionReader, sessionId: string): Promise<readonly string[]> {
  const forks: string[] = [];
  for await (const listed of listAll(reader, {})) {
    const summary = toSummary(listed);
    if ('agent' in summary && summary.forkedFrom?.sessionId === sessionId) forks.push(summary.id);
  }
  return forks;
}
