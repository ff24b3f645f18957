// Requests that nobody would write on purpose: none of them is a failure of the server, or ends it.
import { connect } from 'node:net';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createSessionHandler } from '../../src/broadcasting/http/index.ts';
import { pickRuns } from '../support/test-scale.ts';
import { ann, authenticate, authorize, newSession, openSite } from './stage.ts';

const pickOne = fc.constantFrom;

/** A part of a path: one that exists, or anything. */
const segment = fc.oneof(
  pickOne(
    'sessions',
    'ID',
    'waits',
    'WAIT',
    'approve',
    'answer',
    'events',
    'messages',
    'fork',
    'grant',
    'payloads',
    'token',
    '1',
    '..',
    '%',
    '',
  ),
  fc.string({ unit: 'binary', maxLength: 8 }).map((text) => encodeURIComponent(text.toWellFormed())),
  pickOne('%00', '%ff%fe', '%2e%2e', '__proto__', 'constructor', '9'.repeat(20)),
);

const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  pickOne<unknown>('', -1, Number.MAX_SAFE_INTEGER, [], {}, null, '\u0000', '\ud800', { type: 'text' }, [{ type: 'file' }]),
);

const fields = fc.dictionary(
  pickOne(
    'text',
    'content',
    'digest',
    'args',
    'seen',
    'value',
    'steps',
    'execution',
    'step',
    'request_id',
    'until',
    'reason',
    'session_id',
    '__proto__',
  ),
  value,
  { maxKeys: 5 },
);

const body = fc.oneof(
  fields.map((each) => JSON.stringify(each)),
  value.map((each) => JSON.stringify(each)),
  fc.string({ maxLength: 30 }),
  fc.uint8Array({ maxLength: 30 }),
  pickOne('{"text":', `{"text":"${'a'.repeat(5000)}"}`, '['.repeat(3000), '{"a":'.repeat(3000), '{"text":1e999}'),
);

const requests = fc.record({
  method: pickOne('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'PROPFIND'),
  path: fc.array(segment, { maxLength: 6 }).map((parts) => `/${parts.join('/')}`),
  query: fc.oneof(
    fc.constant(''),
    fc.webQueryParameters().map((text) => `?${text}`),
    pickOne('?token=', '?token=a.b', '?after=-1', '?limit=1e9'),
  ),
  type: pickOne('application/json', 'application/json; charset=x', 'text/plain', '', 'JSON', 'multipart/form-data'),
  header: pickOne(
    ['last-event-id', 'x'],
    ['last-event-id', '9'.repeat(30)],
    ['origin', 'null'],
    ['accept', 'application/json'],
    ['content-length', 'x'],
  ),
  body,
});

const runs = pickRuns({ quick: 300, slow: 2000 });

it(`${runs} malformed requests are answered with a status below 500`, async () => {
  const site = await openSite({ handler: { maxBodyBytes: 4000 } });
  const problems: unknown[] = [];
  const onProblem = (error: unknown): void => void problems.push(error);
  const handle = createSessionHandler(site.runtime, { authenticate, authorize, newSession, onProblem, maxBodyBytes: 4000 });
  const id = await site.start(ann, 'pay 5');
  const wait = (await site.runtime.get(id)).waitingFor[0]?.id ?? '';
  await fc.assert(
    fc.asyncProperty(requests, async ({ method, path, query, type, header: [name = '', text = ''], body: content }) => {
      const url = `http://localhost${path.replace('ID', id).replace('WAIT', wait)}${query}`;
      const hasBody = method !== 'GET' && method !== 'HEAD';
      const headers = { 'x-caller': ann, 'content-type': type, ...(name === 'content-length' ? {} : { [name]: text }) };
      const init = { method, headers, ...(hasBody && { body: typeof content === 'string' ? content : Buffer.from(content) }) };
      const response = await handle(new Request(url, init));
      await response.body?.cancel();
      expect([response.status < 500, problems]).toEqual([true, []]);
    }),
    { numRuns: runs },
  );
}, 60_000);

it('bytes that are not HTTP, and clients that leave, do not end the server', async () => {
  const site = await openSite();
  const id = await site.start(ann, 'say Hi');
  const port = Number(new URL(site.url).port);
  const line = `POST /sessions/${id}/messages HTTP/1.1\r\nhost: localhost\r\nx-caller: ${ann}\r\ncontent-type: application/json\r\n`;
  const texts = [
    'hello\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    'GET http://[ HTTP/1.1\r\nhost: a\r\n\r\n',
    'GET //// HTTP/1.1\r\nhost: %%%\r\n\r\n',
    'TRACE / HTTP/1.1\r\nhost: localhost\r\n\r\n',
    'CONNECT a:1 HTTP/1.1\r\nhost: localhost\r\n\r\n',
    'OPTIONS * HTTP/1.1\r\nhost: localhost\r\n\r\n',
    `${line}content-length: 100\r\n\r\n{"text":`,
    `${line}transfer-encoding: chunked\r\n\r\nzz\r\n`,
    `GET /sessions/${id}/events HTTP/1.1\r\nhost: localhost\r\nx-caller: ${ann}\r\n\r\n`,
  ];
  for (const text of texts)
    await new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      socket.on('error', () => undefined).on('close', () => resolve());
      setTimeout(() => socket.destroy(), 30);
    });
  expect((await site.request(ann, 'GET', `/sessions/${id}`)).status).toBe(200);
  expect(site.problems).toEqual([]);
});
