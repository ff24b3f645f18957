// Limits while a process lives, with a wall clock that is set forward or back.
import { describe, expect, test } from 'vitest';
import type { Failure } from '../errors/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import type { Script, ScriptedProcessOptions, ScriptedStep } from '../testing/index.ts';
import { createCountingIds, createFakeClock, createScriptedProcess, ScriptedState } from '../testing/index.ts';
import { createStepByStep } from './step-by-step.ts';

const hour = 60 * 60 * 1000;
const jumps = [
  ['back', -hour],
  ['forward', hour],
] as const;
const goesOn: ScriptedStep = { text: 'One moment.', hasToolCalls: true };
const rateLimited: Failure = { type: 'rate_limit', code: 'rate-limited', message: 'slow down', retryable: true };

function setUp(script: Script, options: ScriptedProcessOptions = {}) {
  const clock = createFakeClock();
  const process = createScriptedProcess(script, { clock, ...options });
  const orchestrator = createStepByStep(process, { clock, ids: createCountingIds(), random: () => 0.5 });
  const start = ScriptedState.empty({ clock, ids: createCountingIds('s') }).withUserMessage('Hello.');
  return { clock, orchestrator, start };
}

describe.each(jumps)('a wall clock that is set %s by an hour', (_, jumpMs) => {
  test.each<[string, ScriptedProcessOptions['limits']]>([
    ['wall', { wallMs: 1000 }],
    ['active', { activeMs: 1000 }],
  ])('neither extends nor cuts the %s limit of a step that hangs', async (_limit, limits) => {
    const { orchestrator, start, clock } = setUp([{ hangs: 'listening' }], { limits: limits ?? {} });
    let end: ScriptedState | undefined;
    const running = orchestrator.run(start).then((state) => (end = state));
    await clock.advance(400);
    clock.shiftWall(jumpMs);
    await clock.advance(599);
    expect(end).toBeUndefined();
    await clock.advance(1);
    await running;
    expect([end?.stopReason, end?.currentStep?.interrupted]).toStrictEqual(['time_limit', 'deadline']);
  });

  test('does not change how a step is judged by the wall limit', async () => {
    const { orchestrator, start, clock } = setUp([{ ...goesOn, takesMs: 400 }, { ...goesOn, takesMs: 400 }, { text: 'End.' }], {
      limits: { wallMs: 1000 },
    });
    const states = orchestrator.iterate(start);
    await states.next();
    clock.shiftWall(jumpMs);
    const second = (await states.next()).value;
    const judged = second?.lastContinuationOutcome?.evaluations.find(({ criterion }) => criterion === 'ExecutionTimeLimit');
    expect([second?.status, judged?.context]).toStrictEqual(['in_progress', { elapsedSeconds: 0.8, maxSeconds: 1 }]);
    expect((await states.next()).value).toMatchObject({ status: 'completed' });
  });

  test('does not change the wall limit of a step taken with nextStep', async () => {
    const { orchestrator, start, clock } = setUp([{ ...goesOn, takesMs: 400 }, { hangs: 'listening' }], { limits: { wallMs: 1000 } });
    const first = await orchestrator.nextStep(start);
    let second: ScriptedState | undefined;
    const running = orchestrator.nextStep(first).then((state) => (second = state));
    await clock.advance(400);
    clock.shiftWall(jumpMs);
    await clock.advance(599);
    expect(second).toBeUndefined();
    await clock.advance(1);
    await running;
    expect([second?.status, second?.stopReason]).toStrictEqual(['stopped', 'time_limit']);
  });

  test('leaves the times of steps and events on the wall clock', async () => {
    const { orchestrator, start, clock } = setUp([{ ...goesOn, takesMs: 400 }, { text: 'End.' }], { limits: { wallMs: 1000 } });
    const states = orchestrator.iterate(start);
    await states.next();
    clock.shiftWall(jumpMs);
    const end = (await states.next()).value;
    expect(end?.lastStepResult?.timing).toMatchObject({ startedAt: clock.now(), endedAt: clock.now() });
    expect(end?.info.updatedAt).toBe(clock.now());
  });

  test('neither extends nor cuts the wait before a retry', async () => {
    const script: Script = ({ stepCount }) => (stepCount === 0 ? { errors: [rateLimited] } : { text: 'End.' });
    const { orchestrator, start, clock } = setUp(script, { policy: ErrorPolicy.retryAll(3) });
    const states = orchestrator.iterate(start);
    const failed = (await states.next()).value;
    const delayMs = failed?.lastStepResult?.handling?.delayMs ?? 0;
    expect(delayMs).toBeGreaterThan(0);
    clock.shiftWall(jumpMs);
    let end: ScriptedState | undefined;
    const going = states.next().then(({ value }) => (end = value ?? undefined));
    await clock.advance(delayMs - 1);
    expect(end).toBeUndefined();
    await clock.advance(1);
    await going;
    expect(end?.status).toBe('completed');
  });
});
