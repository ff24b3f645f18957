// A web server in a process of its own: sessions at /agents, tokens at /token, the built package at /dist, the page everywhere else.
// Its arguments are the path of the database, the folder of the gates and a port, 0 for any.
import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../../scripts/run.mjs';
import type { Authentication } from '../../src/broadcasting/http/index.ts';
import { createSessionHandler, toNodeListener } from '../../src/broadcasting/http/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { createAgents } from './agents.ts';

const [, , path = '', gates = '', port = '0'] = process.argv;
const runtime = createSessionRuntime({ agents: createAgents(gates), store: sqliteStore({ path }), role: 'client' });

const counts = { openStreams: 0, streams: 0, refused: 0, tokens: 0 };
const streams = new Set<ServerResponse>();
let expiredAt = 0;

/** A token is the time at which it was issued. */
function authenticate(request: Request): Authentication {
  const issuedAt = Number(/^Bearer (\d+)$/.exec(request.headers.get('authorization') ?? '')?.[1] ?? 0);
  if (issuedAt > expiredAt) return { id: 'ann', kind: 'user' };
  counts.refused += 1;
  return { refused: 'unauthenticated', reason: 'The token has expired.' };
}

const sessions = toNodeListener(
  createSessionHandler(runtime, {
    authenticate,
    authorize: () => true,
    basePath: '/agents',
    newSession: ({ by, body }) => ({ owner: by.id, agent: typeof body['agent'] === 'string' ? body['agent'] : 'desk' }),
    retryMs: 100,
    onProblem: (problem) => process.stderr.write(`${String(problem)}\n`),
  }),
);

async function loadPage(): Promise<ReturnType<typeof toNodeListener> | undefined> {
  const file = join(root, 'dist', 'entry', 'page.js');
  if (!existsSync(file)) return undefined;
  // Holds: the built entry point exports what its source does.
  const { createPageHandler } = (await import(pathToFileURL(file).href)) as {
    createPageHandler(options: object): (request: Request) => Promise<Response>;
  };
  return toNodeListener(createPageHandler({ api: '/agents', tokenUrl: '/token', suggestions: ['say hello there'], title: 'Partner desk' }));
}
const page = await loadPage();

function send(response: ServerResponse, type: string, body: string | Buffer): void {
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(body);
}

/** Counts streams of events, so that a test can say how many connections a browser holds. */
function countStream(request: IncomingMessage, response: ServerResponse): void {
  if (!/\/events\b/.test(request.url ?? '') || request.headers.accept !== 'text/event-stream') return;
  counts.streams += 1;
  counts.openStreams += 1;
  streams.add(response);
  response.on('close', () => {
    counts.openStreams -= 1;
    streams.delete(response);
  });
}

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname.startsWith('/agents/')) {
    countStream(request, response);
    sessions(request, response);
  } else if (pathname === '/token') {
    counts.tokens += 1;
    send(response, 'text/plain', String(Date.now()));
  } else if (pathname === '/bare') {
    send(response, 'text/html', readFileSync(new URL('bare.html', import.meta.url)));
  } else if (/^\/dist\/[\w/-]+\.js$/.test(pathname)) {
    send(response, 'text/javascript', readFileSync(join(root, pathname)));
  } else if (page === undefined) {
    response.writeHead(404).end();
  } else {
    page(request, response);
  }
});
server.listen(Number(port), '127.0.0.1', () => {
  // Holds: it listens on a port, not on a pipe.
  process.send?.({ type: 'ready', port: (server.address() as AddressInfo).port });
});

process.on('message', ({ type }: { readonly type: string }) => {
  if (type === 'expire') expiredAt = Date.now();
  if (type === 'cut') for (const response of streams) response.destroy();
  process.send?.({ type, value: { ...counts } });
});
// Ends with the test that started it.
process.on('disconnect', () => process.exit());
