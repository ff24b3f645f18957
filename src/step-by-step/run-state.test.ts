import { describe, expect, test } from 'vitest';
import { ContinuationDecision, stopWhen, when } from '../continuation/index.ts';
import type { Failure } from '../errors/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import { Message } from '../messages/index.ts';
import type { Script, ScriptedProcessOptions, ScriptedStep } from '../testing/index.ts';
import { createCountingIds, createFakeClock, createScriptedProcess, ScriptedState } from '../testing/index.ts';
import type { LoopEvent } from './loop-events.ts';
import { createStepByStep } from './step-by-step.ts';
import type { Wait } from './waiting.ts';

const approval: Wait = { type: 'approval', id: 'call-1', toolName: 'send_mail', args: { to: 'ann' } };
const toolError: Failure = { type: 'tool', code: 'not-found', message: 'no such file', retryable: true, toolName: 'read_file' };
const goesOn: ScriptedStep = { text: 'One moment.', hasToolCalls: true };
const finishes: ScriptedStep = { text: 'Here it is.' };

function setUp(script: Script, options: ScriptedProcessOptions = {}) {
  const clock = createFakeClock();
  const ids = createCountingIds();
  const events: LoopEvent[] = [];
  const process = createScriptedProcess(script, { clock, ...options });
  const orchestrator = createStepByStep(process, {
    clock,
    ids,
    random: () => 0.5,
    events: { emit: (event) => events.push(event as LoopEvent) },
  });
  const fresh = ScriptedState.empty({ clock, ids, agentId: 'agent-1' });
  return { clock, ids, events, orchestrator, fresh, start: fresh.withUserMessage('Hello.', { ids }) };
}

const runToEnd = (script: Script, options?: ScriptedProcessOptions): Promise<ScriptedState> => {
  const { orchestrator, start } = setUp(script, options);
  return orchestrator.run(start);
};

describe('status and stop reason', () => {
  const { StepsLimitReached, RetryLimitReached } = { StepsLimitReached: 'steps_limit', RetryLimitReached: 'retry_limit' } as const;
  const critic = when<ScriptedState>('SelfCritique', ({ stepCount }) =>
    stepCount === 0
      ? ContinuationDecision.AllowContinuation
      : { decision: ContinuationDecision.ForbidContinuation, stopReason: RetryLimitReached },
  );
  const broken = when<ScriptedState>('Broken', ({ stepCount }) => {
    if (stepCount > 0) throw new Error('cannot say');
    return ContinuationDecision.AllowContinuation;
  });
  const brokenAtOnce = when<ScriptedState>('Broken', () => {
    throw new Error('cannot say');
  });

  test.each<[string, Script, ScriptedProcessOptions, string, string]>([
    ['the work is done', [finishes], {}, 'completed', 'completed'],
    ['a step fails and the policy stops', [{ errors: [toolError] }], {}, 'failed', 'error'],
    ['retries are used up', [{ errors: [toolError] }], { policy: ErrorPolicy.retryToolErrors(2) }, 'failed', RetryLimitReached],
    ['a critic has had enough, though nothing failed', [goesOn], { extraCriteria: [critic] }, 'stopped', RetryLimitReached],
    ['a limit cuts the work short', [goesOn], { limits: { steps: 2 } }, 'stopped', StepsLimitReached],
    ['a limit is reached in the last step', [goesOn, finishes], { limits: { steps: 2 } }, 'completed', StepsLimitReached],
    [
      'two limits are reached in the last step',
      [{ ...finishes, usage: { input: 5, output: 5 } }],
      { limits: { steps: 1, tokens: 10 } },
      'completed',
      StepsLimitReached,
    ],
    [
      'a limit is reached in a last step that failed',
      [{ ...finishes, errors: [{ ...toolError, readable: true }] }],
      { limits: { steps: 1 }, policy: ErrorPolicy.ignoreToolErrors() },
      'stopped',
      StepsLimitReached,
    ],
    [
      'a guard forbids beside the limit',
      [finishes],
      { limits: { steps: 1 }, extraCriteria: [stopWhen<ScriptedState>('Mood', ({ stepCount }) => stepCount > 0 && 'enough')] },
      'stopped',
      StepsLimitReached,
    ],
    ['tokens run out', [{ ...goesOn, usage: { input: 60, output: 40 } }], { limits: { tokens: 100 } }, 'stopped', 'token_limit'],
    ['a finish reason ends it', [{ ...finishes, finishReason: 'length' }], { finishReasons: ['length'] }, 'stopped', 'finish_reason'],
    [
      'a guard forbids',
      [goesOn],
      { extraCriteria: [stopWhen('Mood', ({ stepCount }: ScriptedState) => stepCount > 0 && 'enough')] },
      'stopped',
      'guard',
    ],
    ['a criterion throws after a step', [finishes], { extraCriteria: [broken] }, 'failed', 'error'],
    ['a criterion throws before the first', [finishes], { extraCriteria: [brokenAtOnce] }, 'failed', 'error'],
    ['the start is refused', [finishes], { limits: { steps: 0 } }, 'stopped', StepsLimitReached],
    ['there is nothing to do', [finishes], { criteria: [when('Idle', () => ContinuationDecision.AllowStop)] }, 'completed', 'completed'],
    ['there are no criteria', [finishes], { criteria: [] }, 'completed', 'completed'],
  ])('when %s', async (_, script, options, status, stopReason) => {
    const end = await runToEnd(script, options);
    expect([end.status, end.stopReason]).toStrictEqual([status, stopReason]);
  });

  test('pending until a run starts, also with a message', () => {
    const { fresh, start } = setUp([finishes]);
    expect([fresh.status, start.status, start.stopReason]).toStrictEqual(['pending', 'pending', undefined]);
  });

  test('in progress between two steps', async () => {
    const { orchestrator, start } = setUp([goesOn, finishes]);
    const between = await orchestrator.nextStep(start);
    expect([between.status, between.stopReason, between.stepCount]).toStrictEqual(['in_progress', undefined, 1]);
  });

  test('waiting while somebody has to answer, in progress when everything is answered', async () => {
    const { orchestrator, start } = setUp([{ ...goesOn, waits: [approval] }]);
    const parked = await orchestrator.run(start);
    expect([parked.status, parked.stopReason, parked.stepCount]).toStrictEqual(['waiting', undefined, 0]);
    expect(parked.approve('call-1').status).toBe('in_progress');
  });
});

describe('a user message', () => {
  const texts = (state: ScriptedState): readonly string[] => [...state.messages].map(({ role, text }) => `${role}: ${text}`);

  test('on a fresh state waits for the first run', () => {
    const { fresh, start } = setUp([finishes]);
    expect([texts(start), start.execution.number, start.session.executions.length]).toStrictEqual([['user: Hello.'], 1, 0]);
    expect(fresh.messages.length).toBe(0);
  });

  test('on a pending state joins the one that waits already', async () => {
    const { orchestrator, start, ids } = setUp([finishes]);
    const two = start.withUserMessage('And hurry.', { ids });
    expect([two.execution.number, two.status]).toStrictEqual([1, 'pending']);
    const end = await orchestrator.run(two);
    expect([end.session.executions.length, texts(end)]).toStrictEqual([1, ['user: Hello.', 'user: And hurry.', 'assistant: Here it is.']]);
  });

  test('on a state in progress joins the running execution and resets no limit', async () => {
    const used = { input: 10, output: 5 };
    const { orchestrator, start } = setUp([{ ...goesOn, usage: used, takesMs: 40 }], { limits: { steps: 2 } });
    const one = await orchestrator.nextStep(start);
    const joined = one.withUserMessage('Wait!');
    expect([joined.execution.id, joined.execution.number]).toStrictEqual([one.execution.id, 1]);
    expect([joined.stepCount, joined.usage.total, joined.execution.activeMs]).toStrictEqual([1, 15, 40]);
    const end = await orchestrator.run(joined);
    expect([end.stepCount, end.stopReason, end.session.executions.length]).toStrictEqual([2, 'steps_limit', 1]);
    expect(texts(end)).toStrictEqual(['user: Hello.', 'assistant: One moment.', 'user: Wait!', 'assistant: One moment.']);
  });

  test('on an ended state opens a new execution, with everything counted from 0', async () => {
    const { orchestrator, start } = setUp([{ ...finishes, usage: { input: 10, output: 5 }, takesMs: 40 }]);
    const end = await orchestrator.run(start);
    const again = end.withUserMessage('And now?');
    expect([again.status, again.stepCount, again.usage.total, again.execution.activeMs]).toStrictEqual(['pending', 0, 0, 0]);
    expect([again.execution.number, again.execution.id, again.lastStepResult]).toStrictEqual([2, undefined, undefined]);
    expect([again.text, again.currentStep, again.lastContinuationOutcome]).toStrictEqual(['', undefined, undefined]);
    const second = await orchestrator.run(again);
    expect([second.status, second.lastStepResult?.number, second.execution.number]).toStrictEqual(['completed', 1, 2]);
    expect(second.execution.id).not.toBe(end.execution.id);
  });

  test('on a failed state opens a new execution that counts its failures anew', async () => {
    const { orchestrator, start } = setUp([{ errors: [toolError] }], { policy: ErrorPolicy.retryToolErrors(2) });
    const failed = await orchestrator.run(start);
    expect(failed.lastStepResult?.handling).toMatchObject({ consecutiveFailures: 2, totalFailures: 2 });
    const again = await orchestrator.run(failed.withUserMessage('Try once more.'));
    expect(again.stepResults.map(({ handling }) => handling?.totalFailures)).toStrictEqual([1, 2]);
  });

  test('on a state whose start was refused opens a new execution', async () => {
    const refusing = setUp([finishes], { limits: { steps: 0 } });
    const refused = await refusing.orchestrator.run(refusing.start);
    const again = refused.withUserMessage('Please.');
    expect([again.status, again.execution.number, again.startOutcome, again.session.executions.length]).toStrictEqual([
      'pending',
      2,
      undefined,
      1,
    ]);
    expect((await setUp([finishes]).orchestrator.run(again)).status).toBe('completed');
  });

  test('may be a whole message', () => {
    const message = Message.user('Hi.', { id: 'm-1' });
    expect(setUp([finishes]).fresh.withUserMessage(message).messages.at(-1)).toBe(message);
  });

  describe('on a waiting state', () => {
    const script: Script = ({ execution }) =>
      execution.number === 1 ? { text: 'May I?', hasToolCalls: true, waits: [approval], usage: { input: 3, output: 4 } } : finishes;

    test('closes the step as interrupted, as the user wanted, and opens a new execution', async () => {
      const { orchestrator, start } = setUp(script);
      const parked = await orchestrator.run(start);
      const moved = parked.withUserMessage('Never mind.');
      const [closed] = moved.session.executions;
      expect(closed?.results.last?.step).toMatchObject({ interrupted: 'superseded', errors: [] });
      expect(closed?.results.last).toMatchObject({ number: 1, stopReason: 'user_requested' });
      expect(closed?.results.last?.outcome.evaluations[0]).toMatchObject({
        criterion: 'StopRequested',
        reason: 'superseded by a new message',
      });
      expect([closed?.pendingStep, closed?.usage.total]).toStrictEqual([undefined, 7]);
      expect([moved.status, moved.execution.number, moved.waitingFor]).toStrictEqual(['pending', 2, []]);
      expect(texts(moved)).toStrictEqual(['user: Hello.', 'assistant: May I?', 'user: Never mind.']);
      expect(parked.status).toBe('waiting');
    });

    test('the next run tells what is owed, once, before its own start', async () => {
      const { orchestrator, start, events } = setUp(script);
      const parked = await orchestrator.run(start);
      const told = events.length;
      const first = parked.execution.id;
      const moved = ScriptedState.fromJSON(JSON.parse(JSON.stringify(parked.withUserMessage('Never mind.').withUserMessage('Do this.'))));
      const end = await orchestrator.run(moved);
      const later = events.slice(told);
      expect(
        later.map(({ type, executionId, stepNumber }) => `${type} ${executionId === first ? 'old' : 'new'} ${stepNumber}`),
      ).toStrictEqual([
        'ContinuationEvaluated old 1',
        'AgentStateUpdated old 1',
        'AgentStepCompleted old 1',
        'TokenUsageReported old 1',
        'AgentExecutionStarted new 0',
        'AgentStepStarted new 1',
        'ContinuationEvaluated new 1',
        'AgentStateUpdated new 1',
        'AgentStepCompleted new 1',
        'AgentFinished new 1',
      ]);
      expect(later[2]).toMatchObject({ interrupted: 'superseded' });
      expect(later[1]).toMatchObject({ status: 'stopped', stepCount: 1 });
      expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_, index) => index + 1));
      await orchestrator.run(end.withUserMessage('More.'));
      // One for each of the three steps that were recorded.
      expect(events.filter(({ type }) => type === 'ContinuationEvaluated').map(({ executionId }) => executionId)).toHaveLength(3);
    });

    test('also tells what is owed where the new start is refused', async () => {
      const { orchestrator, start } = setUp(script);
      const moved = (await orchestrator.run(start)).withUserMessage('Never mind.');
      const refusing = setUp([finishes], { limits: { steps: 0 } });
      const refused = await refusing.orchestrator.run(moved);
      expect(
        refusing.events.map(({ type }) => type).filter((type) => type === 'ContinuationEvaluated' || type === 'AgentFinished'),
      ).toStrictEqual(['ContinuationEvaluated', 'ContinuationEvaluated', 'AgentFinished']);
      expect(refused.data.owesEvents).toBeUndefined();
    });
  });
});

describe('the session', () => {
  test('sums up all executions that have begun', async () => {
    const { orchestrator, start } = setUp([
      { ...goesOn, usage: { input: 1, output: 2 } },
      { ...finishes, usage: { input: 10, output: 20 } },
    ]);
    const one = await orchestrator.run(start);
    const pending = one.withUserMessage('Again.');
    expect([pending.session.executions.length, pending.session.stepCount, pending.session.usage.total]).toStrictEqual([1, 2, 33]);
    const two = await orchestrator.run(pending);
    expect(two.session.executions.map(({ number }) => number)).toStrictEqual([1, 2]);
    expect([two.session.stepCount, two.session.usage]).toStrictEqual([4, { input: 22, output: 44, total: 66 }]);
    expect([two.stepCount, two.usage.total]).toStrictEqual([2, 33]);
  });

  test('of a fresh state is empty', () => {
    const { executions, stepCount, usage } = setUp([finishes]).start.session;
    expect([executions, stepCount, usage.total]).toStrictEqual([[], 0, 0]);
  });
});

describe('the text', () => {
  test.each<[string, Script, string]>([
    ['the last words of the assistant', [goesOn, finishes], 'Here it is.'],
    ['of an earlier step where the last says nothing', [goesOn, {}], 'One moment.'],
    ['of an earlier step where the last says an empty text', [goesOn, { text: '' }], 'One moment.'],
    ['empty where nothing was said', [{}], ''],
  ])('is %s', async (_, script, text) => {
    expect((await runToEnd(script)).text).toBe(text);
  });
});

test('metadata is kept beside the old state', () => {
  const { start } = setUp([finishes]);
  const tagged = start.withMetadata('ticket', 7).withMetadata('tags', ['a']);
  expect([tagged.metadata, start.metadata]).toStrictEqual([{ ticket: 7, tags: ['a'] }, {}]);
});

test('S1: states that were handed out stay as they were, whatever happens to states made from them', async () => {
  const { orchestrator, start } = setUp(({ execution, stepCount }) =>
    execution.number === 2 ? { text: 'May I?', hasToolCalls: true, waits: [approval] } : stepCount === 0 ? goesOn : finishes,
  );
  const states: ScriptedState[] = [start];
  for await (const state of orchestrator.iterate(start)) states.push(state);
  const ended = states.at(-1)!;
  states.push(ended.withUserMessage('More.').withMetadata('k', 1));
  const parked = await orchestrator.run(states.at(-1)!);
  states.push(parked, parked.approve('call-1'), parked.reject('call-1', 'no'), parked.withUserMessage('Never mind.'));
  const before = states.map((state) => JSON.stringify(state));
  for (const state of states) {
    await orchestrator.run(state);
    await orchestrator.run(state.withUserMessage('Once more.'));
    await orchestrator.nextStep(state);
  }
  expect(states.map((state) => JSON.stringify(state))).toStrictEqual(before);
});

describe('explain', () => {
  const runAndExplain = async (script: Script, options?: ScriptedProcessOptions): Promise<string> =>
    (await runToEnd(script, options)).explain();

  test('a state that has not started', () => {
    expect(setUp([finishes]).start.explain()).toMatchInlineSnapshot(`"Not started: no run has begun since the last input."`);
  });

  test('a state in progress', async () => {
    const { orchestrator, start } = setUp([goesOn, finishes]);
    expect((await orchestrator.nextStep(start)).explain()).toMatchInlineSnapshot(`
      "Continued after step 1: the model has not answered yet.
      Decided by ToolCallPresenceCheck.
      No objection: StopRequested, ErrorPolicyCriterion, FinishReasonCheck, PendingRetry. Under the limit: StepsLimit (1 of 20), TokenUsageLimit (0 of 32768), ExecutionTimeLimit."
    `);
  });

  test('a state that waits', async () => {
    const waits: readonly Wait[] = [
      approval,
      { type: 'client-tool', id: 'call-2', toolName: 'read_clipboard', args: {} },
      { type: 'unknown-call', id: 'call-3', toolName: 'pay', args: {} },
      { type: 'person', id: 'call-4', prompt: 'Which?', problem: 'it was empty' },
      { type: 'grant', id: 'call-5', limit: 'steps' },
    ];
    expect(await runAndExplain([{ ...goesOn, waits }])).toMatchInlineSnapshot(
      `
      "Waiting in step 1 for approval of send_mail (call-1); the output of read_clipboard (call-2); the true result of pay (call-3), which was cut off and may or may not have taken effect; an answer from a person (call-4): Which?, after an answer that could not be used: it was empty; more steps.
      Next: Approve or reject "call-1"."
    `,
    );
  });

  test('a state that waited and was answered', async () => {
    const { orchestrator, start } = setUp([{ ...goesOn, waits: [approval] }]);
    expect((await orchestrator.run(start)).approve('call-1').explain()).toMatchInlineSnapshot(
      `"Ready to continue with step 1: everything it waited for was answered."`,
    );
  });

  test('a completed state', async () => {
    expect(await runAndExplain([goesOn, finishes])).toMatchInlineSnapshot(`
      "Completed in step 2: the model answered and called no tools.
      Decided by ToolCallPresenceCheck.
      No objection: StopRequested, ErrorPolicyCriterion, FinishReasonCheck, PendingRetry. Under the limit: StepsLimit (2 of 20), TokenUsageLimit (0 of 32768), ExecutionTimeLimit."
    `);
  });

  test('a state that finished in the step that reached a limit', async () => {
    expect(await runAndExplain([goesOn, finishes], { limits: { steps: 2 } })).toMatchInlineSnapshot(`
      "Completed in step 2: the model answered and called no tools. The step limit was reached in the same step (2 of 2).
      Decided by StepsLimit.
      No objection: StopRequested, ErrorPolicyCriterion, FinishReasonCheck, PendingRetry. Under the limit: TokenUsageLimit (0 of 32768), ExecutionTimeLimit."
    `);
  });

  test('a stopped state', async () => {
    expect(await runAndExplain([goesOn], { limits: { steps: 2 } })).toMatchInlineSnapshot(`
      "Stopped after step 2: the step limit was reached (2 of 2).
      Decided by StepsLimit.
      ToolCallPresenceCheck asked for another step: the model has not answered yet.
      Next: Raise limits.steps if the work needs more steps.
      No objection: StopRequested, ErrorPolicyCriterion, FinishReasonCheck, PendingRetry. Under the limit: TokenUsageLimit (0 of 32768), ExecutionTimeLimit."
    `);
  });

  test('a refused start', async () => {
    expect(await runAndExplain([goesOn], { limits: { steps: 0 } })).toMatchInlineSnapshot(`
      "Not started: the step limit was reached (0 of 0).
      Decided by StepsLimit.
      ToolCallPresenceCheck asked for another step: the model has not answered yet.
      Next: Raise limits.steps if the work needs more steps.
      No objection: StopRequested, ErrorPolicyCriterion, FinishReasonCheck, PendingRetry. Under the limit: TokenUsageLimit (0 of 32768), ExecutionTimeLimit."
    `);
  });

  test('a failed state', async () => {
    expect(await runAndExplain([{ errors: [toolError] }])).toMatchInlineSnapshot(`
      "Failed in step 1: tool read_file, no such file (not-found).
      Decided by ErrorPolicyCriterion: the policy stops the run on a tool error in read_file.
      Next: Fix the tool, or what it depends on, then send a message to continue.
      No objection: StopRequested, FinishReasonCheck, PendingRetry. Under the limit: StepsLimit (1 of 20), TokenUsageLimit (0 of 32768), ExecutionTimeLimit."
    `);
  });

  test('a state that failed too often', async () => {
    expect(await runAndExplain([{ errors: [toolError] }], { policy: ErrorPolicy.retryToolErrors(2) })).toMatchInlineSnapshot(`
      "Failed after step 2: second failure in a row (limit 2), the last one a tool error in read_file.
        Steps 1 and 2: tool read_file, no such file (not-found).
      Decided by ErrorPolicyCriterion.
      Next: Fix the tool, or what it depends on, then send a message to continue.
      No objection: StopRequested, FinishReasonCheck, PendingRetry. Under the limit: StepsLimit (2 of 20), TokenUsageLimit (0 of 32768), ExecutionTimeLimit."
    `);
  });

  test('a state whose criterion threw', async () => {
    const broken = when<ScriptedState>('Broken', ({ stepCount }) => {
      if (stepCount > 0) throw new Error('cannot say');
      return ContinuationDecision.AllowContinuation;
    });
    expect(await runAndExplain([finishes], { extraCriteria: [broken] })).toMatchInlineSnapshot(`
      "Your criterion Broken threw after step 1: cannot say. The step was kept.
      Next: Return an evaluation for every state, and never throw."
    `);
  });

  test('a state that was aborted', async () => {
    const { orchestrator, start } = setUp([goesOn, { hangs: 'listening' }]);
    const controller = new AbortController();
    const running = orchestrator.run(start, {
      signal: controller.signal,
      onEvent: ({ type, stepNumber }) => {
        if (type === 'AgentStepStarted' && stepNumber === 2) queueMicrotask(() => controller.abort('closed the tab'));
      },
    });
    expect((await running).explain()).toMatchInlineSnapshot(`
      "Aborted during step 2: closed the tab.
      Decided by StopRequested.
      Next: Send a message to continue.
      No objection: ErrorPolicyCriterion, FinishReasonCheck, PendingRetry. Under the limit: StepsLimit (2 of 20), TokenUsageLimit (0 of 32768), ExecutionTimeLimit."
    `);
  });

  test.each<[string, Script, ScriptedProcessOptions]>([
    ['an error', [{ errors: [{ ...toolError, message: 'refused the key sk-abcdefghijklmnopqrstuvwx' }] }], {}],
    [
      'a criterion that throws',
      [finishes],
      {
        extraCriteria: [
          when('Leaky', () => {
            throw new Error('token=sk-abcdefghijklmnopqrstuvwx');
          }),
        ],
      },
    ],
    [
      'a guard',
      [goesOn],
      { extraCriteria: [stopWhen<ScriptedState>('Leaky', ({ stepCount }) => stepCount > 0 && 'saw sk-abcdefghijklmnopqrstuvwx')] },
    ],
    ['a wait', [{ waits: [{ type: 'person', id: 'p', problem: 'got sk-abcdefghijklmnopqrstuvwx' }] }], {}],
  ])('keeps the secrets of %s', async (_, script, options) => {
    const text = await runAndExplain(script, options);
    expect(text).toContain('[redacted]');
    expect(text).not.toContain('sk-abc');
  });
});

test('a state that does not wait for a provider has nothing to retry', () => {
  const state = ScriptedState.empty();
  expect(() => state.retryNow()).toThrow('Cannot retry now: this execution is not waiting for a provider.');
});
