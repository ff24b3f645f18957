// A worker whose provider is over its limit until a file exists. Its address of the server, port and folder are its arguments.
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { createAgent, defineHook, defineTool, ErrorPolicy } from '../../../src/entry/index.ts';
import { serveSessions } from '../../../src/sessions/restate/index.ts';
import { scriptedModel } from '../../../src/testing/index.ts';
import { listen } from './listen.ts';

const [, , ingress = '', port = '0', folder = '', waitMs = '0'] = process.argv;
const note = (line: string): void => appendFileSync(join(folder, 'records'), `${line}\n`);
const input = { type: 'object', properties: { index: { type: 'integer' } }, required: ['index'] } as const;

const agent = createAgent({
  id: 'desk',
  model: scriptedModel(
    [
      ({ messages }) => {
        if (!messages.some((message) => message.isAssistant()))
          return { toolCalls: [1, 2, 3, 4].map((index) => ({ name: 'pay', id: `call-${index}`, args: { index } })) };
        if (existsSync(join(folder, 'up'))) return { text: 'Paid.' };
        note('refused');
        return {
          error: { type: 'rate_limit', code: 'http-429', message: 'over the limit', retryable: true, retryAfterMs: Number(waitMs) },
        };
      },
    ],
    { repeatLast: true },
  ),
  tools: [defineTool({ name: 'pay', description: 'Pays.', input, effect: 'once', run: ({ index }) => note(`pay ${index}`) })],
  hooks: [defineHook({ name: 'late', changes: ['args'], beforeTool: async () => new Promise((resolve) => setTimeout(resolve, 2)) })],
  errors: new ErrorPolicy({ onRateLimitError: 'retry', maxRetries: 5 }),
  ports: { onProblem: () => undefined },
});

const worker = serveSessions({ agents: [agent], ingress: { url: ingress }, prefix: 'Backoff', onProblem: () => undefined });
await listen(worker.node, Number(port));
process.send?.({ type: 'listening' });
await worker.start();
