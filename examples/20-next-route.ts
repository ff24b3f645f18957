// A page with useChat on Next.js: this is app/api/chat/[[...path]]/route.ts. `sharedRuntime` survives hot reloads.
import assert from 'node:assert/strict';
import { createAgent } from 'stepline';
import { createMemoryStore, createSessionRuntime, sharedRuntime } from 'stepline/sessions';
import { scriptedModel } from 'stepline/testing';
import { chatRoutes } from 'stepline/ui-message-stream';

const createAgents = () => [createAgent({ id: 'desk', model: scriptedModel(['Good morning.']) })];
const runtime = sharedRuntime('chats', () => createSessionRuntime({ agents: createAgents(), store: createMemoryStore() }));

export const { GET, POST, DELETE } = chatRoutes(runtime, {
  authenticate: (request) => {
    const user = request.headers.get('x-user'); // your own login
    return user === null ? undefined : { id: user, kind: 'user' };
  },
  authorize: ({ by, session }) => session === undefined || session.owner === by.id, // somebody else's: 404
  newSession: ({ by }) => ({ owner: by.id }),
});

// The rest is what useChat does; here by hand.
const at = 'http://localhost:3000/api/chat';
const headers = { 'x-user': 'ann', 'content-type': 'application/json' };
const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hello?' }] }];
const body = JSON.stringify({ id: 'c1', messages, trigger: 'submit-message' });
const answer = await (await POST(new Request(at, { method: 'POST', headers, body }))).text();
assert.match(answer, /"type":"text-delta".*"delta":"Good morning\."/);
const history = (await (await GET(new Request(`${at}/c1`, { headers }))).json()) as { readonly role: string }[];
assert.deepEqual(
  history.map(({ role }) => role),
  ['user', 'assistant'],
);
process.stdout.write(`The page has ${history.length} messages.\n`);
await runtime.drain();
