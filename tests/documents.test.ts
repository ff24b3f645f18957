// The PHP snippets of the design documents, written in TypeScript against the public entry points. Each is listed by its document and
// heading. This file is compiled with the rest and run here; docs/migration.md lists what differs.
import { describe, expect, it } from 'vitest';
import type {
  AgentEvent,
  CanDecideToContinue,
  CanExplainContinuation,
  CanResolveErrorContext,
  CanSerializeAgentState,
  ContinuationCriterion,
} from '../src/entry/index.ts';
import {
  AgentBuilder,
  AgentErrorContextResolver,
  AgentState,
  canContinueWith,
  ContinuationCriteria,
  ContinuationDecision,
  ContinuationEvaluated,
  ContinuationEvaluation,
  ContinuationOutcome,
  createAgent,
  CumulativeExecutionTimeLimit,
  defineTool,
  ErrorContext,
  ErrorHandlingDecision,
  ErrorPolicy,
  ErrorPolicyCriterion,
  ErrorPresenceCheck,
  ErrorType,
  ExecutionTimeLimit,
  FinishReasonCheck,
  InvalidArgumentError,
  Message,
  MessageRole,
  RateLimitedError,
  RetryLimit,
  SlimAgentStateSerializer,
  SlimSerializationConfig,
  StateInfo,
  StepResult,
  StepsLimit,
  StopReason,
  TimedOutError,
  TokenUsageLimit,
  ToolCallPresenceCheck,
  ToolUse,
  ToolUseState,
} from '../src/entry/index.ts';
import type { CanBroadcastAgentEvents, Envelope } from '../src/entry/broadcasting.ts';
import { AgentEventEnvelopeAdapter } from '../src/entry/broadcasting.ts';
import { ChatState, createChat, scriptedParticipant } from '../src/entry/chat.ts';
import { CollaborationState, createCollaboration, scriptedCollaborator } from '../src/entry/collaboration.ts';
import { createCountingIds, createFakeClock, scriptedModel } from '../src/entry/testing.ts';

const { ForbidContinuation, AllowContinuation, RequestContinuation, AllowStop } = ContinuationDecision;
const { Stop, Retry, Ignore } = ErrorHandlingDecision;

// A run to look at: a tool that works, fails, or takes its time, and a model that follows a script.

const day = 86_400_000;
const usage = { input: 10, output: 5 };
const callSearch = { toolCalls: [{ id: 'c1', name: 'search', args: { name: 'Acme' } }], usage };
const answer = { text: 'There is no Acme.', usage };

function setUp(script: Parameters<typeof scriptedModel>[0], search: () => unknown = () => 'no match') {
  const clock = createFakeClock();
  const ids = createCountingIds();
  const tool = defineTool({ name: 'search', description: 'Searches.', input: { type: 'object' }, run: search });
  const builder = AgentBuilder.base().withModel(scriptedModel(script)).withTools(tool).withPorts({ clock, ids });
  const start = AgentState.empty({ clock, ids }).withUserMessage('Find Acme.', { ids });
  return { clock, ids, builder, start, tool };
}

const throwOffline = (): never => {
  throw new Error('offline');
};

/** A state whose last step failed in a tool. */
async function runFailing(error: () => never = throwOffline): Promise<AgentState> {
  const { builder, start } = setUp([callSearch, answer], error);
  return builder.build().run(start);
}

/** A state after a call and an answer. */
async function runWhole(): Promise<AgentState> {
  const { builder, start } = setUp([callSearch, answer]);
  return builder.build().run(start);
}

// Continuation

function stopReason(): void {
  expect(StopReason).toStrictEqual({
    Completed: 'completed',
    StepsLimitReached: 'steps_limit',
    TokenLimitReached: 'token_limit',
    TimeLimitReached: 'time_limit',
    RetryLimitReached: 'retry_limit',
    ErrorForbade: 'error',
    FinishReasonReceived: 'finish_reason',
    GuardForbade: 'guard',
    UserRequested: 'user_requested',
  });
}

/** A criterion as the documents write it: one class, both interfaces. */
class FewSteps implements CanDecideToContinue, CanExplainContinuation {
  readonly name = 'FewSteps';

  decide(state: AgentState): ContinuationDecision {
    return this.explain(state).decision;
  }

  explain({ stepCount }: AgentState): ContinuationEvaluation {
    return new ContinuationEvaluation({
      criterion: this.name,
      decision: stepCount >= 2 ? ForbidContinuation : AllowContinuation,
      reason: `${stepCount} of 2 steps`,
      context: { stepCount },
    });
  }
}

async function canExplainContinuation(): Promise<void> {
  const explaining: CanExplainContinuation<AgentState> = new FewSteps();
  const state = await runWhole();
  expect(explaining.explain(state)).toMatchObject({ criterion: 'FewSteps', decision: 'forbid', reason: '2 of 2 steps' });
  expect(ContinuationCriteria.from(explaining).evaluate(state).getForbiddingCriterion()).toBe('FewSteps');
}

function continuationEvaluation(): void {
  const evaluation = new ContinuationEvaluation({ criterion: 'Mine', decision: AllowStop, reason: 'done', context: { steps: 2 } });
  expect(evaluation).toMatchObject({ criterion: 'Mine', decision: 'stop', reason: 'done', context: { steps: 2 } });
  const reasons = Object.values(ContinuationDecision).map((decision) => ContinuationEvaluation.fromDecision('Mine', decision).reason);
  expect(reasons).toStrictEqual([
    'Mine forbade continuation',
    'Mine permits continuation',
    'Mine requested continuation',
    'Mine allows stop',
  ]);
}

function continuationOutcome(): void {
  const evaluations = [
    ContinuationEvaluation.fromDecision('Work', RequestContinuation),
    ContinuationEvaluation.fromDecision('Guard', ForbidContinuation),
  ];
  const outcome = new ContinuationOutcome({
    decision: ForbidContinuation,
    shouldContinue: false,
    resolvedBy: 'Guard',
    stopReason: StopReason.GuardForbade,
    evaluations,
  });
  expect(outcome.getEvaluationFor('Work')).toStrictEqual(evaluations[0]);
  expect([outcome.getEvaluationFor('Nobody'), outcome.getForbiddingCriterion()]).toStrictEqual([undefined, 'Guard']);
  expect(outcome.toJSON()).toStrictEqual({
    decision: 'forbid',
    shouldContinue: false,
    resolvedBy: 'Guard',
    stopReason: 'guard',
    evaluations: [
      { criterion: 'Work', decision: 'request', reason: 'Work requested continuation', context: {} },
      { criterion: 'Guard', decision: 'forbid', reason: 'Guard forbade continuation', context: {} },
    ],
  });
}

/** The sketch of `evaluate()`, on public names. */
function evaluateByHand<State>(criteria: readonly ContinuationCriterion<State>[], state: State): ContinuationOutcome {
  if (criteria.length === 0)
    return new ContinuationOutcome({
      decision: AllowStop,
      shouldContinue: false,
      resolvedBy: 'ContinuationCriteria',
      stopReason: StopReason.Completed,
      evaluations: [],
    });
  const evaluations = criteria.map((criterion) =>
    'explain' in criterion ? criterion.explain(state) : ContinuationEvaluation.fromDecision(criterion.name, criterion.decide(state)),
  );
  const shouldContinue = canContinueWith(...evaluations.map(({ decision }) => decision));
  const forbidding = evaluations.find(({ decision }) => decision === ForbidContinuation);
  const asking = evaluations.find(({ decision }) => decision === RequestContinuation);
  const stopping = evaluations.find(({ decision }) => decision === AllowStop);
  const resolvedBy = (forbidding ?? asking ?? stopping)?.criterion ?? 'aggregate';
  return new ContinuationOutcome({
    decision: shouldContinue ? RequestContinuation : forbidding === undefined ? AllowStop : ForbidContinuation,
    shouldContinue,
    resolvedBy,
    ...(!shouldContinue && { stopReason: forbidding === undefined ? StopReason.Completed : inferStopReason(forbidding) }),
    evaluations,
  });
}

/** Nothing is guessed from names: an evaluation that forbids has its own stop reason. */
const inferStopReason = (evaluation: ContinuationEvaluation): StopReason => evaluation.stopReason ?? StopReason.GuardForbade;

interface Counted {
  readonly steps: number;
}

const steps = ({ steps: count }: Counted): number => count;
const lists: readonly (readonly ContinuationCriterion<Counted>[])[] = [
  [],
  [new StepsLimit(3, steps), { name: 'Work', decide: () => RequestContinuation }],
  [new StepsLimit(2, steps), { name: 'Work', decide: () => RequestContinuation }],
  [{ name: 'Work', decide: () => AllowStop }, new StepsLimit(3, steps)],
  [{ name: 'Guard', decide: () => ForbidContinuation }],
];

function evaluateSketch(): void {
  for (const criteria of lists)
    expect(
      ContinuationCriteria.from(...criteria)
        .evaluate({ steps: 2 })
        .toJSON(),
    ).toStrictEqual(evaluateByHand(criteria, { steps: 2 }).toJSON());
}

function evaluateAndItsShortcuts(): void {
  for (const list of lists) {
    const criteria = ContinuationCriteria.from(...list);
    const outcome: ContinuationOutcome = criteria.evaluate({ steps: 2 });
    expect(criteria.canContinue({ steps: 2 })).toBe(outcome.shouldContinue);
    expect(criteria.decide({ steps: 2 })).toBe(outcome.decision);
  }
}

async function continuationEvaluatedEvent(): Promise<void> {
  const { builder, start } = setUp([callSearch, answer]);
  const events: ContinuationEvaluated[] = [];
  await builder.build().run(start, {
    onEvent: (event: AgentEvent) => {
      if (event instanceof ContinuationEvaluated) events.push(event);
    },
  });
  const { agentId } = start;
  expect(events).toMatchObject([
    { agentId, parentAgentId: null, stepNumber: 1, shouldContinue: true, stopReason: null, resolvedBy: 'ToolCallPresenceCheck' },
    { agentId, parentAgentId: null, stepNumber: 2, shouldContinue: false, stopReason: 'completed', resolvedBy: 'ToolCallPresenceCheck' },
  ]);
  expect(events[1]?.outcome.evaluations.length).toBeGreaterThan(5);
  expect(events.map(String)).toStrictEqual([
    `Agent [${agentId}] step 1: CONTINUE ToolCallPresenceCheck: the model has not answered yet`,
    `Agent [${agentId}] step 2: STOP (completed) ToolCallPresenceCheck: the model called no tools`,
  ]);
}

// Failures

function errorType(): void {
  expect(ErrorType).toStrictEqual({
    Tool: 'tool',
    Model: 'model',
    Validation: 'validation',
    RateLimit: 'rate_limit',
    Timeout: 'timeout',
    Unknown: 'unknown',
  });
}

function errorHandlingDecision(): void {
  expect(ErrorHandlingDecision).toStrictEqual({ Stop: 'stop', Retry: 'retry', Ignore: 'ignore' });
}

function errorContext(): void {
  const context = new ErrorContext({
    type: ErrorType.Tool,
    consecutiveFailures: 1,
    totalFailures: 2,
    message: 'offline',
    toolName: 'search',
    metadata: { attempt: 1 },
  });
  expect(context).toMatchObject({ type: 'tool', consecutiveFailures: 1, totalFailures: 2, message: 'offline', toolName: 'search' });
  expect(ErrorContext.none()).toStrictEqual({ type: 'unknown', consecutiveFailures: 0, totalFailures: 0 });
}

/** The resolver of the documents, on the fields of our states. */
class OwnErrorContextResolver implements CanResolveErrorContext<AgentState> {
  resolve(state: AgentState): ErrorContext {
    const { currentStep, toolExecutions } = state;
    if (currentStep === undefined || currentStep.errors.length === 0) return ErrorContext.none();
    return new ErrorContext({
      type: toolExecutions.firstError?.type ?? currentStep.errors[0]?.type ?? ErrorType.Unknown,
      consecutiveFailures: state.steps.length - (state.steps.findLastIndex((step) => step.errors.length === 0) + 1),
      totalFailures: state.steps.filter((step) => step.errors.length > 0).length,
      message: toolExecutions.firstError?.message,
      toolName: toolExecutions.firstErrorToolName,
    });
  }
}

async function errorContextResolver(): Promise<void> {
  const throwing = (error: Error) => (): never => {
    throw error;
  };
  const thrown: readonly (readonly [() => never, ErrorType])[] = [
    [throwOffline, 'tool'],
    [throwing(new RateLimitedError('slow down')), 'rate_limit'],
    [throwing(new TimedOutError('too late')), 'timeout'],
  ];
  for (const [search, type] of thrown) {
    const state = await runFailing(search);
    const [ours = ErrorContext.none()] = [new AgentErrorContextResolver().resolve(state)].flat();
    const theirs = new OwnErrorContextResolver().resolve(state);
    expect(theirs).toMatchObject({ type, consecutiveFailures: 1, totalFailures: 1, toolName: 'search' });
    expect(ours).toMatchObject({ ...theirs });
  }
  const whole = await runWhole();
  expect([new AgentErrorContextResolver().resolve(whole), new OwnErrorContextResolver().resolve(whole)]).toStrictEqual([
    ErrorContext.none(),
    ErrorContext.none(),
  ]);
}

const toContext = (type: ErrorType, consecutiveFailures: number): ErrorContext =>
  new ErrorContext({ type, consecutiveFailures, totalFailures: consecutiveFailures });

function errorPolicy(): void {
  const own = new ErrorPolicy({
    onToolError: Retry,
    onModelError: Stop,
    onValidationError: Retry,
    onRateLimitError: Retry,
    onTimeoutError: Retry,
    onUnknownError: Stop,
    maxRetries: 3,
  });
  expect(own.toJSON()).toStrictEqual(ErrorPolicy.retryToolErrors(3).toJSON());
  const types = Object.values(ErrorType);
  const decide = (policy: ErrorPolicy): readonly ErrorHandlingDecision[] => types.map((type) => policy.evaluate(toContext(type, 1)));
  expect(types).toStrictEqual(['tool', 'model', 'validation', 'rate_limit', 'timeout', 'unknown']);
  expect(decide(ErrorPolicy.stopOnAnyError())).toStrictEqual([Stop, Stop, Stop, Stop, Stop, Stop]);
  expect(decide(ErrorPolicy.retryToolErrors(3))).toStrictEqual([Retry, Stop, Retry, Retry, Retry, Stop]);
  // maxRetries is 0: what it would retry stops.
  expect(decide(ErrorPolicy.ignoreToolErrors())).toStrictEqual([Ignore, Stop, Ignore, Stop, Stop, Ignore]);
  expect(decide(ErrorPolicy.retryAll(5))).toStrictEqual([Retry, Retry, Retry, Retry, Retry, Retry]);
  expect([1, 2, 3].map((count) => own.evaluate(toContext('tool', count)))).toStrictEqual([Retry, Retry, Stop]);
  expect(own.withMaxRetries(5).evaluate(toContext('tool', 3))).toBe(Retry);
  expect(own.withToolErrorHandling(Stop).evaluate(toContext('tool', 1))).toBe(Stop);
  expect(own.evaluate(ErrorContext.none())).toBe(Ignore);
}

/** The criterion of the documents, word for word. */
class OwnErrorPolicyCriterion implements CanDecideToContinue, CanExplainContinuation {
  readonly name = 'OwnErrorPolicyCriterion';
  readonly #policy: ErrorPolicy;
  readonly #contextResolver: CanResolveErrorContext<AgentState>;

  constructor(policy: ErrorPolicy, contextResolver: CanResolveErrorContext<AgentState>) {
    this.#policy = policy;
    this.#contextResolver = contextResolver;
  }

  static withPolicy(policy: ErrorPolicy): OwnErrorPolicyCriterion {
    return new OwnErrorPolicyCriterion(policy, new AgentErrorContextResolver());
  }

  decide(state: AgentState): ContinuationDecision {
    return this.explain(state).decision;
  }

  explain(state: AgentState): ContinuationEvaluation {
    const [context = ErrorContext.none()] = [this.#contextResolver.resolve(state)].flat();
    const handling = this.#policy.evaluate(context);
    const { type, consecutiveFailures, totalFailures, toolName = null } = context;
    const { maxRetries } = this.#policy;
    return new ContinuationEvaluation({
      criterion: this.name,
      decision: handling === Stop ? ForbidContinuation : AllowContinuation,
      reason: `${type} error: ${handling} (${consecutiveFailures}/${maxRetries})`,
      context: { errorType: type, consecutiveFailures, totalFailures, maxRetries, handling, toolName },
    });
  }
}

async function errorPolicyCriterion(): Promise<void> {
  const state = await runFailing();
  for (const policy of [ErrorPolicy.stopOnAnyError(), ErrorPolicy.retryToolErrors(3), ErrorPolicy.ignoreToolErrors()]) {
    const built: CanDecideToContinue<AgentState> & CanExplainContinuation<AgentState> = ErrorPolicyCriterion.withPolicy(policy);
    const own = OwnErrorPolicyCriterion.withPolicy(policy);
    expect([built.decide(state), built.explain(state).decision]).toStrictEqual([own.decide(state), own.explain(state).decision]);
    expect(built.explain(state).context).toMatchObject({ ...own.explain(state).context });
  }
  const resolver = new OwnErrorContextResolver();
  expect(new ErrorPolicyCriterion(ErrorPolicy.stopOnAnyError(), resolver).decide(state)).toBe('forbid');
}

// The builder

async function withErrorPolicy(): Promise<void> {
  const builder = setUp([callSearch, callSearch, answer], throwOffline);
  expect(builder.builder.withErrorPolicy(ErrorPolicy.retryToolErrors(3))).toBe(builder.builder);
  const retried = await builder.builder.build().run(builder.start);
  expect([retried.status, retried.stepCount]).toStrictEqual(['completed', 3]);
  const byDefault = await runFailing();
  expect([byDefault.status, byDefault.stopReason, byDefault.continuationOutcome?.resolvedBy]).toStrictEqual([
    'failed',
    'error',
    'ErrorPolicyCriterion',
  ]);
}

async function baseCriteria(): Promise<void> {
  const state = await runWhole();
  const criteria = ContinuationCriteria.from<AgentState>(
    new StepsLimit(20, ({ stepCount }) => stepCount),
    new TokenUsageLimit(32_768, ({ usage: used }) => used.total),
    new ExecutionTimeLimit(300, ({ info }) => info.executionStartedAt ?? info.startedAt),
    new FinishReasonCheck([], ({ currentStep }) => currentStep?.finishReason),
    ErrorPolicyCriterion.withPolicy(ErrorPolicy.stopOnAnyError()),
    new ToolCallPresenceCheck(({ stepCount, currentStep }) => stepCount === 0 || currentStep?.hasToolCalls === true),
    new FewSteps(),
  );
  const outcome = criteria.evaluate(state, { now: state.info.updatedAt });
  expect([outcome.stopReason, outcome.resolvedBy]).toStrictEqual(['guard', 'FewSteps']);
  // The builder's own list has the same criteria, and neither of the two that the policy replaces.
  const { criteria: names } = setUp([]).builder.build().describe();
  expect(names).toStrictEqual(expect.arrayContaining(criteria.names.filter((name) => name !== 'FewSteps')));
  for (const removed of ['ErrorPresenceCheck', 'RetryLimit']) expect(names).not.toContain(removed);
}

async function beforeAndAfter(): Promise<void> {
  const three = [callSearch, callSearch, callSearch, answer];
  const before = setUp(three, throwOffline);
  const old = before.builder
    .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
    .addContinuationCriteria(new ErrorPresenceCheck((state: AgentState) => state.stepCount > 9))
    .addContinuationCriteria(new RetryLimit(3, { steps: (state: AgentState) => state.steps, hasError: (step) => step.errors.length > 0 }))
    .build();
  const after = setUp(three, throwOffline);
  const agent = after.builder.withErrorPolicy(ErrorPolicy.retryToolErrors(3)).build();
  for (const end of [await old.run(before.start), await agent.run(after.start)])
    expect([end.stopReason, end.stepCount]).toStrictEqual(['retry_limit', 3]);
}

// Arguments that leak

async function argumentsDoNotLeak(): Promise<void> {
  const leaking = { ...callSearch, text: '{"name":"Acme"}' };
  const { builder, start } = setUp([leaking, answer]);
  const deltas: string[] = [];
  const end = await builder.build().run(start, {
    onEvent: (event: AgentEvent) => {
      if (event.type === 'TextDelta') deltas.push(event.text);
    },
  });
  expect(end.messages.map(({ text }) => text).join('')).not.toContain('{');
  expect(deltas.join('')).toBe('There is no Acme.');
}

async function wordsBesideCallsStay(): Promise<void> {
  const { builder, start } = setUp([{ ...callSearch, text: 'Let me look.' }, answer]);
  const end = await builder.build().run(start);
  expect(end.messages.filter((message) => message.isAssistant()).map(({ text }) => text)).toStrictEqual([
    'Let me look.',
    'There is no Acme.',
  ]);
}

// States and times

async function lastContinuationOutcome(): Promise<void> {
  const state = await runWhole();
  const outcome: ContinuationOutcome | undefined = state.lastContinuationOutcome;
  expect(state.continuationOutcome).toBe(outcome);
  expect(outcome?.stopReason).toBe('completed');
  // A step and its outcome are recorded together.
  const result = new StepResult(state.steps[0] ?? expect.fail('no step'), outcome ?? expect.fail('no outcome'));
  expect(AgentState.empty().withUserMessage('Go.').recordStepResult(result).continuationOutcome).toBe(outcome);
}

function stateInfo(): void {
  const info = new StateInfo({ id: 'session-1', startedAt: 0, updatedAt: day, cumulativeExecutionSeconds: 1.5 });
  const later = info.addExecutionTime(2, 2 * day);
  expect([info.cumulativeExecutionSeconds, later.cumulativeExecutionSeconds, later.startedAt, later.updatedAt]).toStrictEqual([
    1.5,
    3.5,
    0,
    2 * day,
  ]);
  expect(later.toJSON()).toStrictEqual({
    id: 'session-1',
    startedAt: '1970-01-01T00:00:00.000Z',
    updatedAt: '1970-01-03T00:00:00.000Z',
    cumulativeExecutionSeconds: 3.5,
  });
  expect(StateInfo.fromJSON(later.toJSON())).toStrictEqual(later);
  expect(StateInfo.fromJSON({}).cumulativeExecutionSeconds).toBe(0);
}

function cumulativeExecutionTimeLimit(): void {
  expect(() => new CumulativeExecutionTimeLimit(0, () => 1)).toThrow(InvalidArgumentError);
  const limit = new CumulativeExecutionTimeLimit<AgentState>(60, ({ info }) => info.cumulativeExecutionSeconds);
  const both: CanDecideToContinue<AgentState> & CanExplainContinuation<AgentState> = limit;
  const spend = (seconds: number): AgentState => {
    const empty = AgentState.empty();
    return empty.evolve({ info: empty.info.addExecutionTime(seconds) });
  };
  expect(ContinuationCriteria.from(both).evaluate(spend(59)).evaluations[0]).toMatchObject({
    decision: 'allow',
    context: { cumulativeSeconds: 59, maxSeconds: 60 },
  });
  expect(both.decide(spend(60))).toBe('forbid');
}

async function stepDurations(): Promise<void> {
  const { builder, start, clock } = setUp([callSearch, answer], () => {
    clock.skip(2500);
    return 'no match';
  });
  const end = await builder.build().run(start);
  expect(end.stepResults.map(({ timing }) => timing.activeMs)).toStrictEqual([2500, 0]);
  expect(end.info.cumulativeExecutionSeconds).toBe(2.5);
  expect(AgentState.fromJSON(JSON.parse(JSON.stringify(end))).info.cumulativeExecutionSeconds).toBe(2.5);
}

async function withCumulativeTimeout(): Promise<void> {
  const listLimits = async (change: (builder: AgentBuilder) => unknown): Promise<readonly unknown[]> => {
    const { builder, start } = setUp([answer]);
    expect(change(builder)).toBe(builder);
    const { evaluations = [] } = (await builder.build().run(start)).continuationOutcome ?? {};
    return evaluations.flatMap(({ criterion, context }) => (criterion.endsWith('TimeLimit') ? [[criterion, context['maxSeconds']]] : []));
  };
  expect(await listLimits((builder) => builder.withTimeout(60))).toStrictEqual([['ExecutionTimeLimit', 60]]);
  expect(await listLimits((builder) => builder.withTimeout(60).withCumulativeTimeout(5))).toStrictEqual([
    ['CumulativeExecutionTimeLimit', 5],
  ]);
  // One number for both: the later call wins.
  expect(await listLimits((builder) => builder.withCumulativeTimeout(5).withTimeout(60))).toStrictEqual([
    ['CumulativeExecutionTimeLimit', 60],
  ]);
}

async function executionStartedAt(): Promise<void> {
  const { builder, start, clock } = setUp([answer, answer]);
  const agent = builder.withTimeout(60).build();
  const first = await agent.run(start);
  expect(first.info.executionStartedAt).toBe(start.info.startedAt);
  // It is not stored: each run stamps its own start.
  expect(first.info.toJSON()).not.toHaveProperty('executionStartedAt');
  const restored = AgentState.fromJSON(JSON.parse(JSON.stringify(first)));
  expect(restored.info.executionStartedAt).toBeUndefined();
  clock.skip(7 * day);
  const second = await agent.run(restored.withUserMessage('Again?'));
  expect([second.status, second.info.startedAt]).toStrictEqual(['completed', start.info.startedAt]);
  expect(second.info.executionStartedAt).toBe(start.info.startedAt + 7 * day);
}

async function timeLimitOfTheSession(): Promise<void> {
  const { builder, start, clock } = setUp([answer]);
  clock.skip(day);
  const bySession = new ExecutionTimeLimit<AgentState>(60, ({ info }) => info.startedAt, { name: 'SinceTheSession' });
  const byExecution = new ExecutionTimeLimit<AgentState>(60, ({ info }) => info.executionStartedAt ?? info.startedAt, {
    name: 'SinceTheRun',
  });
  const end = await builder.addContinuationCriteria(bySession, byExecution).build().run(start);
  expect([end.stopReason, end.continuationOutcome?.resolvedBy]).toStrictEqual(['time_limit', 'SinceTheSession']);
  expect(end.continuationOutcome?.getEvaluationFor('SinceTheRun')?.decision).toBe('allow');
}

// Results of steps

async function stepResult(): Promise<void> {
  const state = await runWhole();
  const [step, outcome] = [state.currentStep ?? expect.fail('no step'), state.continuationOutcome ?? expect.fail('no outcome')];
  const result = new StepResult(step, outcome);
  expect([result.step, result.outcome, result.shouldContinue, result.stopReason]).toStrictEqual([step, outcome, false, 'completed']);
  expect(() => Object.assign(result, { step: undefined })).toThrow(TypeError);
}

async function stepByStep(): Promise<void> {
  const { builder, start } = setUp([callSearch, answer]);
  const agent = builder.build();
  let state = start;
  const canContinue = (given: AgentState): boolean => given.lastStepResult?.shouldContinue ?? true;
  while (canContinue(state)) {
    expect(agent.hasNextStep(state)).toBe(true);
    state = await agent.nextStep(state);
    // The step was produced, judged and recorded once; it has no outcome of its own.
    expect(state.lastStepResult?.step).toBe(state.currentStep);
    expect(state.currentStep).not.toHaveProperty('continuationOutcome');
  }
  expect([agent.hasNextStep(state), state.stepCount, state.stopReason]).toStrictEqual([false, 2, 'completed']);
  const outcomes = (given: AgentState): readonly unknown[] => given.stepResults.map(({ outcome }) => outcome.toJSON());
  expect(outcomes(AgentState.fromJSON(JSON.parse(JSON.stringify(state))))).toStrictEqual(outcomes(state));
}

async function everyOrchestrator(): Promise<void> {
  const model = scriptedModel([answer]);
  const ends = [
    await createAgent({ model }).run(AgentState.empty().withUserMessage('Go.')),
    await new ToolUse({ model: scriptedModel([answer]) }).run(ToolUseState.empty().withUserMessage('Go.')),
    await createChat({ participants: [scriptedParticipant({ name: 'ann', says: ['Hello.'] })] }).run(
      ChatState.empty().withUserMessage('Go.'),
    ),
    await createCollaboration({ collaborators: [scriptedCollaborator({ name: 'ann', says: ['Hello.'] })] }).run(
      CollaborationState.empty().withUserMessage('Go.'),
    ),
  ];
  for (const end of ends) {
    expect(end.stepResults).toHaveLength(1);
    expect(end.lastStepResult).toBeInstanceOf(StepResult);
    expect(end.continuationOutcome).toBe(end.lastStepResult?.outcome);
    expect([end.stopReason, end.continuationOutcome?.evaluations.length]).toStrictEqual(['completed', expect.any(Number)]);
  }
}

// Messages

function messageRoles(): void {
  const readers = (message: Message): readonly boolean[] => [
    message.isUser(),
    message.isAssistant(),
    message.isTool(),
    message.isSystem(),
    message.isDeveloper(),
    message.hasRole(MessageRole.User, MessageRole.Assistant),
  ];
  expect(readers(Message.user('Hi.'))).toStrictEqual([true, false, false, false, false, true]);
  expect(readers(Message.assistant('Hi.'))).toStrictEqual([false, true, false, false, false, true]);
  expect(readers(Message.of('tool', ''))).toStrictEqual([false, false, true, false, false, false]);
  expect(readers(Message.system('Be brief.'))).toStrictEqual([false, false, false, true, false, false]);
  expect(readers(Message.of('developer', 'Be brief.'))).toStrictEqual([false, false, false, true, true, false]);
}

// Payloads and envelopes

function slimSerializationConfig(): void {
  const fields = { includeToolArgs: true, includeMetadata: true, includeAllSteps: false };
  expect(new SlimSerializationConfig()).toMatchObject({ maxMessages: 50, maxContentLength: 1000, ...fields });
  expect(SlimSerializationConfig.standard()).toStrictEqual(new SlimSerializationConfig());
  expect(SlimSerializationConfig.minimal()).toMatchObject({
    maxMessages: 10,
    maxContentLength: 500,
    includeToolArgs: false,
    includeMetadata: false,
    includeAllSteps: false,
  });
  expect(SlimSerializationConfig.full()).toMatchObject({
    ...fields,
    maxMessages: Infinity,
    maxContentLength: Infinity,
    includeAllSteps: true,
  });
}

async function slimSerializer(): Promise<void> {
  const serializer: CanSerializeAgentState = new SlimAgentStateSerializer(SlimSerializationConfig.full());
  const state = await runWhole();
  const payload = JSON.parse(JSON.stringify(serializer.serialize(state))) as unknown;
  expect(payload).toMatchObject({
    agent_id: state.agentId,
    status: 'completed',
    execution: { step_count: 2, cumulative_seconds: 0 },
    messages: expect.any(Array) as unknown,
    current_step: { step_number: 2 },
  });
  expect(serializer.deserialize(payload).toJSON()).toStrictEqual(state.toJSON());
}

async function broadcasting(): Promise<void> {
  const sent: Envelope[] = [];
  const adapter: CanBroadcastAgentEvents = new AgentEventEnvelopeAdapter(
    { send: (_channel, envelopes) => void sent.push(...envelopes) },
    { includeContinuationTrace: true, includeStreamChunks: false },
  );
  const { builder, start } = setUp([callSearch, answer]);
  const events: AgentEvent[] = [];
  const agent = builder.build();
  await agent.run(start, { onEvent: (event: AgentEvent) => void events.push(event) });
  const [first, ...rest] = events;
  adapter.broadcast(first ?? expect.fail('no event'));
  adapter.broadcastBatch(rest);
  const find = (name: string): unknown => sent.find(({ event }) => event === name);
  expect(find('agent.step.started')).toMatchObject({ data: { step_number: 1 } });
  expect(find('agent.step.completed')).toMatchObject({
    event: 'agent.step.completed',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as unknown,
    agent_id: start.agentId,
    data: { step_number: 1, usage: { input: 10, output: 5, total: 15 }, duration_ms: 0 },
  });
  expect(find('agent.tool.started')).toMatchObject({ data: { tool: 'search', tool_call_id: 'c1' } });
  expect(find('agent.tool.completed')).toMatchObject({ data: { tool: 'search', success: true, error: null } });
  expect(find('agent.continuation')).toMatchObject({ data: { should_continue: true, evaluations: expect.any(Array) as unknown } });
}

const snippets: Readonly<Record<string, readonly (readonly [heading: string, run: () => void | Promise<void>])[]>> = {
  '000': [
    ['StopReason', stopReason],
    ['CanExplainContinuation', canExplainContinuation],
    ['ContinuationEvaluation', continuationEvaluation],
    ['ContinuationOutcome', continuationOutcome],
    ['Add evaluate()', evaluateAndItsShortcuts],
    ['Existing APIs', evaluateAndItsShortcuts],
    ['Implementation sketch', evaluateSketch],
    ['ErrorType', errorType],
    ['ErrorHandlingDecision', errorHandlingDecision],
    ['ErrorContext', errorContext],
    ['CanResolveErrorContext', errorContextResolver],
    ['CanResolveErrorContext: default implementation for Agent', errorContextResolver],
    ['ErrorPolicy', errorPolicy],
    ['ErrorPolicyCriterion', errorPolicyCriterion],
    ['New Builder API', withErrorPolicy],
    ['Base Criteria Changes', baseCriteria],
    ['AgentState', lastContinuationOutcome],
    ['Events', continuationEvaluatedEvent],
    ['Breaking Changes', beforeAndAfter],
  ],
  '001': [
    ['Task 1.2, Root Cause: primary', argumentsDoNotLeak],
    ['Task 1.2, Root Cause: secondary', argumentsDoNotLeak],
    ['Task 1.2, Option A', argumentsDoNotLeak],
    ['Task 1.2, Option B', wordsBesideCallsStay],
    ['Task 2.1, 1. StopReason', stopReason],
    ['Task 2.1, 2. ContinuationEvaluation', continuationEvaluation],
    ['Task 2.1, 3. ContinuationOutcome', continuationOutcome],
    ['Task 2.1, 4. CanExplainContinuation', canExplainContinuation],
    ['Task 2.2, evaluate()', evaluateSketch],
    ['Task 2.2, Backward Compatibility', evaluateAndItsShortcuts],
    ['Task 2.3, ContinuationEvaluated', continuationEvaluatedEvent],
    ['Task 3.1, 1. ErrorType', errorType],
    ['Task 3.1, 2. ErrorHandlingDecision', errorHandlingDecision],
    ['Task 3.1, 3. ErrorContext', errorContext],
    ['Task 3.1, 4. CanResolveErrorContext', errorContextResolver],
    ['Task 3.2, ErrorPolicy', errorPolicy],
    ['Task 3.3, ErrorPolicyCriterion', errorPolicyCriterion],
    ['Task 3.3, AgentErrorContextResolver', errorContextResolver],
    ['Task 3.4, 1. withErrorPolicy()', withErrorPolicy],
    ['Task 3.4, 2. buildContinuationCriteria()', baseCriteria],
    ['Task 3.4, Breaking Changes', beforeAndAfter],
    ['Task 4.1, StateInfo', stateInfo],
    ['Task 4.2, CumulativeExecutionTimeLimit', cumulativeExecutionTimeLimit],
    ['Task 4.3, performStep()', stepDurations],
    ['Task 4.4, withCumulativeTimeout()', withCumulativeTimeout],
    ['Task 5.1, SlimSerializationConfig', slimSerializationConfig],
    ['Task 5.2, CanSerializeAgentState', slimSerializer],
    ['Task 5.2, SlimAgentStateSerializer', slimSerializer],
    ['Task 6.1, CanBroadcastAgentEvents', broadcasting],
    ['Task 6.2, AgentEventEnvelopeAdapter', broadcasting],
    ['Task 6.2, Event envelope format', broadcasting],
  ],
  '003': [
    ['Agent Pattern', stepByStep],
    ['ToolUse/Chat/Collaboration Pattern', everyOrchestrator],
    ['The Problem with Current Agent Implementation', stepByStep],
    ['Solution: StepResult Abstraction', stepResult],
    ['Phase 1: Create StepResult Wrapper Class', stepResult],
    ['Phase 2: performStep()', stepByStep],
    ['Phase 2: canContinue()', stepByStep],
  ],
  '004': [
    ['0.1, Root Cause', timeLimitOfTheSession],
    ['0.1, Step 1: executionStartedAt', executionStartedAt],
    ['0.1, Step 2: Reset at Execution Entry Point', executionStartedAt],
    ['0.1, Step 3: Update AgentBuilder', timeLimitOfTheSession],
    ['1.1 Message Role Helpers', messageRoles],
    ['1.2, Option A', argumentsDoNotLeak],
    ['1.2, Option B', wordsBesideCallsStay],
    ['2.2 ContinuationCriteria.evaluate()', evaluateAndItsShortcuts],
    ['3.2 ErrorPolicy', errorPolicy],
    ['4.1 StateInfo Enhancement', stateInfo],
  ],
};

describe.each(Object.entries(snippets))('document %s, in TypeScript', (_document, list) => {
  it.each(list)('%s', async (_heading, run) => {
    expect.hasAssertions();
    await run();
  });
});
