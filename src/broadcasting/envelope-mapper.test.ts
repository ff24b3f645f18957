import { describe, expect, it } from 'vitest';
import { toEnvelopeProblems } from '../../tests/support/envelopes.ts';
import type { BroadcastOptions } from './broadcast-options.ts';
import type { EventEnvelope } from './envelope.ts';
import type { AnyEvent, EventPlace } from './envelope-mapper.ts';
import { createEnvelopeMapper } from './envelope-mapper.ts';

const header = {
  id: 'session-1/1/7',
  seq: 7,
  at: Date.UTC(2026, 0, 16, 10, 5, 1),
  agentId: 'abc123',
  agentName: 'desk',
  parentAgentId: null,
  sessionId: 'session-1',
  executionId: 'session-1/1',
  stepNumber: 2,
  orchestrator: 'agent',
};
const by = { id: 'ann', kind: 'user' };
const call = { tool: 'search', toolCallId: 'call-1', args: { query: 'rain', max: 5 } };
const usage = { input: 10, output: 4, total: 14, cacheRead: 2 };
const failure = { type: 'model', code: 'no-capacity', message: '503 no capacity', retryable: true };
const evaluation = {
  criterion: 'StepsLimit',
  decision: 'forbid',
  reason: '2 of 2 steps done',
  stopReason: 'steps_limit',
  context: { max: 2 },
};
const decision = { shouldContinue: false, stopReason: 'steps_limit', resolvedBy: 'StepsLimit' };

const readText = ({ text }: EventEnvelope['data']): string => (typeof text === 'string' ? text : '');

// Holds: the fields are those of the type.
const toEvent = (type: string, fields: object): AnyEvent => ({ ...header, type, ...fields }) as AnyEvent;

interface Mapping extends EventPlace {
  readonly options?: BroadcastOptions;
}

/** Maps an event, and checks every envelope against the schema. */
function map(type: string, fields: object, { options = {}, ...place }: Mapping = {}): readonly EventEnvelope[] {
  const envelopes = createEnvelopeMapper(options).toEnvelopes(toEvent(type, fields), place);
  expect(envelopes.flatMap(toEnvelopeProblems)).toStrictEqual([]);
  return envelopes;
}

const mapData = (...args: Parameters<typeof map>): readonly (readonly [string, unknown])[] =>
  map(...args).map(({ event, data }) => [event, data] as const);

describe('an envelope', () => {
  it('has the name, the time in UTC, the ids, its number and the data, and leaves out what does not apply', () => {
    expect(map('AgentStepStarted', { tools: ['search'] }, { prevSeq: 5 })).toStrictEqual([
      {
        event: 'agent.step.started',
        timestamp: '2026-01-16T10:05:01.000Z',
        agent_id: 'abc123',
        session_id: 'session-1',
        execution_id: 'session-1/1',
        orchestrator: 'agent',
        seq: 7,
        prev_seq: 5,
        part: 1,
        data: { step_number: 2, tools: ['search'] },
      },
    ]);
  });

  it('names the outer agent and the participant if there are any', () => {
    const [envelope] = map('AgentStepStarted', { parentAgentId: 'outer', participant: 'critic' });
    expect(envelope).toMatchObject({ parent_agent_id: 'outer', participant: 'critic', data: { participant: 'critic' } });
  });

  it('has no number while it is provisional: attempt and index identify it', () => {
    const [envelope] = map('ToolCallStarted', call, { attempt: 2, index: 3, isProvisional: true, prevSeq: 5 });
    expect(envelope).toMatchObject({ provisional: true, attempt: 2, index: 3 });
    expect(envelope).not.toHaveProperty('seq');
    expect(envelope).not.toHaveProperty('prev_seq');
  });

  it('confirms a provisional one by its attempt and index, with the number', () => {
    const [envelope] = map('ToolCallStarted', call, { attempt: 2, index: 3, prevSeq: 5 });
    expect(envelope).toMatchObject({ attempt: 2, index: 3, seq: 7, prev_seq: 5 });
    expect(envelope).not.toHaveProperty('provisional');
  });

  it('counts the envelopes of one event', () => {
    const parts = map('AgentStepCompleted', { text: 'Hello', messageId: 'm1', usage, durationMs: 5, errorCount: 0, hasToolCalls: false });
    expect(parts.map(({ event, part, seq }) => [event, part, seq])).toStrictEqual([
      ['agent.message', 1, 7],
      ['agent.step.completed', 2, 7],
    ]);
  });

  it('has the agent as its session if neither the event nor its place names one', () => {
    const [envelope] = map('AgentStepStarted', { sessionId: undefined });
    expect(envelope).toMatchObject({ session_id: 'abc123' });
  });
});

type Row = readonly [type: string, fields: object, expected: readonly (readonly [string, object])[], place?: Mapping];

const completed = { hasToolCalls: false, errorCount: 0, usage, durationMs: 12.5, finishReason: 'stop', text: '', ...decision };
const callData = { tool: 'search', tool_call_id: 'call-1', step_number: 2, args_summary: "query: 'rain', max: 5" };

const rows: readonly Row[] = [
  [
    'AgentExecutionStarted',
    { resumed: false, messageCount: 1 },
    [['agent.status', { status: 'in_progress', sentence: 'Run started with 1 message.', step_count: 0 }]],
  ],
  [
    'AgentFinished',
    {
      status: 'stopped',
      stopReason: 'steps_limit',
      resolvedBy: 'StepsLimit',
      reason: '2 of 2 steps done',
      context: { max: 2 },
      stepCount: 2,
    },
    [
      [
        'agent.status',
        {
          status: 'stopped',
          stop_reason: 'steps_limit',
          resolved_by: 'StepsLimit',
          context: { max: 2 },
          sentence: '2 of 2 steps done.',
          next: 'Raise limits.steps if the work needs more steps.',
          step_count: 2,
        },
      ],
    ],
  ],
  [
    'AgentFinished',
    {
      status: 'failed',
      stopReason: 'error',
      resolvedBy: 'ErrorPolicyCriterion',
      reason: 'a model error that a retry cannot fix; the policy stops the run',
      stepCount: 1,
      errors: [{ ...failure, code: 'model-refused', message: '401 for Bearer abcdefghijklmnop', retryable: false }],
    },
    [
      [
        'agent.status',
        {
          status: 'failed',
          stop_reason: 'error',
          resolved_by: 'ErrorPolicyCriterion',
          sentence: 'A model error that a retry cannot fix; the policy stops the run.',
          failure: '401 for Bearer [redacted]',
          next: 'Fix what the provider objects to: the key, the name of the model, or the request.',
          step_count: 1,
        },
      ],
    ],
  ],
  [
    'AgentFinished',
    { status: 'waiting', stepCount: 0, waitingFor: [{ type: 'approval', id: 'call-1', toolName: 'pay' }] },
    [
      [
        'agent.status',
        {
          status: 'waiting',
          sentence: 'Run waits after 0 steps for approval of pay (call-1).',
          step_count: 0,
          waiting_for: [{ wait_id: 'call-1', type: 'approval', tool: 'pay' }],
        },
      ],
    ],
  ],
  [
    'LimitsGranted',
    { by, amounts: { steps: 5 } },
    [['agent.status', { status: 'in_progress', sentence: 'ann granted 5 more steps.', by, granted: { steps: 5 } }]],
  ],
  [
    'CancelRequested',
    { by, reason: 'enough' },
    [['agent.status', { status: 'in_progress', sentence: 'ann cancelled: enough.', by, cancel_requested: true, reason: 'enough' }]],
  ],
  [
    'UserMessageReceived',
    { by, messageId: 'm1', text: 'Hello', content: [{ type: 'text', text: 'Hello' }, { type: 'image' }] },
    [['agent.message', { message_id: 'm1', role: 'user', text: 'Hello', attachments: 1, by }]],
  ],
  [
    'AgentStateUpdated',
    { status: 'waiting', stepCount: 0, text: 'I have to ask.', messageId: 'm2' },
    [['agent.message', { message_id: 'm2', role: 'assistant', text: 'I have to ask.', by: { id: 'desk', kind: 'agent' }, step_number: 2 }]],
  ],
  ['AgentStepStarted', { tools: ['search', 'pay'] }, [['agent.step.started', { step_number: 2, tools: ['search', 'pay'] }]]],
  [
    'AgentStepStarted',
    { tools: [], resumed: true, attempt: 3 },
    [
      ['agent.stream.void', { step_number: 2, scope: 'attempt', attempt: 2 }],
      ['agent.step.started', { step_number: 2, tools: [], resumed: true }],
    ],
  ],
  [
    'AgentStepCompleted',
    completed,
    [
      [
        'agent.step.completed',
        {
          step_number: 2,
          usage: { input: 10, output: 4, total: 14, cache_read: 2 },
          duration_ms: 12.5,
          finish_reason: 'stop',
          has_tool_calls: false,
          error_count: 0,
          continuation: { should_continue: false, stop_reason: 'steps_limit', resolved_by: 'StepsLimit' },
        },
      ],
    ],
  ],
  ['ToolCallStarted', call, [['agent.tool.started', callData]]],
  ['ToolCallProgress', { ...call, progress: { done: 1 } }, [['agent.tool.progress', { ...callData, progress: { done: 1 } }]]],
  [
    'ToolCallCompleted',
    { tool: 'search', toolCallId: 'call-1', success: true, status: 'succeeded', durationMs: 3, result: { rows: 2 }, error: null },
    [
      [
        'agent.tool.completed',
        {
          tool: 'search',
          tool_call_id: 'call-1',
          step_number: 2,
          success: true,
          status: 'succeeded',
          error: null,
          duration_ms: 3,
          result_summary: '{"rows":2}',
        },
      ],
    ],
  ],
  [
    'ToolCallCompleted',
    { tool: 'search', toolCallId: 'call-1', success: false, status: 'failed', durationMs: 3, error: '"search" failed: disk full' },
    [
      [
        'agent.tool.completed',
        {
          tool: 'search',
          tool_call_id: 'call-1',
          step_number: 2,
          success: false,
          status: 'failed',
          error: '"search" failed: disk full',
          duration_ms: 3,
        },
      ],
    ],
  ],
  [
    'ToolCallBlocked',
    { ...call, hook: 'guard', reason: 'not today' },
    [['agent.tool.blocked', { ...callData, hook: 'guard', reason: 'not today' }]],
  ],
  [
    'ToolApprovalRequested',
    { ...call, waitId: 'sub/call-1', digest: 'd1g357' },
    [
      [
        'agent.tool.approval_requested',
        { ...callData, wait_id: 'sub/call-1', digest: 'd1g357', expires_at: '2026-01-16T10:05:02.000Z', hidden_fields: [] },
      ],
    ],
    { options: { approvals: { expireAfterMs: 1000 } } },
  ],
  [
    'WaitResolved',
    { by, waitId: 'call-1', waitType: 'approval', toolName: 'pay', decision: 'approved', edited: true, reason: 'fine' },
    [
      [
        'agent.wait.resolved',
        {
          wait_id: 'call-1',
          wait_type: 'approval',
          tool: 'pay',
          decision: 'approved',
          by,
          at: '2026-01-16T10:05:01.000Z',
          reason: 'fine',
          edited: true,
        },
      ],
    ],
  ],
  [
    'RetryScheduled',
    { delayMs: 1500, errorType: 'rate_limit', failures: 1, message: '429 slow down', maxRetries: 3 },
    [
      [
        'agent.retry',
        {
          step_number: 2,
          delay_ms: 1500,
          attempt: 1,
          max_attempts: 3,
          error_type: 'rate_limit',
          sentence: 'Waits 1.5 s before retry 1 of 2: 429 slow down.',
        },
      ],
    ],
  ],
  [
    'ModelFallback',
    { from: 'a/one', to: 'b/two', failure },
    [
      [
        'agent.model_fallback',
        { step_number: 2, from: 'a/one', to: 'b/two', error_type: 'model', code: 'no-capacity', sentence: '503 no capacity' },
      ],
      ['agent.stream.void', { step_number: 2, scope: 'text', attempt: 1, answer: 1 }],
    ],
    { attempt: 1, answer: 1 },
  ],
  [
    'TextDelta',
    { text: 'Hel' },
    [['agent.stream.chunk', { text: 'Hel', step_number: 2, attempt: 1, answer: 2, offset: 40 }]],
    { attempt: 1, answer: 2, offset: 40 },
  ],
  ['ReasoningDelta', { text: 'Hm' }, [['agent.stream.chunk', { reasoning: 'Hm', step_number: 2, attempt: 1, answer: 1, offset: 0 }]]],
  [
    'ContinuationEvaluated',
    { ...decision, outcome: { decision: 'forbid', ...decision, evaluations: [evaluation] } },
    [
      [
        'agent.continuation',
        {
          step_number: 2,
          should_continue: false,
          stop_reason: 'steps_limit',
          resolved_by: 'StepsLimit',
          evaluations: [
            { criterion: 'StepsLimit', decision: 'forbid', reason: '2 of 2 steps done', stop_reason: 'steps_limit', context: { max: 2 } },
          ],
        },
      ],
    ],
    { options: { includeContinuationTrace: true } },
  ],
  [
    'AgentFailed',
    { status: 'failed', stopReason: 'error', errors: [{ ...failure, toolName: 'pay', toolCallId: 'call-1' }] },
    [['agent.error', { code: 'no-capacity', error_type: 'model', sentence: '503 no capacity', tool: 'pay', tool_call_id: 'call-1' }]],
  ],
  [
    'AgentFailed',
    { status: 'failed', stopReason: 'error', errors: [], reason: 'The guard threw' },
    [['agent.error', { code: 'error', sentence: 'The guard threw.' }]],
  ],
  [
    'CrashLoopDetected',
    { attempts: 3, waitId: 'w1' },
    [
      [
        'agent.error',
        {
          code: 'crash-loop',
          sentence:
            'The process ended each of the 3 times that this step was resumed; waits for somebody to resume or cancel the session (w1).',
        },
      ],
    ],
  ],
];

describe('the envelopes of each event', () => {
  it.each(rows.map((row) => ({ type: row[0], row })))('$type', ({ row: [type, fields, expected, place = {}] }) => {
    expect(mapData(type, fields, place)).toStrictEqual(expected);
  });

  it('names no tool by `name`, and every call by its id', () => {
    for (const type of ['ToolCallStarted', 'ToolCallProgress', 'ToolCallBlocked', 'ToolApprovalRequested', 'ToolCallCompleted'])
      for (const { data } of map(type, { ...call, status: 'failed', hook: 'h' })) {
        expect(data).toMatchObject({ tool: 'search', tool_call_id: 'call-1' });
        expect(data).not.toHaveProperty('name');
      }
  });

  it('a failed answer that leaves no message takes its text back', () => {
    const fields = { ...completed, errorCount: 1, errorMessages: ['503'] };
    expect(map('AgentStepCompleted', fields).map(({ event }) => event)).toStrictEqual(['agent.step.completed', 'agent.stream.void']);
  });
});

describe('the presets', () => {
  const types = ['AgentStateUpdated', 'TokenUsageReported', 'InferenceStarted', 'HookApplied', 'ParticipantSelected', 'BoardUpdated'];

  it.each(types)('only debug sends %s, under the name of its type', (type) => {
    const fields = { status: 'in_progress', stepCount: 1 };
    expect(map(type, fields)).toStrictEqual([]);
    expect(map(type, fields, { options: { preset: 'minimal' } })).toStrictEqual([]);
    const name = `agent.${type.replace(/(?<!^)[A-Z]/g, '_$&').toLowerCase()}`;
    expect(mapData(type, fields, { options: { preset: 'debug' } })).toStrictEqual([
      [name, { step_number: 2, status: 'in_progress', step_count: 1 }],
    ]);
  });

  it.each([
    ['minimal', [], false, false],
    ['standard', ['agent.stream.chunk'], false, false],
    ['debug', ['agent.stream.chunk'], true, true],
  ] as const)('%s: chunks %j, trace %s, arguments %s', (preset, chunks, hasTrace, hasArgs) => {
    const options = { preset };
    expect(map('TextDelta', { text: 'a' }, { options }).map(({ event }) => event)).toStrictEqual(chunks);
    expect(map('ContinuationEvaluated', { ...decision, outcome: { evaluations: [] } }, { options })).toHaveLength(hasTrace ? 1 : 0);
    const [started] = map('ToolCallStarted', { ...call, args: { text: 'x'.repeat(600) } }, { options });
    expect(started?.data['args']).toStrictEqual(hasArgs ? { text: `${'x'.repeat(499)}…` } : undefined);
  });

  it('every one of their settings can be overridden', () => {
    const options = { preset: 'debug', includeStreamChunks: false, includeContinuationTrace: false, includeToolArgs: false } as const;
    expect(map('TextDelta', { text: 'a' }, { options })).toStrictEqual([]);
    expect(map('ContinuationEvaluated', { ...decision, outcome: {} }, { options })).toStrictEqual([]);
    expect(map('ToolCallStarted', call, { options })[0]?.data).not.toHaveProperty('args');
  });

  it('an event of the host has all of its fields, under a name that no other event has', () => {
    const fields = { orderId: 'o-1', nested: { apiKey: 'secret-key' }, password: 'hunter2', list: [1, 'two'] };
    expect(mapData('OrderShipped', fields, { options: { preset: 'debug' } })).toStrictEqual([
      [
        'agent.order_shipped',
        { step_number: 2, order_id: 'o-1', nested: { apiKey: '[redacted]' }, password: '[redacted]', list: [1, 'two'] },
      ],
    ]);
    expect(map('Status', {}, { options: { preset: 'debug' } })[0]?.event).toBe('agent.custom_status');
  });

  it('an event of the host with fields that are not plain data has the others', () => {
    const fields = { when: new Map(), count: 2 };
    expect(mapData('OrderShipped', fields, { options: { preset: 'debug' } })).toStrictEqual([
      ['agent.order_shipped', { step_number: 2, count: 2 }],
    ]);
  });

  it('refuse settings that make no sense', () => {
    expect(() => createEnvelopeMapper({ preset: 'loud' as never })).toThrow(
      "Unknown preset \"loud\" in createEnvelopeMapper(). Use 'minimal', 'standard' or 'debug'.",
    );
    expect(() => createEnvelopeMapper({ maxBytes: 10 })).toThrow('maxBytes must be a whole number of at least 1000, not 10.');
    expect(() => createEnvelopeMapper({ presets: 'debug' } as never)).toThrow('Did you mean "preset"?');
  });
});

describe('an approval', () => {
  it('names the arguments that its summary does not show: redacted, cut, or beyond the first three', () => {
    const args = { to: 'ann', password: 'hunter2', text: 'x'.repeat(31), amount: 5 };
    const [envelope] = map('ToolApprovalRequested', { ...call, args });
    expect(envelope?.data).toMatchObject({
      args_summary: `to: 'ann', password: '[redacted]', text: '${'x'.repeat(29)}…'`,
      hidden_fields: ['password', 'text', 'amount'],
      wait_id: 'call-1',
    });
  });
});

describe('the byte budget', () => {
  const encode = (envelope: unknown): number => new TextEncoder().encode(JSON.stringify(envelope)).length;

  it('replaces a payload that is over it by a reference to the whole', () => {
    const text = 'ü'.repeat(5_000);
    const [envelope] = map('UserMessageReceived', { by, messageId: 'm1', text });
    expect(envelope?.data).toStrictEqual({
      message_id: 'm1',
      role: 'user',
      by,
      cut: ['text'],
      ref: { session_id: 'session-1', seq: 7, part: 1, path: '/data' },
      bytes: encode({ message_id: 'm1', role: 'user', text, by }),
    });
    const [whole] = map('UserMessageReceived', { by, messageId: 'm1', text }, { options: { maxBytes: 1_000_000 } });
    expect(whole?.data['text']).toBe(text);
  });

  it('keeps a payload that just fits, whatever its characters', () => {
    for (const text of ['a'.repeat(7_000), '\u0001'.repeat(1_100), '漢'.repeat(2_300)])
      expect(map('UserMessageReceived', { by, messageId: 'm1', text })[0]?.data['text']).toBe(text);
  });

  it('holds for every event, also one with very many fields', () => {
    const fields = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`field${index}`, `value ${index}`]));
    for (const maxBytes of [2_000, 8_000])
      for (const envelope of map('Huge', { ...fields, big: 'x'.repeat(100_000) }, { options: { preset: 'debug', maxBytes } }))
        expect(encode(envelope)).toBeLessThanOrEqual(maxBytes);
  });

  it('says that a provisional payload can be fetched once it is stored: its reference has no number', () => {
    const fields = { ...call, args: { text: 'x'.repeat(9_000) } };
    const [envelope] = map('ToolCallStarted', fields, {
      options: { includeToolArgs: true, maxArgLength: 10_000 },
      attempt: 1,
      index: 1,
      isProvisional: true,
    });
    expect(envelope?.data['ref']).toStrictEqual({ session_id: 'session-1', part: 1, path: '/data' });
  });

  it('splits text into chunks whose offsets add up, and no character falls apart', () => {
    const text = '😀漢a'.repeat(3_000);
    const chunks = map('TextDelta', { text }, { offset: 10 });
    expect(chunks.length).toBeGreaterThan(1);
    expect(chunks.map(({ data }) => readText(data)).join('')).toBe(text);
    let offset = 10;
    for (const { data, part } of chunks) {
      expect(data['offset']).toBe(offset);
      expect(part).toBe(chunks.findIndex((each) => each.data === data) + 1);
      expect(readText(data).isWellFormed()).toBe(true);
      offset += readText(data).length;
    }
    for (const chunk of chunks) expect(encode(chunk)).toBeLessThanOrEqual(8_000);
  });

  it('a chunk whose text is redacted says how many characters it stands for', () => {
    const text = 'key sk-abcdefghijklmnopqrstuvwx';
    expect(map('TextDelta', { text })[0]?.data).toMatchObject({ text: 'key [redacted]', length: text.length });
  });
});

describe('reading in the middle', () => {
  it('finds out by itself which events count for prev_seq', () => {
    const mapper = createEnvelopeMapper();
    expect(mapper.hasSeq(toEvent('AgentStepStarted', {}))).toBe(true);
    expect(mapper.hasSeq(toEvent('TokenUsageReported', {}))).toBe(false);
    expect(mapper.hasSeq(toEvent('TextDelta', { text: 'a' }))).toBe(false);
    expect(createEnvelopeMapper({ preset: 'debug' }).hasSeq(toEvent('TokenUsageReported', {}))).toBe(true);
  });
});

describe('heads and voids', () => {
  it('a head has the newest number', () => {
    const head = createEnvelopeMapper().toHead({ sessionId: 's', seq: 9, at: 0, agentId: 'a' });
    expect(toEnvelopeProblems(head)).toStrictEqual([]);
    expect(head).toStrictEqual({
      event: 'agent.head',
      timestamp: '1970-01-01T00:00:00.000Z',
      session_id: 's',
      agent_id: 'a',
      part: 1,
      data: { seq: 9 },
    });
  });

  it('text of an open step comes as chunks, and goes by voids', () => {
    const mapper = createEnvelopeMapper();
    const source = {
      sessionId: 's',
      agentId: 'a',
      executionId: 's/1',
      orchestrator: 'agent',
      at: 0,
      step: 1,
      attempt: 2,
      isProvisional: true,
    };
    const chunks = mapper.toChunks({ ...source, kind: 'text', text: 'Hi', offset: 3, answer: 2 });
    const voids = [mapper.toVoid(source), mapper.toVoid({ ...source, answer: 2 })];
    expect([...chunks, ...voids].flatMap(toEnvelopeProblems)).toStrictEqual([]);
    expect(chunks[0]).toMatchObject({
      provisional: true,
      attempt: 2,
      data: { text: 'Hi', step_number: 1, attempt: 2, answer: 2, offset: 3 },
    });
    expect(voids.map(({ data }) => data)).toStrictEqual([
      { step_number: 1, scope: 'attempt', attempt: 2 },
      { step_number: 1, scope: 'text', attempt: 2, answer: 2 },
    ]);
  });
});
