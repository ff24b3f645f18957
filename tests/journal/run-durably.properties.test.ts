// Over many plans of calls and kills: the same end, without repeated calls or gaps.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Kill, KillableProcess } from '../support/killable-process.ts';
import { createTools, findFaults, lateHook, runThroughKills } from '../support/killable-process.ts';
import { pickRuns } from '../support/test-scale.ts';
import { createAgent } from '../../src/agent/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

const calls = fc.array(fc.record({ name: fc.constantFrom('look', 'put', 'note', 'pay'), turns: fc.integer({ min: 0, max: 4 }) }), {
  minLength: 4,
  maxLength: 6,
});
const kills: fc.Arbitrary<Kill[]> = fc.array(fc.record({ at: fc.integer({ min: 0, max: 25 }), isRecorded: fc.boolean() }), {
  maxLength: 4,
});

test('an execution reaches the same end, whatever its calls are and whenever its processes are killed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(calls, { minLength: 1, maxLength: 4 }), kills, async (steps, planned) => {
      const create = (process: KillableProcess) =>
        createAgent({
          id: 'desk',
          model: scriptedModel(
            [
              ({ messages }) => {
                const number = messages.filter((message) => message.isAssistant()).length;
                const step = steps[number];
                if (step === undefined) return { text: 'Done.' };
                return { toolCalls: step.map(({ name, turns }, index) => ({ name, id: `c${number}-${index}`, args: { turns } })) };
              },
            ],
            { repeatLast: true },
          ),
          tools: createTools(process),
          hooks: [lateHook],
          ports: { onProblem: () => undefined },
        });
      const run = await runThroughKills(create, planned);
      expect([run.result.status, run.result.text, run.result.state.stepCount]).toStrictEqual(['completed', 'Done.', steps.length + 1]);
      expect(findFaults(run)).toStrictEqual([]);
    }),
    { numRuns: pickRuns({ quick: 40, slow: 1000 }) },
  );
});
