import { DBOS } from '@dbos-inc/dbos-sdk';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAgent, defineHook, defineTool, ErrorPolicy } from '../../../src/entry/index.ts';
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
  model: scriptedModel([{ toolCalls: [0, 1, 2, 3].map((index) => ({ name: 'wait', id: `c-${index}` })) }], { repeatLast: true }),
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

const waits = { begun: 0, left: 0 };
const limited = createAgent({
  id: 'limited',
  model: scriptedModel(
    [{ error: { type: 'rate_limit', code: 'http-429', message: 'over the limit', retryable: true, retryAfterMs: 50_000 } }],
    {
      repeatLast: true,
    },
  ),
  errors: new ErrorPolicy({ onRateLimitError: 'retry', maxRetries: 3 }),
  ports: { onProblem: () => undefined },
});
const waitingWorkflow = DBOS.registerWorkflow(
  async (id: string) => {
    const { sleep, ...rest } = dbosEngine(DBOS);
    const engine = {
      ...rest,
      sleep: (ms: number) => {
        waits.begun += 1;
        return sleep(ms);
      },
    };
    return runDurably(limited, 'Go.', { engine, executionId: id }).then(
      ({ status }) => status,
      (error: unknown) => {
        waits.left += 1;
        throw error;
      },
    );
  },
  { name: 'waiting' },
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

test('cancelling a workflow interrupts its calls within a second', async () => {
  await DBOS.startWorkflow(workflow, { workflowID: 'slow-1' })('slow-1');
  await wait(() => calls.started === 4);
  const cancelledAt = performance.now();
  await DBOS.cancelWorkflow('slow-1');
  await wait(() => calls.abortedAt.length === 4);
  expect(Math.max(...calls.abortedAt) - cancelledAt).toBeLessThan(1000);
  expect((await DBOS.getWorkflowStatus('slow-1'))?.status).toBe('CANCELLED');
});

test('a workflow that another executor has taken over is interrupted within a second, and records nothing more', async () => {
  [calls.started, calls.abortedAt] = [0, []];
  await DBOS.startWorkflow(workflow, { workflowID: 'slow-2' })('slow-2');
  await wait(() => calls.started === 4);
  const connection = new pg.Client({ connectionString: server?.url });
  await connection.connect();
  const countSteps = async (): Promise<unknown> =>
    (await connection.query(`SELECT count(*)::int AS count FROM dbos.operation_outputs WHERE workflow_uuid = 'slow-2'`)).rows;
  const before = await countSteps();
  const takenAt = performance.now();
  await connection.query(`UPDATE dbos.workflow_status SET executor_id = 'other' WHERE workflow_uuid = 'slow-2'`);
  await wait(() => calls.abortedAt.length === 4);
  expect(Math.max(...calls.abortedAt) - takenAt).toBeLessThan(1000);
  expect(await countSteps()).toStrictEqual(before);
  await DBOS.cancelWorkflow('slow-2');
  await connection.end();
});

test('cancelling a workflow ends its wait for the next try', async () => {
  await DBOS.startWorkflow(waitingWorkflow, { workflowID: 'waiting-1' })('waiting-1');
  await wait(() => waits.begun > 0);
  await DBOS.cancelWorkflow('waiting-1');
  await wait(() => waits.left > 0);
});

test('dbosEngine() outside a workflow throws an error that says where to call it', () => {
  expect(() => dbosEngine(DBOS)).toThrow('must be called in a DBOS workflow');
});
