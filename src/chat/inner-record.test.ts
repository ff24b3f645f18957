import { describe, expect, test } from 'vitest';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { Json } from '../lib/index.ts';
import { Usage } from '../messages/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineTool } from '../tools/index.ts';
import type { ChatStep, ParticipantKind } from './index.ts';
import { ChatState, createChat, llmParticipant } from './index.ts';
import { closeTurn, getUnfinished } from './inner-record.ts';

const step: ChatStep = { id: 's1', participant: 'z', outputMessages: [], usage: Usage.none(), errors: [] };

describe('a turn that waited, closed', () => {
  const memos: readonly { what: string; kind: ParticipantKind; state?: Json }[] = [
    { what: 'a person who was shown nothing', kind: 'human' },
    // As a collaboration keeps with its question: the versions that were shown.
    { what: 'a person who was shown something', kind: 'human', state: { doc: 1 } },
    { what: 'a model of which nothing was kept', kind: 'llm' },
  ];
  test.each(memos)('of $what is the step without its memo', ({ kind, state }) => {
    const memo = { round: 1, kind, ...(state !== undefined && { state }) };
    for (const why of ['superseded', 'interrupted'] as const)
      expect(closeTurn({ ...step, memo }, { why, at: 1, ids: createCountingIds() })).toStrictEqual(step);
  });

  test('of a model has every call with a result behind it, in its place', async () => {
    const [clock, ids] = [createFakeClock(), createCountingIds()];
    const pay = defineTool({ name: 'pay', description: 'A tool.', input: { type: 'object' }, needsApproval: true, run: () => 'paid' });
    const model = scriptedModel([{ text: 'May I?', toolCalls: [{ name: 'pay', id: 'p1' }] }]);
    const chat = createChat({ participants: [llmParticipant({ name: 'z', model, tools: [pay] })], ports: { clock, ids } });
    const { pendingStep } = await chat.run(ChatState.empty({ clock, ids }).withUserMessage('Go.', { ids }));
    if (pendingStep === undefined) throw new Error('nothing waits');
    const closed = closeTurn(pendingStep.partial, { why: 'superseded', at: 7, ids });
    expect([closed.memo, closed.inner?.status, closed.inner?.stepCount, closed.unfinished?.at]).toStrictEqual([undefined, 'stopped', 1, 7]);
    expect(closed.unfinished?.messages.map(({ role }) => role)).toStrictEqual(['assistant', 'tool']);
    expect(closed.unfinished?.messages[1]?.toolResults.map(({ toolCallId }) => toolCallId)).toStrictEqual(['p1']);
  });
});

test('where nothing was called there is nothing to keep', () => {
  expect(getUnfinished([], 3)).toBeUndefined();
});
