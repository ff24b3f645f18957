// Tools know the loop and the models by form only; here they meet the real ones.
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { OfferedTool, ProviderTool } from '../src/inference/index.ts';
import { createFakeClock } from '../src/lib/index.ts';
import type { EffectClass, Effects } from '../src/step-by-step/index.ts';
import { createDirectEffects, createRunControl } from '../src/step-by-step/index.ts';
import type { CallOutcome, EffectRunner, ProviderDefinedTool, ToolContext, ToolEffect } from '../src/tools/index.ts';
import { defineTool, runCalls, ToolSet } from '../src/tools/index.ts';

const forever = (): Promise<never> => new Promise(() => undefined);

function start(
  run: (args: unknown, ctx: ToolContext) => unknown,
  { interrupted = false, ...more }: { readonly timeoutMs?: number; readonly effect?: ToolEffect; readonly interrupted?: boolean } = {},
) {
  const [clock, control] = [createFakeClock(), createRunControl()];
  if (interrupted) control.interrupt('signal', new Error('enough'));
  const problems: unknown[] = [];
  const effects = createDirectEffects({ clock, control, onProblem: (error) => problems.push(error) });
  const set = ToolSet.from([defineTool({ name: 'work', description: '', input: {}, run, ...more })]);
  const outcomes = runCalls(set, [{ id: 'c', name: 'work', args: {} }], {
    run: (key, work, options) => effects.run(key, work, options),
    step: 1,
    idempotencyKey: ({ id }) => id,
    context: undefined,
    clock,
    signal: control.signal,
  });
  return { clock, control, problems, outcomes };
}

const executionOf = ([outcome]: readonly CallOutcome[]) => (outcome?.type === 'ended' ? outcome.execution : undefined);

describe('tools on the effects of the loop', () => {
  it('fit by form', () => {
    expectTypeOf<Effects['run']>().toExtend<EffectRunner>();
    expectTypeOf<ToolEffect>().toEqualTypeOf<EffectClass>();
    expectTypeOf<ProviderDefinedTool>().toEqualTypeOf<ProviderTool>();
    expectTypeOf<ReturnType<ToolSet['schemas']>>().toExtend<readonly OfferedTool[]>();
  });

  it('give values', async () => {
    const { outcomes, clock } = start(async () => ({ at: new Date(0) }));
    expect(executionOf(await outcomes)).toMatchObject({ status: 'succeeded', value: { at: '1970-01-01T00:00:00.000Z' } });
    expect(clock.pendingTimers()).toBe(0);
  });

  it('give values up to the size that can be stored, and fail above it', async () => {
    expect(executionOf(await start(() => 'x'.repeat(999_000)).outcomes)).toMatchObject({ status: 'succeeded' });
    for (const size of [999_990, 1_000_001]) {
      const execution = executionOf(await start(() => 'x'.repeat(size)).outcomes);
      expect(execution).toMatchObject({ status: 'failed', failure: { type: 'tool' } });
      expect(execution?.failure?.message).toContain('takes more than 1000000 bytes');
    }
  });

  it('fail as tools', async () => {
    const execution = executionOf(await start(() => Promise.reject(new Error('broken'))).outcomes);
    expect(execution).toMatchObject({ status: 'failed', failure: { type: 'tool', message: 'broken', readable: true } });
    expect(execution?.failure).not.toHaveProperty('kind');
  });

  it('end at their time-out under their own name', async () => {
    const { outcomes, clock } = start(forever, { timeoutMs: 100 });
    await clock.advance(100);
    expect(executionOf(await outcomes)).toMatchObject({
      status: 'failed',
      failure: { type: 'timeout', message: '"work" took longer than 100 ms.' },
    });
  });

  it.each([
    ['once', 'unknown'],
    ['pure', 'cancelled'],
    ['idempotent', 'cancelled'],
  ] as const)('are closed at once when the run is interrupted: %s', async (effect, status) => {
    const { outcomes, control, clock } = start(forever, { effect });
    await clock.advance(0);
    control.interrupt('signal', new Error('enough'));
    expect(executionOf(await outcomes)).toMatchObject({ status });
  });

  it('are cancelled where the run was interrupted before they began', async () => {
    const { outcomes } = start(() => 1, { interrupted: true });
    expect(executionOf(await outcomes)).toMatchObject({ status: 'cancelled' });
  });

  it('have their late results dropped, and reported', async () => {
    let finish: (value: string) => void = () => undefined;
    const { outcomes, control, clock, problems } = start(() => new Promise((resolve) => (finish = resolve)));
    await clock.advance(0);
    control.interrupt('signal', new Error('enough'));
    await outcomes;
    finish('late');
    await clock.advance(0);
    expect(problems).toMatchObject([{ code: 'late-result', key: 'tool/1/0' }]);
  });
});
