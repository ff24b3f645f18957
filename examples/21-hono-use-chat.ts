// A page with useChat behind Hono: the AI SDK's own chat asks, an approval waits, and its message continues.
import assert from 'node:assert/strict';
import { Chat } from '@ai-sdk/react';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { Hono } from 'hono';
import { createAgent, defineTool } from 'stepline';
import { createMemoryStore, createSessionRuntime } from 'stepline/sessions';
import { scriptedModel } from 'stepline/testing';
import type { AgentUIMessage } from 'stepline/ui-message-stream';
import { chatRoutes } from 'stepline/ui-message-stream';

const input = { type: 'object', properties: { euros: { type: 'number' } }, required: ['euros'] } as const;
const refund = defineTool({ name: 'refund', description: 'Pays back.', input, needsApproval: true, run: ({ euros }) => `${euros} EUR` });
const model = scriptedModel([{ toolCalls: [{ name: 'refund', args: { euros: 20 } }] }, 'You get 20 EUR back.']);
const runtime = createSessionRuntime({ agents: [createAgent({ model, tools: [refund] })], store: createMemoryStore() });

const { handle } = chatRoutes(runtime, {
  authenticate: () => ({ id: 'ann', kind: 'user' }), // your own login
  authorize: () => true,
  newSession: ({ by }) => ({ owner: by.id }),
});
const app = new Hono();
app.all('/api/chat/*', (context) => handle(context.req.raw));
app.all('/api/chat', (context) => handle(context.req.raw));

// In a page: useChat({ id, resume: true, sendAutomaticallyWhen: … }). Here the same class, without a page.
const transport = new DefaultChatTransport<AgentUIMessage>({
  api: 'http://desk.test/api/chat',
  fetch: async (url, init) => app.request(url, init),
});
const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses;
const chat = new Chat<AgentUIMessage>({ id: 'c1', transport, sendAutomaticallyWhen });
await chat.sendMessage({ text: 'I want my money back.' });
const asked = chat.lastMessage?.parts.find((part) => 'state' in part && part.state === 'approval-requested');
assert(asked !== undefined && 'approval' in asked);
await chat.addToolApprovalResponse({ id: asked.approval.id, approved: true });
while (chat.status !== 'ready' || chat.lastMessage?.metadata?.status !== 'completed')
  await new Promise((resolve) => setTimeout(resolve, 5));
assert.equal(chat.lastMessage.parts.findLast((part) => part.type === 'text')?.text, 'You get 20 EUR back.');
process.stdout.write(`Why: ${String(chat.lastMessage.metadata.why?.split('\n')[0])}\n`);
await runtime.drain();
