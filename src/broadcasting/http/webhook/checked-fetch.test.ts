import type { RequestListener } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createSocketServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createCheckedFetch } from './checked-fetch.ts';

const fetch = createCheckedFetch(() => true)!;

async function serve(listener: RequestListener): Promise<{ readonly url: string; readonly sockets: Set<Socket> }> {
  const server = createServer(listener);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://localhost:${(server.address() as AddressInfo).port}/hook`, sockets };
}

/** Answers each connection with the same bytes. */
async function answerRaw(bytes: string): Promise<string> {
  const server = createSocketServer((socket) => socket.on('error', () => undefined).end(bytes));
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  onTestFinished(() => void server.close());
  return `http://localhost:${(server.address() as AddressInfo).port}/`;
}

describe('createCheckedFetch()', () => {
  it('sends method, headers and body over one connection, and returns the status', async () => {
    const seen: unknown[] = [];
    const { url, sockets } = await serve((request, response) => {
      void text(request).then((body) => {
        seen.push([request.method, request.url, request.headers['x-own'], body]);
        response.writeHead(429, { 'retry-after': '7' }).end('later');
      });
    });
    for (const body of ['a', 'b']) {
      const response = await fetch(url, { method: 'POST', headers: { 'x-own': 'yes' }, body });
      expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7']);
    }
    expect(seen).toEqual(['a', 'b'].map((body) => ['POST', '/hook', 'yes', body]));
    expect(sockets.size).toBe(1);
  });

  it('does not follow a redirect', async () => {
    const paths: unknown[] = [];
    const { url } = await serve((request, response) => {
      paths.push(request.url);
      response.writeHead(307, { location: '/inside' }).end();
    });
    expect((await fetch(url, { method: 'POST' })).status).toBe(307);
    expect(paths).toEqual(['/hook']);
  });

  it('does not connect if one of the addresses is not allowed', async () => {
    const { url, sockets } = await serve((_, response) => response.end());
    const asked: string[] = [];
    const careful = createCheckedFetch((address) => asked.push(address) === 0)!;
    await expect(careful(url, { method: 'POST' })).rejects.toThrow('its name leads to a private address');
    expect(asked.length).toBeGreaterThan(0);
    expect(sockets.size).toBe(0);
  });

  it('ends an answer that goes on and on', async () => {
    const { url } = await serve((request, response) => {
      request.resume();
      response.writeHead(200);
      const write = (): void => {
        while (response.write('x'.repeat(10_000)));
        response.once('drain', write);
      };
      write();
    });
    expect((await fetch(url, { method: 'POST' })).status).toBe(200);
  });

  it('is cut off by its signal', async () => {
    const { url } = await serve(() => controller.abort(new Error('too late')));
    const controller = new AbortController();
    await expect(fetch(url, { method: 'POST', signal: controller.signal })).rejects.toThrow('aborted');
  });

  it.each([
    ['HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n', 502],
    ['HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', undefined],
    ['HTTP/1.1 600 Odd\r\nretry-after: \xff\r\ncontent-length: 0\r\n\r\n', 502],
    ['nonsense\r\n\r\n', undefined],
    ['', undefined],
  ])('survives the answer %j', async (bytes, status) => {
    const response = fetch(await answerRaw(bytes), { method: 'POST' });
    if (status === undefined) await expect(response).rejects.toThrow();
    else expect((await response).status).toBe(status);
  });
});
