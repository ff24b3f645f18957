// A real Restate server for tests, chaos and benchmarks, from the packages of this folder. Everything is on loopback, on free ports.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export interface RestateServer {
  readonly ingress: string;
  readonly admin: string;
  /** Registers the address of an endpoint. Call it again if the endpoint has changed. */
  register(url: string): Promise<void>;
  /** Kills the server without warning. */
  kill(): Promise<void>;
  /** Restarts the server with its stored data. */
  start(): Promise<void>;
  dispose(): Promise<void>;
}

/** Finds ports that nobody uses. */
export async function findPorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  // Holds: they listen on ports.
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(
    servers.map((server) => {
      server.close();
      return once(server, 'close');
    }),
  );
  return ports;
}

/** Path of the server binary from the package for this platform. */
function findProgram(): string {
  const { platform, arch } = process;
  const require = createRequire(import.meta.url);
  return join(require.resolve(`@restatedev/restate-server-${platform}-${arch}/package.json`), '..', 'bin', 'restate-server');
}

const patienceMs = 60_000;

async function until(what: string, isDone: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + patienceMs;
  let problem: unknown;
  for (;;) {
    try {
      if (await isDone()) return;
    } catch (error) {
      problem = error;
    }
    if (Date.now() > end) throw new Error(`${what} took longer than ${patienceMs} ms`, { cause: problem });
    await pause(50);
  }
}

/** Starts a server on loopback, with its data in a separate folder. */
export async function startRestate(settings: Readonly<Record<string, string>> = {}): Promise<RestateServer> {
  const folder = mkdtempSync(join(tmpdir(), 'stepline-restate-'));
  const [ingressPort, adminPort, nodePort] = (await findPorts(3)) as [number, number, number];
  const [ingress, admin] = [`http://127.0.0.1:${ingressPort}`, `http://127.0.0.1:${adminPort}`];
  const env = {
    ...process.env,
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_BASE_DIR: folder,
    RESTATE_NODE_NAME: 'one',
    RESTATE_BIND_ADDRESS: `127.0.0.1:${nodePort}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${nodePort}`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingressPort}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${adminPort}`,
    RESTATE_DEFAULT_NUM_PARTITIONS: '4',
    RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: '512MB',
    RESTATE_LOG_FILTER: 'error',
    // The server gives up on a worker that hangs after three seconds instead of a minute.
    RESTATE_WORKER__INVOKER__HTTP2_KEEP_ALIVE_INTERVAL: '1s',
    RESTATE_WORKER__INVOKER__HTTP2_KEEP_ALIVE_TIMEOUT: '2s',
    ...settings,
  };
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    let errors = '';
    const started = spawn(findProgram(), [], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    child = started;
    for (const stream of [started.stdout, started.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-4000)));
    await until('The start of the Restate server', async () => {
      if (started.exitCode !== null) throw new Error(`The Restate server ended. ${errors}`);
      const [one, other] = await Promise.all([fetch(`${ingress}/restate/health`), fetch(`${admin}/health`)]);
      return one.ok && other.ok;
    });
  };
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'close');
  };
  await start();
  return {
    ingress,
    admin,
    register: (url) =>
      until(`Registering ${url}`, async () => {
        const response = await fetch(`${admin}/deployments`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ uri: url, force: true, breaking: true }),
        });
        if (!response.ok) throw new Error(await response.text());
        return true;
      }),
    kill,
    start,
    dispose: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
