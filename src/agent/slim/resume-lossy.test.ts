// A payload that was cut, or from which secrets were removed, is continued with what is in it.
import { describe, expect, test } from 'vitest';
import { ErrorPolicy } from '../../errors/index.ts';
import type { Json } from '../../lib/index.ts';
import { createCountingIds, createFakeClock, DamagedDataError, present } from '../../lib/index.ts';
import { Message } from '../../messages/index.ts';
import { NewerSchemaError, WrongKindError } from '../../serialization/index.ts';
import { computeApprovalDigest } from '../../sessions/index.ts';
import type { ScriptedAnswer, ScriptedModel } from '../../testing/index.ts';
import { scriptedModel } from '../../testing/index.ts';
import { reActDriver } from '../../tool-use/index.ts';
import type { Tools } from '../../tools/index.ts';
import { defineClientTool, defineTool } from '../../tools/index.ts';
import type { Agent, AgentOptions } from '../index.ts';
import { AgentState, createAgent } from '../index.ts';
import { LostInPayloadError } from './lost-in-payload-error.ts';
import { SlimAgentStateSerializer } from './slim-agent-state-serializer.ts';
import type { SlimSerializationOptions } from './slim-serialization-config.ts';
import { SlimSerializationConfig } from './slim-serialization-config.ts';

const input = { type: 'object', properties: {} } as const;
const usage = { input: 30, output: 12 };
const says = (text: string): ScriptedAnswer => ({ text, usage });
const calls = (name: string, args: Json = {}, ...others: readonly string[]): ScriptedAnswer => ({
  text: `I call ${name}.`,
  toolCalls: [{ name, args }, ...others.map((other) => ({ name: other, args: {} }))],
  usage,
});

interface Setting {
  readonly agent: Agent;
  readonly model: ScriptedModel;
  readonly ran: readonly string[];
  readonly start: AgentState;
}

function createSetting(script: readonly ScriptedAnswer[], options: Partial<Omit<AgentOptions, 'capabilities'>> = {}): Setting {
  const clock = createFakeClock(Date.UTC(2026, 0, 2));
  const ids = createCountingIds('id');
  const ran: string[] = [];
  const run = (name: string) => (args: unknown) => {
    ran.push(`${name} ${JSON.stringify(args)}`);
    clock.skip(500);
    return { found: 'a needle' };
  };
  const model = scriptedModel(script, { ids: createCountingIds('call') });
  const agent = createAgent<unknown, Tools>({
    model,
    tools: [
      defineTool({ name: 'work', description: 'Works.', input, run: run('work') }),
      defineTool({ name: 'wipe', description: 'Wipes.', input, needsApproval: true, run: run('wipe') }),
      defineClientTool({ name: 'ask', description: 'Asks.', input }),
    ],
    ...options,
    ports: { clock, ids, random: () => 0.5, onProblem: () => undefined },
  });
  const start = AgentState.empty({ clock, ids, agentId: 'agent-1', parentAgentId: 'agent-0', metadata: { topic: 'needles' } });
  return { agent, model, ran, start: start.withUserMessage('Find it.', { ids }) };
}

function through(state: AgentState, config: SlimSerializationOptions = {}): AgentState {
  const serializer = new SlimAgentStateSerializer(config);
  const payload: unknown = JSON.parse(JSON.stringify(serializer.serialize(state)));
  expect(payload).toMatchObject({ resumable: 'lossy' });
  return serializer.deserialize(payload);
}

const listTexts = (model: ScriptedModel): readonly string[] => model.calls.at(-1)?.messages.map(({ text }) => text) ?? [];

describe('the state of a lossy payload', () => {
  test('keeps messages, usage, times, identity, metadata, steps and the end', async () => {
    const { agent, start } = createSetting([calls('work'), says('Found.')]);
    const state = await agent.run(start);
    const restored = through(state);
    expect(restored).toBeInstanceOf(AgentState);
    expect(restored.messages.toArray().map(({ role, text }) => [role, text])).toEqual(
      state.messages.toArray().map(({ role, text }) => [role, text]),
    );
    expect([restored.agentId, restored.parentAgentId, restored.id]).toEqual(['agent-1', 'agent-0', state.id]);
    expect([restored.usage, restored.metadata]).toEqual([state.usage, state.metadata]);
    expect(restored.info).toEqual(state.info);
    expect([restored.status, restored.stopReason, restored.stepCount, restored.text]).toEqual(['completed', 'completed', 2, 'Found.']);
    expect(restored.execution.activeMs).toBe(500);
    expect(restored.data.lastSeq).toBe(state.data.lastSeq);
  });

  test('continues with a new message, in the next execution', async () => {
    const { agent, model, start } = createSetting([calls('work'), says('Found.'), says('Gladly.')]);
    const restored = through(await agent.run(start), { maxMessages: 1 });
    const end = await agent.run(restored.withUserMessage('Again?'));
    expect([end.status, end.text, end.execution.number]).toEqual(['completed', 'Gladly.', 2]);
    expect(listTexts(model)).toEqual(['Found.', 'Again?']);
    expect(end.session.usage.total).toBe(3 * 42);
    expect(end.info.cumulativeExecutionSeconds).toBe(0.5);
  });

  test('continues an execution in progress, and its limits go on where they were', async () => {
    const { agent, ran, start } = createSetting([calls('work'), calls('work', { n: 2 }), calls('work', { n: 3 })], {
      limits: { steps: 2 },
    });
    const restored = through(await agent.nextStep(start), { maxSteps: 0 });
    expect([restored.status, restored.stepCount, restored.usage.total]).toEqual(['in_progress', 1, 42]);
    const end = await agent.run(restored);
    expect([end.stopReason, end.stepCount, end.usage.total, ran.length]).toEqual(['steps_limit', 2, 84, 2]);
  });

  test('says in its explanation what is missing, before and after it was stored', async () => {
    const { agent, start } = createSetting([calls('work'), says(`Found: ${'x'.repeat(2000)}`), says('Again.')]);
    const restored = through((await agent.run(start)).withMetadata('api_key', 'abc'), { maxMessages: 2, maxSteps: 1 });
    const sentence =
      'This state was read from a slim payload, which left out 3 messages and 1 step, cut long texts and removed secrets. It continues with what is left.';
    expect(restored.explain()).toContain(sentence);
    expect(AgentState.fromJSON(JSON.parse(JSON.stringify(restored))).explain()).toContain(sentence);
    expect((await agent.run(restored.withUserMessage('Again?'))).explain()).toContain(sentence);
    expect(restored.fork().explain()).toContain(sentence);
  });

  test('keeps a refused start, a failure and a limit that was reached in the last step', async () => {
    const refused = createSetting([], { limits: { steps: 0 } });
    expect(through(await refused.agent.run(refused.start))).toMatchObject({ status: 'stopped', stopReason: 'steps_limit' });
    const failed = createSetting([{ error: new Error('no key') }], { errors: ErrorPolicy.stopOnAnyError() });
    expect(through((await failed.agent.start(failed.start, { commit: ({ state }) => state }).result).state)).toMatchObject({
      status: 'failed',
    });
    const done = createSetting([says('Done.')], { limits: { steps: 1 } });
    const state = await done.agent.run(done.start);
    expect([state.status, state.stopReason]).toEqual(['completed', 'steps_limit']);
    expect(through(state)).toMatchObject({ status: 'completed', stopReason: 'steps_limit' });
  });

  test('says which pictures and files there were', () => {
    const { start } = createSetting([]);
    const rich = start.withMessages([
      Message.user([
        { type: 'text', text: 'See.' },
        { type: 'image', data: 'QUJD', mediaType: 'image/png' },
      ]),
    ]);
    expect(through(rich).messages.toArray().at(-1)?.text).toBe('See.\n[image image/png: left out]');
  });
});

describe('a wait of a lossy payload', () => {
  test('has the digest that a session asks for', async () => {
    const { agent, start } = createSetting([calls('wipe', { disk: 'c' })]);
    const state = await agent.run(start);
    const [wait] = state.waitingFor;
    const { waiting_for } = new SlimAgentStateSerializer().serialize(state);
    expect(waiting_for?.[0]?.digest).toBe(await computeApprovalDigest(state.id, { ...wait!, execution: 1, step: 1 }));
  });

  test('can be approved, and its call runs with the arguments that were shown', async () => {
    const { agent, model, ran, start } = createSetting([calls('work', {}, 'wipe', 'ask'), says('Done.')]);
    const restored = through(await agent.run(start));
    expect(restored.waitingFor).toMatchObject([
      { type: 'approval', id: 'call-2', toolName: 'wipe', args: {} },
      { type: 'client-tool', id: 'call-3', toolName: 'ask' },
    ]);
    const end = await agent.run(restored.approve('call-2').answer('call-3', 'yes'));
    // The call that had ended did not run again.
    expect([end.status, end.text, ran]).toEqual(['completed', 'Done.', ['work {}', 'wipe {}']]);
    expect(model.calls.at(-1)?.messages.flatMap(({ toolResults }) => toolResults.map(({ toolCallId }) => toolCallId))).toEqual([
      'call-1',
      'call-2',
      'call-3',
    ]);
    expect(end.usage.total).toBe(84);
  });

  test.each<readonly [string, Json, SlimSerializationOptions]>([
    ['redacted', { disk: 'c', api_key: 'abc' }, SlimSerializationConfig.full()],
    ['left out', { disk: 'c' }, SlimSerializationConfig.minimal()],
    ['cut', { disk: 'c'.repeat(100) }, { maxContentLength: 20 }],
  ])('whose arguments were %s is not approved as it is, but with other arguments, or rejected', async (_, args, config) => {
    const { agent, ran, start } = createSetting([calls('wipe', args), says('Done.')]);
    const restored = through(await agent.run(start), config);
    const attempt = (): unknown => restored.approve('call-1');
    expect(attempt).toThrow(LostInPayloadError);
    expect(attempt).toThrow(expect.objectContaining({ code: 'lost-in-payload', waitId: 'call-1' }));
    expect(attempt).toThrow(/"call-1".*slim payload.*approve\(id, \{ args \}\)/);
    expect(restored.explain()).toContain('left out the arguments to approve (call-1)');
    const stored = AgentState.fromJSON(JSON.parse(JSON.stringify(restored)));
    expect(() => stored.approve('call-1')).toThrow(LostInPayloadError);
    expect((await agent.run(restored.approve('call-1', { args: { disk: 'd' } }))).status).toBe('completed');
    expect(ran).toEqual(['wipe {"disk":"d"}']);
    expect(restored.reject('call-1', 'no').pendingStep?.answers).toMatchObject([{ type: 'rejected' }]);
    expect(restored.withUserMessage('Never mind.').status).toBe('pending');
  });

  test('is asked again if its answer was not acted on', async () => {
    const { agent, ran, start } = createSetting([calls('wipe', {}, 'ask'), says('Done.')]);
    const answered = (await agent.run(start)).approve('call-1').answer('call-2', 'yes');
    expect(answered.status).toBe('in_progress');
    const restored = through(answered);
    expect(restored.waitingFor).toMatchObject([
      { type: 'approval', id: 'call-1' },
      { type: 'client-tool', id: 'call-2' },
    ]);
    expect((await agent.run(restored.reject('call-1').answer('call-2', 'yes'))).status).toBe('completed');
    expect(ran).toEqual([]);
  });

  test('is a grant at a limit', async () => {
    const { agent, start } = createSetting([calls('work'), says('Found.')], { limits: { steps: 1, onLimit: 'pause' } });
    const restored = through(await agent.run(start), { maxMessages: 3 });
    expect(restored.waitingFor).toEqual([{ type: 'grant', id: 'grant/steps', limit: 'steps' }]);
    const granted = through(restored.grant({ steps: 1 }));
    expect(granted.status).toBe('in_progress');
    expect((await agent.run(granted)).text).toBe('Found.');
  });

  test('can be answered if the model makes its calls in plain words', async () => {
    const decision = (fields: object): ScriptedAnswer => ({ text: JSON.stringify(fields), usage });
    const script = [
      decision({ thought: 'Look.', type: 'call_tool', tool: 'wipe', args: '{"disk":"c"}', answer: null }),
      decision({ thought: '', type: 'final_answer', tool: null, args: null, answer: 'Done.' }),
    ];
    const { agent, model, ran, start } = createSetting(script, { driver: reActDriver() });
    const state = await agent.run(start);
    const restored = through(state);
    const end = await agent.run(restored.approve(restored.waitingFor[0]?.id ?? ''));
    expect([end.status, end.text, ran]).toEqual(['completed', 'Done.', ['wipe {"disk":"c"}']]);
    expect(listTexts(model).at(-1)).toMatch(/^Observation: /);
  });

  test('does not lose what the user said meanwhile', async () => {
    const { agent, model, start } = createSetting([calls('wipe'), says('Done.')]);
    const queued = (await agent.run(start)).approve('call-1').withUserMessage('Hurry.');
    const end = await agent.run(through(queued).reject('call-1'));
    expect(end.status).toBe('completed');
    expect(listTexts(model).at(-1)).toBe('Hurry.');
  });
});

describe('a lossy payload of a step that ended the process each time', () => {
  const withLoop = (state: AgentState): AgentState =>
    state.evolve({ execution: { ...state.execution, crashLoop: { attempts: 3, since: Date.UTC(2026, 0, 3) } } });

  test('waits for a person, and can be cancelled', async () => {
    const { agent, start } = createSetting([calls('work'), says('Found.')]);
    const state = withLoop(await agent.nextStep(start));
    const back = through(state);
    expect([back.status, back.waitingFor]).toStrictEqual(['waiting', state.waitingFor]);
    expect(back.explain()).toContain(state.explain());
    expect(back.cancel('enough')).toMatchObject({ status: 'stopped', waitingFor: [] });
  });

  test('asks again for an answer that was not acted on, once it is resumed', async () => {
    const { agent, start, ran } = createSetting([calls('wipe'), says('Done.')]);
    const state = withLoop((await agent.run(start)).approve('call-1'));
    const back = through(state);
    expect(back.waitingFor).toStrictEqual(state.waitingFor);
    const resumed = back.evolve({ execution: { ...back.execution, crashLoop: undefined } });
    expect(resumed.waitingFor).toMatchObject([{ type: 'approval', id: 'call-1' }]);
    expect((await agent.run(resumed)).status).toBe('waiting');
    expect(ran).toStrictEqual([]);
  });
});

describe('a lossy payload of a wait that has times', () => {
  const serializer = new SlimAgentStateSerializer();
  const provider = { type: 'provider', id: 'provider', digest: '', reason: '503', tries: 1 } as const;
  const times = { since: '2026-01-01T00:00:00.000Z', next_try_at: '2026-01-01T00:01:00.000Z', give_up_at: '2026-01-01T01:00:00.000Z' };
  const loop = { type: 'person', id: 'crash-loop/1', digest: '', reason: 'crash-loop', tries: 3, since: times.since } as const;

  test.each([
    ...(['reason', 'since', 'tries', 'next_try_at', 'give_up_at'] as const).map((name) => [name, { ...provider, ...times }] as const),
    ...(['since', 'tries'] as const).map((name) => [name, loop] as const),
  ])('is refused without %s', async (name, wait) => {
    const { agent, start } = createSetting([calls('wipe')]);
    const payload = serializer.serialize(await agent.run(start));
    for (const damaged of name === 'tries' || name === 'reason' ? [undefined] : [undefined, 'soon']) {
      const attempt = (): unknown => serializer.deserialize({ ...payload, waiting_for: [present({ ...wait, [name]: damaged })] });
      expect(attempt).toThrow(DamagedDataError);
      expect(attempt).toThrow(expect.objectContaining({ path: `waiting_for[0].${name}` }));
    }
  });
});

describe('a damaged lossy payload', () => {
  const serializer = new SlimAgentStateSerializer();
  const getPayload = async (): Promise<Readonly<Record<string, unknown>>> => {
    const { agent, start } = createSetting([calls('work'), calls('wipe')]);
    return JSON.parse(JSON.stringify(serializer.serialize(await agent.run(start)))) as Readonly<Record<string, unknown>>;
  };
  const getStep = (payload: Readonly<Record<string, unknown>>): object => (payload['steps'] as readonly object[])[0]!;

  test('is refused without any of its fields', async () => {
    const payload = await getPayload();
    for (const key of Object.keys(payload).filter((name) => name !== 'last_seq' && name !== 'kind')) {
      const { [key]: _, ...rest } = payload;
      const attempt = (): unknown => serializer.deserialize(rest);
      expect(attempt, key).toThrow(DamagedDataError);
      expect(attempt, key).toThrow(expect.objectContaining({ path: key }));
    }
  });

  test.each<readonly [string, (payload: Readonly<Record<string, unknown>>) => object, string]>([
    ['schema 0', () => ({ schema: 0 }), 'schema'],
    ['an unknown status', () => ({ status: 'happy' }), 'status'],
    ['resumable false', () => ({ resumable: false }), 'resumable'],
    [
      'a time that is not a time',
      ({ execution }) => ({ execution: { ...(execution as object), started_at: 'soon' } }),
      'execution.started_at',
    ],
    ['a message without a role', () => ({ messages: [{ id: 'm', content: '' }] }), 'messages[0].role'],
    ['a step without a number', (payload) => ({ steps: [{ ...getStep(payload), step_number: null }] }), 'steps[0].step_number'],
    ['a duration in words', (payload) => ({ steps: [{ ...getStep(payload), duration_ms: 'long' }] }), 'steps[0].duration_ms'],
    ['an agent that is a number', () => ({ parent_agent_id: 7 }), 'parent_agent_id'],
    ['a negative usage', () => ({ usage: { input: -1, output: 0, total: 0 } }), 'usage.input'],
    ['a negative step count', ({ execution }) => ({ execution: { ...(execution as object), step_count: -1 } }), 'execution.step_count'],
    ['a huge step count', ({ execution }) => ({ execution: { ...(execution as object), step_count: 1e12 } }), 'execution.step_count'],
  ])('with %s is refused, and the place is named', async (_, change, path) => {
    const payload = await getPayload();
    const attempt = (): unknown => serializer.deserialize({ ...payload, ...change(payload) });
    expect(attempt).toThrow(DamagedDataError);
    expect(attempt).toThrow(expect.objectContaining({ path }));
  });

  test('is refused if it is of another kind or of a newer schema', async () => {
    const payload = await getPayload();
    expect(() => serializer.deserialize({ ...payload, kind: 'song' })).toThrow(WrongKindError);
    expect(() => serializer.deserialize({ ...payload, schema: 2, messages: 'elsewhere' })).toThrow(NewerSchemaError);
  });

  test('does not change the state when it is changed later, and fields that are not known are ignored', async () => {
    const payload = { ...(await getPayload()), mood: 'good' };
    const state = serializer.deserialize(payload);
    const [first] = payload['messages' as never] as { content: string }[];
    first!.content = 'other';
    expect(state.messages.at(0)?.text).toBe('Find it.');
  });
});
