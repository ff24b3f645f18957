// Long sessions over a real server: they open from their end, and are filled backwards.
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Envelope } from '../../src/broadcasting/index.ts';
import { createAgent, defineTool } from '../../src/entry/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import type { AgentView, AgentViewOptions, LiveAgentView } from '../../src/ui/index.ts';
import { createAgentView, createView, reduceAll } from '../../src/ui/index.ts';
import type { Site } from '../http/stage.ts';
import { ann, openSite } from '../http/stage.ts';
import { createBrowser } from './browser.ts';

const steps = 250;

/** Looks things up, again and again. */
async function openLongSite(): Promise<{ readonly site: Site; readonly id: string }> {
  const input = { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] } as const;
  const look = defineTool({ name: 'look', description: 'Looks.', input, effect: 'pure', run: ({ id }) => ({ id }) });
  let asked = 0;
  const answer = () => {
    asked += 1;
    const usage = { input: 3, output: 2 };
    return asked < steps ? { toolCalls: [{ name: 'look', args: { id: asked } }], usage } : { text: 'Found.', usage };
  };
  const model = scriptedModel([answer], { repeatLast: true });
  const site = await openSite({ agents: [createAgent({ id: 'desk', model, tools: [look], limits: { steps: 1000, tokens: 1e9 } })] });
  return { site, id: await site.start(ann, 'Look everywhere.') };
}

type Fetch = typeof globalThis.fetch;

/** Makes requests, and keeps their queries. */
function createFetch(): { readonly fetch: Fetch; readonly queries: URLSearchParams[] } {
  const queries: URLSearchParams[] = [];
  const fetch: Fetch = (url, init = {}) => {
    queries.push(new URL(url instanceof Request ? url.url : url.toString()).searchParams);
    const headers = new Headers(init.headers);
    headers.set('x-caller', ann);
    return globalThis.fetch(url, { ...init, headers });
  };
  return { fetch, queries };
}

function open(
  site: Site,
  sessionId: string,
  options: Partial<AgentViewOptions>,
): { readonly live: LiveAgentView; readonly seen: AgentView[] } {
  const live = createAgentView({ url: site.url, sessionId, ...options });
  onTestFinished(() => live.close());
  const seen: AgentView[] = [];
  live.subscribe(() => void seen.push(live.current.view));
  return { live, seen };
}

const until = (check: () => void): Promise<void> => vi.waitFor(check, { interval: 5, timeout: 8000 });

async function readAll(site: Site, id: string): Promise<AgentView> {
  const envelopes: Envelope[] = [];
  for (let after = 0; ;) {
    const headers = { 'x-caller': ann, accept: 'application/json' };
    const response = await fetch(`${site.url}/sessions/${id}/events?after=${after}&limit=500`, { headers });
    const page = (await response.json()) as { readonly envelopes: readonly Envelope[]; readonly after: number };
    envelopes.push(...page.envelopes);
    if (page.after <= after) return reduceAll(createView(id), envelopes);
    after = page.after;
  }
}

const toPlain = ({ messages, status, waits, usage, clocks, why, gaps, known_seq }: AgentView): unknown => ({
  messages,
  status,
  waits,
  usage,
  clocks,
  why,
  gaps,
  known_seq,
});

describe('a long session', () => {
  it('shows its end first, with the right totals, and then the rest', async () => {
    const { site, id } = await openLongSite();
    const { fetch, queries } = createFetch();
    const { live, seen } = open(site, id, { fetch });
    await until(() => expect(live.current.view).toMatchObject({ status: 'completed', gaps: [] }));
    const whole = await readAll(site, id);
    expect(toPlain(live.current.view)).toEqual(toPlain(whole));

    const ended = seen.filter(({ messages }) => messages.at(-1)?.text === 'Found.');
    const [first] = ended;
    expect(first).toMatchObject({ status: 'completed', usage: { total: steps * 5 }, clocks: { step_count: steps } });
    expect(first?.messages.length).toBeLessThan(steps);
    expect(first?.gaps).toEqual([{ type: 'events', after_seq: 0, to_seq: whole.known_seq - 300 }]);
    expect(ended.every(({ usage, clocks }) => usage['total'] === steps * 5 && clocks.step_count === steps)).toBe(true);

    const pages = queries.flatMap((query) => (query.get('before') === null ? [] : [Number(query.get('before'))]));
    expect(pages.length).toBeGreaterThan(1);
    expect(pages).toEqual([...pages].sort((one, other) => other - one));
  });

  it('opens from its end in a tab that follows another too', async () => {
    const { site, id } = await openLongSite();
    const environment = createBrowser();
    const [leader, follower] = [createFetch(), createFetch()];
    const first = open(site, id, { fetch: leader.fetch, environment });
    await until(() => expect(first.live.current.connection).toBe('live'));
    const second = open(site, id, { fetch: follower.fetch, environment });
    await until(() => expect(second.live.current).toMatchObject({ connection: 'shared', view: { status: 'completed', gaps: [] } }));
    expect(toPlain(second.live.current.view)).toEqual(toPlain(await readAll(site, id)));
    const early = second.seen.find(({ messages }) => messages.length > 0);
    expect(early).toMatchObject({ status: 'completed', usage: { total: steps * 5 }, gaps: [{ type: 'events', after_seq: 0 }] });
    expect(follower.queries[0]?.get('last')).toBe('300');
  });
});
