// What ten tool calls of one step cost, over awaiting the same ten functions by hand.
import { defineTool } from 'stepline';
import { createDirectEffects, createRunControl, systemClock } from 'stepline/step-by-step';
import { prepareCall, runCall, ToolSet } from 'stepline/tools';
import type { Contender } from './measure.ts';

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: { type: 'object', properties: { left: { type: 'number' }, right: { type: 'number' } }, required: ['left', 'right'] } as const,
  run: ({ left, right }) => Promise.resolve(left + right),
});
const tools = ToolSet.from([add]);
const calls = Array.from({ length: 10 }, (_, index) => ({ id: `call-${String(index)}`, name: 'add', args: { left: index, right: 1 } }));
const effects = createDirectEffects({ clock: systemClock, control: createRunControl(), onProblem: () => undefined });

export const tenTools: Contender = {
  name: 'ten tools in parallel',
  units: 1,
  work: async () => {
    const executions = await Promise.all(
      calls.map(async (call, index) => {
        const prepared = await prepareCall(tools, call, { context: undefined });
        if (prepared.type !== 'ready') throw new Error(`A call is ${prepared.type}.`);
        return runCall(prepared, { effects, key: `tool/1/${String(index)}`, idempotencyKey: call.id, context: undefined });
      }),
    );
    if (executions.some(({ status }) => status !== 'succeeded')) throw new Error('A call failed.');
  },
};

export const tenByHand: Contender = {
  name: 'ten functions by hand',
  units: 1,
  work: async () => {
    await Promise.all(calls.map(({ args }) => Promise.resolve(args.left + args.right)));
  },
};
