import { describe, expect, it } from 'vitest';
import { createCountingIds } from '../lib/index.ts';
import { toolResultText } from '../messages/index.ts';
import { toAnsweredExecution } from './answered-execution.ts';
import { defineClientTool } from './define-client-tool.ts';
import {
  toCancelledExecution,
  toFailedExecution,
  toRejectedExecution,
  toSucceededExecution,
  toSupersededExecution,
  toToolMessages,
  toUnknownExecution,
} from './tool-execution.ts';

const call = { id: 'c1', name: 'pay', args: { amount: 5 } };
const timing = { startedAt: 100 };
const base = { toolCallId: 'c1', toolName: 'pay', args: { amount: 5 }, startedAt: 100, durationMs: 0 };

describe('executions', () => {
  it('of a call that was refused tell the reason', () => {
    expect(toRejectedExecution(call, 'too much', { startedAt: 100, durationMs: 7 })).toEqual({
      ...base,
      durationMs: 7,
      status: 'rejected',
      output: { type: 'rejected', reason: 'too much' },
    });
    expect(toSupersededExecution(call, timing)).toEqual({
      ...base,
      status: 'rejected',
      output: { type: 'rejected', reason: 'superseded by a new message' },
    });
  });

  it('of a call that was cut off say whether it may have happened', () => {
    expect(toolResultText(toCancelledExecution(call, timing).output)).toContain('cancelled');
    expect(toolResultText(toUnknownExecution(call, timing).output)).toContain('may or may not have taken effect');
    expect([toCancelledExecution(call, timing).failure, toUnknownExecution(call, timing).failure]).toEqual([undefined, undefined]);
  });

  it('of a call that failed name it, and keep what was thrown at a bearable length', () => {
    const { failure, output } = toFailedExecution(
      call,
      { type: 'tool', code: 'x\uD800', message: '😀'.repeat(10_000), retryable: true },
      timing,
    );
    expect(failure).toMatchObject({ type: 'tool', code: 'x\uFFFD', toolName: 'pay', toolCallId: 'c1', readable: true });
    expect(failure?.message.length).toBeLessThan(4100);
    expect(failure?.message).not.toMatch(/\p{Surrogate}/u);
    expect(output).toEqual({ type: 'error', value: failure?.message });
  });

  it('of a call that gave a value show it: text as text, everything else as JSON', () => {
    const toOutput = (value: string | null | { a: number }) => toSucceededExecution(call, { value }, timing).output;
    expect(toOutput('sunny')).toEqual({ type: 'text', value: 'sunny' });
    expect(toOutput('')).toEqual({ type: 'text', value: '(empty text)' });
    expect(toOutput(null)).toEqual({ type: 'json', value: null });
    expect(toOutput({ a: 1 })).toEqual({ type: 'json', value: { a: 1 } });
  });

  it('keep null for arguments that cannot be stored', () => {
    expect(toCancelledExecution({ ...call, args: new Map() as never }, timing).args).toBeNull();
  });
});

describe('answeredExecution', () => {
  const ask = defineClientTool({
    name: 'pay',
    description: 'A tool.',
    input: {},
    output: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
    toModelOutput: ({ ok }) => (ok ? 'paid' : 'refused'),
  });

  it('takes the answer for the value', async () => {
    expect(await toAnsweredExecution(call, { at: new Date(0) }, timing)).toEqual({
      ...base,
      status: 'succeeded',
      value: { at: '1970-01-01T00:00:00.000Z' },
      output: { type: 'json', value: { at: '1970-01-01T00:00:00.000Z' } },
    });
  });

  it('goes through the output schema and toModelOutput of the tool', async () => {
    expect(await toAnsweredExecution(call, { ok: true }, { ...timing, tool: ask })).toMatchObject({
      status: 'succeeded',
      value: { ok: true },
      output: { type: 'text', value: 'paid' },
    });
  });

  it.each([
    [{}, 'ok: is required'],
    [new Map(), 'is a Map'],
  ])('fails on an answer that cannot be used: %#', async (value, problem) => {
    const execution = await toAnsweredExecution(call, value, { ...timing, tool: ask });
    expect(execution).toMatchObject({ status: 'failed', failure: { type: 'tool' } });
    expect(toolResultText(execution.output)).toContain('The answer to "pay" cannot be used: ');
    expect(toolResultText(execution.output)).toContain(problem);
  });
});

describe('toToolMessages', () => {
  it('makes one tool message per call, in order', () => {
    const executions = [toSucceededExecution(call, { value: 1 }, timing), toRejectedExecution({ ...call, id: 'c2' }, 'no', timing)];
    const messages = toToolMessages(executions, { ids: createCountingIds('m') });
    expect(messages.map((message) => [message.id, message.role, message.toolResults])).toEqual([
      ['m-1', 'tool', [{ toolCallId: 'c1', toolName: 'pay', output: { type: 'json', value: 1 } }]],
      ['m-2', 'tool', [{ toolCallId: 'c2', toolName: 'pay', output: { type: 'rejected', reason: 'no' } }]],
    ]);
    expect(toToolMessages([])).toEqual([]);
  });
});
