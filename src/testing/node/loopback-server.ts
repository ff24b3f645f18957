import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { text as readText } from 'node:stream/consumers';

/** A request that a server received. */
export interface ReceivedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Parsed JSON, or the text if it is not JSON. */
  readonly body: unknown;
}

/** A server on this machine. */
export interface LoopbackServer {
  readonly url: string;
  /** Counts the connections that are open now. */
  connections(): Promise<number>;
  close(): Promise<void>;
}

/** Answers one request. An error that it throws is answered as a 500. */
export type Answer = (request: ReceivedRequest, response: ServerResponse) => void | Promise<void>;

async function readBody(request: IncomingMessage): Promise<unknown> {
  const content = await readText(request);
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
}

async function respond(answer: Answer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    await answer({ path: request.url ?? '/', headers: request.headers, body: await readBody(request) }, response);
  } catch (error) {
    if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
    response.end(String(error));
  }
}

/** Starts a server on a free port of the loopback address. */
export async function startLoopbackServer(answer: Answer): Promise<LoopbackServer> {
  const server = createServer((request, response) => void respond(answer, request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
