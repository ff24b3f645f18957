// The situations around approvals that people report, on the AI SDK's own chat.
import { describe, expect, it } from 'vitest';
import { createAgent } from '../../src/agent/index.ts';
import { createMemoryPlace } from '../../src/sessions/index.ts';
import { createFakeClock, scriptedModel } from '../../src/testing/index.ts';
import type { ScriptedAnswer } from '../../src/testing/index.ts';
import type { Page, Site, SiteOptions } from './stage.ts';
import { getApprovals, openChatSite, showLast, until } from './stage.ts';
import { createGate, createPay } from './tools.ts';

const asking: ScriptedAnswer = { text: 'Shall I?', toolCalls: [{ name: 'pay', args: { euros: 5 } }] };
const paid = ['text: Shall I?', 'tool-pay: output-available', 'text: Done.'];

/** A page that asks for an approval. */
async function openAsking(answers: readonly (string | ScriptedAnswer)[] = [asking, 'Done.'], options: Partial<SiteOptions> = {}) {
  const { pay, runs } = createPay();
  const model = scriptedModel(answers);
  const clock = options.runtime?.clock;
  const agent = createAgent({ model, tools: [pay], ...(clock !== undefined && { ports: { clock } }) });
  const site = await openChatSite({ agent, ...options });
  const page = await site.open('c1');
  await page.sendMessage({ text: 'Pay.' });
  return { site, page, runs, model, id: getApprovals(page)[0] ?? '' };
}

const isReady = (page: Page, parts: number): Promise<void> => until(() => page.status === 'ready' && showLast(page).length === parts);

/** Sends an answer of the last message of a page by hand, as a page does. */
const postAgain = (site: Site, { messages }: Page): Promise<Response> =>
  site.request('POST', '', { id: 'c1', trigger: 'submit-message', messages });

describe('an approval', () => {
  it('is answered after a reload', async () => {
    const { site, runs, id } = await openAsking();
    const page = await site.open('c1');
    expect(showLast(page)).toEqual(['text: Shall I?', 'tool-pay: approval-requested']);
    await page.addToolApprovalResponse({ id, approved: true });
    await isReady(page, 3);
    expect(showLast(page)).toEqual(paid);
    expect(runs).toEqual([5]);
  });

  it('is answered in a second tab, and the first one catches up', async () => {
    const { site, page, runs, id } = await openAsking();
    const other = await site.open('c1');
    await other.addToolApprovalResponse({ id, approved: true });
    await isReady(other, 3);
    await page.resumeStream();
    expect(showLast(page)).toEqual(paid);
    expect(page.messages).toHaveLength(2);
    expect(runs).toEqual([5]);
  });

  it('is answered again after an error', async () => {
    const { site, page, runs, id } = await openAsking();
    site.failNext();
    await page.addToolApprovalResponse({ id, approved: true });
    await until(() => page.status === 'error');
    expect(runs).toEqual([]);
    await page.sendMessage();
    expect(showLast(page)).toEqual(paid);
    expect(runs).toEqual([5]);
  });

  it('is answered twice and runs once', async () => {
    const { site, page, runs, id } = await openAsking(undefined, {});
    const copy = structuredClone(page.messages);
    await page.addToolApprovalResponse({ id, approved: true });
    await isReady(page, 3);
    const late = await site.open('c1', { messages: copy });
    await late.addToolApprovalResponse({ id, approved: true });
    await isReady(late, 3);
    expect(showLast(late)).toEqual(paid);
    expect(runs).toEqual([5]);
  });

  it('is refused once it has expired', async () => {
    const clock = createFakeClock();
    const { site, page, runs, id } = await openAsking(undefined, { runtime: { clock, approvals: { expireAfterMs: 60_000 } } });
    await clock.advance(61_000);
    await expect.poll(async () => (await site.runtime.list({ status: 'waiting' })).sessions).toEqual([]);
    await page.addToolApprovalResponse({ id, approved: true });
    await until(() => page.status === 'error');
    expect(page.error?.message).toContain('it was expired');
    expect(runs).toEqual([]);
  });

  it('is given with other arguments', async () => {
    const { page, runs, id } = await openAsking();
    await page.addToolApprovalResponse({ id, approved: true, options: { body: { edits: { [id]: { euros: 3 } } } } });
    await isReady(page, 3);
    expect(showLast(page)).toEqual(paid);
    expect(page.lastMessage?.parts.find(({ type }) => type === 'tool-pay')).toMatchObject({ input: { euros: 3 }, output: '3 paid' });
    expect(runs).toEqual([3]);
  });

  it('is rejected with a reason, which the model reads', async () => {
    const { page, runs, id, model } = await openAsking([asking, 'As you like.']);
    await page.addToolApprovalResponse({ id, approved: false, reason: 'too much' });
    await isReady(page, 3);
    expect(showLast(page)).toEqual(['text: Shall I?', 'tool-pay: output-denied', 'text: As you like.']);
    expect(JSON.stringify(model.calls[1]?.messages)).toContain('too much');
    expect(runs).toEqual([]);
  });

  it('is one of two at once, and each is decided for itself', async () => {
    const two = { toolCalls: [1, 2].map((euros) => ({ name: 'pay', args: { euros } })) };
    const { page, runs } = await openAsking([two, 'Done.']);
    const [first = '', second = ''] = getApprovals(page);
    await page.addToolApprovalResponse({ id: first, approved: false });
    expect(runs).toEqual([]);
    await page.addToolApprovalResponse({ id: second, approved: true });
    await isReady(page, 3);
    expect(showLast(page)).toEqual(['tool-pay: output-denied', 'tool-pay: output-available', 'text: Done.']);
    expect(runs).toEqual([2]);
  });

  it('is one of two at once, and one answer is sent before the other', async () => {
    const two = { toolCalls: [1, 2].map((euros) => ({ name: 'pay', args: { euros } })) };
    const { pay, runs } = createPay();
    const site = await openChatSite({ agent: createAgent({ model: scriptedModel([two, 'Done.']), tools: [pay] }) });
    const page = await site.open('c1', { isAutomatic: false });
    await page.sendMessage({ text: 'Pay.' });
    const [first = '', second = ''] = getApprovals(page);
    await page.addToolApprovalResponse({ id: first, approved: true });
    await page.sendMessage();
    expect(page.status).toBe('ready');
    expect(getApprovals(page)).toEqual([second]);
    await page.addToolApprovalResponse({ id: second, approved: true });
    await page.sendMessage();
    expect(showLast(page)).toEqual(['tool-pay: output-available', 'tool-pay: output-available', 'text: Done.']);
    expect(runs).toEqual([1, 2]);
  });

  it('is given during a stream, while another call of the step still runs', async () => {
    const { pay, runs } = createPay();
    const { slow, open } = createGate();
    const both = { toolCalls: [{ name: 'slow' }, { name: 'pay', args: { euros: 5 } }] };
    const site = await openChatSite({ agent: createAgent({ model: scriptedModel([both, 'Done.']), tools: [pay, slow] }) });
    const page = await site.open('c1');
    void page.sendMessage({ text: 'Pay.' });
    await until(() => getApprovals(page).length === 1);
    expect(page.status).toBe('streaming');
    await page.addToolApprovalResponse({ id: getApprovals(page)[0] ?? '', approved: true });
    open();
    await isReady(page, 3);
    expect(showLast(page)).toEqual(['tool-slow: output-available', 'tool-pay: output-available', 'text: Done.']);
    expect(runs).toEqual([5]);
  });

  it('is superseded by a message, and then comes too late', async () => {
    const { site, page, runs, id } = await openAsking([asking, 'Never mind then.']);
    const stale = await site.open('c1');
    await page.sendMessage({ text: 'Forget it.' });
    expect(showLast(page)).toEqual(['text: Never mind then.']);
    await stale.addToolApprovalResponse({ id, approved: true });
    await until(() => stale.status === 'error');
    expect(stale.error?.message).toContain('it was superseded');
    expect(runs).toEqual([]);
  });

  it('is answered after the server has restarted', async () => {
    const place = createMemoryPlace();
    const { site, page, runs, id } = await openAsking(undefined, { store: place.open() });
    await site.runtime.drain();
    const { pay, runs: later } = createPay();
    const agent = createAgent({ model: scriptedModel(['Done.']), tools: [pay] });
    const restarted = await openChatSite({ agent, store: place.open() });
    const again = await restarted.open('c1', { messages: page.messages });
    await again.addToolApprovalResponse({ id, approved: true });
    await isReady(again, 3);
    expect(showLast(again)).toEqual(paid);
    expect([runs, later]).toEqual([[], [5]]);
  });

  it('is not given if the same message denies it', async () => {
    const { site, page, runs, id } = await openAsking();
    const respond = (approved: boolean) => ({ type: 'tool-pay', toolCallId: 'x', state: 'approval-responded', approval: { id, approved } });
    const message = { id: page.lastMessage?.id, role: 'assistant' };
    const both = await site.request('POST', '', { id: 'c1', messages: [{ ...message, parts: [respond(true), respond(false)] }] });
    expect([both.status, await both.text()]).toEqual([400, expect.stringContaining('both given and denied')]);
    expect(runs).toEqual([]);
    const twice = await site.request('POST', '', { id: 'c1', messages: [{ ...message, parts: [respond(true), respond(true)] }] });
    expect([twice.status, (await twice.text()).includes('Done.')]).toEqual([200, true]);
    expect(runs).toEqual([5]);
  });

  it('is not given if the page asks for more than this one call, or for something unknown', async () => {
    const { site, page, runs, id } = await openAsking();
    const answer = async (approval: object, more: object = {}) => {
      const part = { type: 'tool-pay', toolCallId: 'x', state: 'approval-responded', approval: { id, approved: true, ...approval } };
      const message = { id: page.lastMessage?.id, role: 'assistant', parts: [part] };
      const response = await site.request('POST', '', { id: 'c1', messages: [message], ...more });
      return [response.status, await response.text()];
    };
    expect(await answer({ scope: 'forever' })).toEqual([400, expect.stringContaining('has no scope, but "forever" was given')]);
    expect(await answer({ scope: 'session' })).toEqual([400, expect.stringContaining('has no scope')]);
    expect(await answer({ approved: 'yes' })).toEqual([400, expect.stringContaining('approved: true or false')]);
    expect(await answer({}, { edits: [[id, { euros: 1 }]] })).toEqual([400, expect.stringContaining('edits must be an object')]);
    expect(runs).toEqual([]);
  });

  it('is not given if some of the arguments were hidden', async () => {
    const secret = { toolCalls: [{ name: 'pay', args: { euros: 5, password: 'hunter2hunter2' } }] };
    const { page, runs, id } = await openAsking([secret, 'Done.']);
    const part = page.lastMessage?.parts.find(({ type }) => type === 'tool-pay');
    expect(part).toMatchObject({ approval: { descriptor: { hiddenFields: ['password'] } } });
    expect(JSON.stringify(page.messages)).not.toContain('hunter2');
    await page.addToolApprovalResponse({ id, approved: true });
    await until(() => page.status === 'error');
    expect(page.error?.message).toContain('password');
    expect(runs).toEqual([]);
  });

  it('that was given with other arguments in another tab is not taken for this one', async () => {
    const { site, page, runs, id } = await openAsking();
    const stale = await site.open('c1');
    await page.addToolApprovalResponse({ id, approved: true, options: { body: { edits: { [id]: { euros: 3 } } } } });
    await isReady(page, 3);
    await stale.addToolApprovalResponse({ id, approved: true, options: { body: { edits: { [id]: { euros: 4 } } } } });
    await until(() => stale.status === 'error');
    expect(stale.error?.message).toContain('it was approved by ann, with other arguments');
    expect(runs).toEqual([3]);
  });

  it('that was given cannot be taken back by a rejection from another tab', async () => {
    const { site, page, runs, id } = await openAsking();
    const stale = await site.open('c1');
    await page.addToolApprovalResponse({ id, approved: true });
    await isReady(page, 3);
    await stale.addToolApprovalResponse({ id, approved: false });
    await until(() => stale.status === 'error');
    expect(stale.error?.message).toContain('it was approved by ann');
    expect((await postAgain(site, stale)).status).toBe(409);
    expect(runs).toEqual([5]);
  });
});
