// The agent of all sessions, and its helper.
import { setTimeout as pause } from 'node:timers/promises';
import type { Agent, FunctionTool, Model, ToolContext } from '../../src/entry/index.ts';
import { createAgent, defineTool } from '../../src/entry/index.ts';
import { subAgents } from '../../src/entry/capabilities.ts';
import { planHelp } from './helper.ts';
import type { ToolName } from './plan.ts';
import { createResult, getIndex, isOnce, isSlow, planAnswer, readProgress, tools } from './plan.ts';

export interface AgentWatch {
  /** Called while the model answers. */
  readonly onModel: () => void;
  /** Called inside a tool that must not run twice, before and after its effect. */
  readonly onEffect: (at: 'before-effect' | 'after-effect') => void;
  /** Changes the outside world. */
  readonly act: (tool: ToolName, key: string, session: string) => void;
  /** True while models and calls that must not run twice are slow. */
  readonly isSlow: () => boolean;
}

const ignore: AgentWatch = { onModel: () => undefined, onEffect: () => undefined, act: () => undefined, isSlow: () => false };

/** Time between two pieces of a slow answer. */
const pieceMs = 30;

/** Time that models and `once` tools take while they are slow: some of them are not over when a stopped worker is continued. */
const slowModelMs = [200, 1500] as const;
const slowToolMs = [1500, 4500] as const;

interface Args {
  readonly session: string;
  readonly step: number;
}

/** Waits a few milliseconds or not at all, others for each call: some calls are interrupted before their effect, some after it. */
async function linger({ session, step }: Args, salt: number): Promise<void> {
  const ms = ((getIndex(session) * 7 + step * 13 + salt) % 5) - 1;
  if (ms > 0) await pause(ms);
}

const input = {
  type: 'object',
  properties: { session: { type: 'string' }, step: { type: 'integer' }, heard: { type: 'string' } },
  required: ['session', 'step', 'heard'],
} as const;

/** Returns a time between two, another one for each session and step. */
const spread = ([least, most]: readonly [number, number], { session, step }: Args): number =>
  least + ((getIndex(session) * 397 + step * 211) % (most - least));

function createTool(name: ToolName, { onEffect, act, isSlow }: AgentWatch, more: object = {}): FunctionTool {
  const run = async (args: Args, { idempotencyKey }: ToolContext): Promise<string> => {
    await linger(args, 0);
    if (isOnce(name) && isSlow()) await pause(spread(slowToolMs, args));
    if (isOnce(name)) onEffect('before-effect');
    if (name !== tools.pure) act(name, idempotencyKey, args.session);
    if (isOnce(name)) onEffect('after-effect');
    await linger(args, 2);
    return createResult(name, args.session, args.step);
  };
  return defineTool({ name, description: `Does ${name}.`, input, run, ...more });
}

function createModel({ onModel, isSlow: isSlowNow }: AgentWatch): Model {
  return {
    provider: 'chaos',
    modelId: 'chaos',
    generate: async ({ messages }) => planAnswer(readProgress(messages)).outcome,
    stream: async ({ messages }, onDelta) => {
      const progress = readProgress(messages);
      const { text, outcome } = planAnswer(progress);
      onModel();
      if (isSlowNow()) await pause(spread(slowModelMs, progress));
      if (!isSlow(progress.session)) {
        onDelta({ type: 'text', text });
        return outcome;
      }
      for (const [word] of text.matchAll(/\S+\s*/g)) {
        onDelta({ type: 'text', text: word });
        await pause(pieceMs);
      }
      return outcome;
    },
  };
}

const limits = { steps: Infinity, tokens: Infinity, wallMs: Infinity };

function createHelper(watch: AgentWatch): Agent {
  const model: Model = {
    provider: 'chaos',
    modelId: 'helper',
    generate: async ({ messages }) => planHelp(messages),
    stream: async ({ messages }) => planHelp(messages),
  };
  return createAgent({ id: 'helper', model, tools: [createTool(tools.inner, watch)], limits });
}

export const createChaosAgent = (watch: AgentWatch = ignore): Agent =>
  createAgent({
    id: 'chaos',
    model: createModel(watch),
    tools: [
      createTool(tools.once, watch),
      createTool(tools.gated, watch, { needsApproval: true }),
      createTool(tools.idempotent, watch, { effect: 'idempotent' }),
      createTool(tools.pure, watch, { effect: 'pure' }),
    ],
    capabilities: [subAgents({ agents: { helper: { agent: createHelper(watch), description: 'Helps.' } } })],
    limits,
  });
