// A worker and a web server in processes of their own, on one SQLite file; both can be killed and started again.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StartedProcess } from '../support/started-process.ts';
import { startProcess } from '../support/started-process.ts';

const getPath = (file: string): URL => new URL(file, import.meta.url);

export interface Pair {
  readonly url: string;
  readonly web: StartedProcess;
  readonly worker: StartedProcess;
  /** Kills a process the hard way, and starts it again. */
  restart(which: 'web' | 'worker'): Promise<void>;
  post(path: string, value?: object): Promise<{ readonly session_id: string }>;
  /** Ends both, and removes their file. */
  end(): Promise<void>;
}

/** Starts both. */
export async function openPair(): Promise<Pair> {
  const folder = mkdtempSync(join(tmpdir(), 'stepline-http-'));
  const path = join(folder, 'sessions.db');
  const startWeb = async (port: number): Promise<{ web: StartedProcess; port: number }> => {
    const web = startProcess(getPath('web-process.ts'), [path, String(port)]);
    return { web, port: (await web.hear('ready')).port ?? 0 };
  };
  const startWorker = async (): Promise<StartedProcess> => {
    const worker = startProcess(getPath('worker-process.ts'), [path]);
    await worker.hear('ready');
    return worker;
  };
  const first = await startWorker();
  const { web, port } = await startWeb(0);
  const running = { web, worker: first };
  const end = async (): Promise<void> => {
    await Promise.all([running.web.kill(), running.worker.kill()]);
    rmSync(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    end,
    get web() {
      return running.web;
    },
    get worker() {
      return running.worker;
    },
    restart: async (which) => {
      await running[which].kill();
      if (which === 'web') running.web = (await startWeb(port)).web;
      else running.worker = await startWorker();
    },
    post: async (to, value = {}) => {
      const response = await fetch(`${url}${to}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(value),
      });
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      return (await response.json()) as { readonly session_id: string };
    },
  };
}
