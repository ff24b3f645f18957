import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ContinuationDecision, when } from '../continuation/index.ts';
import { ErrorPolicy, RateLimitedError } from '../errors/index.ts';
import { Message } from '../messages/index.ts';
import type { Script, ScriptedProcessOptions, ScriptedStep } from '../testing/index.ts';
import { createCountingIds, createFakeClock, createScriptedProcess, ScriptedState } from '../testing/index.ts';
import type { LoopEvent } from './loop-events.ts';
import { createStepByStep } from './step-by-step.ts';
import type { StepProcess } from './step-process.ts';
import type { Wait } from './waiting.ts';

const approval: Wait = { type: 'approval', id: 'call-1', toolName: 'send_mail', args: {} };
const goesOn: ScriptedStep = { text: 'One moment.', hasToolCalls: true };
const finishes: ScriptedStep = { text: 'Here it is.' };

/** A controller whose signal counts who listens. */
function createWatchedController() {
  const controller = new AbortController();
  const { signal } = controller;
  const counts = { added: 0, removed: 0 };
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>): void => {
    counts.added += 1;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>): void => {
    counts.removed += 1;
    remove(...args);
  };
  return { signal, counts, abort: (reason?: unknown) => controller.abort(reason) };
}

function setUp(script: Script, options: ScriptedProcessOptions = {}, changes: Partial<StepProcess<ScriptedState>> = {}) {
  const clock = createFakeClock();
  const events: LoopEvent[] = [];
  const problems: unknown[] = [];
  const orchestrator = createStepByStep(
    { ...createScriptedProcess(script, { clock, ...options }), ...changes },
    {
      clock,
      ids: createCountingIds(),
      random: () => 0.5,
      events: { emit: (event) => void events.push(event as LoopEvent) },
      onProblem: (error) => problems.push(error),
    },
  );
  const start = ScriptedState.empty({ clock, ids: createCountingIds('s') }).withUserMessage('Hello.');
  return { clock, events, problems, orchestrator, start, host: createWatchedController() };
}

const facts = (state: ScriptedState): unknown[] => [state.status, state.stopReason, state.stepCount];
async function leaveAtOnce(items: AsyncIterable<unknown>): Promise<void> {
  for await (const item of items) if (item !== undefined) break;
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

const unhandled: unknown[] = [];
const hear = (error: unknown): void => void unhandled.push(error);
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', hear);
});
afterEach(async () => {
  await turn();
  await turn();
  process.off('unhandledRejection', hear);
  expect(unhandled).toStrictEqual([]);
});

describe('a signal that fired before the start', () => {
  test('refuses it: no step, and the reason in the signal’s words', async () => {
    const { orchestrator, start, events, clock } = setUp([finishes]);
    const end = await orchestrator.run(start, { signal: AbortSignal.abort('closed the tab') });
    expect(facts(end)).toStrictEqual(['stopped', 'user_requested', 0]);
    expect(end.startOutcome?.getEvaluationFor('StopRequested')).toMatchObject({ reason: 'closed the tab', context: { by: 'signal' } });
    expect([events.some(({ type }) => type === 'AgentStepStarted'), clock.pendingTimers()]).toStrictEqual([false, 0]);
  });

  test('ends a state in progress with a step that was not begun', async () => {
    let produced = 0;
    const { orchestrator, start } = setUp(() => {
      produced += 1;
      return goesOn;
    });
    const one = await orchestrator.nextStep(start);
    const end = await orchestrator.run(one, { signal: AbortSignal.abort('enough') });
    expect([...facts(end), end.currentStep?.interrupted, produced]).toStrictEqual(['stopped', 'user_requested', 2, 'signal', 1]);
  });

  test('keeps what a step that waited had', async () => {
    const { orchestrator, start } = setUp([{ ...goesOn, waits: [approval], usage: { input: 1, output: 2 } }]);
    const parked = await orchestrator.run(start);
    const end = await orchestrator.run(parked.approve('call-1'), { signal: AbortSignal.abort('enough') });
    expect([...facts(end), end.currentStep?.interrupted]).toStrictEqual(['stopped', 'user_requested', 1, 'signal']);
    expect([end.text, end.usage.total, end.pendingStep]).toStrictEqual(['One moment.', 3, undefined]);
  });
});

describe('an abort in mid-step', () => {
  test.each([
    ['listening', 0],
    ['deaf', 100],
  ] as const)('of a %s producer settles within 100 ms, recorded as interrupted, not as failed', async (hangs, withinMs) => {
    const { orchestrator, start, clock, host } = setUp([goesOn, { hangs }]);
    const running = orchestrator.run(start, { signal: host.signal });
    await clock.advance(5000);
    host.abort('enough');
    await clock.advance(withinMs);
    const end = await running;
    expect([...facts(end), end.currentStep?.interrupted, end.errors]).toStrictEqual(['stopped', 'user_requested', 2, 'signal', []]);
    expect([end.text, end.lastStepResult?.outcome.resolvedBy]).toStrictEqual(['One moment.', 'StopRequested']);
    expect(end.lastStepResult?.timing.activeMs).toBeLessThanOrEqual(5100);
    expect([clock.pendingTimers(), host.counts.added, host.counts.removed]).toStrictEqual([0, 1, 1]);
  });

  test('keeps the partial step that the producer hands in', async () => {
    const { orchestrator, start, clock, host } = setUp(
      [],
      {},
      {
        produce: (_, { control: { signal }, ids }) =>
          new Promise((resolve) => {
            const outputMessages = [Message.assistant('Half a sen', { ids })];
            const step = { id: ids(), outputMessages, usage: { input: 4, output: 2, total: 6 }, errors: [], answers: [] };
            signal.addEventListener('abort', () => resolve({ type: 'step', step: { ...step, interrupted: 'signal' } }));
          }),
      },
    );
    const running = orchestrator.run(start, { signal: host.signal });
    await clock.advance(10);
    host.abort();
    const end = await running;
    expect([...facts(end), end.text, end.usage.total, end.messages.at(-1)?.text]).toStrictEqual([
      'stopped',
      'user_requested',
      1,
      'Half a sen',
      6,
      'Half a sen',
    ]);
  });

  test('through an effect that ignores its signal: the late result is dropped and reported', async () => {
    let finish: (() => void) | undefined;
    const { orchestrator, start, clock, host, problems } = setUp(
      [],
      {},
      {
        produce: async (_, { effects, ids }) => {
          const result = await effects.run('tool/1/0', () => new Promise<string>((resolve) => (finish = () => resolve('too late'))));
          const interrupted = result.ok ? {} : { interrupted: 'signal' as const };
          return {
            type: 'step',
            step: { id: ids(), outputMessages: [], usage: { input: 0, output: 0, total: 0 }, errors: [], answers: [], ...interrupted },
          };
        },
      },
    );
    const running = orchestrator.run(start, { signal: host.signal });
    await clock.advance(10);
    host.abort();
    const end = await running;
    const before = JSON.stringify(end);
    finish?.();
    await turn();
    expect(problems).toMatchObject([{ code: 'late-result', key: 'tool/1/0' }]);
    expect([JSON.stringify(end), end.currentStep?.interrupted]).toStrictEqual([before, 'signal']);
  });

  test('a producer that fails long after it was abandoned disturbs nobody', async () => {
    let fail: (() => void) | undefined;
    const { orchestrator, start, clock, host } = setUp(
      [],
      {},
      {
        produce: () => new Promise((_, reject) => (fail = () => reject(new Error('at last')))),
      },
    );
    const running = orchestrator.run(start, { signal: host.signal });
    await clock.advance(10);
    host.abort();
    await clock.advance(100);
    const end = await running;
    fail?.();
    await turn();
    expect(facts(end)).toStrictEqual(['stopped', 'user_requested', 1]);
  });

  test.each(['listening', 'deaf'] as const)('while a %s critic inspects keeps the step', async (hangs) => {
    const { orchestrator, start, clock, host } = setUp([{ ...finishes, usage: { input: 1, output: 1 } }], {
      inspect: (_, { control: { signal } }) =>
        new Promise((__, reject) => {
          if (hangs === 'listening') signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
    });
    const running = orchestrator.run(start, { signal: host.signal });
    await clock.advance(10);
    host.abort('enough');
    await clock.advance(100);
    const end = await running;
    expect([...facts(end), end.currentStep?.interrupted, end.text, end.usage.total, end.errors]).toStrictEqual([
      'stopped',
      'user_requested',
      1,
      'signal',
      'Here it is.',
      2,
      [],
    ]);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('wins over what the policy says of failures in the same step', async () => {
    const { orchestrator, start, clock, host } = setUp(
      [],
      { policy: ErrorPolicy.stopOnAnyError() },
      {
        produce: (_, { control: { signal }, ids }) =>
          new Promise((resolve) => {
            const failure = { type: 'tool', code: 'cancelled', message: 'cut off', retryable: false } as const;
            const step = { id: ids(), outputMessages: [], usage: { input: 0, output: 0, total: 0 }, errors: [failure], answers: [] };
            signal.addEventListener('abort', () => resolve({ type: 'step', step: { ...step, interrupted: 'signal' } }));
          }),
      },
    );
    const running = orchestrator.run(start, { signal: host.signal });
    await clock.advance(10);
    host.abort();
    expect(facts(await running)).toStrictEqual(['stopped', 'user_requested', 1]);
  });

  test('of nextStep and iterate ends them the same way', async () => {
    const { orchestrator, start, clock, host } = setUp([{ hangs: 'listening' }]);
    const stepping = orchestrator.nextStep(start, { signal: host.signal });
    await clock.advance(10);
    host.abort();
    expect(facts(await stepping)).toStrictEqual(['stopped', 'user_requested', 1]);
    const other = createWatchedController();
    const states = orchestrator.iterate(start, { signal: other.signal });
    const next = states.next();
    await clock.advance(10);
    other.abort();
    expect(facts((await next).value!)).toStrictEqual(['stopped', 'user_requested', 1]);
    expect((await states.next()).done).toBe(true);
    expect([clock.pendingTimers(), other.counts]).toStrictEqual([0, { added: 1, removed: 1 }]);
  });
});

describe('during backoff', () => {
  const failing: Script = [{ throws: new RateLimitedError('slow down', { retryAfterMs: 20_000 }) }];

  test('an abort ends the wait at once, with a step that was not begun', async () => {
    const { orchestrator, start, clock, host } = setUp(failing, { policy: ErrorPolicy.retryAll() });
    const running = orchestrator.run(start, { signal: host.signal });
    await clock.advance(5000);
    host.abort('enough');
    const end = await running;
    expect([...facts(end), end.currentStep?.interrupted, end.errors, end.execution.waitedMs]).toStrictEqual([
      'stopped',
      'user_requested',
      2,
      'signal',
      [],
      5000,
    ]);
    expect([clock.pendingTimers(), host.counts]).toStrictEqual([0, { added: 1, removed: 1 }]);
  });

  test('a request to stop does too', async () => {
    const { orchestrator, start, clock } = setUp(failing, { policy: ErrorPolicy.retryAll() });
    const run = orchestrator.start(start);
    await clock.advance(5000);
    run.requestStop('that will do');
    const { state: end } = await run.result;
    expect([...facts(end), end.currentStep?.interrupted, clock.pendingTimers()]).toStrictEqual([
      'stopped',
      'user_requested',
      2,
      'request',
      0,
    ]);
    expect(end.explain()).toContain('Stopped on request before step 2: that will do.');
  });
});

describe('a request to stop', () => {
  test('lets the step under way finish, then ends the run', async () => {
    let finish: (() => void) | undefined;
    const { orchestrator, start, clock } = setUp(
      [],
      {},
      {
        produce: (_, { ids, control: { signal } }) =>
          new Promise((resolve) => {
            const step = {
              id: ids(),
              outputMessages: [Message.assistant('A whole sentence.')],
              usage: { input: 0, output: 0, total: 0 },
              errors: [],
              answers: [],
            };
            finish = () => resolve({ type: 'step', step: { ...step, hasToolCalls: !signal.aborted } });
          }),
      },
    );
    const run = orchestrator.start(start);
    await clock.advance(10);
    run.requestStop('that will do');
    await clock.advance(10_000);
    finish?.();
    const { state: end } = await run.result;
    expect([...facts(end), end.text, end.currentStep?.hasToolCalls]).toStrictEqual([
      'stopped',
      'user_requested',
      1,
      'A whole sentence.',
      true,
    ]);
    expect(end.currentStep).not.toHaveProperty('interrupted');
  });

  test('between two steps ends the run without producing another', async () => {
    let produced = 0;
    const { orchestrator, start } = setUp(() => {
      produced += 1;
      return goesOn;
    });
    const run = orchestrator.start(start, {
      onEvent: ({ type }) => {
        if (type === 'AgentStepCompleted') run.requestStop();
      },
    });
    const { state: end } = await run.result;
    expect([...facts(end), produced, end.currentStep?.interrupted]).toStrictEqual(['stopped', 'user_requested', 2, 1, 'request']);
    expect(end.lastContinuationOutcome?.getEvaluationFor('StopRequested')?.reason).toBe('stop was requested');
  });

  test('before anything began refuses the start', async () => {
    const { orchestrator, start } = setUp([finishes]);
    const run = orchestrator.start(start, {
      onEvent: ({ type }) => {
        if (type === 'AgentExecutionStarted') queueMicrotask(() => run.requestStop('no, wait'));
      },
    });
    const { state: end } = await run.result;
    expect(end.stopReason).toBe('user_requested');
  });

  test('after the end changes nothing', async () => {
    const { orchestrator, start } = setUp([finishes]);
    const run = orchestrator.start(start);
    const { state: end } = await run.result;
    run.requestStop('too late');
    expect([facts(end), (await run.result).state === end]).toStrictEqual([['completed', 'completed', 1], true]);
  });
});

describe('criteria that do not ask about it', () => {
  const always = [when<ScriptedState>('Always', () => ContinuationDecision.RequestContinuation)];

  test('cannot keep a run from ending: the answer is added for them', async () => {
    const { orchestrator, start, clock, host } = setUp([goesOn, { hangs: 'deaf' }], { criteria: always });
    const running = orchestrator.run(start, { signal: host.signal });
    await clock.advance(10);
    host.abort('enough');
    await clock.advance(100);
    const end = await running;
    expect([...facts(end), end.lastContinuationOutcome?.resolvedBy]).toStrictEqual(['stopped', 'user_requested', 2, 'StopRequested']);
    expect(end.lastContinuationOutcome?.evaluations).toHaveLength(2);
  });

  test('are not answered for where nobody asked to stop', async () => {
    const { orchestrator, start } = setUp([goesOn], { criteria: always });
    expect((await orchestrator.nextStep(start)).lastContinuationOutcome?.evaluations.map(({ criterion }) => criterion)).toStrictEqual([
      'Always',
    ]);
  });

  test('a start that was aborted is refused all the same', async () => {
    const { orchestrator, start } = setUp([goesOn], { criteria: always });
    expect(facts(await orchestrator.run(start, { signal: AbortSignal.abort() }))).toStrictEqual(['stopped', 'user_requested', 0]);
  });
});

describe('nothing is left behind', () => {
  test.each<[string, Script, ScriptedProcessOptions]>([
    ['a good end', [goesOn, finishes], {}],
    ['a failed end', [{ throws: new Error('broken') }], {}],
    ['a limit', [goesOn], { limits: { steps: 2, wallMs: 1000, activeMs: 1000 } }],
    ['a refused start', [finishes], { limits: { steps: 0 } }],
    ['a wait', [{ waits: [approval] }], {}],
  ])('after %s: no timer, no listener on the host’s signal', async (_, script, options) => {
    const { orchestrator, start, clock, host } = setUp(script, options);
    await orchestrator.run(start, { signal: host.signal });
    expect([clock.pendingTimers(), host.counts]).toStrictEqual([0, { added: 1, removed: 1 }]);
  });

  test('after a store that failed', async () => {
    const { orchestrator, start, clock, host } = setUp([goesOn]);
    await expect(orchestrator.run(start, { signal: host.signal, commit: () => Promise.reject(new Error('disk full')) })).rejects.toThrow(
      'disk full',
    );
    expect([clock.pendingTimers(), host.counts]).toStrictEqual([0, { added: 1, removed: 1 }]);
  });

  test('after a loop over iterate that was left', async () => {
    const { orchestrator, start, clock, host } = setUp([goesOn]);
    await leaveAtOnce(orchestrator.iterate(start, { signal: host.signal }));
    expect([clock.pendingTimers(), host.counts]).toStrictEqual([0, { added: 1, removed: 1 }]);
  });

  test('many runs on one signal', async () => {
    const { orchestrator, start, host } = setUp([finishes]);
    for (let run = 0; run < 20; run += 1) await orchestrator.run(start, { signal: host.signal });
    expect(host.counts).toStrictEqual({ added: 20, removed: 20 });
  });
});
