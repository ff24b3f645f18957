// The three clocks. Wall: fresh with each run. Active: time in steps, kept through pause and storage. Waiting: on people nowhere, on backoff
// on the wall only. Regression: a second input days later timed out at once, because the limit was measured from the session's start (001, 0.1).
import { describe, expect, test } from 'vitest';
import { ContinuationDecision, when } from '../continuation/index.ts';
import type { Failure } from '../errors/index.ts';
import { ErrorPolicy, RateLimitedError } from '../errors/index.ts';
import type { Script, ScriptedProcessOptions, ScriptedStep } from '../testing/index.ts';
import { createCountingIds, createFakeClock, createScriptedProcess, ScriptedState } from '../testing/index.ts';
import type { LoopEvent } from './loop-events.ts';
import { createStepByStep } from './step-by-step.ts';
import type { Wait } from './waiting.ts';

const day = 24 * 60 * 60 * 1000;
const approval: Wait = { type: 'approval', id: 'call-1', toolName: 'send_mail', args: {} };
const rateLimited: Failure = { type: 'rate_limit', code: 'rate-limited', message: 'slow down', retryable: true };
const goesOn: ScriptedStep = { text: 'One moment.', hasToolCalls: true };
const finishes: ScriptedStep = { text: 'Here it is.' };

function setUp(script: Script, options: ScriptedProcessOptions = {}) {
  const clock = createFakeClock();
  const events: LoopEvent[] = [];
  const sink = { emit: (event: unknown): void => void events.push(event as LoopEvent) };
  const process = createScriptedProcess(script, { clock, ...options });
  const orchestrator = createStepByStep(process, { clock, ids: createCountingIds(), random: () => 0.5, events: sink });
  const start = ScriptedState.empty({ clock, ids: createCountingIds('s') }).withUserMessage('Hello.');
  return { clock, events, process, orchestrator, start };
}

const reread = (state: ScriptedState): ScriptedState => ScriptedState.fromJSON(JSON.parse(JSON.stringify(state)));
const failsOnce =
  (failure: Failure): Script =>
  ({ stepCount }) =>
    stepCount === 0 ? { errors: [failure] } : finishes;

describe('a time limit is also a deadline', () => {
  test.each<[string, ScriptedProcessOptions['limits'], string]>([
    ['wall', { wallMs: 1000 }, 'ExecutionTimeLimit'],
    ['active', { activeMs: 1000 }, 'CumulativeExecutionTimeLimit'],
    ['wall, where active leaves more', { wallMs: 1000, activeMs: 5000 }, 'ExecutionTimeLimit'],
    ['active, where wall leaves more', { wallMs: 5000, activeMs: 1000 }, 'CumulativeExecutionTimeLimit'],
  ])('%s: a step that hangs is interrupted when it comes, and that is no error', async (_, limits, resolvedBy) => {
    const { orchestrator, start, clock } = setUp([{ hangs: 'listening' }], { limits: limits ?? {} });
    let end: ScriptedState | undefined;
    const running = orchestrator.run(start).then((state) => (end = state));
    await clock.advance(999);
    expect(end).toBeUndefined();
    await clock.advance(1);
    await running;
    expect([end?.status, end?.stopReason, end?.lastContinuationOutcome?.resolvedBy]).toStrictEqual(['stopped', 'time_limit', resolvedBy]);
    expect([end?.currentStep?.interrupted, end?.errors, end?.stepCount]).toStrictEqual(['deadline', [], 1]);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('a deaf step is abandoned a moment later', async () => {
    const { orchestrator, start, clock } = setUp([{ hangs: 'deaf' }], { limits: { wallMs: 1000 } });
    const running = orchestrator.run(start);
    await clock.advance(1100);
    const end = await running;
    expect([end.stopReason, end.currentStep?.interrupted, clock.pendingTimers()]).toStrictEqual(['time_limit', 'deadline', 0]);
    expect(end.lastStepResult?.timing.activeMs).toBeLessThanOrEqual(1100);
  });

  test('counts the steps before it', async () => {
    const { orchestrator, start, clock } = setUp([{ ...goesOn, takesMs: 700 }, { hangs: 'listening' }], { limits: { activeMs: 1000 } });
    const running = orchestrator.run(start);
    await clock.advance(0);
    await clock.advance(300);
    const end = await running;
    expect([end.stopReason, end.execution.activeMs, end.stepCount]).toStrictEqual(['time_limit', 1000, 2]);
  });

  test('a step that ends past the limit without hanging is kept whole and ends the run', async () => {
    const { orchestrator, start } = setUp([{ ...goesOn, takesMs: 1500 }], { limits: { wallMs: 1000 } });
    const end = await orchestrator.run(start);
    expect([end.status, end.stopReason, end.stepCount, end.text]).toStrictEqual(['stopped', 'time_limit', 1, 'One moment.']);
  });

  test('waiting for permission within a step gives active time back, not wall time', async () => {
    const step: ScriptedStep = { ...finishes, sleepsMs: 800 };
    const active = setUp([step], { limits: { activeMs: 500 } });
    const running = active.orchestrator.run(active.start);
    await active.clock.advance(800);
    const end = await running;
    expect([end.status, end.execution.activeMs, end.execution.waitedMs]).toStrictEqual(['completed', 0, 800]);
    expect(end.lastStepResult?.timing).toMatchObject({ activeMs: 0, waitedMs: 800 });

    const wall = setUp([step], { limits: { wallMs: 500 } });
    const cut = wall.orchestrator.run(wall.start);
    await wall.clock.advance(800);
    expect((await cut).stopReason).toBe('time_limit');
  });

  test('an active limit goes on counting after a wait', async () => {
    const { orchestrator, start, clock } = setUp([{ sleepsMs: 800, hangs: 'listening' }], { limits: { activeMs: 500 } });
    const running = orchestrator.run(start);
    await clock.advance(1300);
    const end = await running;
    expect([end.stopReason, end.execution.activeMs, end.execution.waitedMs]).toStrictEqual(['time_limit', 500, 800]);
  });

  test('between two steps of iterate the wall clock runs on, the active one does not', async () => {
    const wall = setUp([goesOn], { limits: { wallMs: 1000 } });
    const states = wall.orchestrator.iterate(wall.start);
    await states.next();
    await wall.clock.advance(1000);
    const next = (await states.next()).value;
    expect(next).toMatchObject({ stopReason: 'time_limit', currentStep: { interrupted: 'deadline' } });
    expect((await states.next()).done).toBe(true);

    const active = setUp([goesOn, finishes], { limits: { activeMs: 1000 } });
    const others = active.orchestrator.iterate(active.start);
    await others.next();
    await active.clock.advance(5000);
    expect((await others.next()).value).toMatchObject({ status: 'completed' });
  });

  test('an active limit alone leaves the wall clock alone', async () => {
    const { orchestrator, start, clock } = setUp([{ ...finishes, sleepsMs: 400_000 }], { limits: { activeMs: 60_000 } });
    const running = orchestrator.run(start);
    await clock.advance(400_000);
    const end = await running;
    expect([end.stopReason, end.execution.waitedMs]).toStrictEqual(['completed', 400_000]);
  });

  test('a criterion that cannot say how much time is left sets no deadline, and is judged like any other', async () => {
    const odd = {
      name: 'Odd',
      decide: () => ContinuationDecision.AllowContinuation,
      remainingMs: () => {
        throw new Error('no idea');
      },
    };
    const { orchestrator, start } = setUp([{ errors: [rateLimited] }], { extraCriteria: [odd] });
    expect((await orchestrator.run(start)).stopReason).toBe('error');
  });

  test('without a time limit no timer is set', async () => {
    const criteria = [when<ScriptedState>('Always', () => ContinuationDecision.RequestContinuation)];
    const { orchestrator, start, clock } = setUp([{ hangs: 'listening' }], { criteria });
    const controller = new AbortController();
    const running = orchestrator.run(start, { signal: controller.signal });
    await clock.advance(365 * day);
    expect(clock.pendingTimers()).toBe(0);
    controller.abort();
    expect((await running).stopReason).toBe('user_requested');
  });
});

describe('backoff', () => {
  test('counts on the wall only', async () => {
    const { orchestrator, start, clock } = setUp(failsOnce(rateLimited), { policy: ErrorPolicy.retryAll() });
    const running = orchestrator.run(start);
    await clock.advance(750);
    const end = await running;
    expect([end.status, end.execution.activeMs, end.execution.waitedMs]).toStrictEqual(['completed', 0, 750]);
    expect(end.stepResults.map(({ timing }) => timing.waitedMs)).toStrictEqual([0, 0]);
    expect(end.info.cumulativeExecutionSeconds).toBe(0);
  });

  test('is as long as the policy says, and no shorter', async () => {
    const { orchestrator, start, clock, events } = setUp(failsOnce({ ...rateLimited, retryAfterMs: 3000 }), {
      policy: ErrorPolicy.retryAll(),
    });
    const running = orchestrator.run(start);
    await clock.advance(2999);
    expect(events.at(-1)).toMatchObject({ type: 'RetryScheduled', delayMs: 3000 });
    await clock.advance(1);
    const end = await running;
    expect(end.stepResults[0]?.handling).toStrictEqual({
      decision: 'retry',
      errorType: 'rate_limit',
      consecutiveFailures: 1,
      totalFailures: 1,
      delayMs: 3000,
    });
  });

  test('ends at the wall limit', async () => {
    const options = { limits: { wallMs: 100 }, policy: ErrorPolicy.retryAll() };
    const { orchestrator, start, clock } = setUp([{ errors: [rateLimited] }], options);
    const running = orchestrator.run(start);
    await clock.advance(100);
    const end = await running;
    expect([end.status, end.stopReason, end.stepCount, clock.pendingTimers()]).toStrictEqual(['stopped', 'time_limit', 2, 0]);
    expect([end.currentStep?.interrupted, end.execution.waitedMs]).toStrictEqual(['deadline', 100]);
  });

  test('does not run into an active limit', async () => {
    const failing = failsOnce({ ...rateLimited, retryAfterMs: 30_000 });
    const { orchestrator, start, clock } = setUp(failing, { limits: { activeMs: 1000 }, policy: ErrorPolicy.retryAll() });
    const running = orchestrator.run(start);
    await clock.advance(30_000);
    expect((await running).status).toBe('completed');
  });

  test.each<[string, number, ScriptedProcessOptions['limits'], string]>([
    ['longer than a minute', 61_000, {}, 'asked for a 61 s wait, but the policy waits at most 60 s'],
    ['longer than the wall limit leaves', 5500, { wallMs: 5000 }, 'asked for a 5.5 s wait, but only 5 s of the time limit are left'],
    [
      'longer than the wall limit leaves, beside an active limit',
      5500,
      { wallMs: 5000, activeMs: 60_000 },
      'asked for a 5.5 s wait, but only 5 s of the time limit are left',
    ],
  ])('that a provider wants %s is not waited for, and the run ends with an error', async (_, retryAfterMs, limits, words) => {
    const failing: Script = [{ throws: new RateLimitedError('slow down', { retryAfterMs }) }];
    const { orchestrator, start, clock } = setUp(failing, { limits: limits ?? {}, policy: ErrorPolicy.retryAll() });
    const end = await orchestrator.run(start);
    expect([end.status, end.stopReason, end.stepCount, clock.pendingTimers()]).toStrictEqual(['failed', 'error', 1, 0]);
    expect(end.explain()).toContain(words);
    expect(end.lastStepResult?.handling).not.toHaveProperty('delayMs');
  });

  test.each([
    ['the rest of it is waited for after a resume', 100, 650],
    ['none of it is if it has passed', 750, 0],
    ['none of it is a week later', 7 * day, 0],
  ])('%s', async (_, pausedMs, restMs) => {
    const { orchestrator, start, clock, events } = setUp(failsOnce(rateLimited), { policy: ErrorPolicy.retryAll() });
    const failed = await orchestrator.nextStep(start);
    await clock.advance(pausedMs);
    const resumedAt = clock.now();
    const running = orchestrator.run(reread(failed));
    await clock.advance(restMs);
    const end = await running;
    expect([end.status, end.execution.waitedMs]).toStrictEqual(['completed', restMs]);
    expect(events.findLast(({ type }) => type === 'AgentStepStarted')?.at).toBe(resumedAt + restMs);
  });

  test('is not lengthened by a clock that was set back', async () => {
    const { process, start, clock } = setUp(failsOnce(rateLimited), { policy: ErrorPolicy.retryAll() });
    let shift = 0;
    const orchestrator = createStepByStep(process, { clock: { ...clock, now: () => clock.now() + shift }, random: () => 0.5 });
    const failed = await orchestrator.nextStep(start);
    shift = -day;
    const running = orchestrator.run(reread(failed));
    await clock.advance(750);
    const end = await running;
    expect([end.status, end.execution.waitedMs]).toStrictEqual(['completed', 750]);
  });
});

describe('waiting for a person counts nowhere', () => {
  test('a week between asking and answering', async () => {
    const script: Script = ({ stepCount }) =>
      stepCount === 0 ? { ...goesOn, waits: [approval], takesMs: 400 } : { ...finishes, takesMs: 100 };
    const { orchestrator, start, clock } = setUp(script, { limits: { wallMs: 1000, activeMs: 1000 } });
    const parked = await orchestrator.run(start);
    expect([parked.status, parked.execution.activeMs, clock.pendingTimers()]).toStrictEqual(['waiting', 400, 0]);
    await clock.advance(7 * day);
    const end = await orchestrator.run(reread(reread(parked).approve('call-1')));
    expect([end.status, end.stopReason]).toStrictEqual(['completed', 'completed']);
    expect([end.execution.activeMs, end.execution.waitedMs, end.info.cumulativeExecutionSeconds]).toStrictEqual([500, 0, 0.5]);
    const [first] = end.stepResults;
    expect(first?.timing).toStrictEqual({ startedAt: start.info.startedAt, endedAt: clock.now() - 100, activeMs: 400, waitedMs: 0 });
  });

  test('the work on both sides of a wait is the step’s', async () => {
    const { process, start, clock } = setUp([{ waits: [approval], takesMs: 400 }]);
    const slow: typeof process.produce = (state, scope) => {
      if (state.pendingStep !== undefined) clock.skip(60);
      return process.produce(state, scope);
    };
    const orchestrator = createStepByStep({ ...process, produce: slow }, { clock });
    const parked = await orchestrator.run(start);
    await clock.advance(day);
    const end = await orchestrator.run(parked.approve('call-1'));
    expect([end.lastStepResult?.timing.activeMs, end.execution.activeMs]).toStrictEqual([460, 460]);
    expect(end.info.cumulativeExecutionSeconds).toBeCloseTo(0.46);
  });
});

describe('the wall clock starts fresh', () => {
  test.each([
    ['in memory', (state: ScriptedState) => state],
    ['after storage', reread],
  ])('with a second input three days after a finished run, %s', async (_, kept) => {
    const { orchestrator, start, clock } = setUp([{ ...finishes, takesMs: 900 }], { limits: { wallMs: 1000 } });
    const first = kept(await orchestrator.run(start));
    await clock.advance(3 * day);
    const asked = kept(first.withUserMessage('And now?'));
    expect(orchestrator.hasNextStep(asked)).toBe(true);
    const second = await orchestrator.run(asked);
    expect([second.status, second.stopReason, second.stepCount]).toStrictEqual(['completed', 'completed', 1]);
    expect(second.execution.startedAt).toBe(clock.now() - 900);
    expect([second.info.startedAt, second.info.updatedAt]).toStrictEqual([start.info.startedAt, clock.now()]);
  });

  test.each([
    ['nextStep by nextStep', true],
    ['run', false],
  ])('on a long pause in the middle, stored, then %s: everything else is as it was', async (_, byHand) => {
    const script: Script = ({ stepCount }) =>
      stepCount === 0
        ? { ...goesOn, usage: { input: 7, output: 3 }, takesMs: 300 }
        : stepCount === 1
          ? { errors: [{ ...rateLimited, type: 'tool' }], takesMs: 200 }
          : { ...finishes, takesMs: 900 };
    const { orchestrator, start, clock } = setUp(script, { limits: { wallMs: 1000, activeMs: 1500 }, policy: ErrorPolicy.retryAll() });
    const two = await orchestrator.nextStep(await orchestrator.nextStep(start));
    const paused = reread(two);
    expect(JSON.stringify(two)).not.toContain('wallStartedAt');
    expect([two.execution.wallStartedAt, paused.execution.wallStartedAt]).toStrictEqual([start.info.startedAt + 300, undefined]);
    await clock.advance(7 * day);
    expect([paused.stepCount, paused.usage.total, paused.execution.activeMs, paused.execution.failedSteps]).toStrictEqual([2, 10, 500, 1]);
    expect([paused.status, paused.execution.id]).toStrictEqual(['in_progress', two.execution.id]);
    const end = byHand ? await orchestrator.nextStep(paused) : await orchestrator.run(paused);
    expect([end.status, end.stepCount, end.usage.total, end.execution.activeMs]).toStrictEqual(['completed', 3, 10, 1400]);
    expect([end.execution.startedAt, end.info.startedAt]).toStrictEqual([start.info.startedAt, start.info.startedAt]);
    expect(end.info.cumulativeExecutionSeconds).toBeCloseTo(1.4);
  });

  test.each([
    ['in memory', (state: ScriptedState) => state],
    ['after storage', reread],
  ])('with each nextStep, %s', async (_, kept) => {
    const script: Script = ({ stepCount }) => (stepCount < 3 ? { ...goesOn, takesMs: 900 } : { ...finishes, takesMs: 1000 });
    const { orchestrator, start, clock, events } = setUp(script, { limits: { wallMs: 1000 } });
    const one = kept(await orchestrator.nextStep(start));
    await clock.advance(7 * day);
    expect(orchestrator.hasNextStep(one)).toBe(true);
    const two = kept(await orchestrator.nextStep(one));
    const three = kept(await orchestrator.nextStep(two));
    for (const { status, lastStepResult } of [one, two, three]) {
      expect([status, lastStepResult?.step.interrupted]).toStrictEqual(['in_progress', undefined]);
      expect(lastStepResult?.outcome.getEvaluationFor('ExecutionTimeLimit')?.context['elapsedSeconds']).toBe(0.9);
    }
    // A single step is still bound by it.
    expect((await orchestrator.nextStep(three)).lastContinuationOutcome?.getForbiddingCriterion()).toBe('ExecutionTimeLimit');
    expect(events.filter(({ type }) => type === 'AgentExecutionStarted')).toHaveLength(1);
  });

  test('with nextStep, and the limit of active time bounds all steps together', async () => {
    const { orchestrator, start } = setUp([{ ...goesOn, takesMs: 400 }], { limits: { wallMs: 1000, activeMs: 1000 } });
    let state = start;
    while (orchestrator.hasNextStep(state)) state = await orchestrator.nextStep(state);
    expect([state.stopReason, state.stepCount, state.lastContinuationOutcome?.resolvedBy]).toStrictEqual([
      'time_limit',
      3,
      'CumulativeExecutionTimeLimit',
    ]);
  });

  test('the active limit survives pause and storage', async () => {
    const { orchestrator, start, clock } = setUp([{ ...goesOn, takesMs: 400 }], { limits: { activeMs: 1000 } });
    const one = reread(await orchestrator.nextStep(start));
    await clock.advance(day);
    const end = await orchestrator.run(one);
    expect([end.stopReason, end.stepCount, end.execution.activeMs]).toStrictEqual(['time_limit', 3, 1200]);
  });

  test('and restarts at 0 with a new execution, while the session’s figure goes on', async () => {
    const { orchestrator, start } = setUp([{ ...goesOn, takesMs: 600 }], { limits: { activeMs: 1000 } });
    const first = await orchestrator.run(start);
    const second = await orchestrator.run(reread(first.withUserMessage('Again.')));
    expect([second.stepCount, second.execution.activeMs, second.info.cumulativeExecutionSeconds]).toStrictEqual([2, 1200, 2.4]);
  });
});

describe('cumulative seconds', () => {
  test('are the sum of the steps’ active time, failed and interrupted steps included', async () => {
    const script: Script = ({ stepCount }) =>
      [
        { ...goesOn, takesMs: 100 },
        { errors: [{ ...rateLimited, type: 'tool' as const }], takesMs: 20 },
        { takesMs: 3, throws: new Error('broken') },
        { ...goesOn, sleepsMs: 5000 },
        { takesMs: 7, hangs: 'listening' as const },
      ][stepCount] ?? finishes;
    const { orchestrator, start, clock } = setUp(script, { policy: ErrorPolicy.retryAll(9) });
    const controller = new AbortController();
    const running = orchestrator.run(start, { signal: controller.signal });
    await clock.advance(8000);
    controller.abort();
    const end = await running;
    const spent = end.stepResults.map(({ timing }) => timing.activeMs);
    expect(spent.slice(0, 4)).toStrictEqual([100, 20, 3, 0]);
    const sum = spent.reduce((total, ms) => total + ms, 0);
    expect(end.stepCount).toBe(5);
    expect(end.execution.activeMs).toBe(sum);
    expect(end.info.cumulativeExecutionSeconds).toBeCloseTo(sum / 1000);
    expect(end.info.updatedAt).toBe(end.lastStepResult?.timing.endedAt);
  });

  test('agree with what was judged, however long the judging takes', async () => {
    const { process, start, clock } = setUp([{ ...goesOn, takesMs: 100 }], { limits: { steps: 2 } });
    const criteria = process.criteria.withCriteria({
      name: 'Slow',
      decide: () => {
        clock.skip(50);
        return 'allow';
      },
    });
    const end = await createStepByStep({ ...process, criteria }, { clock }).run(start);
    expect(end.stepResults.map(({ timing }) => [timing.activeMs, timing.endedAt - timing.startedAt])).toStrictEqual([
      [100, 100],
      [100, 100],
    ]);
    expect([end.execution.activeMs, end.info.cumulativeExecutionSeconds]).toStrictEqual([200, 0.2]);
  });

  test('count the work of inspect', async () => {
    const { process, start, clock } = setUp([{ ...finishes, takesMs: 100 }]);
    const inspect: typeof process.inspect = (candidate) => {
      clock.skip(40);
      return candidate.currentStep!;
    };
    const end = await createStepByStep({ ...process, inspect }, { clock }).run(start);
    expect([end.execution.activeMs, end.info.cumulativeExecutionSeconds, end.messages.length]).toStrictEqual([140, 0.14, 2]);
  });
});
