// The embedded server, through the library that servers use, pusher-js, and bare sockets.
import type PusherLibrary from 'pusher';
import type { Response as LibraryResponse } from 'pusher';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { PusherServer } from '../../src/broadcasting/pusher-server/index.ts';
import { createFakeClock } from '../../src/lib/index.ts';
import { app, openClient, openLibrary, startServer, until } from './stage.ts';

interface Message {
  readonly event: string;
  readonly channel?: string;
  readonly data?: unknown;
}

/** A socket without a client library, and what it received. */
async function openSocket({ host, port }: PusherServer, path = `/app/${app.key}?protocol=7`) {
  const socket = new WebSocket(`ws://${host}:${port}${path}`);
  const messages: Message[] = [];
  const state: { code?: number } = {};
  socket.on('message', (data: Buffer) => {
    const { data: inner, ...message } = JSON.parse(data.toString()) as Message;
    messages.push({ ...message, data: typeof inner === 'string' ? (JSON.parse(inner) as unknown) : inner });
  });
  socket.on('close', (code) => (state.code = code));
  onTestFinished(() => socket.terminate());
  await until(() => expect(messages.length).toBeGreaterThan(0));
  const send = (message: object | string): void => socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  const readError = (): unknown => messages.findLast(({ event }) => event === 'pusher:error')?.data;
  return { messages, state, send, readError };
}

/** Posts a body that the library has no method for. */
const post = (library: PusherLibrary, path: string, body: object): Promise<LibraryResponse> =>
  // Holds: it writes the body as JSON, whatever its types say.
  library.post({ path, body: body as unknown as string, params: {} });

/** Resolves to the status of a request of the library that was refused. */
const readStatus = (request: Promise<LibraryResponse>): Promise<number> =>
  request.then(
    ({ status }) => status,
    (error: unknown) => (error as { readonly status: number }).status,
  );

const signedBody = JSON.stringify({ name: 'one', channel: 'news', data: 'x' });

/** Signs a request with the library. */
function sign(server: PusherServer): { readonly url: string; readonly params: string } {
  const path = `/apps/${app.appId}/events`;
  const params = openLibrary(server).createSignedQueryString({ method: 'POST', path, body: signedBody, params: {} });
  return { url: `${server.url}${path}`, params };
}

describe('the HTTP API', () => {
  it('accepts events and batches of the server library, and delivers them', async () => {
    const server = await startServer();
    const library = openLibrary(server);
    const received: unknown[] = [];
    const client = openClient(server);
    const channel = client.subscribe('news');
    channel.bind_global((event: string, data: unknown) => void received.push([event, data]));
    await until(() => expect(channel.subscribed).toBe(true));
    await library.trigger('news', 'one', { text: 'ä' });
    await library.trigger(['news', 'other'], 'two', 'plain');
    await library.triggerBatch([
      { channel: 'news', name: 'three', data: { n: 3 } },
      { channel: 'news', name: 'four', data: { n: 4 } },
    ]);
    await library.trigger('news', 'not-for-me', {}, { socket_id: client.connection.socket_id });
    await library.trigger('news', 'last', {});
    await until(() =>
      expect(received.slice(1)).toEqual([
        ['one', { text: 'ä' }],
        ['two', 'plain'],
        ['three', { n: 3 }],
        ['four', { n: 4 }],
        ['last', {}],
      ]),
    );
  });

  it('lists channels and users', async () => {
    const server = await startServer();
    const library = openLibrary(server);
    const client = openClient(server, {
      channelAuthorization: {
        endpoint: '',
        transport: 'ajax',
        customHandler: ({ socketId, channelName }, callback) => {
          const answer = library.authorizeChannel(socketId, channelName, { user_id: 'ann', user_info: { name: 'Ann' } });
          callback(null, { auth: answer.auth, channel_data: String(answer.channel_data) });
        },
      },
    });
    const [news, room] = [client.subscribe('news'), client.subscribe('presence-room')];
    await until(() => expect([news.subscribed, room.subscribed]).toEqual([true, true]));
    const read = async (path: string, params = {}): Promise<unknown> => (await library.get({ path, params })).json();
    expect(await read('/channels')).toEqual({ channels: { news: {}, 'presence-room': {} } });
    expect(await read('/channels', { filter_by_prefix: 'presence-', info: 'user_count' })).toEqual({
      channels: { 'presence-room': { user_count: 1 } },
    });
    expect(await read('/channels/news', { info: 'subscription_count' })).toEqual({ occupied: true, subscription_count: 1 });
    expect(await read('/channels/nobody')).toEqual({ occupied: false });
    expect(await read('/channels/presence-room/users')).toEqual({ users: [{ id: 'ann' }] });
    expect(await readStatus(library.get({ path: '/channels/news/users' }))).toBe(400);
    await library.terminateUserConnections('ann');
    await until(() => expect(client.connection.state).not.toBe('connected'));
  });

  it('refuses what it should', async () => {
    const server = await startServer();
    const library = openLibrary(server);
    const trigger = (keys: Partial<typeof app>): Promise<LibraryResponse> =>
      openLibrary(server, { ...app, ...keys }).trigger('news', 'one', {});
    expect(await readStatus(trigger({}))).toBe(200);
    expect(await readStatus(trigger({ secret: 'another secret' }))).toBe(401);
    expect(await readStatus(trigger({ key: 'another-key' }))).toBe(401);
    expect(await readStatus(trigger({ appId: 'unknown' }))).toBe(404);
    expect(await readStatus(library.trigger('news', 'one', 'x'.repeat(10_500)))).toBe(413);
    const batch = Array.from({ length: 10 }, () => ({ channel: 'news', name: 'one', data: 'x'.repeat(1000) }));
    expect(await readStatus(library.triggerBatch(batch))).toBe(413);
    expect(await readStatus(post(library, '/batch_events', { batch: Array(11).fill(batch[0]) }))).toBe(413);
    const small = { channel: 'news', name: 'one', data: 'x' };
    expect(await readStatus(post(library, '/batch_events', { batch: Array(11).fill(small) }))).toBe(400);
    expect(await readStatus(post(library, '/events', { name: 'one', data: 'x' }))).toBe(400);
    expect(await readStatus(post(library, '/events', { name: 'one', channel: 'a b', data: 'x' }))).toBe(400);
    expect(await readStatus(post(library, '/nothing', {}))).toBe(404);
    expect((await fetch(`${server.url}/apps/${app.appId}/channels`)).status).toBe(401);
    expect((await fetch(`${server.url}/up`)).status).toBe(200);
  });

  it('refuses a request whose body was changed, and one that is eleven minutes old', async () => {
    const clock = createFakeClock(Date.now());
    const server = await startServer({ clock });
    const { url, params } = sign(server);
    const post = async (body: string): Promise<number> => (await fetch(`${url}?${params}`, { method: 'POST', body })).status;
    expect(await post(signedBody)).toBe(200);
    expect(await post(signedBody.replace('one', 'two'))).toBe(401);
    await clock.advance(660_000);
    expect(await post(signedBody)).toBe(401);
  });
});

describe('a connection', () => {
  it.each([
    ['/app/unknown?protocol=7', 4001],
    ['/other/key-1?protocol=7', 4005],
    ['//', 4005],
    ['/app/key-1?protocol=1', 4007],
    ['/app/key-1', 4008],
  ])('to %s is closed with %i', async (path, code) => {
    const { messages, state } = await openSocket(await startServer(), path);
    expect(messages).toMatchObject([{ event: 'pusher:error', data: { code } }]);
    await until(() => expect(state.code).toBe(code));
  });

  it('over the quota of its app is closed with 4004', async () => {
    const server = await startServer({ apps: [{ ...app, maxConnections: 1 }] });
    await openSocket(server);
    const { state } = await openSocket(server);
    await until(() => expect(state.code).toBe(4004));
  });

  it('gets an error for a message that is not one, and stays', async () => {
    const { send, messages, readError } = await openSocket(await startServer());
    for (const [index, message] of ['nonsense', '[]', { event: 7 }, { event: 'pusher:unknown' }].entries()) {
      send(message);
      await until(() => expect(messages).toHaveLength(index + 2));
      expect(readError()).toMatchObject({ code: 4200 });
    }
    send({ event: 'pusher:ping' });
    await until(() => expect(messages.at(-1)?.event).toBe('pusher:pong'));
  });

  it('is refused a private channel without the signature of the app for this socket and this channel', async () => {
    const server = await startServer();
    const { send, messages, readError } = await openSocket(server);
    const { socket_id } = messages[0]?.data as { readonly socket_id: string };
    const library = openLibrary(server);
    const other = openLibrary(server, { ...app, secret: 'another secret' });
    const refused = [
      undefined,
      'key-1:nonsense',
      other.authorizeChannel(socket_id, 'private-one').auth,
      library.authorizeChannel('1.2', 'private-one').auth,
      library.authorizeChannel(socket_id, 'private-two').auth,
    ];
    for (const [index, auth] of refused.entries()) {
      send({ event: 'pusher:subscribe', data: { channel: 'private-one', auth } });
      await until(() => expect(messages).toHaveLength(index + 2));
      expect(readError()).toMatchObject({ code: 4009 });
    }
    send({ event: 'pusher:subscribe', data: { channel: 'private-one', auth: library.authorizeChannel(socket_id, 'private-one').auth } });
    await until(() => expect(messages.at(-1)).toMatchObject({ event: 'pusher_internal:subscription_succeeded', channel: 'private-one' }));
  });

  it('that gives no sign of life is closed with 4201', async () => {
    const clock = createFakeClock();
    const { messages, state, send } = await openSocket(await startServer({ clock }));
    await clock.advance(30_000);
    await until(() => expect(messages.at(-1)?.event).toBe('pusher:ping'));
    send({ event: 'pusher:pong' });
    // A message after it shows that the answer has arrived.
    send({ event: 'pusher:ping' });
    await until(() => expect(messages.at(-1)?.event).toBe('pusher:pong'));
    await clock.advance(59_000);
    expect(state.code).toBeUndefined();
    await clock.advance(2_000);
    await until(() => expect(state.code).toBe(4201));
  });

  it('is closed with 4200 when the server closes', async () => {
    const server = await startServer();
    const { state } = await openSocket(server);
    await server.close();
    await until(() => expect(state.code).toBe(4200));
  });
});

describe('pages on a channel', () => {
  async function openPages(clientEventsPerSecond = 10) {
    const clock = createFakeClock();
    const server = await startServer({ clientEventsPerSecond, clock });
    const library = openLibrary(server);
    const join = async (name: string, user: string) => {
      const page = await openSocket(server);
      const { socket_id } = page.messages[0]?.data as { readonly socket_id: string };
      const answer = library.authorizeChannel(socket_id, name, ...(name.startsWith('presence-') ? [{ user_id: user }] : []));
      page.send({ event: 'pusher:subscribe', data: { channel: name, ...answer } });
      await until(() => expect(page.messages.at(-1)?.event).toBe('pusher_internal:subscription_succeeded'));
      return page;
    };
    return { clock, server, join };
  }

  it('send each other events, within a rate', async () => {
    const { clock, join } = await openPages(2);
    const [ann, bob] = [await join('private-room', 'ann'), await join('private-room', 'bob')];
    const call = (): void => ann.send({ event: 'client-typing', channel: 'private-room', data: { by: 'ann' } });
    for (let count = 0; count < 3; count += 1) call();
    await until(() => expect(ann.readError()).toMatchObject({ code: 4301 }));
    const read = () => bob.messages.filter(({ event }) => event === 'client-typing');
    await until(() => expect(read()).toHaveLength(2));
    expect(read()[0]).toEqual({ event: 'client-typing', channel: 'private-room', data: { by: 'ann' } });
    await clock.advance(1_001);
    call();
    await until(() => expect(read()).toHaveLength(3));
    expect(ann.messages.filter(({ event }) => event === 'client-typing')).toEqual([]);
  });

  it('send nothing to a channel that they are not on, or that is public', async () => {
    const { join, server } = await openPages();
    const bob = await join('private-room', 'bob');
    const stranger = await openSocket(server);
    stranger.send({ event: 'client-typing', channel: 'private-room', data: {} });
    await until(() => expect(stranger.readError()).toMatchObject({ code: 4301 }));
    expect(bob.messages.filter(({ event }) => event === 'client-typing')).toEqual([]);
  });

  it('see who comes and goes, each person once', async () => {
    const { join } = await openPages();
    const ann = await join('presence-room', 'ann');
    expect(ann.messages.at(-1)?.data).toEqual({ presence: { count: 1, ids: ['ann'], hash: { ann: null } } });
    const tabs = [await join('presence-room', 'bob'), await join('presence-room', 'bob')];
    for (const tab of tabs) tab.send({ event: 'pusher:unsubscribe', data: { channel: 'presence-room' } });
    const read = () => ann.messages.slice(2).map(({ event, data }) => [event, data]);
    await until(() =>
      expect(read()).toEqual([
        ['pusher_internal:member_added', { user_id: 'bob' }],
        ['pusher_internal:member_removed', { user_id: 'bob' }],
      ]),
    );
  });
});
