// authorize decides about exactly what will run, over HTTP, AG-UI and useChat; authenticate comes first, before any body is read.
import { createServer, request as openRequest } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import type { Agent } from '../../src/agent/index.ts';
import { createAgent } from '../../src/agent/index.ts';
import { createAgUiHandler } from '../../src/broadcasting/ag-ui/index.ts';
import type { AuthorizationRequest, Authorize } from '../../src/broadcasting/http/index.ts';
import { createSessionHandler, toNodeListener } from '../../src/broadcasting/http/index.ts';
import { createPusherChannels } from '../../src/broadcasting/pusher/index.ts';
import { chatRoutes } from '../../src/broadcasting/ui-message-stream/index.ts';
import { subAgents } from '../../src/capabilities/index.ts';
import { agentParticipant, createChat, llmParticipant } from '../../src/chat/index.ts';
import type { Model } from '../../src/inference/index.ts';
import type { JsonObject } from '../../src/lib/index.ts';
import { readField } from '../../src/lib/index.ts';
import { createMemoryPlace, createMemoryStore, createSessionRuntime } from '../../src/sessions/index.ts';
import type { Orchestrator } from '../../src/step-by-step/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import type { Tool } from '../../src/tools/index.ts';
import { defineClientTool, defineTool } from '../../src/tools/index.ts';
import { approve, openAgUiSite, readEvents } from '../ag-ui/stage.ts';
import { getApprovals, openChatSite, until } from '../use-chat/stage.ts';
import { createGate, createPay, look } from '../use-chat/tools.ts';
import { ann, bob, listen, openSite } from './stage.ts';

/** Lets everybody do everything, but approve payments of up to 100 only. */
const allowUpTo100: Authorize = ({ action, wait }) => {
  if (action !== 'approve') return true;
  const euros = wait?.type === 'approval' ? readField(wait.args, 'euros') : undefined;
  return typeof euros === 'number' && euros <= 100 ? true : { refused: 'forbidden', reason: 'More than 100.' };
};

const asking = { toolCalls: [{ name: 'pay', args: { euros: 50 } }] };

/** An agent that asks to pay 50, once or twice at once, and what was paid. */
function createPayer(calls = [50]) {
  const { pay, runs } = createPay();
  const toolCalls = calls.map((euros) => ({ name: 'pay', args: { euros } }));
  return { agent: createAgent({ id: 'desk', model: scriptedModel([{ toolCalls }, 'Done.']), tools: [pay] }), runs };
}

const approvalScope = { arguments: 'exact', maxUses: 5, expiresMs: 60_000 } as const;

/** A payment that can be approved for the rest of a session, and what was paid. */
function createScopedPay(covered: 'exact' | 'any') {
  const runs: unknown[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object', properties: { euros: { type: 'number' } } } as const,
    effect: covered === 'any' ? 'idempotent' : 'once',
    needsApproval: true,
    approvalScope: { ...approvalScope, arguments: covered },
    run: ({ euros }) => {
      runs.push(euros);
      return 'paid';
    },
  });
  return { pay, runs };
}

/** The same call id, first with 50 and then with a million. */
const swapped = [50, 1_000_000].map((euros) => ({ toolCalls: [{ id: 'c1', name: 'pay', args: { euros } }] }));

describe('edited arguments are authorized', () => {
  it('over HTTP', async () => {
    const { agent, runs } = createPayer();
    const site = await openSite({ agents: [agent], handler: { authorize: allowUpTo100 } });
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
    const site = await openAgUiSite({ agents: [agent], handler: { authorize: allowUpTo100 } });
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
    const site = await openChatSite({ agent, routes: { authorize: allowUpTo100 } });
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

describe('edited arguments that are changed when they are stored', () => {
  // JSON that cannot be stored as it is: half of a character, and one that Postgres does not take.
  const [given, stored] = [
    { euros: 5, to: 'a\ud800b\u0000' },
    { euros: 5, to: 'a\ufffdb\ufffd' },
  ];
  const keepArgs = (asked: unknown[]): Authorize => {
    return ({ action, wait }) => {
      if (action === 'approve') asked.push(wait?.type === 'approval' ? wait.args : undefined);
      return true;
    };
  };

  it('come to authorize as they will be, over HTTP', async () => {
    const asked: unknown[] = [];
    const site = await openSite({ agents: [createPayer().agent], handler: { authorize: keepArgs(asked) } });
    const id = await site.start(ann, 'Pay.');
    const [wait] = (await site.request(ann, 'GET', `/sessions/${id}/waits`)).body.waits;
    const path = `/sessions/${id}/waits/${wait.wait_id}/approve`;
    expect(await site.request(bob, 'POST', path, { digest: wait.digest, args: given, until: 'rest' })).toMatchObject({ status: 200 });
    expect(asked).toEqual([stored]);
  });

  it('come to authorize as they will be, over useChat', async () => {
    const asked: unknown[] = [];
    const { agent, runs } = createPayer();
    const site = await openChatSite({ agent, routes: { authorize: keepArgs(asked) } });
    const page = await site.open('c1', { isAutomatic: false });
    await page.sendMessage({ text: 'Pay.' });
    const [id = ''] = getApprovals(page);
    await page.addToolApprovalResponse({ id, approved: true });
    await (await site.request('POST', '', { id: 'c1', messages: page.messages, edits: { [id]: given } })).text();
    await until(() => runs.length === 1);
    expect(asked).toEqual([stored]);
  });

  it('are refused at once if they are null, as everything else that the tool does not take', async () => {
    const { agent, runs } = createPayer();
    const site = await openSite({ agents: [agent] });
    const id = await site.start(ann, 'Pay.');
    const [wait] = (await site.request(ann, 'GET', `/sessions/${id}/waits`)).body.waits;
    const path = `/sessions/${id}/waits/${wait.wait_id}/approve`;
    const refused = await site.request(bob, 'POST', path, { digest: wait.digest, args: null, until: 'rest' });
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'invalid-argument' } } });
    expect(refused.body.error.message).toContain('must be object, found null. The call is still waiting.');
    expect([runs, (await site.runtime.actions(id)).map(({ type }) => type)]).toEqual([[], ['create', 'send']]);
  });
});

describe('edited arguments that the schema of the tool would change are refused', () => {
  const by = { id: 'ann', kind: 'user' };
  const runs: unknown[] = [];
  const make = () => {
    runs.length = 0;
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      input: z.object({ euros: z.coerce.number(), fee: z.number().default(1_000_000) }),
      needsApproval: true,
      run: (args) => {
        runs.push(args);
        return 'paid';
      },
    });
    const asks = (name: string, args: JsonObject): Model =>
      scriptedModel([({ messages }) => (messages.some(({ role }) => role === 'tool') ? 'Done.' : { toolCalls: [{ name, args }] })], {
        repeatLast: true,
      });
    const inside = { model: asks('pay', { euros: 5 }), tools: [pay] };
    const clerk = createAgent({ id: 'clerk', ...inside });
    const capabilities = [subAgents({ agents: { clerk: { agent: clerk, description: 'Pays.' } } })];
    return {
      agent: createAgent({ id: 'desk', ...inside }),
      'sub-agent': createAgent({ id: 'desk', model: asks('spawn_subagent', { subagent: 'clerk', prompt: 'Pay.' }), capabilities }),
      'chat of two who have the tool': createChat({
        id: 'desk',
        participants: ['one', 'two'].map((name) => llmParticipant({ name, ...inside })),
      }),
    };
  };
  const change = /^The edited arguments .*were not run: the schema of "pay" changes them \(fee\)\. Send them as they will run/;
  const post = (url: string, body: object) =>
    new Request(`http://host${url}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

  /** A session that waits for an approval of the call. A client without agents answers for a worker elsewhere. */
  const open = async (agent: Orchestrator, isClient: boolean) => {
    const store = createMemoryPlace();
    const worker = createSessionRuntime({ agents: [agent], store: store.open(), role: 'worker' });
    const runtime = isClient ? createSessionRuntime({ agents: [], states: [agent.states], store: store.open(), role: 'client' }) : worker;
    onTestFinished(async () => {
      await Promise.all([worker.drain({ timeoutMs: 0 }), runtime.drain({ timeoutMs: 0 })]);
    });
    await worker.create({ id: 's' }, { by });
    await worker.send('s', 'Pay.', { by });
    const [wait] = (await runtime.get('s')).waitingFor;
    if (wait === undefined) throw new Error('An approval was expected.');
    const asked: unknown[] = [];
    const authorize: Authorize = (question) => {
      if (question.action === 'approve') asked.push(question.wait?.type === 'approval' ? question.wait.args : undefined);
      return true;
    };
    return { runtime, wait, asked, options: { authenticate: () => by, authorize, newSession: () => ({}) } };
  };

  const kinds = ['agent', 'sub-agent', 'chat of two who have the tool'] as const;
  it.each(kinds.flatMap((kind) => [true, false].map((isClient) => [kind, isClient] as const)))(
    'over HTTP: %s, client without agents: %s',
    async (kind, isClient) => {
      const { runtime, wait, asked, options } = await open(make()[kind], isClient);
      const handle = createSessionHandler(runtime, options);
      const approveWith = (args: object) =>
        handle(post(`/sessions/s/waits/${encodeURIComponent(wait.id)}/approve`, { digest: wait.digest, until: 'rest', args }));
      const refused = await approveWith({ euros: 6 });
      expect([refused.status, await refused.json()]).toMatchObject([400, { error: { message: expect.stringMatching(change) as string } }]);
      expect(runs).toEqual([]);
      expect((await approveWith({ euros: 5, fee: 1 })).status).toBe(200);
      expect([runs, asked]).toEqual([[{ euros: 5, fee: 1 }], [{ euros: 6 }, { euros: 5, fee: 1 }]]);
    },
  );

  it('what was asked for may be sent back as it is: that is not an edit', async () => {
    const { runtime, wait, options } = await open(make().agent, false);
    const body = { digest: wait.digest, until: 'rest', args: { euros: 5 } };
    const answer = await createSessionHandler(runtime, options)(post(`/sessions/s/waits/${encodeURIComponent(wait.id)}/approve`, body));
    expect([answer.status, runs]).toEqual([200, [{ euros: 5, fee: 1_000_000 }]]);
    const resolved = [];
    for await (const event of runtime.events('s')) if (event.type === 'WaitResolved') resolved.push(event.edited);
    expect(resolved).toEqual([false]);
  });

  it('over AG-UI', async () => {
    const { runtime, options } = await open(make().agent, false);
    const handle = createAgUiHandler(runtime, options);
    const run = async (runId: string, resume: readonly object[]) => {
      const seen = await readEvents(await handle(post('/', { threadId: 's', runId, messages: [], resume })));
      return (readField(seen.at(-1)?.['outcome'], 'interrupts') ?? []) as readonly { readonly id: string; readonly message: string }[];
    };
    const [first] = await run('r1', []);
    if (first === undefined) throw new Error('An interrupt was expected.');
    const refused = await handle(
      post('/', { threadId: 's', runId: 'r2', messages: [], resume: [approve(first, { editedArgs: { euros: 6 } })] }),
    );
    expect((await readEvents(refused)).at(-1)).toMatchObject({ type: 'RUN_ERROR', message: expect.stringMatching(change) as string });
    expect(runs).toEqual([]);
    await run('r3', [approve(first, { editedArgs: { euros: 5, fee: 1 } })]);
    expect(runs).toEqual([{ euros: 5, fee: 1 }]);
  });

  it('over useChat', async () => {
    const site = await openChatSite({ agent: make().agent });
    const page = await site.open('c1', { isAutomatic: false });
    await page.sendMessage({ text: 'Pay.' });
    const [id = ''] = getApprovals(page);
    await page.addToolApprovalResponse({ id, approved: true });
    const give = async (edited: object) =>
      (await site.request('POST', '', { id: 'c1', messages: page.messages, edits: { [id]: edited } })).text();
    expect(await give({ euros: 6 })).toMatch(change);
    expect(runs).toEqual([]);
    await give({ euros: 5, fee: 1 });
    await until(() => runs.length === 1);
    expect(runs).toEqual([{ euros: 5, fee: 1 }]);
  });
});

describe('authorize gets exactly what an action will do', () => {
  const open = async () => {
    const asked: AuthorizationRequest[] = [];
    const agent = createAgent({ id: 'desk', model: scriptedModel([asking], { repeatLast: true }), tools: [createScopedPay('exact').pay] });
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
    [
      'WAIT/approve',
      { digest: 'x', scope: 'session' },
      { action: 'approve', input: { scope: 'session' }, wait: { args: { euros: 50 }, approvalScope } },
    ],
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

it('a grant whose body takes its time comes to authorize with the limit that was reached meanwhile', async () => {
  const by = { id: 'ann', kind: 'user' };
  const model = scriptedModel([{ toolCalls: [{ name: 'look', args: {} }] }]);
  const agent = createAgent({ id: 'desk', model, tools: [look], limits: { steps: 1, onLimit: 'pause' } });
  const runtime = createSessionRuntime({ agents: [agent], store: createMemoryStore() });
  await runtime.create({ id: 's' }, { by });
  const asked: AuthorizationRequest[] = [];
  const authorize: Authorize = (question) => asked.push(question) > 0 && question.action === 'get';
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        await runtime.send('s', 'Hi.', { by });
        controller.enqueue(new TextEncoder().encode('{"steps":5}'));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const headers = { 'content-type': 'application/json' };
  const request = new Request('http://host/sessions/s/grant', { method: 'POST', headers, body, duplex: 'half' });
  const handle = createSessionHandler(runtime, { authenticate: () => by, authorize, newSession: () => ({}) });
  expect((await handle(request)).status).toBe(403);
  expect(asked.find(({ action }) => action === 'grant')).toMatchObject({ wait: { type: 'grant', limit: 'steps' } });
});

describe('an answer counts only for the call that was authorized', () => {
  const by = { id: 'ann', kind: 'user' };

  /** Lets everybody approve up to 100. While the host decides, the session asks for a million under the same id. */
  const open = async ({ isSwapped = true } = {}) => {
    const { pay, runs } = createPay();
    const agent = createAgent({ id: 'desk', model: scriptedModel([...swapped, 'Done.']), tools: [pay] });
    const swap = { isDone: !isSwapped };
    const authorize: Authorize = async (question) => {
      if (question.wait === undefined || swap.isDone) return allowUpTo100(question);
      const answer = await allowUpTo100(question);
      swap.isDone = true;
      await runtime.reject('s', question.wait, { by, reason: 'Ask again.' });
      return answer;
    };
    const runtime = createSessionRuntime({ agents: [agent], store: createMemoryStore() });
    await runtime.create({ id: 's' }, { by });
    await runtime.send('s', 'Pay.', { by });
    const [wait] = (await runtime.get('s')).waitingFor;
    if (wait === undefined) throw new Error('An approval was expected.');
    return { runtime, runs, wait, options: { authenticate: () => by, authorize, newSession: () => ({}) } };
  };
  const post = (url: string, body: object) =>
    new Request(`http://host${url}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

  it.each(['approve', 'reject', 'answer'])('over HTTP: %s', async (action) => {
    const { runtime, runs, wait, options } = await open();
    const body = { approve: { digest: wait.digest }, reject: {}, answer: { value: 1 } }[action] ?? {};
    const response = await createSessionHandler(runtime, options)(post(`/sessions/s/waits/${wait.id}/${action}`, body));
    expect([response.status, await response.json()]).toMatchObject([409, { error: { code: 'stale-approval' } }]);
    expect((await runtime.get('s')).waitingFor).toMatchObject([{ args: { euros: 1_000_000 } }]);
    expect(runs).toEqual([]);
  });

  it('over HTTP: the digest of another call than the one that was authorized is refused', async () => {
    const { runtime, runs, wait, options } = await open({ isSwapped: false });
    const handle = createSessionHandler(runtime, options);
    const late = new TransformStream<Uint8Array, Uint8Array>();
    const headers = { 'content-type': 'application/json' };
    const request = new Request(`http://host/sessions/s/waits/${wait.id}/approve`, {
      method: 'POST',
      headers,
      body: late.readable,
      duplex: 'half',
    });
    const answer = handle(request);
    const writer = late.writable.getWriter();
    await writer.write(new TextEncoder().encode('{"digest":"'));
    // The call changes while the body is on its way.
    await runtime.reject('s', wait, { by, reason: 'Ask again.' });
    const [next] = (await runtime.get('s')).waitingFor;
    await writer.write(new TextEncoder().encode(`${next?.digest ?? ''}"}`));
    await writer.close();
    const response = await answer;
    expect([response.status, await response.json()]).toMatchObject([409, { error: { code: 'stale-approval' } }]);
    expect([runs, (await runtime.get('s')).waitingFor.length]).toEqual([[], 1]);
  });

  it('over AG-UI', async () => {
    const { runtime, runs, options } = await open();
    const handle = createAgUiHandler(runtime, options);
    const seen = await readEvents(await handle(post('/', { threadId: 's', runId: 'r1', messages: [] })));
    const interrupts = readField(seen.at(-1)?.['outcome'], 'interrupts') as readonly { readonly id: string }[];
    const resume = interrupts.map((interrupt) => approve(interrupt));
    const [error] = (await readEvents(await handle(post('/', { threadId: 's', runId: 'r2', messages: [], resume })))).slice(-1);
    expect(error).toMatchObject({ type: 'RUN_ERROR', code: 'stale-approval' });
    expect([runs, (await runtime.get('s')).waitingFor.length]).toEqual([[], 1]);
  });
});

describe('a call inside another run, approved while another call of its step runs', () => {
  type Inside = { readonly model: Model; readonly tools: readonly Tool[] };
  const call = (name: string, args: JsonObject): Model =>
    scriptedModel([({ messages }) => (messages.some(({ role }) => role === 'tool') ? 'Done.' : { toolCalls: [{ name, args }] })], {
      repeatLast: true,
    });
  const spawn = (id: string, name: string, agent: Agent): Agent => {
    const capabilities = [subAgents({ agents: { [name]: { agent, description: 'Works.' } } })];
    return createAgent({ id, model: call('spawn_subagent', { subagent: name, prompt: 'Pay.' }), capabilities });
  };
  const clerk = (inside: Inside): Agent => createAgent({ id: 'x', ...inside });

  it.each<[string, string, (inside: Inside) => Orchestrator]>([
    ['a sub-agent', 'clerk', (inside) => spawn('desk', 'clerk', clerk(inside))],
    ['a sub-agent of a sub-agent', 'boss/clerk', (inside) => spawn('desk', 'boss', spawn('y', 'clerk', clerk(inside)))],
    [
      'a participant of a chat',
      'clerk',
      (inside) => createChat({ id: 'desk', participants: [llmParticipant({ name: 'clerk', ...inside })] }),
    ],
    [
      'a sub-agent of a participant',
      'boss/clerk',
      (inside) => createChat({ id: 'desk', participants: [agentParticipant({ name: 'boss', agent: spawn('y', 'clerk', clerk(inside)) })] }),
    ],
  ])('comes to authorize with who asks: %s', async (_, path, make) => {
    const gate = createGate();
    const { pay } = createPay();
    const toolCalls = [...asking.toolCalls, { name: 'slow', args: {} }];
    const agent = make({ model: scriptedModel([{ toolCalls }, 'Done.']), tools: [pay, gate.slow] });
    const asked: unknown[] = [];
    const authorize: Authorize = ({ action, wait }) => action !== 'approve' || asked.push(wait?.agent) === 0;
    const site = await openSite({ agents: [agent], handler: { authorize } });
    const { body: created } = await site.request(ann, 'POST', '/sessions', {});
    const id = created.session_id;
    await site.request(ann, 'POST', `/sessions/${id}/messages`, { text: 'Pay.' });
    const findAsked = async (): Promise<unknown> => {
      for await (const item of site.runtime.openStep(id))
        if (item.type === 'event' && item.event.type === 'ToolApprovalRequested') return item.event['waitId'];
      return undefined;
    };
    await expect.poll(findAsked).toBeDefined();
    const approve = async () =>
      site.request(bob, 'POST', `/sessions/${id}/waits/${encodeURIComponent(String(await findAsked()))}/approve`, { digest: 'x' });
    expect((await approve()).status).toBe(403);
    gate.open();
    await expect.poll(async () => (await site.runtime.get(id)).status).toBe('waiting');
    const [wait] = (await site.runtime.get(id)).waitingFor;
    expect([...asked, wait?.agent]).toEqual([path, path]);
  });
});

describe('an approval for the rest of a session', () => {
  /** Lets nobody approve calls with arguments that nobody has seen. */
  const careful: Authorize = ({ action, wait, input }) =>
    action !== 'approve' || input.scope === undefined || (wait?.type === 'approval' && wait.approvalScope?.arguments !== 'any');

  it('comes to authorize with how far it goes, also while another call of the step runs', async () => {
    const gate = createGate();
    const { pay, runs } = createScopedPay('any');
    const toolCalls = [
      { name: 'pay', args: { euros: 5 } },
      { name: 'slow', args: {} },
    ];
    const model = scriptedModel([{ toolCalls }, { toolCalls: [{ name: 'pay', args: { euros: 1_000_000 } }] }, 'Done.']);
    const site = await openSite({ agents: [createAgent({ id: 'desk', model, tools: [pay, gate.slow] })], handler: { authorize: careful } });
    const { body: created } = await site.request(ann, 'POST', '/sessions', {});
    const id = created.session_id;
    await site.request(ann, 'POST', `/sessions/${id}/messages`, { text: 'Pay.' });
    const findAsked = async () => {
      for await (const item of site.runtime.openStep(id))
        if (item.type === 'event' && item.event.type === 'ToolApprovalRequested') return item.event;
      return undefined;
    };
    await expect.poll(findAsked).toBeDefined();
    const event = await findAsked();
    const path = `/sessions/${id}/waits/${typeof event?.['waitId'] === 'string' ? event['waitId'] : ''}/approve`;
    const early = await site.request(bob, 'POST', path, { digest: event?.['digest'], scope: 'session' });
    expect([early.status, early.body.error.message]).toEqual([400, expect.stringContaining('other calls of its step still run')]);
    gate.open();
    await expect.poll(async () => (await site.runtime.get(id)).status).toBe('waiting');
    expect((await site.request(bob, 'POST', path, { digest: event?.['digest'], scope: 'session' })).status).toBe(403);
    expect((await site.request(bob, 'POST', path, { digest: event?.['digest'], until: 'rest' })).status).toBe(200);
    expect([runs, (await site.runtime.get(id)).status]).toEqual([[5], 'waiting']);
  });
});

describe('a body with too many values', () => {
  const by = { id: 'ann', kind: 'user' };
  const options = { authenticate: () => by, authorize: () => true, newSession: () => ({}) };
  const where = defineClientTool({ name: 'where', description: 'Asks the page.', input: { type: 'object' } });
  const open = () => {
    const agent = createAgent({
      id: 'desk',
      model: scriptedModel([{ toolCalls: [{ id: 'c1', name: 'where', args: {} }] }, 'Done.']),
      tools: [where],
    });
    return createSessionRuntime({ agents: [agent], store: createMemoryStore() });
  };
  const many = (bytes: number) => `[${'{},'.repeat(bytes / 3 - 100)}{}]`;
  const post = (url: string, body: string) =>
    new Request(`http://host${url}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });

  it.each([
    ['HTTP', '/sessions', 1_000_000, 62_500, () => createSessionHandler(open(), options)],
    ['AG-UI', '/', 4_000_000, 250_000, () => createAgUiHandler(open(), options)],
    ['useChat', '/api/chat', 4_000_000, 250_000, () => chatRoutes(open(), options).handle],
  ])('is refused before it is parsed: %s', async (_name, url, bytes, values, create) => {
    const parse = vi.spyOn(JSON, 'parse');
    const response = await create()(post(url, `{"id":"c","more":${many(bytes)}}`));
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
    expect(response.status).toBe(413);
    expect(await response.text()).toContain(`The body has more than ${values} values, the most for ${bytes} bytes. Send less`);
  });

  it('is refused in the text of a tool of the page too', async () => {
    const runtime = open();
    const handle = createAgUiHandler(runtime, options);
    const question = { id: 'm1', role: 'user', content: 'Go.' };
    await readEvents(await handle(post('/', JSON.stringify({ threadId: 't', runId: 'r1', messages: [question] }))));
    const output = { id: 'o1', role: 'tool', toolCallId: 't/1/1/c1', content: many(900_000) };
    const response = await handle(post('/', JSON.stringify({ threadId: 't', runId: 'r2', messages: [question, output] })));
    expect([response.status, await response.json()]).toMatchObject([413, { error: { code: 'body-too-large' } }]);
    expect((await runtime.get('t')).waitingFor.length).toBe(1);
  });

  it('is one value for every 16 bytes that it may have: commas in texts do not count', async () => {
    const handle = createSessionHandler(open(), { ...options, maxBodyBytes: 32_000 });
    const create = async (more: unknown) => (await handle(post('/sessions', JSON.stringify({ more })))).status;
    expect(await create(Array.from({ length: 1_990 }, () => 0))).toBe(201);
    expect(await create(Array.from({ length: 2_000 }, () => 0))).toBe(413);
    expect(await create('[{",'.repeat(5_000))).toBe(201);
  });
});

describe('who it is comes first', () => {
  const keys = { key: 'key', secret: 'secret' };
  const nobody = { authenticate: () => undefined, authorize: () => true, newSession: () => ({}) };
  const runtime = () => createSessionRuntime({ agents: [createPayer().agent], store: createMemoryStore() });

  it.each([
    ['HTTP', '/sessions', () => createSessionHandler(runtime(), nobody)],
    ['a session over HTTP', '/sessions/none/messages', () => createSessionHandler(runtime(), nobody)],
    ['a wait over HTTP', '/sessions/none/waits/none/approve', () => createSessionHandler(runtime(), nobody)],
    ['a channel', '/channels/auth', () => createSessionHandler(runtime(), { ...nobody, channels: createPusherChannels(keys) })],
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
