// An executor process, controlled by its parent.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Orders } from './worker.ts';

const workerFile = fileURLToPath(new URL('worker.ts', import.meta.url));

/** A line that an executor prints. */
export interface Said {
  readonly started?: number;
  /** Session whose step was recorded. */
  readonly step?: string;
  /** Number of workflows it took over. */
  readonly takeover?: number;
  readonly problem?: string;
}

export interface Executor {
  readonly orders: Orders;
  readonly kill: () => Promise<void>;
  /** Settles with the last part of stderr if the process ended by itself. */
  readonly failed: Promise<string>;
}

export function startExecutor(orders: Orders, onSaid: (said: Said) => void): Executor {
  const args = ['--disable-warning=ExperimentalWarning', '--disable-warning=DeprecationWarning', workerFile, JSON.stringify(orders)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (more: string) => {
    errors = (errors + more).slice(-4000);
  });
  // Holds: an executor prints nothing else. A line that a kill cut off does not count.
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.endsWith('}')) onSaid(JSON.parse(line) as Said);
  });
  const gone = new Promise<string | null>((resolve) => child.once('close', (_, signal) => resolve(signal)));
  return {
    orders,
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
    failed: new Promise((resolve) => {
      void gone.then((signal) => signal !== 'SIGKILL' && resolve(errors));
    }),
  };
}
