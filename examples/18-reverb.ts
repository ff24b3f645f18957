// A page that listens over Reverb: envelopes are published as they happen, and fetched over HTTP if the mirror has lost some.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pusherModule from 'pusher-js';
import { createAgent } from 'stepline';
import { createSessionHandler, toNodeListener } from 'stepline/http';
import { createPusherBroadcaster, createPusherChannels, pusherChannel } from 'stepline/pusher';
import { startPusherServer } from 'stepline/pusher-server';
import { createMemoryStore, createSessionRuntime } from 'stepline/sessions';
import { scriptedModel } from 'stepline/testing';
import { createAgentView } from 'stepline/ui';

const Pusher = pusherModule as unknown as typeof pusherModule.default; // with a bundler: import Pusher from 'pusher-js'
const keys = { key: 'my-key', secret: 'my-secret' };
const server = await startPusherServer({ apps: [{ appId: 'my-app', ...keys }] }); // in production: your Reverb
const reverb = createPusherBroadcaster({ appId: 'my-app', ...keys, url: server.url });
const agent = createAgent({ id: 'desk', model: scriptedModel([{ chunks: ['Good ', 'morning.'] }]) });
const runtime = createSessionRuntime({ agents: [agent], store: createMemoryStore(), onEvent: reverb.broadcast });
const login = { authenticate: () => ({ id: 'ann', kind: 'user' }), authorize: () => true }; // your own
const handler = createSessionHandler(runtime, { ...login, newSession: () => ({}), channels: createPusherChannels(keys) });
const http = createServer(toNodeListener(handler)).listen(0);
const url = `http://localhost:${(http.address() as AddressInfo).port}`;
await runtime.create({ id: 'one' }, { by: { id: 'ann', kind: 'user' } });
const address = { cluster: '', wsHost: server.host, wsPort: server.port, forceTLS: false };
const pusher = new Pusher(keys.key, { ...address, channelAuthorization: { endpoint: `${url}/channels/auth`, transport: 'ajax' } });
const page = createAgentView({ url, sessionId: 'one', channel: pusherChannel(pusher) });
const waitForChange = () => new Promise<void>((resolve) => page.subscribe(resolve));
while (page.current.source !== 'channel') await waitForChange();
await page.send('Hello?');
while (page.current.view.status !== 'completed') await waitForChange();
const texts = page.current.view.messages.map(({ text }) => text);
assert.deepEqual([page.current.source, ...texts], ['channel', 'Hello?', 'Good morning.']);
process.stdout.write(`Over Reverb: ${texts.join(' – ')}\n`);
page.close();
pusher.disconnect();
http.close().closeAllConnections();
await runtime.drain();
await reverb.close();
await server.close();
