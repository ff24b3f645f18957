// Every way to fail ends in a state that is recorded and explained, and is the same whoever drives the run.
import { describe, expect, test } from 'vitest';
import { pickSubjects } from '../../tests/support/test-scale.ts';
import { stopWhen, when } from '../continuation/index.ts';
import type { ErrorType, Failure } from '../errors/index.ts';
import { ClassifiedError, ErrorPolicy, ModelFailedError, RateLimitedError, ToolFailedError } from '../errors/index.ts';
import { createEventBus } from '../events/index.ts';
import { ContextOverflowError } from '../inference/index.ts';
import type { FakeClock } from '../lib/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { NewStateOptions, RunOptions, StepByStep } from '../step-by-step/index.ts';
import type { ScriptedEntry, ScriptedModelOptions, ScriptedToolCall } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import type { ToolEvent, ToolUseOptions } from '../tool-use/index.ts';
import { reActDriver, ToolUse, ToolUseState } from '../tool-use/index.ts';
import type { Tool, ToolContext, Tools } from '../tools/index.ts';
import { defineClientTool, defineTool } from '../tools/index.ts';
import { AgentState, createAgent } from './index.ts';

// The set-up

type Options = Omit<ToolUseOptions<ToolUseState>, 'capabilities'>;
type Given = RunOptions<ToolUseState, unknown, ToolEvent>;

/** Environment of one run of a scenario. */
interface World {
  readonly clock: FakeClock;
  readonly host: AbortController;
  readonly problems: unknown[];
}

/** The fault, and the people's answers each time the run waits for them. */
interface Scenario {
  readonly options: Partial<Options>;
  readonly onEvent?: (event: ToolEvent) => unknown;
  readonly people?: readonly ((state: ToolUseState) => ToolUseState)[];
}

/** Record of the run. */
interface Told {
  readonly end: ToolUseState;
  readonly events: readonly ToolEvent[];
  readonly world: World;
}

interface Opened {
  readonly orchestrator: StepByStep<ToolUseState, unknown, unknown, ToolEvent>;
  readonly run: (state: ToolUseState, given: Given) => Promise<ToolUseState>;
}

interface Subject {
  readonly name: string;
  readonly open: (options: Options) => Opened;
  readonly empty: (options: NewStateOptions) => ToolUseState;
  readonly read: (stored: unknown) => ToolUseState;
}

const subjects: readonly Subject[] = [
  {
    name: 'createAgent',
    open: (options) => {
      const agent = createAgent<unknown, Tools>(options);
      const run = async (state: ToolUseState, given: Given): Promise<ToolUseState> => {
        const result = await agent.start(state, given).result;
        expect([result.status, result.text, result.usage]).toStrictEqual([result.state.status, result.state.text, result.state.usage]);
        if (result.status === 'failed') expect(result.error.message).not.toBe('');
        return result.state;
      };
      return { orchestrator: agent, run };
    },
    empty: (options) => AgentState.empty(options),
    read: (stored) => AgentState.fromJSON(stored),
  },
  {
    name: 'ToolUse',
    open: (options) => {
      const orchestrator = new ToolUse(options) as StepByStep<ToolUseState, unknown, unknown, ToolEvent>;
      return { orchestrator, run: (state, given) => orchestrator.run(state, given) };
    },
    empty: (options) => ToolUseState.empty(options),
    read: (stored) => ToolUseState.fromJSON(stored),
  },
];

/** Lets time pass until the work is done. */
async function whileTimePasses<Value>(clock: FakeClock, work: Promise<Value>): Promise<Value> {
  const seen = { over: false };
  const end = (): void => {
    seen.over = true;
  };
  work.then(end, end);
  await clock.advance(0);
  for (let turns = 0; turns < 1000 && !seen.over; turns += 1) await clock.advance(50);
  if (!seen.over) throw new Error('The run did not end within 50 s.');
  return work;
}

type Carry = (opened: Opened, state: ToolUseState, given: Given) => Promise<ToolUseState>;

async function play(subject: Subject, scenario: (world: World) => Scenario, carry: (clock: FakeClock) => Carry): Promise<Told> {
  const clock = createFakeClock();
  const ids = createCountingIds('id');
  const world: World = { clock, host: new AbortController(), problems: [] };
  const { options, onEvent, people = [] } = scenario(world);
  const onProblem = (problem: unknown): number => world.problems.push(problem);
  const opened = subject.open({
    model: scriptedModel([]),
    ...options,
    limits: { steps: 10, wallMs: 40_000, ...options.limits },
    ports: { clock, ids, random: () => 0.5, onProblem },
  });
  const events: ToolEvent[] = [];
  const given: Given = {
    signal: world.host.signal,
    onEvent: (event) => {
      events.push(event);
      return onEvent?.(event);
    },
  };
  const carryOn = carry(clock);
  let end = await carryOn(opened, subject.empty({ clock, ids }).withUserMessage('Go.', { ids }), given);
  for (const act of people) {
    expect(end.status).toBe('waiting');
    end = await carryOn(opened, act(end), given);
  }
  return { end, events, world };
}

const straight =
  (clock: FakeClock): Carry =>
  ({ run }, state, given) =>
    whileTimePasses(clock, run(state, given));

/** One step at a time, and through storage after each, even if it is parked. */
const throughStorage =
  (subject: Subject) =>
  (clock: FakeClock): Carry =>
  async ({ orchestrator }, given, options) => {
    let state = subject.read(JSON.parse(JSON.stringify(given)));
    do {
      const next = await whileTimePasses(clock, orchestrator.nextStep(state, options));
      state = subject.read(JSON.parse(JSON.stringify(next)));
      expect(orchestrator.hasNextStep(state)).toBe(state.status === 'in_progress');
    } while (state.status === 'in_progress');
    return state;
  };

// What holds after every run

const ofType = <Type extends ToolEvent['type']>(
  events: readonly ToolEvent[],
  type: Type,
): readonly Extract<ToolEvent, { readonly type: Type }>[] =>
  events.filter((event): event is Extract<ToolEvent, { readonly type: Type }> => event.type === type);

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

/** No step and no event is lost: steps and events are numbered without a gap, and each step is judged and told once. */
function expectNothingLost({ end, events }: Told): void {
  expect(end.stepResults.map(({ number }) => number)).toStrictEqual(upTo(end.stepCount));
  const before = end.stepResults.slice(0, -1);
  expect(before.every(({ shouldContinue, outcome }) => shouldContinue || outcome.awaitedGrants.length > 0)).toBe(true);
  expect([...new Set(events.map(({ seq }) => seq))]).toStrictEqual(upTo(end.data.lastSeq));
  const recorded = end.session.executions.flatMap(({ id, results }) => results.toArray().map(({ number }) => `${id ?? ''}/${number}`));
  const toPlace = ({ executionId, stepNumber }: ToolEvent): string => `${executionId}/${stepNumber}`;
  const judged = ofType(events, 'ContinuationEvaluated').filter(({ stepNumber }) => stepNumber > 0);
  expect(judged.map(toPlace)).toStrictEqual(recorded);
  expect(ofType(events, 'AgentStepCompleted').map(toPlace)).toStrictEqual(recorded);
}

function expectToldEnd({ end, events }: Told): void {
  const [beforeLast, last] = events.slice(-2);
  expect(last).toMatchObject({ type: 'AgentFinished', status: end.status, stepCount: end.stepCount, usage: end.usage });
  expect((last as { readonly stopReason?: string }).stopReason).toBe(end.stopReason);
  expect(beforeLast?.type === 'AgentFailed').toBe(end.status === 'failed');
  expect(ofType(events, 'AgentFailed').length).toBe(end.status === 'failed' ? 1 : 0);
}

/** Every call has one result behind it, and no result stands without its call. */
function expectEveryCallAnswered({ end }: Told): void {
  const open = new Set<string>();
  for (const message of end.messages) {
    for (const { id } of message.toolCalls) open.add(id);
    for (const { toolCallId } of message.toolResults) {
      expect(open.has(toolCallId), `a result of ${toolCallId}, which nobody called`).toBe(true);
      open.delete(toolCallId);
    }
  }
  expect([...open]).toStrictEqual([]);
}

/** Facts that must not depend on who drives the run. */
const getFacts = ({ end, events }: Told): object => ({
  status: end.status,
  stopReason: end.stopReason,
  stepCount: end.stepCount,
  usage: end.usage,
  text: end.text,
  // Only its headline: the clock on the wall starts anew when a state is read.
  // Without the numbers: the wall clock starts again with each run.
  explanation: end
    .explain()
    .split('\n')[0]
    ?.replace(/ \(.*\)/, ''),
  waitingFor: end.waitingFor,
  deciders: end.stepResults.map(({ outcome }) => outcome.resolvedBy),
  failures: end.steps.map(({ errors }) => errors.map(({ code }) => code)),
  session: [end.session.stepCount, end.session.usage],
  conversation: end.messages.toArray().map(({ role, text, toolCalls, toolResults }) => ({ role, text, toolCalls, toolResults })),
  // Each run tells that it began; a step does not.
  events: events.filter(({ type }) => type !== 'AgentExecutionStarted').map(({ type }) => type),
});

// What rows are made of

const usage = { input: 10, output: 5 };
const says = (text: string): ScriptedEntry => ({ text, usage });
const calls = (...toolCalls: readonly (string | ScriptedToolCall)[]): ScriptedEntry => ({
  toolCalls: toolCalls.map((call) => (typeof call === 'string' ? { name: call } : call)),
  usage,
});
const fails = (error: unknown): ScriptedEntry => ({ error, usage });
const again: ScriptedModelOptions = { repeatLast: true };
const hangs = (): Promise<never> => new Promise(() => undefined);

const failure = (type: ErrorType, more: Partial<Failure> = {}): Failure => ({
  type,
  code: 'broken',
  message: `A ${type} failure.`,
  retryable: true,
  ...more,
});

/** An error of any kind. */
class BrokenError extends ClassifiedError {
  override readonly name = 'BrokenError';
  readonly code = 'broken';
  readonly type: ErrorType;

  constructor(type: ErrorType) {
    super(`A ${type} failure.`);
    this.type = type;
  }
}

interface ToolMore {
  readonly timeoutMs?: number;
  readonly effect?: 'pure' | 'once';
  readonly needsApproval?: boolean | (() => boolean);
  readonly toModelOutput?: () => string;
}

const anything = { type: 'object', properties: { path: { type: 'string' } }, additionalProperties: false } as const;

const tool = (name: string, run: (ctx: ToolContext) => unknown, more: ToolMore = {}): Tool =>
  defineTool({ name, description: `Does ${name}.`, input: anything, run: (_args, ctx) => run(ctx), ...more });

const throws = (thrown: unknown) => (): never => {
  throw thrown;
};

const works = tool('work', () => 'worked');
const breaks = tool('break', throws(new ToolFailedError('It broke.')));
const wipe = tool('wipe', () => 'wiped', { needsApproval: true });
const askClient = defineClientTool({ name: 'ask', description: 'Asks the client.', input: anything, output: { type: 'string' } });
const shakySchema = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: throws(new Error('It cannot be checked.')),
    jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
  },
} as const;
const answerSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;

// The tables

type Expected = readonly [status: string, stopReason: string | undefined, steps: number, decider: string];

/** One way to fail: what happens, how it must end, and what else must hold. */
interface Row {
  readonly name: string;
  readonly scenario: (world: World) => Scenario;
  readonly ends: Expected;
  readonly also?: (told: Told) => void | Promise<void>;
}

const errorTypes = ['tool', 'model', 'validation', 'rate_limit', 'timeout', 'unknown'] as const satisfies readonly ErrorType[];
const presets = {
  stopOnAnyError: () => ErrorPolicy.stopOnAnyError(),
  'retryToolErrors(3)': () => ErrorPolicy.retryToolErrors(3),
  'ignoreToolErrors(2)': () => ErrorPolicy.ignoreToolErrors(2),
  'retryAll(3)': () => ErrorPolicy.retryAll(3),
} as const;
type Preset = keyof typeof presets;
type EndsByPolicy = Readonly<Record<Preset, Expected>>;
type ByType = Readonly<Record<(typeof errorTypes)[number], EndsByPolicy>>;

const judged = 'ErrorPolicyCriterion';
const stops: Expected = ['failed', 'error', 1, judged];
const usedUp = (steps: number): Expected => ['failed', 'retry_limit', steps, judged];
const goesOn: Expected = ['completed', 'completed', 5, 'ToolCallPresenceCheck'];

const ends = (...[stop, retryTools, ignoreTools, retry]: readonly [Expected, Expected, Expected, Expected]): EndsByPolicy => ({
  stopOnAnyError: stop,
  'retryToolErrors(3)': retryTools,
  'ignoreToolErrors(2)': ignoreTools,
  'retryAll(3)': retry,
});

// A tool that fails four times; the model reads that each time, and then gives up.
const toolFailures: ByType = {
  tool: ends(stops, usedUp(3), goesOn, usedUp(3)),
  model: ends(stops, stops, stops, usedUp(3)),
  validation: ends(stops, usedUp(3), goesOn, usedUp(3)),
  rate_limit: ends(stops, usedUp(3), usedUp(2), usedUp(3)),
  timeout: ends(stops, usedUp(3), usedUp(2), usedUp(3)),
  unknown: ends(stops, stops, goesOn, usedUp(3)),
};

// A model that fails four times: there is nothing to read, so nothing can be ignored.
const modelFailures: ByType = {
  tool: ends(stops, usedUp(3), stops, usedUp(3)),
  model: ends(stops, stops, stops, usedUp(3)),
  validation: ends(stops, usedUp(3), stops, usedUp(3)),
  rate_limit: ends(stops, usedUp(3), usedUp(2), usedUp(3)),
  timeout: ends(stops, usedUp(3), usedUp(2), usedUp(3)),
  unknown: ends(stops, stops, stops, usedUp(3)),
};

const everyTypeAndPreset = errorTypes.flatMap((type) => (Object.keys(presets) as Preset[]).map((preset) => ({ type, preset })));

const policyRows: readonly Row[] = everyTypeAndPreset.flatMap(({ type, preset }): readonly Row[] => [
  {
    name: `a tool with a ${type} error under ${preset}`,
    scenario: () => ({
      options: {
        model: scriptedModel([...upTo(4).map(() => calls('break')), says('I give up.')]),
        tools: [tool('break', throws(new BrokenError(type)))],
        errors: presets[preset](),
      },
    }),
    ends: toolFailures[type][preset],
    also: ({ end }) => {
      expect(end.steps[0]?.errors).toMatchObject([{ type, toolName: 'break', toolCallId: 'call-1', readable: true }]);
    },
  },
  {
    name: `a model with a ${type} error under ${preset}`,
    scenario: () => ({
      options: { model: scriptedModel([...upTo(4).map(() => fails(failure(type))), says('Never.')]), errors: presets[preset]() },
    }),
    ends: modelFailures[type][preset],
    also: ({ end }) => {
      expect(end.steps[0]?.errors).toMatchObject([{ type, code: 'broken', readable: false }]);
      expect(end.text).toBe('');
    },
  },
]);

const policyContext = ({ end }: Told, step = end.stepCount): object | undefined =>
  end.stepResults[step - 1]?.outcome.getEvaluationFor(judged)?.context;

const threeFates = ErrorPolicy.retryAll(2).withTool('loose', 'ignore').withTool('strict', 'stop');
const fateful = ['loose', 'again', 'strict'].map((name) => tool(name, throws(new ToolFailedError(`${name} broke.`))));

const parallelRow = (names: readonly string[], ends: Expected, decider: object): Row => ({
  name: `tools that fail side by side: ${names.join(', ')}`,
  scenario: () => ({
    options: { model: scriptedModel([calls(...names), calls(...names), says('Enough.')]), tools: fateful, errors: threeFates },
  }),
  ends,
  also: (told) => {
    expect(policyContext(told, 1)).toMatchObject(decider);
    expect(told.end.steps[0]?.errors.map(({ toolName }) => toolName)).toStrictEqual(names);
    for (const name of names) expect(told.end.explain().includes(`tool ${name}`)).toBe(told.end.errors.length > 0);
  },
});

const parallelRows: readonly Row[] = [
  parallelRow(['loose', 'again'], usedUp(2), { handling: 'retry', toolName: 'again', toolCallId: 'call-2' }),
  parallelRow(['again', 'loose'], usedUp(2), { handling: 'retry', toolName: 'again', toolCallId: 'call-1' }),
  parallelRow(['again', 'strict'], stops, { handling: 'stop', toolName: 'strict', toolCallId: 'call-2' }),
  parallelRow(['strict', 'loose'], stops, { handling: 'stop', toolName: 'strict', toolCallId: 'call-1' }),
  parallelRow(['loose', 'again', 'strict'], stops, { handling: 'stop', toolName: 'strict', toolCallId: 'call-3' }),
  parallelRow(['loose', 'loose'], ['completed', 'completed', 3, 'ToolCallPresenceCheck'], { handling: 'ignore', toolCallId: 'call-1' }),
];

const countRow = (name: string, script: readonly ScriptedEntry[], { errors, ends }: { errors: ErrorPolicy; ends: Expected }): Row => ({
  name,
  scenario: () => ({ options: { model: scriptedModel(script), tools: [works, breaks, ...fateful], errors } }),
  ends,
});

const countRows: readonly Row[] = [
  countRow('a policy that allows one attempt', [calls('break')], { errors: ErrorPolicy.retryAll(1), ends: usedUp(1) }),
  countRow('a policy that allows no attempt', [calls('break')], { errors: ErrorPolicy.retryAll(0), ends: usedUp(1) }),
  countRow('failures with a success between them', [calls('break'), calls('work'), calls('break'), says('Done.')], {
    errors: ErrorPolicy.retryToolErrors(2),
    ends: ['completed', 'completed', 4, 'ToolCallPresenceCheck'],
  }),
  countRow('failures with an ignored one between them', [calls('again'), calls('loose'), calls('again'), says('Done.')], {
    errors: threeFates,
    ends: ['completed', 'completed', 4, 'ToolCallPresenceCheck'],
  }),
  countRow('failures of different kinds in a row', [calls('break'), fails(failure('rate_limit')), says('Never.')], {
    errors: ErrorPolicy.retryAll(2),
    ends: usedUp(2),
  }),
];

const broken = (modelId: string, error: unknown = failure('model')) => scriptedModel([fails(error)], { ...again, modelId });

const modelRows: readonly Row[] = [
  {
    name: 'all fallback models fail',
    scenario: () => ({
      options: { model: broken('first'), fallback: [broken('second'), broken('third')], errors: ErrorPolicy.retryAll(2) },
    }),
    ends: usedUp(2),
    also: ({ end, events }) => {
      expect(end.errors[0]?.message).toContain('3 models failed. scripted/first: A model failure. | scripted/second');
      expect(ofType(events, 'ModelFallback').length).toBe(4);
    },
  },
  {
    name: 'the fallback refuses what the model was too busy for',
    scenario: () => ({
      options: {
        model: broken('first', failure('rate_limit')),
        fallback: [broken('second', failure('model', { retryable: false }))],
        errors: ErrorPolicy.retryAll(3),
      },
    }),
    ends: stops,
    also: (told) => expect(policyContext(told)).toMatchObject({ cause: 'not-retryable', errorType: 'model' }),
  },
  {
    name: 'a provider that asks for too long a wait',
    scenario: () => ({
      options: {
        model: scriptedModel([fails(new RateLimitedError('Slow down.', { retryAfterMs: 61_000 }))]),
        limits: { wallMs: 300_000 },
        errors: ErrorPolicy.retryAll(5),
      },
    }),
    ends: stops,
    also: ({ end }) => expect(end.explain()).toContain('asked for a 61 s wait, but the policy waits at most 60 s'),
  },
  {
    name: 'a provider that asks for a longer wait than there is time',
    scenario: () => ({
      options: {
        model: scriptedModel([fails(new RateLimitedError('Slow down.', { retryAfterMs: 5000 }))]),
        limits: { wallMs: 4000 },
        errors: ErrorPolicy.retryAll(5),
      },
    }),
    ends: stops,
    also: ({ end }) => expect(end.explain()).toContain('asked for a 5 s wait, but only 4 s of the time limit are left'),
  },
  {
    name: 'an empty answer',
    scenario: () => ({ options: { model: scriptedModel([says('')]), errors: ErrorPolicy.stopOnAnyError() } }),
    ends: stops,
    also: ({ end }) => expect(end.errors).toMatchObject([{ type: 'model', code: 'empty-response', retryable: true }]),
  },
  {
    name: 'empty answers to the end',
    scenario: () => ({ options: { model: scriptedModel([says('')], again), errors: ErrorPolicy.retryAll(2) } }),
    ends: usedUp(2),
  },
  {
    name: 'a context that is too long, although the policy retries',
    scenario: () => ({
      options: { model: scriptedModel([fails(new ContextOverflowError('Too many tokens.'))], again), errors: ErrorPolicy.retryAll(5) },
    }),
    ends: stops,
    also: (told) => {
      expect(told.end.errors).toMatchObject([{ code: 'context-overflow', retryable: false }]);
      expect(policyContext(told)).toMatchObject({ cause: 'not-retryable' });
    },
  },
  {
    name: 'an answer that breaks off',
    scenario: () => ({
      options: { model: scriptedModel([{ text: 'Half an', finishReason: 'interrupted', usage }], again), errors: ErrorPolicy.retryAll(2) },
    }),
    ends: usedUp(2),
    also: ({ end }) => expect(end.errors).toMatchObject([{ type: 'model', retryable: true }]),
  },
  {
    name: 'a model that throws',
    scenario: () => ({
      options: { model: scriptedModel([throws(new ModelFailedError('It crashed.'))], again), errors: ErrorPolicy.retryAll(2) },
    }),
    ends: usedUp(2),
  },
  {
    name: 'a model that throws no error at all',
    scenario: () => ({
      options: {
        model: { provider: 'odd', modelId: 'one', generate: hangs, stream: async () => throws(undefined)() },
        errors: ErrorPolicy.retryAll(2),
      },
    }),
    ends: usedUp(2),
  },
  {
    name: 'an output schema that is never satisfied',
    scenario: () => ({
      options: { model: scriptedModel([says('In Paris.')], again), output: answerSchema, errors: ErrorPolicy.retryToolErrors(3) },
    }),
    ends: usedUp(3),
    also: ({ end }) => {
      expect(end.errors).toMatchObject([{ type: 'validation', code: 'invalid-output', readable: false }]);
      expect(end.output).toBeUndefined();
      expect(end.messages.toArray().filter(({ metadata }) => metadata['purpose'] === 'repair').length).toBe(3);
    },
  },
  {
    name: 'an output that does not fit cannot be ignored',
    scenario: () => ({
      options: { model: scriptedModel([says('{"city": 3}')], again), output: answerSchema, errors: ErrorPolicy.ignoreToolErrors() },
    }),
    ends: stops,
    also: (told) => expect(policyContext(told)).toMatchObject({ cause: 'nothing-to-read' }),
  },
  {
    name: 'instructions that throw',
    scenario: () => ({
      options: {
        model: scriptedModel([says('Never.')]),
        instructions: throws(new Error('No words.')),
        errors: ErrorPolicy.retryToolErrors(3),
      },
    }),
    ends: stops,
    also: ({ end }) => expect(end.errors).toMatchObject([{ type: 'unknown', message: 'No words.', readable: false }]),
  },
  {
    name: 'instructions that throw each time under a policy that retries',
    scenario: () => ({
      options: { model: scriptedModel([says('Never.')]), instructions: throws('no words'), errors: ErrorPolicy.retryAll(2) },
    }),
    ends: usedUp(2),
  },
  {
    name: 'a model that never says a word',
    scenario: () => ({
      options: { model: scriptedModel([hangs], again), timeouts: { firstByteMs: 100 }, errors: ErrorPolicy.retryAll(2) },
    }),
    ends: usedUp(2),
    also: ({ end, events }) => {
      expect(end.errors).toMatchObject([{ type: 'timeout', readable: false }]);
      expect(ofType(events, 'RetryScheduled').map(({ errorType }) => errorType)).toStrictEqual(['timeout']);
    },
  },
  {
    name: 'an output schema that cannot check',
    scenario: () => ({
      options: {
        model: scriptedModel([says('{"city": "Paris"}')], again),
        output: shakySchema,
        errors: ErrorPolicy.retryToolErrors(2),
      },
    }),
    ends: usedUp(2),
    also: ({ end }) => expect(end.errors).toMatchObject([{ type: 'validation', code: 'invalid-output' }]),
  },
  {
    name: 'a driver that throws',
    scenario: () => ({
      options: {
        model: scriptedModel([]),
        driver: { name: 'broken', ask: throws(new Error('It fell over.')), resultMessages: () => [] },
        errors: ErrorPolicy.retryAll(2),
      },
    }),
    ends: usedUp(2),
    also: ({ end }) => expect(end.errors).toMatchObject([{ type: 'unknown', message: 'It fell over.' }]),
  },
  {
    name: 'a model that cannot decide',
    scenario: () => ({
      options: {
        model: scriptedModel([says('Well…')], again),
        driver: reActDriver(),
        tools: [works],
        errors: ErrorPolicy.retryToolErrors(2),
      },
    }),
    ends: usedUp(2),
    also: ({ end }) => expect(end.errors).toMatchObject([{ type: 'validation', code: 'invalid-decision' }]),
  },
];

const startRows: readonly Row[] = [
  {
    name: 'no step is allowed',
    scenario: () => ({ options: { model: scriptedModel([]), limits: { steps: 0 } } }),
    ends: ['stopped', 'steps_limit', 0, 'StepsLimit'],
  },
  {
    name: 'the signal was aborted before the start',
    scenario: ({ host }) => {
      host.abort('not today');
      return { options: { model: scriptedModel([]) } };
    },
    ends: ['stopped', 'user_requested', 0, 'StopRequested'],
    also: ({ end }) => expect(end.explain()).toContain('not today'),
  },
  {
    name: 'a guard refuses the start',
    scenario: () => ({ options: { model: scriptedModel([]), criteria: [stopWhen('Closed', () => 'the office is closed')] } }),
    ends: ['stopped', 'guard', 0, 'Closed'],
  },
  {
    name: 'a criterion throws before the first step',
    scenario: () => ({ options: { model: scriptedModel([]), criteria: [stopWhen('Shaky', throws(new Error('It fell over.')))] } }),
    ends: ['failed', 'error', 0, 'ContinuationCriteria'],
    also: ({ end }) => {
      expect(end.startOutcome?.stopReason).toBe('error');
      expect(end.explain()).toMatch(/Your criterion Shaky threw (?:after|before) step \d: It fell over\./);
    },
  },
  {
    name: 'a criterion answers with what is no answer',
    scenario: () => ({ options: { model: scriptedModel([]), criteria: [when('Odd', () => true as never)] } }),
    ends: ['failed', 'error', 0, 'ContinuationCriteria'],
    also: ({ end }) => expect(end.explain()).toContain('Your criterion Odd failed before step 1: it returned true'),
  },
  {
    name: 'a criterion throws after a step that waited',
    scenario: () => ({
      options: {
        model: scriptedModel([calls('wipe')]),
        tools: [wipe],
        criteria: [stopWhen('Shaky', ({ stepCount }) => (stepCount === 0 ? false : throws(new Error('It fell over.'))()))],
      },
      people: [(state) => state.approve('call-1')],
    }),
    ends: ['failed', 'error', 1, 'ContinuationCriteria'],
    also: (told) => expect(statuses(told)).toStrictEqual(['succeeded']),
  },
  {
    name: 'a criterion throws after the summary',
    scenario: () => ({
      options: {
        model: scriptedModel([calls('work'), says('In short.')]),
        tools: [works],
        limits: { steps: 1, onLimit: 'finalize' },
        criteria: [stopWhen('Shaky', ({ stepCount }) => (stepCount < 2 ? false : throws(new Error('It fell over.'))()))],
      },
    }),
    ends: ['failed', 'error', 2, 'ContinuationCriteria'],
    also: ({ end }) => expect(end.text).toBe('In short.'),
  },
  {
    name: 'a criterion throws after a step',
    scenario: () => ({
      options: {
        model: scriptedModel([{ text: 'Working.', toolCalls: [{ name: 'work' }], usage }]),
        tools: [works],
        criteria: [stopWhen('Shaky', ({ stepCount }) => (stepCount === 0 ? false : throws(new Error('It fell over.'))()))],
      },
    }),
    ends: ['failed', 'error', 1, 'ContinuationCriteria'],
    also: ({ end }) => {
      expect(end.explain()).toMatch(/Your criterion Shaky threw (?:after|before) step \d: It fell over\./);
      expect([end.text, end.usage.total, end.errors.map(({ code }) => code)]).toStrictEqual(['Working.', 15, ['criterion-failed']]);
    },
  },
];

const expectAborted = (steps: number): Expected => ['stopped', 'user_requested', steps, 'StopRequested'];
const statuses = ({ end }: Told): readonly string[] => end.steps.flatMap(({ executions }) => executions.map(({ status }) => status));

const abortRows: readonly Row[] = [
  {
    name: 'an abort while the model answers',
    scenario: ({ host }) => {
      async function* chunks(): AsyncGenerator<string> {
        yield 'Half of ';
        host.abort('enough');
        await hangs();
      }
      return { options: { model: scriptedModel([{ chunks: chunks() }]) } };
    },
    ends: expectAborted(1),
    also: ({ end }) => {
      expect([end.text, end.steps[0]?.interrupted, end.errors]).toStrictEqual(['Half of ', 'signal', []]);
      expect(end.usage.unknownCalls).toBe(1);
    },
  },
  {
    name: 'an abort while a tool runs that may not run twice',
    scenario: ({ host }) => ({
      options: {
        model: scriptedModel([calls('pay', 'work')]),
        tools: [
          works,
          tool('pay', () => {
            host.abort('enough');
            return hangs();
          }),
        ],
      },
    }),
    ends: expectAborted(1),
    also: (told) => {
      expect(statuses(told)[0]).toBe('unknown');
      expect([told.end.steps[0]?.interrupted, told.end.errors]).toStrictEqual(['signal', []]);
    },
  },
  {
    name: 'an abort while a tool runs that has no effects',
    scenario: ({ host }) => ({
      options: {
        model: scriptedModel([calls('look')]),
        tools: [
          tool(
            'look',
            () => {
              host.abort();
              throw new Error('I was told to stop.');
            },
            { effect: 'pure' },
          ),
        ],
      },
    }),
    ends: expectAborted(1),
    also: (told) => expect([statuses(told), told.end.errors]).toStrictEqual([['cancelled'], []]),
  },
  {
    name: 'an abort between two steps',
    scenario: ({ host }) => ({
      options: { model: scriptedModel([calls('work'), says('Never.')]), tools: [works] },
      onEvent: ({ type }) => {
        if (type === 'AgentStepCompleted') host.abort('enough');
      },
    }),
    ends: expectAborted(2),
    also: ({ end }) => expect(end.steps.map(({ interrupted }) => interrupted)).toStrictEqual([undefined, 'signal']),
  },
  {
    name: 'an abort while a retry is waited for',
    scenario: ({ host, clock }) => ({
      options: { model: scriptedModel([fails(failure('rate_limit')), says('Never.')]), errors: ErrorPolicy.retryAll(3) },
      onEvent: ({ type }) => {
        if (type === 'RetryScheduled') clock.schedule(100, () => host.abort('enough'));
      },
    }),
    ends: expectAborted(2),
    also: ({ end, events }) => {
      expect(ofType(events, 'RetryScheduled').map(({ delayMs }) => delayMs)).toStrictEqual([750]);
      expect(end.errors).toStrictEqual([]);
    },
  },
  {
    name: 'an abort of a run that was parked',
    scenario: ({ host }) => ({
      options: { model: scriptedModel([calls('wipe')]), tools: [wipe] },
      people: [
        (state) => {
          host.abort('enough');
          return state.approve('call-1');
        },
      ],
    }),
    ends: expectAborted(1),
    also: (told) => expect([statuses(told), told.end.usage.total]).toStrictEqual([['cancelled'], 15]),
  },
  {
    name: 'an abort while an approved call runs',
    scenario: ({ host }) => ({
      options: {
        model: scriptedModel([calls('pay', 'wipe')]),
        tools: [
          wipe,
          tool(
            'pay',
            () => {
              host.abort('enough');
              return hangs();
            },
            { needsApproval: true },
          ),
        ],
      },
      people: [(state) => state.approve('call-1')],
    }),
    ends: expectAborted(1),
    also: (told) => expect(statuses(told)).toStrictEqual(['unknown', 'cancelled']),
  },
  {
    name: 'an abort while a call beside the running one asks for approval',
    scenario: ({ host }) => ({
      options: {
        model: scriptedModel([calls('wipe', 'pay')]),
        tools: [
          wipe,
          tool('pay', () => {
            host.abort('enough');
            return hangs();
          }),
        ],
      },
    }),
    ends: expectAborted(1),
    also: (told) => expect(statuses(told)).toStrictEqual(['cancelled', 'unknown']),
  },
  {
    name: 'an abort when approval is asked for',
    scenario: ({ host }) => ({
      options: { model: scriptedModel([calls('wipe')]), tools: [wipe] },
      onEvent: ({ type }) => {
        if (type === 'ToolApprovalRequested') host.abort('enough');
      },
    }),
    ends: expectAborted(1),
    also: (told) => expect([statuses(told), told.end.usage.total]).toStrictEqual([['cancelled'], 15]),
  },
  {
    name: 'an abort while the fallback answers',
    scenario: ({ host }) => {
      async function* chunks(): AsyncGenerator<string> {
        yield 'Second ';
        host.abort('enough');
        await hangs();
      }
      return {
        options: {
          model: scriptedModel([{ text: 'First words', error: failure('model') }]),
          fallback: [scriptedModel([{ chunks: chunks() }])],
        },
      };
    },
    ends: expectAborted(1),
    also: ({ end }) => expect(end.text).toBe('Second '),
  },
  {
    name: 'an abort while the whole answer is waited for',
    scenario: ({ host }) => ({
      options: {
        model: scriptedModel([
          () => {
            host.abort('enough');
            return hangs();
          },
        ]),
        streaming: false,
      },
    }),
    ends: expectAborted(1),
    also: ({ end }) => expect([end.text, end.errors, end.usage.unknownCalls]).toStrictEqual(['', [], 1]),
  },
  {
    name: 'an abort after the last decision',
    scenario: ({ host }) => ({
      options: { model: scriptedModel([says('Done.')]) },
      onEvent: ({ type }) => {
        if (type === 'ContinuationEvaluated') host.abort('too late');
      },
    }),
    ends: ['completed', 'completed', 1, 'ToolCallPresenceCheck'],
  },
  {
    name: 'an abort of a run that was parked by the re-act driver',
    scenario: ({ host }) => ({
      options: {
        model: scriptedModel([says('{"thought": "", "type": "call_tool", "tool": "wipe", "args": "{}", "answer": null}')]),
        tools: [wipe],
        driver: reActDriver(),
      },
      people: [
        (state) => {
          host.abort('enough');
          return state.approve(state.waitingFor[0]?.id ?? '');
        },
      ],
    }),
    ends: expectAborted(1),
    also: (told) => expect(statuses(told)).toStrictEqual(['cancelled']),
  },
  {
    name: 'an abort while the run sums up',
    scenario: ({ host }) => ({
      options: {
        model: scriptedModel([
          calls('work'),
          () => {
            host.abort('enough');
            return hangs();
          },
        ]),
        tools: [works],
        limits: { steps: 1, onLimit: 'finalize' },
      },
    }),
    ends: expectAborted(2),
    also: ({ end }) => expect(end.steps.map(({ interrupted }) => interrupted)).toStrictEqual([undefined, 'signal']),
  },
];

const toolFails = (name: string, run: (ctx: ToolContext) => unknown, also: Row['also']): Row => ({
  name,
  scenario: () => ({
    options: { model: scriptedModel([calls('break')], again), tools: [tool('break', run)], errors: ErrorPolicy.retryToolErrors(2) },
  }),
  ends: usedUp(2),
  ...(also !== undefined && { also }),
});

const callFails = (name: string, call: ScriptedToolCall, code: string): Row => ({
  name,
  scenario: () => ({
    options: { model: scriptedModel([calls(call)], again), tools: [works], errors: ErrorPolicy.retryToolErrors(2) },
  }),
  ends: usedUp(2),
  also: ({ end, events }) => {
    expect(end.errors).toMatchObject([{ type: 'tool', code, readable: true }]);
    expect(ofType(events, 'RetryScheduled')).toStrictEqual([]);
    expect(ofType(events, 'ToolCallCompleted').map(({ success }) => success)).toStrictEqual([false, false]);
  },
});

const cyclic = (): object => {
  const knot: Record<string, unknown> = {};
  knot['self'] = knot;
  return knot;
};

const failsAs =
  (type: ErrorType, message: string): Row['also'] =>
  ({ end }) => {
    expect(end.errors).toMatchObject([{ type, toolName: 'break', readable: true }]);
    expect(end.errors[0]?.message).toContain(message);
  };

const toolRows: readonly Row[] = [
  {
    name: 'a tool that hangs and ignores its signal',
    scenario: () => ({
      options: {
        model: scriptedModel([calls('slow')], again),
        tools: [tool('slow', hangs, { timeoutMs: 100 })],
        errors: ErrorPolicy.retryToolErrors(2),
      },
    }),
    ends: usedUp(2),
    also: ({ end, events }) => {
      expect(end.errors).toMatchObject([{ type: 'timeout', toolName: 'slow' }]);
      expect(ofType(events, 'RetryScheduled')).toStrictEqual([]);
    },
  },
  {
    name: 'a tool that hangs until it is told to stop',
    scenario: () => ({
      options: {
        model: scriptedModel([calls('slow')]),
        tools: [
          tool(
            'slow',
            ({ signal }) =>
              new Promise((_resolve, reject) => {
                signal.addEventListener('abort', () => reject(signal.reason as Error));
              }),
            { timeoutMs: 100 },
          ),
        ],
        errors: ErrorPolicy.stopOnAnyError(),
      },
    }),
    ends: stops,
    also: ({ end }) => expect(end.errors).toMatchObject([{ type: 'timeout', toolName: 'slow' }]),
  },
  {
    name: 'a tool that hangs until the time is up',
    scenario: () => ({
      options: { model: scriptedModel([calls('slow', 'work')]), tools: [tool('slow', hangs), works], limits: { wallMs: 1000 } },
    }),
    ends: ['stopped', 'time_limit', 1, 'ExecutionTimeLimit'],
    also: (told) => {
      expect(statuses(told)).toStrictEqual(['unknown', 'succeeded']);
      expect([told.end.steps[0]?.interrupted, told.end.errors]).toStrictEqual(['deadline', []]);
    },
  },
  {
    name: 'a tool that hangs until the time is up beside a call that asks for approval',
    scenario: () => ({
      options: { model: scriptedModel([calls('slow', 'wipe')]), tools: [tool('slow', hangs), wipe], limits: { wallMs: 1000 } },
    }),
    ends: ['stopped', 'time_limit', 1, 'ExecutionTimeLimit'],
    also: (told) => expect(statuses(told)).toStrictEqual(['unknown', 'cancelled']),
  },
  {
    name: 'a model that hangs until the time is up',
    scenario: () => ({ options: { model: scriptedModel([hangs]), limits: { wallMs: 1000 } } }),
    ends: ['stopped', 'time_limit', 1, 'ExecutionTimeLimit'],
    also: ({ end }) => expect([end.steps[0]?.interrupted, end.errors]).toStrictEqual(['deadline', []]),
  },
  {
    name: 'a retry that there is no time for',
    scenario: () => ({
      options: {
        model: scriptedModel([fails(failure('model')), says('Never.')]),
        limits: { wallMs: 100 },
        errors: ErrorPolicy.retryAll(3),
      },
    }),
    ends: ['stopped', 'time_limit', 2, 'ExecutionTimeLimit'],
    also: ({ end }) => expect(end.steps.map(({ interrupted }) => interrupted)).toStrictEqual([undefined, 'deadline']),
  },
  callFails('a tool with the name of something every object has', { name: 'constructor' }, 'unknown-tool'),
  callFails('a tool that nobody knows', { name: 'fly' }, 'unknown-tool'),
  callFails('arguments that are no JSON', { name: 'work', args: '{"path": ' }, 'invalid-json'),
  callFails('arguments that do not fit', { name: 'work', args: { path: 3 } }, 'invalid-arguments'),
  toolFails('a tool that returns a Map', () => new Map([['a', 1]]), failsAs('tool', 'cannot be stored')),
  toolFails('a tool that returns a cycle', cyclic, failsAs('tool', 'cannot be stored')),
  toolFails('a tool that returns more than can be kept', () => 'x'.repeat(1_100_000), failsAs('tool', 'cannot be stored')),
  toolFails('a tool that throws a text', throws('just words'), failsAs('tool', 'just words')),
  toolFails('a tool that throws undefined', throws(undefined), failsAs('tool', 'undefined')),
  toolFails('a tool that throws null', throws(null), failsAs('tool', 'null')),
  toolFails('a tool that rejects later', async () => Promise.reject(new ToolFailedError('Later.')), failsAs('tool', 'Later.')),
  {
    name: 'a gate that throws',
    scenario: () => ({
      options: {
        model: scriptedModel([calls('wipe')], again),
        tools: [tool('wipe', () => 'wiped', { needsApproval: throws(new Error('Nobody knows.')) })],
        errors: ErrorPolicy.retryToolErrors(2),
      },
    }),
    ends: usedUp(2),
    also: ({ end }) => expect(end.errors).toMatchObject([{ type: 'tool', code: 'approval-check-failed' }]),
  },
  {
    name: 'a result that cannot be shown',
    scenario: () => ({
      options: {
        model: scriptedModel([calls('work'), says('Done.')]),
        tools: [tool('work', () => 'worked', { toModelOutput: throws(new Error('No picture.')) })],
        errors: ErrorPolicy.stopOnAnyError(),
      },
    }),
    ends: ['completed', 'completed', 2, 'ToolCallPresenceCheck'],
    also: ({ world }) => expect(world.problems).toMatchObject([{ message: 'No picture.' }]),
  },
  {
    name: 'a model that goes round in circles',
    scenario: () => ({ options: { model: scriptedModel([calls('work')], again), tools: [works], limits: { repeatedToolCalls: 3 } } }),
    ends: ['stopped', 'guard', 3, 'RepeatedToolCall'],
  },
  {
    name: 'a run that costs too much',
    scenario: () => ({
      options: { model: scriptedModel([calls('work')], again), tools: [works], limits: { costUsd: 0.02 }, price: () => ({ usd: 0.01 }) },
    }),
    ends: ['stopped', 'guard', 2, 'CostLimit'],
  },
  {
    name: 'a price list that throws',
    scenario: () => ({
      options: { model: scriptedModel([says('Done.')]), limits: { costUsd: 1 }, price: throws(new Error('No prices.')) },
    }),
    ends: ['completed', 'completed', 1, 'ToolCallPresenceCheck'],
    also: ({ end }) => expect(end.cost).toStrictEqual({ usd: 0, unknownCalls: 1 }),
  },
  {
    name: 'an answer that was cut off by its length',
    scenario: () => ({
      options: { model: scriptedModel([{ text: 'And then', finishReason: 'length', usage }]), finishReasons: ['length'] },
    }),
    ends: ['stopped', 'finish_reason', 1, 'FinishReasonCheck'],
  },
];

const finished: Expected = ['completed', 'completed', 2, 'ToolCallPresenceCheck'];

const peopleRows: readonly Row[] = [
  {
    name: 'an approval that is refused',
    scenario: () => ({
      options: { model: scriptedModel([calls('wipe'), says('As you like.')]), tools: [wipe], errors: ErrorPolicy.stopOnAnyError() },
      people: [(state) => state.reject('call-1', 'too dangerous')],
    }),
    ends: finished,
    also: (told) => {
      expect(statuses(told)).toStrictEqual(['rejected']);
      expect(told.end.messages.toArray().flatMap(({ toolResults }) => toolResults)).toMatchObject([
        { output: { type: 'rejected', reason: 'too dangerous' } },
      ]);
    },
  },
  {
    name: 'an approval that is still wanted',
    scenario: () => ({ options: { model: scriptedModel([calls('wipe', 'work')]), tools: [wipe, works] } }),
    ends: ['waiting', undefined, 0, 'approval of wipe (call-1)'],
    also: ({ end }) => expect(end.pendingStep?.partial.executions.map(({ status }) => status)).toStrictEqual(['succeeded']),
  },
  {
    name: 'edited arguments that do not fit',
    scenario: () => ({
      options: { model: scriptedModel([calls('wipe')]), tools: [wipe] },
      people: [(state) => state.approve('call-1', { args: { path: 3 } })],
    }),
    ends: ['waiting', undefined, 0, 'approval of wipe (call-1), after an answer that could not be used'],
    also: ({ end, events }) => {
      expect(end.waitingFor).toMatchObject([{ type: 'approval', id: 'call-1' }]);
      expect(end.waitingFor[0]?.problem).toContain('path');
      expect(ofType(events, 'ToolCallStarted')).toStrictEqual([]);
    },
  },
  {
    name: 'edited arguments that do not fit, then do',
    scenario: () => ({
      options: { model: scriptedModel([calls('wipe'), says('Wiped.')]), tools: [wipe] },
      people: [(state) => state.approve('call-1', { args: { path: 3 } }), (state) => state.approve('call-1', { args: { path: '/tmp' } })],
    }),
    ends: finished,
    also: ({ end }) => expect(end.steps[0]?.executions).toMatchObject([{ status: 'succeeded', args: { path: '/tmp' } }]),
  },
  {
    name: 'a client tool whose answer does not fit',
    scenario: () => ({
      options: { model: scriptedModel([calls('ask')]), tools: [askClient] },
      people: [(state) => state.answer('call-1', 42)],
    }),
    ends: ['waiting', undefined, 0, 'the output of ask (call-1), after an answer that could not be used'],
    also: ({ end }) => expect(end.waitingFor).toMatchObject([{ type: 'client-tool', id: 'call-1', problem: expect.any(String) as string }]),
  },
  {
    name: 'a client tool whose answer does not fit, then does',
    scenario: () => ({
      options: { model: scriptedModel([calls('ask'), says('Thanks.')]), tools: [askClient] },
      people: [(state) => state.answer('call-1', 42), (state) => state.answer('call-1', 'forty-two')],
    }),
    ends: finished,
  },
  {
    name: 'a call that fails beside one that waits',
    scenario: () => ({
      options: { model: scriptedModel([calls('break', 'wipe')]), tools: [breaks, wipe], errors: ErrorPolicy.stopOnAnyError() },
      people: [(state) => state.approve('call-2')],
    }),
    ends: stops,
    also: (told) => expect(statuses(told)).toStrictEqual(['failed', 'succeeded']),
  },
  {
    name: 'an approved call that fails after another was refused',
    scenario: () => ({
      options: {
        model: scriptedModel([calls('wipe', 'pay')]),
        tools: [wipe, tool('pay', throws(new ToolFailedError('No money.')), { needsApproval: true })],
        errors: ErrorPolicy.stopOnAnyError(),
      },
      people: [(state) => state.reject('call-1', 'no'), (state) => state.approve('call-2')],
    }),
    ends: stops,
    also: (told) => expect(statuses(told)).toStrictEqual(['rejected', 'failed']),
  },
  {
    name: 'two calls with the same id that wait',
    scenario: () => ({
      options: { model: scriptedModel([calls({ name: 'wipe', id: 'same' }, { name: 'wipe', id: 'same' }), says('Done.')]), tools: [wipe] },
      people: [(state) => state.waitingFor.reduce((waiting, { id }) => waiting.reject(id, 'no'), state)],
    }),
    ends: finished,
    also: (told) => expect(statuses(told)).toStrictEqual(['rejected', 'rejected']),
  },
  {
    name: 'a message behind an approval',
    scenario: () => ({
      options: { model: scriptedModel([calls('wipe'), says('Done.')]), tools: [wipe] },
      people: [(state) => state.approve('call-1').withUserMessage('And hurry.')],
    }),
    ends: finished,
    also: ({ end }) =>
      expect(end.messages.toArray().map(({ role }) => role)).toStrictEqual(['user', 'assistant', 'tool', 'user', 'assistant']),
  },
  {
    name: 'a new message when only one of two calls was approved',
    scenario: () => ({
      options: { model: scriptedModel([calls('wipe', 'wipe'), says('Fine.')]), tools: [wipe] },
      people: [(state) => state.approve('call-1').withUserMessage('Never mind.')],
    }),
    ends: ['completed', 'completed', 1, 'ToolCallPresenceCheck'],
    also: ({ end, events }) => {
      expect(end.session.executions[0]?.results.last?.step.executions.map(({ status }) => status)).toStrictEqual(['rejected', 'rejected']);
      expect(ofType(events, 'ToolCallStarted')).toStrictEqual([]);
    },
  },
  ...[undefined, reActDriver()].map((driver): Row => ({
    name: `a new message instead of an approval, with the ${driver?.name ?? 'tool-calling'} driver`,
    scenario: () => ({
      options: {
        model: scriptedModel([
          driver === undefined ? calls('wipe') : says('{"thought": "", "type": "call_tool", "tool": "wipe", "args": "{}", "answer": null}'),
          says(driver === undefined ? 'Fine.' : '{"thought": "", "type": "final_answer", "tool": null, "args": null, "answer": "Fine."}'),
        ]),
        tools: [wipe],
        ...(driver !== undefined && { driver }),
      },
      people: [(state) => state.withUserMessage('Never mind.')],
    }),
    ends: ['completed', 'completed', 1, 'ToolCallPresenceCheck'],
    also: ({ end }) => {
      const [first] = end.session.executions;
      expect(first?.results.toArray()).toMatchObject([
        { step: { interrupted: 'superseded', executions: [{ status: 'rejected' }] }, outcome: { stopReason: 'user_requested' } },
      ]);
      expect([end.session.stepCount, end.session.usage.total, end.text]).toStrictEqual([2, 30, 'Fine.']);
    },
  })),
];

const limitRows: readonly Row[] = [
  {
    name: 'a limit in the last step',
    scenario: () => ({ options: { model: scriptedModel([says('Done.')]), limits: { steps: 1 } } }),
    ends: ['completed', 'steps_limit', 1, 'StepsLimit'],
    also: ({ end }) => expect(end.explain()).toMatch(/^Completed in step \d+: .* The step limit was reached in the same step/),
  },
  {
    name: 'two limits in the last step',
    scenario: () => ({
      options: { model: scriptedModel([calls('work'), says('Done.')]), tools: [works], limits: { steps: 2, tokens: 30 } },
    }),
    ends: ['completed', 'steps_limit', 2, 'StepsLimit'],
  },
  {
    name: 'a limit with work left',
    scenario: () => ({ options: { model: scriptedModel([calls('work')], again), tools: [works], limits: { steps: 2 } } }),
    ends: ['stopped', 'steps_limit', 2, 'StepsLimit'],
  },
  {
    name: 'a limit in a step whose tool failed',
    scenario: () => ({
      options: { model: scriptedModel([calls('break')]), tools: [breaks], limits: { steps: 1 }, errors: ErrorPolicy.stopOnAnyError() },
    }),
    ends: stops,
  },
  {
    name: 'a summary that fails',
    scenario: () => ({
      options: {
        model: scriptedModel([calls('work'), fails(failure('model'))]),
        tools: [works],
        limits: { steps: 1, onLimit: 'finalize' },
        errors: ErrorPolicy.stopOnAnyError(),
      },
    }),
    ends: ['failed', 'error', 2, judged],
    also: ({ end }) => expect(end.explain()).toContain('Step 2 was one extra step, to sum up.'),
  },
  {
    name: 'a summary that fails and is not tried again',
    scenario: () => ({
      options: {
        model: scriptedModel([calls('work'), fails(failure('model'))]),
        tools: [works],
        limits: { steps: 1, onLimit: 'finalize' },
        errors: ErrorPolicy.retryAll(5),
      },
    }),
    ends: ['stopped', 'steps_limit', 2, 'StepsLimit'],
  },
  {
    name: 'a summary that hangs',
    scenario: () => ({
      options: {
        model: scriptedModel([calls('work'), hangs]),
        tools: [works],
        limits: { steps: 1, onLimit: 'finalize', finalizeMs: 500 },
      },
    }),
    ends: ['stopped', 'steps_limit', 2, 'StepsLimit'],
    also: ({ end, world }) => {
      expect(end.steps.map(({ interrupted }) => interrupted)).toStrictEqual([undefined, 'deadline']);
      expect(world.clock.monotonic()).toBeLessThanOrEqual(600);
    },
  },
  {
    name: 'a summary after the time was up that hangs too',
    scenario: () => ({
      options: { model: scriptedModel([hangs, hangs]), limits: { wallMs: 1000, onLimit: 'finalize', finalizeMs: 500 } },
    }),
    ends: ['stopped', 'time_limit', 2, 'ExecutionTimeLimit'],
  },
  {
    name: 'a summary that calls a tool',
    scenario: () => ({
      options: {
        model: scriptedModel([calls('work'), { text: 'Once more.', toolCalls: [{ name: 'work' }], usage }]),
        tools: [works],
        limits: { steps: 1, onLimit: 'finalize' },
      },
    }),
    ends: ['stopped', 'steps_limit', 2, 'StepsLimit'],
    also: (told) => expect([statuses(told), told.end.text]).toStrictEqual([['succeeded', 'cancelled'], 'Once more.']),
  },
  {
    name: 'a limit that waits for a grant',
    scenario: () => ({
      options: { model: scriptedModel([calls('work')], again), tools: [works], limits: { steps: 2, onLimit: 'pause' } },
    }),
    ends: ['waiting', undefined, 2, 'StepsLimit'],
    also: ({ end }) => expect(end.waitingFor).toMatchObject([{ type: 'grant', limit: 'steps' }]),
  },
  {
    name: 'a grant that is used up too',
    scenario: () => ({
      options: { model: scriptedModel([calls('work')], again), tools: [works], limits: { steps: 2, onLimit: 'pause' } },
      people: [(state) => state.grant({ steps: 1 })],
    }),
    ends: ['waiting', undefined, 3, 'StepsLimit'],
  },
];

const settlesAtOnce = ({ also, ...row }: Row): Row => ({
  ...row,
  also: async (told) => {
    await also?.(told);
    // The retry is aborted after 100 ms, everything else at once.
    expect(told.world.clock.monotonic()).toBeLessThanOrEqual(row.name.includes('retry') ? 200 : 100);
  },
});

const rows = [
  ...policyRows,
  ...parallelRows,
  ...countRows,
  ...modelRows,
  ...startRows,
  ...abortRows.map(settlesAtOnce),
  ...toolRows,
  ...peopleRows,
  ...limitRows,
];

test('there are many ways to fail, and each has a name of its own', () => {
  expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  expect(rows.length).toBeGreaterThan(30);
});

describe.each(pickSubjects(subjects))('$name:', (subject) => {
  describe.each(rows.map((row) => [row.name, row] as const))('%s', (_, { scenario, ends: [status, stopReason, steps, decider], also }) => {
    test('ends in a state that is recorded and explained', async () => {
      const told = await play(subject, scenario, straight);
      const { end, world } = told;
      expect([end.status, end.stopReason, end.stepCount]).toStrictEqual([status, stopReason, steps]);
      if (status !== 'waiting') expect(end.lastContinuationOutcome?.resolvedBy).toBe(decider);
      expect(end.explain()).toContain(decider === 'ContinuationCriteria' ? 'Your criterion' : decider);
      expectNothingLost(told);
      expectToldEnd(told);
      expectEveryCallAnswered(told);
      expect(world.clock.pendingTimers()).toBe(0);
      await also?.(told);
    });

    test('ends the same step by step and through storage', async () => {
      const told = await play(subject, scenario, throughStorage(subject));
      expect(getFacts(told)).toStrictEqual(getFacts(await play(subject, scenario, straight)));
      expectNothingLost(told);
      expectToldEnd(told);
      expectEveryCallAnswered(told);
      expect(told.world.clock.pendingTimers()).toBe(0);
    });
  });

  test('a result that comes after its time is dropped, and reported', async () => {
    const late: { arrive?: (value: string) => void } = {};
    const told = await play(
      subject,
      () => ({
        options: {
          model: scriptedModel([calls('slow'), says('Done.')]),
          tools: [tool('slow', () => new Promise<string>((resolve) => (late.arrive = resolve)), { timeoutMs: 100 })],
          errors: ErrorPolicy.retryToolErrors(2),
        },
      }),
      straight,
    );
    const before = JSON.stringify(told.end);
    late.arrive?.('too late');
    await told.world.clock.advance(0);
    expect(told.world.problems).toMatchObject([{ code: 'late-result' }]);
    expect(JSON.stringify(told.end)).toBe(before);
    expect(JSON.stringify(told.end.messages)).not.toContain('too late');
  });
});

describe('a listener that fails changes nothing, and is reported', () => {
  const scenario = (): Scenario => ({
    options: { model: scriptedModel([calls('break'), says('Done.')]), tools: [breaks], errors: ErrorPolicy.ignoreToolErrors() },
  });
  const deaf = (): never => {
    throw new Error('I am deaf.');
  };
  const deafLater = async (): Promise<never> => deaf();

  describe.each(pickSubjects(subjects))('$name:', (subject) => {
    test.each([
      ['that throws', deaf],
      ['that rejects', deafLater],
    ])('a listener of one run %s', async (_, onEvent) => {
      const silent = await play(subject, scenario, straight);
      const told = await play(subject, () => ({ ...scenario(), onEvent }), straight);
      expect(getFacts(told)).toStrictEqual(getFacts(silent));
      await told.world.clock.advance(0);
      expect(told.world.problems).toStrictEqual(told.events.map(() => new Error('I am deaf.')));
    });
  });

  test.each([
    ['onEvent of ToolUse', (ports: Options['ports']) => listening(new ToolUse({ ...createOptions(), ports: ports! }), 'one')],
    ['wiretap of ToolUse', (ports: Options['ports']) => listening(new ToolUse({ ...createOptions(), ports: ports! }), 'all')],
    [
      'onEvent of an agent',
      (ports: Options['ports']) => listening(createAgent<unknown, Tools>({ ...createOptions(), ports: ports! }), 'one'),
    ],
    [
      'wiretap of an agent',
      (ports: Options['ports']) => listening(createAgent<unknown, Tools>({ ...createOptions(), ports: ports! }), 'all'),
    ],
  ])('%s', async (_, open) => {
    const clock = createFakeClock();
    const problems: unknown[] = [];
    const { orchestrator, heard } = open({ clock, onProblem: (problem) => problems.push(problem) });
    const start = AgentState.empty({ clock }).withUserMessage('Go.');
    const end = await whileTimePasses(clock, orchestrator.run(start));
    expect([end.status, end.stepCount, end.text]).toStrictEqual(['completed', 2, 'Done.']);
    expect(heard.length).toBeGreaterThan(1);
    expect(problems).toStrictEqual(heard.map(() => new Error('I am deaf.')));
  });

  const createOptions = (): Options => ({ ...scenario().options, model: scriptedModel([calls('break'), says('Done.')]) });

  function listening(
    subject: ToolUse | ReturnType<typeof createAgent<unknown, Tools>>,
    to: 'one' | 'all',
  ): { readonly orchestrator: StepByStep<ToolUseState, unknown, unknown, ToolEvent>; readonly heard: readonly string[] } {
    const heard: string[] = [];
    const listener = ({ type }: { readonly type: string }): never => {
      heard.push(type);
      return deaf();
    };
    if (to === 'one') subject.onEvent('AgentStepCompleted', listener);
    else subject.wiretap(listener);
    return { orchestrator: subject, heard };
  }
});

describe('a request to stop', () => {
  interface Stoppable {
    readonly result: Promise<ToolUseState>;
    readonly requestStop: (reason: string) => void;
  }
  const begin = {
    createAgent: (options: Options, clock: FakeClock): Stoppable => {
      const { result, requestStop } = createAgent<unknown, Tools>(options).start(AgentState.empty({ clock }).withUserMessage('Go.'));
      return { result: result.then(({ state }) => state), requestStop };
    },
    ToolUse: (options: Options, clock: FakeClock): Stoppable => {
      const { result, requestStop } = new ToolUse(options).start(ToolUseState.empty({ clock }).withUserMessage('Go.'));
      return { result: result.then(({ state }) => state), requestStop };
    },
  };

  describe.each(pickSubjects(['createAgent', 'ToolUse'] as const))('of %s', (name) => {
    const stopDuring = async (script: readonly ScriptedEntry[], type: ToolEvent['type']): Promise<ToolUseState> => {
      const clock = createFakeClock();
      const bus = createEventBus<ToolEvent>();
      const options = { model: scriptedModel(script), tools: [works, wipe], errors: ErrorPolicy.retryAll(3), events: bus };
      const run = begin[name]({ ...options, ports: { clock, random: () => 0.5 } }, clock);
      bus.on(type, () => {
        run.requestStop('lunch');
      });
      const end = await whileTimePasses(clock, run.result);
      expect([end.status, end.stopReason]).toStrictEqual(['stopped', 'user_requested']);
      expect(end.explain()).toMatch(/^Stopped on request .*: lunch\./);
      expectEveryCallAnswered({ end, events: [], world: { clock, host: new AbortController(), problems: [] } });
      return end;
    };

    test('while a tool runs lets the step end', async () => {
      const end = await stopDuring([calls('work'), says('Never.')], 'ToolCallStarted');
      expect(end.steps).toMatchObject([{ executions: [{ status: 'succeeded' }] }]);
      expect(end.steps[0]?.interrupted).toBeUndefined();
    });

    test('while a retry is waited for ends the wait', async () => {
      const end = await stopDuring([fails(failure('rate_limit')), says('Never.')], 'RetryScheduled');
      expect(end.steps.map(({ interrupted }) => interrupted)).toStrictEqual([undefined, 'request']);
      expect(end.explain()).toMatch(/^Stopped on request before step \d+: /);
    });

    test('while a call asks for approval closes the call, and does not say that the step was never begun', async () => {
      const end = await stopDuring([calls('work', 'wipe'), says('Never.')], 'ToolCallStarted');
      expect(end.steps).toMatchObject([{ executions: [{ status: 'succeeded' }, { status: 'cancelled' }] }]);
      expect(end.explain()).not.toMatch(/before step/);
    });
  });
});

describe('a store that fails', () => {
  const full = (): never => {
    throw new Error('The disk is full.');
  };

  describe.each(pickSubjects(subjects))('of $name', (subject) => {
    test.each([
      ['throws', full],
      ['rejects', async (): Promise<never> => full()],
    ])('and %s rejects the run, tells no decision that was not kept, and goes on from the last commit', async (_, fail) => {
      const clock = createFakeClock();
      const opened = subject.open({
        model: scriptedModel([calls('work'), says('Lost.'), says('Done.')]),
        tools: [works],
        ports: { clock, ids: createCountingIds('id') },
      });
      const kept: ToolUseState[] = [];
      const events: ToolEvent[] = [];
      const given: Given = {
        onEvent: (event) => events.push(event),
        commit: ({ state }) => {
          if (state.stepCount === 2) return fail();
          kept.push(state);
          return undefined;
        },
      };
      const start = subject.empty({ clock }).withUserMessage('Go.');
      await expect(opened.run(start, given)).rejects.toThrow('The disk is full.');
      expect(ofType(events, 'ContinuationEvaluated').map(({ stepNumber }) => stepNumber)).toStrictEqual([1]);
      expect(ofType(events, 'AgentFinished')).toStrictEqual([]);
      expect(clock.pendingTimers()).toBe(0);

      const last = subject.read(JSON.parse(JSON.stringify(kept.at(-1))));
      expect([last.status, last.stepCount]).toStrictEqual(['in_progress', 1]);
      const end = await opened.run(last, {});
      expect([end.status, end.stepCount, end.text]).toStrictEqual(['completed', 2, 'Done.']);
    });
  });
});

describe('left to its defaults', () => {
  const always = (): Scenario => ({ options: { model: scriptedModel([calls('break')], again), tools: [breaks] } });
  const alwaysBusy = (): Scenario => ({ options: { model: scriptedModel([fails(failure('model'))], again) } });
  const [agent, toolUse] = subjects as readonly [Subject, Subject];

  test.each([
    ['an agent gives a failed tool back to the model twice', { subject: agent, scenario: always, ends: ['failed', 'retry_limit', 3] }],
    [
      'an agent asks a broken model until ten seconds are over',
      { subject: agent, scenario: alwaysBusy, ends: ['failed', 'retry_limit', 5] },
    ],
    ['ToolUse ends at a failed tool', { subject: toolUse, scenario: always, ends: ['failed', 'error', 1] }],
    ['ToolUse ends at a broken model', { subject: toolUse, scenario: alwaysBusy, ends: ['failed', 'error', 1] }],
  ] as const)('%s', async (_, { subject, scenario, ends }) => {
    const { end } = await play(subject, scenario, straight);
    expect([end.status, end.stopReason, end.stepCount]).toStrictEqual(ends);
  });
});
