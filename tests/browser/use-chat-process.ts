// A server of chats in a process of its own: the page at /, its routes at /api/chat. It can be killed, and its connections cut.
// Its arguments are the path of the database, the folder of the gates, the file with the page's script, and a port, 0 for any.
import { existsSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAgent } from '../../src/agent/index.ts';
import { toNodeListener } from '../../src/broadcasting/http/index.ts';
import { chatRoutes } from '../../src/broadcasting/ui-message-stream/index.ts';
import type { ModelRequest } from '../../src/inference/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import type { ScriptedAnswer } from '../../src/testing/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { defineTool } from '../../src/tools/index.ts';

const [, , path = '', gates = '', script = '', port = '0'] = process.argv;

const pass = async (gate: string): Promise<void> => {
  while (!existsSync(join(gates, gate))) await new Promise((resolve) => setTimeout(resolve, 20));
};
async function* writeSlowly(): AsyncGenerator<string> {
  yield 'The first half';
  await pass('slow');
  yield ' and the second.';
}

let answers = 0;

/** Answers by what was said last. */
function answer({ messages }: ModelRequest): string | ScriptedAnswer {
  const last = messages.at(-1);
  const said = messages.findLast((message) => message.isUser())?.text ?? '';
  const isAfterTool = last?.isTool() === true;
  if (said === 'look') return isAfterTool ? 'There are two.' : { text: 'One moment.', toolCalls: [{ name: 'look' }] };
  if (said === 'pay') return isAfterTool ? 'Done.' : { text: 'Shall I?', toolCalls: [{ name: 'pay', args: { euros: 5 } }] };
  if (said === 'fail') return { error: { type: 'model', code: 'x', message: 'no capacity', retryable: false } };
  if (said === 'slow') return { chunks: writeSlowly() };
  return `Answer ${(answers += 1)} to ${said}.`;
}

const nothing = { type: 'object', properties: {} } as const;
const look = defineTool({ name: 'look', description: 'Looks.', input: nothing, run: () => ({ found: 2 }) });
let runs = 0;
const input = { type: 'object', properties: { euros: { type: 'number' } } } as const;
const pay = defineTool({ name: 'pay', description: 'Pays.', input, needsApproval: true, run: () => `payment ${(runs += 1)}` });

const agent = createAgent({ model: scriptedModel([answer], { repeatLast: true }), tools: [look, pay] });
const runtime = createSessionRuntime({ agents: [agent], store: sqliteStore({ path }) });
await runtime.ready;
const { handle } = chatRoutes(runtime, {
  authenticate: () => ({ id: 'ann', kind: 'user' }),
  authorize: () => true,
  newSession: () => ({ owner: 'ann' }),
  onProblem: (problem) => process.stderr.write(`${String(problem)}\n`),
});
const chat = toNodeListener(async (request) => {
  // A page whose stream comes late.
  if (request.method === 'GET' && request.url.endsWith('/stream') && existsSync(join(gates, 'hold'))) await pass('late');
  return handle(request);
});

const streams = new Set<ServerResponse>();
const server = createServer((request, response) => {
  if (request.url?.startsWith('/api/') === true) {
    streams.add(response);
    response.on('close', () => streams.delete(response));
    chat(request, response);
    return;
  }
  const isScript = request.url === '/page.js';
  response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
  response.end(
    isScript
      ? readFileSync(script)
      : '<!doctype html><title>Chat</title><link rel=icon href=data:,><div id=root></div><script type=module src=/page.js></script>',
  );
});
server.listen(Number(port), '127.0.0.1', () => {
  // Holds: it listens on a port, not on a pipe.
  process.send?.({ type: 'ready', port: (server.address() as AddressInfo).port });
});
process.on('message', (word: { readonly type: string }) => {
  if (word.type === 'cut') for (const stream of streams) stream.destroy();
  process.send?.({ type: word.type, value: runs });
});
