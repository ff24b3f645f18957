// The agent of all sessions.
import { setTimeout as pause } from 'node:timers/promises';
import type { Agent, FunctionTool, Model, ToolContext } from '../../src/entry/index.ts';
import { createAgent, defineTool } from '../../src/entry/index.ts';
import type { ToolName } from './plan.ts';
import { createResult, getIndex, isSlow, planAnswer, readProgress, tools } from './plan.ts';

export interface AgentWatch {
  /** Called while the model answers. */
  readonly onModel: () => void;
  /** Called inside a tool that must not run twice, before and after its effect. */
  readonly onEffect: (at: 'before-effect' | 'after-effect') => void;
  /** Changes the outside world. */
  readonly act: (tool: ToolName, key: string, session: string) => void;
}

const ignore: AgentWatch = { onModel: () => undefined, onEffect: () => undefined, act: () => undefined };

/** Time between two pieces of a slow answer. */
const pieceMs = 30;

interface Args {
  readonly session: string;
  readonly step: number;
}

/** Waits a few milliseconds or not at all, others for each call: some calls are interrupted before their effect, some after it. */
async function linger({ session, step }: Args, salt: number): Promise<void> {
  const ms = ((getIndex(session) * 7 + step * 13 + salt) % 5) - 1;
  if (ms > 0) await pause(ms);
}

function createTools({ onEffect, act }: AgentWatch): readonly FunctionTool[] {
  const input = {
    type: 'object',
    properties: { session: { type: 'string' }, step: { type: 'integer' }, heard: { type: 'string' } },
    required: ['session', 'step', 'heard'],
  } as const;
  const run = async (name: ToolName, args: Args, { idempotencyKey }: ToolContext): Promise<string> => {
    const isOnce = name === tools.once || name === tools.gated;
    await linger(args, 0);
    if (isOnce) onEffect('before-effect');
    if (name !== tools.pure) act(name, idempotencyKey, args.session);
    if (isOnce) onEffect('after-effect');
    await linger(args, 2);
    return createResult(name, args.session, args.step);
  };
  const define = (name: ToolName, more: object): FunctionTool =>
    defineTool({ name, description: `Does ${name}.`, input, run: (args, context) => run(name, args, context), ...more });
  return [
    define(tools.once, {}),
    define(tools.gated, { needsApproval: true }),
    define(tools.idempotent, { effect: 'idempotent' }),
    define(tools.pure, { effect: 'pure' }),
  ];
}

function createModel({ onModel }: AgentWatch): Model {
  return {
    provider: 'chaos',
    modelId: 'chaos',
    generate: async ({ messages }) => planAnswer(readProgress(messages)).outcome,
    stream: async ({ messages }, onDelta) => {
      const progress = readProgress(messages);
      const { text, outcome } = planAnswer(progress);
      onModel();
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

export const createChaosAgent = (watch: AgentWatch = ignore): Agent =>
  createAgent({
    id: 'chaos',
    model: createModel(watch),
    tools: createTools(watch),
    limits: { steps: Infinity, tokens: Infinity, wallMs: Infinity },
  });
