import { expect, test } from 'vitest';
import type { StatusViewMessage, ViewMessage } from 'stepline/ui';
import { dropRepeats } from './drop-repeats.ts';

const base = { role: 'status', timestamp: '2026-01-16T10:00:00.000Z', agent_id: 'a' } as const;
const by = { id: 'ann', kind: 'user' };
const granted: StatusViewMessage = { ...base, id: '1', status_type: 'info', text: 'ann granted 2 more steps.', by };
const asked: StatusViewMessage = { ...base, id: '2', status_type: 'info', text: 'ann cancelled.', by };
const continuation = { should_continue: false, stop_reason: 'user_requested', resolved_by: 'StopRequested' };
const stopped: StatusViewMessage = { ...base, id: '3', status_type: 'continuation', text: 'Stopped by ann.', continuation };

const words: ViewMessage = { ...base, id: '4', role: 'assistant', text: 'There are' };

test('a stop is said once, below the words', () => {
  expect(dropRepeats([granted, asked, words, stopped])).toEqual([granted, words, stopped]);
});

test('nothing else is left out: the list is the same', () => {
  for (const messages of [[granted, stopped], [granted, asked], []]) expect(dropRepeats(messages)).toBe(messages);
});
