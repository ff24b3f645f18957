// Calls on the effects of the loop.
import { describe, expect, it } from 'vitest';
import type { EffectClass } from '../src/effects/index.ts';
import { createDirectEffects } from '../src/effects/index.ts';
import { createFakeClock } from '../src/lib/index.ts';
import { createRunControl } from '../src/step-by-step/index.ts';
import type { ToolContext, ToolExecution } from '../src/tools/index.ts';
import { defineTool, prepareCall, runCall, ToolSet } from '../src/tools/index.ts';

const forever = (): Promise<never> => new Promise(() => undefined);

function start(
  run: (args: unknown, ctx: ToolContext) => unknown,
  { interrupted = false, ...more }: { readonly timeoutMs?: number; readonly effect?: EffectClass; readonly interrupted?: boolean } = {},
) {
  const [clock, control] = [createFakeClock(), createRunControl()];
  if (interrupted) control.interrupt('signal', new Error('enough'));
  const problems: unknown[] = [];
  const effects = createDirectEffects({ clock, control, onProblem: (error) => problems.push(error) });
  const set = ToolSet.from([defineTool({ name: 'work', description: 'A tool.', input: {}, run, ...more })]);
  const call = { id: 'c', name: 'work', args: {} };
  const runWork = async (): Promise<ToolExecution> => {
    const prepared = await prepareCall(set, call, { context: undefined, clock, signal: control.signal });
    if (prepared.type === 'ended') return prepared.execution;
    if (prepared.type !== 'ready') throw new Error(`the call is ${prepared.type}`);
    return runCall(prepared, { effects, clock, key: 'tool/1/0', idempotencyKey: 'c', context: undefined });
  };
  return { clock, control, problems, execution: runWork() };
}

describe('tools on the effects of the loop', () => {
  it('give values', async () => {
    const { execution, clock } = start(async () => ({ at: new Date(0) }));
    expect(await execution).toMatchObject({ status: 'succeeded', value: { at: '1970-01-01T00:00:00.000Z' } });
    expect(clock.pendingTimers()).toBe(0);
  });

  it('give values up to the size that can be stored, and fail above it', async () => {
    expect(await start(() => 'x'.repeat(999_000)).execution).toMatchObject({ status: 'succeeded' });
    for (const size of [999_990, 1_000_001]) {
      const execution = await start(() => 'x'.repeat(size)).execution;
      expect(execution).toMatchObject({ status: 'failed', failure: { type: 'tool' } });
      expect(execution.failure?.message).toContain('bytes as JSON, and at most 999900 can be stored. Return less');
    }
  });

  it('fail as tools', async () => {
    const execution = await start(() => Promise.reject(new Error('broken'))).execution;
    expect(execution).toMatchObject({ status: 'failed', failure: { type: 'tool', message: 'broken', readable: true } });
    expect(execution.failure).not.toHaveProperty('kind');
  });

  it('end at their time-out under their own name', async () => {
    const { execution, clock } = start(forever, { timeoutMs: 100 });
    await clock.advance(100);
    expect(await execution).toMatchObject({
      status: 'failed',
      failure: { type: 'timeout', message: '"work" took longer than 100 ms.' },
    });
  });

  it.each([
    ['once', 'unknown'],
    ['pure', 'cancelled'],
    ['idempotent', 'cancelled'],
  ] as const)('are closed at once when the run is interrupted: %s', async (effect, status) => {
    const { execution, control, clock } = start(forever, { effect });
    await clock.advance(0);
    control.interrupt('signal', new Error('enough'));
    expect(await execution).toMatchObject({ status });
  });

  it('are cancelled where the run was interrupted before they began', async () => {
    const { execution } = start(() => 1, { interrupted: true });
    expect(await execution).toMatchObject({ status: 'cancelled' });
  });

  it('have their late results dropped, and reported', async () => {
    let finish: (value: string) => void = () => undefined;
    const { execution, control, clock, problems } = start(() => new Promise((resolve) => (finish = resolve)));
    await clock.advance(0);
    control.interrupt('signal', new Error('enough'));
    await execution;
    finish('late');
    await clock.advance(0);
    expect(problems).toMatchObject([{ code: 'late-result', key: 'tool/1/0' }]);
  });
});
