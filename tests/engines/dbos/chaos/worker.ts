// One executor: runs workflows of its own and of executors that are gone, until it is killed.
// Started, killed and started again by the parent; its orders are the first argument.
import { openSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { DBOS } from '@dbos-inc/dbos-sdk';
import pg from 'pg';
import { holdLiveness, startFailover } from '../../../../examples/dbos/failover.ts';
import { createAgent, defineHook, defineTool } from '../../../../src/entry/index.ts';
import { runDurably } from '../../../../src/journal/index.ts';
import { dbosEngine } from '../../../../src/journal/dbos/index.ts';
import { scriptedModel } from '../../../../src/testing/index.ts';
import type { CallName } from './plan.ts';
import { quietLogger } from '../quiet-logger.ts';
import { answerTo, callNames, isOnce, toResult } from './plan.ts';

/** Orders of the parent. */
export interface Orders {
  readonly url: string;
  readonly executorId: string;
  /** File of the effects on the outside world. */
  readonly world: string;
  readonly steps: number;
  readonly sessions: readonly string[];
}

/** End of a session, as its workflow returns it. */
export interface SessionEnd {
  readonly status: string;
  readonly text: string;
  readonly steps: number;
  /** Ids of the calls whose end is unknown, and of those that failed otherwise. */
  readonly unknown: readonly string[];
  readonly failed: readonly string[];
  readonly hasDenseEvents: boolean;
}

// Holds: the parent writes the orders.
const orders = JSON.parse(process.argv[2] ?? '{}') as Orders;
const world = openSync(orders.world, 'a');
const say = (line: object): void => void writeSync(1, `${JSON.stringify(line)}\n`);
const report = (error: unknown): void => say({ problem: error instanceof Error ? (error.stack ?? error.message) : String(error) });

const input = {
  type: 'object',
  properties: { session: { type: 'string' }, step: { type: 'integer' } },
  required: ['session', 'step'],
} as const;

/** A few milliseconds or none, others for each call: some are cut off before their effect, some after it. */
const linger = (session: string, salt: number): Promise<void> => pause(Math.max(0, ((Number(session.slice(2)) * 7 + salt * 13) % 6) - 1));

const toTool = (name: CallName) =>
  defineTool({
    name,
    description: `Does ${name}.`,
    input,
    effect: isOnce(name) ? 'once' : name === 'put' ? 'idempotent' : 'pure',
    run: async ({ session, step }, { idempotencyKey }) => {
      await linger(session, step);
      // The effect itself: once this line stands in the file it has happened, whatever becomes of the process.
      writeSync(world, `${[process.pid, name, idempotencyKey].join('\t')}\n`);
      await linger(session, step + 3);
      return toResult(name, session, step);
    },
  });

const agent = createAgent({
  id: 'chaos',
  model: scriptedModel([({ messages }) => answerTo(messages)], { repeatLast: true }),
  tools: callNames.map(toTool),
  hooks: [
    defineHook({
      name: 'late',
      changes: ['args'],
      beforeTool: async ({ call }) => {
        await pause(call.id.endsWith('-0') ? 2 : 0);
        return undefined;
      },
    }),
  ],
  limits: { steps: Infinity, tokens: Infinity, wallMs: Infinity },
  ports: { onProblem: () => undefined },
});

async function runSession(session: string, steps: number): Promise<SessionEnd> {
  const numbers: unknown[] = [];
  const { status, text, state } = await runDurably(agent, `Session ${session}: take ${steps} steps.`, {
    engine: dbosEngine(DBOS),
    executionId: session,
    onCommit: ({ events, isReplayed }) => {
      numbers.push(...events.map(({ seq }) => seq));
      if (!isReplayed) say({ step: session });
    },
  });
  const calls = state.steps.flatMap(({ executions }) => executions);
  const listIds = (wanted: string): readonly string[] => calls.filter((call) => call.status === wanted).map(({ toolCallId }) => toolCallId);
  return {
    status,
    text,
    steps: state.stepCount,
    unknown: listIds('unknown'),
    failed: calls.filter((call) => call.status !== 'succeeded' && call.status !== 'unknown').map(({ toolCallId }) => toolCallId),
    hasDenseEvents: numbers.length === state.data.lastSeq && numbers.every((seq, index) => seq === index + 1),
  };
}

const connection = new pg.Client({ connectionString: orders.url });
// Others take over when it is lost: this executor must not go on.
connection.on('error', () => process.exit(1));
await connection.connect();
await holdLiveness(connection, orders.executorId);
DBOS.setConfig({
  name: 'chaos',
  systemDatabaseUrl: orders.url,
  executorID: orders.executorId,
  // Rows fit every build, so that a new one may take over the workflows of the last.
  applicationVersion: 'any',
  logger: quietLogger,
});
const workflow = DBOS.registerWorkflow(runSession, { name: 'session' });
await DBOS.launch();
startFailover({ connection, dbos: DBOS, onTakeover: (ids) => say({ takeover: ids.length }), onProblem: report });
for (const session of orders.sessions) await DBOS.startWorkflow(workflow, { workflowID: session })(session, orders.steps);
say({ started: orders.sessions.length });
