// Criteria of the host's own: added to the default ones, or in place of all of them, by the same rule in every orchestrator.
import { describe, expect, test } from 'vitest';
import { ChatState, createChat, functionParticipant } from '../src/chat/index.ts';
import { CollaborationState, createCollaboration, functionCollaborator } from '../src/collaboration/index.ts';
import type { ContinuationCriterion } from '../src/continuation/index.ts';
import {
  AgentBuilder,
  AgentErrorContextResolver,
  AgentState,
  createAgent,
  defineTool,
  ErrorPolicy,
  ErrorPolicyCriterion,
  FinishReasonCheck,
  StepsLimit,
  stopWhen,
  TokenUsageLimit,
  ToolCallPresenceCheck,
  ToolFailedError,
  ToolUse,
  ToolUseState,
  when,
} from '../src/entry/index.ts';
import type { RunState } from '../src/step-by-step/index.ts';
import { createCountingIds, createFakeClock, scriptedModel } from '../src/testing/index.ts';

type Criterion = ContinuationCriterion<RunState>;
interface Options {
  readonly criteria?: readonly Criterion[];
  readonly onlyCriteria?: readonly Criterion[];
  readonly limits?: { readonly steps?: number; readonly onLimit?: 'pause' };
  readonly errors?: ErrorPolicy;
}

const [clock, ids] = [createFakeClock(), createCountingIds()];
const ports = { clock, ids, onProblem: () => undefined };
const usage = { input: 10, output: 5 };
const work = defineTool({ name: 'work', description: 'Works.', input: { type: 'object' }, run: () => 'done' });
const breaks = defineTool({
  name: 'work',
  description: 'Fails.',
  input: { type: 'object' },
  run: (): string => {
    throw new ToolFailedError('It broke.');
  },
});
const working = (tool = work) => ({
  model: scriptedModel([{ toolCalls: [{ name: 'work' }], usage }], { repeatLast: true }),
  tools: [tool],
  ports,
});
const speak = (): string => 'x';

/** Orchestrators that never run out of work within 10 steps. */
const subjects = {
  Agent: {
    make: (options: Options) => createAgent({ ...working(), ...options }),
    start: () => AgentState.empty(ports).withUserMessage('Go.', { ids }),
    restore: (stored: unknown) => AgentState.fromJSON(stored),
  },
  ToolUse: {
    make: (options: Options) =>
      new ToolUse({ ...working(), ...(options.onlyCriteria === undefined && { limits: { steps: 20 } }), ...options }),
    start: () => ToolUseState.empty(ports).withUserMessage('Go.', { ids }),
    restore: (stored: unknown) => ToolUseState.fromJSON(stored),
  },
  Chat: {
    make: (options: Options) =>
      createChat({ participants: [...'abcdefghij'].map((name) => functionParticipant({ name, speak })), ports, ...options }),
    start: () => ChatState.empty(ports).withUserMessage('Go.', { ids }),
    restore: (stored: unknown) => ChatState.fromJSON(stored),
  },
  Collaboration: {
    make: (options: Options) =>
      createCollaboration({ collaborators: [...'abcdefghij'].map((name) => functionCollaborator({ name, speak })), ports, ...options }),
    start: () => CollaborationState.empty(ports).withUserMessage('Go.', { ids }),
    restore: (stored: unknown) => CollaborationState.fromJSON(stored),
  },
};

/** A subject without the types of its states. */
interface Subject {
  readonly make: (options: Options) => {
    readonly run: (state: RunState) => Promise<RunState>;
    readonly nextStep: (state: RunState) => Promise<RunState>;
    readonly fingerprint: string;
  };
  readonly start: () => RunState & { grant(amounts: { readonly steps: number }): RunState };
  readonly restore: (stored: unknown) => RunState & { grant(amounts: { readonly steps: number }): RunState };
}
const rows = Object.entries(subjects as unknown as Readonly<Record<string, Subject>>).map(([name, subject]) => ({ name, ...subject }));

const names = (state: RunState): readonly string[] => state.lastContinuationOutcome?.evaluations.map(({ criterion }) => criterion) ?? [];
const getEnd = (state: RunState) => [state.stopReason, state.stepCount, state.lastContinuationOutcome?.resolvedBy];
const steps = (max: number, options = {}): Criterion => new StepsLimit<RunState>(max, ({ stepCount }) => stepCount, options);

describe.each(rows)('criteria of $name', ({ make, start, restore }) => {
  const run = (options: Options): Promise<RunState> => make(options).run(start());
  const roundTrip = (state: RunState) => restore(JSON.parse(JSON.stringify(state)));

  test('are added after the default ones, which stay as they are', async () => {
    const defaults = names(await make({}).nextStep(start()));
    const own = [stopWhen<RunState>('Mine', () => false), when<RunState>('Yours', () => 'allow')];
    expect(names(await make({ criteria: own }).nextStep(start()))).toStrictEqual([...defaults, 'Mine', 'Yours']);
    expect(names(await make({ criteria: [] }).nextStep(start()))).toStrictEqual(defaults);
  });

  test.each<[string, Criterion, readonly unknown[]]>([
    ['StepsLimit', steps(3), ['steps_limit', 3]],
    ['TokenUsageLimit', new TokenUsageLimit<RunState>(3, ({ stepCount }) => stepCount), ['token_limit', 3]],
    [
      'FinishReasonCheck',
      new FinishReasonCheck<RunState>(['odd'], ({ stepCount }) => (stepCount === 3 ? 'odd' : undefined)),
      ['finish_reason', 3],
    ],
  ])('may be a second %s, which is numbered', async (name, criterion, end) => {
    const state = await run({ criteria: [criterion] });
    expect(getEnd(state)).toStrictEqual([...end, `${name}#2`]);
    expect(names(state).filter((each) => each.startsWith(name))).toStrictEqual([name, `${name}#2`]);
    expect(state.explain()).toContain(`Decided by ${name}#2.`);
  });

  test('are named as they are told to be', async () => {
    const state = await run({ criteria: [steps(3, { name: 'FewSteps' })] });
    expect(getEnd(state)).toStrictEqual(['steps_limit', 3, 'FewSteps']);
    expect(state.explain()).toContain('Decided by FewSteps.');
  });

  test('have the same numbers after JSON, when the run is resumed, and in the JSON itself', async () => {
    const orchestrator = make({ criteria: [steps(3), steps(9)] });
    const straight = await orchestrator.run(start());
    let state: RunState = start();
    while (state.status !== 'stopped') state = roundTrip(await make({ criteria: [steps(3), steps(9)] }).nextStep(state));
    expect(getEnd(state)).toStrictEqual(['steps_limit', 3, 'StepsLimit#2']);
    for (const [index, { outcome }] of state.stepResults.entries())
      expect(outcome.evaluations.map(({ criterion }) => criterion)).toStrictEqual(
        straight.stepResults[index]?.outcome.evaluations.map(({ criterion }) => criterion),
      );
    expect(state.explain()).toBe(straight.explain());
    expect(JSON.stringify(state)).toContain('"StepsLimit#3"');
  });

  test('a grant raises the limits of the execution, and no criterion that does not read grants', async () => {
    const orchestrator = make({ limits: { steps: 2, onLimit: 'pause' }, criteria: [steps(4)] });
    const paused = roundTrip(await orchestrator.run(start()));
    expect([paused.status, paused.waitingFor]).toStrictEqual(['waiting', [{ type: 'grant', id: 'grant/steps', limit: 'steps' }]]);
    const end = await orchestrator.run(paused.grant({ steps: 5 }));
    expect(getEnd(end)).toStrictEqual(['steps_limit', 4, 'StepsLimit#2']);
    const limits = end.lastContinuationOutcome?.evaluations.filter(({ limit }) => limit === 'steps');
    expect(limits?.map(({ criterion, context }) => [criterion, context['maxSteps']])).toStrictEqual([
      ['StepsLimit', 7],
      ['StepsLimit#2', 4],
    ]);
  });

  test('a grant raises a limit of the host that reads grants, and both limits are one wait', async () => {
    const countGranted = ({ execution }: RunState): number => (execution.grants ?? []).reduce((sum, grant) => sum + (grant.steps ?? 0), 0);
    const own = steps(2, { granted: countGranted, onLimit: () => 'pause' });
    const orchestrator = make({ limits: { steps: 2, onLimit: 'pause' }, criteria: [own] });
    const paused = roundTrip(await orchestrator.run(start()));
    expect(paused.waitingFor).toHaveLength(1);
    expect(paused.explain()).toContain('StepsLimit#2 also objected: 2 of 2 steps used, limit reached');
    const again = await orchestrator.run(paused.grant({ steps: 3 }));
    expect([again.status, again.stepCount]).toStrictEqual(['waiting', 5]);
  });

  test('a limit of the host that is reached in the same step as one that waits ends the run: no grant could help', async () => {
    const end = await run({ limits: { steps: 2, onLimit: 'pause' }, criteria: [steps(2)] });
    expect([end.status, ...getEnd(end)]).toStrictEqual(['stopped', 'steps_limit', 2, 'StepsLimit']);
  });

  describe('as onlyCriteria', () => {
    const until = (max: number) => stopWhen<RunState>('Until', ({ stepCount }) => stepCount >= max && 'that is enough');

    test('replace all default ones', async () => {
      const state = await run({ onlyCriteria: [until(25)] });
      expect([...getEnd(state), names(state)]).toStrictEqual(['guard', 25, 'Until', ['Until']]);
    });

    test('leave what is given as limits and errors, and nothing else', async () => {
      const state = await run({ onlyCriteria: [until(9)], limits: { steps: 3 }, errors: ErrorPolicy.retryAll(2) });
      expect(getEnd(state)).toStrictEqual(['steps_limit', 3, 'StepsLimit']);
      expect(names(state)).toStrictEqual(['StopRequested', 'ErrorPolicyCriterion', 'StepsLimit', 'PendingRetry', 'Until']);
    });

    test('that are none end the run after one step', async () => {
      expect(getEnd(await run({ onlyCriteria: [] }))).toStrictEqual(['completed', 1, 'ContinuationCriteria']);
    });

    test('are numbered too', async () => {
      expect(names(await run({ onlyCriteria: [until(1), until(2)] }))).toStrictEqual(['Until', 'Until#2']);
    });

    test('cannot be given beside criteria', () => {
      expect(() => make({ criteria: [until(1)], onlyCriteria: [until(2)] })).toThrow(
        'got both criteria and onlyCriteria. Use criteria to add to the default ones, or onlyCriteria to replace them.',
      );
    });

    test('must be a list', () => {
      expect(() => make({ onlyCriteria: until(1) as never })).toThrow('onlyCriteria must be a list of criteria, not an object.');
    });

    test('give another fingerprint than the same criteria added', () => {
      expect(make({ onlyCriteria: [until(1)] }).fingerprint).not.toBe(make({ criteria: [until(1)] }).fingerprint);
    });
  });
});

describe('an agent', () => {
  const start = (): AgentState => AgentState.empty(ports).withUserMessage('Go.', { ids });

  test('may have a second ErrorPolicyCriterion: the stricter one ends the run, the first says how long to wait', async () => {
    const strict = ErrorPolicyCriterion.withPolicy<AgentState>(ErrorPolicy.stopOnAnyError());
    const end = await createAgent({ ...working(breaks), criteria: [strict] }).run(start());
    expect(getEnd(end)).toStrictEqual(['error', 1, 'ErrorPolicyCriterion#2']);
    const lenient = new ErrorPolicyCriterion<AgentState>(ErrorPolicy.ignoreToolErrors(), new AgentErrorContextResolver());
    const other = await createAgent({ ...working(breaks), criteria: [lenient] }).run(start());
    expect(getEnd(other)).toStrictEqual(['retry_limit', 3, 'ErrorPolicyCriterion']);
  });

  test('may have a second ToolCallPresenceCheck: it goes on while either of them asks to', async () => {
    const model = scriptedModel([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }]);
    const second = new ToolCallPresenceCheck<AgentState>(({ stepCount }) => stepCount < 3);
    const end = await createAgent({ model, ports, criteria: [second] }).run(start());
    expect(getEnd(end)).toStrictEqual(['completed', 3, 'ToolCallPresenceCheck']);
    expect(end.stepResults.map(({ outcome }) => outcome.resolvedBy)).toStrictEqual([
      'ToolCallPresenceCheck#2',
      'ToolCallPresenceCheck#2',
      'ToolCallPresenceCheck',
    ]);
  });

  test('built by a builder numbers them too', async () => {
    const agent = AgentBuilder.base()
      .withModel(working().model)
      .withTools(work)
      .withPorts(ports)
      .addContinuationCriteria(new StepsLimit<AgentState>(2, ({ stepCount }) => stepCount))
      .build();
    expect(getEnd(await agent.run(start()))).toStrictEqual(['steps_limit', 2, 'StepsLimit#2']);
  });

  test('describes the criteria by their numbered names, and the policy that handles failures', () => {
    const strict = new ErrorPolicyCriterion<AgentState>(ErrorPolicy.ignoreToolErrors(), new AgentErrorContextResolver());
    const { criteria, errors, limits } = createAgent({ ...working(), onlyCriteria: [strict, strict] }).describe();
    expect(criteria).toStrictEqual(['ErrorPolicyCriterion', 'ErrorPolicyCriterion#2']);
    expect([errors, limits]).toStrictEqual([ErrorPolicy.ignoreToolErrors().toJSON(), {}]);
  });
});
