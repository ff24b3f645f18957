// A run of ten steps with every kind of work in it, written so that what each step does follows from what the model reads.
import type { Agent } from '../../src/entry/index.ts';
import { createAgent, defineHook, defineTool } from '../../src/entry/index.ts';
import type { FakeClock, IdSource } from '../../src/lib/index.ts';
import { createCountingIds, createFakeClock } from '../../src/lib/index.ts';
import { subAgents } from '../../src/capabilities/index.ts';
import type { ScriptedToolCall } from '../../src/testing/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import type { MortalProcess } from './mortal-process.ts';

/** The outside world: the number of times each piece of work was done, by idempotency key. */
export interface World {
  readonly clock: FakeClock;
  readonly ids: IdSource;
  readonly done: Map<string, number>;
}

export const createWorld = (): World => ({ clock: createFakeClock(), ids: createCountingIds(), done: new Map() });

const call = (id: string, name: string, args: ScriptedToolCall['args'] = {}): ScriptedToolCall => ({ id, name, args });

/** The calls of each step; the tenth has none. */
export const plan: readonly (readonly ScriptedToolCall[])[] = [
  [call('c1', 'charge', { what: 'one' })],
  [call('c2a', 'note', { what: 'two' }), call('c2b', 'look', { what: 'two' })],
  [call('c3', 'book', { what: 'three' })],
  [call('c4a', 'flaky', { attempt: 1 }), call('c4b', 'charge', { what: 'four' })],
  [call('c5', 'flaky', { attempt: 2 })],
  [call('c6a', 'pay', { what: 'six' }), call('c6b', 'look', { what: 'six' })],
  [call('c7', 'spawn_subagent', { subagent: 'clerk', prompt: 'File it.' })],
  [call('c8a', 'charge', { what: 'eight a' }), call('c8b', 'charge', { what: 'eight b' })],
  [call('c9a', 'book', { what: 'nine' }), call('c9b', 'note', { what: 'nine' })],
];

const innerPlan: readonly (readonly ScriptedToolCall[])[] = [
  [call('i1', 'charge', { what: 'inside' })],
  [call('i2', 'look', { what: 'inside' })],
];

const what = { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] } as const;
const attempt = { type: 'object', properties: { attempt: { type: 'number' } }, required: ['attempt'] } as const;

/** The tools, working in this world from within this process. */
function toolsIn({ done }: World, process: MortalProcess) {
  const doing = <Value>(key: string, name: string, value: () => Value): Promise<Value> =>
    process.work(`work ${name} ${key}`, () => {
      done.set(`${name} ${key}`, (done.get(`${name} ${key}`) ?? 0) + 1);
      return value();
    });
  const charge = defineTool({
    name: 'charge',
    description: 'Charges, once.',
    input: what,
    effect: 'once',
    run: (args, { idempotencyKey }) => doing(idempotencyKey, 'charge', () => `charged ${args.what}`),
  });
  const book = defineTool({
    name: 'book',
    description: 'Books, once, and can be asked about it.',
    input: what,
    effect: 'once',
    run: (args, { idempotencyKey }) => doing(idempotencyKey, 'book', () => `booked ${args.what}`),
    reconcile: (key) =>
      process.work(`reconcile ${key}`, () => (done.has(`book ${key}`) ? { happened: true, result: `found ${key}` } : { happened: false })),
  });
  const note = defineTool({
    name: 'note',
    description: 'Notes; the same note twice is one note.',
    input: what,
    effect: 'idempotent',
    run: (args, { idempotencyKey }) => doing(idempotencyKey, 'note', () => `noted ${args.what}`),
  });
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    input: what,
    effect: 'pure',
    run: (args, { idempotencyKey }) => doing(idempotencyKey, 'look', () => `saw ${args.what}`),
  });
  const flaky = defineTool({
    name: 'flaky',
    description: 'Fails the first time.',
    input: attempt,
    effect: 'idempotent',
    run: (args, { idempotencyKey }) =>
      doing(idempotencyKey, 'flaky', () => {
        if (args.attempt === 1) throw new Error('not the first time');
        return 'worked';
      }),
  });
  const pay = defineTool({
    name: 'pay',
    description: 'Pays, once, when a person agrees.',
    input: what,
    effect: 'once',
    needsApproval: true,
    run: (args, { idempotencyKey }) => doing(idempotencyKey, 'pay', () => `paid ${args.what}`),
  });
  return { charge, book, note, look, flaky, pay };
}

const usage = { input: 10, output: 1 };

/** A model that follows a plan by the number of answers that it has given already. */
function answerByPlan(steps: typeof plan, name: string, process: MortalProcess, last: (results: readonly string[]) => string) {
  return scriptedModel(
    [
      ({ messages }) => {
        const number = messages.filter((message) => message.isAssistant()).length;
        const read = messages.flatMap(({ toolResults }) => toolResults.map(({ output }) => JSON.stringify(output)));
        return process.work(`model ${name} ${number + 1}`, () => {
          const toolCalls = steps[number];
          return toolCalls === undefined ? { text: last(read), usage } : { text: `${name} ${number + 1}`, toolCalls, usage };
        });
      },
    ],
    { repeatLast: true },
  );
}

/** The agent, as this process has it. */
export function tenStepAgent(world: World, process: MortalProcess): Agent {
  const ports = { clock: world.clock, ids: world.ids, random: () => 0.5, onProblem: () => undefined };
  const { charge, look, ...others } = toolsIn(world, process);
  const clerk = createAgent({
    id: 'clerk',
    model: answerByPlan(innerPlan, 'inner', process, ([first]) => `Filed: ${first ?? 'nothing'}`),
    tools: { charge, look },
    ports,
  });
  const audit = defineHook({
    name: 'audit',
    changes: ['metadata'],
    afterStep: async ({ effects, stepNumber, executionId }) => {
      const key = `${executionId}/${stepNumber}`;
      const written = await effects.run(
        'write',
        () => process.work(`audit ${key}`, () => (world.done.set(`audit ${key}`, (world.done.get(`audit ${key}`) ?? 0) + 1), stepNumber)),
        { effect: 'idempotent' },
      );
      return { metadata: { [`audit${stepNumber}`]: written.ok ? written.value : written.kind } };
    },
  });
  return createAgent({
    id: 'ten-steps',
    model: answerByPlan(plan, 'outer', process, (read) => `Done after ${read.length} results.`),
    tools: { charge, look, ...others },
    capabilities: [subAgents({ agents: { clerk: { agent: clerk, description: 'Files.' } } })],
    hooks: [audit],
    ports,
  });
}
