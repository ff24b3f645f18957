// The supervisor: a web server and two workers in processes of their own, on one file.
// Owns:     which processes there are.
// Does not: serve a request or run a session.
// S1. A process that dies is replaced; the web server comes back on the same port.
// S2. The workers are ended, and not killed, before a process with another clock gets the file; they come back whatever became of it.
// S3. When the supervisor ends, so do all others; if it is killed, they notice and end by themselves.
import { randomBytes } from 'node:crypto';
import type { Clock } from 'stepline/step-by-step';
import type { Child } from './child-process.ts';
import { startChild } from './child-process.ts';
import { createKeeper } from './keeper.ts';
import type { EveningSettings, TourRequest, WebSettings, WorkerSettings } from './messages.ts';

export interface SupervisorOptions extends Omit<WorkerSettings, 'name'> {
  readonly clock: Clock;
  /** Prints a line for whoever watches. */
  readonly print: (line: string) => void;
}

export interface Supervisor {
  /** Starts the workers. Rejects if they cannot work with the file. */
  startWorkers(): Promise<void>;
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

  const workers = ['first worker', 'second worker'].map((name) =>
    createKeeper({ name, launch: () => startChild<WorkerSettings>('worker-process.ts', { db, name, offline, log }), clock, print }),
  );
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
    await Promise.all(workers.map((worker) => worker.pause()));
    const problem = isStopped ? 'The desk has ended.' : await runEvening(sessionId);
    for (const worker of workers) worker.resume();
    web.send({ type: 'evening-ended', sessionId, ...(problem !== undefined && { problem }) });
  }

  async function serve(request: TourRequest): Promise<void> {
    if (request.type === 'kill-worker') workers.find((worker) => worker.getPid() === request.pid)?.kill();
    else await playEvening(request.sessionId);
  }

  return {
    startWorkers: async () => {
      // One after the other: the first makes the file.
      for (const worker of workers) await worker.start();
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
      await Promise.all([web, ...workers].map((child) => child.stop()));
    },
  };
}
