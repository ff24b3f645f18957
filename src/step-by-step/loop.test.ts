import { describe, expect, test } from 'vitest';
import { ContinuationCriteria, ContinuationDecision, when } from '../continuation/index.ts';
import type { Effects } from '../effects/index.ts';
import type { Failure } from '../errors/index.ts';
import { ErrorPolicy, RateLimitedError } from '../errors/index.ts';
import type { EventHeader } from '../events/index.ts';
import { BaseEvent, createEventBus } from '../events/index.ts';
import { Message } from '../messages/index.ts';
import type { Script, ScriptedProcessOptions, ScriptedStep, ScriptedStepData } from '../testing/index.ts';
import { createCountingIds, createFakeClock, createScriptedProcess, orchestratorConformance, ScriptedState } from '../testing/index.ts';
import type { LoopEvent } from './loop-events.ts';
import type { Commit } from './run-options.ts';
import { createStepByStep } from './step-by-step.ts';
import type { StepProcess } from './step-process.ts';
import type { Wait } from './waiting.ts';

const approval: Wait = { type: 'approval', id: 'call-1', toolName: 'send_mail', args: {} };
const toolError: Failure = { type: 'tool', code: 'not-found', message: 'no such file', retryable: true };
const rateLimited: Failure = { type: 'rate_limit', code: 'rate-limited', message: 'slow down', retryable: true };
const goesOn: ScriptedStep = { text: 'One moment.', hasToolCalls: true, usage: { input: 2, output: 1 } };
const finishes: ScriptedStep = { text: 'Here it is.' };

type Changes = Partial<StepProcess<ScriptedState>>;

function setUp(script: Script, options: ScriptedProcessOptions = {}, changes: Changes = {}) {
  const clock = createFakeClock();
  const ids = createCountingIds();
  const events: LoopEvent[] = [];
  const problems: unknown[] = [];
  const onProblem = (error: unknown): void => void problems.push(error);
  const bus = createEventBus(onProblem);
  bus.wiretap((event) => events.push(event as LoopEvent));
  const process = { ...createScriptedProcess(script, { clock, ...options }), ...changes };
  const orchestrator = createStepByStep(process, { clock, ids, random: () => 0.5, events: bus, onProblem });
  const start = ScriptedState.empty({ clock, ids, agentId: 'agent-1' }).withUserMessage('Hello.', { ids });
  const types = (): readonly string[] => events.map(({ type, stepNumber }) => `${stepNumber} ${type}`);
  return { clock, events, problems, bus, process, orchestrator, start, types };
}

const restore = (stored: string): ScriptedState => ScriptedState.fromJSON(JSON.parse(stored));
const reread = (state: ScriptedState): ScriptedState => restore(JSON.stringify(state));

async function collect(states: AsyncIterable<ScriptedState>): Promise<readonly ScriptedState[]> {
  const all: ScriptedState[] = [];
  for await (const state of states) all.push(state);
  return all;
}

/** A criterion that has no opinion until it throws. */
const throwsFrom = (stepCount: number) =>
  when<ScriptedState>('Broken', (state) => {
    if (state.stepCount >= stepCount) throw new Error('cannot say');
    return ContinuationDecision.AllowContinuation;
  });

describe('what is told, in order', () => {
  test('two good steps', async () => {
    const { orchestrator, start, types } = setUp([goesOn, finishes]);
    await orchestrator.run(start);
    expect(types()).toStrictEqual([
      '0 AgentExecutionStarted',
      '1 AgentStepStarted',
      '1 ContinuationEvaluated',
      '1 AgentStateUpdated',
      '1 AgentStepCompleted',
      '1 TokenUsageReported',
      '2 AgentStepStarted',
      '2 ContinuationEvaluated',
      '2 AgentStateUpdated',
      '2 AgentStepCompleted',
      '2 AgentFinished',
    ]);
  });

  test('a failing step takes the same road, and ends with AgentFailed, then AgentFinished', async () => {
    const { orchestrator, start, types, events } = setUp([{ throws: new Error('broken') }]);
    await orchestrator.run(start);
    expect(types()).toStrictEqual([
      '0 AgentExecutionStarted',
      '1 AgentStepStarted',
      '1 ContinuationEvaluated',
      '1 AgentStateUpdated',
      '1 AgentStepCompleted',
      '1 AgentFailed',
      '1 AgentFinished',
    ]);
    expect(events.slice(-2)).toMatchObject([
      { status: 'failed', stopReason: 'error', resolvedBy: 'ErrorPolicyCriterion', errors: [{ message: 'broken' }], stepCount: 1 },
      { status: 'failed', stopReason: 'error', stepCount: 1 },
    ]);
  });

  test('a retry with a wait is announced', async () => {
    const script: Script = ({ stepCount }) => (stepCount === 0 ? { throws: new RateLimitedError('slow down') } : finishes);
    const { orchestrator, start, types, events, clock } = setUp(script, { policy: ErrorPolicy.retryAll(3) });
    const running = orchestrator.run(start);
    await clock.advance(750);
    await running;
    expect(types()).toStrictEqual([
      '0 AgentExecutionStarted',
      '1 AgentStepStarted',
      '1 ContinuationEvaluated',
      '1 AgentStateUpdated',
      '1 AgentStepCompleted',
      '1 RetryScheduled',
      '2 AgentStepStarted',
      '2 ContinuationEvaluated',
      '2 AgentStateUpdated',
      '2 AgentStepCompleted',
      '2 AgentFinished',
    ]);
    expect(events[5]).toMatchObject({ delayMs: 750, errorType: 'rate_limit', failures: 1 });
  });

  test('a retry without a wait is not announced', async () => {
    const script: Script = ({ stepCount }) => (stepCount === 0 ? { errors: [toolError] } : finishes);
    const { orchestrator, start, types } = setUp(script, { policy: ErrorPolicy.retryAll(3) });
    expect((await orchestrator.run(start)).status).toBe('completed');
    expect(types().filter((type) => type.includes('Retry'))).toStrictEqual([]);
  });

  test('a refused start', async () => {
    const { orchestrator, start, types, events } = setUp([finishes], { limits: { steps: 0 } });
    await orchestrator.run(start);
    expect(types()).toStrictEqual(['0 AgentExecutionStarted', '0 ContinuationEvaluated', '0 AgentStateUpdated', '0 AgentFinished']);
    expect(events.at(-1)).toMatchObject({ status: 'stopped', stopReason: 'steps_limit', resolvedBy: 'StepsLimit', stepCount: 0 });
  });

  test('a step that waits, and is taken up again', async () => {
    const { orchestrator, start, types, events } = setUp([{ ...goesOn, waits: [approval] }, finishes]);
    const parked = await orchestrator.run(start);
    expect(types()).toStrictEqual(['0 AgentExecutionStarted', '1 AgentStepStarted', '1 AgentStateUpdated', '1 AgentFinished']);
    expect(events.at(-1)).toMatchObject({ status: 'waiting', stepCount: 0 });
    expect(events.at(-1)).not.toHaveProperty('stopReason');
    events.length = 0;
    await orchestrator.run(parked.approve('call-1'));
    expect(types()).toStrictEqual([
      '0 AgentExecutionStarted',
      '1 ContinuationEvaluated',
      '1 AgentStateUpdated',
      '1 AgentStepCompleted',
      '1 TokenUsageReported',
      '2 AgentStepStarted',
      '2 ContinuationEvaluated',
      '2 AgentStateUpdated',
      '2 AgentStepCompleted',
      '2 AgentFinished',
    ]);
    expect(events[0]).toMatchObject({ resumed: true });
  });

  test('an abort in mid-step', async () => {
    const { orchestrator, start, types, events } = setUp([{ hangs: 'listening' }]);
    const controller = new AbortController();
    const running = orchestrator.run(start, { signal: controller.signal });
    await Promise.resolve();
    controller.abort('enough');
    await running;
    expect(types()).toStrictEqual([
      '0 AgentExecutionStarted',
      '1 AgentStepStarted',
      '1 ContinuationEvaluated',
      '1 AgentStateUpdated',
      '1 AgentStepCompleted',
      '1 AgentFinished',
    ]);
    expect(events[4]).toMatchObject({ interrupted: 'signal', errorCount: 0 });
  });

  test('a criterion that throws after a step', async () => {
    const { orchestrator, start, types, events } = setUp([finishes], { extraCriteria: [throwsFrom(1)] });
    await orchestrator.run(start);
    expect(types()).toStrictEqual([
      '0 AgentExecutionStarted',
      '1 AgentStepStarted',
      '1 ContinuationEvaluated',
      '1 AgentStateUpdated',
      '1 AgentStepCompleted',
      '1 AgentFailed',
      '1 AgentFinished',
    ]);
    expect(events[4]).toMatchObject({ errorCount: 1, errorMessages: ['Criterion "Broken" failed: cannot say'] });
  });

  test('a criterion that throws before the first step', async () => {
    const { orchestrator, start, types } = setUp([finishes], { extraCriteria: [throwsFrom(0)] });
    await orchestrator.run(start);
    expect(types()).toStrictEqual([
      '0 AgentExecutionStarted',
      '0 ContinuationEvaluated',
      '0 AgentStateUpdated',
      '0 AgentFailed',
      '0 AgentFinished',
    ]);
  });

  test('every event says who, where and when', async () => {
    const { orchestrator, start, events, clock } = setUp([{ ...goesOn, takesMs: 30 }, finishes]);
    const end = await orchestrator.run(start);
    for (const event of events) {
      expect(event).toMatchObject({ agentId: 'agent-1', executionId: end.execution.id, orchestrator: 'scripted' });
      expect(event.parentAgentId).toBeNull();
      expect(event.id).toBe(`${end.execution.id!}/${event.seq}`);
    }
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    expect(
      events.filter(({ type }) => type === 'AgentStepCompleted').map((event) => 'durationMs' in event && event.durationMs),
    ).toStrictEqual([30, 0]);
    expect(events.at(-1)?.at).toBe(clock.now());
    expect(events.map(String)).toMatchInlineSnapshot(`
      [
        "Agent [agent-1]: run started with 1 message",
        "Agent [agent-1] step 1: started with 1 message",
        "Agent [agent-1] step 1: CONTINUE ToolCallPresenceCheck: the model has not answered yet",
        "Agent [agent-1] step 1: in progress, 1 step recorded",
        "Agent [agent-1] step 1: completed in 30 ms, 3 tokens (2 in, 1 out)",
        "Agent [agent-1] step 1: used 3 tokens (2 in, 1 out)",
        "Agent [agent-1] step 2: started with 2 messages",
        "Agent [agent-1] step 2: STOP (completed) ToolCallPresenceCheck: the model called no tools",
        "Agent [agent-1] step 2: completed, 2 steps recorded",
        "Agent [agent-1] step 2: completed in 0 ms",
        "Agent [agent-1] step 2: run completed after 2 steps, decided by ToolCallPresenceCheck; 3 tokens (2 in, 1 out)",
      ]
    `);
  });

  test('a sub-agent’s events name its parent', async () => {
    const { orchestrator, clock, events } = setUp([finishes]);
    await orchestrator.run(ScriptedState.empty({ clock, parentAgentId: 'parent' }));
    expect(events.every(({ parentAgentId }) => parentAgentId === 'parent')).toBe(true);
  });
});

describe('L1: every outcome is told once', () => {
  test.each<[string, Script, ScriptedProcessOptions]>([
    ['good steps', [goesOn, goesOn, finishes], {}],
    ['failed and retried steps', [{ errors: [toolError] }], { policy: ErrorPolicy.retryAll(3) }],
    ['a limit', [goesOn], { limits: { steps: 3 } }],
    ['a criterion that throws', [goesOn], { extraCriteria: [throwsFrom(2)] }],
  ])('with %s: the recorded ones, in their order', async (_, script, options) => {
    const { orchestrator, start, events } = setUp(script, options);
    const end = await orchestrator.run(start);
    const told = events.flatMap((event) => (event.type === 'ContinuationEvaluated' ? [event] : []));
    expect(told.map(({ outcome }) => outcome)).toStrictEqual(end.stepResults.map(({ outcome }) => outcome));
    expect(told.map(({ stepNumber }) => stepNumber)).toStrictEqual(end.stepResults.map(({ number }) => number));
  });

  test('a refused start: that outcome, once, as step 0', async () => {
    const { orchestrator, start, events } = setUp([finishes], { limits: { steps: 0 } });
    const end = await orchestrator.run(start);
    const told = events.flatMap((event) => (event.type === 'ContinuationEvaluated' ? [event] : []));
    expect(told.map(({ outcome, stepNumber }) => [outcome, stepNumber])).toStrictEqual([[end.startOutcome, 0]]);
  });
});

describe('L4: whoever drives, the steps are the same', () => {
  const make = (script: Script, options?: ScriptedProcessOptions) => () => ({ ...setUp(script, options), restore });
  const cases = [
    ...orchestratorConformance(make([goesOn, finishes])),
    ...orchestratorConformance(make([goesOn], { limits: { steps: 3 } })).map(({ name, run }) => ({ name: `with a limit: ${name}`, run })),
    ...orchestratorConformance(make([{ errors: [toolError] }], { policy: ErrorPolicy.retryToolErrors(3) })).map(({ name, run }) => ({
      name: `with retries: ${name}`,
      run,
    })),
    ...orchestratorConformance(make([goesOn], { extraCriteria: [throwsFrom(2)] })).map(({ name, run }) => ({
      name: `with a broken criterion: ${name}`,
      run,
    })),
  ];
  test.each(cases)('$name', ({ run }) => run());

  test('iterate yields the state after every step, and the final one last', async () => {
    const { orchestrator, start } = setUp([goesOn, goesOn, finishes]);
    const seen: (string | number | undefined)[][] = [];
    for await (const { status, stepCount, stopReason } of orchestrator.iterate(start)) seen.push([stepCount, status, stopReason]);
    expect(seen).toStrictEqual([
      [1, 'in_progress', undefined],
      [2, 'in_progress', undefined],
      [3, 'completed', 'completed'],
    ]);
  });

  test('iterate yields a refused start and a waiting state too, and nothing for a state with nothing to do', async () => {
    const refusing = setUp([finishes], { limits: { steps: 0 } });
    const refused = await collect(refusing.orchestrator.iterate(refusing.start));
    expect(refused.map(({ status }) => status)).toStrictEqual(['stopped']);
    const waiting = setUp([{ waits: [approval] }]);
    const parked = await collect(waiting.orchestrator.iterate(waiting.start));
    expect(parked.map(({ status }) => status)).toStrictEqual(['waiting']);
    expect(await collect(waiting.orchestrator.iterate(parked[0]!))).toStrictEqual([]);
  });

  test('iterate is lazy: nothing happens before it is asked, nor after it is left', async () => {
    const { orchestrator, start, types, clock } = setUp([goesOn]);
    const states = orchestrator.iterate(start);
    expect(types()).toStrictEqual([]);
    await states.next();
    const told = types().length;
    await states.return();
    expect([types().length, clock.pendingTimers()]).toStrictEqual([told, 0]);
  });

  test('nextStep takes one step and tells of the start only once', async () => {
    const { orchestrator, start, types } = setUp([goesOn, finishes]);
    const one = await orchestrator.nextStep(start);
    const two = await orchestrator.nextStep(one);
    expect([one.stepCount, two.stepCount, two.status]).toStrictEqual([1, 2, 'completed']);
    expect(types().filter((type) => type.includes('ExecutionStarted'))).toHaveLength(1);
  });
});

describe('hasNextStep', () => {
  test('has no side effects: it tells nothing, and the state stays as it is', async () => {
    const { orchestrator, start, events, clock } = setUp([goesOn, finishes]);
    const one = await orchestrator.nextStep(start);
    const end = await orchestrator.run(one);
    events.length = 0;
    const before = [start, one, end].map((state) => JSON.stringify(state));
    const answers = [start, one, end].map((state) => [orchestrator.hasNextStep(state), orchestrator.hasNextStep(state)]);
    expect(answers).toStrictEqual([
      [true, true],
      [true, true],
      [false, false],
    ]);
    expect([events, clock.pendingTimers()]).toStrictEqual([[], 0]);
    expect([start, one, end].map((state) => JSON.stringify(state))).toStrictEqual(before);
  });

  test('is false where the start would be refused, and where a criterion throws at the start', () => {
    const refusing = setUp([finishes], { limits: { steps: 0 } });
    expect(refusing.orchestrator.hasNextStep(refusing.start)).toBe(false);
    const broken = setUp([finishes], { extraCriteria: [throwsFrom(0)] });
    expect([broken.orchestrator.hasNextStep(broken.start), broken.events]).toStrictEqual([false, []]);
  });
});

describe('a refused start', () => {
  test('is kept on the state, without a step', async () => {
    const { orchestrator, start } = setUp([finishes], { limits: { steps: 0 } });
    const end = await orchestrator.run(start);
    expect(end.startOutcome).toMatchObject({ shouldContinue: false, stopReason: 'steps_limit', resolvedBy: 'StepsLimit' });
    expect(end.lastContinuationOutcome).toBe(end.startOutcome);
    expect([end.stepCount, end.stepResults, end.currentStep, end.stopReason]).toStrictEqual([0, [], undefined, 'steps_limit']);
    expect(end.messages.length).toBe(1);
    expect(await orchestrator.run(end)).toBe(end);
  });

  test('where a criterion throws is a failed state with the error in its outcome', async () => {
    const { orchestrator, start } = setUp([finishes], { extraCriteria: [throwsFrom(0)] });
    const end = await orchestrator.run(start);
    expect([end.status, end.stopReason, end.stepCount]).toStrictEqual(['failed', 'error', 0]);
    expect(end.startOutcome?.evaluations[0]?.context).toMatchObject({ criterion: 'Broken', error: 'CriterionFailedError' });
  });
});

describe('a criterion that throws after a step', () => {
  test('loses nothing: step, messages and usage stay, and the error is added', async () => {
    const step: ScriptedStep = { text: 'Costly words.', usage: { input: 50, output: 9 }, finishReason: 'stop', takesMs: 20 };
    const { orchestrator, start } = setUp([step], { extraCriteria: [throwsFrom(1)] });
    const end = await orchestrator.run(start);
    expect([end.status, end.stopReason, end.text, end.usage.total]).toStrictEqual(['failed', 'error', 'Costly words.', 59]);
    expect(end.messages.at(-1)?.text).toBe('Costly words.');
    expect([end.execution.activeMs, end.execution.failedSteps]).toStrictEqual([20, 1]);
    expect(end.currentStep).toMatchObject({
      finishReason: 'stop',
      errors: [{ code: 'criterion-failed', type: 'unknown', readable: false }],
    });
    expect(end.lastStepResult?.outcome).toMatchObject({ resolvedBy: 'ContinuationCriteria', stopReason: 'error' });
  });

  test('is an error also beside errors of the step that would be retried', async () => {
    const { orchestrator, start } = setUp([{ errors: [toolError] }], { policy: ErrorPolicy.retryAll(5), extraCriteria: [throwsFrom(1)] });
    const end = await orchestrator.run(start);
    expect([end.status, end.stopReason, end.errors.map(({ code }) => code)]).toStrictEqual([
      'failed',
      'error',
      ['not-found', 'criterion-failed'],
    ]);
  });

  test.each([
    ['a promise', Promise.resolve('allow')],
    ['true', true],
    ['nothing', undefined],
  ])('answering %s is an error too', async (_, answer) => {
    const odd = { name: 'Odd', decide: (state: ScriptedState) => (state.stepCount === 0 ? 'allow' : answer) as ContinuationDecision };
    const { orchestrator, start } = setUp([finishes], { extraCriteria: [odd] });
    expect((await orchestrator.run(start)).errors).toMatchObject([{ code: 'criterion-failed' }]);
  });
});

describe('a producer that throws', () => {
  test.each<[string, unknown, Partial<Failure>]>([
    ['an Error', new Error('broken'), { type: 'unknown', code: 'unclassified', message: 'broken' }],
    ['a string', 'broken', { type: 'unknown', message: 'broken' }],
    ['undefined', undefined, { type: 'unknown', message: 'undefined' }],
    [
      'a rate limit wrapped in another error',
      new Error('the call failed', { cause: new RateLimitedError('429', { retryAfterMs: 7 }) }),
      { type: 'rate_limit', message: 'the call failed', retryAfterMs: 7 },
    ],
  ])('%s gives a failed step', async (_, thrown, failure) => {
    const { orchestrator, start } = setUp([{ throws: thrown }]);
    const end = await orchestrator.run(start);
    expect([end.status, end.stopReason, end.stepCount, end.messages.length]).toStrictEqual(['failed', 'error', 1, 1]);
    expect(end.errors).toMatchObject([{ ...failure, readable: false }]);
    expect(end.lastStepResult?.handling).toStrictEqual({
      decision: 'stop',
      errorType: failure.type,
      consecutiveFailures: 1,
      totalFailures: 1,
    });
  });

  test('at once, without a promise, is no different', async () => {
    const { orchestrator, start } = setUp(
      [],
      {},
      {
        produce: () => {
          throw new Error('at once');
        },
      },
    );
    expect((await orchestrator.run(start)).errors).toMatchObject([{ message: 'at once' }]);
  });

  test('while it goes on with a step that waited keeps what that step had', async () => {
    const { process, start } = setUp([{ ...goesOn, waits: [approval] }]);
    const produce: typeof process.produce = (state, scope) =>
      state.pendingStep === undefined ? process.produce(state, scope) : Promise.reject(new Error('broken'));
    const { orchestrator } = setUp([], {}, { produce });
    const end = await orchestrator.run((await orchestrator.run(start)).approve('call-1'));
    expect([end.status, end.text, end.usage.total, end.pendingStep]).toStrictEqual(['failed', 'One moment.', 3, undefined]);
    expect(end.currentStep).not.toHaveProperty('interrupted');
  });

  test('and one whose failures may be ignored is stopped by, since the model has nothing to read', async () => {
    const { orchestrator, start } = setUp([{ throws: new Error('broken') }], { policy: ErrorPolicy.ignoreToolErrors() });
    const end = await orchestrator.run(start);
    expect([end.stopReason, end.lastContinuationOutcome?.getEvaluationFor('ErrorPolicyCriterion')?.context['cause']]).toStrictEqual([
      'error',
      'nothing-to-read',
    ]);
  });
});

describe('failures in a row', () => {
  const counts = (state: ScriptedState): unknown[] =>
    state.stepResults.map(({ handling }) => handling && [handling.decision, handling.consecutiveFailures, handling.totalFailures]);

  test('are counted while they are retried; a good step starts the count anew', async () => {
    const failing: ScriptedStep = { errors: [toolError], hasToolCalls: true };
    const { orchestrator, start } = setUp([failing, failing, goesOn, failing, failing, failing], {
      policy: ErrorPolicy.retryToolErrors(3),
    });
    const end = await orchestrator.run(start);
    expect(counts(end)).toStrictEqual([['retry', 1, 1], ['retry', 2, 2], undefined, ['retry', 1, 3], ['retry', 2, 4], ['stop', 3, 5]]);
    expect([end.status, end.stopReason, end.execution.failedSteps]).toStrictEqual(['failed', 'retry_limit', 5]);
  });

  test('are counted on after storage', async () => {
    const { orchestrator, start } = setUp([{ errors: [toolError] }], { policy: ErrorPolicy.retryToolErrors(3) });
    const two = reread(await orchestrator.nextStep(reread(await orchestrator.nextStep(start))));
    const end = await orchestrator.run(two);
    expect(counts(end)).toStrictEqual([
      ['retry', 1, 1],
      ['retry', 2, 2],
      ['stop', 3, 3],
    ]);
  });

  test('that are ignored do not count as tried again', async () => {
    const ignored: ScriptedStep = { errors: [{ ...toolError, readable: true }], hasToolCalls: true };
    const { orchestrator, start } = setUp([ignored, ignored, finishes], { policy: ErrorPolicy.ignoreToolErrors() });
    const end = await orchestrator.run(start);
    expect(counts(end)).toStrictEqual([['ignore', 1, 1], ['ignore', 1, 2], undefined]);
    expect(end.status).toBe('completed');
  });

  test('of several in one step the gravest decides', async () => {
    const { orchestrator, start } = setUp([{ errors: [toolError, { ...toolError, type: 'model' }, rateLimited] }], {
      policy: ErrorPolicy.retryToolErrors(3),
    });
    const end = await orchestrator.run(start);
    expect([end.stopReason, end.lastStepResult?.handling]).toMatchObject(['error', { decision: 'stop', errorType: 'model' }]);
  });
});

describe('inspect', () => {
  test('sees the candidate and gives the step that is judged', async () => {
    const seen: unknown[] = [];
    const { orchestrator, start } = setUp([finishes], {
      inspect: (candidate, scope) => {
        seen.push(candidate.stepCount, candidate.text, candidate.messages.length, candidate.usage.total);
        const critique = { criterion: 'Critic', decision: ContinuationDecision.RequestContinuation, reason: 'too short', context: {} };
        const step = candidate.currentStep!;
        if (candidate.execution.results.length > 0) return step;
        scope.notes.add({ evaluations: [critique] });
        const usage = { input: 5, output: 5, total: 10 };
        return { ...step, usage, outputMessages: [...step.outputMessages, Message.user('Longer!')] };
      },
    });
    const end = await orchestrator.run(start);
    expect(seen.slice(0, 4)).toStrictEqual([1, 'Here it is.', 2, 0]);
    expect([end.stepCount, end.usage.total, end.messages.length]).toStrictEqual([2, 10, 4]);
    expect(end.stepResults[0]?.outcome.resolvedBy).toBe('Critic');
  });

  test('that throws keeps the step and adds the error', async () => {
    const { orchestrator, start } = setUp([goesOn], {
      inspect: () => {
        throw new Error('the critic is ill');
      },
    });
    const end = await orchestrator.run(start);
    expect([end.status, end.stopReason, end.text, end.usage.total]).toStrictEqual(['failed', 'error', 'One moment.', 3]);
    expect(end.errors).toMatchObject([{ message: 'the critic is ill', readable: false }]);
  });

  test('that rejects does too, beside the errors of the step', async () => {
    const { orchestrator, start } = setUp([{ ...goesOn, errors: [toolError] }], { inspect: () => Promise.reject(new Error('ill')) });
    expect((await orchestrator.run(start)).errors.map(({ message }) => message)).toStrictEqual(['no such file', 'ill']);
  });
});

test('votes that a step brings along are judged beside the criteria', async () => {
  const veto = { criterion: 'Tool', decision: ContinuationDecision.ForbidContinuation, reason: 'enough', context: {} };
  const { orchestrator, start } = setUp([{ ...goesOn, evaluations: [veto] }]);
  const end = await orchestrator.run(start);
  expect([end.stopReason, end.lastContinuationOutcome?.resolvedBy, end.lastContinuationOutcome?.evaluations.at(-1)]).toStrictEqual([
    'guard',
    'Tool',
    veto,
  ]);
});

test('the context of a run reaches its steps and is not stored', async () => {
  const { process, start } = setUp([finishes]);
  const seen: unknown[] = [];
  const { orchestrator } = setUp(
    [],
    {},
    {
      produce: (state, scope) => {
        seen.push(scope.context, scope.executionId, scope.stepNumber);
        return process.produce(state, scope);
      },
    },
  );
  const end = await orchestrator.run(start, { context: { tenant: 'acme' } });
  expect(seen).toStrictEqual([{ tenant: 'acme' }, end.execution.id, 1]);
  expect(JSON.stringify(end)).not.toContain('acme');
});

describe('listeners', () => {
  test.each([
    [
      'throws',
      () => {
        throw new Error('deaf');
      },
    ],
    ['rejects', () => Promise.reject(new Error('deaf'))],
  ])('one that %s changes nothing and is reported', async (_, listener) => {
    const quiet = setUp([goesOn, finishes]);
    const loud = setUp([goesOn, finishes]);
    loud.bus.wiretap(listener);
    const [expected, end] = [await quiet.orchestrator.run(quiet.start), await loud.orchestrator.run(loud.start, { onEvent: listener })];
    expect(JSON.stringify(end)).toBe(JSON.stringify(expected));
    expect(loud.types()).toStrictEqual(quiet.types());
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(loud.problems).toHaveLength(2 * loud.events.length);
  });

  test('a sink that throws, though it may not, changes nothing either', async () => {
    const problems: unknown[] = [];
    const { process, start } = setUp([goesOn, finishes]);
    const sink = {
      emit: () => {
        throw new Error('full');
      },
    };
    const end = await createStepByStep(process, { events: sink, onProblem: (error) => problems.push(error) }).run(start);
    expect([end.status, problems.length]).toStrictEqual(['completed', 11]);
  });

  test('of one run hear that run only', async () => {
    const { orchestrator, start, events } = setUp([finishes]);
    const heard: LoopEvent[] = [];
    const end = await orchestrator.run(start, { onEvent: (event) => heard.push(event) });
    expect(heard).toStrictEqual(events);
    await orchestrator.run(end.withUserMessage('More.'));
    expect(heard.length).toBeLessThan(events.length);
  });
});

describe('events of a room’s own', () => {
  class Noise extends BaseEvent {
    readonly type = 'Noise';
    override describe(): string {
      return 'made a noise';
    }
  }
  const noise = (header: EventHeader): Noise => new Noise(header);

  test('get the next number; pieces carry the last one and are not stored', async () => {
    const { process, start } = setUp([finishes]);
    const commits: Commit<ScriptedState>[] = [];
    const { orchestrator, events } = setUp(
      [],
      {},
      {
        produce: (state, scope) => {
          scope.events.emit(noise);
          scope.events.emitPiece(noise);
          scope.events.emitPiece(noise);
          scope.events.emit(noise);
          scope.events.emitPiece(noise);
          return process.produce(state, scope);
        },
      },
    );
    const end = await orchestrator.run(start, { commit: (commit) => void commits.push(commit) });
    const id = end.execution.id!;
    expect(events.slice(2, 7).map((event) => [event.id, event.seq, event.stepNumber])).toStrictEqual([
      [`${id}/3`, 3, 1],
      [`${id}/3.1`, 3, 1],
      [`${id}/3.2`, 3, 1],
      [`${id}/4`, 4, 1],
      [`${id}/4.1`, 4, 1],
    ]);
    expect(commits[0]?.events.map(({ seq }) => seq)).toStrictEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test('that come after their step was abandoned are not heard: AgentFinished stays the last', async () => {
    const { start } = setUp([finishes]);
    let late: (() => void) | undefined;
    const { orchestrator, events, clock } = setUp(
      [],
      {},
      {
        produce: (_, scope) => {
          late = () => scope.events.emit(noise);
          return new Promise(() => undefined);
        },
      },
    );
    const controller = new AbortController();
    const running = orchestrator.run(start, { signal: controller.signal });
    await clock.advance(0);
    controller.abort();
    await clock.advance(50);
    const end = await running;
    late?.();
    expect([events.at(-1)?.type, events.at(-1)?.seq]).toStrictEqual(['AgentFinished', end.data.lastSeq]);
  });
});

describe('the commit port', () => {
  test('gets each step once, with its state, its result and its events, before those events are told', async () => {
    const { orchestrator, start, events } = setUp([goesOn, finishes]);
    const commits: (Commit<ScriptedState> & { readonly told: readonly string[] })[] = [];
    const end = await orchestrator.run(start, {
      commit: async (commit) => {
        commits.push({ ...commit, told: events.map(({ type }) => type) });
        await Promise.resolve();
      },
    });
    expect(commits.map(({ result }) => result)).toStrictEqual([...end.stepResults]);
    expect(commits.map(({ state }) => state.stepCount)).toStrictEqual([1, 2]);
    expect(commits.at(-1)?.state).toBe(end);
    expect(commits.flatMap((commit) => commit.events)).toStrictEqual(events);
    expect(commits.map(({ state, events: stored }) => [state.data.lastSeq, stored.at(-1)?.seq])).toStrictEqual([
      [6, 6],
      [11, 11],
    ]);
    expect(commits[0]?.told).toStrictEqual(['AgentExecutionStarted', 'AgentStepStarted']);
    expect(commits[1]?.told).toHaveLength(7);
  });

  test('gets a waiting state and a refused start too, without a result', async () => {
    const commits: Commit<ScriptedState>[] = [];
    const commit = (given: Commit<ScriptedState>): void => void commits.push(given);
    const waiting = setUp([{ waits: [approval] }]);
    await waiting.orchestrator.run(waiting.start, { commit });
    const refusing = setUp([finishes], { limits: { steps: 0 } });
    await refusing.orchestrator.run(refusing.start, { commit });
    expect(commits.map(({ state, result }) => [state.status, result])).toStrictEqual([
      ['waiting', undefined],
      ['stopped', undefined],
    ]);
    expect(commits.map(({ events }) => events.length)).toStrictEqual([4, 4]);
  });

  const failingFrom =
    (step: number, stored: string[]) =>
    async (commit: Commit<ScriptedState>): Promise<void> => {
      await Promise.resolve();
      if (commit.state.stepCount >= step) throw new Error('disk full');
      stored.push(JSON.stringify(commit.state));
    };

  test('that rejects ends the run and rejects it; nothing of that step is told; the last stored state goes on', async () => {
    const { orchestrator, start, types, clock, events } = setUp([goesOn, goesOn, finishes]);
    const stored: string[] = [];
    await expect(orchestrator.run(start, { commit: failingFrom(2, stored) })).rejects.toThrow('disk full');
    expect(types().filter((type) => type.startsWith('2'))).toStrictEqual(['2 AgentStepStarted']);
    expect([stored.length, clock.pendingTimers()]).toStrictEqual([1, 0]);
    events.length = 0;
    const end = await orchestrator.run(restore(stored[0]!));
    expect([end.status, end.stepCount, end.session.executions.length]).toStrictEqual(['completed', 3, 1]);
    expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_, index) => 7 + index));
  });

  test('that rejects ends iterate and nextStep the same way', async () => {
    const { orchestrator, start } = setUp([goesOn, finishes]);
    const stored: string[] = [];
    const seen: number[] = [];
    const iterating = async (): Promise<void> => {
      for await (const { stepCount } of orchestrator.iterate(start, { commit: failingFrom(2, stored) })) seen.push(stepCount);
    };
    await expect(iterating()).rejects.toThrow('disk full');
    expect(seen).toStrictEqual([1]);
    await expect(orchestrator.nextStep(restore(stored[0]!), { commit: failingFrom(1, []) })).rejects.toThrow('disk full');
  });

  test('that throws at once rejects the run', async () => {
    const { orchestrator, start } = setUp([finishes]);
    const commit = (): void => {
      throw new Error('no disk');
    };
    await expect(orchestrator.run(start, { commit })).rejects.toThrow('no disk');
  });

  test('that answers with another kind of promise is waited for', async () => {
    const { orchestrator, start, types } = setUp([finishes]);
    let toldBefore: number | undefined;
    const thenable = {
      then: (resolve: () => void) => {
        toldBefore = types().length;
        resolve();
      },
    };
    await orchestrator.run(start, { commit: () => thenable });
    expect(toldBefore).toBe(2);
  });
});

test('an engine stands between the run and its effects', async () => {
  const keys: string[] = [];
  const { orchestrator, start, clock } = setUp([{ ...goesOn, sleepsMs: 10, errors: [rateLimited] }, finishes], {
    policy: ErrorPolicy.retryAll(),
  });
  const running = orchestrator.run(start, {
    effects: (direct) => ({
      run: (key, work, options) => direct.run(key, work, options),
      sleep: (key, ms) => {
        keys.push(`${key}: ${ms}`);
        return direct.sleep(key, ms);
      },
    }),
  });
  await clock.advance(1000);
  expect((await running).status).toBe('completed');
  expect(keys).toStrictEqual(['wait/1: 10', 'sleep/1: 750']);
});

describe('an engine that answers a sleep with "leave"', () => {
  const leaving =
    (asked: unknown[]) =>
    (direct: Effects): Effects => ({
      run: (key, work, options) => direct.run(key, work, options),
      sleep: (key, ms, options) => {
        asked.push([key, ms, options]);
        return options?.mayLeave === true ? Promise.resolve({ ok: false, kind: 'leave', resumeAfterMs: ms }) : direct.sleep(key, ms);
      },
    });
  const script: Script = [{ ...goesOn, errors: [rateLimited] }, finishes];

  test('ends the run before the next step, without a stop, and the run can be entered again later', async () => {
    const { orchestrator, start, clock, types } = setUp(script, { policy: ErrorPolicy.retryAll() });
    const asked: unknown[] = [];
    const left = await orchestrator.run(start, { effects: leaving(asked) });
    expect([left.status, left.stopReason, left.stepCount]).toStrictEqual(['in_progress', undefined, 1]);
    expect(asked).toStrictEqual([['sleep/1', 750, { mayLeave: true }]]);
    expect([types().includes('AgentFinished'), clock.pendingTimers()]).toStrictEqual([false, 0]);

    await clock.advance(100);
    expect(await orchestrator.nextStep(left, { effects: leaving(asked) })).toBe(left);
    expect(asked.at(-1)).toStrictEqual(['sleep/1', 650, { mayLeave: true }]);

    await clock.advance(650);
    const end = await orchestrator.run(reread(left), { effects: leaving(asked) });
    expect([end.status, end.stepCount, asked.length]).toStrictEqual(['completed', 2, 2]);
  });

  test('is not asked to leave while a step sleeps', async () => {
    const { orchestrator, start, clock } = setUp([{ ...goesOn, sleepsMs: 10 }, finishes]);
    const asked: unknown[] = [];
    const running = orchestrator.run(start, { effects: leaving(asked) });
    await clock.advance(10);
    expect([(await running).status, asked]).toStrictEqual(['completed', [['wait/1', 10, undefined]]]);
  });
});

test('N1: numbers count up without a gap over runs, pauses and storage, and ids are unique', async () => {
  const script: Script = ({ execution, stepCount }) =>
    execution.number === 2 && stepCount === 0 ? { ...goesOn, waits: [approval] } : stepCount < 2 ? goesOn : finishes;
  const { orchestrator, start, events } = setUp(script);
  const first = reread(await orchestrator.run(reread(await orchestrator.nextStep(start))));
  const parked = reread(await orchestrator.run(first.withUserMessage('More.')));
  const second = reread(await orchestrator.run(reread(parked.approve('call-1'))));
  const moved = (await orchestrator.run(second.withUserMessage('More.'))).withUserMessage('And more.');
  const end = await orchestrator.run(reread(moved));
  expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_, index) => index + 1));
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  expect(end.data.lastSeq).toBe(events.length);
});

test('one orchestrator carries many states at once', async () => {
  const { orchestrator, start } = setUp([goesOn, finishes]);
  const ends = await Promise.all([1, 2, 3].map((number) => orchestrator.run(start.withUserMessage(`Number ${number}.`))));
  expect(ends.map((end) => [end.status, end.stepCount, end.messages.toArray()[1]?.text])).toStrictEqual([
    ['completed', 2, 'Number 1.'],
    ['completed', 2, 'Number 2.'],
    ['completed', 2, 'Number 3.'],
  ]);
});

test('two runs from the same state do not see each other', async () => {
  const { orchestrator, start } = setUp([goesOn, finishes]);
  const one = await orchestrator.nextStep(start);
  const [left, right] = await Promise.all([orchestrator.run(one), orchestrator.run(one.withUserMessage('Also!'))]);
  expect([left.messages.length, right.messages.length, one.messages.length]).toStrictEqual([3, 4, 2]);
  expect(left.stepResults[0]).toBe(right.stepResults[0]);
});

test('criteria see the candidate only: the step in question, counted once', async () => {
  const seen: unknown[] = [];
  const criteria = ContinuationCriteria.from<ScriptedState>({
    name: 'Watcher',
    decide: (state, { now, workLeft } = {}) => {
      seen.push([state.stepCount, state.execution.judgedStep === state.currentStep, typeof now, workLeft, state.steps.length]);
      return state.stepCount < 2 ? ContinuationDecision.RequestContinuation : ContinuationDecision.AllowStop;
    },
  });
  const { orchestrator, start } = setUp([goesOn, finishes], {}, { criteria });
  const end = await orchestrator.run(start);
  expect(seen).toStrictEqual([
    [0, true, 'number', undefined, 0],
    [1, true, 'number', true, 1],
    [2, true, 'number', false, 2],
  ]);
  expect(end.execution.judgedStep).toBeUndefined();
});

test('the recorded step is the very one that was produced', async () => {
  const made: ScriptedStepData[] = [];
  const { process, start } = setUp([finishes]);
  const { orchestrator } = setUp(
    [],
    {},
    {
      produce: async (state, scope) => {
        const produced = await process.produce(state, scope);
        if (produced.type === 'step') made.push(produced.step);
        return produced;
      },
    },
  );
  expect((await orchestrator.run(start)).currentStep).toBe(made[0]);
});
