import { expect, test } from 'vitest';
import { toFinishReason } from './finish-reason.ts';

test.each([
  ['stop', 'stop'],
  ['end_turn', 'stop'],
  ['COMPLETED', 'stop'],
  ['max_tokens', 'length'],
  ['incomplete', 'length'],
  ['tool-calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['content-filter', 'content_filter'],
  ['refusal', 'content_filter'],
  ['SAFETY', 'content_filter'],
  ['MALFORMED_FUNCTION_CALL', 'error'],
  ['constructor', 'other'],
  ['something new', 'other'],
  ['', undefined],
  [null, undefined],
  [undefined, undefined],
])('the word %j means %s (C59)', (word, reason) => {
  expect(toFinishReason(word)).toBe(reason);
});
