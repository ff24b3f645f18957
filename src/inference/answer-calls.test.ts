import { expect, test } from 'vitest';
import { toolCallPart, toolResultPart } from '../messages/index.ts';
import { findPendingToolCalls } from './answer-calls.ts';

test('what is left to do are the calls that are ours and have no answer yet (M4)', () => {
  const parts = [
    toolCallPart({ id: 'a', name: 'search', args: {} }),
    toolCallPart({ id: 'b', name: 'web', args: {}, providerExecuted: true }),
    toolCallPart({ id: 'c', name: 'code', args: {} }),
    toolResultPart({ toolCallId: 'c', toolName: 'code', output: { type: 'text', value: '' } }),
    toolCallPart({ id: 'd', name: 'search', args: null, rawArgs: '{' }),
  ];
  expect(findPendingToolCalls({ parts })).toStrictEqual([
    { id: 'a', name: 'search', args: {} },
    { id: 'd', name: 'search', args: null, rawArgs: '{' },
  ]);
});
