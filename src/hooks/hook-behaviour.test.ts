// What hooks, guards and capabilities do to a run, on both rooms that talk to a model.
import { describe, expect, test } from 'vitest';
import { pickSubjects } from '../../tests/support/test-scale.ts';
import type { CanExplainContinuation, ContinuationCriterion, ContinuationEvaluation, Findings, StopReason } from '../continuation/index.ts';
import {
  ContinuationDecision,
  CostLimit,
  CumulativeExecutionTimeLimit,
  ErrorPolicyCriterion,
  ExecutionTimeLimit,
  FinishReasonCheck,
  RepeatedToolCall,
  ResponseContentCheck,
  StepsLimit,
  TokenUsageLimit,
  ToolCallPresenceCheck,
} from '../continuation/index.ts';
import { AgentErrorContextResolver, ErrorPolicy, ToolFailedError } from '../errors/index.ts';
import type { GuardPoint, Hook, HookChange } from './index.ts';
import { defineAnyCapability as defineCapability, guardHook, HookFailedError, HookPoint } from './index.ts';
import type { Model, ModelOutcome, ModelRequest } from '../inference/index.ts';
import type { FakeClock } from '../lib/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import { Message, MessageStore, SectionName } from '../messages/index.ts';
import type { RunOptions, StepByStep } from '../step-by-step/index.ts';
import type { ScriptedEntry, ScriptedToolCall } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import type { ToolEvent, ToolUseOptions } from '../tool-use/index.ts';
import { defineHook, ToolUse, ToolUseState } from '../tool-use/index.ts';
import type { Tool } from '../tools/index.ts';
import { defineTool } from '../tools/index.ts';
import { AgentBuilder, AgentState, createAgent } from '../agent/index.ts';

// The set-up

type Options = ToolUseOptions<ToolUseState>;
type Subject = StepByStep<ToolUseState, unknown, unknown, ToolEvent>;
type AnyHook = Hook<ToolUseState, unknown>;

const subjects = {
  ToolUse: { open: (options: Options): Subject => new ToolUse(options), empty: ToolUseState.empty },
  createAgent: { open: (options: Options): Subject => createAgent(options), empty: AgentState.empty },
} as const;
type Name = keyof typeof subjects;
const names = pickSubjects(Object.keys(subjects) as readonly Name[]);

const usage = { input: 10, output: 5 };
const says = (text: string): ScriptedEntry => ({ text, usage });
const calls = (...toolCalls: readonly ScriptedToolCall[]): ScriptedEntry => ({ toolCalls, usage });
const call = calls({ name: 'work' });
const breaks = calls({ name: 'broken' });
const never = (): Promise<never> => new Promise(() => undefined);

const anything = { type: 'object', properties: {} } as const;
const tool = (name: string, run: (args: unknown) => unknown): Tool =>
  defineTool({ name, description: `Does ${name}.`, input: anything, run: (args) => run(args) });
const fails = (): never => {
  throw new ToolFailedError('It broke.');
};

interface World extends Partial<Omit<Options, 'model' | 'ports' | 'tools'>> {
  readonly script?: readonly ScriptedEntry[];
  readonly model?: Model;
  readonly clock?: FakeClock;
  readonly tools?: readonly Tool[];
}

function setUp(name: Name, { script = [], clock = createFakeClock(), model: given, tools = [], ...options }: World) {
  const ids = createCountingIds('id');
  const model = scriptedModel(script);
  const ran: unknown[] = [];
  const problems: unknown[] = [];
  const events: ToolEvent[] = [];
  const { open, empty } = subjects[name];
  const work = tool('work', (args) => (ran.push(args), 'worked'));
  const orchestrator = open({
    model: given ?? model,
    tools: [work, tool('broken', fails), ...tools],
    errors: ErrorPolicy.retryToolErrors(10),
    limits: { steps: 10, tokens: Infinity, wallMs: Infinity },
    ...options,
    ports: { clock, ids, random: () => 0.5, onProblem: (problem: unknown) => problems.push(problem) },
  });
  const start = empty({ clock, ids }).withUserMessage('Go.', { ids });
  const run = (state: ToolUseState = start, more: RunOptions<ToolUseState, unknown, ToolEvent> = {}) =>
    orchestrator.run(state, {
      ...more,
      onEvent: (event) => {
        events.push(event);
        return more.onEvent?.(event);
      },
    });
  return { orchestrator, model, clock, start, run, ran, problems, events };
}

const listTypes = (events: readonly ToolEvent[]): readonly string[] => events.map(({ type }) => type);
const ofType = <Type extends ToolEvent['type']>(events: readonly ToolEvent[], type: Type) =>
  events.filter((event): event is Extract<ToolEvent, { readonly type: Type }> => event.type === type);
const roundTrip = (state: ToolUseState): ToolUseState =>
  ToolUseState.fromJSON(JSON.parse(JSON.stringify(ToolUseState.codec.encode(state))));
const interruptions = ({ steps }: ToolUseState) => steps.map(({ interrupted }) => interrupted);
const lastVotes = ({ lastContinuationOutcome }: ToolUseState): readonly ContinuationEvaluation[] =>
  lastContinuationOutcome?.evaluations ?? [];

const { ForbidContinuation, AllowContinuation, AllowStop, RequestContinuation } = ContinuationDecision;
const voting = (name: string, ...decisions: readonly ContinuationDecision[]): AnyHook =>
  defineHook({
    name,
    changes: ['votes'],
    afterStep: () => ({ votes: decisions.map((decision) => ({ decision, reason: `${name} says ${decision}` })) }),
  });

const wall = ({ execution }: ToolUseState): number | undefined => execution.wallStartedAt;
const activeSeconds = ({ execution }: ToolUseState): number => execution.activeMs / 1000;

// The tests

describe.each(names)('votes of hooks in %s', (name) => {
  test.each([
    [[AllowContinuation], false],
    [[AllowStop], false],
    [[RequestContinuation], false],
    [[AllowContinuation, AllowStop, RequestContinuation], false],
    [[ForbidContinuation], true],
    [[RequestContinuation, ForbidContinuation, AllowStop], true],
  ] as const)('%s: the outcome is forbidden only where one of them forbids', async (decisions, isForbidden) => {
    const { run } = setUp(name, {
      script: [call, says('Done.'), says('Done.')],
      hooks: [voting('voter', ...decisions)],
      limits: { steps: 2 },
    });
    const end = await run();
    expect(end.stepResults[0]?.outcome.isForbidden).toBe(isForbidden);
    expect(end.stepCount).toBe(isForbidden ? 1 : 2);
  });

  test('that only allow let the run go on, and nobody is named', async () => {
    const { run } = setUp(name, {
      script: [call, says('Done.')],
      hooks: [voting('one', AllowContinuation), voting('other', AllowContinuation)],
    });
    const end = await run();
    expect(end.stepResults.map(({ outcome }) => [outcome.shouldContinue, outcome.resolvedBy])).toStrictEqual([
      [true, 'ToolCallPresenceCheck'],
      [false, 'ToolCallPresenceCheck'],
    ]);
    expect([end.status, end.stopReason]).toStrictEqual(['completed', 'completed']);
  });

  test('that let go end it beside those that allow, where nobody asks for more', async () => {
    const { run } = setUp(name, { script: [says('Done.')], hooks: [voting('one', AllowContinuation), voting('other', AllowStop)] });
    const end = await run();
    expect(end.lastContinuationOutcome).toMatchObject({ decision: AllowStop, shouldContinue: false, isForbidden: false });
    expect([end.stepCount, end.stopReason]).toStrictEqual([1, 'completed']);
  });

  test('that let go do not end it while there are results that the model has not read', async () => {
    const { run } = setUp(name, { script: [call, says('Done.')], hooks: [voting('tired', AllowStop)] });
    const end = await run();
    expect([end.stepCount, end.text]).toStrictEqual([2, 'Done.']);
  });

  test('that ask for more are heard over those that let go: a critic gets its revision', async () => {
    const critic = defineHook({
      name: 'critic',
      changes: ['votes'],
      afterStep: ({ step, stepNumber }) => {
        if (step.outputMessages.at(-1)?.text === 'Good.') return undefined;
        if (stepNumber >= 3) return { votes: { decision: 'forbid', reason: 'revised twice, still bad', stopReason: 'retry_limit' } };
        return { votes: { decision: 'request', reason: 'not good enough' } };
      },
    });
    const revised = setUp(name, { script: [says('Bad.'), says('Good.')], hooks: [critic] });
    const good = await revised.run();
    expect([good.text, good.stepCount, good.status, good.stepResults[0]?.outcome.resolvedBy]).toStrictEqual([
      'Good.',
      2,
      'completed',
      'critic',
    ]);
    const hopeless = setUp(name, { script: [says('Bad.'), says('Bad.'), says('Bad.'), says('Never.')], hooks: [critic] });
    const bad = await hopeless.run();
    expect([bad.stepCount, bad.status, bad.stopReason]).toStrictEqual([3, 'stopped', 'retry_limit']);
  });

  test('all stand in the trace, whatever the first one said, and the first who forbids is named everywhere', async () => {
    const hooks = [
      voting('polite', AllowContinuation),
      voting('strict', ForbidContinuation),
      voting('eager', RequestContinuation),
      voting('stricter', ForbidContinuation),
    ];
    const { run, events } = setUp(name, { script: [call, says('Never.')], hooks });
    const end = await run();
    const byHooks = lastVotes(end).filter(({ context }) => context['point'] === 'after_step');
    expect(byHooks.map(({ criterion, decision }) => [criterion, decision])).toStrictEqual([
      ['polite', AllowContinuation],
      ['strict', ForbidContinuation],
      ['eager', RequestContinuation],
      ['stricter', ForbidContinuation],
    ]);
    const named = { resolvedBy: 'strict', stopReason: 'guard' };
    expect(end.lastContinuationOutcome).toMatchObject(named);
    expect(end.lastStepResult?.outcome).toMatchObject(named);
    expect(ofType(events, 'ContinuationEvaluated').at(-1)).toMatchObject(named);
    expect(ofType(events, 'AgentFinished').at(-1)).toMatchObject({ ...named, status: 'stopped' });
  });

  test('of a hook that looks at failures join the same judgement', async () => {
    const hook = defineHook({
      name: 'no-second-chance',
      changes: ['votes'],
      onError: ({ errors }) => ({ votes: { decision: 'forbid', reason: errors.map(({ code }) => code).join(), stopReason: 'error' } }),
    });
    const { run, events } = setUp(name, { script: [breaks, says('Never.')], hooks: [hook] });
    const end = await run();
    expect([end.status, end.stopReason, end.lastContinuationOutcome?.resolvedBy, end.stepCount]).toStrictEqual([
      'failed',
      'error',
      'no-second-chance',
      1,
    ]);
    expect(ofType(events, 'ContinuationEvaluated')).toHaveLength(1);
    expect(end.lastContinuationOutcome?.getEvaluationFor('no-second-chance')?.reason).toBe('tool-failed');
  });
});

describe.each(names)('the error policy as a hook in %s', (name) => {
  const policies = {
    stopOnAnyError: ErrorPolicy.stopOnAnyError(),
    'retryToolErrors(1)': ErrorPolicy.retryToolErrors(1),
    'retryToolErrors(2)': ErrorPolicy.retryToolErrors(2),
    'retryToolErrors(3)': ErrorPolicy.retryToolErrors(3),
    ignoreToolErrors: ErrorPolicy.ignoreToolErrors(),
  } as const;

  test.each(Object.keys(policies) as (keyof typeof policies)[])('%s: the run ends as with the policy among the criteria', async (which) => {
    const script = [breaks, breaks, says('Done.')];
    const policy = policies[which];
    const guard = new ErrorPolicyCriterion<ToolUseState>(policy, new AgentErrorContextResolver());
    const asRule = await setUp(name, { script, errors: policy }).run();
    const asHook = await setUp(name, { script, hooks: [guardHook(guard, { name: 'Policy' })] }).run();
    const summarize = ({ status, stopReason, stepCount, text, usage: used }: ToolUseState) => [status, stopReason, stepCount, text, used];
    expect(summarize(asHook)).toStrictEqual(summarize(asRule));
  });

  test('a careful builder stops at a tool error although a hook asks to go on, and one that retries goes on', async () => {
    const insists = voting('insists', RequestContinuation);
    const builder = AgentBuilder.base()
      .withTools(tool('broken', fails))
      .withHooks(insists)
      .withMaxSteps(2)
      .withPorts({ clock: createFakeClock(), ids: createCountingIds('id') });
    const careful = await builder
      .withModel(scriptedModel([breaks]))
      .build()
      .start('Go.').result;
    expect([careful.status, careful.state.stopReason, careful.state.stepCount]).toStrictEqual(['failed', 'error', 1]);
    const patient = builder.withModel(scriptedModel([breaks, says('Done.')])).withErrorPolicy(ErrorPolicy.retryToolErrors(3));
    const { state } = await patient.build().start('Go.').result;
    expect([state.stepCount, state.text]).toStrictEqual([2, 'Done.']);
  });
});

// Guards

/** The same guard under a name that no built-in criterion has. */
const withName = (guard: ContinuationCriterion<ToolUseState>): CanExplainContinuation<ToolUseState> => {
  if (!('explain' in guard)) throw new Error('Every guard here explains itself.');
  return {
    name: 'TheGuard',
    explain: (state, findings) => ({ ...guard.explain(state, findings), criterion: 'TheGuard' }),
    ...(guard.remainingMs !== undefined && {
      remainingMs: (state: ToolUseState, findings?: Findings) => guard.remainingMs?.(state, findings),
    }),
  };
};

interface GuardRow {
  readonly guard: string;
  /** The run's script; the limits lie just above, at and just below its usage. */
  readonly world: (clock: FakeClock) => World;
  readonly make: (limit: number) => ContinuationCriterion<ToolUseState>;
  readonly at: readonly (readonly [limit: number, stopReason: StopReason, steps: number])[];
}

const slowly =
  (clock: FakeClock, ms: number): ScriptedEntry =>
  () => {
    clock.skip(ms);
    return { toolCalls: [{ name: 'work' }], usage };
  };
const watched: readonly (readonly string[])[] = [[], ['length'], ['content_filter', 'length']];

const guards: readonly GuardRow[] = [
  {
    guard: 'StepsLimit',
    world: () => ({ script: [call, call, says('Done.')] }),
    make: (limit) => new StepsLimit(limit, ({ stepCount }) => stepCount),
    at: [
      [4, 'completed', 3],
      [3, 'steps_limit', 3],
      [2, 'steps_limit', 2],
    ],
  },
  {
    guard: 'TokenUsageLimit',
    world: () => ({ script: [call, says('Done.')] }),
    make: (limit) => new TokenUsageLimit(limit, ({ usage: used }) => used),
    at: [
      [16, 'token_limit', 2],
      [15, 'token_limit', 1],
      [14, 'token_limit', 1],
    ],
  },
  {
    guard: 'TokenUsageLimit, at the last step',
    world: () => ({ script: [call, says('Done.')] }),
    make: (limit) => new TokenUsageLimit(limit, ({ usage: used }) => used),
    at: [
      [31, 'completed', 2],
      [30, 'token_limit', 2],
      [29, 'token_limit', 2],
    ],
  },
  {
    guard: 'ExecutionTimeLimit',
    world: (clock) => ({ clock, script: [slowly(clock, 1000), says('Done.')] }),
    make: (limit) => new ExecutionTimeLimit(limit, wall),
    at: [
      [1.001, 'completed', 2],
      [1, 'time_limit', 1],
      [0.999, 'time_limit', 1],
    ],
  },
  {
    guard: 'CumulativeExecutionTimeLimit',
    world: (clock) => ({ clock, script: [slowly(clock, 1000), says('Done.')] }),
    make: (limit) => new CumulativeExecutionTimeLimit(limit, activeSeconds),
    at: [
      [1.001, 'completed', 2],
      [1, 'time_limit', 1],
      [0.999, 'time_limit', 1],
    ],
  },
  {
    guard: 'CostLimit',
    world: () => ({ script: [call, says('Done.')], price: ({ input }) => ({ usd: input / 10 }) }),
    make: (limit) => new CostLimit(limit, ({ cost }) => cost),
    at: [
      [1.01, 'guard', 2],
      [1, 'guard', 1],
      [0.99, 'guard', 1],
    ],
  },
  {
    guard: 'FinishReasonCheck',
    world: () => ({ script: [{ text: 'Done', usage, finishReason: 'length' }] }),
    make: (count) => new FinishReasonCheck(watched[count] ?? [], ({ currentStep }) => currentStep?.finishReason),
    at: [
      [0, 'completed', 1],
      [1, 'finish_reason', 1],
      [2, 'finish_reason', 1],
    ],
  },
  {
    guard: 'ToolCallPresenceCheck',
    world: () => ({ script: [says('One.'), says('Two.'), says('Three.')] }),
    make: (limit) => new ToolCallPresenceCheck(({ stepCount }) => stepCount < limit),
    at: [
      [1, 'completed', 1],
      [2, 'completed', 2],
      [3, 'completed', 3],
    ],
  },
  {
    guard: 'ErrorPolicyCriterion',
    world: () => ({ script: [breaks, breaks, says('Done.')] }),
    make: (limit) => new ErrorPolicyCriterion(ErrorPolicy.retryToolErrors(limit), new AgentErrorContextResolver()),
    at: [
      [3, 'completed', 3],
      [2, 'retry_limit', 2],
      [1, 'retry_limit', 1],
    ],
  },
  {
    guard: 'RepeatedToolCall',
    world: () => ({ script: [call, call, call, says('Done.')] }),
    make: (limit) => new RepeatedToolCall(limit, ({ steps }, count) => steps.slice(-count).map(({ toolCalls }) => toolCalls)),
    at: [
      [4, 'completed', 4],
      [3, 'guard', 3],
      [2, 'guard', 2],
    ],
  },
  {
    guard: 'ResponseContentCheck',
    world: () => ({ script: [says('abc'), says('abcdef')] }),
    make: (limit) =>
      new ResponseContentCheck<ToolUseState, string>(
        ({ stepCount, text }) => (stepCount === 0 ? undefined : text),
        (text) => text.length < limit,
      ),
    at: [
      [4, 'completed', 2],
      [3, 'completed', 1],
      [2, 'completed', 1],
    ],
  },
];
const guardCases = guards.flatMap(({ guard, world, make, at }) =>
  at.map(([limit, stopReason, steps]) => ({ guard, world, make, limit, stopReason, steps })),
);

/** Lists the guard's evaluations, step by step. */
const wordsOfGuard = ({ stepResults }: ToolUseState) =>
  stepResults.map(({ outcome }) => {
    const { context: { point: _, ...context } = {}, ...evaluation } = outcome.getEvaluationFor('TheGuard') ?? {};
    return { ...evaluation, context };
  });
const getEnd = (end: ToolUseState) => ({
  status: end.status,
  stopReason: end.stopReason,
  resolvedBy: end.lastContinuationOutcome?.resolvedBy,
  interrupted: interruptions(end),
  said: wordsOfGuard(end),
  text: end.text,
});

describe.each(names)('a guard as a hook in %s', (name) => {
  test.each(guardCases)('$guard with $limit stops as among the criteria: $stopReason after $steps', async (row) => {
    const { world, make, limit, stopReason, steps } = row;
    const asRule = await setUp(name, { ...world(createFakeClock()), criteria: [withName(make(limit))] }).run();
    const asHook = await setUp(name, { ...world(createFakeClock()), hooks: [guardHook(make(limit), { name: 'TheGuard' })] }).run();
    expect([asHook.stopReason, asHook.stepCount]).toStrictEqual([stopReason, steps]);
    expect(getEnd(asHook)).toStrictEqual(getEnd(asRule));
  });

  test.each([
    [116, 2, 130],
    [115, 1, 115],
    [114, 1, 115],
  ])('with %i tokens reads what hooks before it have spent in the same step, once, as among the criteria', async (limit, steps, total) => {
    const world = (): World => {
      const critic = scriptedModel([{ text: 'fine', usage: { input: 100, output: 0 } }]);
      const asks = defineHook({
        name: 'critic',
        changes: ['metadata'],
        afterStep: async ({ ask, stepNumber }) => {
          if (stepNumber === 1) await ask(critic, { messages: [Message.user('Is it fine?')] });
        },
      });
      const marks = defineHook({ name: 'marks', changes: ['metadata'], afterStep: () => ({ metadata: { marked: true } }) });
      return { script: [call, says('Done.')], hooks: [asks, marks] };
    };
    const guard = new TokenUsageLimit<ToolUseState>(limit, ({ usage: used }) => used);
    const asRule = await setUp(name, { ...world(), criteria: [withName(guard)] }).run();
    const { hooks = [], ...rest } = world();
    const asHook = await setUp(name, { ...rest, hooks: [...hooks, guardHook(guard, { name: 'TheGuard' })] }).run();
    expect([asRule.stopReason, asRule.stepCount, asRule.usage.total]).toStrictEqual(['token_limit', steps, total]);
    expect([asHook.stopReason, asHook.stepCount, asHook.usage.total]).toStrictEqual(['token_limit', steps, total]);
  });

  test('reads the time that hooks before it took in the same step, as among the criteria', async () => {
    const world = (): World => {
      const clock = createFakeClock();
      const slow = defineHook({
        name: 'slow',
        changes: ['metadata'],
        afterStep: ({ stepNumber }) => {
          if (stepNumber === 1) clock.skip(500);
        },
      });
      return { clock, script: [call, says('Done.')], hooks: [slow] };
    };
    // Without a deadline: only what is read at the step's end counts.
    const limit = new CumulativeExecutionTimeLimit<ToolUseState>(0.5, activeSeconds);
    const reading: CanExplainContinuation<ToolUseState> = { name: 'TheGuard', explain: withName(limit).explain };
    const asRule = await setUp(name, { ...world(), criteria: [reading] }).run();
    const { hooks = [], ...rest } = world();
    const asHook = await setUp(name, { ...rest, hooks: [...hooks, guardHook(reading)] }).run();
    expect([asRule.stopReason, asRule.stepCount]).toStrictEqual(['time_limit', 1]);
    expect([asHook.stopReason, asHook.stepCount]).toStrictEqual(['time_limit', 1]);
  });

  test.each([
    [1, 'steps_limit', 'stopped', 1],
    [2, 'steps_limit', 'stopped', 2],
    [3, 'completed', 'completed', 3],
  ] as const)('before a step, StepsLimit(%i) keeps the next one from beginning', async (limit, stopReason, status, asked) => {
    const guard = guardHook(new StepsLimit<ToolUseState>(limit, ({ stepCount }) => stepCount), { name: 'TheGuard', at: ['before_step'] });
    const { run, model, ran, events } = setUp(name, { script: [call, call, says('Done.')], hooks: [guard] });
    const end = await run();
    expect([end.stopReason, end.status, model.calls.length]).toStrictEqual([stopReason, status, asked]);
    expect(ran).toHaveLength(Math.min(asked, 2));
    expect([end.lastStepResult?.stopReason, end.errors]).toStrictEqual([stopReason, []]);
    expect([end.stepCount, end.currentStep?.interrupted]).toStrictEqual([asked, undefined]);
    // The step that the guard kept from starting has a decision, but no start and no record.
    const numbers = (type: 'AgentStepStarted' | 'AgentStepCompleted') => ofType(events, type).map(({ stepNumber }) => stepNumber);
    expect(numbers('AgentStepCompleted')).toStrictEqual(end.stepResults.map(({ number }) => number));
    expect(numbers('AgentStepStarted')).toStrictEqual(numbers('AgentStepCompleted'));
    expect(ofType(events, 'ContinuationEvaluated').at(-1)).toMatchObject({ stopReason, shouldContinue: false });
  });

  test('before a step, a hook that could have kept it from starting is asked first; if it fails, the step started', async () => {
    const changes = defineHook({ name: 'noting', changes: ['votes', 'metadata'], beforeStep: () => ({ metadata: { seen: true } }) });
    const once = setUp(name, { script: [says('Done.')], hooks: [changes] });
    await once.run();
    const started = listTypes(once.events).indexOf('AgentStepStarted');
    expect(listTypes(once.events).slice(started - 1, started + 2)).toStrictEqual(['HookApplied', 'AgentStepStarted', 'InferenceStarted']);
    const broken = defineHook({ name: 'broken', changes: ['votes'], beforeStep: () => Promise.reject(new Error('offline')) });
    const failing = setUp(name, { hooks: [broken], errors: ErrorPolicy.stopOnAnyError() });
    await failing.run();
    expect(listTypes(failing.events).filter((type) => type.startsWith('AgentStep'))).toStrictEqual([
      'AgentStepStarted',
      'AgentStepCompleted',
    ]);
  });

  test.each([
    ['StepsLimit', new StepsLimit<ToolUseState>(0, ({ stepCount }) => stepCount), 'steps_limit'],
    ['TokenUsageLimit', new TokenUsageLimit<ToolUseState>(0, ({ usage: used }) => used), 'token_limit'],
    ['CostLimit', new CostLimit<ToolUseState>(0, ({ cost }) => cost), 'guard'],
  ] as const)('at execution_start, %s of 0 refuses the start: no step was begun, and the reason is kept', async (_, guard, stopReason) => {
    const { run, model, events, start } = setUp(name, {
      script: [says('Never.')],
      hooks: [guardHook(guard, { name: 'TheGuard', at: ['execution_start'] })],
    });
    const end = await run();
    expect([end.stopReason, end.status, end.stepCount, model.calls.length]).toStrictEqual([stopReason, 'stopped', 0, 0]);
    expect(end.startOutcome).toMatchObject({ resolvedBy: 'TheGuard', stopReason, shouldContinue: false });
    expect(end.messages.toArray()).toStrictEqual(start.messages.toArray());
    expect(listTypes(events)).toStrictEqual(['AgentExecutionStarted', 'ContinuationEvaluated', 'AgentStateUpdated', 'AgentFinished']);
    expect(roundTrip(end).startOutcome?.stopReason).toBe(stopReason);
  });

  test('at execution_start lets a start pass that its limit allows, and is not asked again', async () => {
    const asked: number[] = [];
    const guard = new StepsLimit<ToolUseState>(1, ({ stepCount }) => (asked.push(stepCount), stepCount));
    const { run } = setUp(name, {
      script: [call, says('Done.')],
      hooks: [guardHook(guard, { name: 'TheGuard', at: ['execution_start'] })],
    });
    expect((await run()).status).toBe('completed');
    expect(asked).toStrictEqual([0]);
  });

  test('is asked beside the others, and all of them stand in the trace', async () => {
    const limits = [
      guardHook(new StepsLimit<ToolUseState>(1, ({ stepCount }) => stepCount), { name: 'Steps' }),
      guardHook(new TokenUsageLimit<ToolUseState>(15, ({ usage: used }) => used), { name: 'Tokens' }),
      guardHook(new ExecutionTimeLimit<ToolUseState>(60, wall), { name: 'Wall' }),
      guardHook(new CostLimit<ToolUseState>(1, ({ cost }) => cost), { name: 'Cost' }),
    ];
    const { run } = setUp(name, { script: [call, says('Never.')], hooks: limits });
    const end = await run();
    const own = lastVotes(end).filter(({ context }) => 'point' in context);
    expect(own.map(({ criterion, decision }) => [criterion, decision])).toStrictEqual([
      ['Steps', ForbidContinuation],
      ['Tokens', ForbidContinuation],
      ['Wall', AllowContinuation],
      ['Cost', AllowContinuation],
    ]);
    expect([end.stopReason, end.lastContinuationOutcome?.resolvedBy]).toStrictEqual(['steps_limit', 'Steps']);
  });

  test('is asked at its points alone', async () => {
    const seen: [string, number][] = [];
    const noting = (at: 'execution_start' | 'before_step' | 'after_step') =>
      guardHook<ToolUseState>(new StepsLimit<ToolUseState>(10, ({ stepCount }) => (seen.push([at, stepCount]), stepCount)), {
        name: at,
        at: [at],
      });
    const { run } = setUp(name, {
      script: [call, says('Done.')],
      hooks: [noting('execution_start'), noting('before_step'), noting('after_step')],
    });
    await run();
    expect(seen).toStrictEqual([
      ['execution_start', 0],
      ['before_step', 0],
      ['after_step', 1],
      ['before_step', 1],
      ['after_step', 2],
    ]);
  });

  test('whose clock has not started permits', async () => {
    const clock = createFakeClock();
    const guard = new ExecutionTimeLimit<ToolUseState>(1, () => undefined);
    const at = ['execution_start', 'before_step', 'after_step'] as const;
    const { run } = setUp(name, {
      clock,
      script: [slowly(clock, 5000), says('Done.')],
      hooks: [guardHook(guard, { name: 'TheGuard', at })],
    });
    const end = await run();
    expect([end.status, end.stepCount]).toStrictEqual(['completed', 2]);
    expect(end.lastContinuationOutcome?.getEvaluationFor('TheGuard')).toMatchObject({
      decision: AllowContinuation,
      context: { elapsedSeconds: 0 },
    });
  });

  const timeGuards = {
    ExecutionTimeLimit: () => new ExecutionTimeLimit<ToolUseState>(1, wall),
    CumulativeExecutionTimeLimit: () => new CumulativeExecutionTimeLimit<ToolUseState>(1, activeSeconds),
  } as const;
  const cutOffCases = (Object.keys(timeGuards) as (keyof typeof timeGuards)[]).flatMap((guard) =>
    ([['after_step'], ['before_step'], ['execution_start']] as const).map((at) => ({ guard, at })),
  );

  test.each(cutOffCases)('$guard at $at cuts a hanging model off, and the run ends at the time limit', async ({ guard, at }) => {
    const { run, clock, events } = setUp(name, { script: [never], hooks: [guardHook(timeGuards[guard](), { name: 'TheGuard', at })] });
    const running = run();
    await clock.advance(999);
    expect(listTypes(events)).not.toContain('AgentFinished');
    await clock.advance(1);
    const end = await running;
    expect(interruptions(end)).toStrictEqual(['deadline']);
    expect([end.status, end.stopReason, end.stepCount, end.errors]).toStrictEqual(['stopped', 'time_limit', 1, []]);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('that waits for a grant waits as a hook too, and goes on when it was granted', async () => {
    const guard = new StepsLimit<ToolUseState>(1, ({ stepCount }) => stepCount, {
      onLimit: (_state, { workLeft }) => (workLeft === true ? 'pause' : 'stop'),
      granted: ({ execution }) => (execution.grants ?? []).reduce((sum, { steps = 0 }) => sum + steps, 0),
    });
    const { run } = setUp(name, { script: [call, says('Done.')], hooks: [guardHook(guard, { name: 'TheGuard' })] });
    const paused = await run();
    expect([paused.status, paused.stopReason, paused.waitingFor]).toStrictEqual([
      'waiting',
      undefined,
      [{ type: 'grant', id: 'grant/steps', limit: 'steps' }],
    ]);
    const end = await run(paused.grant({ steps: 5 }));
    expect([end.status, end.stopReason, end.text]).toStrictEqual(['completed', 'completed', 'Done.']);
  });

  test('that throws is a hook that failed, by its name', async () => {
    const broken = guardHook(new StepsLimit<ToolUseState>(1, () => Number.NaN), { name: 'TheGuard' });
    const { run } = setUp(name, { script: [call, says('Never.')], hooks: [broken], errors: ErrorPolicy.stopOnAnyError() });
    const end = await run();
    expect([end.status, end.stopReason, end.stepCount]).toStrictEqual(['failed', 'error', 1]);
    expect(end.errors).toMatchObject([
      { code: 'criterion-failed', message: expect.stringContaining('Hook "TheGuard" failed at after_step') as string },
    ]);
    expect(end.currentStep?.executions).toHaveLength(1);
  });

  test('gets a number if a criterion has its name', async () => {
    const guard = guardHook(new StepsLimit<ToolUseState>(1, ({ stepCount }) => stepCount));
    const end = await setUp(name, { script: [call, says('Never.')], hooks: [guard] }).run();
    expect([end.stopReason, end.lastContinuationOutcome?.resolvedBy]).toStrictEqual(['steps_limit', 'StepsLimit#2']);
  });

  test.each<[readonly GuardPoint[]]>([[['before_step']], [['before_step', 'after_step']], [['execution_start', 'after_step']]])(
    'at %j has one number everywhere if its name is taken',
    async (at) => {
      const limit = (most: number) => guardHook(new StepsLimit<ToolUseState>(most, ({ stepCount }) => stepCount), { at });
      const { run } = setUp(name, { script: [call, call, says('Done.')], hooks: [limit(9), limit(1)] });
      const end = await run();
      expect([end.stopReason, end.lastContinuationOutcome?.resolvedBy]).toStrictEqual(['steps_limit', 'StepsLimit#3']);
      const listed = new Set(lastVotes(end).flatMap(({ criterion }) => (criterion.startsWith('StepsLimit') ? [criterion] : [])));
      expect([...listed]).toStrictEqual(['StepsLimit', 'StepsLimit#2', 'StepsLimit#3']);
    },
  );

  test('that is a time limit cuts a step off under its number', async () => {
    const timeGuard = guardHook(new ExecutionTimeLimit<ToolUseState>(1, wall), { at: ['before_step'] });
    const limits = { steps: 10, tokens: Infinity, wallMs: 60_000 };
    const { run, clock } = setUp(name, { script: [never], limits, hooks: [timeGuard] });
    const running = run();
    await clock.advance(1000);
    const end = await running;
    expect([end.stopReason, end.lastContinuationOutcome?.resolvedBy]).toStrictEqual(['time_limit', 'ExecutionTimeLimit#2']);
  });
});

describe.each(names)('hooks of one name in %s', (name) => {
  test('all run, and each votes under a name of its own', async () => {
    const seen: string[] = [];
    const noting = (which: string): AnyHook =>
      defineHook({
        name: 'audit',
        changes: ['votes'],
        afterStep: () => {
          seen.push(which);
          return { votes: { decision: AllowContinuation, reason: which } };
        },
      });
    const capability = defineCapability({ name: 'careful', hooks: [noting('theirs')] });
    const world: World = { script: [says('Done.')], hooks: [noting('ours'), noting('ours again')], capabilities: [capability] };
    const end = await setUp(name, world).run();
    expect(seen).toStrictEqual(['ours', 'ours again', 'theirs']);
    expect(['audit', 'audit#2', 'audit#3'].map((each) => end.lastContinuationOutcome?.getEvaluationFor(each)?.reason)).toStrictEqual(seen);
  });

  test('and a criterion of that name are told apart', async () => {
    const criterion: ContinuationCriterion<ToolUseState> = { name: 'audit', decide: () => AllowContinuation };
    const { run } = setUp(name, { script: [call, says('Never.')], criteria: [criterion], hooks: [voting('audit', ForbidContinuation)] });
    const end = await run();
    expect([end.stopReason, end.lastContinuationOutcome?.resolvedBy]).toStrictEqual(['guard', 'audit#2']);
  });
});

// Points

const everyPoint = Object.values(HookPoint);
const handlerOf = {
  execution_start: 'executionStart',
  before_step: 'beforeStep',
  before_inference: 'beforeInference',
  after_inference: 'afterInference',
  before_tool: 'beforeTool',
  after_tool: 'afterTool',
  after_step: 'afterStep',
  on_error: 'onError',
  execution_end: 'executionEnd',
} as const satisfies Record<HookPoint, string>;

interface LooseOptions {
  readonly name: string;
  readonly changes?: readonly HookChange[];
}
type LooseHandlers = Partial<Record<HookPoint, (facts: { readonly point: HookPoint }) => unknown>>;

/** A hook whose handlers stand under the names of their points, as a host without types would give them. */
const looseHook = (options: LooseOptions, handlers: LooseHandlers): AnyHook =>
  defineHook({
    ...options,
    ...Object.fromEntries(Object.entries(handlers).map(([point, handler]) => [handlerOf[point as HookPoint], handler])),
  } as never);

/** A run that comes by every point. */
const everywhere = (): World => ({ script: [breaks, call, says('Done.')] });
const timesAt: Readonly<Record<HookPoint, number>> = {
  execution_start: 1,
  before_step: 3,
  before_inference: 3,
  after_inference: 3,
  before_tool: 2,
  after_tool: 2,
  after_step: 3,
  on_error: 1,
  execution_end: 1,
};

describe.each(names)('points in %s', (name) => {
  test.each(everyPoint)('a hook for %s is called there and nowhere else', async (point) => {
    for (const changes of [[], ...(point === 'execution_end' ? [] : [['votes' as const]])]) {
      const seen: string[] = [];
      const hook = looseHook(
        { name: 'only-there', changes },
        { [point]: (facts: { readonly point: HookPoint }) => void seen.push(facts.point) },
      );
      expect(hook.points).toStrictEqual([point]);
      const end = await setUp(name, { ...everywhere(), hooks: [hook] }).run();
      expect(end.status).toBe('completed');
      expect(seen).toStrictEqual(Array.from({ length: timesAt[point] }, () => point));
    }
  });

  test('hooks that can change a step come before it is judged, those that cannot after it was recorded', async () => {
    const order: string[] = [];
    const changing = defineHook({
      name: 'changing',
      changes: ['votes'],
      afterStep: ({ state }) => void order.push(`changing ${state.status}`),
    });
    const looking = defineHook({ name: 'looking', order: -5, afterStep: ({ state }) => void order.push(`looking ${state.status}`) });
    const { run } = setUp(name, { script: [says('Done.')], hooks: [looking, changing] });
    await run(undefined, {
      onEvent: ({ type }) => {
        if (type === 'ContinuationEvaluated' || type === 'AgentFinished') order.push(type);
      },
    });
    expect(order).toStrictEqual(['changing in_progress', 'ContinuationEvaluated', 'AgentFinished', 'looking completed']);
  });

  test('the start of the execution is known at execution_start', async () => {
    const seen: unknown[] = [];
    const hook = defineHook({
      name: 'start',
      executionStart: ({ state, executionId, stepNumber }) =>
        void seen.push([state.execution.startedAt, state.execution.id === executionId, stepNumber, state.status]),
    });
    const { run, clock } = setUp(name, { script: [says('Done.')], hooks: [hook] });
    await run();
    expect(seen).toStrictEqual([[clock.now(), true, 0, 'in_progress']]);
  });

  test('steps count from 1, in hooks, events and results alike', async () => {
    const seen: number[] = [];
    const hook = defineHook({ name: 'count', beforeStep: ({ stepNumber }) => void seen.push(stepNumber) });
    const { run, events } = setUp(name, { script: [call, says('Done.')], hooks: [hook] });
    const end = await run();
    expect(seen).toStrictEqual([1, 2]);
    expect(end.stepResults.map(({ number }) => number)).toStrictEqual([1, 2]);
    expect(ofType(events, 'AgentStepStarted').map(({ stepNumber }) => stepNumber)).toStrictEqual([1, 2]);
  });

  test('a step begins, and says so, before its hooks and its driver work, if none of them can forbid it', async () => {
    const clock = createFakeClock();
    const [began, order]: [number, string[]] = [clock.now(), []];
    const slow = defineHook({
      name: 'slow',
      beforeStep: () => {
        order.push('hook');
        clock.skip(30);
      },
    });
    const answer: ScriptedEntry = () => {
      order.push('model');
      clock.skip(40);
      return { text: 'Done.', usage };
    };
    const { run } = setUp(name, { clock, script: [answer], hooks: [slow] });
    const end = await run(undefined, {
      onEvent: ({ type, at }) => {
        if (type === 'AgentStepStarted' || type === 'InferenceStarted') order.push(`${type} +${at - began}`);
      },
    });
    expect(order).toStrictEqual(['AgentStepStarted +0', 'hook', 'InferenceStarted +30', 'model']);
    expect(end.lastStepResult?.timing).toStrictEqual({ startedAt: began, endedAt: began + 70, activeMs: 70, waitedMs: 0 });
  });
});

describe.each(names)('the trace of tools in %s', (name) => {
  test('is there for the next step, adds up over steps, and has the failures too', async () => {
    const seen: unknown[] = [];
    const hook = defineHook({
      name: 'reader',
      beforeInference: ({ state, messages }) =>
        void seen.push([
          state.steps.map(({ executions }) => executions.map(({ toolName, status }) => `${toolName} ${status}`)),
          messages.flatMap(({ toolResults }) => toolResults.map(({ toolName }) => toolName)),
        ]),
    });
    const { run, model } = setUp(name, { script: [call, breaks, says('Done.')], hooks: [hook] });
    await run();
    expect(seen).toStrictEqual([
      [[], []],
      [[['work succeeded']], ['work']],
      [
        [['work succeeded'], ['broken failed']],
        ['work', 'broken'],
      ],
    ]);
    expect(model.calls[2]?.messages.map(({ role }) => role)).toStrictEqual(['user', 'assistant', 'tool', 'assistant', 'tool']);
  });
});

// Failing hooks

describe.each(names)('a hook that fails in %s', (name) => {
  const stops = { errors: ErrorPolicy.stopOnAnyError() };
  const throwing = (point: HookPoint): AnyHook =>
    looseHook(
      { name: 'bad', changes: point === 'execution_end' ? [] : ['votes'] },
      {
        [point]: () => {
          throw new Error('out of paper');
        },
      },
    );
  const inAStep = everyPoint.filter((point) => point !== 'execution_start' && point !== 'execution_end');

  test.each(inAStep)('at %s is recorded as an error, with one step result', async (point) => {
    const { run, events } = setUp(name, { script: [point === 'on_error' ? breaks : call], hooks: [throwing(point)], ...stops });
    const end = await run();
    expect([end.status, end.stopReason, end.stepResults.length]).toStrictEqual(['failed', 'error', 1]);
    const own = end.errors.filter(({ code }) => code === 'hook-failed');
    expect(own.map(({ message }) => message)).toStrictEqual([`Hook "bad" failed at ${point}: out of paper`]);
    expect(end.lastStepResult?.stopReason).toBe('error');
    expect(ofType(events, 'ContinuationEvaluated')).toHaveLength(1);
    expect(listTypes(events).slice(-2)).toStrictEqual(['AgentFailed', 'AgentFinished']);
    expect(runnableAgain(name, end)).toBe(false);
  });

  test('at execution_start refuses the start: no step, and the reason is kept', async () => {
    const { run, events, model } = setUp(name, { script: [says('Never.')], hooks: [throwing('execution_start')], ...stops });
    const end = await run();
    expect([end.status, end.stopReason, end.stepCount, model.calls.length]).toStrictEqual(['failed', 'error', 0, 0]);
    expect(end.startOutcome?.evaluations[0]?.reason).toContain('Hook "bad" failed at execution_start: out of paper');
    expect(listTypes(events).slice(-2)).toStrictEqual(['AgentFailed', 'AgentFinished']);
  });

  test('at execution_end changes nothing that was decided, and is reported', async () => {
    const { run, problems } = setUp(name, { script: [says('Done.')], hooks: [throwing('execution_end')], ...stops });
    const end = await run();
    expect([end.status, end.stopReason, end.errors]).toStrictEqual(['completed', 'completed', []]);
    expect(problems).toStrictEqual([new HookFailedError({ hook: 'bad', point: 'execution_end' }, 'out of paper')]);
  });

  const runnableAgain = (which: Name, state: ToolUseState): boolean => setUp(which, { script: [] }).orchestrator.hasNextStep(state);
});

// What is told at the end

describe.each(names)('the end of a run in %s', (name) => {
  const forbidding = (point: HookPoint): AnyHook =>
    looseHook(
      { name: 'budget', changes: ['votes'] },
      { [point]: () => ({ votes: { decision: 'forbid', reason: 'no budget is left', stopReason: 'guard', context: { left: 0 } } }) },
    );
  const voters = everyPoint.filter((point) => point !== 'execution_end');

  test.each(voters)('by a vote at %s is told with its reason, its source and its words', async (point) => {
    const { run, events } = setUp(name, { script: [point === 'on_error' ? breaks : call, says('Never.')], hooks: [forbidding(point)] });
    const end = await run();
    const [evaluated, ...more] = ofType(events, 'ContinuationEvaluated');
    expect(more).toStrictEqual([]);
    expect(evaluated).toMatchObject({ shouldContinue: false, stopReason: 'guard', resolvedBy: 'budget' });
    expect(evaluated?.describe()).toBe('STOP (guard) budget: no budget is left (left 0)');
    expect(evaluated?.outcome.getEvaluationFor('budget')).toStrictEqual({
      criterion: 'budget',
      decision: 'forbid',
      reason: 'no budget is left',
      stopReason: 'guard',
      context: { point, left: 0 },
    });
    expect(events.at(-1)).toMatchObject({ type: 'AgentFinished', status: 'stopped', stopReason: 'guard', resolvedBy: 'budget' });
    expect(end.explain()).toContain('no budget is left');
  });

  const ends: Readonly<Record<string, World>> = {
    completed: { script: [says('Done.')] },
    stopped: { script: [call], hooks: [forbidding('after_step')] },
    'stopped before a step': { script: [call], hooks: [forbidding('before_step')] },
    'refused at the start': { script: [call], hooks: [forbidding('execution_start')] },
    failed: { script: [breaks], errors: ErrorPolicy.stopOnAnyError() },
    'failed by a hook': {
      script: [says('Done.')],
      errors: ErrorPolicy.stopOnAnyError(),
      hooks: [looseHook({ name: 'bad', changes: ['votes'] }, { after_step: () => 5 })],
    },
    waiting: {
      script: [calls({ name: 'gated' })],
      tools: [defineTool({ name: 'gated', description: 'A tool.', input: anything, needsApproval: true, run: () => 'ran' })],
      hooks: [looseHook({ name: 'looks', changes: ['votes'] }, { before_tool: () => undefined })],
    },
  };
  test.each(Object.keys(ends))('never says that it is in progress: %s', async (which) => {
    const { run, events } = setUp(name, ends[which] ?? {});
    const end = await run();
    expect(listTypes(events).filter((type) => type === 'AgentFinished')).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: 'AgentFinished', status: end.status });
    expect(['completed', 'stopped', 'failed', 'waiting']).toContain(end.status);
    // What was last told of the state agrees with it.
    expect(ofType(events, 'AgentStateUpdated').at(-1)?.status).toBe(end.status);
  });
});

// The provider boundary

describe.each(names)('hooks at the door of the model in %s', (name) => {
  /** A model that keeps what it was asked and what it answered. */
  function setUpRecorded(script: readonly ScriptedEntry[], modelId = 'script') {
    const inner = scriptedModel(script, { modelId });
    const [asked, answered]: [ModelRequest[], ModelOutcome[]] = [[], []];
    const keep = async (request: ModelRequest, outcome: Promise<ModelOutcome>): Promise<ModelOutcome> => {
      asked.push(request);
      answered.push(await outcome);
      return outcome;
    };
    const model: Model = {
      provider: inner.provider,
      modelId,
      generate: (request) => keep(request, inner.generate(request)),
      stream: (request, onDelta) => keep(request, inner.stream(request, onDelta)),
    };
    return { model, asked, answered };
  }
  const given = [Message.system('Be kind.'), Message.user('Only this.')];
  const settings = { temperature: 0.25, maxOutputTokens: 7 };
  const shaping = defineHook({
    name: 'shaping',
    changes: ['messages', 'settings', 'tools'],
    beforeInference: () => ({ messages: given, settings, tools: ['work'] }),
  });

  test.each([true, false])('what before_inference gives is exactly what the model gets (streaming: %s)', async (streaming) => {
    const { model, asked } = setUpRecorded([call, says('Done.')]);
    const { run } = setUp(name, { model, streaming, instructions: 'Never read.', settings: { temperature: 1 }, hooks: [shaping] });
    const end = await run();
    expect(end.status).toBe('completed');
    expect(asked).toHaveLength(2);
    for (const request of asked) {
      expect(request.messages).toHaveLength(given.length);
      for (const [index, message] of given.entries()) expect(request.messages[index]).toBe(message);
      expect(request.settings).toStrictEqual(settings);
      expect(request.tools?.map((offered) => offered.name)).toStrictEqual(['work']);
    }
  });

  test.each([true, false])('after_inference gets exactly the answer that came (streaming: %s)', async (streaming) => {
    const seen: unknown[] = [];
    const hook = defineHook({ name: 'reader', afterInference: ({ response }) => void seen.push(response) });
    const { model, answered } = setUpRecorded([{ toolCalls: [{ name: 'work', args: { a: 1 } }], text: 'First.', usage }, says('Done.')]);
    const { run } = setUp(name, { model, streaming, hooks: [hook] });
    await run();
    expect(seen).toHaveLength(2);
    expect(seen).toStrictEqual(answered.map((outcome) => (outcome.ok ? outcome.response : undefined)));
  });

  test('a fallback is asked the same changed question, and its answer is the one that is shown', async () => {
    const seen: unknown[] = [];
    const hook = defineHook({ name: 'reader', afterInference: ({ response }) => void seen.push(response.modelId) });
    const busy = { type: 'rate_limit', code: 'busy', message: 'Busy.', retryable: true } as const;
    const [first, second] = [setUpRecorded([{ error: busy }], 'first'), setUpRecorded([says('Done.')], 'second')];
    const { run } = setUp(name, { model: first.model, fallback: [second.model], hooks: [shaping, hook] });
    const end = await run();
    expect([end.text, first.asked.length, second.asked.length, seen.length]).toStrictEqual(['Done.', 1, 1, 1]);
    expect(second.asked[0]?.messages).toStrictEqual(given);
    expect(second.asked[0]?.messages).toStrictEqual(first.asked[0]?.messages);
  });

  test('after_inference is not called for a question that got no answer', async () => {
    const seen: string[] = [];
    const note = ({ point }: { readonly point: string }): void => void seen.push(point);
    const hook = defineHook({ name: 'reader', changes: ['votes'], beforeInference: note, afterInference: note, onError: note });
    const lost = { type: 'model', code: 'lost', message: 'Lost.', retryable: false } as const;
    const end = await setUp(name, { script: [{ error: lost }], hooks: [hook] }).run();
    expect([seen, end.status]).toStrictEqual([['before_inference', 'on_error'], 'failed']);
  });
});

// The matrix of points and changes

interface Played {
  readonly end: ToolUseState;
  readonly asked: readonly ModelRequest[];
}
type Effects = Readonly<Record<HookChange, { readonly gives: unknown; readonly shows: (played: Played) => unknown; readonly is: unknown }>>;

const effects: Effects = {
  messages: {
    gives: [Message.user('Other words.')],
    shows: ({ asked }) => asked[0]?.messages.map(({ text }) => text),
    is: ['Other words.'],
  },
  settings: { gives: { temperature: 0.5 }, shows: ({ asked }) => asked[0]?.settings, is: { temperature: 0.5 } },
  tools: { gives: ['work'], shows: ({ asked }) => asked[0]?.tools?.map((offered) => offered.name), is: ['work'] },
  args: { gives: { tenant: 't1' }, shows: ({ end }) => end.steps[0]?.executions[0]?.args, is: { tenant: 't1' } },
  result: { gives: 'another result', shows: ({ end }) => end.steps[0]?.executions[0]?.value, is: 'another result' },
  block: { gives: 'not today', shows: ({ end }) => end.steps[0]?.executions[0]?.failure?.message, is: 'not today' },
  output: { gives: 'Other words.', shows: ({ end }) => end.text, is: 'Other words.' },
  conversation: {
    gives: MessageStore.empty().append(SectionName.Messages, Message.user('Folded.')),
    shows: ({ end }) => end.messages.toArray()[0]?.text,
    is: 'Folded.',
  },
  metadata: { gives: { mark: 1 }, shows: ({ end }) => end.metadata, is: { mark: 1 } },
  votes: {
    gives: { decision: 'forbid', reason: 'enough' },
    shows: ({ end }) => [end.stopReason, end.lastContinuationOutcome?.resolvedBy],
    is: ['guard', 'subject'],
  },
};
const everyChange = Object.keys(effects) as readonly HookChange[];
const kept = ['metadata', 'votes'] as const;
const allowed: Readonly<Record<HookPoint, readonly HookChange[]>> = {
  execution_start: kept,
  before_step: ['conversation', 'tools', ...kept],
  before_inference: ['messages', 'settings', 'tools', ...kept],
  after_inference: kept,
  before_tool: ['args', 'result', 'block', ...kept],
  after_tool: ['result', 'block', ...kept],
  after_step: ['output', ...kept],
  on_error: kept,
  execution_end: [],
};
const matrix = everyPoint.flatMap((point) =>
  everyChange.map((change) => ({
    point,
    change,
    isAllowed: allowed[point].includes(change),
    verb: allowed[point].includes(change) ? 'may' : 'may not',
  })),
);

test('the matrix has nine points and ten changes', () => {
  expect([everyPoint.length, everyChange.length, matrix.length]).toStrictEqual([9, 10, 90]);
});

describe.each(names)('changes in %s', (name) => {
  const scriptFor = (point: HookPoint): readonly ScriptedEntry[] => [point === 'on_error' ? breaks : call, says('Done.')];
  const quiet: LooseHandlers = Object.fromEntries(everyPoint.map((point) => [point, () => undefined]));
  /** Everything in which a refusal may be found: the step, a refused start, or the report of problems. */
  const complaints = (end: ToolUseState, problems: readonly unknown[]): string =>
    [
      ...end.steps.flatMap(({ errors }) => errors.map(({ message }) => message)),
      ...(end.startOutcome?.evaluations ?? []).map(({ reason }) => reason),
      ...problems.map((problem) => (problem instanceof Error ? problem.message : '')),
    ].join('\n');

  test.each(matrix.filter(({ isAllowed }) => isAllowed))('$point $verb change $change', async ({ point, change }) => {
    const { gives, shows, is } = effects[change];
    const times = { left: 1 };
    const once = () => ((times.left -= 1) < 0 ? undefined : { [change]: gives });
    // A step that goes on with tools says nothing yet: its words are changed at the end.
    const script = change === 'output' ? [says('Done.')] : scriptFor(point);
    const hook = looseHook({ name: 'subject', changes: [change] }, { [point]: once });
    const { run, model, problems } = setUp(name, { script, hooks: [hook] });
    const end = await run();
    expect(shows({ end, asked: model.calls })).toStrictEqual(is);
    expect(complaints(end, problems)).not.toContain('Hook "subject"');
    expect(times.left).toBeLessThan(1);
  });

  test.each(matrix.filter(({ isAllowed }) => !isAllowed))('$point $verb change $change: refused by name', async ({ point, change }) => {
    const { gives, shows, is } = effects[change];
    // It has declared the change, for points at which it would be possible.
    const hook = looseHook(
      { name: 'subject', changes: [...new Set([change, ...kept])] },
      { ...quiet, [point]: () => ({ [change]: gives }) },
    );
    const { run, model, problems } = setUp(name, { script: scriptFor(point), hooks: [hook] });
    const end = await run();
    expect(complaints(end, problems)).toContain(`Hook "subject" failed at ${point}: `);
    expect(shows({ end, asked: model.calls })).not.toStrictEqual(is);
    if (point === 'execution_end') expect(end.status).toBe('completed');
    else expect(complaints(end, problems)).toContain(`it cannot change "${change}" at this point`);
  });

  test.each(matrix.filter(({ isAllowed }) => isAllowed))('$point does not change $change undeclared', async ({ point, change }) => {
    const { gives, shows, is } = effects[change];
    // Another declaration makes it one of those that are asked before the judgement.
    const other = change === 'votes' ? 'metadata' : 'votes';
    const hook = looseHook({ name: 'subject', changes: [other] }, { [point]: () => ({ [change]: gives }) });
    const { run, model, problems } = setUp(name, { script: scriptFor(point), hooks: [hook] });
    const end = await run();
    expect(complaints(end, problems)).toContain(`Hook "subject" failed at ${point}: it changed "${change}" without declaring it.`);
    expect(shows({ end, asked: model.calls })).not.toStrictEqual(is);
  });

  test('where a hook only looks on, whatever it gives back is reported and changes nothing', async () => {
    const hook = looseHook({ name: 'subject' }, { after_step: () => ({ output: 'Other words.' }), on_error: () => ({ votes: [] }) });
    const { run, problems } = setUp(name, { script: [breaks, says('Done.')], hooks: [hook] });
    const end = await run();
    expect([end.status, end.text]).toStrictEqual(['completed', 'Done.']);
    expect(problems.map((problem) => (problem as HookFailedError).point)).toStrictEqual(['after_step', 'on_error', 'after_step']);
  });
});

describe('a declaration that could never be used', () => {
  test.each(matrix.filter(({ isAllowed }) => !isAllowed))('is refused at once, by name: $change at $point', ({ point, change }) => {
    const declare = (): AnyHook => looseHook({ name: 'subject', changes: [change] }, { [point]: () => undefined });
    expect(declare).toThrow(`Hook "subject" has "${change}" in changes, but no handler that can change it. Add `);
  });
});

// Cancelling

describe.each(names)('cancelling a run with hooks in %s', (name) => {
  test('before it starts takes no step, and no hook is asked', async () => {
    const seen: string[] = [];
    const note = ({ point }: { readonly point: string }): void => void seen.push(point);
    const hook = defineHook({
      name: 'watch',
      changes: ['votes'],
      executionStart: note,
      beforeStep: note,
      afterStep: note,
      executionEnd: note,
    });
    const { run, model } = setUp(name, { script: [says('Never.')], hooks: [hook] });
    const end = await run(undefined, { signal: AbortSignal.abort('changed my mind') });
    expect([end.status, end.stopReason, end.stepCount, model.calls.length]).toStrictEqual(['stopped', 'user_requested', 0, 0]);
    expect(seen).toStrictEqual(['execution_end']);
  });

  test('from within stops at the next boundary: the step under way is finished first', async () => {
    const seen: string[] = [];
    const note = ({ point }: { readonly point: string }): void => void seen.push(point);
    const hook = defineHook({ name: 'watch', changes: ['votes'], beforeStep: note, beforeTool: note, afterTool: note, afterStep: note });
    const { orchestrator, start, ran } = setUp(name, { script: [call, says('Never.')], hooks: [hook] });
    const running = orchestrator.start(start, {
      onEvent: ({ type }) => {
        if (type === 'ToolCallStarted') running.requestStop('lunch');
      },
    });
    const { state: end } = await running.result;
    expect([end.status, end.stopReason, end.stepCount, ran.length]).toStrictEqual(['stopped', 'user_requested', 1, 1]);
    expect([interruptions(end), end.steps[0]?.executions[0]?.status]).toStrictEqual([[undefined], 'succeeded']);
    expect(seen).toStrictEqual(['before_step', 'before_tool', 'after_tool', 'after_step']);
    expect(end.explain()).toContain('lunch');
  });

  test('by a capability that asks a flag of the host works at both of its checkpoints', async () => {
    const flag = { up: false };
    const vote = () =>
      flag.up ? { votes: { decision: 'forbid', reason: 'cancelled', stopReason: 'user_requested' } as const } : undefined;
    const cancelling = defineCapability({
      name: 'cancelling',
      hooks: [defineHook({ name: 'Cancelled', changes: ['votes'], executionStart: vote, beforeStep: vote })],
    });
    flag.up = true;
    const before = setUp(name, { script: [says('Never.')], capabilities: [cancelling] });
    const refused = await before.run();
    expect([refused.stopReason, refused.stepCount, before.model.calls.length]).toStrictEqual(['user_requested', 0, 0]);

    flag.up = false;
    const during = setUp(name, { script: [call, says('Never.')], capabilities: [cancelling] });
    const stopped = await during.run(undefined, {
      onEvent: ({ type }) => {
        if (type === 'ToolCallStarted') flag.up = true;
      },
    });
    expect([stopped.status, stopped.stopReason, during.model.calls.length]).toStrictEqual(['stopped', 'user_requested', 1]);
    expect([stopped.steps[0]?.executions[0]?.status, stopped.lastStepResult?.stopReason]).toStrictEqual(['succeeded', 'user_requested']);
    expect(stopped.lastContinuationOutcome?.resolvedBy).toBe('Cancelled');
  });
});

// Blocking

describe.each(names)('blocking in %s', (name) => {
  test('one of three calls leaves the others their results, and the run goes on', async () => {
    const hook = defineHook({
      name: 'censor',
      changes: ['block'],
      beforeTool: ({ call: { id } }) => (id === 'b' ? { block: 'not this one' } : undefined),
    });
    const script = [calls({ name: 'work', id: 'a' }, { name: 'work', id: 'b' }, { name: 'work', id: 'c' }), says('Done.')];
    const { run, ran, model, events } = setUp(name, { script, hooks: [hook], errors: ErrorPolicy.stopOnAnyError() });
    const end = await run();
    expect([end.status, end.text, end.stepCount, ran.length]).toStrictEqual(['completed', 'Done.', 2, 2]);
    expect(end.steps[0]?.executions.map(({ toolCallId, status }) => [toolCallId, status])).toStrictEqual([
      ['a', 'succeeded'],
      ['b', 'failed'],
      ['c', 'succeeded'],
    ]);
    const results = model.calls[1]?.messages.flatMap(({ toolResults }) => toolResults) ?? [];
    expect(results.map(({ toolCallId, output }) => [toolCallId, output.type])).toStrictEqual([
      ['a', 'text'],
      ['b', 'error'],
      ['c', 'text'],
    ]);
    expect(ofType(events, 'ToolCallBlocked')).toMatchObject([{ toolCallId: 'b', hook: 'censor', reason: 'not this one' }]);
  });

  test('a vote at before_tool is what ends the run, and then every call still has a result', async () => {
    const hook = defineHook({
      name: 'alarm',
      changes: ['block', 'votes'],
      beforeTool: ({ call: { id } }) =>
        id === 'b' ? { block: 'not this one', votes: { decision: 'forbid', reason: 'alarm' } } : undefined,
    });
    const script = [calls({ name: 'work', id: 'a' }, { name: 'work', id: 'b' }, { name: 'work', id: 'c' }), says('Never.')];
    const { run, model } = setUp(name, { script, hooks: [hook], toolConcurrency: 1 });
    const end = await run();
    expect([end.status, end.stopReason, end.stepCount, model.calls.length]).toStrictEqual(['stopped', 'guard', 1, 1]);
    expect(end.steps[0]?.executions.map(({ toolCallId }) => toolCallId)).toStrictEqual(['a', 'b', 'c']);
    expect(end.messages.toArray().flatMap(({ toolResults }) => toolResults.map(({ toolCallId }) => toolCallId))).toStrictEqual([
      'a',
      'b',
      'c',
    ]);
  });
});

// Capabilities

describe.each(names)('a capability in %s', (name) => {
  test('is refused with parts that there are not, and by its name', () => {
    expect(() => defineCapability({ name: 'odd', toolz: [] } as never)).toThrow('Unknown option "toolz" in capability "odd"');
    expect(() => defineCapability({ name: '' })).toThrow('A capability needs a name');
    expect(() => defineCapability({ name: 'odd', hooks: [{}] as never })).toThrow('Capability "odd" must have a list of hooks');
    const twice = defineCapability({ name: 'twice' });
    expect(() => setUp(name, { capabilities: [twice, twice] })).toThrow('The capability "twice" was added twice');
  });

  test("has hooks that stand behind the host's own, and guards that stop like any other", async () => {
    const seen: string[] = [];
    const noting = (which: string): AnyHook => defineHook({ name: which, beforeStep: () => void seen.push(which) });
    const capability = defineCapability({
      name: 'careful',
      hooks: [noting('theirs'), guardHook(new StepsLimit<ToolUseState>(1, ({ stepCount }) => stepCount), { name: 'FewSteps' })],
    });
    const { run } = setUp(name, { script: [call, says('Never.')], hooks: [noting('ours')], capabilities: [capability] });
    const end = await run();
    expect([seen, end.stopReason, end.lastContinuationOutcome?.resolvedBy]).toStrictEqual([['ours', 'theirs'], 'steps_limit', 'FewSteps']);
  });
});

// What must hold whatever hooks do

describe.each(names)('in %s', (name) => {
  interface Example {
    readonly what: string;
    readonly world: World;
    readonly status: string;
    readonly stopReason: StopReason;
    readonly resolvedBy: string;
    readonly context: Readonly<Record<string, unknown>>;
  }
  const examples: readonly Example[] = [
    {
      what: 'a guard',
      world: {
        script: [call],
        hooks: [guardHook(new TokenUsageLimit<ToolUseState>(15, ({ usage: used }) => used), { name: 'Tokens' })],
      },
      status: 'stopped',
      stopReason: 'token_limit',
      resolvedBy: 'Tokens',
      context: { point: 'after_step', currentUsage: 15, maxTokens: 15 },
    },
    {
      what: 'a guard before a step',
      world: {
        script: [call],
        hooks: [guardHook(new StepsLimit<ToolUseState>(1, ({ stepCount }) => stepCount), { name: 'Steps', at: ['before_step'] })],
      },
      status: 'stopped',
      stopReason: 'steps_limit',
      resolvedBy: 'Steps',
      context: { point: 'before_step', currentSteps: 1, maxSteps: 1 },
    },
    {
      what: 'a failing tool',
      world: { script: [breaks], errors: ErrorPolicy.stopOnAnyError(), hooks: [voting('eager', RequestContinuation)] },
      status: 'failed',
      stopReason: 'error',
      resolvedBy: 'ErrorPolicyCriterion',
      context: { errorType: 'tool' },
    },
    {
      what: 'a failing hook',
      world: {
        script: [says('Done.')],
        errors: ErrorPolicy.stopOnAnyError(),
        hooks: [looseHook({ name: 'bad', changes: ['votes'] }, { before_inference: () => 5 })],
      },
      status: 'failed',
      stopReason: 'error',
      resolvedBy: 'ErrorPolicyCriterion',
      context: { consecutiveFailures: 1 },
    },
    {
      what: 'an answer',
      world: { script: [says('Done.')], hooks: [voting('polite', AllowContinuation)] },
      status: 'completed',
      stopReason: 'completed',
      resolvedBy: 'ToolCallPresenceCheck',
      context: { hasToolCalls: false },
    },
  ];

  test.each(examples)('the reason to stop is told with the judgement and with the end: $what', async ({ world, ...expected }) => {
    const { run, events } = setUp(name, world);
    await run();
    const { status, stopReason, resolvedBy } = expected;
    expect(ofType(events, 'ContinuationEvaluated').at(-1)).toMatchObject({ shouldContinue: false, stopReason, resolvedBy });
    expect(ofType(events, 'AgentStateUpdated').at(-1)).toMatchObject({ status });
    expect(ofType(events, 'AgentFinished')).toMatchObject([{ status, stopReason, resolvedBy }]);
    expect(ofType(events, 'AgentFailed')).toMatchObject(status === 'failed' ? [{ status, stopReason, resolvedBy }] : []);
  });

  test.each(examples)('the last step result keeps the reason to stop, also when it was stored: $what', async ({ world, ...expected }) => {
    const end = await setUp(name, world).run();
    const { status, stopReason, resolvedBy } = expected;
    for (const state of [end, roundTrip(end)]) {
      expect([state.status, state.stopReason]).toStrictEqual([status, stopReason]);
      expect(state.lastStepResult).toMatchObject({ shouldContinue: false, stopReason, outcome: { resolvedBy } });
      expect(state.lastStepResult?.outcome).toBe(state.lastContinuationOutcome);
    }
  });

  test.each(examples)('whoever watches gets the reason, the source and the numbers: $what', async ({ world, ...expected }) => {
    const { run, events } = setUp(name, world);
    await run();
    const { stopReason, resolvedBy, context } = expected;
    const payload = JSON.parse(JSON.stringify(ofType(events, 'ContinuationEvaluated').at(-1)?.outcome)) as {
      readonly evaluations: readonly ContinuationEvaluation[];
    };
    expect(payload).toMatchObject({ stopReason, resolvedBy });
    expect(payload.evaluations.find(({ criterion }) => criterion === resolvedBy)).toMatchObject({
      reason: expect.any(String) as string,
      context,
    });
  });
});
