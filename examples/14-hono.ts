// Sessions behind Hono: the handler takes a Request and returns a Response, so it mounts as it is.
import assert from 'node:assert/strict';
import { Hono } from 'hono';
import { createAgent } from 'stepline';
import { createSessionHandler } from 'stepline/http';
import { createMemoryStore, createSessionRuntime } from 'stepline/sessions';
import { scriptedModel } from 'stepline/testing';

const agent = createAgent({ id: 'desk', model: scriptedModel(['Good morning.']) });
const runtime = createSessionRuntime({ agents: [agent], store: createMemoryStore() });

const sessions = createSessionHandler(runtime, {
  basePath: '/api',
  authenticate: (request) => {
    const user = request.headers.get('x-user'); // your own login
    return user === null ? undefined : { id: user, kind: 'user' };
  },
  authorize: ({ by, session }) => {
    if (session !== undefined && session.owner !== by.id) return false; // somebody else's: 404
    return { scope: { owner: by.id } };
  },
  newSession: ({ by }) => ({ owner: by.id }),
});

const app = new Hono();
app.all('/api/*', (context) => sessions(context.req.raw));

// `serve(app)` of your platform; here the app gets its requests by hand.
const post = async (path: string, body: object): Promise<Readonly<Record<string, unknown>>> => {
  const headers = { 'content-type': 'application/json', 'x-user': 'ann' };
  const response = await app.request(path, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await response.json()) as Readonly<Record<string, unknown>>;
};
const { session_id } = await post('/api/sessions', {});
const { text } = await post(`/api/sessions/${String(session_id)}/messages`, { text: 'Hello?', until: 'rest' });
assert.equal(text, 'Good morning.');
assert.equal((await app.request('/api/sessions')).status, 401);
process.stdout.write(`The desk says: ${text}\n`);
await runtime.drain();
