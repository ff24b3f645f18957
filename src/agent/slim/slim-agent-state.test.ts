import { describe, expect, test } from 'vitest';
import { createCountingIds, createFakeClock, DamagedDataError, InvalidArgumentError } from '../../lib/index.ts';
import { NewerSchemaError, WrongKindError } from '../../serialization/index.ts';
import { scriptedModel } from '../../testing/index.ts';
import { defineTool } from '../../tools/index.ts';
import { AgentState, createAgent } from '../index.ts';
import { SlimAgentStateSerializer } from './slim-agent-state-serializer.ts';
import { SlimNotResumableError } from './slim-not-resumable-error.ts';
import { SlimSerializationConfig } from './slim-serialization-config.ts';

const clock = createFakeClock(Date.UTC(2026, 0, 2));
const ids = createCountingIds('id');
const input = { type: 'object', properties: {} } as const;
const work = defineTool({ name: 'work', description: 'Works.', input, run: () => 'worked' });
const wipe = defineTool({ name: 'wipe', description: 'Wipes.', input, needsApproval: true, run: () => 'wiped' });
const makeAgent = () =>
  createAgent({
    model: scriptedModel([
      { text: 'First.', toolCalls: [{ name: 'work', args: { n: 1 } }], usage: { input: 1, output: 2, reasoning: 1 } },
      { text: 'Second.', toolCalls: [{ name: 'wipe' }], usage: { input: 1, output: 2 } },
    ]),
    tools: [work, wipe],
    ports: { clock, ids },
  });
const parked = async (): Promise<AgentState> => {
  const start = AgentState.empty({ clock, ids, agentId: 'agent-1', parentAgentId: 'agent-0', metadata: { topic: 'needles' } });
  return (await makeAgent().start(start.withUserMessage('Go.', { ids })).result).state;
};

const serializer = new SlimAgentStateSerializer(SlimSerializationConfig.full());
const state = await parked();
const payload = serializer.serialize(state);
const through = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const damaged = (change: object): unknown => through({ ...payload, ...change });

describe('a payload that was read', () => {
  test('shows all that was written', () => {
    const view = serializer.deserialize(through(payload));
    expect(view).toMatchObject({
      agentId: 'agent-1',
      parentAgentId: 'agent-0',
      status: 'waiting',
      executionNumber: 1,
      stepCount: 1,
      startedAt: state.info.startedAt,
      updatedAt: state.info.updatedAt,
      cumulativeSeconds: 0,
      metadata: { topic: 'needles' },
      resumable: false,
    });
    expect(view.usage).toStrictEqual(payload.usage);
    expect(view.messages).toStrictEqual(payload.messages);
    expect(view.messages).toHaveLength(3);
    expect(view.currentStep).toStrictEqual(payload.current_step);
    expect(view.steps).toStrictEqual(payload.steps);
    expect(view.waitingFor).toStrictEqual(payload.waiting_for);
    expect(view.waitingFor).toHaveLength(1);
    expect(view.lastContinuation).toStrictEqual(payload.last_continuation);
    expect(view.lastContinuation).toMatchObject({ should_continue: true, stop_reason: null, decision: 'request' });
    expect(view.omitted).toStrictEqual(payload.omitted);
    expect(through(view)).toStrictEqual(payload);
  });

  test('shows nothing where nothing was written', () => {
    const view = serializer.deserialize(
      new SlimAgentStateSerializer(SlimSerializationConfig.minimal()).serialize(AgentState.empty({ clock })),
    );
    expect([view.parentAgentId, view.currentStep, view.lastContinuation, view.metadata]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('keeps fields that it does not know, in the payload only', () => {
    const newer = damaged({ mood: 'good', messages: [{ ...payload.messages[0], colour: 'red' }], resumable: true });
    const view = serializer.deserialize(newer);
    expect(view.payload).toStrictEqual(newer);
    expect(view.messages).toStrictEqual([payload.messages[0]]);
    expect(view.resumable).toBe(false);
  });

  test('does not change when its source does', () => {
    const source = through(payload) as { agent_id: string; messages: { content: string }[] };
    const view = serializer.deserialize(source);
    source.agent_id = 'other';
    source.messages[0]!.content = 'other';
    expect([view.agentId, view.messages[0]?.content, view.payload['agent_id']]).toEqual(['agent-1', 'Go.', 'agent-1']);
    expect(Object.isFrozen(view.payload) && Object.isFrozen(view.messages[0])).toBe(true);
  });
});

describe('what is no slim payload', () => {
  test('is refused as the wrong kind', () => {
    expect(() => serializer.deserialize(through(state))).toThrow(WrongKindError);
    expect(() => serializer.deserialize(through(state))).toThrow('Expected data of kind "slim-agent-state", found kind "agent-state".');
  });

  test('is refused where a newer version wrote it', () => {
    expect(() => serializer.deserialize(damaged({ schema: 2, messages: 'elsewhere' }))).toThrow(NewerSchemaError);
  });

  test.each(Object.keys(payload))('is damaged without %s', (key) => {
    const attempt = (): unknown => serializer.deserialize(damaged({ [key]: undefined }));
    expect(attempt).toThrow(DamagedDataError);
    expect(attempt).toThrow(expect.objectContaining({ path: key }));
  });

  test.each([
    ['nothing', undefined, ''],
    ['a list', [payload], ''],
    ['text', JSON.stringify(payload), ''],
    ['schema 0', damaged({ schema: 0 }), 'schema'],
    ['half a schema', damaged({ schema: 0.5 }), 'schema'],
    ['an unknown status', damaged({ status: 'happy' }), 'status'],
    ['a time that is none', damaged({ execution: { ...payload.execution, started_at: 'soon' } }), 'execution.started_at'],
    ['a message without a role', damaged({ messages: [{ id: 'm', content: '' }] }), 'messages[0].role'],
    ['a step without a number', damaged({ steps: [{ ...payload.steps[0], step_number: null }] }), 'steps[0].step_number'],
    ['a step without an end', damaged({ steps: [{ ...payload.steps[0], ended_at: undefined }] }), 'steps[0].ended_at'],
    ['a duration in words', damaged({ steps: [{ ...payload.steps[0], duration_ms: 'long' }] }), 'steps[0].duration_ms'],
    [
      'a stop without words',
      damaged({ last_continuation: { ...payload.last_continuation, stop_reason: 7 } }),
      'last_continuation.stop_reason',
    ],
    ['an agent that is a number', damaged({ parent_agent_id: 7 }), 'parent_agent_id'],
  ])('is damaged with %s', (_, data, path) => {
    const attempt = (): unknown => serializer.deserialize(data);
    expect(attempt).toThrow(DamagedDataError);
    expect(attempt).toThrow(expect.objectContaining({ path }));
  });
});

describe('a slim payload cannot be run', () => {
  const view = serializer.deserialize(payload);

  test('as a state: the error says what to store instead', () => {
    expect(() => view.toState()).toThrow(SlimNotResumableError);
    expect(() => view.toState()).toThrow(expect.objectContaining({ code: 'slim-not-resumable', agentId: 'agent-1' }));
    expect(() => view.toState()).toThrow(/for display.*AgentState\.toJSON\(\).*agent\.restore\(\)/);
  });

  test('by an agent', async () => {
    await expect(makeAgent().run(view as never)).rejects.toThrow(InvalidArgumentError);
    expect(() => makeAgent().start(view as never)).toThrow(/agent\.restore\(\)/);
    expect(() => makeAgent().start(payload as never)).toThrow(/agent\.restore\(\)/);
  });

  test('by restoring it', () => {
    expect(() => makeAgent().restore(payload)).toThrow(WrongKindError);
    expect(() => AgentState.fromJSON(payload)).toThrow('Expected data of kind "agent-state", found kind "slim-agent-state".');
    expect(() => AgentState.fromJSON(view)).toThrow(WrongKindError);
  });
});
