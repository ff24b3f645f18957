// What a worker refuses after it was accepted: the page that asked for it reads why, and does not wait for ever.
import { describe, expect, test } from 'vitest';
import { createAgUiHandler } from '../src/broadcasting/ag-ui/index.ts';
import { chatRoutes } from '../src/broadcasting/ui-message-stream/index.ts';
import type { Agent } from '../src/entry/index.ts';
import { createAgent, defineTool } from '../src/entry/index.ts';
import type { EmbeddedRuntime } from '../src/sessions/index.ts';
import { createMemoryPlace } from '../src/sessions/index.ts';
import { scriptedModel } from '../src/testing/index.ts';
import { reach } from './sessions/conditions.ts';
import { ann, getWait, stageOn } from './sessions/stage.ts';

/** An agent that pays with a tool of this name, if it has one. */
const createPayer = (version: string, toolName: string): Agent =>
  createAgent({
    id: 'desk',
    version,
    model: scriptedModel([{ toolCalls: [{ name: 'pay', args: {} }] }]),
    tools: [defineTool({ name: toolName, description: 'Pays.', input: { type: 'object' }, needsApproval: true, run: () => 'paid' })],
  });

const options = { authenticate: () => ann, authorize: () => true, newSession: () => ({}), heartbeatMs: 5 };

const post = async (handle: (request: Request) => Promise<Response>, url: string, body: object): Promise<Response> =>
  handle(new Request(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }));

const runAgUi = (runtime: EmbeddedRuntime, body: object): Promise<Response> =>
  post(createAgUiHandler(runtime, options), 'http://desk.test/', { threadId: 't', runId: 'r', messages: [], ...body });

const runChat = (runtime: EmbeddedRuntime, message: object): Promise<Response> =>
  post(chatRoutes(runtime, options).handle, 'http://desk.test/api/chat', { id: 't', messages: [message] });

/** Ways to approve a wait. */
const approvals: readonly (readonly [string, (runtime: EmbeddedRuntime, wait: { id: string; digest: string }) => Promise<Response>])[] = [
  [
    'AG-UI',
    (runtime, { id, digest }) =>
      runAgUi(runtime, { resume: [{ interruptId: `${id}:${digest}`, status: 'resolved', payload: { approved: true } }] }),
  ],
  [
    'useChat',
    (runtime, { id, digest }) => {
      const approval = { id: digest, approved: true };
      const parts = [{ type: 'step-start' }, { type: 'tool-pay', toolCallId: id, state: 'approval-responded', approval }];
      return runChat(runtime, { id: 'answer/t/1/1', role: 'assistant', parts });
    },
  ],
];

const messages: readonly (readonly [string, (runtime: EmbeddedRuntime) => Promise<Response>])[] = [
  ['AG-UI', (runtime) => runAgUi(runtime, { messages: [{ id: 'late', role: 'user', content: 'say More' }] })],
  ['useChat', (runtime) => runChat(runtime, { id: 'late', role: 'user', parts: [{ type: 'text', text: 'say More' }] })],
];

describe('a page that asks a client', () => {
  test.each(approvals)('reads why the worker cannot run the call that it approved: %s', async (_, approve) => {
    const stage = stageOn(createMemoryPlace());
    const first = stage.start({ agents: [createPayer('1', 'pay')] });
    await first.create({ id: 't', tags: ['chat/t'] }, { by: ann });
    await first.send('t', 'Pay.', { by: ann });
    await first.drain();
    const agents = [createPayer('2', 'transfer')];
    await stage.start({ agents, role: 'worker' }).ready;
    const client = stage.start({ agents, role: 'client' });
    const response = await approve(client, await getWait(client, 't'));
    expect(await response.text()).toMatch(/"(RUN_ERROR|error)".*There is no tool named/);
    expect((await client.get('t')).status).toBe('waiting');
  });

  test.each(messages)('reads why a message was not taken when it was its turn: %s', async (_, send) => {
    for (const role of ['client', 'worker'] as const) {
      const { worker, stage, release, ...session } = await reach('new');
      await worker.create({ id: 't', agent: 'short', tags: ['chat/t'] }, { by: ann });
      await worker.send('t', 'slow 1; look 2', { by: ann, until: 'accepted' });
      await stage.gate.current.reached;
      const response = await send(role === 'client' ? session.client : worker);
      await release();
      expect(await response.text(), role).toMatch(/"(RUN_ERROR|error)".*The message was not taken/);
    }
  });
});
