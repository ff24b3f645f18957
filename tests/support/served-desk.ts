// The partner desk as `npm start` serves it, over the sources: a supervisor, two workers and a web server in processes of their own.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished, vi } from 'vitest';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { terminalPreload } from './desk.ts';
import { sourcePreload, toImport } from './source-preload.ts';

const main = fileURLToPath(new URL('../../examples/partner-desk/main.ts', import.meta.url));

/** Fields of answers that tests look at. */
export interface ServedSession {
  readonly session_id: string;
  readonly status: string;
  readonly stop_reason?: string;
  readonly text: string;
  readonly sentence: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly step_count: number;
  readonly waiting_for: readonly { readonly wait_id: string; readonly type: string }[];
  readonly waits: readonly { readonly wait_id: string; readonly digest: string }[];
  readonly sessions: readonly ServedSession[];
}

/** Makes a folder that goes with the test. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stepline-desk-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
  return folder;
}

/** Starts the desk in a terminal; it ends with the test. */
export function startServing(db: string, ...more: readonly string[]) {
  const args = ['--import', toImport(sourcePreload + terminalPreload), main, '--offline', '--db', db, ...more];
  const child = spawn(process.execPath, args, { env: { ...process.env, NO_COLOR: '1' }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
  const exit = once(child, 'close').then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await exit;
  });
  return { pid: child.pid ?? 0, kill: (signal: NodeJS.Signals) => child.kill(signal), exit, output: () => output };
}

interface ListedProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** Lists the processes of this machine. */
export function listProcesses(): readonly ListedProcess[] {
  return execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .flatMap((found) => (found === null ? [] : [{ pid: Number(found[1]), parent: Number(found[2]), command: found[3] ?? '' }]));
}

const waiting = { timeout: 30_000, interval: 50 };

/** Serves a desk on a free port, and returns what a browser and an operator would do with it. */
export async function serveDesk() {
  const db = join(makeFolder(), 'desk.db');
  const desk = startServing(db, '--port', '0');
  const url = await vi.waitFor(() => {
    const found = /http:\/\/localhost:\d+/.exec(desk.output())?.[0];
    if (found === undefined) throw new Error(`It printed no address:\n${desk.output()}`);
    return found;
  }, waiting);

  const request = async (method: string, path: string, body?: object): Promise<ServedSession> => {
    const response = await fetch(`${url}${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return (await response.json()) as ServedSession;
  };
  const get = (path: string): Promise<ServedSession> => request('GET', path);
  const post = (path: string, body: object = {}): Promise<ServedSession> => request('POST', path, body);
  const sessionPath = (id: string): string => `/agents/sessions/${id}`;
  return {
    ...desk,
    db,
    url,
    get,
    post,
    /** Starts an act of the tour, and returns its session. */
    startAct: async (act: string): Promise<string> => (await post(`/tour/${act}`)).session_id,
    /** Settles with a session when it has this status. */
    whenIt: (id: string, status: string): Promise<ServedSession> =>
      vi.waitFor(async () => {
        const session = await get(sessionPath(id));
        if (session.status !== status) throw new Error(`It is ${session.status}, not ${status}:\n${desk.output()}`);
        return session;
      }, waiting),
    /** Approves the call that a session waits for. */
    approve: async (id: string): Promise<ServedSession> => {
      const { waits } = await get(`${sessionPath(id)}/waits`);
      const [wait] = waits;
      return post(`${sessionPath(id)}/waits/${wait?.wait_id ?? ''}/approve`, { digest: wait?.digest, until: 'rest' });
    },
    /** Numbers of the processes of the desk that run this file. */
    findProcesses: (file: 'web-process.ts' | 'worker-process.ts'): readonly number[] =>
      listProcesses().flatMap(({ parent, command, pid }) => (parent === desk.pid && command.includes(file) ? [pid] : [])),
    /** Number of the process that runs a session. */
    findWorker: async (id: string): Promise<number> => {
      const store = sqliteStore({ path: db });
      const owner = (await store.heads.read(id))?.worker;
      const worker = (await store.leases.workers()).find((each) => each.id === owner);
      await store.close();
      return worker?.pid ?? 0;
    },
  };
}
