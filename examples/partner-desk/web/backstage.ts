// The supervisor, as the web server asks it for things.
import type { SupervisorChannel } from './child-side.ts';
import type { Backstage } from './conductor.ts';

export function createBackstage(supervisor: Pick<SupervisorChannel<unknown>, 'send' | 'onMessage'>): Backstage {
  const waiting = new Map<string, (problem?: string) => void>();
  supervisor.onMessage((message) => {
    if (message.type === 'evening-ended') waiting.get(message.sessionId)?.(message.problem);
  });
  return {
    killWorker: () => supervisor.send({ type: 'kill-worker' }),
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
