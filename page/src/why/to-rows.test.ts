import { describe, expect, it } from 'vitest';
import type { StepDecision, ViewMessage } from 'stepline/ui';
import { findQuestions, toRows } from './to-rows.ts';

const toStep = (execution_id: string, step_number: number, should_continue = false): StepDecision => ({
  execution_id,
  step_number,
  should_continue,
  stop_reason: should_continue ? null : 'steps_limit',
  resolved_by: 'StepsLimit',
  evaluations: [],
});

const base = { timestamp: '2026-01-16T10:00:00.000Z', agent_id: 'a' };
const ask = (text: string): ViewMessage => ({ ...base, id: text, message_id: text, role: 'user', text, by: { id: 'ann', kind: 'user' } });
const answer = (execution: string, step: number): ViewMessage => ({
  ...base,
  id: `${execution}/${step}`,
  role: 'assistant',
  text: 'Yes.',
  step_number: step,
});

const write = (rows: ReturnType<typeof toRows>): readonly string[] =>
  rows.map((row) => (row.type === 'divider' ? row.text : `${row.step.step_number}${row.isPaused ? ' paused' : ''}`));

describe('the rows of the steps', () => {
  const questions = findQuestions([
    ask('What is 2 and 3?'),
    answer('s/1', 1),
    ask('Wait'),
    answer('s/1', 2),
    ask('And 18'),
    answer('s/2', 1),
  ]);

  it('name the message that each execution answers, newest first', () => {
    const rows = toRows([toStep('s/1', 1, true), toStep('s/1', 2), toStep('s/2', 1)], { questions, isPaused: false });
    expect(write(rows)).toEqual(['After “And 18”', '1', 'After “What is 2 and 3?”', '2', '1']);
  });

  it('have no divider if there was one message', () => {
    expect(write(toRows([toStep('s/1', 1, true), toStep('s/1', 2)], { questions, isPaused: false }))).toEqual(['2', '1']);
  });

  it('say which steps paused the run: the last one while it waits, and those after which it went on', () => {
    expect(write(toRows([toStep('s/1', 1), toStep('s/1', 2)], { questions, isPaused: true }))).toEqual(['2 paused', '1 paused']);
    expect(write(toRows([toStep('s/1', 1), toStep('s/1', 2)], { questions, isPaused: false }))).toEqual(['2', '1 paused']);
  });
});
