// The hook, rendered by React over a real server.
import type { ReactElement } from 'react';
import { createElement, StrictMode } from 'react';
import type { Rendered } from 'react-test-renderer';
import { act, create } from 'react-test-renderer';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createAgent } from '../../src/entry/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import type { UseAgentResult } from '../../src/ui/react/index.ts';
import { useAgent } from '../../src/ui/react/index.ts';
import type { Site } from '../http/stage.ts';
import { ann, openSite } from '../http/stage.ts';

interface PageProps {
  readonly site: Site;
  readonly sessionId: string;
  readonly opened: string[];
  readonly onRender: (agent: UseAgentResult) => void;
}

/** Shows a session as lines. */
function Page({ site, sessionId, opened, onRender }: PageProps): ReactElement {
  const agent = useAgent({
    url: site.url,
    sessionId,
    fetch: (url, init = {}) => {
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

async function render(props: Omit<PageProps, 'onRender' | 'opened'>) {
  const opened: string[] = [];
  const seen: UseAgentResult[] = [];
  const toPage = (more: Partial<PageProps> = {}): ReactElement =>
    createElement(StrictMode, null, createElement(Page, { ...props, ...more, opened, onRender: (agent) => void seen.push(agent) }));
  let page!: Rendered;
  // The renderer says of itself that it is deprecated; there is no other one without a browser.
  const console = vi.spyOn(globalThis.console, 'error').mockReturnValue();
  await act(() => void (page = create(toPage())));
  const written = console.mock.calls.flat().map(String);
  console.mockRestore();
  expect(written.filter((line) => !line.startsWith('react-test-renderer is deprecated'))).toEqual([]);
  onTestFinished(async () => act(() => page.unmount()));
  const update = async (more: Partial<PageProps>): Promise<void> => act(() => page.update(toPage(more)));
  return { opened, seen, update, read: () => JSON.stringify(page.toJSON()) };
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
    await act(async () => seen.at(-1)?.send('More'));
    await until(() => expect(read()).toContain('Hi | Hello! | More | Again!'));
    expect(seen.at(-1)).toMatchObject({ status: 'completed', connection: 'live', waits: [], gaps: [] });
    expect(opened.filter((url) => url.includes('/events?after='))).toHaveLength(1);
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
