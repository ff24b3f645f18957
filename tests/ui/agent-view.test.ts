// Live views over a real server.
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { EventEnvelope } from '../../src/broadcasting/index.ts';
import { createAgent, defineTool } from '../../src/entry/index.ts';
import { createFakeClock } from '../../src/lib/index.ts';
import type { ScriptedAnswer } from '../../src/testing/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import type { AgentViewOptions, LiveAgentView } from '../../src/ui/index.ts';
import { createAgentView, createView, reduceAll } from '../../src/ui/index.ts';
import type { Site, SiteOptions } from '../http/stage.ts';
import { ann, bob, openSite } from '../http/stage.ts';
import { createGate } from '../sessions/stage.ts';
import { createBrowser } from './browser.ts';

const input = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } as const;

/** Does what it is told: `pay` pays, everything else is repeated. */
function createDesk(passed: Promise<void> = Promise.resolve()) {
  const pay = defineTool({ name: 'pay', description: 'Pays.', input, needsApproval: true, run: ({ amount }) => ({ paid: amount }) });
  const answer = (text: string, isPaid: boolean): ScriptedAnswer => {
    if (text.startsWith('pay') && !isPaid) return { text: 'I will pay.', toolCalls: [{ name: 'pay', args: { amount: 5 } }] };
    const write = async function* () {
      yield* ['You ', 'said: '];
      await passed;
      yield text;
    };
    return { chunks: write() };
  };
  const model = scriptedModel(
    [({ messages }) => answer(messages.findLast((each) => each.isUser())?.text ?? '', messages.at(-1)?.isTool() === true)],
    { repeatLast: true },
  );
  return createAgent({ id: 'desk', model, tools: [pay] });
}

const openDesk = (options: SiteOptions = {}): Promise<Site> => openSite({ agents: [createDesk()], ...options });

type Fetch = typeof globalThis.fetch;

const toAddress = (url: Parameters<Fetch>[0]): string => (url instanceof Request ? url.url : url.toString());

/** Makes requests as a caller, and counts the streams that are opened. */
function createFetch(caller: string): { readonly fetch: Fetch; readonly streams: string[]; readonly tokens: string[] } {
  const [streams, tokens]: [string[], string[]] = [[], []];
  const fetch: Fetch = (url, init = {}) => {
    const headers = new Headers(init.headers);
    if (headers.get('accept') === 'text/event-stream') streams.push(new URL(toAddress(url)).search);
    tokens.push(headers.get('authorization') ?? '');
    headers.set('x-caller', caller);
    return globalThis.fetch(url, { ...init, headers });
  };
  return { fetch, streams, tokens };
}

function open(site: Site, sessionId: string, options: Partial<AgentViewOptions> = {}): LiveAgentView {
  const view = createAgentView({ url: site.url, sessionId, fetch: createFetch(ann).fetch, ...options });
  onTestFinished(() => view.close());
  return view;
}

const until = (check: () => void): Promise<void> => vi.waitFor(check, { interval: 5, timeout: 5000 });
const readTexts = ({ current }: LiveAgentView): readonly string[] => current.view.messages.map(({ text }) => text);

describe('a live view', () => {
  it('shows a message, the answer as it is written, and its end', async () => {
    const gate = createGate();
    const site = await openDesk({ agents: [createDesk(gate.passed)] });
    const view = open(site, await site.start(ann));
    await view.send('Hello');
    await until(() => expect(view.current.view.messages.at(-1)).toMatchObject({ text: 'You said: ', provisional: true }));
    expect(view.current.view.status).toBe('in_progress');
    gate.open();
    await until(() => expect(view.current.view.status).toBe('completed'));
    expect(readTexts(view)).toEqual(['Hello', 'You said: Hello']);
    expect(view.current).toMatchObject({ connection: 'live', view: { gaps: [], clocks: { step_count: 1 } } });
  });

  it('starts again if the store was put back to an earlier state, also in another tab', async () => {
    const [long, short] = [await openDesk(), await openDesk()];
    const by = { id: 'ann', kind: 'user' };
    for (const { runtime } of [long, short]) await runtime.create({ id: 's', tenant: 'north', owner: 'ann' }, { by });
    for (const text of ['One', 'Two', 'Three']) await long.runtime.send('s', text, { by });
    await short.runtime.send('s', 'Restored', { by });
    let site = long;
    let cut = new AbortController();
    const fetch: Fetch = (url, { signal, ...init } = {}) => {
      const signals = [cut.signal, ...(signal ? [signal] : [])];
      const headers = { ...Object.fromEntries(new Headers(init.headers)), 'x-caller': ann };
      return globalThis.fetch(toAddress(url).replace(long.url, site.url), { ...init, headers, signal: AbortSignal.any(signals) });
    };
    const environment = createBrowser();
    const views = [open(long, 's', { fetch, environment }), open(long, 's', { fetch, environment })];
    for (const view of views) await until(() => expect(readTexts(view)).toHaveLength(6));
    site = short;
    const before = cut;
    cut = new AbortController();
    before.abort();
    for (const view of views) await until(() => expect(readTexts(view)).toEqual(['Restored', 'You said: Restored']));
    await short.runtime.send('s', 'More', { by });
    for (const view of views)
      await until(() => expect(readTexts(view)).toEqual(['Restored', 'You said: Restored', 'More', 'You said: More']));
    expect(views.map(({ current }) => current.view.gaps)).toEqual([[], []]);
  });

  it('approves what waits, after all of it was read', async () => {
    const site = await openDesk();
    const view = open(site, await site.start(ann, 'pay now'), { fetch: createFetch(bob).fetch });
    await until(() => expect(view.current.view.waits).toMatchObject([{ type: 'approval', tool: 'pay', args_summary: 'amount: 5' }]));
    const [wait] = view.current.view.waits;
    expect(await view.readWait(wait!.wait_id)).toMatchObject({ args: { amount: 5 } });
    await view.approve(wait!, { args: { amount: 4 } });
    await until(() => expect(view.current.view.status).toBe('completed'));
    expect(view.current.view.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', text: 'I will pay.' },
      { role: 'tool', text: 'pay is done', tool_result: '{"paid":4}', approval: { status: 'approved', edited: true, by: { id: 'bob' } } },
      { role: 'assistant' },
    ]);
  });

  it('shows the evaluations after each step as meters, limits that are not reached included', async () => {
    const site = await openDesk();
    const view = open(site, await site.start(ann, 'Hello'));
    await until(() => expect(view.current.view.status).toBe('completed'));
    const [decision] = view.current.view.why.steps;
    const meters = decision?.evaluations.flatMap(({ criterion, meter }) => (meter === undefined ? [] : [[criterion, meter.unit]]));
    expect(meters).toEqual(
      expect.arrayContaining([
        ['StepsLimit', 'steps'],
        ['TokenUsageLimit', 'tokens'],
      ]),
    );
    expect(decision?.evaluations.find(({ criterion }) => criterion === 'StepsLimit')?.meter).toMatchObject({ value: 1 });
  });

  it('rejects with the error of the server', async () => {
    const site = await openDesk();
    const view = open(site, await site.start(ann, 'pay now'));
    await until(() => expect(view.current.view.waits).toHaveLength(1));
    const refused = view.approve(view.current.view.waits[0]!);
    await expect(refused).rejects.toMatchObject({
      code: 'request-failed',
      status: 403,
      message: expect.stringContaining('Only staff') as string,
    });
  });

  it('connects again by itself where it was, and asks for a token each time', async () => {
    const site = await openDesk({ handler: { maxStreamMs: 50 } });
    const { fetch, streams, tokens } = createFetch(ann);
    let asked = 0;
    const view = open(site, await site.start(ann, 'One'), { fetch, getToken: () => `token-${(asked += 1)}` });
    await until(() => expect(streams.length).toBeGreaterThan(2));
    await view.send('Two');
    await until(() => expect(readTexts(view)).toEqual(['One', 'You said: One', 'Two', 'You said: Two']));
    expect(streams[0]).toBe('?after=0&last=300');
    expect(Number(new URLSearchParams(streams.at(-1)).get('after'))).toBeGreaterThan(5);
    expect(new Set(tokens).size).toBe(tokens.length);
  });

  it('stops asking when it is refused', async () => {
    const site = await openDesk();
    const view = open(site, 'unknown');
    await until(() => expect(view.current).toMatchObject({ connection: 'refused', error: { status: 404, serverCode: 'unknown-session' } }));
  });

  it('connects at once when the network is back', async () => {
    const site = await openDesk();
    const clock = createFakeClock();
    const window = new EventTarget();
    let isDown = true;
    const { fetch } = createFetch(ann);
    const flaky: Fetch = (url, init) => (isDown ? Promise.reject(new TypeError('fetch failed')) : fetch(url, init));
    const view = open(site, await site.start(ann, 'One'), { fetch: flaky, clock, environment: { window } });
    await until(() => expect(view.current).toMatchObject({ connection: 'waiting', error: { code: 'request-failed', status: 0 } }));
    isDown = false;
    window.dispatchEvent(new Event('online'));
    await until(() => expect(readTexts(view)).toEqual(['One', 'You said: One']));
  });

  it('gives a silent connection up', async () => {
    const site = await openDesk();
    const clock = createFakeClock();
    const { fetch, streams } = createFetch(ann);
    const silent: Fetch = (url, init) => {
      if (streams.length > 0 || !toAddress(url).includes('after=0')) return fetch(url, init);
      streams.push('silent');
      return Promise.resolve(new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } }));
    };
    const view = open(site, await site.start(ann, 'One'), { fetch: silent, clock });
    await until(() => expect(streams).toEqual(['silent']));
    await clock.advance(44_000);
    expect(streams).toEqual(['silent']);
    await clock.advance(2_000);
    await until(() => expect(readTexts(view)).toEqual(['One', 'You said: One']));
  });

  it('fetches what a stream lost', async () => {
    const site = await openDesk({ handler: { heartbeatMs: 50 } });
    const { fetch } = createFetch(ann);
    const lossy: Fetch = async (url, init) => {
      const response = await fetch(url, init);
      if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
      let count = 0;
      const drop = new TransformStream<Uint8Array, Uint8Array>({
        transform: (bytes, controller) => {
          const frames = new TextDecoder().decode(bytes).split('\n\n').slice(0, -1);
          const kept = frames.filter((frame) => !frame.includes('"seq":') || (count += 1) % 3 === 0);
          if (kept.length > 0) controller.enqueue(new TextEncoder().encode(`${kept.join('\n\n')}\n\n`));
        },
      });
      return new Response(response.body?.pipeThrough(drop) ?? null, { headers: response.headers });
    };
    const id = await site.start(ann, 'One');
    const view = open(site, id, { fetch: lossy });
    await until(() => expect(view.current.view).toMatchObject({ status: 'completed', gaps: [] }));
    const response = await fetch(`${site.url}/sessions/${id}/events`, { headers: { accept: 'application/json' } });
    const { envelopes } = (await response.json()) as { readonly envelopes: readonly EventEnvelope[] };
    expect(view.current.view.messages).toEqual(reduceAll(createView(id), envelopes).messages);
  });

  it('fetches the text of a message that was too large for its envelope', async () => {
    const site = await openDesk();
    const text = 'long '.repeat(4000).trim();
    const view = open(site, await site.start(ann, text));
    await until(() => expect(readTexts(view)).toEqual([text, `You said: ${text}`]));
  });
});

describe('tabs of one browser', () => {
  it('share a connection, and are all up to date', async () => {
    const site = await openDesk();
    const environment = createBrowser();
    const { fetch, streams } = createFetch(ann);
    const id = await site.start(ann, 'One');
    const tabs = [1, 2, 3].map(() => open(site, id, { fetch, environment }));
    const expected = ['One', 'You said: One', 'Two', 'You said: Two'];
    await until(() => expect(tabs[2]?.current.view.status).toBe('completed'));
    await tabs[1]?.send('Two');
    for (const tab of tabs) await until(() => expect(readTexts(tab)).toEqual(expected));
    expect(streams).toHaveLength(1);
    expect(tabs.map(({ current }) => current.connection)).toEqual(['live', 'shared', 'shared']);
  });

  it('connect in turn when the one that does is closed', async () => {
    const site = await openDesk();
    const environment = createBrowser();
    const { fetch, streams } = createFetch(ann);
    const id = await site.start(ann, 'One');
    const [first, second] = [open(site, id, { fetch, environment }), open(site, id, { fetch, environment })];
    await until(() => expect(second.current.view.status).toBe('completed'));
    first.close();
    await second.send('Two');
    await until(() => expect(readTexts(second)).toHaveLength(4));
    expect([streams.length, second.current.connection, first.current.connection]).toEqual([2, 'live', 'closed']);
  });

  it('connect one by one if the browser refuses channels, or refuses locks', async () => {
    const site = await openDesk();
    const id = await site.start(ann, 'Hello');
    const refuse = (): never => {
      throw new DOMException('Storage is blocked.', 'SecurityError');
    };
    const browser = createBrowser();
    const environments = [
      { ...browser, createChannel: refuse },
      { ...browser, locks: { request: async () => refuse() } },
      { ...browser, locks: { request: refuse } },
    ];
    const views = environments.map((environment) => open(site, id, { environment }));
    await until(() =>
      expect(views.map(({ current }) => [current.connection, current.view.status])).toEqual(views.map(() => ['live', 'completed'])),
    );
  });

  it('take over from one that has become silent', async () => {
    const site = await openDesk();
    const environment = createBrowser();
    const { fetch, streams } = createFetch(ann);
    const id = await site.start(ann, 'One');
    const [frozen, awake] = [createFakeClock(), createFakeClock()];
    const first = open(site, id, { fetch, environment, clock: frozen });
    const second = open(site, id, { fetch, environment, clock: awake });
    await until(() => expect(second.current.view.status).toBe('completed'));
    await awake.advance(61_000);
    await until(() => expect([first.current.connection, second.current.connection]).toEqual(['shared', 'live']));
    expect(streams).toHaveLength(2);
  });
});
