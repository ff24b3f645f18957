// What the loop does with processes, criteria and readers that do not keep their part of the bargain.
import { expect, test } from 'vitest';
import type { Findings } from '../continuation/index.ts';
import { ContinuationDecision, ErrorPresenceCheck, ToolCallPresenceCheck, when } from '../continuation/index.ts';
import type { Failure } from '../errors/index.ts';
import { ErrorPolicy, ToolFailedError } from '../errors/index.ts';
import { BaseEvent } from '../events/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import { Usage } from '../messages/index.ts';
import type { ScriptedProcessOptions } from '../testing/index.ts';
import { createScriptedProcess, ScriptedState } from '../testing/index.ts';
import type { LoopEvent } from './loop-events.ts';
import { standardCriteria } from './standard-criteria.ts';
import { createStepByStep } from './step-by-step.ts';
import type { StepProcess } from './step-process.ts';
import type { Wait } from './waiting.ts';

const failure: Failure = { type: 'tool', code: 'made-up', message: 'no', retryable: true, readable: true };
const approval = (id: string): Wait => ({ type: 'approval', id, toolName: 'delete', args: {} });
const goOn = when<ScriptedState>('GoOn', () => ContinuationDecision.RequestContinuation);
const start = (): ScriptedState => ScriptedState.empty({ ids: createCountingIds('s') }).withUserMessage('Go.');

function setUpRunnable(process: StepProcess<ScriptedState>, clock = createFakeClock()) {
  return { clock, orchestrator: createStepByStep(process, { clock, ids: createCountingIds('x'), random: () => 0.5 }) };
}

test('a criterion that sets a deadline and then does not forbid still ends the run with time_limit', async () => {
  const clock = createFakeClock();
  const lenient = {
    ...goOn,
    remainingMs: ({ execution }: ScriptedState, { now = 0 }: Findings = {}) => 100 - (now - (execution.wallStartedAt ?? 0)),
  };
  const { orchestrator } = setUpRunnable(createScriptedProcess([{ hangs: 'deaf' }], { criteria: [lenient] }), clock);
  const running = orchestrator.run(start());
  await clock.advance(200);
  const end = await running;
  expect([end.status, end.stopReason, end.stepCount]).toEqual(['stopped', 'time_limit', 1]);
  expect(end.explain()).toContain(`Decided by ${goOn.name}.`);
});

test('a criterion named StopRequested that does not read the request does not keep the run from ending', async () => {
  const deaf = when<ScriptedState>('StopRequested', () => ContinuationDecision.AllowContinuation);
  const { orchestrator } = setUpRunnable(createScriptedProcess([{ hasToolCalls: true }], { criteria: [deaf, goOn] }));
  const run = orchestrator.start(start());
  for await (const event of run) if (event.type === 'AgentStepCompleted') run.requestStop('enough');
  expect((await run.result).state.stopReason).toBe('user_requested');
});

test('a step that waits for nothing is a failed step, not one that waits for ever', async () => {
  const { orchestrator } = setUpRunnable(createScriptedProcess([{ waits: [] }]));
  const end = await orchestrator.run(start());
  expect([end.status, end.stopReason, end.errors[0]?.code]).toEqual(['failed', 'error', 'invalid-argument']);
});

test('a wait that gives active time back is not polled every millisecond', async () => {
  const clock = createFakeClock();
  let scheduled = 0;
  const counting = {
    ...clock,
    schedule: (ms: number, call: () => void) => {
      scheduled += 1;
      return clock.schedule(ms, call);
    },
  };
  const options: ScriptedProcessOptions = { limits: { activeMs: 1 } };
  const orchestrator = createStepByStep(createScriptedProcess([{ sleepsMs: 1000, text: 'Done.' }], options), { clock: counting });
  const running = orchestrator.run(start());
  await clock.advance(1100);
  expect((await running).status).toBe('completed');
  expect(scheduled).toBeLessThan(60);
});

test('a message after everything was answered joins the step instead of throwing the answers away', async () => {
  const waits = [{ type: 'approval' as const, id: 'call-1', toolName: 'delete', args: {} }];
  const { orchestrator } = setUpRunnable(createScriptedProcess([{ waits, text: 'May I?' }, { text: 'Done.' }]));
  const waiting = await orchestrator.run(start());
  const state = waiting.approve('call-1').withUserMessage('And hurry.');
  expect([state.status, state.session.executions.length]).toEqual(['in_progress', 1]);
  const end = await orchestrator.run(state);
  expect(end.stepResults[0]?.step.answers).toEqual([{ type: 'approved', id: 'call-1' }]);
  expect(end.messages.toArray().map(({ text }) => text)).toEqual(['Go.', 'May I?', 'And hurry.']);
});

test('an event that cannot be made leaves no gap in the numbers', async () => {
  const scripted = createScriptedProcess([{ text: 'Done.' }]);
  const process: StepProcess<ScriptedState> = {
    ...scripted,
    produce: (state, scope) => {
      try {
        scope.events.emit(() => {
          throw new Error('no event');
        });
      } catch {
        // The producer goes on without it.
      }
      return scripted.produce(state, scope);
    },
  };
  const seqs: number[] = [];
  await setUpRunnable(process).orchestrator.run(start(), { onEvent: ({ seq }) => seqs.push(seq) });
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
});

test('two readers of one stream each hear everything that is told while they read', async () => {
  const { orchestrator } = setUpRunnable(createScriptedProcess([{ hasToolCalls: true }, { hasToolCalls: true }, { text: 'Done.' }]));
  const run = orchestrator.start(start());
  const read = async (): Promise<readonly LoopEvent[]> => {
    const events: LoopEvent[] = [];
    for await (const event of run) events.push(event);
    return events;
  };
  const [first, second] = await Promise.all([read(), read()]);
  expect(first.map(({ seq }) => seq)).toEqual(first.map((_, index) => index + 1));
  // The first got what had been told before anybody read.
  expect(second.length).toBeGreaterThan(3);
  expect(second).toEqual(first.slice(-second.length));
});

test('a producer can ask what interrupted it', async () => {
  const scripted = createScriptedProcess([{ hangs: 'listening' }]);
  const asked: unknown[] = [];
  const controller = new AbortController();
  const process: StepProcess<ScriptedState> = {
    ...scripted,
    produce: async (state, scope) => {
      asked.push(scope.control.interruption);
      queueMicrotask(() => {
        controller.abort();
      });
      try {
        return await scripted.produce(state, scope);
      } finally {
        asked.push(scope.control.interruption);
      }
    },
  };
  await setUpRunnable(process).orchestrator.run(start(), { signal: controller.signal });
  expect(asked).toEqual([undefined, 'signal']);
});

test('the readable form of an event hides secrets that an error message holds', async () => {
  const { orchestrator } = setUpRunnable(createScriptedProcess([{ throws: new Error('refused: Authorization: Bearer abcdef123456') }]));
  const lines: string[] = [];
  await orchestrator.run(start(), { onEvent: (event) => lines.push(String(event)) });
  expect(lines.join('\n')).not.toContain('abcdef123456');
  expect(lines.some((line) => line.includes('refused'))).toBe(true);
});

test('what is no event of the loop reaches listeners as well', async () => {
  class Progress extends BaseEvent {
    readonly type = 'Progress';
    override describe(): string {
      return 'half way';
    }
  }
  const scripted = createScriptedProcess([{ text: 'Done.' }]);
  const process: StepProcess<ScriptedState> = {
    ...scripted,
    produce: (state, scope) => {
      scope.events.emitPiece((header) => new Progress(header));
      return scripted.produce(state, scope);
    },
  };
  const seen: string[] = [];
  await setUpRunnable(process).orchestrator.run(start(), { onEvent: (event) => seen.push(event.type) });
  expect(seen).toContain('Progress');
});

test('the loop counts and waits by the policy that the criteria judge by', async () => {
  const criteria = [...standardCriteria({ policy: ErrorPolicy.retryAll(3) })];
  const { orchestrator } = setUpRunnable(createScriptedProcess([{ throws: new ToolFailedError('no') }], { criteria }));
  const end = await orchestrator.run(start());
  expect([end.stopReason, end.stepCount]).toEqual(['retry_limit', 3]);
  expect(end.stepResults.map(({ handling }) => handling?.consecutiveFailures)).toEqual([1, 2, 3]);
});

test('stopOnAnyError ends a run where the legacy ErrorPresenceCheck does', async () => {
  const script = [{ hasToolCalls: true }, { errors: [failure], hasToolCalls: true }, { text: 'never' }];
  const legacy = [new ErrorPresenceCheck<ScriptedState>(({ errors }) => errors.length > 0), goOn];
  const ends = await Promise.all(
    [{}, { criteria: legacy }].map(async (options) => setUpRunnable(createScriptedProcess(script, options)).orchestrator.run(start())),
  );
  expect(ends.map(({ status, stopReason, stepCount }) => [status, stopReason, stepCount])).toEqual([
    ['failed', 'error', 2],
    ['failed', 'error', 2],
  ]);
});

test.each([
  ['its partial text', () => ({ text: 'So far so good' })],
  ['what was cancelled as a failure', () => ({ errors: [{ ...failure, code: 'cancelled' }] })],
])('a producer that answers a deadline with %s has handed in an interrupted step', async (_, entry) => {
  const clock = createFakeClock();
  const scripted = createScriptedProcess(() => entry(), { limits: { wallMs: 100 } });
  const process: StepProcess<ScriptedState> = {
    ...scripted,
    produce: async (state, scope) => {
      await scope.effects.run('model/1', () => new Promise(() => undefined));
      return scripted.produce(state, scope);
    },
  };
  const running = setUpRunnable(process, clock).orchestrator.run(start());
  await clock.advance(150);
  const end = await running;
  expect([end.status, end.stopReason, end.currentStep?.interrupted, end.errors]).toEqual(['stopped', 'time_limit', 'deadline', []]);
});

test('a run that was told to end does not wait for anybody', async () => {
  const scripted = createScriptedProcess([{ text: 'May I?', waits: [approval('call-1')] }]);
  const controller = new AbortController();
  const process: StepProcess<ScriptedState> = {
    ...scripted,
    produce: (state, scope) => {
      controller.abort('closed the tab');
      return scripted.produce(state, scope);
    },
  };
  const end = await setUpRunnable(process).orchestrator.run(start(), { signal: controller.signal });
  expect([end.status, end.stopReason, end.currentStep?.interrupted, end.text]).toEqual(['stopped', 'user_requested', 'signal', 'May I?']);
});

test('two waits with one id are refused: one answer would settle both', async () => {
  const { orchestrator } = setUpRunnable(createScriptedProcess([{ waits: [approval('call-1'), approval('call-1')] }]));
  const end = await orchestrator.run(start());
  expect([end.status, end.errors[0]?.message]).toEqual(['failed', expect.stringContaining('Two waits have the id "call-1"')]);
});

test('what a step has cost and said shows while it waits, and counts once', async () => {
  const { orchestrator } = setUpRunnable(
    createScriptedProcess([{ text: 'May I?', usage: { input: 500, output: 50 }, waits: [approval('call-1')] }]),
  );
  const usages: number[] = [];
  const waiting = await orchestrator.run(start(), { onEvent: (event) => event.type === 'AgentFinished' && usages.push(event.usage.total) });
  expect([waiting.usage.total, waiting.session.usage.total, waiting.text, ...usages]).toEqual([550, 550, 'May I?', 550]);
  const end = await orchestrator.run(waiting.approve('call-1'));
  expect([end.usage.total, end.session.usage.total]).toEqual([550, 550]);
});

test('answers that were given before a step was superseded are on its record', async () => {
  const { orchestrator } = setUpRunnable(createScriptedProcess([{ waits: [approval('call-1'), approval('call-2')] }]));
  const waiting = (await orchestrator.run(start())).approve('call-1').withUserMessage('Never mind.');
  const closed = waiting.session.executions[0]?.results.last;
  expect([closed?.step.answers, closed?.stopReason]).toEqual([[{ type: 'approved', id: 'call-1' }], 'user_requested']);
});

test('a producer that changes its step after handing it in changes no record', async () => {
  const scripted = createScriptedProcess([{ text: 'As said.' }]);
  let kept: { errors: unknown[]; outputMessages: unknown[] } | undefined;
  const process: StepProcess<ScriptedState> = {
    ...scripted,
    produce: async (state, scope) => {
      const produced = await scripted.produce(state, scope);
      // Holds because the script hands in a whole step; this is what code without types can do.
      kept = (produced as { step: unknown }).step as typeof kept;
      return produced;
    },
  };
  const end = await setUpRunnable(process).orchestrator.run(start());
  expect(() => kept?.errors.push('later')).toThrow(TypeError);
  expect(() => kept?.outputMessages.pop()).toThrow(TypeError);
  expect([end.errors, end.text]).toEqual([[], 'As said.']);
});

test('what a giver does with a value later does not change the state it was given to', async () => {
  const given = { tenant: 'acme' };
  const state = ScriptedState.empty({ metadata: { given } }).withMetadata('also', given);
  given.tenant = 'other';
  expect(state.metadata).toEqual({ given: { tenant: 'acme' }, also: { tenant: 'acme' } });
});

test('one of two readers that leaves does not take the events from the other', async () => {
  const { orchestrator } = setUpRunnable(createScriptedProcess([{ hasToolCalls: true }, { text: 'Done.' }]));
  const run = orchestrator.start(start());
  const leave = async (): Promise<void> => {
    for await (const event of run) if (event.seq > 0) break;
  };
  const stay = async (): Promise<string | undefined> => {
    let last: string | undefined;
    for await (const { type } of run) last = type;
    return last;
  };
  const [last] = await Promise.all([stay(), leave()]);
  expect(last).toBe('AgentFinished');
});

test('a work driver that has nothing to do before the first step does not keep the run from starting', async () => {
  const presence = new ToolCallPresenceCheck<ScriptedState>(({ currentStep }) => currentStep?.hasToolCalls === true);
  for (const criteria of [[presence], []]) {
    const { orchestrator } = setUpRunnable(createScriptedProcess([{ text: 'Done.' }], { criteria }));
    expect(orchestrator.hasNextStep(start())).toBe(true);
    const end = await orchestrator.run(start());
    expect([end.status, end.stepCount, end.text]).toEqual(['completed', 1, 'Done.']);
  }
});

test('a failure that no criterion judges does not pass for success', async () => {
  const presence = new ToolCallPresenceCheck<ScriptedState>(({ currentStep }) => currentStep?.hasToolCalls === true);
  const { orchestrator } = setUpRunnable(createScriptedProcess([{ throws: new Error('boom') }], { criteria: [presence] }));
  const end = await orchestrator.run(start());
  expect([end.status, end.stopReason, end.lastContinuationOutcome?.resolvedBy]).toEqual(['failed', 'error', 'ErrorPolicyCriterion']);
});

test.each([
  ['nothing', undefined, "Return { type: 'step', step }"],
  ['a bare step', { id: '1', outputMessages: [], errors: [], usage: Usage.none() }, "Return { type: 'step', step }"],
  ['no usage', { type: 'step', step: { id: '1', outputMessages: [], errors: [] } }, 'usage must be a Usage'],
  ['text for messages', { type: 'step', step: { id: '1', outputMessages: ['hi'], errors: [], usage: Usage.none() } }, 'list of Message'],
  ['no list of errors', { type: 'step', step: { id: '1', outputMessages: [], usage: Usage.none() } }, 'errors must be a list'],
  ['no step at all', { type: 'step' }, 'the step is not an object'],
])('a producer that returns %s is told so, in a failed step', async (_, produced, words) => {
  const process: StepProcess<ScriptedState> = {
    ...createScriptedProcess([{}]),
    // Holds because this is what a producer without types can return.
    produce: () => Promise.resolve(produced as never),
  };
  const end = await setUpRunnable(process).orchestrator.run(start());
  expect([end.status, end.errors[0]?.code]).toEqual(['failed', 'invalid-argument']);
  expect(end.errors[0]?.message).toContain(words);
});

test('stored data that was parsed but not read is refused in words', async () => {
  const { orchestrator } = setUpRunnable(createScriptedProcess([{ text: 'Done.' }]));
  const parsed = JSON.parse(JSON.stringify(start())) as ScriptedState;
  await expect(orchestrator.run(parsed)).rejects.toThrow(/read stored data with fromJSON/);
  expect(() => orchestrator.hasNextStep(parsed)).toThrow(/read stored data with fromJSON/);
});

test('an error that names its tool is handled by the rule for that tool', async () => {
  const policy = ErrorPolicy.retryAll(5).withTool('refund', 'stop');
  const { orchestrator } = setUpRunnable(
    createScriptedProcess([{ throws: new ToolFailedError('no', { toolName: 'refund' }) }], { policy }),
  );
  const end = await orchestrator.run(start());
  expect([end.stopReason, end.stepCount, end.errors[0]?.toolName]).toEqual(['error', 1, 'refund']);
});
