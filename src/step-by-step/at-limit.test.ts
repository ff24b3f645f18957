import { describe, expect, test } from 'vitest';
import type { LimitKind } from '../continuation/index.ts';
import { stopWhen } from '../continuation/index.ts';
import { ErrorPolicy, ToolFailedError } from '../errors/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { Script, ScriptedProcessOptions } from '../testing/index.ts';
import { createScriptedProcess, ScriptedState } from '../testing/index.ts';
import type { Limits } from './index.ts';
import { createStepByStep } from './index.ts';

const goesOn = { hasToolCalls: true, text: 'working', usage: { input: 10, output: 5 } };

function setUp(script: Script, limits: Limits, options: ScriptedProcessOptions = {}) {
  const clock = createFakeClock();
  const finalizing: boolean[] = [];
  const scripted = createScriptedProcess(script, { limits, clock, ...options });
  const process: typeof scripted = {
    ...scripted,
    ...(limits.finalizeMs !== undefined && { finalizeMs: limits.finalizeMs }),
    produce: (state, scope) => {
      finalizing.push(scope.finalizing);
      return scripted.produce(state, scope);
    },
  };
  const ids = createCountingIds('id');
  const orchestrator = createStepByStep(process, { clock, ids });
  const start = ScriptedState.empty({ clock, ids }).withUserMessage('Go.', { ids });
  return { clock, orchestrator, start, finalizing };
}

const roundTrip = (state: ScriptedState): ScriptedState => ScriptedState.fromJSON(JSON.parse(JSON.stringify(state)));

describe('a limit that lets the run sum up', () => {
  const script: Script = ({ stepCount }) => (stepCount < 2 ? goesOn : { text: 'In short: half done.', usage: { input: 1, output: 1 } });

  test('takes one more step and then ends with the reason of the limit', async () => {
    const { orchestrator, start, finalizing } = setUp(script, { steps: 2, onLimit: 'finalize' });
    const end = await orchestrator.run(start);
    expect([end.status, end.stopReason, end.stepCount, end.text]).toStrictEqual(['stopped', 'steps_limit', 3, 'In short: half done.']);
    expect(finalizing).toStrictEqual([false, false, true]);
    expect(end.steps.map((step) => step.finalizing === true)).toStrictEqual([false, false, true]);
    expect(end.stepResults[1]?.outcome.getEvaluationFor('StepsLimit')).toMatchObject({ decision: 'allow', atLimit: 'finalize' });
    expect(end.stepResults[1]?.outcome.resolvedBy).toBe('Finalize');
    expect(end.explain()).toMatchInlineSnapshot(`
      "Stopped after step 3: the step limit was reached (2 of 2).
      Step 3 was one extra step, to sum up.
      Decided by StepsLimit.
      Next: Use the summary, or raise limits.steps if the work needs more steps.
      No objection: StopRequested, ErrorPolicyCriterion, FinishReasonCheck, PendingRetry, Finalize. Under the limit: TokenUsageLimit (32 of 32768), ExecutionTimeLimit."
    `);
  });

  test('ends at once where nothing was left to do', async () => {
    const { orchestrator, start, finalizing } = setUp([goesOn, { text: 'Done.' }], { steps: 2, onLimit: 'finalize' });
    const end = await orchestrator.run(start);
    expect([end.status, end.stopReason, finalizing.length]).toStrictEqual(['completed', 'steps_limit', 2]);
  });

  test('sums up where a retry would not fit any more', async () => {
    const { orchestrator, start, finalizing } = setUp(
      ({ stepCount }) => (stepCount === 0 ? { throws: new ToolFailedError('broken') } : { text: 'It is broken.' }),
      { steps: 1, onLimit: 'finalize' },
      { policy: ErrorPolicy.retryToolErrors(5) },
    );
    const end = await orchestrator.run(start);
    expect([end.status, end.stopReason, finalizing]).toStrictEqual(['stopped', 'steps_limit', [false, true]]);
  });

  test('has time of its own where the clock on the wall ran out, and no more of it than that', async () => {
    const { clock, orchestrator, start, finalizing } = setUp(
      ({ stepCount }) => (stepCount === 0 ? { hangs: 'listening' } : { hangs: 'deaf' }),
      { wallMs: 1000, onLimit: 'finalize', finalizeMs: 500 },
    );
    const running = orchestrator.run(start);
    await clock.advance(1000);
    expect(finalizing).toStrictEqual([false, true]);
    await clock.advance(499);
    let settled = false;
    void running.then(() => (settled = true));
    await clock.advance(0);
    expect(settled).toBe(false);
    await clock.advance(60);
    const end = await running;
    expect([end.status, end.stopReason, end.stepCount]).toStrictEqual(['stopped', 'time_limit', 2]);
    expect(end.steps.map(({ interrupted }) => interrupted)).toStrictEqual(['deadline', 'deadline']);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('sums up after the wall clock ran out, and the grace of the step before does not cut it off', async () => {
    const { clock, orchestrator, start } = setUp(
      ({ stepCount }) => (stepCount === 0 ? { hangs: 'deaf' } : { sleepsMs: 200, text: 'In short.' }),
      { wallMs: 1000, onLimit: 'finalize' },
    );
    const running = orchestrator.run(start);
    await clock.advance(1050);
    await clock.advance(200);
    const end = await running;
    expect([end.status, end.stopReason, end.text, end.lastStepResult?.step.interrupted]).toStrictEqual([
      'stopped',
      'time_limit',
      'In short.',
      undefined,
    ]);
  });

  test('ends for the limit although its clock began anew when the summary was taken up after a pause', async () => {
    const { clock, orchestrator, start } = setUp(({ stepCount }) => (stepCount === 0 ? { hangs: 'listening' } : { text: 'In short.' }), {
      wallMs: 1000,
      onLimit: 'finalize',
    });
    const stepping = orchestrator.nextStep(start);
    await clock.advance(1000);
    const cut = roundTrip(await stepping);
    expect(cut.status).toBe('in_progress');
    const end = await orchestrator.run(cut);
    expect([end.status, end.stopReason, end.stepCount]).toStrictEqual(['stopped', 'time_limit', 2]);
  });

  test('yields to whoever forbids for another reason', async () => {
    const { orchestrator, start, finalizing } = setUp(
      [goesOn],
      { steps: 1, onLimit: 'finalize' },
      { extraCriteria: [stopWhen('Closed', ({ stepCount }) => stepCount === 1 && 'the office is closed')] },
    );
    const end = await orchestrator.run(start);
    expect([end.stopReason, finalizing.length]).toStrictEqual(['guard', 1]);
  });

  test('keeps a summary that failed as a step that failed', async () => {
    const { orchestrator, start } = setUp(({ stepCount }) => (stepCount < 1 ? goesOn : { throws: new Error('no summary') }), {
      steps: 1,
      onLimit: 'finalize',
    });
    const end = await orchestrator.run(start);
    expect([end.status, end.stopReason, end.stepCount, end.errors[0]?.message]).toStrictEqual(['failed', 'error', 2, 'no summary']);
  });
});

describe('a limit that waits for a grant', () => {
  const endless: Script = [goesOn];

  test('records its outcome, waits, and goes on with what was granted', async () => {
    const { orchestrator, start } = setUp(endless, { steps: 2, onLimit: 'pause' });
    const waiting = await orchestrator.run(start);
    expect([waiting.status, waiting.stopReason, waiting.lastStepResult?.stopReason]).toStrictEqual(['waiting', undefined, 'steps_limit']);
    expect(waiting.waitingFor).toStrictEqual([{ type: 'grant', id: 'grant/steps', limit: 'steps' }]);
    expect(waiting.explain()).toMatchInlineSnapshot(`
      "Waiting after step 2 for more steps: the step limit was reached (2 of 2).
      Decided by StepsLimit.
      ToolCallPresenceCheck asked for another step: the model has not answered yet.
      Next: Grant more with grant({ steps }), or reject "grant/steps" to end the run.
      No objection: StopRequested, ErrorPolicyCriterion, FinishReasonCheck, PendingRetry. Under the limit: TokenUsageLimit (30 of 32768), ExecutionTimeLimit."
    `);
    expect(orchestrator.hasNextStep(waiting)).toBe(false);
    expect(await orchestrator.run(waiting)).toBe(waiting);

    const granted = roundTrip(roundTrip(waiting).grant({ steps: 3 }));
    expect([granted.status, granted.waitingFor, orchestrator.hasNextStep(granted)]).toStrictEqual(['in_progress', [], true]);
    const again = await orchestrator.run(granted);
    expect([again.status, again.stepCount]).toStrictEqual(['waiting', 5]);
    expect(again.lastStepResult?.outcome.getEvaluationFor('StepsLimit')?.context).toMatchObject({ currentSteps: 5, maxSteps: 5 });
    expect(again.execution.grants).toStrictEqual([{ steps: 3 }]);
  });

  test.each<[LimitKind, Limits, Parameters<ScriptedState['grant']>[0]]>([
    ['steps', { steps: 1 }, { steps: 1 }],
    ['tokens', { tokens: 10 }, { tokens: 10 }],
    ['active', { activeMs: 100, wallMs: 1_000_000 }, { activeMs: 100 }],
    ['wall', { wallMs: 100 }, { wallMs: 100 }],
  ])('%s: stops where it says, and goes on from there', async (limit, limits, grant) => {
    const { orchestrator, start } = setUp([{ ...goesOn, takesMs: 100 }], { ...limits, onLimit: 'pause' });
    const waiting = roundTrip(await orchestrator.run(start));
    expect([waiting.stepCount, waiting.waitingFor]).toStrictEqual([1, [{ type: 'grant', id: `grant/${limit}`, limit }]]);
    const again = await orchestrator.run(waiting.grant(grant));
    expect([again.status, again.waitingFor.map(({ type }) => type)]).toStrictEqual(['waiting', ['grant']]);
    expect(again.stepCount).toBeGreaterThan(1);
  });

  test('waits again where another limit still stands in the way', async () => {
    const { orchestrator, start } = setUp(endless, { steps: 1, tokens: 10, onLimit: 'pause' });
    const waiting = await orchestrator.run(start);
    expect(waiting.waitingFor.map(({ id }) => id)).toStrictEqual(['grant/steps', 'grant/tokens']);
    const events: string[] = [];
    const again = await orchestrator.run(waiting.grant({ steps: 5 }), { onEvent: ({ type }) => events.push(type) });
    expect([again.status, again.stepCount, again.waitingFor.map(({ id }) => id)]).toStrictEqual(['waiting', 1, ['grant/tokens']]);
    expect(events).toStrictEqual(['AgentExecutionStarted', 'ContinuationEvaluated', 'AgentStateUpdated', 'AgentFinished']);
    const on = await orchestrator.run(roundTrip(again).grant({ tokens: 15 }));
    expect([on.stepCount, on.startOutcome]).toStrictEqual([2, undefined]);
  });

  test('a new message is refused; after a cancel it opens the next execution, whose limits start over', async () => {
    const { orchestrator, start } = setUp(endless, { steps: 2, onLimit: 'pause' });
    const waiting = await orchestrator.run(start);
    expect(() => waiting.withUserMessage('Something else.')).toThrow(
      'The message was not taken: grant/steps is waited for. Raise the limit with grant(amounts), or end the execution with cancel(reason).',
    );
    const next = waiting.cancel('enough').withUserMessage('Something else.');
    expect([next.status, next.stepCount, next.execution.number]).toStrictEqual(['pending', 0, 2]);
    const again = await orchestrator.run(next);
    expect([again.status, again.stepCount]).toStrictEqual(['waiting', 2]);
  });

  test('ends where nothing was left to do, and where somebody else forbids too', async () => {
    const done = setUp([{ text: 'Done.' }], { steps: 1, onLimit: 'pause' });
    expect((await done.orchestrator.run(done.start)).status).toBe('completed');
    const stopped = setUp([goesOn], { steps: 1, onLimit: 'pause' }, { finishReasons: ['length'] });
    const end = await stopped.orchestrator.run(stopped.start);
    expect(end.status).toBe('waiting');
    const both = setUp([{ ...goesOn, finishReason: 'length' }], { steps: 1, onLimit: 'pause' }, { finishReasons: ['length'] });
    expect(await both.orchestrator.run(both.start)).toMatchObject({ status: 'stopped', stopReason: 'steps_limit' });
  });
});

describe('a grant', () => {
  test('raises limits of an execution that has not begun, too', async () => {
    const { orchestrator, start } = setUp([goesOn], { steps: 1 });
    const end = await orchestrator.run(start.grant({ steps: 1 }).grant({ steps: 1 }));
    expect([end.stepCount, end.stopReason]).toStrictEqual([3, 'steps_limit']);
  });

  test('belongs to its execution', async () => {
    const { orchestrator, start } = setUp([goesOn], { steps: 1 });
    const end = await orchestrator.run(start.grant({ steps: 1 }));
    expect((await orchestrator.run(end.withUserMessage('Again.'))).stepCount).toBe(1);
  });

  test('is refused where there is nothing to raise', async () => {
    const { orchestrator, start } = setUp([{ text: 'Done.' }], {});
    const end = await orchestrator.run(start);
    expect(() => end.grant({ steps: 1 })).toThrow(
      'Cannot grant more: this execution has ended (completed). Send a message to start a new one.',
    );
  });

  test.each([
    [{}, 'The grant is empty. Pass at least one of steps, tokens, wallMs, activeMs, costUsd.'],
    [{ steps: 0 }, 'grant(): steps must be a whole number of 1 or more, not 0.'],
    [{ steps: 1.5 }, 'grant(): steps must be a whole number of 1 or more, not 1.5.'],
    [{ tokens: Number.NaN }, 'grant(): tokens must be a whole number of 1 or more, not NaN.'],
    [{ tokens: 0.5 }, 'grant(): tokens must be a whole number of 1 or more, not 0.5.'],
    [{ costUsd: -0.5 }, 'grant(): costUsd must be a number above 0, not -0.5.'],
    [{ seconds: 3 }, 'Unknown option "seconds" in grant(). Valid options: steps, tokens, wallMs, activeMs, costUsd.'],
  ])('%o is refused', (grant, message) => {
    expect(() => ScriptedState.empty().grant(grant as never)).toThrow(message);
  });
});

describe('limits', () => {
  test('Infinity takes one away', async () => {
    const { orchestrator, start } = setUp(({ stepCount }) => (stepCount < 40 ? goesOn : { text: 'Done.' }), {
      steps: Infinity,
      tokens: Infinity,
      wallMs: Infinity,
    });
    const end = await orchestrator.run(start);
    expect([end.stepCount, end.status]).toStrictEqual([41, 'completed']);
    expect(end.lastStepResult?.outcome.evaluations.map(({ criterion }) => criterion)).not.toContain('StepsLimit');
  });

  test.each([
    [{ step: 3 }, 'Unknown option "step" in limits'],
    [{ onLimit: 'wait' }, 'limits.onLimit must be one of stop, finalize, pause, not "wait".'],
    [{ finalizeMs: 0 }, 'finalizeMs must be a number above 0, not 0.'],
    [{ steps: -1 }, 'limits.steps must be a number of 0 or more, or Infinity, not -1.'],
  ])('%o is refused', (limits, message) => {
    expect(() => setUp([goesOn], limits as Limits)).toThrow(message);
  });
});
