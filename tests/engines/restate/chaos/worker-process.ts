// A worker process, controlled by its parent.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Orders } from './worker.ts';

const workerFile = fileURLToPath(new URL('worker.ts', import.meta.url));

export interface WorkerProcess {
  readonly orders: Orders;
  /** Settles when it listens; rejects if it ended before. */
  readonly listening: Promise<void>;
  kill(): Promise<void>;
  /** Freezes the process, then lets it continue. */
  freeze(): void;
  thaw(): void;
}

export function startWorker(orders: Orders): WorkerProcess {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', workerFile, JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (more: string) => (errors = (errors + more).slice(-4000)));
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const listening = new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', () => resolve());
    void gone.then(() => reject(new Error(`A worker ended before it listened. ${errors}`)));
  });
  listening.catch(() => undefined);
  return {
    orders,
    listening,
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
  };
}
