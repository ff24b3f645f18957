import { describe, expect, it } from 'vitest';
import type { Envelope, EventEnvelope } from '../broadcasting/index.ts';
import type { JsonObject } from '../lib/index.ts';
import type { AgentView } from './index.ts';
import { createView, fillGap, fillPayload, reconcile, reduce, reduceAll } from './index.ts';

let clock = 0;
const tick = (): string => new Date(Date.UTC(2026, 0, 16) + (clock += 1)).toISOString();
const by = { id: 'ann', kind: 'user' };
const header = { agent_id: 'a', session_id: 's', execution_id: 's/1', orchestrator: 'agent', part: 1 } as const;

/** A stored envelope. */
const at = (seq: number, event: string, data: JsonObject, more: Partial<EventEnvelope> = {}): EventEnvelope => ({
  event: `agent.${event}`,
  timestamp: tick(),
  ...header,
  seq,
  prev_seq: seq - 1,
  data,
  ...more,
});

/** An envelope that is not stored yet. */
function open(event: string, data: JsonObject, more: Partial<EventEnvelope> = {}): EventEnvelope {
  const { seq: _seq, prev_seq: _prev, ...rest } = at(0, event, data);
  return { ...rest, provisional: true, attempt: 1, index: 0, ...more };
}

const view = (...envelopes: readonly Envelope[]): AgentView => reduceAll(createView('s'), envelopes);
const head = (seq: number): Envelope => ({ event: 'agent.head', timestamp: tick(), session_id: 's', part: 1, data: { seq } });

const call = { tool: 'pay', tool_call_id: 'c1', step_number: 1, args_summary: 'amount: 5' };
const completed = { ...call, success: true, status: 'succeeded', error: null, duration_ms: 7, result_summary: '{"paid":5}' };
const step = { step_number: 1, usage: { input: 3, output: 2, total: 5 }, duration_ms: 9, has_tool_calls: true, error_count: 0 };
const user = { message_id: 'm1', role: 'user', text: 'Pay Bob.', by };
const spoken = { message_id: 'm2', role: 'assistant', text: 'Paying.', by: { id: 'desk', kind: 'agent' }, step_number: 1 };
const stopped = { status: 'stopped', stop_reason: 'steps_limit', resolved_by: 'StepsLimit', sentence: '4 of 4 steps used.', step_count: 4 };
const failed = {
  status: 'failed',
  stop_reason: 'error',
  resolved_by: 'ErrorPolicyCriterion',
  sentence: 'The policy stops the run.',
  step_count: 1,
};
const chunk = (text: string, offset: number, more: JsonObject = {}): EventEnvelope =>
  open('stream.chunk', { text, step_number: 1, attempt: 1, offset, ...more });

describe('the decision after a step', () => {
  it('names a step in which a process ended', () => {
    const after = { ...step, continuation: { should_continue: true, stop_reason: null, resolved_by: 'StepsLimit' } };
    const { why } = view(
      at(1, 'step.started', { step_number: 1 }),
      at(2, 'step.completed', after),
      at(3, 'step.started', { step_number: 2, resumed: true }),
      at(4, 'step.completed', { ...after, step_number: 2 }),
    );
    expect(why.steps.map(({ step_number, resumed }) => [step_number, resumed])).toEqual([
      [1, undefined],
      [2, true],
    ]);
  });
});

describe('each kind of envelope', () => {
  it.each<[string, readonly Envelope[], readonly object[]]>([
    [
      'agent.message of a user',
      [at(1, 'message', { ...user, attachments: 2 })],
      [{ role: 'user', text: 'Pay Bob.', by, attachments: 2 }, { status_type: 'thinking' }],
    ],
    ['agent.message of an agent', [at(1, 'message', spoken)], [{ id: 's/1/1', role: 'assistant', text: 'Paying.', message_id: 'm2' }]],
    ['agent.message of an agent inside another', [at(1, 'message', spoken, { parent_agent_id: 'b' })], []],
    ['agent.step.started', [at(1, 'step.started', { step_number: 1 })], []],
    ['agent.step.completed', [at(1, 'step.completed', step)], []],
    [
      'agent.step.completed with a text that broke off',
      [at(1, 'message', spoken, { parts: 2 }), at(1, 'step.completed', { ...step, interrupted: 'stopped' }, { part: 2, parts: 2 })],
      [{ role: 'assistant', interrupted: 'stopped' }],
    ],
    [
      'agent.tool.started',
      [at(1, 'tool.started', call)],
      [{ role: 'tool', tool_call_id: 'c1', tool_name: 'pay', tool_status: 'running', text: 'pay is running' }],
    ],
    [
      'agent.tool.progress',
      [at(1, 'tool.started', call), open('tool.progress', { ...call, progress: 0.5 })],
      [{ role: 'tool', tool_status: 'running', tool_progress: 0.5 }],
    ],
    [
      'agent.tool.completed',
      [at(1, 'tool.started', call), at(2, 'tool.completed', completed)],
      [{ role: 'tool', text: 'pay is done', tool_result: '{"paid":5}', tool_duration_ms: 7 }],
    ],
    [
      'agent.tool.completed with an error',
      [at(1, 'tool.completed', { ...completed, success: false, status: 'failed', error: 'No money.' })],
      [{ role: 'tool', text: 'pay failed', tool_error: 'No money.', tool_status: 'failed' }],
    ],
    [
      'agent.tool.blocked',
      [at(1, 'tool.blocked', { ...call, hook: 'guard', reason: 'Not on Sundays.' })],
      [{ role: 'tool', tool_status: 'blocked', tool_error: 'Not on Sundays.' }],
    ],
    [
      'agent.tool.approval_requested',
      [at(1, 'tool.approval_requested', { ...call, wait_id: 'c1', digest: 'd', hidden_fields: ['memo'] })],
      [{ role: 'tool', tool_status: 'waiting', approval: { wait_id: 'c1', digest: 'd', hidden_fields: ['memo'], status: 'open' } }],
    ],
    [
      'agent.wait.resolved',
      [
        at(1, 'tool.approval_requested', { ...call, wait_id: 'c1', hidden_fields: [] }),
        at(2, 'wait.resolved', {
          wait_id: 'c1',
          wait_type: 'approval',
          decision: 'rejected',
          by,
          at: '2026',
          reason: 'No.',
          edited: false,
        }),
      ],
      [{ role: 'tool', tool_status: 'rejected', approval: { status: 'rejected', by, reason: 'No.' } }],
    ],
    [
      'agent.retry',
      [at(1, 'retry', { step_number: 1, delay_ms: 200, attempt: 1, max_attempts: 3, error_type: 'rate_limit', sentence: 'Retrying.' })],
      [{ role: 'status', status_type: 'error', text: 'Retrying.', retry: { attempt: 1, max_attempts: 3, delay_ms: 200 } }],
    ],
    [
      'agent.model_fallback',
      [at(1, 'model_fallback', { step_number: 1, from: 'x', to: 'y', sentence: 'x is down.' })],
      [{ role: 'status', status_type: 'info', text: 'x is down.' }],
    ],
    [
      'agent.error',
      [at(1, 'error', { code: 'crash-loop', sentence: 'The process ended.' })],
      [{ role: 'status', status_type: 'error', text: 'The process ended.' }],
    ],
    [
      'agent.error with the status that says how the run failed',
      [
        at(1, 'error', { code: 'model-refused', sentence: '401 wrong key' }),
        at(2, 'status', { ...failed, failure: '401 wrong key.', context: { cause: 'not-retryable' } }),
      ],
      [{ status_type: 'error', text: 'Failed: 401 wrong key (a retry cannot fix it).' }],
    ],
    [
      'agent.status after too many failures',
      [at(1, 'status', { ...failed, failure: '503', context: { cause: 'retries-used-up', consecutiveFailures: 3, maxRetries: 3 } })],
      [{ status_type: 'error', text: 'Failed: 503 (failure 3 in a row, limit 3).', continuation: { stop_reason: failed.stop_reason } }],
    ],
    [
      'agent.status after a failure, for another reason',
      [at(1, 'status', { ...failed, sentence: 'The provider asked for a 600 s wait. Not retried.', failure: '429' })],
      [{ status_type: 'error', text: 'Failed: 429. The provider asked for a 600 s wait. Not retried.' }],
    ],
    [
      'agent.step.started after a process ended in the step',
      [at(1, 'step.started', { step_number: 1, resumed: true }), at(2, 'message', spoken)],
      [{ status_type: 'info', text: 'The worker ended; another one took over and resumed step 1.' }, { text: 'Paying.' }],
    ],
    [
      'agent.wait.resolved by a message: the call is given up, not rejected',
      [
        at(1, 'tool.approval_requested', { ...call, wait_id: 'w' }),
        at(2, 'wait.resolved', { wait_id: 'w', decision: 'superseded', by }),
        at(3, 'tool.completed', { ...completed, success: false, status: 'rejected', error: 'Not run.' }),
      ],
      [{ tool_status: 'superseded', text: 'pay was given up for a new message' }],
    ],
    ['agent.stream.chunk', [chunk('Hel', 0), chunk('lo', 3)], [{ role: 'assistant', text: 'Hello', provisional: true }]],
    [
      'agent.stream.chunk with reasoning',
      [open('stream.chunk', { reasoning: 'Hm.', step_number: 1, attempt: 1, offset: 0 })],
      [{ role: 'assistant', text: '', reasoning: 'Hm.' }],
    ],
    ['agent.stream.void', [chunk('Hello', 0), open('stream.void', { step_number: 1, scope: 'attempt', attempt: 1 })], []],
    ['agent.continuation', [at(1, 'continuation', { step_number: 1, should_continue: true, stop_reason: null, resolved_by: 'X' })], []],
    [
      'agent.status when a limit was reached',
      [at(1, 'status', { ...stopped, context: { currentSteps: 4, maxSteps: 4 } })],
      [
        {
          role: 'status',
          status_type: 'continuation',
          text: 'Stopped: the step limit was reached (4 of 4)',
          continuation: { should_continue: false, stop_reason: 'steps_limit', resolved_by: 'StepsLimit' },
        },
      ],
    ],
    [
      'agent.status when a person stopped it',
      [at(1, 'status', { status: 'stopped', stop_reason: 'user_requested', sentence: 'Cancelled by ann.' })],
      [{ text: 'Stopped: cancelled by ann.' }],
    ],
    [
      'agent.status when a person who is known stopped it',
      [
        at(1, 'status', { status: 'stopped', stop_reason: 'user_requested', sentence: 'Cancelled.', context: { person: 'ann' } }),
        at(2, 'status', { status: 'stopped', stop_reason: 'user_requested', sentence: 'Too slow.', context: { person: 'bob' } }),
      ],
      [{ text: 'Stopped by ann.' }, { text: 'Stopped by bob: too slow.' }],
    ],
    [
      'agent.status when a person pressed Stop on the page',
      [
        at(1, 'status', {
          status: 'stopped',
          stop_reason: 'user_requested',
          sentence: 'The person pressed Stop.',
          context: { person: 'ann' },
        }),
      ],
      [{ text: 'Stopped by ann.' }],
    ],
    [
      'agent.status when it failed',
      [at(1, 'status', { status: 'failed', stop_reason: 'error', sentence: 'Failed after step 1: no network.' })],
      [{ text: 'Failed after step 1: no network.' }],
    ],
    ['agent.status when it completed', [at(1, 'status', { status: 'completed', stop_reason: 'completed', sentence: 'Done.' })], []],
    [
      'agent.status when it waits for an approval',
      [at(1, 'status', { status: 'waiting', waiting_for: [{ wait_id: 'c', tool: 'pay' }] })],
      [],
    ],
    [
      'agent.status when it waits for a grant',
      [at(1, 'status', { status: 'waiting', sentence: 'Paused.', waiting_for: [{ wait_id: 'g', type: 'grant', limit: 'steps' }] })],
      [{ status_type: 'info', text: 'Paused: the step limit was reached.' }],
    ],
    [
      'agent.status when somebody granted more',
      [at(1, 'status', { status: 'in_progress', sentence: 'Ann granted 2 steps.', by, granted: { steps: 2 } })],
      [{ status_type: 'info', text: 'Ann granted 2 steps.', by }, { status_type: 'thinking' }],
    ],
    ['agent.status when it starts', [at(1, 'status', { status: 'in_progress', sentence: 'Started.' })], [{ status_type: 'thinking' }]],
    ['agent.head', [head(0)], []],
    ['an event of the host', [at(1, 'order_shipped', { order: 7 })], []],
  ])('%s', (_name, envelopes, messages) => {
    const seen = view(...envelopes);
    expect(seen.messages).toMatchObject(messages);
    expect(seen.messages).toHaveLength(messages.length);
    expect(seen.gaps).toEqual([]);
  });
});

describe('a step', () => {
  it('shows its words before the calls that they announce', () => {
    const seen = view(at(1, 'tool.started', call), at(2, 'tool.completed', completed), at(3, 'message', spoken));
    expect(seen.messages.map(({ role }) => role)).toEqual(['assistant', 'tool']);
    expect(seen.messages[0]).toMatchObject({ tool_calls: [{ id: 'c1', name: 'pay', args_summary: 'amount: 5' }] });
  });

  it('shows no words that are the JSON of a call', () => {
    expect(view(at(1, 'tool.started', call), at(2, 'message', { ...spoken, text: '{"amount":5}' })).messages).toHaveLength(1);
    expect(view(chunk('```json\n[{"amount"', 0)).messages).toEqual([]);
    expect(view(at(1, 'message', { ...spoken, text: '{"answer":42}' })).messages).toMatchObject([{ text: '{"answer":42}' }]);
  });

  it('keeps the id of words when they are stored', () => {
    const seen = view(chunk('Pay', 0));
    expect(seen.messages.map(({ id }) => id)).toEqual(reduce(seen, at(1, 'message', spoken)).messages.map(({ id }) => id));
  });

  it('keeps the objects of messages that have not changed', () => {
    const before = view(at(1, 'message', user), at(2, 'status', { status: 'in_progress' }), at(3, 'tool.started', call));
    const after = reduce(before, at(4, 'step.started', { step_number: 2 }));
    expect(after).not.toBe(before);
    expect(after.messages[0]).toBe(before.messages[0]);
    expect(after.messages[1]).toBe(before.messages[1]);
  });
});

describe('calls inside calls', () => {
  const outer = at(1, 'tool.started', { ...call, tool: 'ask_helper', tool_call_id: 'a/b' });
  const inside = { parent_agent_id: 'a', agent_id: 'b', execution_id: 's/1/1/a%2Fb/1/4' };
  const inner = at(2, 'tool.started', { ...call, tool: 'ask_other', tool_call_id: 'c2', step_number: 3 }, inside);
  const innermost = at(3, 'tool.started', call, { ...inside, execution_id: 's/1/1/a%2Fb/1/4/3/c2/1/2' });

  it('name the call that they happened inside, and how deep that is', () => {
    const [first, second, third] = view(outer, inner, innermost).messages;
    expect(first).not.toHaveProperty('depth');
    expect(second).toMatchObject({ parent_id: first?.id, parent_tool_call_id: 'a/b', depth: 1 });
    expect(third).toMatchObject({ parent_id: second?.id, parent_tool_call_id: 'c2', depth: 2 });
  });

  it('are not those of a participant that takes its turn', () => {
    const turn = { parent_agent_id: 'a', participant: 'clerk', execution_id: 's/1/1/clerk/1/4' };
    const [own] = view(at(1, 'tool.started', call, turn)).messages;
    expect(own).not.toHaveProperty('depth');
    const [deep] = view(at(1, 'tool.started', call, { ...turn, execution_id: 's/1/1/clerk/1/4/2/c9/1/3' })).messages;
    expect(deep).toMatchObject({ parent_tool_call_id: 'c9', depth: 1, parent_id: 's/1/1/clerk/1/4/2/c9' });
  });
});

describe('open envelopes', () => {
  const first = [open('step.started', { step_number: 1 }), open('tool.started', call, { index: 1 }), chunk('One', 0)];
  const second = [open('step.started', { step_number: 1 }, { attempt: 2 }), chunk('Two', 0, { attempt: 2 })];

  it.each([
    ['in order', [...first, ...second]],
    ['in the other order', [...second, ...first]],
  ])('of an attempt disappear with a later one: %s', (_name, envelopes) => {
    expect(view(...envelopes).messages).toMatchObject([{ text: 'Two' }]);
  });

  it.each([
    ['in order', [chunk('One', 0), chunk('Two', 0, { answer: 2 })]],
    ['in the other order', [chunk('Two', 0, { answer: 2 }), chunk('One', 0)]],
  ])('of an answer disappear with a later one: %s', (_name, envelopes) => {
    expect(view(...envelopes).messages).toMatchObject([{ text: 'Two' }]);
  });

  it('of an answer disappear when it is taken back, and nothing else does', () => {
    const taken = open('stream.void', { step_number: 1, scope: 'text', attempt: 1, answer: 1 });
    expect(view(...first, taken).messages).toMatchObject([{ role: 'tool' }]);
    expect(view(taken, chunk('Two', 0, { answer: 2 })).messages).toMatchObject([{ text: 'Two' }]);
  });

  it('that are sent again after they were taken back count', () => {
    const taken = [chunk('One', 0), open('stream.void', { step_number: 1, scope: 'attempt', attempt: 1 })];
    expect(view(...taken).messages).toEqual([]);
    expect(view(...taken, chunk('One', 0)).messages).toMatchObject([{ text: 'One' }]);
  });

  it('give way to the record of their step', () => {
    const stored = [at(1, 'message', spoken), at(2, 'step.completed', step)];
    expect(view(...first, ...stored)).toMatchObject({ messages: [{ role: 'assistant', text: 'Paying.', message_id: 'm2' }] });
    expect(view(...stored, ...first).messages).toEqual(view(...first, ...stored).messages);
  });

  it('of a step that has waited count under a lower attempt again', () => {
    const before = [
      open('tool.started', call, { attempt: 3 }),
      open('stream.void', { step_number: 1, scope: 'attempt', attempt: 3 }, { attempt: 3 }),
    ];
    const waits = at(1, 'status', { status: 'waiting', waiting_for: [{ wait_id: 'c1', tool: 'pay' }] });
    const after = open('tool.started', { ...call, tool_call_id: 'c2' });
    expect(view(...before, waits, after).messages).toMatchObject([{ tool_call_id: 'c2' }]);
    expect(view(after, waits, ...before).messages).toMatchObject([{ tool_call_id: 'c2' }]);
  });

  it('of a step that waits give way to its words, though they were sent after it began to wait', () => {
    const late = chunk('Paying.', 0, {});
    const waits = [at(1, 'message', spoken), at(2, 'status', { status: 'waiting', sentence: 'Waits.', waiting_for: [] })];
    for (const each of [view(late, ...waits), view(...waits, { ...late, timestamp: tick() })]) {
      expect(each.status).toBe('waiting');
      expect(each.messages.map(({ id, provisional }) => [id, provisional])).toEqual([['s/1/1', undefined]]);
    }
  });

  it('from before a wait do not mix with those after it, whatever comes first', () => {
    const before = [chunk('Let me think', 0), open('tool.started', call, { attempt: 2 })];
    const waits = at(1, 'status', { status: 'waiting', waiting_for: [{ wait_id: 'c1', tool: 'pay' }] });
    const after = [chunk('Do', 0), chunk('ne.', 2)];
    const expected = view(...before, waits, ...after).messages;
    expect(expected).toMatchObject([{ text: 'Done.' }]);
    for (const order of [
      [...after, ...before, waits],
      [after[1]!, before[0]!, waits, after[0]!, before[1]!],
      [waits, ...after.toReversed(), ...before],
    ]) {
      expect(view(...order).messages).toEqual(expected);
      expect(order.reduce(reduce, createView('s')).messages).toEqual(expected);
    }
  });

  it('of runs inside a step disappear with it', () => {
    const inner = open('tool.started', call, { parent_agent_id: 'a', agent_id: 'b', execution_id: 's/1/1/x' });
    const done = at(1, 'step.completed', step);
    expect(view(inner).messages).toMatchObject([{ parent_agent_id: 'a', tool_name: 'pay' }]);
    expect(view(inner, done).messages).toEqual([]);
    expect(view(done, inner).messages).toEqual([]);
  });
});

describe('approvals', () => {
  const request = at(1, 'tool.approval_requested', { ...call, wait_id: 'c1', digest: 'd', hidden_fields: [] });
  const waits = at(2, 'status', { status: 'waiting', waiting_for: [{ wait_id: 'c1', type: 'approval', tool: 'pay' }] });
  const resolved = at(3, 'wait.resolved', { wait_id: 'c1', wait_type: 'approval', decision: 'approved', by, at: '2026', edited: true });

  it('are open until they are decided', () => {
    const seen = view(request, waits);
    expect(seen).toMatchObject({ status: 'waiting', waits: [{ wait_id: 'c1', type: 'approval', tool: 'pay', digest: 'd' }] });
    expect(reduce(seen, resolved)).toMatchObject({ waits: [], messages: [{ approval: { status: 'approved', edited: true, by } }] });
  });

  it.each([
    ['in order', [request, waits, resolved]],
    ['the decision first', [resolved, request, waits]],
    ['the request last', [waits, resolved, request]],
    ['all of it again', [request, waits, resolved, request, waits]],
    ['the open request again', [resolved, { ...request, seq: undefined, provisional: true, attempt: 1 } as unknown as Envelope]],
  ])('are not opened again by a replay: %s', (_name, envelopes) => {
    expect(view(...envelopes).waits).toEqual([]);
  });

  it('are open again if the same call is asked about later', () => {
    const again = at(4, 'tool.approval_requested', { ...call, wait_id: 'c1', digest: 'd2', hidden_fields: [] });
    expect(view(request, waits, resolved, again).waits).toMatchObject([{ wait_id: 'c1', digest: 'd2' }]);
  });

  it('get their digest from whoever knows it', () => {
    const { digest: _, ...data } = request.data;
    expect(view({ ...request, data }, waits, request).waits).toMatchObject([{ digest: 'd' }]);
    expect(view(request, waits, { ...request, data }).waits).toMatchObject([{ digest: 'd' }]);
  });

  it('are listed in the order in which they were asked for', () => {
    const ask = (seq: number, id: string) =>
      at(seq, 'tool.approval_requested', { ...call, tool_call_id: id, wait_id: id, hidden_fields: [] });
    const [first, second] = [ask(1, 'c1'), ask(2, 'c2')];
    expect(view(second, first).waits.map(({ wait_id }) => wait_id)).toEqual(['c1', 'c2']);
    const [one, other] = [
      open('tool.approval_requested', first.data, { index: 1 }),
      open('tool.approval_requested', second.data, { index: 2 }),
    ];
    expect(view(other, one).waits.map(({ wait_id }) => wait_id)).toEqual(['c1', 'c2']);
  });

  it('are over when the run has ended', () => {
    expect(view(request, at(2, 'status', stopped)).waits).toEqual([]);
  });
});

describe('gaps', () => {
  it('are named, and gone once they are filled', () => {
    const seen = view(at(1, 'message', user), at(5, 'status', stopped, { prev_seq: 3 }), head(8));
    expect(seen.gaps).toEqual([
      { type: 'events', after_seq: 1, to_seq: 3 },
      { type: 'events', after_seq: 5, to_seq: 8 },
    ]);
    expect(seen.known_seq).toBe(1);
    const [first, second] = seen.gaps;
    if (first?.type !== 'events' || second?.type !== 'events') throw new Error('There are other gaps.');
    const filled = fillGap(fillGap(seen, first, [at(2, 'step.completed', step), at(3, 'error', { sentence: 'x' })]), second, []);
    expect(filled).toMatchObject({ gaps: [], known_seq: 8, usage: { total: 5 } });
  });

  it('are named if a part of an event is missing', () => {
    const parts = [at(1, 'message', spoken, { parts: 2 }), at(1, 'step.completed', step, { part: 2, parts: 2 })];
    for (const part of parts) expect(view(part).gaps).toEqual([{ type: 'events', after_seq: 0, to_seq: 1 }]);
    expect(view(...parts).gaps).toEqual([]);
  });

  it('are named if a chunk is missing, and no text after it is shown', () => {
    const seen = view(chunk('One ', 0), chunk('three', 8));
    expect(seen.gaps).toMatchObject([{ type: 'text', step_number: 1, attempt: 1, kind: 'text', from: 4, to: 8 }]);
    expect(seen.messages).toMatchObject([{ text: 'One ' }]);
    expect(reduce(seen, chunk('two ', 4))).toMatchObject({ gaps: [], messages: [{ text: 'One two three' }] });
    expect(reduce(seen, chunk('One two three', 0))).toMatchObject({ gaps: [], messages: [{ text: 'One two three' }] });
  });

  it('are named if the text of a message was cut', () => {
    const cut = { message_id: 'm2', role: 'assistant', step_number: 1, cut: ['text'], bytes: 9000, ref: { seq: 1, part: 1 } };
    const seen = view(at(1, 'message', cut));
    expect(seen.gaps).toEqual([{ type: 'payload', seq: 1, part: 1 }]);
    expect(fillPayload(seen, { type: 'payload', seq: 1, part: 1 }, spoken)).toMatchObject({ gaps: [], messages: [{ text: 'Paying.' }] });
  });

  it('are named if the sender does not know what came before', () => {
    const { prev_seq: _, ...envelope } = at(4, 'status', stopped);
    expect(view(envelope).gaps).toEqual([{ type: 'events', after_seq: 0, to_seq: 3 }]);
  });
});

describe('a view', () => {
  it('stays the same for an envelope that says nothing new', () => {
    const envelopes = [at(1, 'message', user), chunk('Hi', 0), open('tool.started', call), head(1)];
    const seen = view(...envelopes);
    for (const envelope of envelopes) expect(reduce(seen, envelope)).toBe(seen);
    expect(reduce(seen, { ...at(2, 'message', user), session_id: 'another' })).toBe(seen);
  });

  it('adds up usage and durations of the session’s own steps', () => {
    const inner = at(3, 'step.completed', step, { parent_agent_id: 'a', execution_id: 'x' });
    const steps = [at(2, 'step.completed', step), inner, at(4, 'step.completed', { ...step, step_number: 2 })];
    expect(view(at(1, 'status', { status: 'in_progress' }), ...steps, ...steps)).toMatchObject({
      usage: { input: 6, output: 4, total: 10 },
      clocks: { step_count: 2, duration_ms: 18 },
      status: 'in_progress',
    });
  });

  it('shows the evaluations of each step as meters', () => {
    const evaluation = (criterion: string, context: JsonObject) => ({ criterion, decision: 'allow', reason: 'ok', context });
    const evaluations = [
      evaluation('StepsLimit', { currentSteps: 12, maxSteps: 20 }),
      evaluation('TokenUsageLimit', { currentUsage: 31_000, maxTokens: 500_000 }),
      evaluation('Own', { value: 1, limit: 2 }),
      evaluation('Other', { hasToolCalls: true }),
    ];
    const data = { step_number: 1, should_continue: true, stop_reason: null, resolved_by: 'X', evaluations };
    const { why } = view(at(1, 'continuation', data));
    expect(why.steps).toMatchObject([{ step_number: 1, should_continue: true, resolved_by: 'X' }]);
    expect(why.steps[0]?.evaluations.map(({ meter }) => meter)).toEqual([
      { value: 12, limit: 20, unit: 'steps' },
      { value: 31_000, limit: 500_000, unit: 'tokens' },
      { value: 1, limit: 2 },
      undefined,
    ]);
  });

  it('says why the run has stopped', () => {
    const { why } = view(at(1, 'status', { ...stopped, context: { currentSteps: 4, maxSteps: 4 } }));
    expect(why).toMatchObject({
      sentence: 'Stopped: the step limit was reached (4 of 4)',
      stop_reason: 'steps_limit',
      resolved_by: 'StepsLimit',
      meter: { value: 4, limit: 4, unit: 'steps' },
    });
  });

  it.each<[string, JsonObject, readonly object[]]>([
    [
      'a cancel',
      { status: 'stopped', stop_reason: 'user_requested', context: { by: 'request', person: 'ann' } },
      [{ id: 'ann', action: 'cancelled' }],
    ],
    ['a cancel that is under way', { status: 'in_progress', cancel_requested: true, by }, [{ id: 'ann', action: 'cancelled' }]],
    [
      'a limit that was raised before',
      { ...stopped, context: { currentSteps: 6, maxSteps: 6, granted: 2, grantedBy: ['bob'] } },
      [{ id: 'bob', action: 'granted' }],
    ],
    ['a grant', { status: 'in_progress', granted: { steps: 2 }, by }, [{ id: 'ann', action: 'granted' }]],
    ['a refusal', { ...stopped, grant_refused: { reason: 'Enough.', by: 'bob' } }, [{ id: 'bob', action: 'refused' }]],
    ['a rule alone', stopped, []],
  ])('names the people behind %s', (_name, data, people) => {
    expect(view(at(1, 'status', { sentence: 'x', ...data })).why.people).toEqual(people);
  });

  it.each<[string, JsonObject, string | undefined]>([
    [
      'stopped',
      { ...stopped, next: 'Raise limits.steps if the work needs more steps.' },
      'Raise limits.steps if the work needs more steps.',
    ],
    [
      'waits for an approval',
      { status: 'waiting', waiting_for: [{ wait_id: 'c', type: 'approval', tool: 'pay' }] },
      'Approve or reject pay.',
    ],
    [
      'waits for a client',
      { status: 'waiting', waiting_for: [{ wait_id: 'c', type: 'client-tool', tool: 'ask' }] },
      'Answer with the output of ask.',
    ],
    [
      'waits for a grant',
      { status: 'waiting', waiting_for: [{ wait_id: 'g', type: 'grant', limit: 'steps' }] },
      'Grant more, or end here.',
    ],
    ['waits for a person', { status: 'waiting', waiting_for: [{ wait_id: 'p', type: 'person' }] }, 'Answer the question.'],
    ['is done', { status: 'completed', stop_reason: 'completed' }, undefined],
  ])('says what to do about a run that %s', (_name, data, next) => {
    expect(view(at(1, 'status', { sentence: 'x', ...data })).why.next).toBe(next);
  });

  it.each<[string, readonly JsonObject[], string]>([
    ['approval', [{ wait_id: 'call-7', type: 'approval', tool: 'pay' }], 'Waiting for approval of pay.'],
    [
      'several things',
      [
        { wait_id: 'call-7', type: 'approval', tool: 'pay' },
        { wait_id: 'call-8', type: 'client-tool', tool: 'locate' },
      ],
      'Waiting for approval of pay and the output of locate.',
    ],
    ['a participant', [{ wait_id: 'p', type: 'person', participant: 'Bob' }], 'Waiting for an answer from Bob.'],
    ['a provider', [{ wait_id: 'provider', type: 'provider' }], 'Run waits.'],
  ])('says without ids that it waits for %s', (_name, waiting_for, sentence) => {
    expect(view(at(1, 'status', { status: 'waiting', sentence: 'Run waits.', waiting_for })).why.sentence).toBe(sentence);
  });

  it('says which limit it waits at, with its numbers and the rule that decided', () => {
    const context = { currentSteps: 1, maxSteps: 1 };
    const evaluations = [{ criterion: 'StepsLimit', decision: 'forbid', reason: '1 of 1', context }];
    const { why } = view(
      at(1, 'continuation', { step_number: 1, should_continue: false, stop_reason: 'steps_limit', resolved_by: 'StepsLimit', evaluations }),
      at(2, 'status', { status: 'waiting', sentence: 'Run waits.', waiting_for: [{ wait_id: 'g', type: 'grant', limit: 'steps' }] }),
    );
    expect(why).toMatchObject({
      sentence: 'Waiting: the step limit is reached (1 of 1).',
      resolved_by: 'StepsLimit',
      meter: { value: 1, limit: 1, unit: 'steps' },
    });
  });

  it('advises nothing about an end once the run continues', () => {
    const ended = view(at(1, 'status', { ...stopped, next: 'Raise limits.steps.' }));
    expect(reduce(ended, at(2, 'message', user)).why.next).toBeUndefined();
  });

  it('takes a snapshot until newer envelopes come', () => {
    const snapshot = { session_id: 's', status: 'waiting', last_seq: 2, waiting_for: [{ wait_id: 'c1', type: 'approval', digest: 'd' }] };
    const seen = reconcile(view(at(1, 'message', user)), snapshot);
    expect(seen).toMatchObject({ status: 'waiting', waits: [{ wait_id: 'c1', digest: 'd' }], gaps: [{ after_seq: 1, to_seq: 2 }] });
    expect(reduce(seen, at(2, 'status', stopped))).toMatchObject({ status: 'stopped', waits: [], gaps: [] });
    expect(reconcile(seen, { ...snapshot, last_seq: 1 })).toBe(seen);
  });
});
