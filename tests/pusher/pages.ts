// Pages that listen over a channel, on the site that they listen to.
import { onTestFinished } from 'vitest';
import { pusherChannel } from '../../src/broadcasting/pusher/index.ts';
import type { PusherServer } from '../../src/broadcasting/pusher-server/index.ts';
import { createAgent } from '../../src/entry/index.ts';
import type { FakeClock } from '../../src/lib/index.ts';
import { createFakeClock, systemClock } from '../../src/lib/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { defineTool } from '../../src/tools/index.ts';
import type { AgentViewOptions, LiveAgentView } from '../../src/ui/index.ts';
import { createAgentView } from '../../src/ui/index.ts';
import { ann } from '../http/stage.ts';
import type { MirroredSite, MirrorOptions } from './stage.ts';
import { authorizedBy, openClient, openMirroredSite, startServer, until } from './stage.ts';

export const by = { id: 'ann', kind: 'user' };

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } as const,
  needsApproval: true,
  run: ({ amount }) => ({ paid: amount }),
});

export interface Gate {
  readonly passed: Promise<void>;
  readonly open: () => void;
}

export function createGate(): Gate {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

/** An agent that repeats what it is told, in pieces, or pays if it is told to. */
export function createDesk(gates: { readonly first?: Promise<void>; readonly last?: Promise<void> } = {}) {
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
export async function openPlace({ now, ...options }: Partial<MirrorOptions> & { readonly now?: () => number } = {}) {
  const server = await startServer({ clock: { ...systemClock, ...(now !== undefined && { now }) } });
  /** Loses requests of the publisher if a test says so. */
  const state = { isLost: (_body: string) => false };
  const publish = (url: string, init: RequestInit): Promise<Response> =>
    state.isLost(init.body as string) ? Promise.resolve(new Response('{}')) : fetch(url, init);
  const open = (more: Partial<MirrorOptions>): Promise<MirroredSite> =>
    openMirroredSite({ agents: [createDesk()], url: server.url, broadcaster: { fetch: publish }, ...options, ...more });
  return { server, site: await open({}), state, restart: open };
}

export interface Page {
  readonly view: LiveAgentView;
  readonly clock: FakeClock;
  /** Streams that were opened. */
  readonly streams: string[];
  /** Moves the clock until a check passes. */
  readonly until: (check: () => void) => Promise<void>;
}

export interface PageOptions extends Partial<AgentViewOptions> {
  readonly caller?: string;
}

export function openPage(site: MirroredSite, sessionId: string, { caller = ann, ...options }: PageOptions): Page {
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
export function openPusherPage(site: MirroredSite, server: Pick<PusherServer, 'host' | 'port'>, sessionId: string, caller = ann): Page {
  return openPage(site, sessionId, { caller, channel: pusherChannel(openClient(server, authorizedBy(site, caller))) });
}

export const startSession = (site: MirroredSite, id = 'one') => site.runtime.create({ id, tenant: 'north', owner: 'ann' }, { by });
export const readTexts = ({ view }: Page): readonly string[] => view.current.view.messages.map(({ text }) => text);
