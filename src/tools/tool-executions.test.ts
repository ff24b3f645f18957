import { describe, expect, test } from 'vitest';
import { toFailedExecution, toRejectedExecution, toSucceededExecution } from './tool-execution.ts';
import { ToolExecutions } from './tool-executions.ts';

const timing = { startedAt: 0 };
const call = (name: string) => ({ id: name, name, args: {} });
const fine = toSucceededExecution(call('look'), { value: 1 }, timing);
const rejected = toRejectedExecution(call('pay'), 'too dear', timing);
const fail = (name: string) =>
  toFailedExecution(call(name), { type: 'tool', code: 'broken', message: `${name} broke`, retryable: false }, timing);

describe('tool executions', () => {
  test('name the first call that failed', () => {
    const executions = new ToolExecutions([fine, rejected, fail('export'), fail('mail')]);
    expect(executions.hasErrors).toBe(true);
    expect(executions.firstError?.message).toBe('export broke');
    expect(executions.firstErrorToolName).toBe('export');
  });

  test('have no error if every call succeeded or was rejected', () => {
    const executions = new ToolExecutions([fine, rejected]);
    expect([executions.hasErrors, executions.firstError, executions.firstErrorToolName]).toStrictEqual([false, undefined, undefined]);
    expect(new ToolExecutions().hasErrors).toBe(false);
  });

  test('are a list that cannot be changed', () => {
    const source = [fine];
    const executions = new ToolExecutions(source);
    source.push(rejected);
    expect([...executions]).toStrictEqual([fine]);
    expect([executions.length, executions.at(0), executions.at(1)]).toStrictEqual([1, fine, undefined]);
    expect(JSON.stringify(executions)).toBe(JSON.stringify([fine]));
    expect(() => (executions.toArray() as unknown[]).push(fine)).toThrow(TypeError);
  });
});
