import { describe, expect, test } from 'vitest';
import { ContinuationOutcome } from '../../continuation/index.ts';
import { ErrorPolicy } from '../../errors/index.ts';
import type { Json, JsonObject } from '../../lib/index.ts';
import { AppendOnlyList, createCountingIds, createFakeClock, createRedactor, InvalidArgumentError } from '../../lib/index.ts';
import type { ToolOutput } from '../../messages/index.ts';
import { Message, Messages, toolCallPart, Usage } from '../../messages/index.ts';
import { StepResult } from '../../step-by-step/index.ts';
import type { ScriptedAnswer } from '../../testing/index.ts';
import { scriptedModel } from '../../testing/index.ts';
import type { ToolUseStep } from '../../tool-use/index.ts';
import { reActDriver } from '../../tool-use/index.ts';
import type { Tools } from '../../tools/index.ts';
import { defineTool } from '../../tools/index.ts';
import type { AgentOptions } from '../index.ts';
import { AgentState, createAgent } from '../index.ts';
import { SlimAgentStateSerializer } from './slim-agent-state-serializer.ts';
import type { SlimPayload } from './slim-payload.ts';
import type { SlimSerializationOptions } from './slim-serialization-config.ts';
import { SlimSerializationConfig } from './slim-serialization-config.ts';

// The set-up

const usage = { input: 10, output: 5, cacheRead: 4 };
const says = (text: string): ScriptedAnswer => ({ text, usage });
const calls = (name: string, args: Json = {}): ScriptedAnswer => ({ text: `I call ${name}.`, toolCalls: [{ name, args }], usage });
const input = { type: 'object', properties: {} } as const;
const clock = createFakeClock(Date.UTC(2026, 0, 2));
const work = defineTool({
  name: 'work',
  description: 'Works.',
  input,
  run: () => {
    clock.skip(250);
    return { found: 'a needle', password: 12345 };
  },
});
const wipe = defineTool({ name: 'wipe', description: 'Wipes.', input, needsApproval: true, run: () => 'wiped' });
const fail = defineTool({
  name: 'fail',
  description: 'Fails.',
  input,
  run: () => {
    throw new Error('no such needle');
  },
});

async function ran(script: readonly ScriptedAnswer[], options: Partial<Omit<AgentOptions, 'capabilities'>> = {}): Promise<AgentState> {
  const ids = createCountingIds('id');
  const agent = createAgent<unknown, Tools>({
    model: scriptedModel(script),
    tools: [work, wipe, fail],
    ...options,
    ports: { clock, ids, random: () => 0.5, onProblem: () => undefined },
  });
  const start = AgentState.empty({ clock, ids, agentId: 'agent-1', parentAgentId: 'agent-0', metadata: { topic: 'needles' } });
  return (await agent.start(start.withUserMessage('Find it.', { ids })).result).state;
}

const slim = (state: AgentState, config: SlimSerializationOptions = {}): SlimPayload =>
  new SlimAgentStateSerializer(config).serialize(state);
const saying = (...messages: readonly Message[]): AgentState => AgentState.empty({ clock, agentId: 'a' }).withMessages(messages);
const runWork = (): Promise<AgentState> => ran([calls('work', { q: 'needle' }), says('Found.')]);

function resultMessages(output: ToolOutput): AgentState {
  return saying(
    Message.assistant(toolCallPart({ id: 'c', name: 'work', args: {} })),
    Message.tool({ toolCallId: 'c', toolName: 'work', output }),
  );
}

// The tests

describe('a slim payload', () => {
  test('shows who, how far, what was said, each step, and why it ended', async () => {
    const payload = slim(await runWork());
    expect(payload).toMatchObject({
      kind: 'slim-agent-state',
      schema: 1,
      agent_id: 'agent-1',
      parent_agent_id: 'agent-0',
      status: 'completed',
      execution: { number: 1, step_count: 2, cumulative_seconds: 0.25 },
      usage: { input: 20, output: 10, total: 30, cache_read: 8 },
      messages: [
        { role: 'user', content: 'Find it.' },
        { role: 'assistant', content: 'I call work.', tool_calls: [{ id: 'call-1', name: 'work', args: { q: 'needle' } }] },
        {
          role: 'tool',
          content: '',
          tool_results: [
            { tool_call_id: 'call-1', tool_name: 'work', status: 'ok', content: '{"found":"a needle","password":"[redacted]"}' },
          ],
        },
        { role: 'assistant', content: 'Found.' },
      ],
      current_step: { step_number: 2, type: 'final_response' },
      steps: [
        {
          step_number: 1,
          type: 'tool_execution',
          has_tool_calls: true,
          duration_ms: 250,
          tool_calls: [{ id: 'call-1', name: 'work', status: 'succeeded' }],
        },
        { step_number: 2, type: 'final_response', has_tool_calls: false, errors: [], finish_reason: 'stop' },
      ],
      waiting_for: [],
      last_continuation: { should_continue: false, stop_reason: 'completed' },
      metadata: { topic: 'needles' },
      omitted: { messages: 0, steps: 0, metadata: 0, secrets: true },
      resumable: 'lossy',
    });
    expect(payload.execution.started_at).toMatch(/^2026-01-02T00:00:0.*Z$/);
    expect(payload.last_continuation).not.toHaveProperty('evaluations');
    expect(payload.steps[0]).not.toHaveProperty('evaluations');
    expect(JSON.parse(JSON.stringify(payload))).toStrictEqual(payload);
  });

  test('of a state in which nothing happened has nothing to show', () => {
    expect(slim(AgentState.empty({ clock, agentId: 'a' }))).toMatchObject({
      parent_agent_id: null,
      status: 'pending',
      messages: [],
      current_step: null,
      steps: [],
      waiting_for: [],
      last_continuation: null,
      metadata: {},
    });
  });

  test('is minimal where that is asked for', async () => {
    const payload = slim(await runWork(), SlimSerializationConfig.minimal());
    expect(payload).toMatchObject({ steps: [], metadata: null, omitted: { messages: 0, steps: 2, metadata: 1 }, resumable: 'lossy' });
    expect(payload.messages[1]?.tool_calls).toStrictEqual([{ id: 'call-1', name: 'work' }]);
    expect(payload.messages[1]?.omitted).toStrictEqual(['tool_args']);
    expect(payload.messages[2]?.tool_results?.[0]?.content).toBe('[tool result left out]');
    expect(payload.messages[2]?.omitted).toStrictEqual(['tool_results']);
    expect(JSON.stringify(payload)).not.toMatch(/needle/);
  });

  test.each<readonly [string, SlimSerializationOptions, true | 'lossy']>([
    ['minimal', SlimSerializationConfig.minimal(), 'lossy'],
    ['standard', SlimSerializationConfig.standard(), 'lossy'],
    ['full', SlimSerializationConfig.full(), true],
    ['full without results', SlimSerializationConfig.full().with({ includeToolResults: false }), 'lossy'],
    ['full with a bound', SlimSerializationConfig.full().with({ maxContentLength: 1_000_000 }), 'lossy'],
  ])('that is %s says whether everything is in it', async (_, config, resumable) => {
    expect(slim(await ran([says('Hello.')]), config).resumable).toBe(resumable);
  });

  test('that is full, but had a secret, is lossy', async () => {
    expect(slim(await runWork(), SlimSerializationConfig.full())).toMatchObject({ resumable: 'lossy', omitted: { secrets: true } });
  });

  test('shows the trace where that is asked for', async () => {
    const { steps, last_continuation } = slim(await runWork(), { includeContinuationTrace: true });
    const limit = expect.objectContaining({ criterion: 'StepsLimit', decision: 'allow', limit: 'steps' }) as unknown;
    expect(steps.map(({ evaluations }) => evaluations)).toEqual([expect.arrayContaining([limit]), expect.arrayContaining([limit])]);
    expect(last_continuation?.evaluations).toStrictEqual(steps[1]?.evaluations);
    expect(last_continuation?.evaluations?.[0]).not.toHaveProperty('context');
  });

  test('says who ended it at a limit, and in which words', async () => {
    const { status, last_continuation } = slim(await ran([calls('work')], { limits: { steps: 1 } }));
    expect(status).toBe('stopped');
    expect(last_continuation).toMatchObject({
      should_continue: false,
      stop_reason: 'steps_limit',
      resolved_by: 'StepsLimit',
      decision: 'forbid',
      reason: expect.stringMatching(/1/) as string,
    });
  });

  test('takes states only', () => {
    expect(() => slim({} as never)).toThrow(InvalidArgumentError);
  });

  test.each([{ redactor: {} }, { redactor: 'strict' }, { redactor: null }])('is not written with %j', (options) => {
    expect(() => new SlimAgentStateSerializer({}, options as never)).toThrow(/must have text\(\) and value\(\)/);
  });
});

describe('what is waited for', () => {
  test('is shown with the step that waits', async () => {
    const state = await ran([calls('wipe', { disk: 'c', api_key: 'abc' })]);
    const payload = slim(state);
    expect(payload).toMatchObject({
      status: 'waiting',
      steps: [],
      current_step: {
        step_number: 1,
        ended_at: null,
        text: 'I call wipe.',
        tool_calls: [{ id: 'call-1', name: 'wipe' }],
      },
      waiting_for: [{ type: 'approval', id: 'call-1', tool_name: 'wipe', args: { disk: 'c', api_key: '[redacted]' }, args_redacted: true }],
    });
    expect(payload.current_step?.tool_calls?.[0]).not.toHaveProperty('status');
    const digest = expect.stringMatching(/^[0-9a-f]{64}$/) as string;
    expect(slim(state, { includeToolArgs: false }).waiting_for).toStrictEqual([
      { type: 'approval', id: 'call-1', tool_name: 'wipe', digest },
    ]);
  });

  test('is a grant at a limit, also where no step was taken', async () => {
    const stopped = await ran([calls('work')], { limits: { steps: 1, onLimit: 'pause' } });
    const waiting_for = [{ type: 'grant', id: 'grant/steps', limit: 'steps' }];
    expect(slim(stopped)).toMatchObject({ status: 'waiting', current_step: { step_number: 1 }, waiting_for });
    const { data } = AgentState.empty({ clock });
    const vote = { criterion: 'Mine', decision: 'forbid', reason: 'used up', limit: 'steps', atLimit: 'pause', context: {} } as const;
    const startOutcome = ContinuationOutcome.fromEvaluations([vote]);
    const refused = new AgentState({ ...data, execution: { ...data.execution, id: 'e', startOutcome } });
    expect(slim(refused)).toMatchObject({ status: 'waiting', current_step: null, waiting_for });
  });

  test('does not hide what the user said meanwhile', async () => {
    const parked = await ran([calls('wipe')]);
    const { messages } = slim(parked.approve('call-1').withUserMessage('Hurry.'));
    expect(messages.at(-1)).toMatchObject({ role: 'user', content: 'Hurry.', queued: true });
    expect(messages[0]).not.toHaveProperty('queued');
  });
});

describe('cutting', () => {
  test('keeps the newest messages, and a call with its result', async () => {
    const state = await runWork();
    const listRoles = (maxMessages: number) => slim(state, { maxMessages }).messages.map(({ role }) => role);
    expect([0, 1, 2, 3, 4].map(listRoles)).toEqual([
      [],
      ['assistant'],
      ['assistant'],
      ['assistant', 'tool', 'assistant'],
      ['user', 'assistant', 'tool', 'assistant'],
    ]);
    expect(slim(state, { maxMessages: 2 }).omitted?.messages).toBe(3);
  });

  test('keeps the true numbers of steps', async () => {
    const state = await ran([calls('work', { n: 1 }), calls('work', { n: 2 }), calls('work', { n: 3 }), says('Done.')]);
    const numbers = (config: SlimSerializationOptions) => slim(state, config).steps.map(({ step_number }) => step_number);
    expect(numbers({ maxSteps: 2 })).toEqual([3, 4]);
    expect(numbers({ maxSteps: 0 })).toEqual([]);
    expect(numbers({ maxSteps: 2, includeAllSteps: true })).toEqual([1, 2, 3, 4]);
    expect(slim(state, { maxSteps: 1 })).toMatchObject({ omitted: { steps: 3 }, current_step: { step_number: 4 } });
  });

  test('falls between code points and leaves a mark', () => {
    const state = saying(Message.user('😀😀😀😀'), Message.assistant([{ type: 'reasoning', text: 'abcdef' }]));
    expect(slim(state, { maxContentLength: 3 }).messages).toMatchObject([{ content: '😀😀…' }, { content: '', reasoning: 'ab…' }]);
  });

  test('shows the beginning of long arguments and results as text', () => {
    const state = saying(
      Message.assistant([
        toolCallPart({ id: '1', name: 'work', args: { q: 'abcdefgh' } }),
        toolCallPart({ id: '2', name: 'work', args: null, rawArgs: '{"q": "abcdefgh' }),
      ]),
      Message.tool({ toolCallId: '1', toolName: 'work', output: { type: 'json', value: { a: 'abcdefgh' } } }),
    );
    const [said, answered] = slim(state, { maxContentLength: 8 }).messages;
    expect(said?.tool_calls).toStrictEqual([
      { id: '1', name: 'work', args_text: '{"q":"a…' },
      { id: '2', name: 'work', args_text: '{"q": "…' },
    ]);
    expect(answered?.tool_results?.[0]?.content).toBe('{"a":"a…');
    expect(slim(state, { includeToolArgs: false }).messages[0]?.tool_calls).toStrictEqual([
      { id: '1', name: 'work' },
      { id: '2', name: 'work' },
    ]);
  });

  test('keeps whole fields of metadata, as many as fit', () => {
    const state = AgentState.empty({ clock, metadata: { a: 1, long: 'x'.repeat(50), b: 2 } });
    expect(slim(state, { maxContentLength: 30 })).toMatchObject({ metadata: { a: 1, b: 2 }, omitted: { metadata: 1 } });
    const odd = AgentState.empty({ clock }).evolve({ metadata: { a: 1, map: new Map() as never } });
    expect(slim(odd)).toMatchObject({ metadata: { a: 1 }, omitted: { metadata: 1 } });
  });

  test('looks at no old step and no old message', () => {
    const failing = new Proxy(Message.user('Old.'), { get: () => expect.unreachable('an old one was looked at') });
    const step: ToolUseStep = {
      id: 's',
      outputMessages: [],
      usage: Usage.none(),
      errors: [],
      stepType: 'final_response',
      toolCalls: [],
      executions: [],
    };
    const timing = { startedAt: 0, endedAt: 1, activeMs: 1, waitedMs: 0 };
    const result = (number: number) => new StepResult(step, ContinuationOutcome.empty(), { number, timing });
    const results = Array.from({ length: 5000 }, (_, index) => (index < 4990 ? (failing as never) : result(index + 1)));
    const messages = Array.from({ length: 5000 }, (_, index) => (index === 0 || index >= 4990 ? Message.user('Hi.') : (failing as never)));
    const { data } = saying().withMessages(Messages.from(AppendOnlyList.from(messages)));
    const state = new AgentState({ ...data, execution: { ...data.execution, id: 'e', results: AppendOnlyList.from(results) } });
    const payload = slim(state, { maxSteps: 2, maxMessages: 3 });
    expect(payload.steps.map(({ step_number }) => step_number)).toEqual([4999, 5000]);
    expect(payload.omitted).toStrictEqual({ messages: 4997, steps: 4998, metadata: 0 });
  });
});

describe('what is left out', () => {
  test.each<readonly [string, ToolOutput, string]>([
    ['text', { type: 'text', value: 'plain' }, 'plain'],
    ['JSON', { type: 'json', value: [1, null] }, '[1,null]'],
    ['JSON that is text', { type: 'json', value: 'plain' }, 'plain'],
    ['parts', { type: 'content', parts: [{ type: 'image', data: 'QUJD', mediaType: 'image/png' }] }, '[image image/png]'],
  ])('of a result in %s is all of it, or nothing', (_, output, text) => {
    expect(slim(resultMessages(output)).messages[1]?.tool_results).toMatchObject([{ status: 'ok', content: text }]);
    const hidden = slim(resultMessages(output), { includeToolResults: false }).messages[1];
    expect(hidden).toMatchObject({ tool_results: [{ status: 'ok', content: '[tool result left out]' }], omitted: ['tool_results'] });
  });

  test('does not stand in the metadata of its message either', () => {
    const call = Message.assistant(toolCallPart({ id: 'c', name: 'work', args: {} }));
    const output = { type: 'text', value: 'plain' } as const;
    const state = saying(call, Message.tool({ toolCallId: 'c', toolName: 'work', output }, { metadata: { result: 'plain' } }));
    expect(slim(state).messages[1]?.metadata).toStrictEqual({ result: 'plain' });
    expect(slim(state, { includeToolResults: false }).messages[1]).not.toHaveProperty('metadata');
    expect(slim(state, { includeMetadata: false }).messages[1]).not.toHaveProperty('metadata');
  });

  test('does not stand in what went wrong with a call', async () => {
    const state = await ran([calls('fail')], { errors: ErrorPolicy.stopOnAnyError() });
    const [shown, hidden] = [slim(state), slim(state, { includeToolResults: false })];
    expect(shown.steps[0]?.errors).toMatchObject([
      { type: 'tool', tool_name: 'fail', message: expect.stringMatching(/no such needle/) as string },
    ]);
    expect(hidden.steps[0]?.errors?.[0]).toMatchObject({ type: 'tool', tool_name: 'fail' });
    expect(JSON.stringify(hidden)).not.toMatch(/no such needle/);
  });

  test('does not stand in plain words where the model calls in plain words', async () => {
    const decision = (fields: JsonObject): ScriptedAnswer => ({ text: JSON.stringify(fields), usage });
    const script = [
      decision({ thought: 'Look.', type: 'call_tool', tool: 'work', args: '{"q": "pin\\nhead"}', answer: null }),
      { text: 'undecided pinhead', usage },
      decision({ thought: '', type: 'final_answer', tool: null, args: null, answer: 'Found.' }),
    ];
    const state = await ran(script, { driver: reActDriver() });
    const words = (config: SlimSerializationOptions) => slim(state, config).messages.map(({ content }) => content);
    expect(words({})[1]).toBe('Thought: Look.\nAction: work {"q":"pin\\nhead"}');
    expect(words({})[2]).toMatch(/^Observation: .*a needle/);
    expect(words(SlimSerializationConfig.minimal())).toEqual([
      'Find it.',
      'Thought: Look.\nAction: work',
      '[tool result left out]',
      '[tool arguments left out]',
      '[tool result left out]',
      'Found.',
    ]);
    expect(JSON.stringify(slim(state, SlimSerializationConfig.minimal()))).not.toMatch(/pin|a needle/);
  });

  test('are the bytes of pictures and files', () => {
    const state = saying(
      Message.user([
        { type: 'text', text: 'See.' },
        { type: 'image', data: 'QUJDRA==', mediaType: 'image/png' },
        { type: 'image', url: 'data:image/png;base64,QUJDRA==' },
        { type: 'file', data: 'QUJD', mediaType: 'text/plain', filename: 'a.txt' },
        { type: 'file', id: 'file-7', mediaType: 'text/plain' },
        { type: 'source', sourceType: 'url', id: 's', url: 'https://example.com/', title: 'Example' },
        { type: 'source', sourceType: 'url', id: 't', url: 'data:text/plain,QUJD' },
        { type: 'provider', provider: 'p', data: { blob: 'QUJD' } },
      ]),
    );
    const payload = slim(state);
    expect(payload.messages[0]).toMatchObject({
      content: 'See.',
      attachments: [
        { type: 'image', media_type: 'image/png', bytes: 4 },
        { type: 'image' },
        { type: 'file', media_type: 'text/plain', filename: 'a.txt', bytes: 3 },
        { type: 'file', media_type: 'text/plain' },
        { type: 'source', title: 'Example', url: 'https://example.com/' },
        { type: 'source' },
        { type: 'provider' },
      ],
    });
    expect(JSON.stringify(payload)).not.toMatch(/QUJD/);
  });
});

describe('secrets', () => {
  const key = ['sk', 'proj-abcdefghijklmnop1234'].join('-');

  test('are taken out before a text is cut', () => {
    const { messages } = slim(saying(Message.user(`My key is ${key}.`)), { maxContentLength: 20 });
    expect(messages[0]?.content).toBe('My key is [redacted…');
  });

  test('are taken out of the names of fields, too', () => {
    const state = AgentState.empty({ clock, metadata: { [key]: { [key]: 1 } } });
    expect(slim(state).metadata).toStrictEqual({ '[redacted]': { '[redacted]': 1 } });
  });

  test('are what the given redactor takes for secrets', () => {
    const serializer = new SlimAgentStateSerializer({}, { redactor: createRedactor({ patterns: [/needle/], replacement: '***' }) });
    expect(serializer.serialize(saying(Message.user('A needle.'))).messages[0]?.content).toBe('A ***.');
  });

  test('stay in the state', () => {
    const state = saying(Message.user(key));
    slim(state);
    expect(state.messages.text).toBe(key);
  });
});
