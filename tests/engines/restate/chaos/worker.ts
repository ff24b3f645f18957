// One worker: runs the turns that the server gives it, until it is killed. Its orders are the first argument.
import { openSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createAgent, defineHook, defineTool } from '../../../../src/entry/index.ts';
import { serveSessions } from '../../../../src/sessions/restate/index.ts';
import { scriptedModel } from '../../../../src/testing/index.ts';
import type { CallName } from '../../dbos/chaos/plan.ts';
import { answerTo, callNames, isOnce, toResult } from '../../dbos/chaos/plan.ts';
import { listen } from '../listen.ts';

/** Orders of the parent. */
export interface Orders {
  readonly ingress: string;
  readonly port: number;
  /** File of the effects on the outside world. */
  readonly world: string;
  /** Release of the agent. */
  readonly build: string;
}

// Holds: the parent writes the orders.
const { ingress, port, world: worldFile, build } = JSON.parse(process.argv[2] ?? '{}') as Orders;
const world = openSync(worldFile, 'a');
const say = (line: object): void => void writeSync(1, `${JSON.stringify(line)}\n`);

const input = {
  type: 'object',
  properties: { session: { type: 'string' }, step: { type: 'integer' } },
  required: ['session', 'step'],
} as const;

/** A delay of a few milliseconds or none, different for each call: some are cut off before their effect, some after it. */
const linger = (session: string, salt: number): Promise<void> => pause(Math.max(0, ((Number(session.slice(2)) * 7 + salt * 13) % 6) - 1));

const toTool = (name: CallName) =>
  defineTool({
    name,
    description: `Does ${name}.`,
    input,
    effect: isOnce(name) ? 'once' : name === 'put' ? 'idempotent' : 'pure',
    run: async ({ session, step }, { idempotencyKey }) => {
      await linger(session, step);
      // The effect itself: once this line is in the file, it has happened, even if the process dies.
      writeSync(world, `${[process.pid, name, idempotencyKey].join('\t')}\n`);
      await linger(session, step + 3);
      return toResult(name, session, step);
    },
  });

export const createChaosAgent = (version: string) =>
  createAgent({
    id: 'chaos',
    version,
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

const worker = serveSessions({
  agents: [createChaosAgent(build)],
  ingress: { url: ingress },
  maxRecoveries: 1000,
  // Small, so that sessions continue in fresh journals all the time.
  stepsPerInvocation: 7,
  onProblem: () => undefined,
});
await listen(worker.node, port);
say({ type: 'listening' });
await worker.start();
