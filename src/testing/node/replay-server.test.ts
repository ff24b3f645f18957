import { describe, expect, it } from 'vitest';
import { startReplayServer } from './replay-server.ts';

const post = (url: string, body: object): Promise<Response> => fetch(`${url}/v1/chat`, { method: 'POST', body: JSON.stringify(body) });

describe('startReplayServer', () => {
  it('serves answers in their order and in their form, and keeps what was asked', async () => {
    const text = `data: ${'ü'.repeat(2000)}\n\n`;
    const server = await startReplayServer([
      { status: 429, headers: { 'retry-after': '3', 'content-length': '99999', 'content-encoding': 'gzip' }, body: { error: {} } },
      { status: 200, headers: {}, body: text },
    ]);
    expect(server.remaining).toBe(2);
    const first = await post(server.url, { n: 1 });
    expect([first.status, first.headers.get('retry-after'), first.headers.get('content-type')]).toEqual([429, '3', 'application/json']);
    expect(await first.json()).toEqual({ error: {} });
    const second = await post(server.url, { n: 2 });
    expect(second.headers.get('content-type')).toBe('text/event-stream');
    expect(await second.text()).toBe(text);
    const third = await post(server.url, { n: 3 });
    expect(third.status).toBe(410);
    await third.text();
    expect(server.requests.map(({ path, body }) => [path, body])).toEqual([
      ['/v1/chat', { n: 1 }],
      ['/v1/chat', { n: 2 }],
      ['/v1/chat', { n: 3 }],
    ]);
    expect(server.remaining).toBe(0);
    await server.close();
  });
});
