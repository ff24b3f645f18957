// Approvals as people meet them: eleven situations, each over a real socket with the protocol's own client.
import { buildResumeArray } from '@ag-ui/client';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createAgent } from '../../src/agent/index.ts';
import { createSessionHandler } from '../../src/broadcasting/http/index.ts';
import { createFakeClock } from '../../src/lib/index.ts';
import type { SessionStore } from '../../src/sessions/index.ts';
import { createMemoryPlace } from '../../src/sessions/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { defineTool } from '../../src/tools/index.ts';
import { ann, authenticate, authorize, bob, newSession } from '../http/stage.ts';
import type { AgUiSite, Page, PageRun } from './stage.ts';
import { approve, createSignal, openAgUiSite, readEvents, reject } from './stage.ts';

/** Asks for a payment, and returns the page with its interrupt. */
async function askToPay(site: AgUiSite, text = 'pay 1; say Paid'): Promise<{ readonly page: Page; readonly asked: PageRun }> {
  const page = site.openPage('one');
  const asked = await page.run({ text });
  expect(asked.outcome).toBe('interrupt');
  return { page, asked };
}

const first = ({ interrupts: [interrupt] }: PageRun) => {
  if (interrupt === undefined) throw new Error('Nothing is waited for.');
  return interrupt;
};

const texts = ({ events }: PageRun): string =>
  events.flatMap(({ type, delta }) => (type === 'TEXT_MESSAGE_CONTENT' ? [String(delta)] : [])).join('');

/** A store that takes many turns of the event loop for everything after the end of an execution or a wait. */
function createSlowPlace(): { readonly open: () => SessionStore } {
  const store = createMemoryPlace().open();
  let isSlow = false;
  const write: SessionStore['log']['write'] = async (batch) => {
    for (let turn = 0; isSlow && turn < 300; turn += 1) await setImmediate();
    const receipt = await store.log.write(batch);
    isSlow ||= JSON.stringify(batch).includes('AgentFinished');
    return receipt;
  };
  const slow = { ...store, log: { ...store.log, write } };
  return { open: () => slow };
}

describe('an approval over AG-UI is answered', () => {
  it('after a reload', async () => {
    const site = await openAgUiSite();
    await askToPay(site);
    const reloaded = site.openPage('one');
    const shown = await reloaded.run();
    expect(shown.types).toContain('MESSAGES_SNAPSHOT');
    expect(reloaded.agent.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    const done = await reloaded.run({ resume: [approve(first(shown))] });
    expect([done.outcome, texts(done), site.count('pay 1')]).toEqual(['success', 'Paid', 1]);
    expect(reloaded.agent.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  it('in a second tab, while the first one still shows it', async () => {
    const site = await openAgUiSite();
    const { page, asked } = await askToPay(site);
    const tab = site.openPage('one');
    const shown = await tab.run();
    const [one, other] = await Promise.all([page.run({ resume: [approve(first(asked))] }), tab.run({ resume: [approve(first(shown))] })]);
    expect([one.outcome, other.outcome, site.count('pay 1')]).toEqual(['success', 'success', 1]);
    expect(page.agent.messages.at(-1)).toMatchObject({ content: 'Paid' });
    expect(tab.agent.messages.at(-1)).toMatchObject({ content: 'Paid' });
  });

  it('after an error', async () => {
    const site = await openAgUiSite();
    const { page, asked } = await askToPay(site);
    const failed = await page.run({ resume: [approve(first(asked), { editedArgs: { amount: 'all' } })] });
    expect(failed).toMatchObject({ outcome: 'error', error: { code: 'invalid-argument' } });
    expect(failed.error?.message).toContain('The call is still waiting');
    const done = await page.run({ resume: [approve(first(asked))] });
    expect([done.outcome, texts(done), site.count('pay 1')]).toEqual(['success', 'Paid', 1]);
  });

  it('twice, and runs once', async () => {
    const site = await openAgUiSite();
    const { page, asked } = await askToPay(site);
    await page.run({ resume: [approve(first(asked))] });
    const again = await page.run({ resume: [approve(first(asked))] });
    expect([again.outcome, site.count('pay 1')]).toEqual(['success', 1]);
    const otherwise = await page.run({ resume: [reject(first(asked), 'too late')] });
    expect(otherwise).toMatchObject({ outcome: 'error', error: { code: 'late-answer' } });
    expect(otherwise.error?.message).toContain('it was approved by user ann');
  });

  it('when it has expired, and the answer is refused', async () => {
    const clock = createFakeClock();
    const approvals = { expireAfterMs: 60_000, whenExpired: 'reject' } as const;
    const site = await openAgUiSite({ clock, runtime: { approvals } });
    const { asked } = await askToPay(site);
    expect(first(asked).expiresAt).toBe(new Date(clock.now() + 60_000).toISOString());
    await clock.advance(60_001);
    await expect.poll(async () => (await site.runtime.get('one')).status).toBe('completed');
    const page = site.openPage('one');
    const late = await page.run({ resume: [approve(first(asked))] });
    expect(late).toMatchObject({ outcome: 'error', error: { code: 'late-answer' } });
    expect(late.error?.message).toContain('expired');
    expect(site.count('pay 1')).toBe(0);
    expect((await page.run()).outcome).toBe('success');
  });

  it('with edited arguments', async () => {
    const site = await openAgUiSite();
    const { page, asked } = await askToPay(site);
    const done = await page.run({ resume: [approve(first(asked), { editedArgs: { amount: 7 } })] });
    expect([done.outcome, site.count('pay 1'), site.count('pay 7')]).toEqual(['success', 0, 1]);
    // The call was announced in the run before: only its result follows.
    expect(done.types).not.toContain('TOOL_CALL_START');
    expect(done.events.find(({ type }) => type === 'TOOL_CALL_RESULT')?.['toolCallId']).toBe(first(asked).toolCallId);
  });

  it('with a rejection, whose reason the agent reads', async () => {
    const site = await openAgUiSite();
    const { page, asked } = await askToPay(site);
    const done = await page.run({ resume: [reject(first(asked), 'too dear')] });
    expect([done.outcome, site.count('pay 1')]).toEqual(['success', 0]);
    expect(JSON.stringify(done.events.find(({ type }) => type === 'TOOL_CALL_RESULT'))).toContain('too dear');
    expect(page.agent.messages.filter(({ role }) => role === 'tool')).toHaveLength(1);
  });

  it('beside another one: nothing runs until both are answered', async () => {
    const site = await openAgUiSite();
    const { page, asked } = await askToPay(site, 'pay 1 & pay 2; say Paid');
    const [one, two] = asked.interrupts;
    if (one === undefined || two === undefined) throw new Error('Two calls should wait.');
    // The client refuses to leave one out, so the request is made by hand.
    await expect(page.run({ resume: [approve(one)] })).rejects.toThrow('not addressed by resume');
    const partial = await readEvents(await site.post({ threadId: 'one', resume: [approve(one)] }));
    expect(partial.find(({ name }) => name === 'stepline.collected')?.['value']).toMatchObject({
      sentence: '1 of 2 answers are here. AG-UI continues a run only when all are: nothing was run yet.',
    });
    expect(partial.at(-1)?.['outcome']).toMatchObject({ type: 'interrupt', interrupts: [{ id: two.id }] });
    expect([site.count('pay 1'), site.count('pay 2')]).toEqual([0, 0]);
    const rest = await readEvents(await site.post({ threadId: 'one', resume: [reject(two, 'one is enough')] }));
    expect(rest.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect([site.count('pay 1'), site.count('pay 2')]).toEqual([1, 0]);
  });

  it('beside another one, both at once', async () => {
    const site = await openAgUiSite();
    const { page, asked } = await askToPay(site, 'pay 1 & pay 2; say Paid');
    const responses = Object.fromEntries(
      asked.interrupts.map(({ id }) => [id, { status: 'resolved', payload: { approved: true } } as const]),
    );
    const done = await page.run({ resume: buildResumeArray([...asked.interrupts], responses) });
    expect([done.outcome, texts(done), site.count('pay 1'), site.count('pay 2')]).toEqual(['success', 'Paid', 1, 1]);
    expect(done.types.filter((type) => type === 'TOOL_CALL_RESULT')).toHaveLength(2);
  });

  it.each([
    ['before the step waits', createMemoryPlace],
    ['and the store is slow to take it', createSlowPlace],
  ])('during a stream, %s', async (_, createPlace) => {
    const site = await openAgUiSite({ runtime: { store: createPlace().open() } });
    const page = site.openPage('one');
    const asked = createSignal<string>();
    page.agent.subscribe({
      onCustomEvent: ({ event }) => {
        if (event.name === 'stepline.interrupt') asked.resolve((event.value as { readonly id: string }).id);
      },
    });
    const running = page.run({ text: 'look 9@g & pay 1; say Paid' });
    const id = await asked.promise;
    const answering = site.post({ threadId: 'one', resume: [approve({ id })] });
    await site
      .post({ threadId: 'one', resume: [approve({ id: `${id.slice(0, -1)}x` })] })
      .then(readEvents)
      .then((events) => {
        expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR' });
      });
    const early = await answering;
    site.open('g');
    expect((await running).outcome).toBe('success');
    expect((await readEvents(early)).at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect(site.count('pay 1')).toBe(1);
  });

  it('by nobody while a message comes: the message is refused with a sentence', async () => {
    const site = await openAgUiSite();
    const { page, asked } = await askToPay(site);
    await expect(page.run({ text: 'never mind' })).rejects.toThrow('not addressed by resume');
    const tab = site.openPage('one');
    const refused = await tab.run({ text: 'say Never mind' });
    expect(refused).toMatchObject({ outcome: 'error', error: { code: 'message-refused' } });
    expect(refused.error?.message).toContain('AG-UI takes no message while a run is interrupted');
    expect(refused.error?.message).toContain(first(asked).id);
    expect((await site.runtime.get('one')).status).toBe('waiting');
    const done = await site.openPage('one').run({ resume: [approve(first(asked))] });
    expect([done.outcome, site.count('pay 1')]).toEqual(['success', 1]);
  });

  it('after a server restart', async () => {
    const site = await openAgUiSite();
    const { asked } = await askToPay(site);
    const next = await site.restart();
    const page = next.openPage('one');
    const done = await page.run({ resume: [approve(first(asked))] });
    expect([done.outcome, texts(done), next.count('pay 1')]).toEqual(['success', 'Paid', 1]);
    expect(page.agent.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });
});

describe('an answer that was not asked for', () => {
  it.each([
    ['an invented interrupt', () => 'c9-9:0000', 'not-waiting'],
    ['another digest', (id: string) => `${id.slice(0, -4)}0000`, 'forged-approval'],
    ['a bare wait id', (id: string) => id.slice(0, id.indexOf(':')), 'forged-approval'],
  ])('runs nothing: %s', async (_, forge, code) => {
    const site = await openAgUiSite();
    const { asked } = await askToPay(site);
    const forged = await readEvents(await site.post({ threadId: 'one', resume: [approve({ id: forge(first(asked).id) })] }));
    expect(forged.map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_ERROR']);
    expect(forged.at(-1)).toMatchObject({ code });
    expect([site.count('pay 1'), (await site.runtime.get('one')).status]).toEqual([0, 'waiting']);
  });

  it('runs nothing: the interrupt of another thread', async () => {
    const site = await openAgUiSite();
    const { asked } = await askToPay(site);
    await site.openPage('two').run({ text: 'pay 1; say Paid' });
    const foreign = await readEvents(await site.post({ threadId: 'two', resume: [approve(first(asked))] }));
    expect(foreign.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'forged-approval' });
    expect(site.count('pay 1')).toBe(0);
  });

  it('runs nothing: somebody who may not approve', async () => {
    const site = await openAgUiSite({ handler: { authorize } });
    const { asked } = await askToPay(site);
    const refused = await site.post({ threadId: 'one', resume: [approve(first(asked))] });
    expect([refused.status, await refused.json()]).toEqual([403, { error: { code: 'not-allowed', message: 'Only staff approves.' } }]);
    expect(site.count('pay 1')).toBe(0);
    const allowed = await readEvents(await site.post({ threadId: 'one', resume: [approve(first(asked))] }, bob));
    expect([allowed.at(-1)?.type, site.count('pay 1')]).toEqual(['RUN_FINISHED', 1]);
  });

  it('runs nothing: two answers to one interrupt', async () => {
    const site = await openAgUiSite();
    const { asked } = await askToPay(site);
    const refused = await site.post({ threadId: 'one', resume: [approve(first(asked)), reject(first(asked), 'no')] });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('Answer each interrupt once.')]);
    expect([site.count('pay 1'), (await site.runtime.get('one')).status]).toEqual([0, 'waiting']);
  });

  it('runs nothing: a payload that decides nothing', async () => {
    const site = await openAgUiSite();
    const { asked } = await askToPay(site);
    const entry = { interruptId: first(asked).id, status: 'resolved', payload: 'sure' };
    const events = await readEvents(await site.post({ threadId: 'one', resume: [entry] }));
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'invalid-argument' });
    expect(site.count('pay 1')).toBe(0);
  });

  it.each([
    [{ scope: 'forever' }, 'scope must be "session" if it is given, not "forever".'],
    [{ scope: true }, 'scope must be "session" if it is given, not true.'],
    [{ editedargs: { amount: 1 } }, 'Unknown option "editedargs" in the payload of an approval. Did you mean "editedArgs"?'],
    [{ seen: 5 }, 'seen must be a string if it is given, not 5.'],
    [{ approved: false, reason: 5 }, 'reason must be a string if it is given, not 5.'],
  ])('runs nothing: an approval with %j', async (more, message) => {
    const site = await openAgUiSite();
    const { asked } = await askToPay(site);
    const events = await readEvents(await site.post({ threadId: 'one', resume: [approve(first(asked), more)] }));
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'invalid-argument', message });
    expect([site.count('pay 1'), (await site.runtime.get('one')).status]).toEqual([0, 'waiting']);
  });

  it('runs nothing: a call whose arguments were hidden, unless it was fetched whole', async () => {
    const secret = 'a secret that two handlers share, 32 bytes or more';
    const login = defineTool({
      name: 'login',
      description: 'Logs in.',
      input: { type: 'object', properties: {} },
      needsApproval: true,
      run: () => 'logged in',
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'login', args: { password: 'hunter2' } }] }, { text: 'In.' }]);
    const site = await openAgUiSite({ agents: [createAgent({ id: 'desk', model, tools: [login] })], handler: { secret } });
    const { page, asked } = await askToPay(site, 'Log in.');
    const { id, metadata } = first(asked);
    expect(metadata).toMatchObject({ stepline: { args: { password: '[redacted]' }, hiddenFields: ['password'] } });
    const refused = await page.run({ resume: [approve({ id })] });
    expect(refused).toMatchObject({ outcome: 'error', error: { code: 'hidden-arguments' } });
    const show = createSessionHandler(site.runtime, { authenticate, authorize, newSession, secret });
    const waitId = (metadata?.['stepline'] as { readonly waitId: string }).waitId;
    const shown = await show(new Request(`http://host/sessions/one/waits/${waitId}`, { headers: { 'x-caller': ann } }));
    const { args, seen } = (await shown.json()) as { readonly args: unknown; readonly seen: string };
    expect(args).toEqual({ password: 'hunter2' });
    expect((await page.run({ resume: [approve({ id }, { seen })] })).outcome).toBe('success');
  });

  it('counts its own tokens only', async () => {
    const site = await openAgUiSite();
    const { page, asked } = await askToPay(site, 'look 1; pay 1; say Paid');
    const done = await page.run({ resume: [approve(first(asked))] });
    const getTotal = ({ events }: PageRun): unknown =>
      (events.at(-1)?.['usage'] as readonly { readonly totalTokens: number }[])[0]?.totalTokens;
    expect([getTotal(asked), getTotal(done)]).toEqual([30, 15]);
  });

  it('rejects the call if it is cancelled', async () => {
    const site = await openAgUiSite();
    const { page, asked } = await askToPay(site);
    const done = await page.run({ resume: [{ interruptId: first(asked).id, status: 'cancelled' }] });
    expect([done.outcome, site.count('pay 1')]).toEqual(['success', 0]);
  });
});
