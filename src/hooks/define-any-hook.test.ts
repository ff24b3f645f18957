import { describe, expect, test } from 'vitest';
import { StepsLimit } from '../continuation/index.ts';
import type { RunState } from '../step-by-step/index.ts';
import { createChain, numberHooks } from './chain-of.ts';
import { defineAnyHook } from './define-any-hook.ts';
import { guardHook } from './guard-hook.ts';
import { changesAt, hookChanges } from './hook-change.ts';
import { HookPoint } from './hook-point.ts';

const nothing = (): undefined => undefined;
const about = { name: 'test', price: undefined, watchesCost: false };

describe('a hook', () => {
  test('says where it takes part, in which order, and what it may change', () => {
    const hook = defineAnyHook({ name: 'h', order: 3, changes: ['votes', 'args'], beforeTool: nothing, afterStep: nothing });
    expect(hook).toMatchObject({
      name: 'h',
      order: 3,
      points: ['before_tool', 'after_step'],
      changes: ['votes', 'args'],
      timeoutMs: 30_000,
    });
    expect(Object.isFrozen(hook)).toBe(true);
  });

  test('can change at each point only what there is to change there', () => {
    expect(Object.keys(changesAt)).toStrictEqual(Object.values(HookPoint));
    expect([changesAt.execution_end, new Set(Object.values(changesAt).flat()).size]).toStrictEqual([[], hookChanges.length]);
  });
});

describe('a chain', () => {
  test('is there only where there are hooks, and in their order', () => {
    const [late, early] = [
      defineAnyHook({ name: 'late', order: 9, beforeStep: nothing }),
      defineAnyHook({ name: 'early', beforeStep: nothing }),
    ];
    expect(createChain({ ...about, hooks: [] })).toBeUndefined();
    expect(createChain({ ...about, hooks: [late, early] })?.hooks.map(({ name }) => name)).toStrictEqual(['early', 'late']);
  });

  test.each<[string, readonly unknown[], RegExp]>([
    ['no hooks', [{ name: 'x' }], /hooks\[0\] is not a hook/],
    ['a hook and none', [defineAnyHook({ name: 'a', beforeStep: nothing }), 5], /hooks\[1\] is not a hook/],
  ])('refuses %s', (_, hooks, message) => {
    expect(() => numberHooks(hooks as never, [])).toThrow(message);
  });

  test('numbers hooks whose names are taken, and leaves the others as they are', () => {
    const hooks = [
      defineAnyHook({ name: 'a', beforeStep: nothing }),
      defineAnyHook({ name: 'b', changes: ['votes'], beforeStep: nothing }),
      defineAnyHook({ name: 'a', order: -1, afterStep: nothing }),
      guardHook(new StepsLimit<RunState>(1, ({ stepCount }) => stepCount)),
    ];
    const numbered = numberHooks(hooks, ['StepsLimit', 'b', 'StepsLimit#2']);
    expect(numbered.map(({ name }) => name)).toStrictEqual(['a', 'b#2', 'a#2', 'StepsLimit#3']);
    expect([numbered[0] === hooks[0], numbered[3]?.guard?.name]).toStrictEqual([true, 'StepsLimit#3']);
    expect(numbered.map(({ handlers, order, points }) => [handlers, order, points])).toStrictEqual(
      hooks.map(({ handlers, order, points }) => [handlers, order, points]),
    );
    expect(numbered[2]?.handlers).toBe(hooks[2]?.handlers);
    expect(numberHooks(numbered, []).map(({ name }) => name)).toStrictEqual(['a', 'b#2', 'a#2', 'StepsLimit#3']);
  });

  test('calls nobody after a step who only looks on, and no guard: that is a criterion', () => {
    const guard = guardHook(new StepsLimit<RunState>(1, ({ stepCount }) => stepCount), { name: 'Few' });
    const chain = createChain({ ...about, hooks: [defineAnyHook({ name: 'watch', afterStep: nothing }), guard] });
    expect([chain?.has('after_step'), guard.guard?.name, guard.points]).toStrictEqual([false, 'Few', ['after_step']]);
  });
});

describe('a guard as a hook', () => {
  const limit = new StepsLimit<RunState>(1, ({ stepCount }) => stepCount);

  test.each([[[]], [['before_tool']]])('cannot be asked at %o', (at) => {
    expect(() => guardHook(limit, { at: at as never })).toThrow(
      'guardHook(): at must be a list of any of execution_start, before_step, after_step',
    );
  });

  test('joins the criteria only where it is asked after steps', () => {
    expect(guardHook(limit, { at: ['before_step'] })).not.toHaveProperty('guard');
    expect(guardHook(limit, { at: ['before_step', 'after_step'] }).guard?.name).toBe('StepsLimit');
  });
});
