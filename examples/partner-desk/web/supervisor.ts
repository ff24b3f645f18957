// The supervisor: a web server and a worker in processes of their own, on one file.
// Owns:     which processes there are. At most one of them runs sessions at any time.
// Does not: serve a request or run a session.
// S1. A process that dies is replaced; the web server comes back on the same port.
// S2. The worker is ended, and not killed, before another process gets the file; it comes back whatever became of the other.
// S3. When the supervisor ends, so do all others; if it is killed, they notice and end by themselves.
import { randomBytes } from 'node:crypto';
import type { Clock } from 'stepline/step-by-step';
import type { Child } from './child-process.ts';
import { startChild } from './child-process.ts';
import { createKeeper } from './keeper.ts';
import type { EveningSettings, TourRequest, WebSettings, WorkerSettings } from './messages.ts';

export interface SupervisorOptions extends WorkerSettings {
  readonly clock: Clock;
  /** Prints a line for whoever watches. */
  readonly print: (line: string) => void;
}

export interface Supervisor {
  /** Starts the worker. Rejects if it cannot work with the file. */
  startWorker(): Promise<void>;
  /** Starts the web server. Settles with its port; rejects if it is taken. */
  startWeb(port: number): Promise<number>;
  stop(): Promise<void>;
}

/** Longest time that an evening may take. */
const longestEveningMs = 20_000;

export function createSupervisor({ clock, print, db, offline, log }: SupervisorOptions): Supervisor {
  const secret = randomBytes(32).toString('base64url');
  let webPort = 0;
  let evening: Child | undefined;
  let isStopped = false;

  const worker = createKeeper({
    name: 'worker',
    launch: () => startChild<WorkerSettings>('worker-process.ts', { db, offline, log }),
    clock,
    print,
  });
  const web = createKeeper({
    name: 'web server',
    launch: () => startChild<WebSettings>('web-process.ts', { db, port: webPort, secret }),
    clock,
    print,
    onRequest: (request) => void serve(request),
  });

  /** Settles with the problem, if there was one. */
  async function runEvening(sessionId: string): Promise<string | undefined> {
    const child = startChild<EveningSettings>('evening-process.ts', { db, sessionId });
    evening = child;
    const cancelKill = clock.schedule(longestEveningMs, () => child.kill());
    let problem: string | undefined = 'The evening did not come to its end.';
    child.onMessage((message) => {
      if (message.type === 'failed') ({ message: problem } = message);
      if (message.type !== 'ready') return;
      problem = undefined;
      child.send({ type: 'end' });
    });
    await child.ended;
    cancelKill();
    evening = undefined;
    return problem;
  }

  async function playEvening(sessionId: string): Promise<void> {
    await worker.pause();
    const problem = isStopped ? 'The desk has ended.' : await runEvening(sessionId);
    worker.resume();
    web.send({ type: 'evening-ended', sessionId, ...(problem !== undefined && { problem }) });
  }

  async function serve(request: TourRequest): Promise<void> {
    if (request.type === 'kill-worker') worker.kill();
    else await playEvening(request.sessionId);
  }

  return {
    startWorker: async () => {
      await worker.start();
    },
    startWeb: async (port) => {
      webPort = port;
      const { port: found = port } = await web.start();
      webPort = found;
      return found;
    },
    stop: async () => {
      isStopped = true;
      evening?.kill();
      await Promise.all([web.stop(), worker.stop()]);
    },
  };
}
