// An uncut payload without secrets is the state itself, in another form.
import { describe, expect, test } from 'vitest';
import { createCountingIds, createFakeClock, DamagedDataError } from '../../lib/index.ts';
import { Message } from '../../messages/index.ts';
import { NewerSchemaError, WrongKindError } from '../../serialization/index.ts';
import { computeApprovalDigest } from '../../sessions/index.ts';
import type { ScriptedAnswer, ScriptedModel } from '../../testing/index.ts';
import { scriptedModel } from '../../testing/index.ts';
import type { Tools } from '../../tools/index.ts';
import { defineClientTool, defineTool } from '../../tools/index.ts';
import type { Agent, CanSerializeAgentState, SlimPayload } from '../index.ts';
import { AgentState, createAgent } from '../index.ts';
import { SlimAgentStateSerializer } from './slim-agent-state-serializer.ts';
import { SlimSerializationConfig } from './slim-serialization-config.ts';

const input = { type: 'object', properties: {} } as const;
const usage = { input: 30, output: 12, cacheRead: 4 };
const says = (text: string): ScriptedAnswer => ({ text, usage });
const calls = (...names: readonly string[]): ScriptedAnswer => ({
  text: `I call ${names.join(' and ')}.`,
  reasoning: 'Let me see.',
  toolCalls: names.map((name) => ({ name, args: { q: `"${name}"`, deep: [1, { x: null }] } })),
  usage,
});

interface Setting {
  readonly agent: Agent;
  readonly model: ScriptedModel;
  readonly start: AgentState;
}

function createSetting(script: readonly ScriptedAnswer[], options: { readonly steps?: number } = {}): Setting {
  const clock = createFakeClock(Date.UTC(2026, 0, 2));
  const ids = createCountingIds('id');
  const model = scriptedModel(script, { ids: createCountingIds('call') });
  const work = defineTool({
    name: 'work',
    description: 'Works.',
    input,
    run: () => {
      clock.skip(250);
      return { found: ['a "needle"', 'another'], more: false };
    },
  });
  const fail = defineTool({
    name: 'fail',
    description: 'Fails.',
    input,
    run: () => {
      throw new Error('no such needle');
    },
  });
  const wipe = defineTool({ name: 'wipe', description: 'Wipes.', input, needsApproval: true, run: (args) => ({ wiped: args }) });
  const ask = defineClientTool({ name: 'ask', description: 'Asks.', input });
  const agent = createAgent<unknown, Tools>({
    model,
    tools: [work, fail, wipe, ask],
    instructions: 'Be brief.',
    limits: { steps: options.steps ?? 20, onLimit: 'pause' },
    ports: { clock, ids, random: () => 0.5, onProblem: () => undefined },
  });
  const start = AgentState.empty({ clock, ids, agentId: 'agent-1', parentAgentId: 'agent-0', metadata: { topic: 'needles' } });
  return { agent, model, start: start.withUserMessage('Find it.', { ids }) };
}

const serializer: CanSerializeAgentState<SlimPayload> = new SlimAgentStateSerializer(SlimSerializationConfig.full());
const through = (state: AgentState): AgentState => serializer.deserialize(JSON.parse(JSON.stringify(serializer.serialize(state))));
const size = (value: unknown): number => JSON.stringify(value).length;

/** States of all kinds, each with what is done to go on. */
const cases: readonly (readonly [
  string,
  readonly ScriptedAnswer[],
  {
    readonly steps?: number;
    readonly before?: (setting: Setting) => Promise<AgentState>;
    readonly then?: (state: AgentState) => AgentState;
  },
])[] = [
  ['that was not run yet', [says('Found.')], { before: ({ start }) => Promise.resolve(start) }],
  [
    'that has ended, and reads a new message',
    [calls('work'), says('Found.'), says('Again.')],
    { then: (state) => state.withUserMessage('Again?', { ids: () => 'm' }) },
  ],
  ['between two steps', [calls('work'), calls('fail'), says('Found.')], { before: ({ agent, start }) => agent.nextStep(start) }],
  ['that waits for an approval in its first step', [calls('wipe'), says('Done.')], { then: (state) => state.approve('call-1') }],
  [
    'that waits for an approval after other calls',
    [calls('work'), calls('work', 'wipe', 'ask'), says('Done.')],
    { then: (state) => state.approve('call-3', { args: { disk: 'c' } }).answer('call-4', 'yes') },
  ],
  [
    'with one answer given and one open',
    [calls('wipe', 'ask'), says('Done.')],
    {
      before: async ({ agent, start }) => (await agent.run(start)).approve('call-1'),
      then: (state) => state.reject('call-2', 'no'),
    },
  ],
  [
    'with a queued message',
    [calls('wipe'), says('Done.')],
    {
      before: async ({ agent, start }) => (await agent.run(start)).approve('call-1').withUserMessage('Hurry.', { ids: () => 'm' }),
    },
  ],
  ['that waits for a grant', [calls('work'), says('Found.')], { steps: 1, then: (state) => state.grant({ steps: 2 }) }],
  [
    'in its second execution',
    [says('One.'), calls('work'), says('Two.')],
    {
      before: async ({ agent, start }) => agent.nextStep((await agent.run(start)).withUserMessage('More.', { ids: () => 'm' })),
    },
  ],
  [
    'with other sections and rich messages',
    [says('Found.')],
    {
      before: ({ start }) =>
        Promise.resolve(
          start.evolve({
            store: start.store.withSection('summary', [Message.system('In short.', { id: 's' })]).append(
              'messages',
              Message.user(
                [
                  { type: 'text', text: 'See.', providerMetadata: { p: { cache: true } } },
                  { type: 'image', data: 'QUJDRA==', mediaType: 'image/png' },
                ],
                { id: 'i', name: 'ann', metadata: { _odd: 1 } },
              ),
            ),
          }),
        ),
    },
  ],
];

const prepare = async (
  index: number,
): Promise<Setting & { readonly state: AgentState; readonly go: (state: AgentState) => AgentState }> => {
  const [, script, options] = cases[index]!;
  const { steps, before = ({ agent, start }: Setting) => agent.run(start), then = (state: AgentState) => state } = options;
  const setting = createSetting(script, steps === undefined ? {} : { steps });
  return { ...setting, state: await before(setting), go: then };
};

describe.each(cases.map(([name], index) => [name, index] as const))('the full payload of a state %s', (_, index) => {
  test('says that it is resumable and gives back the same state', async () => {
    const { state } = await prepare(index);
    const payload = serializer.serialize(state);
    expect(payload.resumable).toBe(true);
    expect(JSON.parse(JSON.stringify(payload))).toStrictEqual(payload);
    const restored = through(state);
    expect(restored).toBeInstanceOf(AgentState);
    expect(JSON.stringify(restored)).toBe(JSON.stringify(state));
    expect([restored.explain(), restored.status, restored.stepCount]).toEqual([state.explain(), state.status, state.stepCount]);
    expect(restored.waitingFor).toStrictEqual(state.waitingFor);
    expect(JSON.stringify(through(restored))).toBe(JSON.stringify(state));
  });

  test('continues with the same requests to the same end', async () => {
    const [left, right] = [await prepare(index), await prepare(index)];
    const ends = [await left.agent.run(left.go(left.state)), await right.agent.run(right.go(through(right.state)))];
    expect(JSON.stringify(ends[1])).toBe(JSON.stringify(ends[0]));
    expect(right.model.calls.length).toBeGreaterThan(0);
    expect(JSON.stringify(right.model.calls.map(({ messages, tools }) => [messages, tools]))).toBe(
      JSON.stringify(left.model.calls.map(({ messages, tools }) => [messages, tools])),
    );
    const fork = (state: AgentState): AgentState => state.fork({ id: 'f', executionId: 'fe', ids: () => 'fa', clock: createFakeClock() });
    expect(JSON.stringify(fork(through(left.state)))).toBe(JSON.stringify(fork(left.state)));
  });

  test('is not larger than the state', async () => {
    const { state } = await prepare(index);
    expect(size(serializer.serialize(state))).toBeLessThanOrEqual(size(state));
  });

  test('has the documented fields', async () => {
    const { state } = await prepare(index);
    const payload = serializer.serialize(state);
    const { last } = state.execution.results;
    expect(payload).toMatchObject({
      schema: 1,
      agent_id: 'agent-1',
      parent_agent_id: 'agent-0',
      session_id: state.id,
      status: state.status,
      execution: {
        step_count: state.stepCount,
        started_at: new Date(state.info.startedAt).toISOString(),
        updated_at: new Date(state.info.updatedAt).toISOString(),
        cumulative_seconds: state.info.cumulativeExecutionSeconds,
      },
      usage: { input: state.usage.input, output: state.usage.output },
      steps: state.steps.map(({ stepType }, place) => ({ step_number: place + 1, type: stepType })),
      last_continuation:
        last === undefined
          ? null
          : { should_continue: last.shouldContinue, stop_reason: last.stopReason ?? null, resolved_by: last.outcome.resolvedBy },
      metadata: { topic: 'needles' },
    });
    const current = state.pendingStep?.number ?? state.stepCount;
    expect(payload.current_step?.step_number ?? 0).toBe(current);
    expect(payload.messages[0]).toStrictEqual({ id: state.messages.at(0)?.id, role: 'user', content: 'Find it.' });
  });
});

describe('a full payload', () => {
  test('of a hundred steps is smaller than the state', async () => {
    const { agent, start } = createSetting([...Array.from({ length: 99 }, () => calls('work')), says('Done.')], { steps: 200 });
    const state = await agent.run(start);
    expect(state.stepCount).toBe(100);
    expect(size(serializer.serialize(state))).toBeLessThan(size(state));
    expect(JSON.stringify(through(state))).toBe(JSON.stringify(state));
  });

  test('of an empty state is not larger than the state', () => {
    for (const state of [AgentState.empty(), AgentState.empty({ agentId: '' })]) {
      expect(size(serializer.serialize(state))).toBeLessThanOrEqual(size(state));
      expect(JSON.stringify(through(state))).toBe(JSON.stringify(state));
    }
  });

  test('shows each wait with the digest that a session asks for', async () => {
    const { state } = await prepare(4);
    const payload = serializer.serialize(state);
    expect(payload.waiting_for).toStrictEqual([
      {
        type: 'approval',
        id: 'call-3',
        tool_name: 'wipe',
        args: { q: '"wipe"', deep: [1, { x: null }] },
        digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      },
      {
        type: 'client-tool',
        id: 'call-4',
        tool_name: 'ask',
        args: { q: '"ask"', deep: [1, { x: null }] },
        digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      },
    ]);
    const [wait] = state.waitingFor;
    expect(payload.waiting_for?.[0]?.digest).toBe(await computeApprovalDigest(state.id, { ...wait!, execution: 1, step: 2 }));
  });

  test('of a step that ended the process each time gives back the same state, also if the step had waited', async () => {
    const { agent, start } = createSetting([calls('wipe'), says('Done.')]);
    const answered = (await agent.run(start)).approve('call-1');
    for (const state of [start, answered]) {
      const crashLoop = { attempts: 3, since: Date.UTC(2026, 0, 3) };
      const looping = state.evolve({ execution: { ...state.execution, id: 'e/1', crashLoop } });
      expect(serializer.serialize(looping).waiting_for).toMatchObject([{ type: 'person', reason: 'crash-loop', ...crashLoop }]);
      expect(through(looping).toJSON()).toStrictEqual(looping.toJSON());
    }
  });

  test('keeps fields of a state that this version does not know', () => {
    const stored = JSON.parse(JSON.stringify(AgentState.empty())) as { readonly data: object };
    const newer = AgentState.fromJSON({ ...stored, data: { ...stored.data, mood: { _a: 'good' } } });
    expect(JSON.stringify(through(newer))).toBe(JSON.stringify(newer));
  });
});

describe('a damaged full payload', () => {
  const getPayload = async (): Promise<Readonly<Record<string, unknown>>> => {
    const { state } = await prepare(4);
    return JSON.parse(JSON.stringify(serializer.serialize(state))) as Readonly<Record<string, unknown>>;
  };

  test.each([
    ['a missing state', { state: undefined }, 'status'],
    ['a state that is a list', { state: [] }, 'state'],
    ['a message without a role', { messages: [{ id: 'm', content: '' }] }, 'messages[0].role'],
    ['messages that steps refer to missing', { messages: [] }, 'state.execution.results[0].messages[0]'],
    ['a status that the state does not have', { status: 'completed' }, 'status'],
    ['a step missing', { steps: [] }, 'steps'],
    ['a wait missing', { waiting_for: [] }, 'waiting_for'],
    [
      'a time that is not a time',
      { execution: { step_count: 1, started_at: 'soon', updated_at: 'soon', cumulative_seconds: 1 } },
      'execution.started_at',
    ],
    ['an unknown way to resume', { resumable: 'perhaps' }, 'resumable'],
    ['an unknown status', { status: 'happy' }, 'status'],
  ])('with %s is refused, and the place is named', async (_, change, path) => {
    const damaged: unknown = JSON.parse(JSON.stringify({ ...(await getPayload()), ...change }));
    const attempt = (): unknown => serializer.deserialize(damaged);
    expect(attempt).toThrow(DamagedDataError);
    expect(attempt).toThrow(expect.objectContaining({ path }));
  });

  test('is refused without any of its fields', async () => {
    const payload = await getPayload();
    for (const key of Object.keys(payload).filter((name) => name !== 'last_seq')) {
      const { [key]: _, ...rest } = payload;
      expect(() => serializer.deserialize(rest), key).toThrow(DamagedDataError);
    }
  });

  test('is refused if a newer version wrote it', async () => {
    const newer = { ...(await getPayload()), schema: 2, messages: 'elsewhere' };
    expect(() => serializer.deserialize(newer)).toThrow(NewerSchemaError);
  });

  test('is refused if it is text, nothing, or a stored state', async () => {
    expect(() => serializer.deserialize(JSON.stringify(serializer.serialize(AgentState.empty())))).toThrow(/JSON\.parse/);
    expect(() => serializer.deserialize(undefined)).toThrow(DamagedDataError);
    const state: unknown = JSON.parse(JSON.stringify(AgentState.empty()));
    expect(() => serializer.deserialize(state)).toThrow(WrongKindError);
    expect(() => serializer.deserialize(state)).toThrow(/found kind "agent-state".*agent\.restore\(\)/);
  });

  test('is not taken for a stored state, and the error says how to read it', async () => {
    const payload = await getPayload();
    const { agent } = createSetting([]);
    expect(() => agent.restore(payload)).toThrow(WrongKindError);
    expect(() => AgentState.fromJSON(payload)).toThrow(/found kind "slim-agent-state".*SlimAgentStateSerializer/);
  });
});
