import { DBOS } from '@dbos-inc/dbos-sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAgent, defineHook, defineTool } from '../../../src/entry/index.ts';
import { dbosEngine } from '../../../src/journal/dbos/index.ts';
import { runDurably } from '../../../src/journal/index.ts';
import { scriptedModel } from '../../../src/testing/index.ts';
import type { Server } from '../../postgres/server.ts';
import { startPostgres } from '../postgres.ts';
import { quietLogger } from './quiet-logger.ts';

let server: Server | undefined;
const calls = { started: 0, abortedAt: [] as number[] };
const wait = (isDone: () => boolean): Promise<void> => expect.poll(isDone, { timeout: 20_000, interval: 10 }).toBe(true) as Promise<never>;

/** Four calls that run until they are interrupted. */
const agent = createAgent({
  id: 'slow',
  model: scriptedModel([{ toolCalls: [0, 1, 2, 3].map((index) => ({ name: 'wait', id: `c-${index}` })) }]),
  tools: [
    defineTool({
      name: 'wait',
      description: 'Waits.',
      input: { type: 'object', properties: {} },
      run: (_, { signal }) =>
        new Promise<string>((_, reject) => {
          calls.started += 1;
          signal.addEventListener('abort', () => {
            calls.abortedAt.push(performance.now());
            reject(new Error('interrupted'));
          });
        }),
    }),
  ],
  hooks: [
    defineHook({
      name: 'late',
      changes: ['args'],
      beforeTool: async ({ call }) => {
        await new Promise((resolve) => setTimeout(resolve, call.id === 'c-0' ? 2 : 0));
        return undefined;
      },
    }),
  ],
  ports: { onProblem: () => undefined },
});

const workflow = DBOS.registerWorkflow(
  async (id: string) => (await runDurably(agent, 'Go.', { engine: dbosEngine(DBOS), executionId: id })).status,
  { name: 'slow' },
);

beforeAll(async () => {
  server = await startPostgres();
  DBOS.setConfig({ name: 'cancel', systemDatabaseUrl: server.url, logger: quietLogger });
  await DBOS.launch();
});
afterAll(async () => {
  await DBOS.shutdown();
  await server?.dispose();
});

test('a workflow that is cancelled interrupts its calls within a second', async () => {
  await DBOS.startWorkflow(workflow, { workflowID: 'slow-1' })('slow-1');
  await wait(() => calls.started === 4);
  const cancelledAt = performance.now();
  await DBOS.cancelWorkflow('slow-1');
  await wait(() => calls.abortedAt.length === 4);
  expect(Math.max(...calls.abortedAt) - cancelledAt).toBeLessThan(1000);
  expect((await DBOS.getWorkflowStatus('slow-1'))?.status).toBe('CANCELLED');
});

test('dbosEngine() outside of a workflow says where to call it', () => {
  expect(() => dbosEngine(DBOS)).toThrow('must be called in a DBOS workflow');
});
