// Live views over a channel: real sockets, real pusher-js, and a clock that the tests move.
import { describe, expect, it, onTestFinished } from 'vitest';
import { pusherChannel, toChannelName } from '../../src/broadcasting/pusher/index.ts';
import type { PusherServer } from '../../src/broadcasting/pusher-server/index.ts';
import { createChat, llmParticipant } from '../../src/chat/index.ts';
import { createAgent } from '../../src/entry/index.ts';
import type { FakeClock } from '../../src/lib/index.ts';
import { createFakeClock, systemClock } from '../../src/lib/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { defineTool } from '../../src/tools/index.ts';
import type { AgentViewOptions, LiveAgentView } from '../../src/ui/index.ts';
import { createAgentView } from '../../src/ui/index.ts';
import { ann, bob, eve } from '../http/stage.ts';
import type { MirroredSite, MirrorOptions } from './stage.ts';
import { authorizedBy, openClient, openEcho, openLibrary, openMirroredSite, startServer, until } from './stage.ts';

const by = { id: 'ann', kind: 'user' };

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } as const,
  needsApproval: true,
  run: ({ amount }) => ({ paid: amount }),
});

interface Gate {
  readonly passed: Promise<void>;
  readonly open: () => void;
}

function createGate(): Gate {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

/** An agent that repeats what it is told, in pieces, or pays if it is told to. */
function createDesk(gates: { readonly first?: Promise<void>; readonly last?: Promise<void> } = {}) {
  const write = async function* (text: string) {
    yield 'You ';
    await gates.first;
    yield 'said: ';
    await gates.last;
    yield text;
  };
  const model = scriptedModel(
    [
      ({ messages }) => {
        const text = messages.findLast((each) => each.isUser())?.text ?? '';
        const isPaid = messages.at(-1)?.isTool() === true;
        return text.startsWith('pay') && !isPaid ? { toolCalls: [{ name: 'pay', args: { amount: 5 } }] } : { chunks: write(text) };
      },
    ],
    { repeatLast: true },
  );
  return createAgent({ id: 'desk', model, tools: [pay] });
}

/** A site, the server of its channels, and what passes between them. */
async function openPlace({ now, ...options }: Partial<MirrorOptions> & { readonly now?: () => number } = {}) {
  const server = await startServer({ clock: { ...systemClock, ...(now !== undefined && { now }) } });
  /** Loses requests of the publisher if a test says so. */
  const state = { isLost: (_body: string) => false };
  const publish = (url: string, init: RequestInit): Promise<Response> =>
    state.isLost(init.body as string) ? Promise.resolve(new Response('{}')) : fetch(url, init);
  const site = await openMirroredSite({ agents: [createDesk()], url: server.url, broadcaster: { fetch: publish }, ...options });
  return { server, site, state };
}

interface Page {
  readonly view: LiveAgentView;
  readonly clock: FakeClock;
  /** Streams that were opened. */
  readonly streams: string[];
  /** Moves the clock until a check passes. */
  readonly until: (check: () => void) => Promise<void>;
}

interface PageOptions extends Partial<AgentViewOptions> {
  readonly caller?: string;
}

function openPage(site: MirroredSite, sessionId: string, { caller = ann, ...options }: PageOptions): Page {
  const clock = createFakeClock();
  const streams: string[] = [];
  const view = createAgentView({
    url: site.url,
    sessionId,
    clock,
    fetch: (url, init = {}) => {
      const headers = new Headers(init.headers);
      headers.set('x-caller', caller);
      if (headers.get('accept') === 'text/event-stream') streams.push(url instanceof Request ? url.url : url.toString());
      return fetch(url, { ...init, headers });
    },
    ...options,
  });
  onTestFinished(() => view.close());
  const tick = async (check: () => void): Promise<void> => {
    await clock.advance(50);
    check();
  };
  return { view, clock, streams, until: (check) => until(() => tick(check)) };
}

/** Opens a page that listens over pusher-js. */
function openPusherPage(site: MirroredSite, server: Pick<PusherServer, 'host' | 'port'>, sessionId: string, caller = ann): Page {
  return openPage(site, sessionId, { caller, channel: pusherChannel(openClient(server, authorizedBy(site, caller))) });
}

const startSession = (site: MirroredSite, id = 'one') => site.runtime.create({ id, tenant: 'north', owner: 'ann' }, { by });
const readTexts = ({ view }: Page): readonly string[] => view.current.view.messages.map(({ text }) => text);

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
    await page.clock.advance(30_000);
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

describe('approvals of a view over a channel', () => {
  it('are answered by a second page, and the first one shows it', async () => {
    const { server, site } = await openPlace();
    await startSession(site);
    const [asking, deciding] = [openPusherPage(site, server, 'one'), openPusherPage(site, server, 'one', bob)];
    for (const page of [asking, deciding]) await page.until(() => expect(page.view.current.source).toBe('channel'));
    await asking.view.send('pay now');
    for (const page of [asking, deciding]) await page.until(() => expect(page.view.current.view.waits).toMatchObject([{ tool: 'pay' }]));
    const [wait] = deciding.view.current.view.waits;
    await deciding.view.approve(wait!);
    for (const page of [asking, deciding]) {
      await page.until(() => expect(page.view.current.view).toMatchObject({ status: 'completed', waits: [], gaps: [] }));
      expect(page.view.current.view.messages).toContainEqual(
        expect.objectContaining({
          role: 'tool',
          tool_result: '{"paid":5}',
          approval: expect.objectContaining({ status: 'approved' }) as object,
        }),
      );
    }
    await expect(asking.view.reject(wait!)).rejects.toMatchObject({ code: 'request-failed', status: 409 });
    expect([asking.streams.length, deciding.streams.length]).toEqual([1, 1]);
  });

  it('are answered after a reload, with the reason that the model reads', async () => {
    const { server, site } = await openPlace();
    await startSession(site);
    const before = openPusherPage(site, server, 'one');
    await before.view.send('pay now');
    await before.until(() => expect(before.view.current.view.waits).toHaveLength(1));
    before.view.close();
    const after = openPusherPage(site, server, 'one', bob);
    await after.until(() => expect(after.view.current).toMatchObject({ source: 'channel', view: { waits: [{ tool: 'pay' }] } }));
    await after.view.reject(after.view.current.view.waits[0]!, 'Too much.');
    await after.until(() => expect(after.view.current.view).toMatchObject({ status: 'completed', waits: [] }));
    expect(after.view.current.view.messages).toContainEqual(
      expect.objectContaining({ role: 'tool', approval: expect.objectContaining({ status: 'rejected', reason: 'Too much.' }) as object }),
    );
  });

  it('are superseded by a message, and edited by whoever decides', async () => {
    const { server, site } = await openPlace();
    await startSession(site);
    const page = openPusherPage(site, server, 'one', bob);
    await page.until(() => expect(page.view.current.source).toBe('channel'));
    await site.runtime.send('one', 'pay now', { by });
    await page.until(() => expect(page.view.current.view.waits).toHaveLength(1));
    const [first] = page.view.current.view.waits;
    await site.runtime.send('one', 'pay less', { by, whileWaiting: 'supersede' });
    await page.until(() =>
      expect(page.view.current.view.waits).toMatchObject([{ digest: expect.not.stringMatching(first?.digest ?? '') as string }]),
    );
    await expect(page.view.approve(first!)).rejects.toMatchObject({ status: 409 });
    const [wait] = page.view.current.view.waits;
    await page.view.approve(wait!, { args: { amount: 4 } });
    await page.until(() => expect(page.view.current.view.status).toBe('completed'));
    expect(page.view.current.view.messages).toContainEqual(expect.objectContaining({ tool_result: '{"paid":4}' }));
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
