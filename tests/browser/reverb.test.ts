// pusher-js, laravel-echo and a live view in a browser, against the embedded server of the Pusher protocol.
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../scripts/run.mjs';
import type { Envelope } from '../../src/broadcasting/index.ts';
import { createAgent } from '../../src/entry/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { defineTool } from '../../src/tools/index.ts';
import { ann, bob } from '../http/stage.ts';
import { app, openMirroredSite, startServer } from '../pusher/stage.ts';
import type { Page } from './playwright.ts';
import { openTabs } from './tabs.ts';

const by = { id: 'ann', kind: 'user' };
const ids = Array.from({ length: 20 }, (_, index) => `run.${index}`);

const pay = defineTool({ name: 'pay', description: 'Pays.', input: { type: 'object' } as const, needsApproval: true, run: () => 'paid' });

/** Writes in pieces; asks for an approval if it is told to pay. */
function createDesk() {
  const model = scriptedModel(
    [
      ({ messages }) => {
        const isAsked = messages.at(-1)?.isUser() === true && messages.at(-1)?.text.startsWith('pay') === true;
        return isAsked ? { toolCalls: [{ name: 'pay' }] } : { chunks: ['It ', 'is ', 'done.'] };
      },
    ],
    { repeatLast: true },
  );
  return createAgent({ id: 'desk', tools: { pay }, model });
}

const files: Readonly<Record<string, string>> = {
  '/vendor/pusher.js': 'node_modules/pusher-js/dist/web/pusher.js',
  '/vendor/echo.js': 'node_modules/laravel-echo/dist/echo.iife.js',
};

/** Serves a page with the two clients and the built package. */
function serve({ url = '' }: IncomingMessage, response: ServerResponse): boolean {
  const file = /^\/dist\/[\w./-]+\.js$/.test(url) ? url.slice(1) : files[url];
  if (file !== undefined) response.writeHead(200, { 'content-type': 'text/javascript' }).end(readFileSync(join(root, file)));
  else if (url === '/') response.writeHead(200, { 'content-type': 'text/html' }).end(html);
  return file !== undefined || url === '/';
}

const html = `<!doctype html><link rel="icon" href="data:,"><title>Reverb</title>
<script src="/vendor/pusher.js"></script><script src="/vendor/echo.js"></script>
<script type="module">
  import { pusherChannel, toChannelName } from '/dist/entry/pusher.js';
  import { createAgentView } from '/dist/entry/ui.js';
  Object.assign(window, { pusherChannel, toChannelName, createAgentView, inboxes: { pusher: {}, echo: {} }, subscribed: 0 });
</script>`;

/** Connects both clients in a page as a caller. */
async function connect(page: Page, { host, port }: { readonly host: string; readonly port: number }, caller: string): Promise<void> {
  const options = { cluster: '', wsHost: host, wsPort: port, forceTLS: false, enabledTransports: ['ws'] };
  const headers = { 'x-caller': caller };
  await page.evaluate(`(() => {
    const options = ${JSON.stringify(options)}, headers = ${JSON.stringify(headers)};
    window.pusher = new Pusher('${app.key}', { ...options, channelAuthorization: { endpoint: '/channels/auth', transport: 'ajax', headers } });
    const EchoClass = Echo.default ?? Echo;
    window.echo = new EchoClass({ ...options, broadcaster: 'reverb', key: '${app.key}', authEndpoint: '/channels/auth', auth: { headers } });
    window.callFetch = (url, init = {}) => fetch(url, { ...init, headers: { ...init.headers, ...headers } });
  })()`);
}

describe('pusher-js and laravel-echo in a browser', () => {
  it('receive every envelope of 20 runs, in order', async () => {
    const server = await startServer();
    const published: Envelope[] = [];
    const watch = (url: string, init: RequestInit): Promise<Response> => {
      // Holds: a broadcaster posts batches of envelopes as text.
      const { batch } = JSON.parse(init.body as string) as { readonly batch: readonly { readonly data: string }[] };
      published.push(...batch.map(({ data }) => JSON.parse(data) as Envelope));
      return fetch(url, init);
    };
    const site = await openMirroredSite({ agents: [createDesk()], url: server.url, serve, broadcaster: { fetch: watch } });
    const page = await (await openTabs()).open(site.url);
    await connect(page, server, ann);
    for (const id of ids) await site.runtime.create({ id, tenant: 'north', owner: 'ann' }, { by });
    await page.evaluate(`for (const id of ${JSON.stringify(ids)}) {
      const keep = (inbox) => (event, data) => { if (data?.session_id) (inbox[data.session_id] ??= []).push(data); };
      const channel = pusher.subscribe(toChannelName(id));
      channel.bind('pusher:subscription_succeeded', () => (subscribed += 1));
      channel.bind_global(keep(inboxes.pusher));
      echo.private(toChannelName(id).slice(8)).subscribed(() => (subscribed += 1)).listenToAll(keep(inboxes.echo));
    }`);
    await expect.poll(() => page.evaluate('subscribed')).toBe(40);
    await Promise.all(ids.map((id) => site.runtime.send(id, 'Do it.', { by })));
    expect(await site.reverb.flush()).toBe(true);
    for (const id of ids) {
      const expected = published.filter(({ session_id }) => session_id === id);
      expect(expected.at(-1)?.event).toBe('agent.head');
      for (const inbox of ['pusher', 'echo']) await expect.poll(() => page.evaluate(`inboxes.${inbox}['${id}']`)).toEqual(expected);
    }
    expect(site.problems).toEqual([]);
  });
});

describe('live views over Echo in a browser', () => {
  it('show an approval that a second person answers', async () => {
    const server = await startServer();
    const site = await openMirroredSite({ agents: [createDesk()], url: server.url, serve });
    await site.runtime.create({ id: 'one', tenant: 'north', owner: 'ann' }, { by });
    const pages = [await (await openTabs()).open(site.url), await (await openTabs()).open(site.url)] as const;
    for (const [index, page] of pages.entries()) {
      await connect(page, server, [ann, bob][index] ?? ann);
      await page.evaluate(`window.view = createAgentView({ sessionId: 'one', fetch: callFetch, channel: pusherChannel(echo) })`);
      await expect.poll(() => page.evaluate('view.current.source')).toBe('channel');
    }
    await pages[0].evaluate(`view.send('pay now')`);
    for (const page of pages) await expect.poll(() => page.evaluate('view.current.view.waits.length')).toBe(1);
    await pages[1].evaluate('view.approve(view.current.view.waits[0])');
    for (const page of pages) {
      await expect.poll(() => page.evaluate('view.current.view.status')).toBe('completed');
      expect(await page.evaluate('view.current.view.messages.map(({ role, text }) => role + ": " + text)')).toEqual([
        'user: pay now',
        'tool: pay is done',
        'assistant: It is done.',
      ]);
      expect(await page.evaluate('view.current.source')).toBe('channel');
    }
  });
});
