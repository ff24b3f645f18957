// The route that lets pages listen to channels.
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createPusherChannels, toChannelName } from '../../src/broadcasting/pusher/index.ts';
import type { Site } from '../http/stage.ts';
import { ann, bob, eve, openSite } from '../http/stage.ts';

const keys = { key: 'key', secret: 'secret' };
const form = 'application/x-www-form-urlencoded';

interface Asked {
  readonly caller?: string;
  readonly type?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function open() {
  const site: Site = await openSite({ handler: { channels: createPusherChannels(keys) } });
  const id = await site.start(ann);
  const toForm = (channel: string, socket = '12.34'): string =>
    new URLSearchParams({ socket_id: socket, channel_name: channel }).toString();
  const ask = async ({ caller = ann, type = form, body = toForm(toChannelName(id)), headers = {} }: Asked = {}) => {
    const response = await fetch(`${site.url}/channels/auth`, {
      method: 'POST',
      headers: { 'content-type': type, ...(caller !== '' && { 'x-caller': caller }), ...headers },
      body,
    });
    return { status: response.status, body: await response.json() };
  };
  return { site, id, ask, toForm };
}

describe('POST /channels/auth', () => {
  it('signs for whoever may follow the events of the session', async () => {
    const { id, ask } = await open();
    const auth = `key:${createHmac('sha256', 'secret')
      .update(`12.34:${toChannelName(id)}`)
      .digest('hex')}`;
    expect(await ask()).toEqual({ status: 200, body: { auth } });
    expect(await ask({ caller: bob })).toEqual({ status: 200, body: { auth } });
    const json = JSON.stringify({ socket_id: '12.34', channel_name: toChannelName(id) });
    expect(await ask({ type: 'application/json', body: json })).toEqual({ status: 200, body: { auth } });
  });

  it('refuses everybody else, as if the session did not exist', async () => {
    const { ask, toForm } = await open();
    const unknown = await ask({ body: toForm(toChannelName('unknown')) });
    expect(unknown).toMatchObject({ status: 404, body: { error: { code: 'unknown-session' } } });
    expect(await ask({ caller: eve })).toEqual(unknown);
    expect(await ask({ caller: '' })).toMatchObject({ status: 401 });
    expect(await ask({ caller: '', body: toForm(toChannelName('unknown')) })).toMatchObject({ status: 401 });
    expect(await ask({ headers: { origin: 'https://evil.example' } })).toMatchObject({
      status: 403,
      body: { error: { code: 'origin-refused' } },
    });
  });

  it.each([
    ['a channel of something else', { channel_name: 'private-orders.1' }, 404],
    ['a public channel', { channel_name: 'agent.one' }, 404],
    ['no channel', {}, 404],
    ['a socket that would change what is signed', { channel_name: 'private-agent.one', socket_id: '12.34:private-agent.two' }, 400],
    ['a body that is too large', { channel_name: 'x'.repeat(5000) }, 413],
  ])('refuses %s', async (_, fields, status) => {
    const { ask } = await open();
    expect(await ask({ body: new URLSearchParams({ socket_id: '12.34', ...fields }).toString() })).toMatchObject({ status });
  });

  it('answers only to POST, and only if channels are given', async () => {
    const { site } = await open();
    expect((await site.request(ann, 'GET', '/channels/auth')).status).toBe(405);
    const without = await openSite();
    expect((await without.request(ann, 'POST', '/channels/auth', { socket_id: '1.2', channel_name: 'private-agent.one' })).status).toBe(
      404,
    );
  });

  it('says that a key is missing', () => {
    expect(() => createPusherChannels({ key: '', secret: 'secret' })).toThrow('createPusherChannels() needs the key of an app');
    expect(() => createPusherChannels({ key: 'key', secret: '' })).toThrow('createPusherChannels() needs the secret of the app "key"');
  });
});
