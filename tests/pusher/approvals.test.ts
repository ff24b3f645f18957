// Approvals as people meet them: eleven situations. Pages listen on the channel, and answer over HTTP.
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/lib/index.ts';
import { createFakeClock } from '../../src/lib/index.ts';
import { toChannelName } from '../../src/broadcasting/pusher/index.ts';
import { createMemoryPlace } from '../../src/sessions/index.ts';
import { createConformanceAgents } from '../../src/testing/index.ts';
import type { ViewWait } from '../../src/ui/index.ts';
import { ann, bob } from '../http/stage.ts';
import type { Page } from './pages.ts';
import { by, createGate, openPlace, openPusherPage, startSession } from './pages.ts';
import type { MirrorOptions } from './stage.ts';
import { authorizedBy, openClient, until } from './stage.ts';

/** The agents of a site, and what they have done. */
function createAgents(clock?: Clock) {
  const records: string[] = [];
  const gate = createGate();
  let isOpen = false;
  const agents = createConformanceAgents({
    record: (line) => void records.push(line),
    pass: () => gate.passed,
    isOpen: () => isOpen,
    ...(clock !== undefined && { clock }),
  }).filter(({ id }) => id === 'desk');
  const open = (): void => {
    isOpen = true;
    gate.open();
  };
  return { agents, open, count: (call: string) => records.filter((line) => line.startsWith(`${call} `)).length };
}

/** Opens a page on the channel of a session. */
async function listen(place: Awaited<ReturnType<typeof openPlace>>): Promise<Page> {
  const page = openPusherPage(place.site, place.server, 'one', bob);
  await page.until(() => expect(page.view.current.source).toBe('channel'));
  return page;
}

const waitsShown = (page: Page, count = 1): Promise<void> => page.until(() => expect(page.view.current.view.waits).toHaveLength(count));
const isDone = (page: Page): Promise<void> =>
  page.until(() => expect(page.view.current.view).toMatchObject({ status: 'completed', waits: [], gaps: [] }));

/** Returns what a page shows of the calls that were decided. */
const getDecisions = ({ view }: Page): readonly object[] =>
  view.current.view.messages.flatMap((message) => ('approval' in message ? [message.approval] : []));

function first({ view }: Page): ViewWait {
  const [wait] = view.current.view.waits;
  if (wait === undefined) throw new Error('Nothing is waited for.');
  return wait;
}

/** A page on which a message was sent, and what it asks for. */
async function ask(text = 'pay 1; say Paid', { clock, ...options }: Partial<MirrorOptions> & { readonly clock?: Clock } = {}) {
  const { agents, ...desk } = createAgents(clock);
  const place = await openPlace({ agents, ...options });
  await startSession(place.site);
  const page = await listen(place);
  await place.site.runtime.send('one', text, { by, until: 'accepted' });
  return { place, page, ...desk };
}

describe('an approval over a channel', () => {
  it('is shown as the server has published it, whatever another page on the channel sends', async () => {
    const { place, page } = await ask();
    await waitsShown(page);
    const before = page.view.current.view;
    const other = openClient(place.server, authorizedBy(place.site, ann));
    const channel = other.subscribe(toChannelName('one'));
    const heard: string[] = [];
    openClient(place.server, authorizedBy(place.site, bob))
      .subscribe(toChannelName('one'))
      .bind_global((event: string) => void heard.push(event));
    await until(() => expect([channel.subscribed, heard]).toEqual([true, ['pusher:subscription_succeeded']]));
    const data = { ...first(page), args_summary: 'amount: 0' };
    const envelope = { event: 'agent.tool.approval_requested', session_id: 'one', seq: 999, data };
    channel.trigger('client-agent.tool.approval_requested', envelope);
    await until(() => expect(heard).toHaveLength(2));
    await page.clock.advance(1_000);
    expect(page.view.current.view).toEqual(before);
  });
});

describe('an approval over a channel is answered', () => {
  it('after a reload', async () => {
    const { place, page, count } = await ask();
    await waitsShown(page);
    page.view.close();
    const reloaded = await listen(place);
    await reloaded.view.approve(first(reloaded));
    await isDone(reloaded);
    expect([reloaded.view.current.source, count('pay 1')]).toEqual(['channel', 1]);
  });

  it('in a second tab, and the first one shows it', async () => {
    const { place, page, count } = await ask();
    const tab = await listen(place);
    for (const each of [page, tab]) await waitsShown(each);
    await tab.view.approve(first(tab));
    for (const each of [page, tab]) {
      await isDone(each);
      expect(getDecisions(each)).toMatchObject([{ status: 'approved' }]);
    }
    expect([page.streams.length, tab.streams.length, count('pay 1')]).toEqual([1, 1, 1]);
  });

  it('after an error', async () => {
    const { page, count } = await ask();
    await waitsShown(page);
    await expect(page.view.approve(first(page), { args: { amount: 'all' } })).rejects.toMatchObject({ status: 400 });
    await page.view.approve(first(page));
    await isDone(page);
    expect(count('pay 1')).toBe(1);
  });

  it('twice, and runs once', async () => {
    const { place, page, count } = await ask();
    const tab = await listen(place);
    for (const each of [page, tab]) await waitsShown(each);
    const wait = first(tab);
    await Promise.allSettled([page.view.approve(first(page)), tab.view.approve(wait)]);
    await isDone(tab);
    await expect(tab.view.reject(wait)).rejects.toMatchObject({ code: 'request-failed', status: 409 });
    expect(count('pay 1')).toBe(1);
  });

  it('when it has expired, and the answer is refused', async () => {
    const clock = createFakeClock();
    const approvals = { expireAfterMs: 60_000, whenExpired: 'reject' } as const;
    const { page, count } = await ask(undefined, { clock, runtime: { clock, approvals } });
    await waitsShown(page);
    const wait = first(page);
    await clock.advance(60_001);
    await isDone(page);
    await expect(page.view.approve(wait)).rejects.toMatchObject({ status: 409, message: expect.stringContaining('expired') as string });
    expect(getDecisions(page)).toMatchObject([{ status: 'expired' }]);
    expect(count('pay 1')).toBe(0);
  });

  it('with edited arguments', async () => {
    const { page, count } = await ask();
    await waitsShown(page);
    await page.view.approve(first(page), { args: { amount: 7 } });
    await isDone(page);
    expect([count('pay 1'), count('pay 7')]).toEqual([0, 1]);
  });

  it('with a rejection, whose reason the agent reads', async () => {
    const { place, page, count } = await ask();
    await waitsShown(page);
    await page.view.reject(first(page), 'too dear');
    await isDone(page);
    expect(getDecisions(page)).toMatchObject([{ status: 'rejected', reason: 'too dear' }]);
    const { state } = await place.site.runtime.get('one');
    expect(JSON.stringify([...state.messages].find((message) => message.isTool())?.toolResults)).toContain('too dear');
    expect(count('pay 1')).toBe(0);
  });

  it('beside another one, each for itself', async () => {
    const { page, count } = await ask('pay 1 & pay 2; say Paid');
    await waitsShown(page, 2);
    const [one, two] = page.view.current.view.waits;
    await page.view.reject(one!, 'one is enough');
    await waitsShown(page, 1);
    expect(first(page).wait_id).toBe(two?.wait_id);
    await page.view.approve(first(page));
    await isDone(page);
    // They are shown in the order in which they ended, and either may end first.
    const decisions = getDecisions(page);
    expect(decisions).toHaveLength(2);
    expect(decisions).toContainEqual(expect.objectContaining({ wait_id: one?.wait_id, status: 'rejected' }));
    expect(decisions).toContainEqual(expect.objectContaining({ wait_id: two?.wait_id, status: 'approved' }));
    expect([count('pay 1'), count('pay 2')]).toEqual([0, 1]);
  });

  it('during a stream, while another call of the step still runs', async () => {
    const { page, open, count } = await ask('look 9@g & pay 1; say Paid');
    await waitsShown(page);
    expect(page.view.current.view.status).not.toBe('waiting');
    const answering = page.view.approve(first(page));
    open();
    await answering;
    await isDone(page);
    expect([page.view.current.source, count('pay 1')]).toEqual(['channel', 1]);
  });

  it('too late, when a message has superseded it', async () => {
    const { place, page, count } = await ask();
    await waitsShown(page);
    const wait = first(page);
    await place.site.runtime.send('one', 'pay 2; say Less', { by, whileWaiting: 'supersede', until: 'accepted' });
    await page.until(() => expect(first(page).wait_id).not.toBe(wait.wait_id));
    await expect(page.view.approve(wait)).rejects.toMatchObject({ status: 409 });
    await page.view.approve(first(page));
    await isDone(page);
    expect([count('pay 1'), count('pay 2')]).toEqual([0, 1]);
  });

  it('after a server restart, by the page that was there before', async () => {
    const store = createMemoryPlace();
    const { place, page, count } = await ask(undefined, { runtime: { store: store.open() } });
    await waitsShown(page);
    await place.site.stop();
    const { agents, count: countLater } = createAgents();
    const port = Number(new URL(place.site.url).port);
    await place.restart({ agents, port, runtime: { store: store.open() } });
    await until(async () => expect((await fetch(`${place.site.url}/health`)).ok).toBe(true));
    await page.view.approve(first(page));
    await isDone(page);
    expect([count('pay 1'), countLater('pay 1')]).toEqual([0, 1]);
  });
});
