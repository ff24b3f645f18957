import { describe, expect, test } from 'vitest';
import { createStepByStep } from '../step-by-step/index.ts';
import { createFakeClock } from '../lib/index.ts';
import { ConformanceError } from './conformance-error.ts';
import { holds, same } from './conformance.ts';
import type { Script } from './scripted-process.ts';
import { createScriptedProcess, ScriptedState } from './scripted-process.ts';

const run = (script: Script): Promise<ScriptedState> =>
  createStepByStep(createScriptedProcess(script, { limits: { steps: 4 } }), { clock: createFakeClock() }).run(ScriptedState.empty());

describe('a script', () => {
  test('plays its entries in order, and the last one again and again', async () => {
    const end = await run([
      { text: 'one', hasToolCalls: true },
      { text: 'two', hasToolCalls: true },
    ]);
    expect(end.messages.map(({ text }) => text)).toStrictEqual(['one', 'two', 'two', 'two']);
  });

  test('may be a function of the state', async () => {
    const end = await run(({ stepCount }) => ({ text: `step ${stepCount + 1}`, hasToolCalls: stepCount < 2 }));
    expect([end.text, end.status]).toStrictEqual(['step 3', 'completed']);
  });

  test('without entries says nothing and ends', async () => {
    const end = await run([]);
    expect([end.text, end.status, end.stepCount]).toStrictEqual(['', 'completed', 1]);
  });
});

describe('a claim of a suite', () => {
  test('that holds says nothing', () => {
    expect(() => {
      holds(true, 'never said');
      same({ a: 1 }, { a: 1 }, 'never said');
    }).not.toThrow();
  });

  test('that does not hold is a ConformanceError in words', () => {
    expect(() => holds(false, 'it slept on')).toThrow(new ConformanceError('it slept on'));
    expect(() => same([1], [2], 'numbers')).toThrow('numbers: expected [2], found [1]');
  });
});
