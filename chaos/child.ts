// A worker as its parent sees it.
import type { ChildProcessByStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Leases, Orders, Said } from './orders.ts';

const workerFile = fileURLToPath(new URL('worker.ts', import.meta.url));

export interface Child {
  readonly pid: number;
  /** Settles with the first line that fits; rejects if the worker ends without one. */
  hear(fits: (said: Said) => boolean): Promise<Said>;
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
  /** Settles when the process is gone. */
  readonly gone: Promise<void>;
  /** The problems that it told of. */
  readonly problems: readonly Extract<Said, { readonly type: 'problem' }>[];
  /** Leases of all sessions when it first freed those of another worker; undefined if it has freed none. */
  readonly freed: Leases | undefined;
}

interface Listener {
  readonly fits: (said: Said) => boolean;
  readonly resolve: (said: Said) => void;
  readonly reject: (error: Error) => void;
}

type WorkerProcess = ChildProcessByStdio<null, Readable, Readable>;

function launch(orders: Orders): WorkerProcess {
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', workerFile, JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** The end of what it said on its error output. */
function keepErrors(process: WorkerProcess): () => string {
  let text = '';
  process.stderr.setEncoding('utf8').on('data', (more: string) => {
    text = (text + more).slice(-4000);
  });
  return () => text;
}

export function startWorker(orders: Orders): Child {
  const worker = launch(orders);
  const errors = keepErrors(worker);
  const listeners = new Set<Listener>();
  const problems: Extract<Said, { readonly type: 'problem' }>[] = [];
  let freed: Leases | undefined;
  let last = 'nothing';

  function tell(said: Said): void {
    last = JSON.stringify(said).slice(0, 200);
    if (said.type === 'problem') problems.push(said);
    if (said.type === 'freed') freed ??= said.leases;
    for (const listener of [...listeners]) {
      if (!listener.fits(said)) continue;
      listeners.delete(listener);
      listener.resolve(said);
    }
  }

  // Holds: a worker prints nothing else. A line that a kill cut off does not count.
  createInterface({ input: worker.stdout }).on('line', (line) => {
    if (line.endsWith('}')) tell(JSON.parse(line) as Said);
  });
  const gone = new Promise<void>((resolve) => {
    worker.once('close', (code, signal) => {
      const error = new Error(`The worker ended (${signal ?? String(code)}); it last said: ${last}. ${errors()}`);
      for (const listener of listeners) listener.reject(error);
      listeners.clear();
      resolve();
    });
  });
  return {
    pid: worker.pid ?? -1,
    hear: (fits) =>
      new Promise((resolve, reject) => {
        listeners.add({ fits, resolve, reject });
      }),
    signal: (signal) => void worker.kill(signal),
    gone,
    problems,
    get freed() {
      return freed;
    },
  };
}
