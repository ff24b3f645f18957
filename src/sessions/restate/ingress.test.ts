import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { openIngress } from './ingress.ts';

const address = { service: 'Desk', key: 'one', handler: 'post' };

/** A fetch to a server that is not there. */
const refuse = async (): Promise<Response> => {
  throw new TypeError('fetch failed', { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) });
};

describe('the ingress of a Restate server', () => {
  test.each(['localhost:8080', '127.0.0.1:8080', '', 'ftp://server'])('refuses %j as an address at once, and says what it needs', (url) => {
    expect(() => openIngress({ url })).toThrow(/ingress\.url must be .* such as http:\/\/127\.0\.0\.1:8080, not/u);
  });

  test('says which address cannot be reached, and why', async () => {
    const { call } = openIngress({ url: 'http://127.0.0.1:1234', fetch: refuse }, 0);
    await expect(call(address, {})).rejects.toThrow(
      'Cannot reach the Restate server to call http://127.0.0.1:1234/Desk/one/post: TypeError: fetch failed (ECONNREFUSED). Check ingress.url.',
    );
  });

  test('leaves no listeners behind when it asks again, and stops asking when the caller leaves', async () => {
    const leaving = new AbortController();
    let asked = 0;
    const fetch = async (): Promise<Response> => {
      asked += 1;
      if (asked === 3) leaving.abort();
      return refuse();
    };
    const { call } = openIngress({ url: 'http://127.0.0.1:1234', fetch });
    await expect(call(address, {}, leaving.signal)).rejects.toThrow('fetch failed');
    expect([asked, getEventListeners(leaving.signal, 'abort').length]).toStrictEqual([3, 0]);
  });
});
