// Sessions on Restate with one command: starts a server, a worker and an application with its page, all on loopback.
//   npm run start:restate
//   npm run start:restate -- --port 3000
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createSessionHandler, toNodeListener } from 'stepline/http';
import { createPageHandler } from 'stepline/page';
import { restateSessions, serveDesk } from 'stepline/restate';
import { sqliteStore } from 'stepline/sqlite';
import { findPorts, startRestate } from '../../tests/engines/restate/server.ts';
import { createDesk } from './agent.ts';

const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, folder: { type: 'string', default: '.cache/restate' } },
});
const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function listenOnLoopback(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  // Holds: it listens on a port.
  return (server.address() as AddressInfo).port;
}

mkdirSync(values.folder, { recursive: true });
const path = join(values.folder, `list-${process.pid}.db`);
const restate = await startRestate();
const list = sqliteStore({ path });

// The desk is part of the application.
const desk = createHttp2Server(serveDesk({ list }).node);
const deskPort = await listenOnLoopback(desk);
await restate.register(`http://127.0.0.1:${deskPort}`);

const [workerPort = 0] = await findPorts(1);
const workerFile = fileURLToPath(new URL('worker.ts', import.meta.url));
const workerArgs = ['--disable-warning=ExperimentalWarning', workerFile, restate.ingress, String(workerPort)];
const worker = spawn(process.execPath, workerArgs, { stdio: 'inherit' });
const gone = once(worker, 'close');
await restate.register(`http://127.0.0.1:${workerPort}`);

const runtime = restateSessions({ agents: [createDesk()], ingress: { url: restate.ingress }, list });
const sessions = createSessionHandler(runtime, {
  basePath: '/agents',
  authenticate: () => ({ id: 'ann', kind: 'user' }), // your own login
  authorize: () => true,
  newSession: ({ by }) => ({ owner: by.id, agent: 'desk' }),
});
const page = createPageHandler({ api: '/agents', title: 'Desk on Restate', suggestions: ['Write to our partners.'] });
const isApi = (request: Request): boolean => new URL(request.url).pathname.startsWith('/agents');
const web = createServer(toNodeListener((request) => (isApi(request) ? sessions(request) : page(request))));
const port = await listenOnLoopback(web, Number(values.port));

print(`The page:          http://127.0.0.1:${port}/`);
print(`The worker:        process ${worker.pid ?? 0}; end it, and whatever is asked meanwhile waits for the next one`);
print(`Another one:       ${[process.execPath, ...workerArgs].join(' ')}`);
print(`Restate's console: ${restate.admin}`);
print(`Why, in words:     npx stepline why --db ${path} <session>`);

let isEnding = false;
const end = async (): Promise<void> => {
  if (isEnding) return;
  isEnding = true;
  worker.kill('SIGTERM');
  await Promise.all([gone, runtime.drain()]);
  await restate.dispose();
  await list.close();
  process.exit(0);
};
process.once('SIGINT', () => void end());
process.once('SIGTERM', () => void end());
