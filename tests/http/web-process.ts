// A web server in a process of its own. Its arguments are the path of the database and a port, 0 for any.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSessionHandler, toNodeListener } from '../../src/broadcasting/http/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { createWriter } from './writer.ts';

const [, , path = '', port = '0'] = process.argv;
const runtime = createSessionRuntime({ agents: [createWriter()], store: sqliteStore({ path }), role: 'client' });
const by = { id: 'ann', kind: 'user' };
const handler = createSessionHandler(runtime, {
  authenticate: () => by,
  authorize: () => true,
  newSession: () => ({ owner: 'ann' }),
  retryMs: 100,
  onProblem: () => undefined,
});
const server = createServer(toNodeListener(handler));
server.listen(Number(port), '127.0.0.1', () => {
  // Holds: it listens on a port, not on a pipe.
  process.send?.({ type: 'ready', port: (server.address() as AddressInfo).port });
});
process.on('message', () => {
  globalThis.gc?.();
  process.send?.({ type: 'memory', bytes: process.memoryUsage().heapUsed });
});
