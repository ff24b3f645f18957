// Live views over a channel: real sockets, real pusher-js, and a clock that the tests move.
import { describe, expect, it } from 'vitest';
import { pusherChannel, toChannelName } from '../../src/broadcasting/pusher/index.ts';
import { createChat, llmParticipant } from '../../src/chat/index.ts';
import { createFakeClock } from '../../src/lib/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { ann, eve } from '../http/stage.ts';
import { by, createDesk, createGate, openPage, openPlace, openPusherPage, readTexts, startSession } from './pages.ts';
import { authorizedBy, openClient, openEcho, openLibrary, startServer, until } from './stage.ts';

describe('a view over a channel', () => {
  it('begins with the stream, and leaves it once the channel delivers', async () => {
    const { server, site } = await openPlace();
    await startSession(site);
    await site.runtime.send('one', 'Hello', { by });
    const page = openPusherPage(site, server, 'one');
    await page.until(() => expect(readTexts(page)).toEqual(['Hello', 'You said: Hello']));
    await page.until(() => expect(page.view.current).toMatchObject({ connection: 'live', source: 'channel' }));
    await page.view.send('More');
    await page.until(() => expect(readTexts(page)).toEqual(['Hello', 'You said: Hello', 'More', 'You said: More']));
    expect(page.view.current).toMatchObject({ connection: 'live', source: 'channel', view: { status: 'completed', gaps: [] } });
    expect(page.streams).toHaveLength(1);
  });

  it('works over laravel-echo, and shows text as it is written', async () => {
    const gate = createGate();
    const { server, site } = await openPlace({ agents: [createDesk({ last: gate.passed })] });
    await startSession(site);
    const page = openPage(site, 'one', { channel: pusherChannel(openEcho(server, site, ann)) });
    await page.until(() => expect(page.view.current.source).toBe('channel'));
    await page.view.send('Hello');
    await page.until(() => expect(page.view.current.view.messages.at(-1)).toMatchObject({ text: 'You said: ', provisional: true }));
    expect([page.streams.length, page.view.current.source]).toEqual([1, 'channel']);
    gate.open();
    await page.until(() => expect(readTexts(page)).toEqual(['Hello', 'You said: Hello']));
  });

  it('shows the text from before it came, and goes on with the channel', async () => {
    const gate = createGate();
    const { server, site } = await openPlace({ agents: [createDesk({ last: gate.passed })] });
    await startSession(site);
    await site.runtime.send('one', 'Hello', { by, until: 'accepted' });
    await until(() => expect(site.reverb.stats.published).toBeGreaterThan(3));
    const page = openPusherPage(site, server, 'one');
    await page.until(() => expect(page.view.current.source).toBe('channel'));
    expect(readTexts(page)).toEqual(['Hello', 'You said: ']);
    gate.open();
    await page.until(() => expect(readTexts(page)).toEqual(['Hello', 'You said: Hello']));
  });

  it('uses the stream when the server of channels is out of reach for ten seconds, and goes back when it returns', async () => {
    const { server, site } = await openPlace();
    await startSession(site);
    const client = openClient(server, authorizedBy(site, ann));
    const page = openPage(site, 'one', { channel: pusherChannel(client) });
    await page.until(() => expect(page.view.current.source).toBe('channel'));
    await server.close();
    await until(() => expect(client.connection.state).not.toBe('connected'));
    await page.clock.advance(9_000);
    expect([page.streams.length, page.view.current.source]).toEqual([1, 'channel']);
    await page.clock.advance(1_100);
    expect([page.streams.length, page.view.current.source]).toEqual([2, 'stream']);
    await page.view.send('Hello');
    await until(() => expect(readTexts(page)).toEqual(['Hello', 'You said: Hello']));
    await startServer({ port: server.port });
    // By itself pusher-js tries again after a quarter of a minute.
    client.disconnect();
    client.connect();
    await page.until(() => expect(page.view.current.source).toBe('channel'));
    await page.view.send('More');
    await page.until(() => expect(readTexts(page)).toHaveLength(4));
    expect([page.streams.length, page.view.current.connection]).toEqual([2, 'live']);
  });

  it('asks at once when the page wakes up', async () => {
    const { server, site, state } = await openPlace();
    await startSession(site);
    const client = openClient(server, authorizedBy(site, ann));
    const window = new EventTarget();
    const page = openPage(site, 'one', { channel: pusherChannel(client), environment: { window } });
    await page.until(() => expect(page.view.current.source).toBe('channel'));
    state.isLost = () => true;
    await site.runtime.send('one', 'Hello', { by });
    window.dispatchEvent(new Event('focus'));
    await until(() => expect(readTexts(page)).toEqual(['Hello', 'You said: Hello']));
    state.isLost = () => false;
    await page.view.send('More');
    await page.until(() => expect(page.view.current.source).toBe('channel'));
    client.disconnect();
    expect(page.view.current.source).toBe('channel');
    window.dispatchEvent(new Event('online'));
    expect(page.view.current.source).toBe('stream');
  });

  it('stays with the stream if the channel is refused', async () => {
    const { server, site } = await openPlace();
    await startSession(site);
    const page = openPage(site, 'one', { channel: pusherChannel(openClient(server, authorizedBy(site, eve))) });
    await page.view.send('Hello');
    await page.until(() => expect(readTexts(page)).toEqual(['Hello', 'You said: Hello']));
    // Longer than a channel is waited for, shorter than a silent stream is trusted: the server's heartbeats follow another clock.
    await page.clock.advance(15_000);
    expect(page.view.current).toMatchObject({ source: 'stream', connection: 'live' });
  });

  it('fetches what the channel has lost', async () => {
    const { server, site, state } = await openPlace();
    await startSession(site);
    const page = openPusherPage(site, server, 'one');
    await page.until(() => expect(page.view.current.source).toBe('channel'));
    let count = 0;
    state.isLost = (body) => body.includes('\\"seq\\"') && !body.includes('agent.head') && (count += 1) % 2 === 1;
    for (const text of ['One', 'Two', 'Three']) await site.runtime.send('one', text, { by });
    await page.until(() => expect(readTexts(page)).toEqual(['One', 'You said: One', 'Two', 'You said: Two', 'Three', 'You said: Three']));
    expect(count).toBeGreaterThan(0);
    expect(page.view.current.view.gaps).toEqual([]);
  });

  it('notices that a channel has become silent, and trusts it again when it delivers', async () => {
    const { server, site, state } = await openPlace();
    await startSession(site);
    const page = openPusherPage(site, server, 'one');
    await page.until(() => expect(page.view.current.source).toBe('channel'));
    state.isLost = () => true;
    await site.runtime.send('one', 'One', { by });
    await page.clock.advance(44_000);
    expect(readTexts(page)).toEqual([]);
    await page.clock.advance(1_100);
    await until(() => expect(readTexts(page)).toEqual(['One', 'You said: One']));
    expect(page.view.current.source).toBe('stream');
    await page.clock.advance(30_000);
    expect(page.view.current.source).toBe('stream');
    state.isLost = () => false;
    await page.view.send('Two');
    await page.until(() => expect(page.view.current.source).toBe('channel'));
    expect(readTexts(page)).toHaveLength(4);
  });

  it('reads text that was dropped from the stream', async () => {
    const [first, last] = [createGate(), createGate()];
    const { server, site, state } = await openPlace({ agents: [createDesk({ first: first.passed, last: last.passed })] });
    await startSession(site);
    const page = openPusherPage(site, server, 'one');
    await page.until(() => expect(page.view.current.source).toBe('channel'));
    state.isLost = (body) => body.includes('You ');
    await page.view.send('Hello');
    await until(() => expect(site.reverb.stats.queued).toBe(0));
    first.open();
    await page.until(() => expect(page.view.current.view.messages.at(-1)).toMatchObject({ text: 'You said: ', provisional: true }));
    last.open();
    await page.until(() => expect(readTexts(page)).toEqual(['Hello', 'You said: Hello']));
  });

  it('shows what a participant of a chat writes once while both deliver', async () => {
    const gate = createGate();
    const write = async function* () {
      yield 'Hello ';
      await gate.passed;
      yield 'there.';
    };
    const ada = llmParticipant({ name: 'Ada', model: scriptedModel([{ chunks: write() }]) });
    const { server, site } = await openPlace({ agents: [createChat({ id: 'panel', participants: [ada] })] });
    await startSession(site);
    const page = openPusherPage(site, server, 'one');
    const isSubscribed = async (): Promise<boolean> => {
      const answer = await openLibrary(server).get({ path: '/channels', params: {} });
      return (await answer.text()).includes(toChannelName('one'));
    };
    await until(async () => expect(await isSubscribed()).toBe(true));
    await page.view.send('Hi');
    await until(() => expect(site.reverb.stats).toMatchObject({ queued: 0 }));
    // Time for the stream, which is a quarter of a second late.
    await page.until(() => expect(page.clock.monotonic()).toBeGreaterThan(1_500));
    expect(page.view.current.source).toBe('stream');
    expect(readTexts(page)).toEqual(['Hi', 'Hello ']);
    gate.open();
    await page.until(() => expect(page.view.current.view.status).toBe('completed'));
    expect(readTexts(page)).toEqual(['Hi', 'Hello there.']);
  });

  it('loses nothing of an hour in which nothing could be published', async () => {
    const clock = createFakeClock();
    let isDown = true;
    const publish = (url: string, init: RequestInit): Promise<Response> =>
      isDown ? Promise.reject(new TypeError('down')) : fetch(url, init);
    const { server, site } = await openPlace({ now: clock.now, broadcaster: { fetch: publish, clock, maxQueueBytes: 3_000 } });
    await startSession(site);
    const page = openPusherPage(site, server, 'one');
    await page.until(() => expect(page.view.current.source).toBe('channel'));
    const texts = Array.from({ length: 12 }, (_, index) => `Message ${index}`);
    for (const text of texts) {
      await site.runtime.send('one', text, { by });
      await clock.advance(300_000);
    }
    expect(site.reverb.stats.droppedEvents).toBeGreaterThan(20);
    expect(site.reverb.stats.queuedBytes).toBeLessThanOrEqual(3_000);
    isDown = false;
    await clock.advance(60_000);
    await page.until(() => expect(readTexts(page)).toEqual(texts.flatMap((text) => [text, `You said: ${text}`])));
    await page.until(() => expect(page.view.current).toMatchObject({ source: 'channel', view: { status: 'completed', gaps: [] } }));
  });
});

describe('a page with a channel of its own', () => {
  it('keeps it when the view is closed', async () => {
    const { server, site } = await openPlace();
    await startSession(site);
    const client = openClient(server, authorizedBy(site, ann));
    const own = client.subscribe(toChannelName('one'));
    const page = openPage(site, 'one', { channel: pusherChannel(client) });
    await page.until(() => expect(page.view.current.source).toBe('channel'));
    page.view.close();
    expect(own.subscribed).toBe(true);
    expect(page.clock.pendingTimers()).toBe(0);
  });
});
