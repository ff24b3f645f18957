// Random runs: any mix of votes, failures, limits, aborts, stop requests, waits, further inputs, storage and branches.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pickRuns } from '../../tests/support/test-scale.ts';
import { ContinuationDecision, ContinuationEvaluation, when } from '../continuation/index.ts';
import type { Failure } from '../errors/index.ts';
import { ErrorPolicy, RateLimitedError, ToolFailedError } from '../errors/index.ts';
import type { BaseEvent } from '../events/index.ts';
import { createEventBus } from '../events/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { ScriptedStep } from '../testing/index.ts';
import { createScriptedProcess, ScriptedState } from '../testing/index.ts';
import type { LoopEvent } from './loop-events.ts';
import type { StepByStep } from './orchestrator.ts';
import { createStepByStep } from './step-by-step.ts';

// The slow test runs the same property many times over.
const numRuns = pickRuns({ quick: 150, slow: 20_000 });

const decision = fc.constantFrom(...Object.values(ContinuationDecision));

const failure: fc.Arbitrary<Failure> = fc.record(
  {
    type: fc.constantFrom('tool', 'model', 'validation', 'rate_limit', 'timeout', 'unknown'),
    code: fc.constant('made-up'),
    message: fc.string(),
    retryable: fc.boolean(),
    readable: fc.boolean(),
    toolName: fc.constantFrom('search', 'constructor'),
  },
  { requiredKeys: ['type', 'code', 'message', 'retryable'] },
);

const entry: fc.Arbitrary<ScriptedStep> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      text: fc.string(),
      hasToolCalls: fc.constant(true),
      usage: fc.record({ input: fc.nat(50), output: fc.nat(50) }),
      takesMs: fc.nat(400),
    }),
  },
  { weight: 2, arbitrary: fc.record({ text: fc.string() }) },
  { weight: 2, arbitrary: fc.record({ errors: fc.array(failure, { minLength: 1, maxLength: 3 }), hasToolCalls: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      throws: fc.constantFrom(new Error('broken'), new RateLimitedError('slow down'), new ToolFailedError('no'), 'a string', undefined),
    }),
  },
  { weight: 1, arbitrary: fc.record({ text: fc.string(), finishReason: fc.constantFrom('stop', 'length', 'content_filter') }) },
  {
    weight: 1,
    arbitrary: decision.map((given) => ({ hasToolCalls: true, evaluations: [ContinuationEvaluation.fromDecision('AVote', given)] })),
  },
  {
    weight: 1,
    arbitrary: fc.uniqueArray(fc.constantFrom('call-1', 'call-2', 'call-3'), { minLength: 1 }).map((ids) => ({
      text: 'May I?',
      hasToolCalls: true,
      waits: ids.map((id) => ({ type: 'approval' as const, id, toolName: 'delete', args: { id } })),
    })),
  },
);

const policy = fc
  .tuple(fc.constantFrom('stopOnAnyError', 'retryToolErrors', 'ignoreToolErrors', 'retryAll'), fc.integer({ min: 0, max: 4 }))
  .map(([preset, retries]) => ErrorPolicy[preset](retries).withBackoff({ baseMs: 0 }));

const plan = fc.record({
  script: fc.array(entry, { minLength: 1, maxLength: 6 }),
  policy,
  limits: fc.record(
    {
      steps: fc.integer({ min: 0, max: 9 }),
      tokens: fc.integer({ min: 1, max: 400 }),
      wallMs: fc.integer({ min: 1, max: 3000 }),
      activeMs: fc.integer({ min: 1, max: 3000 }),
    },
    { requiredKeys: ['steps'] },
  ),
  finishReasons: fc.constantFrom([], ['length', 'content_filter']),
  vote: fc.option(fc.tuple(fc.nat(4), decision), { nil: undefined }),
  throwsAt: fc.option(fc.nat(6), { nil: undefined }),
});
type Plan = typeof plan extends fc.Arbitrary<infer Value> ? Value : never;

const act = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ type: 'run' as const }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('iterate' as const), steps: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 2, arbitrary: fc.constant({ type: 'nextStep' as const }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('stream' as const), stopAtEvent: fc.option(fc.nat(8), { nil: undefined }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('abort' as const), atEvent: fc.nat(8) }) },
  { weight: 2, arbitrary: fc.constant({ type: 'store' as const }) },
  { weight: 2, arbitrary: fc.constant({ type: 'answer' as const }) },
  { weight: 2, arbitrary: fc.constant({ type: 'message' as const }) },
  { weight: 1, arbitrary: fc.constant({ type: 'week' as const }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('branch' as const), at: fc.nat(20) }) },
);
type Act = typeof act extends fc.Arbitrary<infer Value> ? Value : never;

function setUpRunnable({ script, vote, throwsAt, ...options }: Plan) {
  const clock = createFakeClock();
  const events: LoopEvent[] = [];
  const bus = createEventBus();
  bus.wiretap((event) => events.push(event as LoopEvent));
  const extraCriteria = [
    ...(vote === undefined
      ? []
      : [when<ScriptedState>('Vote', ({ stepCount }) => (stepCount === vote[0] ? vote[1] : ContinuationDecision.AllowContinuation))]),
    when<ScriptedState>('Brittle', ({ stepCount }) => {
      if (stepCount === throwsAt) throw new Error('brittle');
      return ContinuationDecision.AllowContinuation;
    }),
  ];
  const process = createScriptedProcess(script, { ...options, extraCriteria, clock });
  const orchestrator = createStepByStep(process, { clock, ids: createCountingIds('x'), random: () => 0.5, events: bus });
  return { clock, events, orchestrator };
}

async function perform(
  given: Act,
  state: ScriptedState,
  orchestrator: StepByStep<ScriptedState, undefined, unknown, LoopEvent>,
): Promise<ScriptedState> {
  switch (given.type) {
    case 'run':
      return orchestrator.run(state);
    case 'nextStep':
      return orchestrator.nextStep(state);
    case 'iterate': {
      let [latest, taken] = [state, 0];
      for await (latest of orchestrator.iterate(state)) if ((taken += 1) === given.steps) break;
      return latest;
    }
    case 'stream': {
      const run = orchestrator.start(state);
      let seen = 0;
      for await (const { seq } of run) {
        expect(seq).toBeGreaterThan(0);
        if ((seen += 1) === given.stopAtEvent) run.requestStop('enough');
        if (given.stopAtEvent === undefined && seen === 2) break;
      }
      return (await run.result).state;
    }
    case 'abort': {
      const controller = new AbortController();
      let seen = 0;
      const onEvent = (): void => {
        if ((seen += 1) > given.atEvent) controller.abort('aborted by the test');
      };
      if (given.atEvent === 0) controller.abort('aborted by the test');
      return orchestrator.run(state, { signal: controller.signal, onEvent });
    }
    case 'store':
      return ScriptedState.fromJSON(JSON.parse(JSON.stringify(state)));
    case 'answer': {
      const wait = state.waitingFor[0];
      return wait === undefined ? state : wait.id === 'call-2' ? state.reject(wait.id, 'no') : state.approve(wait.id);
    }
    case 'message':
      return state.withUserMessage('And now?');
    case 'week':
    case 'branch':
      return state;
  }
}

function checkExecutions(state: ScriptedState, events: readonly LoopEvent[]): void {
  for (const execution of state.session.executions) {
    const told = events.filter(({ executionId }) => executionId === execution.id);
    const outcomes = told.flatMap((event) => (event.type === 'ContinuationEvaluated' ? [event.outcome] : []));
    const recorded = [
      ...(execution.startOutcome === undefined ? [] : [execution.startOutcome]),
      ...[...execution.results].map(({ outcome }) => outcome),
    ];
    // A step that a new message closed is told of by the next run.
    const owed = state.data.owesEvents === true && execution === state.session.executions.at(state.status === 'pending' ? -1 : -2);
    expect(outcomes.map(String)).toEqual((owed ? recorded.slice(0, -1) : recorded).map(String));
    expect(JSON.stringify(outcomes)).toBe(JSON.stringify(owed ? recorded.slice(0, -1) : recorded));
    const results = [...execution.results];
    expect(results.map(({ number }) => number)).toEqual(results.map((_, index) => index + 1));
    expect(results.slice(0, -1).every(({ shouldContinue }) => shouldContinue)).toBe(true);
    const reason = recorded.at(-1);
    const isCurrent = execution === state.execution;
    if (!isCurrent) expect(reason?.shouldContinue).toBe(false);
    const finished = told.findLast((event) => event.type === 'AgentFinished');
    // What a new message closed was told to wait; that was its last word.
    const wasClosed = execution.results.last?.step.interrupted === 'superseded';
    if (reason?.shouldContinue === false && !owed) expect(finished?.stopReason).toBe(wasClosed ? undefined : reason.stopReason);
    if (isCurrent && reason?.shouldContinue === false) {
      expect([state.stopReason, state.lastStepResult?.stopReason ?? state.startOutcome?.stopReason]).toEqual([
        reason.stopReason,
        reason.stopReason,
      ]);
      expect(['completed', 'stopped', 'failed']).toContain(state.status);
      expect(state.explain()).toContain(reason.resolvedBy === 'ContinuationCriteria' ? 'Your criterion' : reason.resolvedBy);
    }
  }
}

test('a run tells of every decision once, ends with one reason everywhere, and leaves old states alone, whatever happens', async () => {
  await fc.assert(
    fc.asyncProperty(plan, fc.array(act, { minLength: 1, maxLength: 12 }), plan, async (main, acts, other) => {
      const { clock, events, orchestrator } = setUpRunnable(main);
      const branch = setUpRunnable(other).orchestrator;
      let state = ScriptedState.empty({ clock, ids: createCountingIds('s') }).withUserMessage('Go.');
      const seen: { readonly state: ScriptedState; readonly stored: string }[] = [];
      const remember = (given: ScriptedState): void => void seen.push({ state: given, stored: JSON.stringify(given) });
      remember(state);
      for (const given of acts) {
        const [before, earlier] = [events.length, state];
        if (given.type === 'week') clock.skip(7 * 24 * 3600 * 1000);
        else if (given.type === 'branch')
          remember(await branch.run((seen[given.at % seen.length]?.state ?? state).withUserMessage('Another way.')));
        else state = await perform(given, state, orchestrator);
        remember(state);
        const told: readonly BaseEvent[] = events.slice(before);
        const whole = given.type === 'run' || given.type === 'stream' || given.type === 'abort';
        if (whole && told.length > 0) expect(told.at(-1)?.type).toBe('AgentFinished');
        if (whole) expect(['pending', 'in_progress']).not.toContain(state.status);
        expect(clock.pendingTimers()).toBe(0);
        if (state !== earlier || told.length > 0) checkExecutions(state, events);
      }
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
      const { session } = state;
      const results = session.executions.flatMap((execution) => [...execution.results]);
      expect(session.usage.total).toBe(results.reduce((sum, { step }) => sum + step.usage.total, 0));
      expect(seen.map(({ state: old }) => JSON.stringify(old))).toEqual(seen.map(({ stored }) => stored));
    }),
    { numRuns },
  );
}, 600_000);
