// A server of chats in a process of its own, on a SQLite file: it can be killed in the middle of an answer.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAgent } from '../../src/agent/index.ts';
import { toNodeListener } from '../../src/broadcasting/http/index.ts';
import { chatRoutes } from '../../src/broadcasting/ui-message-stream/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { look } from './tools.ts';

const [path = '', port = '0', life = 'first'] = process.argv.slice(2);

async function* write(): AsyncGenerator<string> {
  yield 'The first half';
  await new Promise(() => undefined);
}

// The first process never ends its answer; the second gives another one.
const script = life === 'first' ? [{ text: 'Looking.', toolCalls: [{ name: 'look' }] }, { chunks: write() }] : ['A whole answer.'];
const runtime = createSessionRuntime({
  agents: [createAgent({ model: scriptedModel(script), tools: [look] })],
  store: sqliteStore({ path }),
});
await runtime.ready;
const { handle } = chatRoutes(runtime, {
  authenticate: () => ({ id: 'ann', kind: 'user' }),
  authorize: () => true,
  newSession: () => ({ owner: 'ann' }),
});
const server = createServer(toNodeListener(handle)).listen(Number(port), '127.0.0.1', () => {
  // Holds: it listens on a port, not on a pipe.
  process.send?.({ port: (server.address() as AddressInfo).port });
});
