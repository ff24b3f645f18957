// A store that does not keep a worker from writing that has lost a session: to show what a run finds then. Only the place of an entry
// protects a session, as if there were no leases.
import type { SessionStore, SessionWrite, WriteReceipt } from '../../src/sessions/index.ts';

export function withoutFence(store: SessionStore): SessionStore {
  const last = new Map<string, Promise<unknown>>();

  /** Writes with the lease that the session has, whoever owns it. */
  async function write(given: SessionWrite): Promise<WriteReceipt> {
    const found = await store.heads.read(given.sessionId);
    if (found === undefined) return store.log.write(given);
    const { fence, worker } = found;
    const type = worker === undefined ? 'free' : 'held';
    return store.log.write({ ...given, lease: { worker: worker ?? given.lease.worker, fence, type } });
  }

  return {
    ...store,
    log: {
      ...store.log,
      write: (given) => {
        const writing = (last.get(given.sessionId) ?? Promise.resolve()).then(() => write(given));
        last.set(
          given.sessionId,
          writing.catch(() => undefined),
        );
        return writing;
      },
    },
  };
}
