// authorize decides about exactly what will run, over HTTP, AG-UI and useChat; authenticate comes first, before any body is read.
import { createServer, request as openRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createAgent } from '../../src/agent/index.ts';
import { createAgUiHandler } from '../../src/broadcasting/ag-ui/index.ts';
import type { AuthorizationRequest, Authorize } from '../../src/broadcasting/http/index.ts';
import { createSessionHandler, toNodeListener } from '../../src/broadcasting/http/index.ts';
import { chatRoutes } from '../../src/broadcasting/ui-message-stream/index.ts';
import { readField } from '../../src/lib/index.ts';
import { createMemoryStore, createSessionRuntime } from '../../src/sessions/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { defineTool } from '../../src/tools/index.ts';
import { approve, openAgUiSite, readEvents } from '../ag-ui/stage.ts';
import { getApprovals, openChatSite, until } from '../use-chat/stage.ts';
import { createPay } from '../use-chat/tools.ts';
import { ann, bob, listen, openSite } from './stage.ts';

const limit = 100;

/** Lets everybody do everything, but approve payments of up to 100 only. */
const limited: Authorize = ({ action, wait }) => {
  if (action !== 'approve') return true;
  const euros = wait?.type === 'approval' ? readField(wait.args, 'euros') : undefined;
  return typeof euros === 'number' && euros <= limit ? true : { refused: 'forbidden', reason: 'More than 100.' };
};

const asking = { toolCalls: [{ name: 'pay', args: { euros: 50 } }] };

/** An agent that asks to pay 50, once or twice at once, and what was paid. */
function createPayer(calls = [50]) {
  const { pay, runs } = createPay();
  const toolCalls = calls.map((euros) => ({ name: 'pay', args: { euros } }));
  return { agent: createAgent({ id: 'desk', model: scriptedModel([{ toolCalls }, 'Done.']), tools: [pay] }), runs };
}

describe('edited arguments are authorized', () => {
  it('over HTTP', async () => {
    const { agent, runs } = createPayer();
    const site = await openSite({ agents: [agent], handler: { authorize: limited } });
    const id = await site.start(ann, 'Pay.');
    const [wait] = (await site.request(ann, 'GET', `/sessions/${id}/waits`)).body.waits;
    const approveWith = (args: object) =>
      site.request(bob, 'POST', `/sessions/${id}/waits/${wait.wait_id}/approve`, { digest: wait.digest, until: 'rest', ...args });
    const refused = await approveWith({ args: { euros: 1_000_000 } });
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'not-allowed', message: 'More than 100.' } } });
    expect(runs).toEqual([]);
    expect(await approveWith({ args: { euros: 99 } })).toMatchObject({ status: 200 });
    expect(runs).toEqual([99]);
  });

  it('over AG-UI, and none of several answers is given if one is refused', async () => {
    const { agent, runs } = createPayer([50, 51]);
    const site = await openAgUiSite({ agents: [agent], handler: { authorize: limited } });
    const { interrupts } = await site.openPage('one').run({ text: 'Pay.' });
    const [first, second] = interrupts;
    if (first === undefined || second === undefined) throw new Error('Two approvals were expected.');
    const post = (euros: number) =>
      site.post({ threadId: 'one', resume: [approve(first), approve(second, { editedArgs: { euros } })] }, bob);
    const refused = await post(1_000_000);
    expect([refused.status, await refused.json()]).toEqual([403, { error: { code: 'not-allowed', message: 'More than 100.' } }]);
    expect([runs, (await site.runtime.get('one')).waitingFor.length]).toEqual([[], 2]);
    expect((await readEvents(await post(99))).at(-1)).toMatchObject({ type: 'RUN_FINISHED' });
    expect(runs.toSorted()).toEqual([50, 99]);
  });

  it('over useChat, and none of several answers is given if one is refused', async () => {
    const { agent, runs } = createPayer([50, 51]);
    const site = await openChatSite({ agent, routes: { authorize: limited } });
    const page = await site.open('c1', { isAutomatic: false });
    await page.sendMessage({ text: 'Pay.' });
    const [first = '', second = ''] = getApprovals(page);
    await page.addToolApprovalResponse({ id: first, approved: true });
    await page.addToolApprovalResponse({ id: second, approved: true });
    const post = (euros: unknown) => site.request('POST', '', { id: 'c1', messages: page.messages, edits: { [second]: { euros } } });
    const refused = await post(1_000_000);
    expect([refused.status, await refused.text()]).toEqual([403, 'More than 100.']);
    const { waits } = await site.runtime.waits();
    expect([runs, waits.length]).toEqual([[], 2]);
    await (await post(99)).text();
    await until(() => runs.length === 2);
    expect(runs.toSorted()).toEqual([50, 99]);
  });

  it('and come with the arguments that the agent asked for', async () => {
    const asked: AuthorizationRequest[] = [];
    const { agent } = createPayer();
    const authorize: Authorize = (question) => asked.push(question) > 0;
    const site = await openSite({ agents: [agent], handler: { authorize } });
    const id = await site.start(ann, 'Pay.');
    const [wait] = (await site.request(ann, 'GET', `/sessions/${id}/waits`)).body.waits;
    await site.request(bob, 'POST', `/sessions/${id}/waits/${wait.wait_id}/approve`, { digest: wait.digest, args: { euros: 7 } });
    expect(asked.at(-1)).toMatchObject({ by: { id: 'bob', kind: 'staff' }, wait: { args: { euros: 7 }, requestedArgs: { euros: 50 } } });
  });
});

describe('authorize gets exactly what an action will do', () => {
  const open = async () => {
    const asked: AuthorizationRequest[] = [];
    const question = defineTool({ name: 'pay', description: 'Pays.', input: { type: 'object' }, needsApproval: true, run: () => 'paid' });
    const agent = createAgent({ id: 'desk', model: scriptedModel([asking], { repeatLast: true }), tools: [question] });
    const authorize: Authorize = (asking) => {
      asked.push(asking);
      return asking.action === 'get';
    };
    const site = await openSite({ agents: [agent], handler: { authorize, newSession: () => ({ owner: 'x', tags: ['t'] }) } });
    await site.runtime.create({ id: 's' }, { by: { id: 'ann', kind: 'user' } });
    const { waitingFor } = await site.runtime.send('s', 'Pay.', { by: { id: 'ann', kind: 'user' } });
    return { site, last: () => asked.at(-2), path: `/sessions/s/waits/${waitingFor[0]?.id ?? ''}` };
  };

  it.each([
    ['/sessions/s/messages', { text: 'Hi', while_waiting: 'queue' }, { action: 'send', input: { content: 'Hi', whileWaiting: 'queue' } }],
    ['/sessions/s/cancel', { reason: 'enough' }, { action: 'cancel', input: { reason: 'enough' } }],
    ['/sessions/s/grant', { steps: 5, cost_usd: 2 }, { action: 'grant', input: { amounts: { steps: 5, costUsd: 2 } } }],
    [
      '/sessions/s/fork',
      { execution: 1, step: 0 },
      { action: 'fork', input: { at: { execution: 1, step: 0 }, newSession: { owner: 'x', tags: ['t'] } } },
    ],
    ['/sessions/s/approvals/a1/revoke', {}, { action: 'revoke', input: { approvalId: 'a1' } }],
    ['/sessions/s/resume', {}, { action: 'resume', input: {} }],
    ['WAIT/reject', { reason: 'no' }, { action: 'reject', input: { reason: 'no' }, wait: { args: { euros: 50 } } }],
    ['WAIT/answer', { value: { is: 'this' } }, { action: 'answer', input: { value: { is: 'this' } } }],
    ['WAIT/approve', { digest: 'x', scope: 'session' }, { action: 'approve', input: { scope: 'session' }, wait: { args: { euros: 50 } } }],
  ])('%s', async (route, body, expected) => {
    const { site, last, path } = await open();
    expect((await site.request(bob, 'POST', route.replace('WAIT', path), body)).status).toBe(403);
    expect(last()).toMatchObject(expected);
    expect(await site.runtime.get('s')).toMatchObject({ status: 'waiting', mailbox: [] });
  });

  it('/sessions', async () => {
    const asked: AuthorizationRequest[] = [];
    const authorize: Authorize = (question) => asked.push(question) < 0;
    const site = await openSite({ handler: { authorize, newSession: () => ({ owner: 'x', agent: 'desk' }) } });
    expect((await site.request(bob, 'POST', '/sessions', {})).status).toBe(403);
    expect(asked).toMatchObject([{ action: 'create', input: { newSession: { owner: 'x', agent: 'desk' } } }]);
    expect((await site.runtime.list()).sessions).toEqual([]);
  });
});

describe('who it is comes first', () => {
  const nobody = { authenticate: () => undefined, authorize: () => true, newSession: () => ({}) };
  const runtime = () => createSessionRuntime({ agents: [createPayer().agent], store: createMemoryStore() });

  it.each([
    ['HTTP', '/sessions', () => createSessionHandler(runtime(), nobody)],
    ['a session over HTTP', '/sessions/none/messages', () => createSessionHandler(runtime(), nobody)],
    ['AG-UI', '/', () => createAgUiHandler(runtime(), nobody)],
    ['useChat', '/api/chat', () => chatRoutes(runtime(), nobody).handle],
  ])('%s: 401 while the body is still on its way', async (_name, path, create) => {
    const url = await listen(createServer(toNodeListener(create())));
    const status = await new Promise((resolve, fail) => {
      const sent = openRequest(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': 900_000 },
      });
      sent.on('response', (response) => {
        resolve(response.statusCode);
        sent.destroy();
      });
      sent.on('error', fail);
      // The rest never comes.
      sent.write('{');
    });
    expect(status).toBe(401);
  });

  it.each([
    ['nothing', undefined, 401],
    ['null', null, 401],
    ['a refusal', { refused: 'unauthenticated', reason: 'Log in.' }, 401],
    ['a ban', { refused: 'forbidden', reason: 'You are banned.' }, 403],
    ['a caller without a kind', { id: 'ann' }, 500],
  ])('authenticate that returns %s refuses', async (_name, answer, status) => {
    // @ts-expect-error -- somebody without a compiler may return anything
    const site = await openSite({ handler: { authenticate: () => answer, authorize: () => true } });
    expect((await site.request(ann, 'GET', '/sessions')).status).toBe(status);
    expect((await site.request(ann, 'GET', '/sessions/none')).status).toBe(status);
  });
});
