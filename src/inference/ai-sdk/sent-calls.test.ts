import { expect, test } from 'vitest';
import type { IdForm } from './call-names.ts';
import { SentCalls } from './sent-calls.ts';

/** Accepts short ids only, and makes the same short ids of all others. */
const narrow: IdForm = { isValid: (id) => id.length <= 2, convert: (_, attempt) => `c${attempt}` };
const add = (calls: SentCalls, toolCallId: string, providerExecuted = false): string =>
  calls.addCall({ type: 'tool-call', toolCallId, toolName: 'look', args: {}, ...(providerExecuted && { providerExecuted }) });
const getResultId = (calls: SentCalls, toolCallId: string): string =>
  calls.getResultId({ type: 'tool-result', toolCallId, toolName: 'look', output: { type: 'text', value: '' } });

test.each<[string, readonly string[], readonly string[]]>([
  ['two ids that are converted alike', ['long-1', 'long-2'], ['c1', 'c2']],
  ['an id that is sent as it is, and one that would be converted to it', ['c1', 'long-1'], ['c1', 'c2']],
  ['a converted id, and one that is the same', ['long-1', 'c1'], ['c1', 'c2']],
])('%s are sent as two (C2)', (_, ids, sent) => {
  const calls = new SentCalls(narrow);
  expect(ids.map((id) => add(calls, id))).toStrictEqual(sent);
  expect(ids.map((id) => getResultId(calls, id))).toStrictEqual(sent);
});

test("a provider's own call keeps its id, which no other is converted to (C4)", () => {
  const calls = new SentCalls(narrow);
  expect([add(calls, 'c1', true), add(calls, 'long-1'), add(calls, 'c1')]).toStrictEqual(['c1', 'c2', 'c1']);
});

test('calls that are taken back leave nothing behind', () => {
  const calls = new SentCalls(narrow);
  add(calls, 'a');
  const mark = calls.mark();
  add(calls, 'long-1');
  add(calls, 'c2');
  calls.rewind(mark);
  expect([add(calls, 'long-2'), add(calls, 'c2'), getResultId(calls, 'a')]).toStrictEqual(['c1', 'c2', 'a']);
});
