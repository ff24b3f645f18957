import { describe, expect, test } from 'vitest';
import { Message, Usage } from '../messages/index.ts';
import type { Step } from '../step-by-step/index.ts';
import { replaceOutput, findMessageProblem, findOutputProblem } from './step-output.ts';

const call = { type: 'tool-call', toolCallId: 'c', toolName: 'look', args: { at: 1 } } as const;
const answer = Message.assistant([{ type: 'reasoning', text: 'Hm.' }, { type: 'text', text: 'I look.' }, call], { id: 'a' });
const result = Message.tool({ toolCallId: 'c', toolName: 'look', output: { type: 'text', value: 'seen' } }, { id: 't' });
const step: Step = { id: 's', outputMessages: [answer, result], usage: Usage.none(), errors: [] };

describe('other output for a step', () => {
  test.each<[string, unknown, RegExp | undefined]>([
    ['words', 'I look twice.', undefined],
    ['the same messages and one more', [answer, result, Message.user('Again.')], undefined],
    ['a number', 5, /must be a string or a list of messages/],
    ['an empty list', [], /at least one Message/],
    ['things that are no messages', [{ role: 'user' }], /instances of Message/],
    ['messages without the result', [answer], /keep all tool calls and their results/],
    [
      'messages with another result',
      [answer, Message.tool({ toolCallId: 'c', toolName: 'look', output: { type: 'text', value: 'x' } })],
      /keep all tool calls/,
    ],
    [
      'a file that no model can read',
      [answer, result, Message.user({ type: 'file', url: 'report', mediaType: 'application/pdf' })],
      /\[2\]\.parts\[0\]\.url must be a URL, not "report"/,
    ],
  ])('as %s', (_, output, problem) => {
    const found = findOutputProblem(step, output);
    if (problem === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(problem);
  });

  test('as words takes the place of the words and the reasoning of the last answer, and of nothing else', () => {
    const changed = replaceOutput(step, 'I look twice.').outputMessages;
    expect([changed[0]?.text, changed[0]?.reasoning, changed[0]?.toolCalls.length, changed[0]?.id]).toStrictEqual([
      'I look twice.',
      '',
      1,
      'a',
    ]);
    expect(changed[1]).toBe(result);
  });

  test('as words needs words to take the place of', () => {
    expect(findOutputProblem({ ...step, outputMessages: [result] }, 'x')).toMatch(/has no text/);
  });

  test('is a list of messages', () => {
    expect([findMessageProblem([answer]), findMessageProblem('x')]).toStrictEqual([undefined, 'must be a list with at least one Message.']);
  });
});
