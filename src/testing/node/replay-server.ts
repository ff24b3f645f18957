import type { ServerResponse } from 'node:http';
import type { LoopbackServer, ReceivedRequest } from './loopback-server.ts';
import { startLoopbackServer } from './loopback-server.ts';
import type { RecordedResponse } from './recorded-response.ts';

/** Serves recorded answers, one for each request, in their order. */
export interface ReplayServer extends LoopbackServer {
  /** The requests so far. */
  readonly requests: readonly ReceivedRequest[];
  /** Number of answers that are left. */
  readonly remaining: number;
}

// These describe the bytes that were once sent, not those that are sent now.
const transportHeader = /^(content-length|content-encoding|transfer-encoding|connection|keep-alive|set-cookie)$/;

function toHeaders({ headers, body }: RecordedResponse): Readonly<Record<string, string>> {
  const all = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const kept = all.filter(([name]) => !transportHeader.test(name));
  return { 'content-type': typeof body === 'string' ? 'text/event-stream' : 'application/json', ...Object.fromEntries(kept) };
}

// An odd size, so that pieces end inside of lines, words and characters as they do on a real network.
const pieceSize = 1021;

function send(response: ServerResponse, recorded: RecordedResponse): void {
  response.writeHead(recorded.status, toHeaders(recorded));
  const bytes = Buffer.from(typeof recorded.body === 'string' ? recorded.body : JSON.stringify(recorded.body));
  for (let start = 0; start < bytes.length; start += pieceSize) response.write(bytes.subarray(start, start + pieceSize));
  response.end();
}

/** Starts a server that answers from a recording. A request beyond its end gets status 410. */
export async function startReplayServer(responses: readonly RecordedResponse[]): Promise<ReplayServer> {
  const requests: ReceivedRequest[] = [];
  const server = await startLoopbackServer((request, response) => {
    const recorded = responses[requests.length] ?? { status: 410, headers: {}, body: { error: { message: 'The recording has ended.' } } };
    requests.push(request);
    send(response, recorded);
  });
  return {
    ...server,
    get requests() {
      return [...requests];
    },
    get remaining() {
      return Math.max(0, responses.length - requests.length);
    },
  };
}
