// Options that engines give to a run, so that every attempt at it comes out the same.
import { describe, expect, test } from 'vitest';
import { createCountingIds } from '../lib/index.ts';
import { createFakeClock, createScriptedProcess, ScriptedState } from '../testing/index.ts';
import type { Commit } from './run-options.ts';
import { createStepByStep } from './step-by-step.ts';

const goesOn = { text: 'One moment.', hasToolCalls: true };
const finishes = { text: 'Here it is.' };

function setUp(limits = {}) {
  const clock = createFakeClock(1_000_000);
  const loop = createStepByStep(createScriptedProcess([goesOn, finishes], { limits }), {
    clock,
    ids: createCountingIds('own'),
    random: () => 0.5,
  });
  return { clock, loop, start: ScriptedState.empty({ clock, ids: createCountingIds('s') }).withUserMessage('Go.') };
}

describe('a commit that returns a state', () => {
  test('decides what the run goes on with', async () => {
    const { loop, start } = setUp();
    const commit = async ({ state }: Commit<ScriptedState>): Promise<ScriptedState> =>
      ScriptedState.fromJSON(JSON.parse(JSON.stringify(state.withMetadata('stored', state.stepCount))));
    const end = await loop.run(start, { commit });
    expect([end.status, end.stepCount, end.metadata]).toStrictEqual(['completed', 2, { stored: 2 }]);
  });

  test('may do so at once, without a promise', async () => {
    const { loop, start } = setUp();
    const end = await loop.run(start, { commit: ({ state }) => state.withMetadata('stored', state.stepCount) });
    expect([end.stepCount, end.metadata]).toStrictEqual([2, { stored: 2 }]);
  });

  test.each([undefined, null, 'kept', { rows: 1 }])('keeps the state if it returns %j instead', async (returned) => {
    const { loop, start } = setUp();
    const end = await loop.run(start, { commit: () => returned });
    expect([end.status, end.stepCount]).toStrictEqual(['completed', 2]);
  });
});

test('a run takes ids of its own, the same at every attempt', async () => {
  const { loop, start } = setUp();
  const runs = await Promise.all([1, 2].map(() => loop.run(start, { ids: createCountingIds('attempt'), executionId: 'execution-1' })));
  const [first, second] = runs.map((state) =>
    state.steps.map(({ id, outputMessages }) => [id, ...outputMessages.map((message) => message.id)]),
  );
  expect(first).toStrictEqual(second);
  expect(first?.flat().every((id) => id.startsWith('attempt'))).toBe(true);
});

test('a run takes a clock of its own, for its events, its steps and its limits', async () => {
  const { loop, start } = setUp({ wallMs: 500 });
  const clock = createFakeClock(5_000);
  const times: number[] = [];
  const end = await loop.run(start, { clock, onEvent: ({ at }) => times.push(at) });
  expect([...new Set(times)]).toStrictEqual([5_000]);
  expect(end.stepResults.map(({ timing }) => timing.startedAt)).toStrictEqual([5_000, 5_000]);
});

test('the start of the wall clock can be given: a run in another process does not get its time anew', async () => {
  const { clock, loop, start } = setUp({ wallMs: 500 });
  const end = await loop.run(start, { wallStartedAt: clock.now() - 500 });
  expect([end.status, end.stopReason, end.stepCount]).toStrictEqual(['stopped', 'time_limit', 0]);
  const fresh = await loop.run(start);
  expect(fresh.status).toBe('completed');
});

test('a run that is left without a store keeps the numbers of its events', async () => {
  const { loop, start } = setUp();
  const numbers: number[] = [];
  const onEvent = ({ seq }: { readonly seq: number }): void => void numbers.push(seq);
  const left = await loop.run(start, { onEvent, between: () => ({ leave: true }) });
  await loop.run(left, { onEvent });
  expect(numbers).toStrictEqual(numbers.map((_, index) => index + 1));
});

test('a state with a later event number, returned by a commit, moves the numbers on', async () => {
  const { loop, start } = setUp();
  const numbers: number[] = [];
  await loop.run(start, {
    onEvent: ({ seq }) => numbers.push(seq),
    commit: ({ state }) => (state.stepCount === 1 ? state.evolve({ lastSeq: 100 }) : state),
  });
  expect(numbers.findIndex((seq) => seq > 100)).toBeGreaterThan(0);
  expect(numbers.filter((seq) => seq > 100)[0]).toBe(101);
});

test('a producer may return any thenable', async () => {
  const { start } = setUp();
  const process = createScriptedProcess([finishes]);
  const produce: typeof process.produce = (state, scope) => {
    const promise = process.produce(state, scope);
    // Holds because a thenable is all that the loop needs.
    return { then: promise.then.bind(promise) } as typeof promise;
  };
  expect((await createStepByStep({ ...process, produce }).run(start)).status).toBe('completed');
});
