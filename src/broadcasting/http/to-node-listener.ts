// The handler as a listener of node:http, which Express takes too.
// L1. It never throws, and no error of a socket is left unhandled: a client that leaves ends its own request and nothing else.
// L2. A response is written as fast as its reader reads, and no faster.
// L3. The path of the request is the path that the server was asked for, letter by letter: whatever a URL would change (dots, backslashes,
//     a host that brings a path) is refused, so that a proxy or a router in front decided about the same path.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describeValue, InvalidArgumentError } from '../../lib/index.ts';

const methodsWithBody = ['POST', 'PUT', 'PATCH', 'DELETE'];

function toHeaders({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
    // Headers of HTTP/2 that begin with a colon are not headers of the request.
    if (!name.startsWith(':')) headers.append(name, value);
  }
  return headers;
}

/** Returns the body that is still to be read, or the one that a parser before us has read (`express.json()`). */
function toBody(message: IncomingMessage): ReadableStream<Uint8Array> | string | null {
  if (!methodsWithBody.includes(message.method ?? '')) return null;
  const parsed: unknown = Reflect.get(message, 'body');
  if (parsed !== undefined && message.readableEnded) return typeof parsed === 'string' ? parsed : JSON.stringify(parsed);
  const chunks = message.iterator({ destroyOnReturn: false });
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const next: IteratorResult<unknown> = await chunks.next();
        if (next.done === true) controller.close();
        // Holds: no encoding is set, so that chunks are bytes.
        else controller.enqueue(next.value as Uint8Array);
      },
      cancel: async () => {
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

// A name or an address, and a port if there is one.
const validHost = /^(?:[\w.~-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;
const dotSegment = /^(?:\.|%2e){1,2}$/i;
// A client of a proxy sends the whole address.
const wholeAddress = /^(?<scheme>https?):\/\/(?<host>[^/?]*)(?<path>.*)$/i;

/** True if a URL keeps a path and its query as they are. */
function isKept(target: string): boolean {
  const [path = ''] = target.split('?', 1);
  return !/[\t\n\r #]/.test(target) && !path.includes('\\') && !path.split('/').some((part) => dotSegment.test(part));
}

function toUrl(message: IncomingMessage, headers: Headers): URL {
  // Express cuts the path at which a listener is mounted from `url`.
  const original: unknown = Reflect.get(message, 'originalUrl');
  const target = typeof original === 'string' ? original : (message.url ?? '/');
  const whole = target.startsWith('/') ? undefined : wholeAddress.exec(target)?.groups;
  const isEncrypted = Reflect.get(message.socket, 'encrypted') === true;
  const scheme = whole?.['scheme'] ?? (isEncrypted ? 'https' : 'http');
  const path = whole?.['path'] ?? target;
  // Two Host headers are joined with a comma, which no host has. HTTP/1.0 may leave the header out.
  const host = whole?.['host'] ?? headers.get('host') ?? message.headers[':authority'] ?? 'localhost';
  if (!validHost.test(String(host)))
    throw new InvalidArgumentError(`The Host header must be a host with an optional port, not ${describeValue(host)}.`);
  if (!isKept(path) || !/^[/?]/.test(path || '/'))
    throw new InvalidArgumentError(
      `The path ${describeValue(path)} cannot be used. Begin it with "/", and send it without ".", ".." and backslashes.`,
    );
  return new URL(`${scheme}://${String(host)}${path}`);
}

function toRequest(message: IncomingMessage, signal: AbortSignal): Request {
  const headers = toHeaders(message);
  const url = toUrl(message, headers);
  const body = toBody(message);
  const streaming = body instanceof ReadableStream ? { duplex: 'half' as const } : {};
  return new Request(url, { method: message.method ?? 'GET', headers, body, signal, ...streaming });
}

/** Settles when the response can take more, or nobody reads it any more. */
const whenWritable = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const onEnd = (): void => {
      response.off('drain', onEnd);
      response.off('close', onEnd);
      resolve();
    };
    response.on('drain', onEnd);
    response.on('close', onEnd);
  });

async function writeBody(body: ReadableStream<Uint8Array>, response: ServerResponse): Promise<void> {
  const reader = body.getReader();
  response.once('close', () => void reader.cancel().catch(() => undefined));
  for (let next = await reader.read(); !next.done && !response.destroyed; next = await reader.read())
    if (!response.write(next.value)) await whenWritable(response);
  // One that left before it was listened to is not noticed above.
  if (response.destroyed) await reader.cancel();
}

async function writeResponse(result: Response, response: ServerResponse): Promise<void> {
  response.statusCode = result.status;
  result.headers.forEach((value, name) => response.setHeader(name, value));
  // Holds: the body of a response is bytes.
  const body = result.body as ReadableStream<Uint8Array> | null;
  if (body !== null) {
    response.flushHeaders();
    await writeBody(body, response);
  }
  response.end();
}

function writeProblem(response: ServerResponse, status: number, error: { readonly code: string; readonly message: string }): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', connection: 'close' });
  response.end(JSON.stringify({ error }));
}

/** Returns a listener for `createServer()` of node:http, `app.use()` of Express, and the like. */
export function toNodeListener(
  handler: (request: Request) => Promise<Response>,
): (message: IncomingMessage, response: ServerResponse) => void {
  return (message, response) => {
    const leaving = new AbortController();
    message.on('error', () => undefined);
    response.on('error', () => undefined);
    response.on('close', () => leaving.abort());
    let request: Request;
    try {
      request = toRequest(message, leaving.signal);
    } catch (error) {
      // An address, a method or a header that is not one.
      const words = error instanceof InvalidArgumentError ? error.message : 'The request cannot be read.';
      writeProblem(response, 400, { code: 'invalid-argument', message: words });
      return;
    }
    handler(request)
      .then((result) => writeResponse(result, response))
      .catch(() => writeProblem(response, 500, { code: 'unclassified', message: 'The server failed.' }));
  };
}
