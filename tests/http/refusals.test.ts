// What the handler refuses: strangers, forged tokens, foreign pages, bodies that are not JSON.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createChannelTokens, createSessionHandler, errorStatuses } from '../../src/broadcasting/http/index.ts';
import { createFakeClock } from '../../src/testing/index.ts';
import { root } from '../../scripts/run.mjs';
import { pickRuns } from '../support/test-scale.ts';
import { ann, authenticate, authorize, bob, eve, newSession, openSite } from './stage.ts';

const secret = 'a secret for tests that is long enough';

/** Every route that names a session. */
const listRoutes = (id: string, wait: string): readonly (readonly [method: string, path: string, body?: object])[] => [
  ['GET', `/sessions/${id}`],
  ['GET', `/sessions/${id}/facts`],
  ['GET', `/sessions/${id}/waits`],
  ['GET', `/sessions/${id}/waits/${wait}`],
  ['GET', `/sessions/${id}/events`],
  ['GET', `/sessions/${id}/payloads/1/1`],
  ['POST', `/sessions/${id}/token`],
  ['POST', `/sessions/${id}/messages`, { text: 'Hello' }],
  ['POST', `/sessions/${id}/cancel`],
  ['POST', `/sessions/${id}/resume`],
  ['POST', `/sessions/${id}/grant`, { steps: 1 }],
  ['POST', `/sessions/${id}/approvals/a/revoke`],
  ['POST', `/sessions/${id}/fork`, { execution: 1, step: 0 }],
  ['POST', `/sessions/${id}/waits/${wait}/approve`, { digest: 'a' }],
  ['POST', `/sessions/${id}/waits/${wait}/reject`],
  ['POST', `/sessions/${id}/waits/${wait}/answer`, { value: 1 }],
];

describe('a session of another tenant', () => {
  it('answers on every route exactly like one that does not exist', async () => {
    const site = await openSite();
    const id = await site.start(ann, 'pay 5');
    const [wait] = (await site.runtime.get(id)).waitingFor;
    const nobody = listRoutes('no-such-session', wait?.id ?? '');
    for (const [index, [method, path, body]] of listRoutes(id, wait?.id ?? '').entries()) {
      const foreign = await site.request(eve, method, path, body);
      expect([path, foreign.status, foreign.body]).toEqual([
        path,
        404,
        { error: { code: 'unknown-session', message: 'There is no such session.' } },
      ]);
      const [, unknown = ''] = nobody[index] ?? [];
      expect(await site.request(eve, method, unknown, body)).toMatchObject({ status: 404, body: foreign.body });
    }
    const { actions, status } = { actions: await site.runtime.actions(id), status: (await site.runtime.get(id)).status };
    expect([actions.map(({ type }) => type), status]).toEqual([['create', 'send'], 'waiting']);
    expect((await site.request(eve, 'GET', '/sessions')).body.sessions).toEqual([]);
  });

  it('and one that was deleted cannot be told apart either', async () => {
    const site = await openSite();
    const id = await site.start(ann);
    await site.runtime.delete(id, { by: { id: 'op', kind: 'service' } });
    const found = await site.request(ann, 'GET', `/sessions/${id}`);
    expect([found.status, found.body.error.code]).toEqual([404, 'unknown-session']);
  });

  it('is not told to callers who have not logged in', async () => {
    const site = await openSite();
    const id = await site.start(ann, 'pay 5');
    for (const [method, path, body] of [...listRoutes(id, 'c'), ...listRoutes('no-such-session', 'c')])
      expect(await site.request(undefined, method, path, body)).toMatchObject({
        status: 401,
        body: { error: { message: 'Send x-caller.' } },
      });
    expect(await site.request(undefined, 'GET', '/sessions')).toMatchObject({ status: 401 });
    expect(await site.request(undefined, 'POST', '/sessions', {})).toMatchObject({ status: 401 });
  });
});

describe('authorize', () => {
  it('is required', async () => {
    const { runtime } = await openSite();
    // @ts-expect-error -- somebody without a compiler may forget it
    expect(() => createSessionHandler(runtime, { authorize, newSession })).toThrow('needs authenticate');
    // @ts-expect-error -- the same
    expect(() => createSessionHandler(runtime, { authenticate, newSession })).toThrow('needs authorize');
    // @ts-expect-error -- the same
    expect(() => createSessionHandler(runtime, { authenticate, authorize })).toThrow('needs newSession');
    // @ts-expect-error -- a name that does not exist
    expect(() => createSessionHandler(runtime, { authenticate, authorize, newSession, origin: [] })).toThrow('Did you mean "origins"?');
  });

  it.each([
    ['nothing', undefined, 404],
    ['false', false, 404],
    ['null', null, 404],
    ['an empty object', {}, 500],
    ['an author', { by: { id: 'ann', kind: 'user' } }, 500],
    ['an author with a scope', { by: { id: 'ann', kind: 'user' }, scope: {} }, 500],
  ])('that returns %s refuses', async (_name, answer, status) => {
    // @ts-expect-error -- somebody without a compiler may return anything
    const site = await openSite({ handler: { authorize: () => answer } });
    const { id } = await site.runtime.create({ agent: 'desk' }, { by: { id: 'ann', kind: 'user' } });
    expect((await site.request(ann, 'GET', `/sessions/${id}`)).status).toBe(status);
  });

  it('that throws is a problem of the server, and its message stays there', async () => {
    const site = await openSite({
      handler: {
        authorize: () => {
          throw new Error('database password=hunter2 refused');
        },
      },
    });
    const { status, body } = await site.request(ann, 'GET', '/sessions');
    expect([status, body]).toEqual([500, { error: { code: 'unclassified', message: 'The server failed. The problem was reported.' } }]);
    expect(site.problems).toMatchObject([{ message: 'database password=hunter2 refused' }]);
  });
});

describe('a channel token', () => {
  it('opens the events of its session, as often as it is used', async () => {
    const site = await openSite({ handler: { secret } });
    const id = await site.start(ann, 'say Hi');
    const { status, body } = await site.request(ann, 'POST', `/sessions/${id}/token`);
    expect([status, Math.round((Date.parse(body.expires_at) - Date.now()) / 60_000)]).toEqual([201, 5]);
    for (let time = 0; time < 2; time += 1) {
      const page = await fetch(`${site.url}/sessions/${id}/events?token=${body.token}`, { headers: { accept: 'application/json' } });
      expect([page.status, ((await page.json()) as { envelopes: unknown[] }).envelopes.length > 3]).toEqual([200, true]);
    }
    expect((await fetch(`${site.url}/sessions/${id}?token=${body.token}`)).status).toBe(401);
    expect((await fetch(`${site.url}/sessions/${id}/cancel?token=${body.token}`, { method: 'POST' })).status).toBe(401);
  });

  it('lives five minutes at most', async () => {
    const clock = createFakeClock();
    const by = { id: 'ann', kind: 'user' };
    const tokens = createChannelTokens({ secret, clock });
    const { token } = await tokens.issue({ sessionId: 's', by });
    await clock.advance(299_999);
    expect(await tokens.read(token, 's')).toEqual(by);
    await clock.advance(1);
    await expect(tokens.read(token, 's')).rejects.toMatchObject({
      code: 'invalid-token',
      message: 'The token has expired. Ask for a new one.',
    });
    expect(() => createChannelTokens({ secret, lifeMs: 300_001 })).toThrow('300000 ms at most');
    expect(() => createChannelTokens({ secret: 'short' })).toThrow('at least 32 bytes');
  });

  const times = pickRuns({ quick: 100, slow: 500 });

  it(`is refused ${times} times if it is forged, expired or foreign`, async () => {
    const clock = createFakeClock(Date.now());
    const site = await openSite({ handler: { secret, clock } });
    const [id, other] = [await site.start(ann, 'say Hi'), await site.start(ann, 'say Hi')];
    const by = { id: 'ann', kind: 'user' };
    const early = createFakeClock(clock.now() - 300_001);
    const makers = [
      async () => (await createChannelTokens({ secret: `${secret}!`, clock }).issue({ sessionId: id, by })).token,
      async () => (await createChannelTokens({ secret, clock, audience: 'pusher' }).issue({ sessionId: id, by })).token,
      async () => (await createChannelTokens({ secret, clock: early }).issue({ sessionId: id, by })).token,
      async () => (await createChannelTokens({ secret, clock }).issue({ sessionId: other, by })).token,
      async (n: number) => {
        const { token } = await createChannelTokens({ secret, clock }).issue({ sessionId: id, by });
        const at = n % token.length;
        return `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
      },
      async (n: number) => 'x.'.repeat(n % 9),
    ];
    for (let n = 0; n < times; n += 1) {
      const token = await makers[n % makers.length]!(n);
      const response = await fetch(`${site.url}/sessions/${id}/events?token=${encodeURIComponent(token)}`);
      expect([token, response.status]).toEqual([token, 401]);
      await response.body?.cancel();
    }
  }, 60_000);

  it(`${times} approvals that are forged or foreign are refused too`, async () => {
    const site = await openSite({ handler: { secret } });
    const [id, other] = [await site.start(ann, 'pay 5'), await site.start(ann, 'pay 6')];
    const [own, foreign] = await Promise.all([id, other].map(async (each) => (await site.runtime.get(each)).waitingFor[0]));
    const digests = [
      (n: number) => n.toString(16).padStart(64, '0'),
      () => foreign?.digest ?? '',
      (n: number) => (own?.digest ?? '').slice(0, n % 64),
      (n: number) => own?.digest.replace(own.digest[n % 64] ?? '', 'g') ?? '',
    ];
    for (let n = 0; n < times; n += 1) {
      const digest = digests[n % digests.length]!(n);
      const { status } = await site.request(bob, 'POST', `/sessions/${id}/waits/${own?.id ?? ''}/approve`, { digest });
      expect([403, 400]).toContain(status);
    }
    expect((await site.runtime.get(id)).status).toBe('waiting');
  }, 60_000);
});

describe('a request', () => {
  const send = (url: string, id: string, init: RequestInit) =>
    fetch(`${url}/sessions/${id}/messages`, { method: 'POST', ...init, headers: { 'x-caller': ann, ...init.headers } });
  const json = { 'content-type': 'application/json' };

  it.each([
    ['that is not JSON', { body: '{"text":', headers: json }, 400, 'The body is not JSON'],
    ['that is a list', { body: '[]', headers: json }, 400, 'must be a JSON object, not an empty list'],
    ['without text', { body: '{}', headers: json }, 400, 'either text or content'],
    ['with a misspelled field', { body: '{"texd":"a"}', headers: json }, 400, 'Did you mean "text"?'],
    ['of another type', { body: 'text=a', headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 415, 'application/json'],
    ['of no type', { body: new Uint8Array([1, 2]) }, 415, 'not none'],
    ['that is not UTF-8', { body: new Uint8Array([0xff, 0xfe]), headers: json }, 400, 'not UTF-8'],
    ['that is nested too deep', { body: `{"content":${'['.repeat(900)}`, headers: json }, 400, 'nested deeper'],
    ['that is too large', { body: JSON.stringify({ text: 'a'.repeat(2000) }), headers: json }, 413, 'larger than 1000 bytes'],
    ['from a page of another origin', { body: '{"text":"a"}', headers: { ...json, origin: 'https://evil.example' } }, 403, 'evil.example'],
    ['from a page without an origin', { body: '{"text":"a"}', headers: { ...json, origin: 'null' } }, 403, 'may not use'],
  ])('%s is refused with a sentence', async (_name, init, status, words) => {
    const site = await openSite({ handler: { maxBodyBytes: 1000 } });
    const response = await send(site.url, await site.start(ann), init);
    const { error } = (await response.json()) as { error: { message: string } };
    expect([response.status, error.message]).toEqual([status, expect.stringContaining(words)]);
    expect(site.problems).toEqual([]);
  });

  it('with a body that does not say its length is read no further than the limit', async () => {
    const site = await openSite({ handler: { maxBodyBytes: 1000 } });
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 1;
        if (sent > 10_000) controller.close();
        else controller.enqueue(new Uint8Array(1000).fill(32));
      },
    });
    const id = await site.start(ann);
    const result = await send(site.url, id, { body, headers: json, duplex: 'half' }).then(
      ({ status }) => status,
      () => 'cut off',
    );
    expect([413, 'cut off']).toContain(result);
    expect(sent).toBeLessThan(10_000);
    expect((await site.request(ann, 'GET', `/sessions/${id}`)).status).toBe(200);
  });

  it('of a page whose origin is listed may read the answer', async () => {
    const site = await openSite({ handler: { origins: ['https://app.example'] } });
    const headers = { origin: 'https://app.example', 'x-caller': ann };
    const asked = await fetch(`${site.url}/sessions`, { method: 'OPTIONS', headers });
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, 'https://app.example']);
    const listed = await fetch(`${site.url}/sessions`, { headers });
    expect([listed.status, listed.headers.get('access-control-allow-credentials'), listed.headers.get('vary')]).toEqual([
      200,
      'true',
      'origin',
    ]);
    const own = await fetch(`${site.url}/sessions`, { headers: { origin: site.url.replace('http:', 'https:'), 'x-caller': ann } });
    expect([own.status, own.headers.get('access-control-allow-origin')]).toEqual([200, null]);
  });
});

describe('the statuses of errors', () => {
  const read = (file: string): string => readFileSync(join(root, file), 'utf8');

  it('exist for every code of docs/errors.md, and for no other', () => {
    const codes = [...read('docs/errors.md').matchAll(/^## `(.+)`$/gm)].map(([, code = '']) => code);
    expect(Object.keys(errorStatuses).sort()).toEqual(codes.sort());
  });

  it('are those of docs/http.md', () => {
    const [, table = ''] = read('docs/http.md').split('## Statuses');
    const rows = [...table.matchAll(/^\| (\d{3}) +\| (.+?) +\|$/gm)].flatMap(([, status = '', codes = '']) =>
      [...codes.matchAll(/`([^`]+)`/g)].map(([, code = '']) => [code, Number(status)] as const),
    );
    const all = Object.entries(errorStatuses).map(([code, { status }]) => [code, status] as const);
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(all));
  });
});
