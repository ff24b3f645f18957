import { expect, test } from 'vitest';
import { HookApplied, HookReported, ToolCallBlocked } from './hook-events.ts';

const header = { id: 'e/1', seq: 1, at: 0, agentId: 'agent-1', executionId: 'e', stepNumber: 2 };

test('events of hooks say in a line what was done, by whom, without secrets', () => {
  const applied = new HookApplied(header, 'agent', { hook: 'mask', point: 'after_tool', changed: ['result', 'metadata'], toolCallId: 'c' });
  const reported = new HookReported(header, 'agent', {
    hook: 'fold',
    point: 'before_step',
    message: '3 messages folded',
    data: { moved: 3 },
  });
  const facts = { tool: 'pay', toolCallId: 'c', args: {}, hook: 'hours', reason: 'closed; Authorization: Bearer abcdefghijklmnop' };
  const blocked = new ToolCallBlocked(header, 'agent', facts);
  expect([String(applied), String(reported)]).toStrictEqual([
    'Agent [agent-1] step 2: hook mask changed result and metadata at after_tool',
    'Agent [agent-1] step 2: hook fold reports: 3 messages folded',
  ]);
  expect(String(blocked)).toContain('hook hours blocked pay {}: closed');
  expect(String(blocked)).not.toContain('abcdefghijklmnop');
  expect([applied.toolCallId, reported.data, blocked.reason.length > 6]).toStrictEqual(['c', { moved: 3 }, true]);
});
