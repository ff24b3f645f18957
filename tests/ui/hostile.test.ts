// What networks, proxies, clocks, browsers and people do to a live view.
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createSessionHandler } from '../../src/broadcasting/http/index.ts';
import { createAgent, defineTool } from '../../src/entry/index.ts';
import type { FakeClock } from '../../src/lib/index.ts';
import { createFakeClock } from '../../src/lib/index.ts';
import type { ScriptedAnswer } from '../../src/testing/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import type { AgentViewOptions, LiveAgentView, PageChannel, PageEnvironment } from '../../src/ui/index.ts';
import { createAgentView } from '../../src/ui/index.ts';
import type { Site } from '../http/stage.ts';
import { ann, authenticate, authorize, bob, eve, newSession, openSite } from '../http/stage.ts';
import { createBrowser } from './browser.ts';

type Fetch = typeof globalThis.fetch;

const input = { type: 'object', properties: { password: { type: 'string' } }, required: ['password'] } as const;
const unlock = defineTool({ name: 'unlock', description: 'Unlocks.', input, needsApproval: true, run: () => 'open' });

/** Repeats what it is told; `unlock` calls a tool whose arguments are secret. */
function openDesk(): Promise<Site> {
  const answer = (text: string, isDone: boolean): ScriptedAnswer =>
    text === 'unlock' && !isDone ? { toolCalls: [{ name: 'unlock', args: { password: 'hunter2' } }] } : { text: `You said: ${text}` };
  const model = scriptedModel(
    [({ messages }) => answer(messages.findLast((each) => each.isUser())?.text ?? '', messages.at(-1)?.isTool() === true)],
    { repeatLast: true },
  );
  return openSite({ agents: [createAgent({ id: 'desk', model, tools: [unlock] })] });
}

const toAddress = (url: Parameters<Fetch>[0]): URL => new URL(url instanceof Request ? url.url : url.toString());
const readText = (value: unknown): string => (typeof value === 'string' ? value : '');

const isStream = (init: RequestInit | undefined): boolean => new Headers(init?.headers).get('accept') === 'text/event-stream';

/** Makes requests as a caller. */
const createFetch =
  (caller: string, asked: string[] = []): Fetch =>
  (url, init = {}) => {
    asked.push(toAddress(url).pathname);
    const headers = new Headers(init.headers);
    headers.set('x-caller', caller);
    return globalThis.fetch(url, { ...init, headers });
  };

/** Leaves frames of a stream out. */
function dropFrames(response: Response, isLost: (frame: string) => boolean): Response {
  const drop = new TransformStream<Uint8Array, Uint8Array>({
    transform: (bytes, controller) => {
      const frames = new TextDecoder().decode(bytes).split('\n\n').slice(0, -1);
      const kept = frames.filter((frame) => !isLost(frame)).map((frame) => `${frame}\n\n`);
      controller.enqueue(new TextEncoder().encode(kept.join('')));
    },
  });
  return new Response(response.body?.pipeThrough(drop) ?? null, { status: response.status, headers: response.headers });
}

function open(site: Site, sessionId: string, options: Partial<AgentViewOptions> = {}): LiveAgentView {
  const view = createAgentView({ url: site.url, sessionId, fetch: createFetch(ann), environment: {}, ...options });
  onTestFinished(() => view.close());
  return view;
}

const until = (check: () => void): Promise<void> => vi.waitFor(check, { interval: 5, timeout: 5000 });
const readTexts = ({ current }: LiveAgentView): readonly string[] => current.view.messages.map(({ text }) => text);
const send = (site: Site, id: string, text: string) => site.request(ann, 'POST', `/sessions/${id}/messages`, { text, until: 'rest' });

/** Waits for something that happens when time passes. */
const whileTimePasses = (clock: FakeClock, check: () => void): Promise<void> =>
  vi.waitFor(
    async () => {
      await clock.advance(250);
      check();
    },
    { interval: 5, timeout: 5000 },
  );

const one = ['One', 'You said: One'];
const both = [...one, 'Two', 'You said: Two'];

describe('a view whose machine slept', () => {
  /** Accepts one token; the network goes dead without a word. */
  async function openAsleep() {
    const site = await openDesk();
    const id = await site.start(ann, 'One');
    const [clock, window] = [createFakeClock(), new EventTarget()];
    const net = { isDead: false, accepted: 'first', tokens: [] as string[] };
    const base = createFetch(ann);
    const fetch: Fetch = async (url, init) => {
      const token = new Headers(init?.headers).get('authorization')?.slice('Bearer '.length) ?? '';
      net.tokens.push(token);
      if (token !== net.accepted) return new Response('{"error":{"code":"not-authenticated","message":"Sign in."}}', { status: 401 });
      const response = await base(url, init);
      const pass = new TransformStream<Uint8Array, Uint8Array>({
        transform: (bytes, controller) => {
          if (!net.isDead || token !== 'first') controller.enqueue(bytes);
        },
      });
      return new Response(response.body?.pipeThrough(pass) ?? null, { status: response.status, headers: response.headers });
    };
    return { site, id, clock, window, net, fetch };
  }

  it('asks for another token when the one it gets has expired, and recovers', async () => {
    const { site, id, clock, window, net, fetch } = await openAsleep();
    // The first one after the sleep comes from a cache.
    const tokens = ['first', 'first', 'second'];
    const view = open(site, id, { fetch, clock, environment: { window }, getToken: () => tokens.shift() ?? 'second', random: () => 0 });
    await until(() => expect(readTexts(view)).toEqual(one));
    [net.isDead, net.accepted] = [true, 'second'];
    await send(site, id, 'Two');
    clock.shiftWall(20 * 60_000);
    window.dispatchEvent(new Event('pageshow'));
    await until(() => expect(view.current).toMatchObject({ connection: 'waiting', error: { status: 401 } }));
    await whileTimePasses(clock, () => expect(readTexts(view)).toEqual(both));
    expect(view.current.connection).toBe('live');
    expect(view.current).not.toHaveProperty('error');
    expect(net.tokens).toEqual(['first', 'first', 'second']);
  });

  it('recovers if the token itself cannot be fetched at first', async () => {
    const { site, id, clock, window, net, fetch } = await openAsleep();
    net.accepted = 'second';
    let asked = 0;
    const getToken = (): Promise<string> => ((asked += 1) === 1 ? Promise.reject(new TypeError('offline')) : Promise.resolve('second'));
    const view = open(site, id, { fetch, clock, environment: { window }, getToken });
    await until(() => expect(view.current.connection).toBe('waiting'));
    await whileTimePasses(clock, () => expect(readTexts(view)).toEqual(one));
  });

  it('asks again if a request gets no answer', async () => {
    const { site, id, clock, window, fetch } = await openAsleep();
    let asked = 0;
    const getToken = (): Promise<string> => ((asked += 1) === 1 ? new Promise(() => undefined) : Promise.resolve('first'));
    const view = open(site, id, { fetch, clock, environment: { window }, getToken, random: () => 0 });
    for (let seconds = 0; seconds < 12; seconds += 1) await clock.advance(1000);
    await until(() => expect(view.current.connection).toBe('live'));
    expect(readTexts(view)).toEqual(one);
  });

  it.each([
    ['back', -3_600_000],
    ['forward', 3_600_000],
  ])('does not trust its connection after the clock was set %s', async (_name, ms) => {
    const { site, id, clock, window, net, fetch } = await openAsleep();
    const view = open(site, id, { fetch, clock, environment: { window }, getToken: () => net.accepted });
    await until(() => expect(readTexts(view)).toEqual(one));
    [net.isDead, net.accepted] = [true, 'second'];
    await send(site, id, 'Two');
    clock.shiftWall(ms);
    window.dispatchEvent(new Event('focus'));
    await until(() => expect(readTexts(view)).toEqual(both));
  });
});

describe('a proxy that holds streams back', () => {
  it('makes a view a few seconds late, and no longer than it holds them back', async () => {
    const site = await openDesk();
    const id = await site.start(ann, 'One');
    const clock = createFakeClock();
    let isHeld = true;
    const pages: string[] = [];
    const base = createFetch(ann);
    const fetch: Fetch = async (url, init) => {
      if (!isStream(init)) pages.push(toAddress(url).search);
      if (!isStream(init) || !isHeld) return base(url, init);
      return new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } });
    };
    const view = open(site, id, { fetch, clock });
    await clock.advance(4_000);
    expect([view.current.connection, readTexts(view), pages]).toEqual(['connecting', [], []]);
    await clock.advance(1_500);
    await until(() => expect(readTexts(view)).toEqual(one));
    expect(view.current.connection).toBe('polling');
    await send(site, id, 'Two');
    await whileTimePasses(clock, () => expect(readTexts(view)).toEqual(both));
    expect(view.current.connection).toBe('polling');
    isHeld = false;
    await whileTimePasses(clock, () => expect(view.current.connection).toBe('live'));
    const count = pages.length;
    await clock.advance(10_000);
    expect(pages).toHaveLength(count);
  });
});

describe('a session that is deleted', () => {
  it('is said to be gone, and asked for no more', async () => {
    const site = await openDesk();
    const id = await site.start(ann, 'One');
    const clock = createFakeClock();
    const asked: string[] = [];
    const view = open(site, id, { fetch: createFetch(ann, asked), clock });
    await until(() => expect(readTexts(view)).toEqual(one));
    await site.runtime.delete(id, { by: { id: 'ann', kind: 'user' } });
    await whileTimePasses(clock, () =>
      expect(view.current).toMatchObject({ connection: 'refused', error: { status: 404, serverCode: 'unknown-session' } }),
    );
    const count = asked.length;
    await clock.advance(600_000);
    expect(asked).toHaveLength(count);
    expect(readTexts(view)).toEqual(one);
  });

  it('is not asked for again to fill a gap', async () => {
    const site = await openDesk();
    const id = await site.start(ann, 'One');
    const clock = createFakeClock();
    const pages: string[] = [];
    const base = createFetch(ann);
    // The stream stays open, and loses an event; whoever fetches it learns that the session is gone.
    const fetch: Fetch = async (url, init) => {
      if (isStream(init)) return dropFrames(await base(url, init), (frame) => frame.includes('agent.step.started'));
      pages.push(toAddress(url).search);
      return new Response('{"error":{"code":"unknown-session","message":"Gone."}}', { status: 404 });
    };
    const view = open(site, id, { fetch, clock });
    await until(() => expect(readTexts(view)).toEqual(one));
    await whileTimePasses(clock, () => expect(view.current).toMatchObject({ connection: 'live', error: { status: 404 } }));
    expect(pages).toHaveLength(1);
    for (let round = 0; round < 3; round += 1) await clock.advance(5_000);
    expect(pages).toHaveLength(1);
  });
});

describe('a stream that loses events', () => {
  it('is repaired from its end', async () => {
    const site = await openDesk();
    const id = await site.start(ann, 'One');
    await send(site, id, 'Two');
    const pages: number[] = [];
    const base = createFetch(ann);
    const fetch: Fetch = async (url, init) => {
      if (isStream(init)) return dropFrames(await base(url, init), (frame) => frame.includes('agent.step.started'));
      pages.push(Number(toAddress(url).searchParams.get('before')));
      return base(url, init);
    };
    const view = open(site, id, { fetch });
    await until(() => expect([readTexts(view), view.current.view.gaps]).toEqual([both, []]));
    expect(pages).toHaveLength(2);
    expect(pages[0]).toBeGreaterThan(pages[1] ?? 0);
  });
});

describe('a server that starts again with another secret', () => {
  it('refuses what was seen before, and takes what is read again', async () => {
    const site = await openDesk();
    const id = await site.start(ann, 'unlock');
    const handlers = ['a', 'b'].map((letter) =>
      createSessionHandler(site.runtime, { authenticate, authorize, newSession, secret: letter.repeat(32) }),
    );
    let handle = handlers[0]!;
    const fetch: Fetch = (url, init = {}) => {
      const headers = new Headers(init.headers);
      headers.set('x-caller', bob);
      return handle(new Request(url, { ...init, headers }));
    };
    const view = open(site, id, { fetch });
    await until(() => expect(view.current.view.waits).toHaveLength(1));
    const wait = view.current.view.waits[0]!;
    const shown = await view.readWait(wait.wait_id);
    handle = handlers[1]!;
    const stale = view.approve({ wait_id: wait.wait_id, digest: readText(shown['digest']) }, { seen: readText(shown['seen']) });
    await expect(stale).rejects.toMatchObject({ status: 428, serverCode: 'hidden-arguments' });
    const again = await view.readWait(wait.wait_id);
    await view.approve({ wait_id: wait.wait_id, digest: readText(again['digest']) }, { seen: readText(again['seen']) });
    await until(() => expect(view.current.view.status).toBe('completed'));
  });
});

describe('tabs of different people in one browser', () => {
  it('do not keep each other from connecting', async () => {
    const site = await openDesk();
    const id = await site.start(ann, 'One');
    const environment = createBrowser();
    const stranger = open(site, id, { fetch: createFetch(eve), environment });
    await until(() => expect(stranger.current).toMatchObject({ connection: 'refused', error: { status: 404 } }));
    const own = open(site, id, { environment });
    await until(() => expect(readTexts(own)).toEqual(one));
    expect(own.current.connection).toBe('live');
  });

  it('hand the connection on if the person of the tab that connects is signed out', async () => {
    const site = await openDesk();
    const id = await site.start(ann, 'One');
    const environment = createBrowser();
    const clock = createFakeClock();
    const nobody = open(site, id, { fetch: createFetch(''), environment, clock });
    await until(() => expect(nobody.current).toMatchObject({ connection: 'waiting', error: { status: 401 } }));
    const own = open(site, id, { environment });
    await whileTimePasses(clock, () => expect(own.current.connection).toBe('live'));
    expect(readTexts(own)).toEqual(one);
    expect(readTexts(nobody)).toEqual([]);
  });

  it('show nothing that the server does not show their person', async () => {
    const site = await openDesk();
    const id = await site.start(ann, 'One');
    const environment = createBrowser();
    const own = open(site, id, { environment });
    await until(() => expect(own.current.connection).toBe('live'));
    const stranger = open(site, id, { fetch: createFetch(eve), environment });
    await until(() => expect(stranger.current.connection).toBe('refused'));
    await send(site, id, 'Two');
    await until(() => expect(readTexts(own)).toEqual(both));
    expect([stranger.current.connection, readTexts(stranger)]).toEqual(['refused', []]);
  });
});

describe('a tab that connects for others', () => {
  it('is replaced within seconds if it is frozen when another one wakes up', async () => {
    const site = await openDesk();
    const id = await site.start(ann, 'One');
    const browser = createBrowser();
    let isFrozen = false;
    const createChannel = (name: string): PageChannel => {
      const channel = browser.createChannel!(name);
      const deaf: PageChannel = {
        onmessage: null,
        postMessage: (message) => {
          if (!isFrozen) channel.postMessage(message);
        },
        close: () => channel.close(),
      };
      channel.onmessage = (event) => {
        if (!isFrozen) deaf.onmessage?.(event);
      };
      return deaf;
    };
    const frozen: PageEnvironment = { ...browser, createChannel };
    const [clock, window] = [createFakeClock(), new EventTarget()];
    const first = open(site, id, { environment: frozen, clock: createFakeClock() });
    await until(() => expect(first.current.connection).toBe('live'));
    const second = open(site, id, { environment: { ...browser, window }, clock });
    await until(() => expect(second.current.connection).toBe('shared'));
    isFrozen = true;
    window.dispatchEvent(new Event('focus'));
    await clock.advance(4_000);
    expect(second.current.connection).toBe('shared');
    await clock.advance(2_000);
    await until(() => expect(second.current.connection).toBe('live'));
    await send(site, id, 'Two');
    await until(() => expect(readTexts(second)).toEqual(both));
  });

  it('says when it is not connected itself', async () => {
    const site = await openDesk();
    const id = await site.start(ann, 'One');
    const environment = createBrowser();
    const base = createFetch(ann);
    const streams: AbortController[] = [];
    let isDown = false;
    const fetch: Fetch = (url, init) => {
      if (!isStream(init)) return base(url, init);
      if (isDown) return Promise.reject(new TypeError('fetch failed'));
      const cut = new AbortController();
      streams.push(cut);
      return base(url, { ...init, signal: AbortSignal.any([init!.signal!, cut.signal]) });
    };
    const first = open(site, id, { fetch, environment });
    await until(() => expect(first.current.connection).toBe('live'));
    const second = open(site, id, { fetch, environment });
    await until(() => expect(second.current.connection).toBe('shared'));
    isDown = true;
    streams[0]?.abort();
    await until(() => expect([first.current.connection, second.current.connection]).toEqual(['waiting', 'waiting']));
    isDown = false;
    await until(() => expect([first.current.connection, second.current.connection]).toEqual(['live', 'shared']));
  });
});
