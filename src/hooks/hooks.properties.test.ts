// Random runs of an agent with random hooks: whatever they do, every decision is recorded and told with its reason and its source.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pickRuns } from '../../tests/support/test-scale.ts';
import type { ContinuationEvaluation, ContinuationOutcome } from '../continuation/index.ts';
import { ContinuationDecision, StepsLimit, StopReason } from '../continuation/index.ts';
import { ErrorPolicy, RateLimitedError, ToolFailedError } from '../errors/index.ts';
import type { GuardPoint, Hook, HookChange, Vote } from './index.ts';
import { guardHook, HookPoint } from './index.ts';
import type { FakeClock, Json, JsonObject } from '../lib/index.ts';
import { createCountingIds, createFakeClock, sleep, stableStringify } from '../lib/index.ts';
import { Message, SectionName, Usage } from '../messages/index.ts';
import type { Wait } from '../step-by-step/index.ts';
import type { ScriptedAnswer, ScriptedEntry } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import type { ToolEvent, ToolUseState } from '../tool-use/index.ts';
import { defineHook } from '../tool-use/index.ts';
import type { Tool, ToolContext, Tools } from '../tools/index.ts';
import { defineClientTool, defineTool } from '../tools/index.ts';
import { AgentState, createAgent } from '../agent/index.ts';

// The slow test runs the same properties many times over.
const numRuns = pickRuns({ quick: 60, slow: 2000 });

// What a run is made of

/** Mostly one, so that runs get somewhere; now and then the other. */
const mostly = <Usual, Seldom>(usual: fc.Arbitrary<Usual>, seldom: fc.Arbitrary<Seldom>): fc.Arbitrary<Usual | Seldom> =>
  fc.oneof({ weight: 5, arbitrary: usual }, { weight: 1, arbitrary: seldom });

const { ForbidContinuation, ...milder } = ContinuationDecision;
const decision = mostly(fc.constantFrom(...Object.values(milder)), fc.constant(ForbidContinuation));
// No keys of any kind: engines exist whose JSON.parse mixes up keys with escapes in them.
const jsonValue: fc.Arbitrary<Json> = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.string()));
const vote: fc.Arbitrary<Vote> = fc.record(
  {
    decision,
    reason: fc.string(),
    stopReason: fc.constantFrom(...Object.values(StopReason)),
    context: fc.dictionary(fc.constantFrom('a', 'point', '__proto__'), jsonValue, { maxKeys: 2 }),
  },
  { requiredKeys: ['decision', 'reason'] },
);

/** Other changes of a hook at a point, in the order in which a plan picks them; some are refused. */
const specials: Readonly<Partial<Record<HookPoint, readonly HookChange[]>>> = {
  before_step: ['tools', 'conversation'],
  before_inference: ['messages', 'tools'],
  before_tool: ['args', 'result', 'block'],
  after_tool: ['result', 'block'],
  after_step: ['output'],
};

const deed = fc.record({
  /** At which of its calls it acts; every time if there is none. */
  on: fc.option(fc.nat(3), { nil: undefined }),
  votes: fc.oneof(
    { weight: 2, arbitrary: fc.constant<Vote[]>([]) },
    { weight: 3, arbitrary: fc.array(vote, { minLength: 1, maxLength: 2 }) },
  ),
  metadata: fc.boolean(),
  special: fc.option(fc.record({ which: fc.nat(2), value: fc.nat(2) }), { nil: undefined }),
  pace: fc.constantFrom('at once', 'soon', 'later'),
  way: mostly(fc.constant('return'), fc.constantFrom('return', 'throw', 'hang', 'hang, deaf')),
});
type Deed = typeof deed extends fc.Arbitrary<infer Value> ? Value : never;

// Calls are where most can go wrong.
const points = [...Object.values(HookPoint), HookPoint.BeforeTool, HookPoint.BeforeTool, HookPoint.AfterTool, HookPoint.AfterStep];
const hookPlan = fc.record({
  order: fc.integer({ min: -1, max: 1 }),
  at: fc.uniqueArray(fc.tuple(fc.constantFrom(...points), deed), {
    selector: ([point]) => point,
    minLength: 1,
    maxLength: 4,
  }),
  isHonest: mostly(fc.constant(true), fc.boolean()),
  hasTimeout: fc.boolean(),
});
type HookPlan = typeof hookPlan extends fc.Arbitrary<infer Value> ? Value : never;

const toolCall = fc.record(
  {
    name: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom('good', 'slow') },
      { weight: 3, arbitrary: fc.constantFrom('fails', 'limited', 'hangs', 'nope') },
      { weight: 3, arbitrary: fc.constantFrom('gated', 'client') },
    ),
    args: fc.oneof({ weight: 5, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: fc.constantFrom({ n: 1 }, { n: 'x' }, '{"n":') }),
  },
  { requiredKeys: ['name', 'args'] },
);
const tokens = fc.option(fc.record({ input: fc.nat(40), output: fc.nat(40) }), { nil: undefined });
const calling = fc
  .tuple(fc.array(toolCall, { minLength: 1, maxLength: 3 }), tokens, fc.boolean())
  .map(([toolCalls, usage, areAlike]): ScriptedAnswer => ({
    toolCalls: areAlike ? toolCalls.map((each) => ({ ...each, id: 'same' })) : toolCalls,
    ...(usage !== undefined && { usage }),
  }));
const entry: fc.Arbitrary<ScriptedAnswer> = fc.oneof(
  { weight: 6, arbitrary: calling },
  { weight: 3, arbitrary: tokens.map((usage) => ({ text: 'Done.', ...(usage !== undefined && { usage }) })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('length', 'interrupted', 'content_filter').map((finishReason) => ({ text: 'So', finishReason })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(new Error('broken'), new RateLimitedError('busy', { retryAfterMs: 30 })).map((error) => ({ error })),
  },
  { weight: 1, arbitrary: fc.constant({}) },
);

const policy = fc
  .tuple(
    mostly(fc.constantFrom('retryToolErrors', 'ignoreToolErrors', 'retryAll'), fc.constant('stopOnAnyError')),
    fc.integer({ min: 0, max: 6 }),
  )
  .map(([preset, retries]) => ({ preset, retries }) as const);

const limits = fc.record({
  steps: mostly(fc.integer({ min: 3, max: 9 }), fc.integer({ min: 0, max: 2 })),
  tokens: mostly(fc.constant(Infinity), fc.integer({ min: 1, max: 300 })),
  wallMs: mostly(fc.constant(100_000), fc.integer({ min: 1, max: 300 })),
  onLimit: fc.constantFrom('stop', 'finalize', 'pause'),
});

const plan = fc.record({
  hooks: fc.array(hookPlan, { maxLength: 5, size: 'medium' }),
  /** Points of a guard that is also a hook. */
  guard: mostly(fc.constant(undefined), fc.constantFrom('execution_start', 'before_step', 'after_step')),
  script: fc.tuple(calling, fc.array(entry, { maxLength: 5 })).map(([first, rest]) => [first, ...rest]),
  limits,
  policy,
  finishReasons: fc.constantFrom([], ['length']),
  toolConcurrency: fc.constantFrom(1, 8),
  streaming: fc.boolean(),
  onUnknown: fc.constantFrom('tell', 'ask'),
});
type Plan = typeof plan extends fc.Arbitrary<infer Value> ? Value : never;

const settling = fc.record({
  type: fc.constant('settle' as const),
  how: fc.array(fc.constantFrom('yes', 'no', 'badly'), { minLength: 1, maxLength: 3 }),
});
const message = fc.constant({ type: 'message' as const });
/** A run, and what is done with the state before it. */
const round = fc.record({
  before: fc.oneof({ weight: 3, arbitrary: settling }, { weight: 1, arbitrary: message }, { weight: 1, arbitrary: fc.constant(undefined) }),
  isStored: fc.boolean(),
  by: fc.constantFrom('start', 'run', 'iterate', 'nextStep'),
  abortAt: mostly(fc.constant(undefined), fc.integer({ min: 1, max: 40 })),
  stopAt: mostly(fc.constant(undefined), fc.integer({ min: 1, max: 40 })),
});
type Round = typeof round extends fc.Arbitrary<infer Value> ? Value : never;

// The world in which it runs

/** Place of an occurrence. */
interface Where {
  readonly run: number;
  readonly executionId: string;
  readonly stepNumber: number;
}

/** A change that a hook gave back. */
interface Given extends Where {
  readonly hook: string;
  readonly key: string;
  /** True if it may not be dropped, unless the run was cut off. */
  readonly isDeclared: boolean;
  /** True if it came so that nothing could come between. */
  readonly isCertain: boolean;
  readonly signal: AbortSignal;
}
interface GivenVote extends Given {
  readonly decision: ContinuationDecision;
  /** Time of the vote: the amount begun by then, and the turn. */
  readonly begun: number;
  readonly turn: number;
  /** True if other calls of the step run beside the hook: one of them may start in the same turn. */
  readonly isBesideCalls: boolean;
}

class World {
  readonly clock: FakeClock = createFakeClock();
  readonly votes: GivenVote[] = [];
  readonly metadata: Given[] = [];
  readonly begun: { readonly what: string; readonly run: number; readonly turn: number }[] = [];
  readonly ends: { readonly run: number; readonly stopReason: unknown }[] = [];
  readonly told: { readonly run: number; readonly event: ToolEvent }[] = [];
  /** Number of hooks at the end of an execution. */
  readonly watchers: number;
  run = 0;
  turn = 0;

  constructor(hooks: readonly HookPlan[]) {
    this.watchers = hooks.filter(({ at }) => at.some(([point]) => point === HookPoint.ExecutionEnd)).length;
  }

  begin(what: string): void {
    this.begun.push({ what, run: this.run, turn: this.turn });
  }
}

/** Facts for hooks, as far as one handler for every point can know them. */
interface AnyFacts {
  readonly point: HookPoint;
  readonly state: ToolUseState;
  readonly signal?: AbortSignal;
  readonly executionId?: string;
  readonly stepNumber?: number;
  readonly messages?: readonly Message[];
  readonly stopReason?: StopReason;
}

const findSpecial = (point: HookPoint, { special }: Deed): HookChange | undefined =>
  special === undefined ? undefined : specials[point]?.[special.which];

function listChanges({ at, isHonest }: HookPlan): readonly HookChange[] {
  if (!isHonest) return [];
  const wanted = at.flatMap(([point, given]): (HookChange | undefined)[] =>
    point === HookPoint.ExecutionEnd
      ? []
      : [given.votes.length > 0 ? 'votes' : undefined, given.metadata ? 'metadata' : undefined, findSpecial(point, given)],
  );
  return [...new Set(wanted.filter((change) => change !== undefined))];
}

const never = (): Promise<never> => new Promise(() => undefined);
const untilAborted = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('gave up')), { once: true }));

function specialValue(change: HookChange, value: number, { state, messages = [] }: AnyFacts): unknown {
  switch (change) {
    case 'tools':
      return [['good', 'gated'], [], ['nope']][value];
    case 'conversation':
      return value === 2 ? 'none' : state.store.append(SectionName.Messages, Message.user('By the way.', { id: 'aside' }));
    case 'messages':
      return value === 2 ? [] : [...messages, Message.user('Be brief.', { id: 'brief' })];
    case 'args':
      return [{ n: 7 }, { n: 'x' }, {}][value];
    case 'block':
      return value === 2 ? '' : 'not now';
    default:
      return ['other', 'words', { odd: true }][value];
  }
}

interface Handling {
  readonly world: World;
  readonly hook: string;
  readonly given: Deed;
  readonly isHonest: boolean;
}

/** Returns the hook's answer to this call, and records it in the world. */
function changesNow({ world, hook, given, isHonest }: Handling, facts: AnyFacts): Readonly<Record<string, unknown>> | undefined {
  const { point, signal, executionId = '', stepNumber = 0 } = facts;
  const isDeclared = isHonest && point !== HookPoint.ExecutionEnd;
  const isCertain = given.pace === 'at once' && signal?.aborted !== true;
  const where = { run: world.run, executionId, stepNumber, hook, isDeclared, isCertain, signal: signal ?? AbortSignal.abort() };
  const isBesideCalls = point === HookPoint.BeforeTool || point === HookPoint.AfterTool;
  // Counted for each hook and point by itself: nobody waits for hooks that only look on, so they may answer before or after others.
  const nameNext = (what: string, before: readonly Given[]): string => {
    const name = `${what}-${hook}-${point}-`;
    return `${name}${before.filter(({ key }) => key.startsWith(name)).length}`;
  };
  const votes = given.votes.map((each): Vote => {
    const key = nameNext('vote', world.votes);
    world.votes.push({ ...where, key, decision: each.decision, begun: world.begun.length, turn: world.turn, isBesideCalls });
    return { ...each, context: { ...each.context, key } };
  });
  const special = findSpecial(point, given);
  const key = nameNext('of', world.metadata);
  const metadata: JsonObject | undefined = given.metadata ? { [key]: stepNumber } : undefined;
  if (metadata !== undefined) world.metadata.push({ ...where, key });
  const changes = {
    ...(votes.length > 0 && { votes: votes.length === 1 ? votes[0] : votes }),
    ...(metadata !== undefined && { metadata }),
    ...(special !== undefined && { [special]: specialValue(special, given.special?.value ?? 0, facts) }),
  };
  return Object.keys(changes).length === 0 ? undefined : changes;
}

function createHandler(handling: Handling): (facts: AnyFacts) => unknown {
  const { world, given } = handling;
  let called = -1;
  return (facts) => {
    called += 1;
    if (facts.point === HookPoint.ExecutionEnd) world.ends.push({ run: world.run, stopReason: facts.stopReason });
    if (given.on !== undefined && called !== given.on) return undefined;
    if (given.way === 'hang') return untilAborted(facts.signal);
    if (given.way === 'hang, deaf') return never();
    const answer = (): unknown => {
      if (given.way === 'throw') throw new Error(`${handling.hook} broke`);
      return changesNow(handling, facts);
    };
    if (given.pace === 'at once') return answer();
    // Nobody waits for those who look on, and so no timer of theirs is cut off.
    return (given.pace === 'soon' || facts.signal === undefined ? Promise.resolve() : sleep(world.clock, 15, facts.signal)).then(answer);
  };
}

const handlerName = (point: HookPoint): string => point.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

function createHook(world: World, given: HookPlan, index: number): Hook<ToolUseState, unknown> {
  const name = `hook-${index}`;
  const { at, order, isHonest, hasTimeout } = given;
  const handlers = at.map(([point, each]) => [handlerName(point), createHandler({ world, hook: name, given: each, isHonest })]);
  // One that is only slow has its time; a hanging one is given up, or cut off with the run.
  const isHanging = at.some(([, { way }]) => way !== 'return' && way !== 'throw');
  const timeoutMs = isHanging && hasTimeout ? 5000 : Infinity;
  return defineHook({ name, order, timeoutMs, changes: listChanges(given), ...Object.fromEntries(handlers) } as never);
}

function setUpTools(world: World): readonly Tool[] {
  const input = { type: 'object', properties: { n: { type: 'integer' } } } as const;
  const tool = (name: string, run: (ctx: ToolContext) => unknown, needsApproval = false): Tool =>
    defineTool({
      name,
      description: `Is ${name}.`,
      input,
      needsApproval,
      run: (_args, ctx) => {
        world.begin(name);
        return run(ctx);
      },
    });
  const broken = (error: Error) => (): never => {
    throw error;
  };
  return [
    tool('good', () => 'fine'),
    tool('slow', async ({ signal }) => {
      await sleep(world.clock, 20, signal);
      return 'slow but fine';
    }),
    tool('fails', broken(new ToolFailedError('It broke.'))),
    tool('limited', broken(new RateLimitedError('Slow down.', { retryAfterMs: 30 }))),
    tool('hangs', never),
    tool('gated', () => 'done as agreed', true),
    defineClientTool({ name: 'client', description: 'Is elsewhere.', input }),
  ];
}

const createGuard = (point: GuardPoint): Hook<ToolUseState, unknown> =>
  guardHook(new StepsLimit<ToolUseState>(2, ({ stepCount }) => stepCount), { name: 'guard', at: [point] });

/** The agent of a plan, in a world of its own. */
function open({ hooks, guard, script, limits: given, policy: { preset, retries }, ...options }: Plan) {
  const world = new World(hooks);
  const { clock } = world;
  const ids = createCountingIds('id');
  const entries = script.map((answer): ScriptedEntry => () => {
    world.begin('model');
    return answer;
  });
  const agent = createAgent<unknown, Tools>({
    ...options,
    model: scriptedModel(entries, { repeatLast: true }),
    tools: setUpTools(world),
    hooks: [...hooks.map((each, index) => createHook(world, each, index)), ...(guard === undefined ? [] : [createGuard(guard)])],
    limits: given,
    errors: ErrorPolicy[preset](retries),
    // Whatever hooks throw that look on is reported here, and is nobody's concern.
    ports: { clock, ids, random: () => 0.5, onProblem: () => undefined },
  });
  agent.wiretap((event) => void world.told.push({ run: world.run, event }));
  const state = AgentState.empty({ clock, ids }).withUserMessage('Go.', { ids });
  return { world, agent, ids, state };
}
type Opened = ReturnType<typeof open>;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A delay, and the work after it. */
interface Patience {
  readonly giveUp: () => void;
  readonly turns: number;
}

/** Lets time pass until the work is done; if that takes too long, somebody gives up. */
async function whileTimePasses<Value>(world: World, underWay: Promise<Value>, { giveUp, turns: patience }: Patience): Promise<Value> {
  const seen = { over: false };
  const end = (): void => {
    seen.over = true;
  };
  underWay.then(end, end);
  for (let turns = 0; turns < patience + 30; turns += 1) {
    await nextTurn();
    world.turn += 1;
    if (seen.over) return underWay;
    if (turns === patience) giveUp();
    world.clock.skip(turns < 20 ? 10 : 1000);
  }
  throw new Error('The run did not end.');
}

const roundTrip = (state: AgentState): AgentState => AgentState.fromJSON(JSON.parse(JSON.stringify(state)));

function answerOne(state: AgentState, wait: Wait, how: string): AgentState {
  if (wait.type === 'grant') return how === 'no' ? state.reject(wait.id) : state.grant({ steps: 1, tokens: 60, wallMs: 100 });
  if (how === 'no') return state.reject(wait.id, 'no');
  if (wait.type === 'approval') return state.approve(wait.id, how === 'badly' ? { args: { n: 'x' } } : {});
  return state.answer(wait.id, how);
}

/** Answers as many waits as there are answers. */
function settleAll(state: AgentState, how: readonly string[]): AgentState {
  return state.waitingFor.slice(0, how.length).reduce((now, wait, index) => {
    const isOpen = now.waitingFor.some(({ id }) => id === wait.id);
    return isOpen ? answerOne(now, wait, how[index] ?? 'yes') : now;
  }, state);
}

/** The state as somebody leaves it before the next run. */
function prepareState({ ids }: Opened, before: Round['before'], state: AgentState): AgentState {
  if (before === undefined) return state;
  if (before.type !== 'message') return settleAll(state, before.how);
  // Only a grant or a cancel ends the wait for a grant.
  const ready = state.waitingFor.some(({ type }) => type === 'grant') ? state.cancel('enough', { ids }) : state;
  return ready.withUserMessage('And now?', { ids });
}

async function perform({ world, agent }: Opened, given: Round, state: AgentState): Promise<AgentState> {
  const host = new AbortController();
  let told = 0;
  let requestStop = (): void => undefined;
  const onEvent = (): void => {
    if ((told += 1) === given.abortAt) host.abort('the host gave up');
    if (told === given.stopAt) requestStop();
  };
  const options = { signal: host.signal, onEvent };
  const drive = async (): Promise<AgentState> => {
    if (given.by === 'run') return agent.run(state, options);
    if (given.by === 'nextStep') return agent.nextStep(state, options);
    if (given.by === 'iterate') {
      let latest = state;
      for await (latest of agent.iterate(state, options));
      return latest;
    }
    const run = agent.start(state, options);
    requestStop = () => run.requestStop('enough');
    const result = await run.result;
    expect(result.explain()).toBe(result.state.explain());
    return result.state;
  };
  world.run += 1;
  return whileTimePasses(world, drive(), { turns: 90, giveUp: () => host.abort('nobody waits that long') });
}

// What must hold. Each check gives the claims that are not true.

/** Returns the difference between two values that must be the same. */
function differs(claim: string, found: unknown, expected: unknown): readonly string[] {
  // Holds: all that is compared is made of data.
  const toText = (value: unknown): string => stableStringify(value ?? null);
  return toText(found) === toText(expected) ? [] : [`${claim}: found ${toText(found)} instead of ${toText(expected)}`];
}

/** Resolves an outcome's evaluations by the truth table. */
function toResolved({ evaluations }: ContinuationOutcome): readonly unknown[] {
  const first = (wanted: string) => evaluations.find((each) => each.decision === wanted);
  const [forbid, request, stop] = [first('forbid'), first('request'), first('stop')];
  if (forbid !== undefined) return [false, forbid.criterion, forbid.stopReason ?? 'guard'];
  if (request !== undefined) return [true, request.criterion, undefined];
  return stop === undefined ? [true, 'aggregate', undefined] : [false, stop.criterion, 'completed'];
}

const toDecision = ({ shouldContinue, resolvedBy, stopReason }: ContinuationOutcome): readonly unknown[] => [
  shouldContinue,
  resolvedBy,
  stopReason,
];

type Evaluated = Extract<ToolEvent, { readonly type: 'ContinuationEvaluated' }>;
const isEvaluated = (event: ToolEvent): event is Evaluated => event.type === 'ContinuationEvaluated';

/** Every recorded step has one outcome, which follows from its evaluations and was told once; usage is the sum of the steps'. */
function recordProblems({ told }: World, state: AgentState): readonly string[] {
  const evaluated = told.flatMap(({ event }) => (isEvaluated(event) && event.stepNumber > 0 ? [event] : []));
  return state.session.executions.flatMap((execution) => {
    const results = [...execution.results];
    const own = evaluated.filter(({ executionId }) => executionId === execution.id);
    // A step that a new message closed is told of by the next run.
    const isOwed = state.data.owesEvents === true && execution === state.session.executions.at(state.status === 'pending' ? -1 : -2);
    const recorded = isOwed ? results.slice(0, -1) : results;
    // A step that a hook forbade before it started has a decision, but no record.
    const forbidden = own
      .filter(({ stepNumber }) => stepNumber > results.length)
      .map(({ stepNumber: number, outcome }) => ({ number, outcome }));
    // The cancel of a wait for a grant is decided after the last step.
    const cancelled = own
      .filter(({ stepNumber, outcome }) => stepNumber === results.length && outcome.resolvedBy === 'StopRequested')
      .filter(() => (results.at(-1)?.outcome.awaitedGrants.length ?? 0) > 0)
      .map(({ stepNumber: number, outcome }) => ({ number, outcome }));
    const expected = [...recorded, ...cancelled, ...forbidden];
    const usage = results.reduce((sum, { step }) => Usage.add(sum, step.usage), Usage.none());
    return [
      ...differs(
        'each step is told of once',
        own.map(({ stepNumber, outcome }) => [stepNumber, outcome.toJSON()]),
        expected.map(({ number, outcome }) => [number, outcome.toJSON()]),
      ),
      ...differs('usage', execution.usage, usage),
      ...differs(
        'the cancelled wait',
        cancelled.map(({ outcome }) => outcome.toJSON()),
        cancelled.length === 0 ? [] : [execution.startOutcome?.toJSON()],
      ),
      ...differs(
        'the forbidden step',
        forbidden.map(({ number, outcome }) => [number, outcome]),
        forbidden.length === 0 ? [] : [[results.length + 1, execution.startOutcome]],
      ),
      ...results.flatMap(({ outcome, number }, index) => {
        const mayBeFollowed = outcome.shouldContinue || outcome.awaitedGrants.length > 0;
        return [
          ...differs('step number', number, index + 1),
          ...differs(`decision about step ${number}`, toDecision(outcome), toResolved(outcome)),
          ...(mayBeFollowed || index === results.length - 1 ? [] : [`step ${number} ended it, and there is another one`]),
        ];
      }),
    ];
  });
}

/** The end of a run is told once, last, and with the reason that the state has. */
function endProblems({ told, run, ends, watchers }: World, state: AgentState, { by }: Round): readonly string[] {
  const events = told.filter((each) => each.run === run).map(({ event }) => event);
  const { stopReason, status, lastContinuationOutcome } = state;
  const isAtRest = status !== 'pending' && status !== 'in_progress';
  if (!isAtRest && by !== 'nextStep') return [`it ended ${status}`];
  if (events.length === 0) return [];
  const closing = events.filter((event) => event.type === 'AgentFinished' || event.type === 'AgentFailed');
  const resolvedBy = stopReason === undefined ? undefined : lastContinuationOutcome?.resolvedBy;
  const wanted = [...(status === 'failed' ? ['AgentFailed'] : []), ...(isAtRest ? ['AgentFinished'] : [])];
  const last = events.findLast(isEvaluated);
  // Where a grant was refused, the decision was told when the run began to wait for it.
  const isToldBefore = state.execution.grantRefused !== undefined && last === undefined;
  // An execution that a new message gave up ends when the next run begins.
  const givenUp = events.filter((event) => isEvaluated(event) && event.executionId !== state.execution.id).map(() => 'user_requested');
  return [
    ...differs(
      'ends',
      closing.map((each) => [each.type, each.stopReason, each.status, each.resolvedBy]),
      wanted.map((type) => [type, stopReason, status, resolvedBy]),
    ),
    ...(isAtRest ? differs('last event', events.at(-1)?.type, 'AgentFinished') : []),
    ...differs('status told', events.findLast((event) => event.type === 'AgentStateUpdated')?.status ?? status, status),
    ...(stopReason === undefined || isToldBefore
      ? []
      : differs('last decision told', [last?.stopReason, last?.resolvedBy], [stopReason, resolvedBy])),
    ...differs(
      'reason seen by hooks',
      ends.filter((end) => end.run === run).map((end) => end.stopReason),
      [...givenUp, ...(stopReason === undefined ? [] : [stopReason])].flatMap((reason) => Array.from({ length: watchers }, () => reason)),
    ),
  ];
}

/** The reason stands on the last record, on the state and in words, before and after storage. */
function reasonProblems(state: AgentState): readonly string[] {
  const { startOutcome, lastStepResult, stopReason, status, lastContinuationOutcome, waitingFor } = state;
  const outcome = startOutcome ?? lastStepResult?.outcome;
  const again = roundTrip(state);
  const decisive = outcome?.evaluations.find(({ criterion }) => criterion === outcome.resolvedBy);
  const named = [
    ...(stopReason === undefined ? [] : [outcome?.resolvedBy ?? '']),
    ...waitingFor.map((wait) => (wait.type === 'grant' ? 'more' : wait.id)),
  ];
  return [
    ...(stopReason === undefined ? [] : differs('reason on record', outcome?.stopReason, stopReason)),
    ...(startOutcome === undefined ? [] : differs('decision about the start', toDecision(startOutcome), toResolved(startOutcome))),
    ...(stopReason === undefined || decisive !== undefined ? [] : ['who decided is not among those who were asked']),
    ...differs('stored state', again.toJSON(), state.toJSON()),
    ...differs('restored', [again.stopReason, again.status, again.explain()], [stopReason, status, state.explain()]),
    ...differs('restored outcome', again.lastContinuationOutcome?.toJSON(), lastContinuationOutcome?.toJSON()),
    ...[state.explain(), state.explain({ brief: true })].flatMap((words) => [
      ...(words.trim() === '' ? ['nothing is explained'] : []),
      ...named.flatMap((name) => (words.includes(name) ? [] : [`"${words}" does not name ${name}`])),
    ]),
  ];
}

/** Every call has exactly one result. */
function conversationProblems(state: AgentState): readonly string[] {
  const parts = state.messages.toArray().flatMap((each) => each.parts);
  const calls = parts.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []));
  const results = parts.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : []));
  return differs('results', results.sort(), calls.sort());
}

/** Places of votes, by key. */
function votesByKey({ told }: World, state: AgentState): ReadonlyMap<unknown, readonly string[]> {
  const places = new Map<unknown, string[]>();
  const note = (evaluations: readonly ContinuationEvaluation[], place: string): void => {
    for (const { context, criterion } of evaluations) {
      if (!criterion.startsWith('hook-')) continue;
      places.set(context['key'], [...(places.get(context['key']) ?? []), `${criterion} in ${place}`]);
    }
  };
  for (const { id = '', results, pendingStep } of state.session.executions) {
    for (const { outcome, number } of results) note(outcome.evaluations, `${id}/${number}`);
    if (pendingStep !== undefined) note(pendingStep.evaluations ?? [], `${id}/${pendingStep.number}`);
    for (const { event } of told)
      if (isEvaluated(event) && event.executionId === id && event.stepNumber > results.length)
        note(event.outcome.evaluations, `${id}/${event.stepNumber}`);
  }
  for (const { run, event } of told)
    if (isEvaluated(event) && event.stepNumber === 0) note(event.outcome.evaluations, `the start of run ${run}`);
  return places;
}

/** Every vote stands in the outcome of its own step, once, in the hook's name, and nowhere else; a forbidding one is the end. */
function voteProblems(world: World, state: AgentState): readonly string[] {
  const { votes, told, begun } = world;
  const places = votesByKey(world, state);
  const refused = new Map(told.flatMap(({ run, event }) => (isEvaluated(event) && event.stepNumber === 0 ? [[run, event.outcome]] : [])));
  const known: ReadonlySet<unknown> = new Set(votes.map(({ key }) => key));
  const strange = [...places.keys()].filter((key) => !known.has(key)).map((key) => `nobody cast ${String(key)}`);
  return votes.reduce<readonly string[]>((problems, given) => {
    const { key, hook, executionId, stepNumber, run } = given;
    const isStart = stepNumber === 0;
    const execution = state.session.executions.find(({ id }) => id === executionId);
    const result = execution?.results.at(stepNumber - 1);
    const isForbidding = given.decision === ForbidContinuation;
    // A start that was allowed leaves no record.
    const mayStand = given.isDeclared && (!isStart || refused.has(run) || isForbidding);
    const mustStand = mayStand && (given.isCertain || !given.signal.aborted);
    const home = `${hook} in ${isStart ? `the start of run ${run}` : `${executionId}/${stepNumber}`}`;
    const found = places.get(key) ?? [];
    const misplaced = mustStand || found.length > 0 ? differs(`place of ${key}`, found, mayStand ? [home] : []) : [];
    if (!mustStand || !isForbidding) return [...problems, ...misplaced];
    const forbidden = result === undefined ? execution?.startOutcome : undefined;
    const outcome = isStart ? refused.get(run) : (result?.outcome ?? forbidden);
    const isOrdered = given.isCertain && !given.isBesideCalls;
    const after = begun.slice(given.begun).filter((each) => each.run === run && (isOrdered || each.turn > given.turn));
    const isLast = isStart || execution?.results.length === stepNumber - (forbidden === undefined ? 0 : 1);
    const isHeard = outcome?.isForbidden === true && outcome.awaitedGrants.length === 0 && isLast;
    return [
      ...problems,
      ...misplaced,
      ...(isHeard ? [] : [`${key} forbade it, and it went on`]),
      ...differs(`begun after ${key}`, after, []),
    ];
  }, strange);
}

const pieces: ReadonlySet<string> = new Set(['TextDelta', 'ReasoningDelta', 'ToolCallProgress']);

function findProblems({ world }: Opened, state: AgentState): readonly string[] {
  const numbers = world.told.flatMap(({ event }) => (pieces.has(event.type) ? [] : [event.seq]));
  return [
    ...recordProblems(world, state),
    ...reasonProblems(state),
    ...conversationProblems(state),
    ...voteProblems(world, state),
    ...(numbers.every((seq, index) => seq === index + 1) ? [] : [`numbers of events: ${numbers.join(' ')}`]),
    ...world.metadata.flatMap(({ key, isDeclared, isCertain, signal }) => {
      const [isKept, mustBeKept] = [key in state.metadata, isDeclared && (isCertain || !signal.aborted)];
      return (mustBeKept && !isKept) || (isKept && !isDeclared) ? [`metadata ${key} is ${isKept ? 'kept' : 'lost'}`] : [];
    }),
    ...differs('timers left', world.clock.pendingTimers(), 0),
  ];
}

test('whatever hooks do, each decision has one record with its reason and its source, told once', async () => {
  await fc.assert(
    fc.asyncProperty(plan, fc.array(round, { minLength: 1, maxLength: 6 }), async (given, rounds) => {
      const opened = open(given);
      const problems: string[] = [];
      let { state } = opened;
      for (const each of rounds) {
        state = prepareState(opened, each.before, state);
        problems.push(...reasonProblems(state));
        state = await perform(opened, each, each.isStored ? roundTrip(state) : state);
        problems.push(...endProblems(opened.world, state, each));
      }
      expect([...problems, ...findProblems(opened, state)].slice(0, 3)).toEqual([]);
    }),
    { numRuns },
  );
}, 1_200_000);

// Nothing that hangs, and no time limit: a stored state starts its wall clock anew.
const steadyPlan = plan.map((given): Plan => ({
  ...given,
  hooks: given.hooks.map((each) => ({ ...each, hasTimeout: true })),
  script: given.script.map((answer) => ({
    ...answer,
    ...(answer.toolCalls !== undefined && {
      toolCalls: answer.toolCalls.map((each) => (each.name === 'hangs' ? { ...each, name: 'good' } : each)),
    }),
  })),
  limits: { ...given.limits, wallMs: Infinity },
}));

const varying: ReadonlySet<string> = new Set([
  'id',
  'startedAt',
  'endedAt',
  'parkedAt',
  'askedEarlier',
  'durationMs',
  'activeMs',
  'waitedMs',
]);
const isOfCall = (told: string): boolean => told.startsWith('ToolCall') || told.startsWith('ToolApproval') || told.startsWith('Hook');
/** Record of a run, without the parts that differ from one run to the next. */
const getTranscript = ({ world }: Opened, state: AgentState): unknown => {
  const told = world.told.map(({ event: { type, stepNumber } }) => `${type} ${stepNumber}`);
  return JSON.parse(
    JSON.stringify(
      {
        executions: state.session.executions.map(({ results, startOutcome, pendingStep }) => ({
          results: [...results],
          startOutcome,
          pendingStep,
        })),
        messages: state.messages.toArray(),
        metadata: state.metadata,
        usage: state.session.usage,
        explained: state.explain(),
        // Each run says that it begins; how many there are is the driver's choice.
        told: told.filter((each) => !isOfCall(each) && !each.startsWith('AgentExecutionStarted')),
        // Calls run side by side: which of them is told first is a matter of time.
        ofCalls: told.filter(isOfCall).sort(),
      },
      (name, value: unknown) => (varying.has(name) ? undefined : value),
    ),
  );
};

/** Runs to where it rests: in one go, or step by step over storage. */
async function carryOn({ world, agent }: Opened, state: AgentState, isStored: boolean): Promise<AgentState> {
  // Hooks that hang take their whole time, at every call of every step that is tried again.
  const unexpected: Patience = {
    turns: 1000,
    giveUp: () => {
      throw new Error('It hangs.');
    },
  };
  world.run += 1;
  if (!isStored) return whileTimePasses(world, agent.run(state), unexpected);
  let now = state;
  do now = roundTrip(await whileTimePasses(world, agent.nextStep(now), unexpected));
  while (['pending', 'in_progress'].includes(now.status));
  return now;
}

test('a run that is stored and read again after every step comes to the same as one in one go', async () => {
  const acts = fc.array(fc.oneof({ weight: 3, arbitrary: settling }, { weight: 1, arbitrary: message }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(steadyPlan, acts, async (given, then) => {
      const [inOneGo, overStorage] = await Promise.all(
        [false, true].map(async (isStored) => {
          const opened = open(given);
          let state = await carryOn(opened, opened.state, isStored);
          for (const each of then) state = await carryOn(opened, prepareState(opened, each, state), isStored);
          return getTranscript(opened, state);
        }),
      );
      expect(overStorage).toEqual(inOneGo);
    }),
    { numRuns },
  );
}, 1_200_000);

// What the random runs leave out, each by itself

const votes = (decision: ContinuationDecision) => () => ({
  votes: { decision, reason: 'as planned', stopReason: 'user_requested' as const },
});
const names = (outcome: ContinuationOutcome | undefined): readonly string[] =>
  outcome?.evaluations.flatMap(({ criterion }) => (criterion === 'voter' ? [criterion] : [])) ?? [];

test('a vote that was cast before another hook failed at the start stands in the refusal', async () => {
  const voter = defineHook({ name: 'voter', changes: ['votes'], executionStart: votes('forbid') });
  const broken = defineHook({
    name: 'broken',
    executionStart: () => {
      throw new Error('It broke.');
    },
  });
  const problems: unknown[] = [];
  const ports = { clock: createFakeClock(), onProblem: (problem: unknown) => problems.push(problem) };
  const { state } = await createAgent({ model: scriptedModel([]), hooks: [voter, broken], ports }).start('Go.').result;
  expect(problems).toMatchObject([{ code: 'hook-failed', hook: 'broken' }]);
  expect(state.startOutcome?.isForbidden).toBe(true);
  expect(names(state.startOutcome)).toEqual(['voter']);
});

test('a vote on a step that a new message gave up stands in the outcome of that step', async () => {
  const voter = defineHook({ name: 'voter', changes: ['votes'], afterInference: votes('request') });
  const wipe = defineTool({ name: 'wipe', description: 'Wipes.', input: { type: 'object' }, needsApproval: true, run: () => 'wiped' });
  const model = scriptedModel([{ toolCalls: [{ name: 'wipe' }] }]);
  const agent = createAgent({ model, tools: [wipe], hooks: [voter], ports: { clock: createFakeClock() } });
  const { state } = await agent.start('Go.').result;
  const [closed] = state.withUserMessage('Never mind.').session.executions;
  expect(closed?.results.last?.step.interrupted).toBe('superseded');
  expect(names(closed?.results.last?.outcome)).toEqual(['voter']);
});

test('what a hook rejects with that is called after the run was cut off is heard', async () => {
  const host = new AbortController();
  const gives = defineHook({
    name: 'gives-up',
    beforeStep: async () => {
      host.abort('enough');
      await nextTurn();
    },
  });
  const obeys = defineHook({ name: 'obeys', beforeStep: ({ signal }) => sleep(createFakeClock(), 1, signal) });
  const agent = createAgent({ model: scriptedModel([]), hooks: [gives, obeys], ports: { clock: createFakeClock() } });
  const unheard: unknown[] = [];
  const hear = (reason: unknown): void => void unheard.push(reason);
  process.on('unhandledRejection', hear);
  const { status } = await agent.start('Go.', { signal: host.signal }).result;
  await nextTurn();
  process.off('unhandledRejection', hear);
  expect([status, unheard]).toEqual(['stopped', []]);
});
