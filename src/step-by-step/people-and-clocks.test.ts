// People take their time, change their minds and say no: what they do costs the run nothing, and nothing of it is lost.
import { describe, expect, test } from 'vitest';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import { Message } from '../messages/index.ts';
import type { Script, ScriptedProcessOptions } from '../testing/index.ts';
import { createScriptedProcess, ScriptedState } from '../testing/index.ts';
import type { Limits, StepProcess, Wait } from './index.ts';
import { createStepByStep } from './index.ts';

type Change = (process: StepProcess<ScriptedState>) => Partial<StepProcess<ScriptedState>>;

function setUp(script: Script, limits: Limits = {}, { change, ...options }: ScriptedProcessOptions & { readonly change?: Change } = {}) {
  const clock = createFakeClock();
  const ids = createCountingIds('id');
  const finalizing: boolean[] = [];
  const read: (readonly string[])[] = [];
  const scripted = createScriptedProcess(script, { limits, clock, ...options });
  const changed = { ...scripted, ...change?.(scripted) };
  const process: StepProcess<ScriptedState> = {
    ...changed,
    produce: (state, scope) => {
      finalizing.push(scope.finalizing);
      read.push(state.messages.toArray().map(({ text }) => text));
      return changed.produce(state, scope);
    },
  };
  const orchestrator = createStepByStep(process, { clock, ids });
  const start = ScriptedState.empty({ clock, ids }).withUserMessage('Go.', { ids });
  return { clock, orchestrator, start, finalizing, read };
}

const inMemory = (state: ScriptedState): ScriptedState => state;
const throughJson = (state: ScriptedState): ScriptedState => ScriptedState.fromJSON(JSON.parse(JSON.stringify(state)));
const ways = [
  ['in memory', inMemory],
  ['through JSON', throughJson],
] as const;

const usage = { input: 10, output: 5 };
const goesOn = { hasToolCalls: true, text: 'working', usage };
const approval = (id: string): Wait => ({ type: 'approval', id, toolName: 'pay', args: {} });
const hour = 3_600_000;

describe.each(ways)('the time that people take, %s,', (_, carry) => {
  const asks: Script = ({ stepCount }) =>
    stepCount === 0 ? { ...goesOn, takesMs: 100, waits: [approval('a'), approval('b')] } : { text: 'Done.', usage };

  test('is not the run’s: two hours before an approval are no time on its clock', async () => {
    const { clock, orchestrator, start } = setUp(asks, { wallMs: 1000 });
    const waiting = carry(await orchestrator.nextStep(start));
    expect([waiting.status, waiting.waitingFor.length]).toStrictEqual(['waiting', 2]);
    await clock.advance(2 * hour);
    const answered = carry(carry(waiting.approve('a')).approve('b'));
    expect(orchestrator.hasNextStep(answered)).toBe(true);
    const went = carry(await orchestrator.nextStep(answered));
    expect([went.status, went.stopReason]).toStrictEqual(['in_progress', undefined]);
    expect(went.steps).toMatchObject([{ answers: [{ type: 'approved' }, { type: 'approved' }] }]);
    expect(went.steps[0]?.interrupted).toBeUndefined();
    const end = await orchestrator.nextStep(went);
    expect([end.status, end.stopReason, end.text, end.execution.activeMs]).toStrictEqual(['completed', 'completed', 'Done.', 100]);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('is not the run’s either where only one of two was answered in between', async () => {
    const { clock, orchestrator, start } = setUp(asks, { wallMs: 1000 });
    const waiting = carry(await orchestrator.nextStep(start));
    await clock.advance(hour);
    const half = carry(await orchestrator.run(waiting.approve('a')));
    expect([half.status, half.waitingFor.map(({ id }) => id)]).toStrictEqual(['waiting', ['b']]);
    await clock.advance(hour);
    const went = await orchestrator.nextStep(half.approve('b'));
    expect([went.status, went.steps[0]?.interrupted]).toStrictEqual(['in_progress', undefined]);
  });

  test('is not the run’s where it waits for time itself: a grant an hour later is good for what it says', async () => {
    const { clock, orchestrator, start } = setUp([{ ...goesOn, takesMs: 2000 }, { text: 'Done.' }], { wallMs: 1000, onLimit: 'pause' });
    const waiting = carry(await orchestrator.nextStep(start));
    expect([waiting.status, waiting.waitingFor.map(({ id }) => id)]).toStrictEqual(['waiting', ['grant/wall']]);
    await clock.advance(hour);
    const granted = carry(waiting.grant({ wallMs: 60_000 }));
    expect([granted.status, orchestrator.hasNextStep(granted)]).toStrictEqual(['in_progress', true]);
    await clock.advance(hour);
    expect(orchestrator.hasNextStep(granted)).toBe(true);
    const end = await orchestrator.nextStep(granted);
    expect([end.status, end.stopReason, end.text]).toStrictEqual(['completed', 'completed', 'Done.']);
  });

  test('is not the run’s where a start was refused for want of a second grant', async () => {
    const { clock, orchestrator, start } = setUp([{ ...goesOn, takesMs: 2000 }, { text: 'Done.' }], {
      wallMs: 1000,
      steps: 1,
      onLimit: 'pause',
    });
    const waiting = carry(await orchestrator.nextStep(start));
    const half = carry(await orchestrator.nextStep(waiting.grant({ wallMs: 1000 })));
    expect([half.status, half.waitingFor.map(({ id }) => id)]).toStrictEqual(['waiting', ['grant/steps']]);
    await clock.advance(hour);
    const granted = carry(half.grant({ steps: 5 }));
    expect(orchestrator.hasNextStep(granted)).toBe(true);
    expect((await orchestrator.nextStep(granted)).text).toBe('Done.');
  });
});

describe.each(ways)('what the user said meanwhile, %s,', (_, carry) => {
  /** Asks again if the edited arguments are text. */
  const picky: Change = ({ produce }) => ({
    produce: async (state, scope) => {
      const { pendingStep } = state;
      const isBad = pendingStep?.answers.some((answer) => answer.type === 'approved' && typeof answer.args === 'string') === true;
      if (pendingStep === undefined || !isBad) return produce(state, scope);
      return { type: 'waiting', partial: pendingStep.partial, waits: pendingStep.waits.map((wait) => ({ ...wait, problem: 'no object' })) };
    },
  });
  const script: Script = ({ stepCount, session }) =>
    stepCount === 0 && session.executions.length < 2 ? { ...goesOn, waits: [approval('a')] } : { text: 'Done.' };

  test('is kept where an answer could not be used and another message gives the step up', async () => {
    const { orchestrator, start, read } = setUp(script, {}, { change: picky });
    const waiting = carry(await orchestrator.run(start));
    const again = carry(await orchestrator.run(carry(waiting.approve('a', { args: 'bad' }).withUserMessage('A'))));
    expect([again.status, again.waitingFor]).toStrictEqual(['waiting', [{ ...approval('a'), problem: 'no object' }]]);
    const end = await orchestrator.run(carry(again.withUserMessage('B')));
    expect(end.status).toBe('completed');
    expect(read.at(-1)).toStrictEqual(['Go.', 'working', 'A', 'B']);
  });

  test('is kept where the step goes on after all', async () => {
    const { orchestrator, start, read } = setUp(script, {}, { change: picky });
    const waiting = carry(await orchestrator.run(start));
    const again = carry(await orchestrator.run(waiting.approve('a', { args: 'bad' }).withUserMessage('A')));
    const end = await orchestrator.run(carry(again.approve('a').withUserMessage('B')));
    expect(end.status).toBe('completed');
    expect(read.at(-1)).toStrictEqual(['Go.', 'working', 'A', 'B']);
  });
});

describe('waits that cannot be answered', () => {
  test.each<[string, readonly Wait[], RegExp]>([
    ['two with one id', [approval('a'), approval('b'), approval('a')], /Two waits have the id "a"/],
    ['none at all', [], /waiting step without waits/],
  ])('%s: the step fails, and keeps its usage and messages', async (_, waits, message) => {
    const { orchestrator, start } = setUp([{ ...goesOn, waits }]);
    const end = await orchestrator.run(start);
    expect([end.status, end.stepCount, end.usage.total, end.text]).toStrictEqual(['failed', 1, 15, 'working']);
    expect(end.errors.map((failure) => failure.message)).toStrictEqual([expect.stringMatching(message)]);
    expect(end.messages.toArray().map(({ text }) => text)).toStrictEqual(['Go.', 'working']);
    expect([end.pendingStep, end.waitingFor]).toStrictEqual([undefined, []]);
    expect(throughJson(end).usage).toStrictEqual(end.usage);
  });
});

describe.each(ways)('a grant between the decision to sum up and the summary, %s,', (_, carry) => {
  const script: Script = ({ stepCount }) => (stepCount < 2 ? goesOn : { text: 'Done.', usage });

  test('makes the run go on where it is enough', async () => {
    const { orchestrator, start, finalizing } = setUp(script, { steps: 1, onLimit: 'finalize' });
    const due = carry(await orchestrator.nextStep(start));
    expect([due.status, due.lastContinuationOutcome?.isFinalizing]).toStrictEqual(['in_progress', true]);
    const granted = carry(due.grant({ steps: 5 }));
    expect(orchestrator.hasNextStep(granted)).toBe(true);
    const end = await orchestrator.run(granted);
    expect([end.status, end.stopReason, end.stepCount, end.text]).toStrictEqual(['completed', 'completed', 3, 'Done.']);
    expect(finalizing).toStrictEqual([false, false, false]);
    expect(end.execution.grants).toStrictEqual([{ steps: 5 }]);
    expect(end.steps.some((step) => step.finalizing === true)).toBe(false);
  });

  test('makes it go on step by step, too, and sums up when that is used up', async () => {
    const { orchestrator, start, finalizing } = setUp([goesOn], { steps: 1, onLimit: 'finalize' });
    let state = carry((await orchestrator.nextStep(start)).grant({ steps: 1 }));
    while (orchestrator.hasNextStep(state)) state = carry(await orchestrator.nextStep(state));
    expect([state.status, state.stopReason, finalizing]).toStrictEqual(['stopped', 'steps_limit', [false, false, true]]);
  });

  test.each<[string, Limits, Parameters<ScriptedState['grant']>[0], string]>([
    ['of another kind', { steps: 1 }, { tokens: 1000 }, 'steps_limit'],
    ['of too little', { tokens: 5 }, { tokens: 5 }, 'token_limit'],
    ['for one limit of two', { steps: 1, tokens: 5 }, { steps: 5 }, 'token_limit'],
  ])('%s still lets it sum up', async (__, limits, amounts, reason) => {
    const { orchestrator, start, finalizing } = setUp(script, { ...limits, onLimit: 'finalize' });
    const granted = carry(carry(await orchestrator.nextStep(start)).grant(amounts));
    expect(orchestrator.hasNextStep(granted)).toBe(true);
    const end = await orchestrator.run(granted);
    expect([end.status, end.stopReason, end.stepCount, finalizing]).toStrictEqual(['stopped', reason, 2, [false, true]]);
    expect(end.steps.at(-1)?.finalizing).toBe(true);
  });

  test('of time counts from when the run goes on', async () => {
    const { clock, orchestrator, start, finalizing } = setUp([{ ...goesOn, takesMs: 2000 }, { text: 'Done.' }], {
      wallMs: 1000,
      onLimit: 'finalize',
    });
    const due = carry(await orchestrator.nextStep(start));
    expect(due.lastContinuationOutcome?.isFinalizing).toBe(true);
    const granted = carry(due.grant({ wallMs: 60_000 }));
    const end = await orchestrator.run(granted);
    expect([end.status, end.text, finalizing, clock.pendingTimers()]).toStrictEqual(['completed', 'Done.', [false, false], 0]);
  });
});

describe('a grant that is refused', () => {
  test.each(ways)('ends the run at its limit, and says so, %s', async (_, carry) => {
    const { orchestrator, start } = setUp([goesOn], { steps: 2, onLimit: 'pause' });
    const waiting = carry(await orchestrator.run(start));
    const refused = carry(waiting.reject('grant/steps', 'the budget is spent'));
    expect([refused.status, refused.stopReason, refused.waitingFor]).toStrictEqual(['stopped', 'steps_limit', []]);
    expect(refused.explain()).toContain('Somebody refused to grant more: the budget is spent.');
    expect(refused.explain()).toMatch(/^Stopped after step 2: the step limit was reached/);
    expect(orchestrator.hasNextStep(refused)).toBe(false);
    const told: string[] = [];
    const ended = await orchestrator.run(refused, { onEvent: ({ type }) => told.push(type) });
    expect([ended.status, ended.stepCount, told]).toStrictEqual(['stopped', 2, ['AgentFinished']]);
    expect(await orchestrator.run(ended)).toBe(ended);
    expect(() => refused.grant({ steps: 1 })).toThrow('this execution has ended (steps_limit)');
    expect(() => refused.reject('grant/steps')).toThrow();
    const next = carry(refused.withUserMessage('Again.'));
    expect([next.status, next.execution.number, next.execution.grantRefused]).toStrictEqual(['pending', 2, undefined]);
    expect((await orchestrator.run(next)).status).toBe('waiting');
  });

  test('without a reason says that there was none', async () => {
    const { orchestrator, start } = setUp([goesOn], { steps: 1, onLimit: 'pause' });
    const refused = (await orchestrator.run(start)).reject('grant/steps');
    expect(refused.explain()).toContain('Somebody refused to grant more: no reason was given.');
  });

  test('for one of two limits ends it too', async () => {
    const { orchestrator, start } = setUp([goesOn], { steps: 1, tokens: 5, onLimit: 'pause' });
    const refused = throughJson((await orchestrator.run(start)).reject('grant/tokens', 'no'));
    expect([refused.status, refused.waitingFor, orchestrator.hasNextStep(refused)]).toStrictEqual(['stopped', [], false]);
  });

  test.each([
    ['answered', (state: ScriptedState) => state.answer('grant/steps', 5)],
    ['approved', (state: ScriptedState) => state.approve('grant/steps')],
  ])('cannot be %s, and the way to settle it is told', async (_, act) => {
    const { orchestrator, start } = setUp([goesOn], { steps: 1, onLimit: 'pause' });
    const waiting = await orchestrator.run(start);
    expect(() => act(waiting)).toThrow('"grant/steps" is waiting for a grant. Answer it with grant(amounts) or reject(id, reason).');
    expect(waiting.status).toBe('waiting');
  });
});

describe('what people hand in is looked at', () => {
  const waitingFor = async (): Promise<ScriptedState> => {
    const { orchestrator, start } = setUp([{ ...goesOn, waits: [approval('a')] }]);
    return orchestrator.run(start);
  };

  test.each([[{ reason: 'no' }], [7], [null], [['no']]])('a reason of %o is refused', async (reason) => {
    const waiting = await waitingFor();
    expect(() => waiting.reject('a', reason as never)).toThrow('The reason of reject() must be a string');
  });

  test('a rejection without a reason says that there was none', async () => {
    const { pendingStep } = (await waitingFor()).reject('a');
    expect(pendingStep?.answers).toStrictEqual([{ type: 'rejected', id: 'a', reason: 'no reason was given' }]);
  });

  test.each([[{ to: 'Bob' }], [{ args: {}, to: 'Bob' }], ['Bob'], [null], [['Bob']]])('approve(id, %o) is refused', async (options) => {
    const waiting = await waitingFor();
    expect(() => waiting.approve('a', options as never)).toThrow('The options of approve() must be { args }, not');
    expect(waiting.approve('a', { args: { to: 'Bob' } }).status).toBe('in_progress');
  });

  test.each([[undefined], [null], [7], [{}], [[]], [{ role: 'user', content: 'Hi.' }]])('withUserMessage(%o) is refused', (content) => {
    const state = ScriptedState.empty();
    expect(() => state.withUserMessage(content as never)).toThrow('withUserMessage() needs a string, a message or a list of parts, not');
  });

  test.each<[unknown, string]>([
    [[{ type: 'text' }], 'A message cannot hold this: parts[0].text expected a string, found nothing.'],
    [{ type: 'file', url: 'report', mediaType: 'application/pdf' }, 'parts[0].url must be a URL, not "report".'],
    [{ type: 'file', data: 'AAAA', mediaType: '' }, 'parts[0].mediaType must be a media type such as "image/png", not "".'],
    [{ type: 'image', data: '' }, 'parts[0].data must be base64 data, not "".'],
  ])('withUserMessage(%o) names what is wrong', (content, problem) => {
    expect(() => ScriptedState.empty().withUserMessage(content as never)).toThrow(problem);
  });

  test('withUserMessage() takes text, a message and parts', () => {
    const state = ScriptedState.empty()
      .withUserMessage('A')
      .withUserMessage(Message.user('B'))
      .withUserMessage({ type: 'text', text: 'C' });
    expect(state.messages.toArray().map(({ text }) => text)).toStrictEqual(['A', 'B', 'C']);
  });

  test.each([[{ why: 'lunch' }], [7], [null], [() => 'lunch'], ['']])('requestStop(%o) leaves a state that can be read', async (reason) => {
    const { orchestrator, start, clock } = setUp([{ ...goesOn, sleepsMs: 100 }]);
    const running = orchestrator.start(start);
    await clock.advance(10);
    running.requestStop(reason as never);
    await clock.advance(100);
    const { state: end } = await running.result;
    expect([end.status, end.stopReason]).toStrictEqual(['stopped', 'user_requested']);
    const read = throughJson(end);
    expect(read.explain()).toBe(end.explain());
    expect(read.explain()).toContain('Stopped on request after step 1: stop was requested.');
  });

  test.each<[object, string]>([
    [{ abortSignal: new AbortController().signal }, 'Unknown option "abortSignal" in the options of a run'],
    [{ abortSignal: new AbortController().signal }, 'Use signal.'],
    [{ signal: new AbortController() }, 'signal must be an AbortSignal'],
    [{ signal: { aborted: false } }, 'signal must be an AbortSignal'],
    [{ onEvent: 'log' }, 'onEvent must be a function, not "log".'],
    [{ onEvents: () => undefined }, 'Unknown option "onEvents" in the options of a run'],
  ])('the run option %o is refused: %s', async (options, message) => {
    const { orchestrator, start, finalizing } = setUp([{ text: 'Done.' }]);
    const given = options as never;
    await expect(orchestrator.run(start, given)).rejects.toThrow(message);
    await expect(orchestrator.nextStep(start, given)).rejects.toThrow(message);
    expect(() => orchestrator.start(start, given)).toThrow(message);
    expect(() => orchestrator.iterate(start, given)).toThrow(message);
    expect(finalizing).toStrictEqual([]);
  });

  test('run options that are undefined are as good as absent', async () => {
    const { orchestrator, start } = setUp([{ text: 'Done.' }]);
    expect((await orchestrator.run(start, { signal: undefined, onEvent: undefined, context: undefined })).status).toBe('completed');
  });
});
