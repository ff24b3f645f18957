// The agents that a session runtime is tested with: they do what the last message says, so that every process can create them.
//
// A message is a list of steps with `;` between them, and one that has no more steps is answered with "Done.":
//   `say Hello`          answers with these words. So does everything that is not an order.
//   `write one two@g x`  streams its words one by one, and waits behind `two` until gate g is open.
//   `down@g`             fails as a provider that has no capacity, until gate g is open.
//   `look 1 & pay 2@g`   calls tools in one step. Each records a line; then, with a gate, it waits until that is open.
import type { Agent, AgentOptions } from '../../agent/index.ts';
import { createAgent } from '../../agent/index.ts';
import { ErrorHandlingDecision, ErrorPolicy } from '../../errors/index.ts';
import type { ModelRequest } from '../../inference/index.ts';
import type { Clock, IdSource } from '../../lib/index.ts';
import { omitUndefined, sleep, systemClock } from '../../lib/index.ts';
import { defineHook } from '../../tool-use/index.ts';
import type { Tool, ToolContext } from '../../tools/index.ts';
import { defineClientTool, defineTool } from '../../tools/index.ts';
import type { ScriptedAnswer } from '../scripted-model.ts';
import { scriptedModel } from '../scripted-model.ts';

/** Services that a world provides to the agents, in the process that runs them. */
export interface AgentSurroundings {
  /** Keeps a line, whatever becomes of the process. */
  readonly record: (line: string) => void;
  /** Settles when a gate is open. Never settles in a process that has ended. */
  readonly pass: (gate: string) => Promise<void>;
  readonly isOpen: (gate: string) => boolean;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly onProblem?: (problem: unknown, where: string) => void;
}

/** The agents of the suite, by their ids. */
const AgentNames = {
  /** Does what it is told. */
  Desk: 'desk',
  /** Stops after two steps and waits for a grant. */
  Frugal: 'frugal',
  /** Has a minute. */
  Hasty: 'hasty',
} as const;

const usage = { input: 10, output: 5 };
const input = {
  type: 'object',
  properties: { amount: { type: 'number' }, gate: { type: 'string' } },
  required: ['amount'],
} as const;

interface Args {
  readonly amount: number;
  readonly gate?: string;
}

/** Records the effect, which has then happened, and waits. */
function createRun(name: string, { record, pass }: AgentSurroundings) {
  return async ({ amount, gate }: Args, { idempotencyKey }: ToolContext): Promise<string> => {
    record(`${name} ${amount} ${idempotencyKey}`);
    if (gate !== undefined) await pass(gate);
    return `${name} done`;
  };
}

function createTools(surroundings: AgentSurroundings): readonly Tool[] {
  const common = (name: string) => ({ name, description: `Does ${name}.`, input, run: createRun(name, surroundings) });
  return [
    defineTool({ ...common('look'), effect: 'pure' }),
    defineTool({ ...common('put'), effect: 'idempotent' }),
    defineTool({ ...common('note'), effect: 'once' }),
    defineTool({ ...common('pay'), effect: 'once', needsApproval: true }),
    defineClientTool({ name: 'ask', description: 'Asks the client.', input }),
  ];
}

const toolNames = /^(?:look|put|note|pay|ask)\b/;

function toCalls(order: string, messages: number): ScriptedAnswer {
  const toolCalls = order.split('&').map((call, index) => {
    const [, name = '', amount = '0', gate] = /^\s*(\w+)\s*([\d.]*)(?:@(\S+))?/.exec(call) ?? [];
    return { name, id: `c${messages}-${index}`, args: { amount: Number(amount), ...(gate !== undefined && { gate }) } };
  });
  return { toolCalls, usage };
}

async function* writeWords(words: readonly string[], pass: AgentSurroundings['pass']): AsyncGenerator<string> {
  for (const word of words) {
    const [text = '', gate] = word.split('@');
    yield `${text} `;
    if (gate !== undefined) await pass(gate);
  }
}

const noCapacity = { type: 'model', code: 'http-503', message: 'no capacity', retryable: true } as const;

function toAnswer(order: string, messages: number, { pass, isOpen }: AgentSurroundings): ScriptedAnswer {
  if (toolNames.test(order)) return toCalls(order, messages);
  const [, verb, rest = ''] = /^(write|down)[ @](.*)$/.exec(order) ?? [];
  if (verb === 'write') return { chunks: writeWords(rest.split(' '), pass), usage };
  if (verb === 'down') return isOpen(rest) ? { text: 'Up again.', usage } : { error: noCapacity };
  return { text: order.replace(/^say /, '') || 'Yes?', usage };
}

function createAnswer(surroundings: AgentSurroundings) {
  return ({ messages }: ModelRequest): ScriptedAnswer => {
    const last = messages.findLastIndex((message) => message.isUser());
    const step = messages.slice(last + 1).filter((message) => message.isAssistant()).length;
    const order = messages[last]?.text.split(';')[step]?.trim() ?? 'say Done.';
    surroundings.record(`model ${order}`);
    return toAnswer(order, messages.length, surroundings);
  };
}

/** Takes a moment before each call, so that calls of one step start in no fixed order. */
const lateHook = defineHook({
  name: 'late',
  changes: ['args'],
  beforeTool: async ({ call }) => {
    await sleep(systemClock, call.id.endsWith('-0') ? 2 : 0);
    return undefined;
  },
});

/** Changes the amount of an approved payment of 13, which then needs another approval. */
const rateHook = defineHook({
  name: 'rate',
  changes: ['args'],
  beforeTool: ({ call, approved }) => (approved && Reflect.get(Object(call.args), 'amount') === 13 ? { args: { amount: 14 } } : undefined),
});

/** Tries again at once. */
const policy = ErrorPolicy.retryToolErrors(3).withModelErrorHandling(ErrorHandlingDecision.Retry).withBackoff({ baseMs: 1, capMs: 1 });

/** Creates the agents of the suite. In every process alike: their sessions are continued anywhere. */
export function createConformanceAgents(surroundings: AgentSurroundings, release = '1'): readonly Agent[] {
  const { clock, ids, onProblem } = surroundings;
  const create = (id: string, limits: NonNullable<AgentOptions['limits']> = {}): Agent =>
    createAgent({
      id,
      version: release,
      model: scriptedModel([createAnswer(surroundings)], { repeatLast: true }),
      tools: createTools(surroundings),
      hooks: [lateHook, rateHook],
      limits,
      errors: policy,
      ports: omitUndefined({ clock, ids, onProblem }),
    });
  return [
    create(AgentNames.Desk),
    create(AgentNames.Frugal, { steps: 2, onLimit: 'pause' }),
    create(AgentNames.Hasty, { wallMs: 60_000, activeMs: 60_000 }),
  ];
}
