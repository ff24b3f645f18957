// The hook over a channel, rendered by React.
import type { ReactElement } from 'react';
import { createElement } from 'react';
import { create } from 'react-test-renderer';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { pusherChannel } from '../../src/broadcasting/pusher/index.ts';
import { createAgent } from '../../src/entry/index.ts';
import { createFakeClock } from '../../src/lib/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import type { AgentViewOptions } from '../../src/ui/index.ts';
import type { UseAgentResult } from '../../src/ui/react/index.ts';
import { useAgent } from '../../src/ui/react/index.ts';
import { ann } from '../http/stage.ts';
import { authorizedBy, openClient, openMirroredSite, startServer, until } from './stage.ts';

const seen: { agent?: UseAgentResult } = {};

function Page(options: AgentViewOptions): ReactElement {
  const agent = useAgent(options);
  seen.agent = agent;
  return createElement('p', { 'data-source': agent.source }, agent.messages.map(({ text }) => text).join(' | '));
}

describe('useAgent', () => {
  it('draws a conversation that comes over a channel', async () => {
    const server = await startServer();
    const site = await openMirroredSite({ agents: [createAgent({ id: 'desk', model: scriptedModel(['Hello!']) })], url: server.url });
    await site.runtime.create({ id: 'one', tenant: 'north', owner: 'ann' }, { by: { id: 'ann', kind: 'user' } });
    const clock = createFakeClock();
    const options: AgentViewOptions = {
      url: site.url,
      sessionId: 'one',
      clock,
      channel: pusherChannel(openClient(server, authorizedBy(site, ann))),
      fetch: (url, init = {}) => fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), 'x-caller': ann } }),
    };
    // The renderer says of itself that it is deprecated; there is no other one without a browser.
    const console = vi.spyOn(globalThis.console, 'error').mockReturnValue();
    const page = create(createElement(Page, options));
    console.mockRestore();
    onTestFinished(() => page.unmount());
    const untilDrawn = (text: string): Promise<void> =>
      until(async () => {
        await clock.advance(50);
        expect(JSON.stringify(page.toJSON())).toContain(text);
      });
    await untilDrawn('"data-source":"channel"');
    await seen.agent?.send('Hi');
    await untilDrawn('Hi | Hello!');
    expect(seen.agent).toMatchObject({ status: 'completed', source: 'channel', connection: 'live', gaps: [] });
  });
});
