// The supervisor, as the web server asks it for things.
import { onSupervisorMessage, sendToSupervisor } from './child-side.ts';
import type { Backstage } from './conductor.ts';

export function createBackstage(): Backstage {
  const waiting = new Map<string, (problem?: string) => void>();
  onSupervisorMessage((message) => {
    if (message.type === 'evening-ended') waiting.get(message.sessionId)?.(message.problem);
  });
  return {
    killWorker: () => sendToSupervisor({ type: 'kill-worker' }),
    playEvening: (sessionId) =>
      new Promise((resolve, reject) => {
        waiting.set(sessionId, (problem) => {
          waiting.delete(sessionId);
          if (problem === undefined) resolve();
          else reject(new Error(problem));
        });
        sendToSupervisor({ type: 'play-evening', sessionId });
      }),
  };
}
