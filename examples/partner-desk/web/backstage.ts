// The supervisor, as the web server asks it for things.
import type { SessionStore } from 'stepline/sessions';
import type { SupervisorChannel } from './child-side.ts';
import type { Backstage } from './conductor.ts';

/** Returns the number of the process that runs a session; undefined if nobody does. */
async function findProcess({ heads, leases }: Pick<SessionStore, 'heads' | 'leases'>, sessionId: string): Promise<number | undefined> {
  const head = await heads.read(sessionId);
  const workers = await leases.workers();
  return workers.find(({ id }) => id === head?.worker)?.pid;
}

export function createBackstage(
  supervisor: Pick<SupervisorChannel<unknown>, 'send' | 'onMessage'>,
  store: Pick<SessionStore, 'heads' | 'leases'>,
): Backstage {
  const waiting = new Map<string, (problem?: string) => void>();
  supervisor.onMessage((message) => {
    if (message.type === 'evening-ended') waiting.get(message.sessionId)?.(message.problem);
  });
  return {
    killWorker: async (sessionId) => {
      const pid = await findProcess(store, sessionId);
      if (pid !== undefined) supervisor.send({ type: 'kill-worker', pid });
    },
    playEvening: (sessionId) =>
      new Promise((resolve, reject) => {
        waiting.set(sessionId, (problem) => {
          waiting.delete(sessionId);
          if (problem === undefined) resolve();
          else reject(new Error(problem));
        });
        supervisor.send({ type: 'play-evening', sessionId });
      }),
  };
}
