// The hook, rendered by React over a real server.
import type { ReactElement } from 'react';
import { createElement, StrictMode } from 'react';
import type { Rendered } from 'react-test-renderer';
import { act, create } from 'react-test-renderer';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createAgent } from '../../src/entry/index.ts';
import type { Clock } from '../../src/lib/index.ts';
import { createFakeClock, scriptedModel } from '../../src/testing/index.ts';
import type { UseAgentResult } from '../../src/ui/react/index.ts';
import { useAgent } from '../../src/ui/react/index.ts';
import { LazyAgentView } from '../../src/ui/react/lazy-view.ts';
import type { Site } from '../http/stage.ts';
import { ann, openSite } from '../http/stage.ts';

interface PageProps {
  readonly site: Site;
  readonly sessionId: string;
  readonly opened: string[];
  readonly signals: AbortSignal[];
  readonly clock?: Clock;
  readonly onRender: (agent: UseAgentResult) => void;
}

/** Shows a session as lines. */
function Page({ site, sessionId, opened, signals, clock, onRender }: PageProps): ReactElement {
  const agent = useAgent({
    url: site.url,
    sessionId,
    ...(clock !== undefined && { clock }),
    fetch: (url, init = {}) => {
      if (init.signal instanceof AbortSignal) signals.push(init.signal);
      opened.push(url instanceof Request ? url.url : url.toString());
      return fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), 'x-caller': ann } });
    },
  });
  onRender(agent);
  return createElement('p', null, agent.messages.map(({ text }) => text).join(' | '));
}

const until = (check: () => void): Promise<void> =>
  vi.waitFor(
    async () => {
      await act(() => new Promise((resolve) => setTimeout(resolve, 5)));
      check();
    },
    { timeout: 5000 },
  );

async function render(props: Omit<PageProps, 'onRender' | 'opened' | 'signals'>) {
  const opened: string[] = [];
  const signals: AbortSignal[] = [];
  const seen: UseAgentResult[] = [];
  const toPage = (more: Partial<PageProps> = {}): ReactElement =>
    createElement(
      StrictMode,
      null,
      createElement(Page, { ...props, opened, signals, ...more, onRender: (agent) => void seen.push(agent) }),
    );
  let page!: Rendered;
  // The renderer says of itself that it is deprecated; there is no other one without a browser.
  const console = vi.spyOn(globalThis.console, 'error').mockReturnValue();
  await act(() => void (page = create(toPage())));
  const written = console.mock.calls.flat().map(String);
  console.mockRestore();
  expect(written.filter((line) => !line.startsWith('react-test-renderer is deprecated'))).toEqual([]);
  onTestFinished(async () => act(() => page.unmount()));
  const update = async (more: Partial<PageProps>): Promise<void> => act(() => page.update(toPage(more)));
  return { opened, signals, seen, update, read: () => JSON.stringify(page.toJSON()) };
}

describe('useAgent', () => {
  beforeAll(() => {
    // React asks for it where `act` is used.
    Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  });

  afterAll(() => {
    Reflect.deleteProperty(globalThis, 'IS_REACT_ACT_ENVIRONMENT');
  });

  it('draws a conversation, sends to it, and connects once', async () => {
    const model = scriptedModel(['Hello!', 'Again!']);
    const site = await openSite({ agents: [createAgent({ id: 'desk', model })] });
    const { read, seen, opened } = await render({ site, sessionId: await site.start(ann, 'Hi') });
    await until(() => expect(read()).toContain('Hi | Hello!'));
    await act(async () => {
      await seen.at(-1)?.send('More');
    });
    await until(() => expect(read()).toContain('Hi | Hello! | More | Again!'));
    expect(seen.at(-1)).toMatchObject({ status: 'completed', connection: 'live', waits: [], gaps: [] });
    expect(opened.filter((url) => url.includes('/events?after='))).toHaveLength(1);
  });

  it('returns the view, its connection and every action', async () => {
    const site = await openSite({ agents: [createAgent({ id: 'desk', model: scriptedModel(['Hello!']) })] });
    const { seen } = await render({ site, sessionId: await site.start(ann, 'Hi') });
    await until(() => expect(seen.at(-1)?.status).toBe('completed'));
    const agent = seen.at(-1)!;
    const { messages, status, waits, usage, clocks, why, gaps, known_seq } = agent.view;
    expect(agent).toMatchObject({ messages, status, waits, usage, clocks, why, gaps, known_seq, connection: 'live', error: undefined });
    const actions = ['send', 'cancel', 'approve', 'reject', 'answer', 'grant', 'readWait'] as const;
    expect(actions.map((name) => typeof agent[name])).toEqual(actions.map(() => 'function'));
  });

  it('leaves the session before when it is given another, and uses the options given with it', async () => {
    const model = scriptedModel(['First.', 'Second.']);
    const site = await openSite({ agents: [createAgent({ id: 'desk', model })] });
    const [one, two] = [await site.start(ann, 'One'), await site.start(ann, 'Two')];
    const later: string[] = [];
    const clock = createFakeClock();
    const { read, update, opened, signals } = await render({ site, sessionId: one, clock });
    await until(() => expect(read()).toContain('One | First.'));
    await update({ sessionId: two, opened: later });
    await until(() => expect(read()).toContain('Two | Second.'));
    expect([opened.some((url) => url.includes(two)), later.every((url) => url.includes(two))]).toEqual([false, true]);
    expect(signals[0]?.aborted).toBe(false);
    await act(() => clock.advance(1_000));
    expect(signals[0]?.aborted).toBe(true);
  });

  it('asks for nothing before somebody listens, and for nothing more after an action of nobody', async () => {
    const clock = createFakeClock();
    const asked: string[] = [];
    const signals: (AbortSignal | null | undefined)[] = [];
    const fetch: typeof globalThis.fetch = (url, init) => {
      asked.push(url instanceof Request ? url.url : url.toString());
      signals.push(init?.signal);
      return Promise.resolve(new Response(asked.at(-1)?.includes('/events') === true ? new ReadableStream() : '{}'));
    };
    const lazy = new LazyAgentView({ url: 'https://app.example', sessionId: 'one', fetch, clock });
    expect([lazy.getInitial().connection, lazy.getCurrent().view.messages]).toEqual(['connecting', []]);
    expect([asked, clock.pendingTimers()]).toEqual([[], 0]);
    await lazy.actions.send('Hi');
    await clock.advance(1_000);
    expect(signals[asked.findIndex((url) => url.includes('/events'))]?.aborted).toBe(true);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('shows another session when it is given one', async () => {
    const model = scriptedModel(['First.', 'Second.']);
    const site = await openSite({ agents: [createAgent({ id: 'desk', model })] });
    const [one, two] = [await site.start(ann, 'One'), await site.start(ann, 'Two')];
    const { read, update } = await render({ site, sessionId: one });
    await until(() => expect(read()).toContain('One | First.'));
    await update({ sessionId: two });
    await until(() => expect(read()).toContain('Two | Second.'));
    expect(read()).not.toContain('One');
  });
});
