import { describe, expect, test } from 'vitest';
import type { Failure } from '../errors/index.ts';
import type { BaseEvent, EventHeader } from '../events/index.ts';
import type { ToolCall } from '../messages/index.ts';
import type { ToolExecution } from '../tools/index.ts';
import { toCancelledExecution, toRejectedExecution, toSucceededExecution, toSupersededExecution } from '../tools/index.ts';
import {
  InferenceStarted,
  ModelFallback,
  ReasoningDelta,
  TextDelta,
  ToolApprovalRequested,
  ToolCallCompleted,
  ToolCallProgress,
  ToolCallStarted,
} from './index.ts';

const header: EventHeader = { id: 'run-1/3', seq: 3, at: 1_767_225_600_000, agentId: 'agent-1', executionId: 'run-1', stepNumber: 2 };
const room = 'tool-use';
const secretKey = 'sk-abcdefghijklmnop1234';

const call: ToolCall = { id: 'call-1', name: 'login', args: { user: 'ann', password: 'hunter2' } };
const facts = { tool: 'login', toolCallId: 'call-1', args: call.args };
const failure: Failure = { type: 'rate_limit', code: 'rate-limited', message: `busy; key ${secretKey}`, retryable: true };
const timing = { startedAt: 10, durationMs: 12.4 };
const toCompleted = (execution: ToolExecution): ToolCallCompleted => new ToolCallCompleted(header, room, execution);
const failed: ToolExecution = {
  toolCallId: 'call-1',
  toolName: 'login',
  args: call.args,
  status: 'failed',
  failure: { type: 'tool', code: 'error', message: 'no', retryable: true },
  output: { type: 'error', value: `"login" failed: password=hunter2 was refused` },
  startedAt: 10,
  durationMs: 3,
};
const { failure: _, ...withoutFailure } = failed;
const unknown: ToolExecution = { ...withoutFailure, status: 'unknown', output: { type: 'error', value: 'It was interrupted.' } };

const inference = (messageCount: number, tools: readonly string[]): InferenceStarted =>
  new InferenceStarted(header, room, { model: 'acme/one', messageCount, tools });

describe('an event in words', () => {
  test.each<[string, BaseEvent, string]>([
    ['a question', inference(3, ['a', 'b']), 'asks acme/one with 3 messages and 2 tools'],
    ['a question about one message and one tool', inference(1, ['a']), 'asks acme/one with 1 message and 1 tool'],
    ['a question without tools', inference(2, []), 'asks acme/one with 2 messages and 0 tools'],
    ['a piece of text, on one line', new TextDelta(header, room, 'Hello\n"you"'), 'writes "Hello\\n\\"you\\""'],
    ['a piece of thought', new ReasoningDelta(header, room, 'Hm.'), 'thinks "Hm."'],
    ['a call', new ToolCallStarted(header, room, facts), 'calls login {"user":"ann","password":"[redacted]"}'],
    [
      'a call to be agreed to',
      new ToolApprovalRequested(header, room, facts),
      'asks for approval to call login {"user":"ann","password":"[redacted]"} (call-1)',
    ],
    ['progress', new ToolCallProgress(header, room, { ...facts, progress: { done: 2, of: 3 } }), 'login reports {"done":2,"of":3}'],
    [
      'progress with a secret',
      new ToolCallProgress(header, room, { ...facts, progress: { token: 'abc' } }),
      'login reports {"token":"[redacted]"}',
    ],
    [
      'a result, without its value',
      toCompleted(toSucceededExecution(call, { value: { token: 'abc' } }, timing)),
      'login returned after 12 ms',
    ],
    ['a failure, without its secrets', toCompleted(failed), 'login failed after 3 ms: password=[redacted] was refused'],
    ['a refusal', toCompleted(toRejectedExecution(call, 'not today', timing)), 'login was rejected after 12 ms: not today'],
    [
      'a call that was given up',
      toCompleted(toSupersededExecution(call, { startedAt: 0 })),
      'login was rejected after 0 ms: superseded by a new message',
    ],
    ['a cancelled call', toCompleted(toCancelledExecution(call, timing)), 'login was cancelled after 12 ms'],
    ['a call whose end nobody saw', toCompleted(unknown), 'login was cut off after 3 ms: It was interrupted.'],
    [
      'a fallback, without its secrets',
      new ModelFallback(header, room, { from: 'acme/one', to: 'acme/two', failure }),
      'acme/one failed, asks acme/two instead: busy; key [redacted]',
    ],
  ])('%s', (_name, event, words) => {
    expect(event.describe()).toBe(words);
    expect(String(event)).toBe(`Agent [agent-1] step 2: ${words}`);
  });

  // decisions.md, Redaction: one redactor before the log, on by default.
  test.each([new TextDelta(header, room, `The key is ${secretKey}.`), new ReasoningDelta(header, room, `The key is ${secretKey}.`)])(
    '$type does not spell out a key that the model says',
    (event) => {
      expect(event.describe()).toMatch(/^(writes|thinks) "The key is \[redacted\]\."$/);
    },
  );
});

describe('an event as data', () => {
  const common = { ...header, parentAgentId: null, orchestrator: room };

  test.each<[BaseEvent, object]>([
    [inference(3, ['a']), { model: 'acme/one', messageCount: 3, tools: ['a'] }],
    [new TextDelta(header, room, 'Hello'), { text: 'Hello' }],
    [new ReasoningDelta(header, room, 'Hm.'), { text: 'Hm.' }],
    [new ToolCallStarted(header, room, facts), facts],
    [new ToolApprovalRequested(header, room, facts), facts],
    [new ToolCallProgress(header, room, { ...facts, progress: 0.5 }), { ...facts, progress: 0.5 }],
    [
      toCompleted(toSucceededExecution(call, { value: { token: 'abc' } }, timing)),
      { tool: 'login', toolCallId: 'call-1', success: true, status: 'succeeded', durationMs: 12.4, result: { token: 'abc' }, error: null },
    ],
    [
      toCompleted(failed),
      {
        tool: 'login',
        toolCallId: 'call-1',
        success: false,
        status: 'failed',
        durationMs: 3,
        error: '"login" failed: password=hunter2 was refused',
      },
    ],
    [
      toCompleted(toRejectedExecution(call, '', timing)),
      {
        tool: 'login',
        toolCallId: 'call-1',
        success: false,
        status: 'rejected',
        durationMs: 12.4,
        error: 'The call was rejected.',
      },
    ],
    [new ModelFallback(header, room, { from: 'a/1', to: 'a/2', failure }), { from: 'a/1', to: 'a/2', failure }],
  ])('$type is plain JSON with true values', (event, own) => {
    expect(JSON.parse(JSON.stringify(event))).toStrictEqual({ ...common, type: event.type, ...own });
  });

  test('names its parent where there is one', () => {
    expect(JSON.parse(JSON.stringify(new TextDelta({ ...header, parentAgentId: 'boss' }, room, 'x')))).toMatchObject({
      parentAgentId: 'boss',
    });
  });

  test.each(['succeeded', 'failed'])('a call that %s has either a result or an error, not both', (status) => {
    const event = toCompleted(status === 'failed' ? failed : toSucceededExecution(call, { value: null }, timing));
    expect(['result' in event, event.error === null]).toStrictEqual(status === 'failed' ? [false, false] : [true, true]);
  });
});

describe('pieces join', () => {
  const next: EventHeader = { ...header, id: 'run-1/3.2', at: header.at + 5 };

  test.each([
    ['text', new TextDelta(header, room, 'Hel'), new TextDelta(next, room, 'lo')],
    ['thoughts', new ReasoningDelta(header, room, 'Hel'), new ReasoningDelta(next, room, 'lo')],
  ])('%s with the next piece, under the name of the first', (_name, first, second) => {
    const merged = first.merge(second);
    expect(merged).toBeInstanceOf(first.constructor);
    expect(JSON.parse(JSON.stringify(merged))).toStrictEqual({
      ...header,
      parentAgentId: null,
      orchestrator: room,
      type: first.type,
      text: 'Hello',
    });
    expect([first.text, second.text]).toStrictEqual(['Hel', 'lo']);
  });

  test.each<[string, Partial<EventHeader>]>([
    ['of another step', { stepNumber: 3 }],
    ['of another execution', { executionId: 'run-2' }],
  ])('but not with a piece %s', (_name, other) => {
    expect(new TextDelta(header, room, 'a').merge(new TextDelta({ ...next, ...other }, room, 'b'))).toBeUndefined();
    expect(new ReasoningDelta(header, room, 'a').merge(new ReasoningDelta({ ...next, ...other }, room, 'b'))).toBeUndefined();
  });

  test('but text not with thoughts, and neither with anything else', () => {
    const [text, thought] = [new TextDelta(header, room, 'a'), new ReasoningDelta(next, room, 'b')];
    expect([text.merge(thought), thought.merge(text)]).toStrictEqual([undefined, undefined]);
    const started = new ToolCallStarted(next, room, facts);
    expect([text.merge(started), thought.merge(started)]).toStrictEqual([undefined, undefined]);
  });

  test.each<BaseEvent>([
    inference(1, []),
    new ToolCallStarted(header, room, facts),
    new ToolApprovalRequested(header, room, facts),
    new ToolCallProgress(header, room, { ...facts, progress: 1 }),
    toCompleted(failed),
    new ModelFallback(header, room, { from: 'a/1', to: 'a/2', failure }),
  ])('but $type never', (event) => {
    expect(event.merge?.(event)).toBeUndefined();
  });
});
