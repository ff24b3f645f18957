// What is kept beside a step, whatever becomes of it; what happens before a start and after a record; runs inside steps.
import { describe, expect, test } from 'vitest';
import type { ContinuationEvaluation } from '../continuation/index.ts';
import { MessageStore, Usage } from '../messages/index.ts';
import type { Script, ScriptedProcessOptions, ScriptedStep } from '../testing/index.ts';
import { createCountingIds, createFakeClock, createScriptedProcess, ScriptedState } from '../testing/index.ts';
import type { LoopEvent } from './loop-events.ts';
import { createStepByStep } from './step-by-step.ts';
import type { Observed, StepProcess } from './step-process.ts';
import type { StepScope } from './step-scope.ts';
import { StepNotes } from './step-notes.ts';

type Changes = Partial<StepProcess<ScriptedState>>;
const goesOn: ScriptedStep = { text: 'One moment.', hasToolCalls: true, usage: { input: 10, output: 0 } };
const finishes: ScriptedStep = { text: 'Here it is.', usage: { input: 10, output: 0 } };
const allow: ContinuationEvaluation = { criterion: 'Noted', decision: 'allow', reason: 'nothing against it', context: {} };
const forbid: ContinuationEvaluation = { criterion: 'Noted', decision: 'forbid', reason: 'enough', stopReason: 'guard', context: {} };
const spent = { usage: Usage.of({ input: 100, output: 0 }), cost: { usd: 1 } };

function setUp(
  script: Script,
  { options = {}, changes = {} }: { readonly options?: ScriptedProcessOptions; readonly changes?: Changes } = {},
) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const problems: unknown[] = [];
  const process: StepProcess<ScriptedState> = { ...createScriptedProcess(script, { clock, ...options }), ...changes };
  const orchestrator = createStepByStep(process, { clock, ids, onProblem: (problem) => void problems.push(problem) });
  const start = ScriptedState.empty({ clock, ids }).withUserMessage('Hello.', { ids });
  return { clock, orchestrator, start, problems, process };
}

/** The same process, which notes before it produces. */
const noting = (script: Script, note: (scope: StepScope) => void, options: ScriptedProcessOptions = {}) => {
  const { produce } = createScriptedProcess(script, options);
  return setUp(script, { options, changes: { produce: (state, scope) => (note(scope), produce(state, scope)) } });
};

describe('notes', () => {
  test('join a step once each, and later ones are added', () => {
    const notes = new StepNotes();
    notes.add({ evaluations: [allow], ...spent, metadata: { a: 1 } });
    const step = { id: '1', outputMessages: [], usage: Usage.none(), errors: [] };
    const joined = notes.joinTo(step);
    expect(joined).toMatchObject({ usage: { total: 100 }, cost: { usd: 1 } });
    notes.add({ evaluations: [forbid], metadata: { b: 2 } });
    expect(notes.joinTo(joined)).toMatchObject({ usage: { total: 100 }, cost: { usd: 1 } });
    expect(notes.evaluations).toStrictEqual([allow, forbid]);
    expect([notes.over({ a: 0, c: 3 }), notes.forbidding]).toStrictEqual([{ a: 1, b: 2, c: 3 }, forbid]);
  });

  test.each<[string, ScriptedStep]>([
    ['whole', finishes],
    ['failed', { throws: new Error('broken') }],
  ])('are kept where a step is %s', async (_, step) => {
    const note = (scope: StepScope): void => scope.notes.add({ evaluations: [allow], ...spent, metadata: { seen: true } });
    const { orchestrator, start } = noting([step], note);
    const end = await orchestrator.run(start);
    expect([end.usage.total, end.cost, end.metadata]).toStrictEqual([(step.usage?.input ?? 0) + 100, { usd: 1 }, { seen: true }]);
    expect(end.lastStepResult?.outcome.evaluations.filter(({ criterion }) => criterion === 'Noted')).toStrictEqual([allow]);
  });

  test('are kept where a step is cut off, and what is noted after that is not', async () => {
    const scopes: StepScope[] = [];
    const stop = new AbortController();
    const note = (scope: StepScope): void => {
      scope.notes.add({ ...spent, metadata: { seen: true } });
      scopes.push(scope);
    };
    const { orchestrator, start, clock } = noting([{ hangs: 'deaf' }], note);
    const running = orchestrator.run(start, { signal: stop.signal });
    await clock.advance(1);
    stop.abort();
    await clock.advance(100);
    const end = await running;
    scopes[0]?.notes.add({ ...spent, metadata: { late: true } });
    expect([end.stopReason, end.usage.total, end.metadata]).toStrictEqual(['user_requested', 100, { seen: true }]);
  });

  test('are kept on a step that waits, through JSON, and counted once', async () => {
    const waits = [{ type: 'person' as const, id: 'p' }];
    let isFirst = true;
    const note = (scope: StepScope): void => {
      if (isFirst) scope.notes.add({ evaluations: [allow], ...spent, metadata: { seen: true } });
      isFirst = false;
    };
    const { orchestrator, start } = noting([{ ...finishes, waits }], note);
    const waiting = await orchestrator.run(start);
    expect([waiting.status, waiting.usage.total, waiting.metadata]).toStrictEqual(['waiting', 110, { seen: true }]);
    const end = await orchestrator.run(ScriptedState.fromJSON(JSON.parse(JSON.stringify(waiting.answer('p', 'yes')))));
    expect([end.status, end.usage.total, end.cost]).toStrictEqual(['completed', 110, { usd: 1 }]);
    expect(end.lastStepResult?.outcome.evaluations).toContainEqual(allow);
  });

  test('put the conversation in another form before the messages of the step', async () => {
    const note = (scope: StepScope): void => scope.notes.add({ store: MessageStore.empty() });
    const { orchestrator, start } = noting([finishes], note);
    expect((await orchestrator.run(start)).messages.toArray().map(({ text }) => text)).toStrictEqual(['Here it is.']);
  });

  test('of a vote against going on let nobody wait any more', async () => {
    const note = (scope: StepScope): void => scope.notes.add({ evaluations: [forbid] });
    const { orchestrator, start } = noting([{ ...goesOn, waits: [{ type: 'person', id: 'p' }] }], note);
    const end = await orchestrator.run(start);
    expect([end.status, end.stopReason, end.currentStep?.interrupted]).toStrictEqual(['stopped', 'guard', 'vote']);
    expect(end.explain()).toContain('The rest of the step was skipped.');
  });
});

describe('before a start', () => {
  test('votes, metadata and what was spent join the judgement and the state', async () => {
    const enter = (_: ScriptedState, scope: StepScope): void =>
      scope.notes.add({ evaluations: [allow], ...spent, metadata: { from: 'start' } });
    const { orchestrator, start } = setUp([goesOn, finishes], { changes: { enter } });
    const end = await orchestrator.run(start);
    expect([end.status, end.usage.total, end.cost, end.metadata]).toStrictEqual(['completed', 120, { usd: 1 }, { from: 'start' }]);
  });

  test('what is spent counts against the limits before the first step', async () => {
    const enter = (_: ScriptedState, scope: StepScope): void => scope.notes.add(spent);
    const { orchestrator, start } = setUp([finishes], { options: { limits: { tokens: 50 } }, changes: { enter } });
    const end = await orchestrator.run(start);
    expect([end.stopReason, end.stepCount, end.startOutcome?.resolvedBy]).toStrictEqual(['token_limit', 0, 'TokenUsageLimit']);
  });

  test.each<[string, Changes['enter'], string, RegExp]>([
    ['forbids', (_, scope) => scope.notes.add({ evaluations: [forbid] }), 'guard', /enough/],
    [
      'throws',
      () => {
        throw new Error('no database');
      },
      'error',
      /no database/,
    ],
    ['rejects', () => Promise.reject(new Error('no database')), 'error', /no database/],
  ])('what %s refuses it, and that is kept', async (_, enter, reason, words) => {
    const { orchestrator, start } = setUp([finishes], { changes: { enter: enter! } });
    const end = await orchestrator.run(start);
    expect([end.stepCount, end.stopReason]).toStrictEqual([0, reason]);
    expect(end.explain()).toMatch(words);
  });

  test('what hangs is cut off with the run, and by its time limit', async () => {
    const enter = (): Promise<void> => new Promise(() => undefined);
    const stopped = setUp([finishes], { changes: { enter } });
    const stop = new AbortController();
    const running = stopped.orchestrator.run(stopped.start, { signal: stop.signal });
    stop.abort();
    await stopped.clock.advance(100);
    expect((await running).stopReason).toBe('user_requested');
    const timed = setUp([finishes], { options: { limits: { wallMs: 1000 } }, changes: { enter } });
    const waiting = timed.orchestrator.run(timed.start);
    await timed.clock.advance(1100);
    expect((await waiting).stopReason).toBe('time_limit');
  });

  test('is entered once per execution, and again where more was granted', async () => {
    const entered: number[] = [];
    const enter = (state: ScriptedState): void => void entered.push(state.stepCount);
    const { orchestrator, start } = setUp([goesOn, goesOn, finishes], {
      options: { limits: { steps: 1, onLimit: 'pause' } },
      changes: { enter },
    });
    const paused = await orchestrator.run(start);
    await orchestrator.run(paused.grant({ steps: 5 }));
    expect(entered).toStrictEqual([0, 1]);
  });
});

describe('after the record', () => {
  test('what was recorded is shown, once it was stored, and changes nothing', async () => {
    const order: unknown[] = [];
    const observe = ({ result, stopReason }: Observed<ScriptedState>): void => {
      order.push(['seen', result?.number, stopReason]);
      throw new Error('blind');
    };
    const { orchestrator, start, problems } = setUp([goesOn, finishes], { changes: { observe } });
    const end = await orchestrator.run(start, { commit: ({ result }) => void order.push(['stored', result?.number]) });
    expect(order).toStrictEqual([
      ['stored', 1],
      ['seen', 1, undefined],
      ['stored', 2],
      ['seen', 2, 'completed'],
    ]);
    expect([end.status, problems.length]).toStrictEqual(['completed', 2]);
  });

  test('a store that fails shows nothing', async () => {
    const seen: unknown[] = [];
    const { orchestrator, start } = setUp([finishes], { changes: { observe: (each) => void seen.push(each) } });
    await expect(orchestrator.run(start, { commit: () => Promise.reject(new Error('full')) })).rejects.toThrow('full');
    expect(seen).toStrictEqual([]);
  });
});

describe('a run inside a step', () => {
  /** An outer run whose first step runs the inner one and takes over its end. */
  function setUpNested(inner: ReturnType<typeof setUp>, options: ScriptedProcessOptions = {}) {
    const clock = inner.clock;
    const ids = createCountingIds('outer');
    const ends: ScriptedState[] = [];
    const { produce, ...rest } = createScriptedProcess([goesOn, finishes], { clock, ...options });
    const process: StepProcess<ScriptedState> = {
      ...rest,
      produce: async (state, scope) => {
        if (scope.stepNumber === 1)
          ends.push(
            await inner.orchestrator.run(inner.start, { inside: scope.nesting.openInside('inner', { own: { usage: Usage.none() } }) }),
          );
        return produce(state, scope);
      },
    };
    const orchestrator = createStepByStep(process, { clock, ids });
    const start = ScriptedState.empty({ clock, ids }).withUserMessage('Hello.', { ids });
    const events: LoopEvent[] = [];
    return { orchestrator, start, ends, events, onEvent: (event: LoopEvent) => void events.push(event) };
  }

  test('spends what the outer step has spent, and numbers its events in the same line', async () => {
    const { orchestrator, start, ends, events, onEvent } = setUpNested(setUp([goesOn, finishes]));
    const end = await orchestrator.run(start, { onEvent });
    expect([end.status, end.usage.total, end.steps[0]?.usage.total, ends[0]?.usage.total]).toStrictEqual(['completed', 40, 30, 20]);
    expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_, index) => index + 1));
    expect(end.data.lastSeq).toBe(events.length);
  });

  test('is bound by the limits outside, whose answers stand in its own trace', async () => {
    const { orchestrator, start, ends } = setUpNested(setUp([goesOn, goesOn, goesOn, finishes]), { limits: { tokens: 20 } });
    const end = await orchestrator.run(start);
    expect([end.stopReason, ends[0]?.stopReason, ends[0]?.stepCount]).toStrictEqual(['token_limit', 'token_limit', 2]);
    expect(ends[0]?.lastContinuationOutcome?.resolvedBy).toBe('OuterTokenUsageLimit');
  });

  test('that was stored by the outer run leaves its events in that commit', async () => {
    const stored: (readonly { readonly seq: number }[])[] = [];
    const { orchestrator, start } = setUpNested(setUp([finishes]));
    await orchestrator.run(start, { commit: ({ events }) => void stored.push(events) });
    expect(stored.flat().map(({ seq }) => seq)).toStrictEqual(stored.flat().map((_, index) => index + 1));
    expect(stored).toHaveLength(2);
  });

  test('ends by itself without ending the outer one', async () => {
    const inner = setUp([{ hangs: 'deaf' }], { options: { limits: { wallMs: 1000 } } });
    const { orchestrator, start, ends } = setUpNested(inner);
    const running = orchestrator.run(start);
    await inner.clock.advance(1200);
    expect([(await running).status, ends[0]?.stopReason]).toStrictEqual(['completed', 'time_limit']);
  });

  test('that is left behind tells and spends nothing any more', async () => {
    const inner = setUp([{ hangs: 'deaf' }, finishes]);
    const { orchestrator, start, events, onEvent } = setUpNested(inner);
    const stop = new AbortController();
    const running = orchestrator.run(start, { signal: stop.signal, onEvent });
    await inner.clock.advance(1);
    stop.abort();
    await inner.clock.advance(100);
    const end = await running;
    const told = events.length;
    await inner.clock.advance(10_000);
    expect([events.length, end.stopReason]).toStrictEqual([told, 'user_requested']);
    expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_, index) => index + 1));
  });
});
