// The address of a request as the bytes of a socket say it, and the path that a handler gets.
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { toNodeListener } from '../../src/broadcasting/http/index.ts';
import { ann, listen, openSite } from './stage.ts';

/** Sends bytes, and returns the status and the body of the answer. */
function exchange(url: string, text: string): Promise<readonly [status: number, body: string]> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => resolve([Number(answer.split(' ', 2)[1]), answer.split('\r\n\r\n').slice(1).join()]));
  });
}

/** Starts a server that answers with the address that its handler got; returns a function that sends it a request. */
async function openEcho(): Promise<(target: string, ...headers: readonly string[]) => ReturnType<typeof exchange>> {
  const listener = toNodeListener(
    async ({ url: address }) => new Response(address, { headers: { 'content-length': String(address.length) } }),
  );
  const url = await listen(createServer({ requireHostHeader: false }, listener));
  return (target, ...headers) => exchange(url, [`GET ${target} HTTP/1.1`, ...headers, 'connection: close', '', ''].join('\r\n'));
}

it.each([
  'x/internal/a?',
  'x/internal/a#',
  'x?',
  'x#',
  'x\\internal',
  '/internal/a?',
  'ann@x',
  'x:80:80',
  'x:99999',
  'x y',
  '%2e',
  '[x]',
  '',
])('refuses the Host header %j', async (host) => {
  const request = await openEcho();
  const [status, body] = await request('/public/b', `host: ${host}`);
  expect(status).toBe(400);
  expect(body).toContain('invalid-argument');
});

it('refuses two Host headers', async () => {
  const request = await openEcho();
  expect(await request('/a', 'host: x', 'host: y')).toEqual([400, expect.stringContaining('The Host header must be')]);
});

it.each([
  '/public/../internal/a',
  '/public/%2e%2e/internal/a',
  '/public/.%2E/internal/a',
  '/public/..',
  '/public/./a',
  '/public\\..\\internal/a',
  '/public#/a',
  'http://x/public/../internal/a',
  'http://x/internal\\a',
  'http:/internal/a',
  'http://ann@x/internal/a',
  'ftp://x/internal/a',
  'internal/a',
  '*',
])('refuses the path %s', async (target) => {
  const request = await openEcho();
  expect((await request(target, 'host: x'))[0]).toBe(400);
});

it.each([
  ['/a/b?c=/../d\\e', 'x', 'http://x/a/b?c=/../d\\e'],
  ['//evil/a', 'x:8080', 'http://x:8080//evil/a'],
  ['/a%2Fb/%2e%2e%2e/..c', 'x', 'http://x/a%2Fb/%2e%2e%2e/..c'],
  ['/a', '[::1]:8080', 'http://[::1]:8080/a'],
  ['/a', 'my_host.example', 'http://my_host.example/a'],
  ['http://y/a?b', 'x', 'http://y/a?b'],
  ['http://y', 'x', 'http://y/'],
])('serves %s of the host %s as it is', async (target, host, expected) => {
  const request = await openEcho();
  expect(await request(target, `host: ${host}`)).toEqual([200, expected]);
});

it('serves a request of HTTP/1.0 without a Host header', async () => {
  const url = await listen(createServer(toNodeListener(async (request) => new Response(request.url))));
  expect(await exchange(url, 'GET /a HTTP/1.0\r\n\r\n')).toEqual([200, 'http://localhost/a']);
});

it('does not serve a session under the path of another', async () => {
  const site = await openSite();
  const id = await site.start(ann, 'say Hi');
  const headers = `x-caller: ${ann}\r\nconnection: close\r\n\r\n`;
  expect((await exchange(site.url, `GET /sessions/${id} HTTP/1.1\r\nhost: x\r\n${headers}`))[0]).toBe(200);
  expect((await exchange(site.url, `GET /public HTTP/1.1\r\nhost: x/sessions/${id}?\r\n${headers}`))[0]).toBe(400);
  expect((await exchange(site.url, `GET /public/%2e%2e/sessions/${id} HTTP/1.1\r\nhost: x\r\n${headers}`))[0]).toBe(400);
});
