// Sessions that a Restate server runs: this process only answers its calls. Start as many as you like; README.md says how to call it.
import { serve } from '@restatedev/restate-sdk';
import { createAgent, defineTool } from 'stepline';
import { createSessionObject } from 'stepline/restate';
import { createSessionRuntime } from 'stepline/sessions';
import { sqliteStore } from 'stepline/sqlite';
import { scriptedModel } from 'stepline/testing';

const pay = defineTool({
  name: 'pay',
  description: 'Pays a bill.', // the effect is `once` by default: it never runs twice
  input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } as const,
  needsApproval: true,
  run: ({ amount }) => `paid ${amount}`,
});

// Answers by what it reads, so that it does not matter which process asks.
const model = scriptedModel(
  [
    ({ messages }) => {
      const [result] = messages.at(-1)?.toolResults ?? [];
      return result === undefined
        ? { toolCalls: [{ name: 'pay', args: { amount: 5 } }] }
        : `The tool said: ${JSON.stringify(result.output)}`;
    },
  ],
  { repeatLast: true },
);

const runtime = createSessionRuntime({
  agents: [createAgent({ id: 'desk', model, tools: [pay] })],
  store: sqliteStore({ path: process.env['DATABASE'] ?? 'sessions.db' }), // postgresStore({ pool }) if processes are on several machines
  role: 'client', // runs what Restate asks for, and nothing by itself
  approvals: { expireAfterMs: 24 * 3_600_000 }, // Restate calls when the time is up
});
const port = Number(process.env['PORT'] ?? 9080);
await serve({ services: [createSessionObject({ runtime })], port });
