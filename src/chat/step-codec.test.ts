import { describe, expect, test } from 'vitest';
import { ContinuationOutcome, readOutcome, writeOutcome } from '../continuation/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { createCountingIds, createFakeClock, DamagedDataError, readObject } from '../lib/index.ts';
import { Message, textPart, toolCallPart, Usage } from '../messages/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineTool } from '../tools/index.ts';
import type { ChatStep } from './index.ts';
import {
  ChatState,
  createChat,
  decodeTurn,
  encodeTurn,
  getInnerOutcome,
  humanParticipant,
  llmParticipant,
  scriptedParticipant,
} from './index.ts';

const base: ChatStep = { id: 's1', participant: 'ann', outputMessages: [], usage: Usage.none(), errors: [] };
const outcome = ContinuationOutcome.fromEvaluations([
  { criterion: 'StepsLimit', decision: 'allow', reason: '1 of 3 steps done', context: { steps: 1, max: 3 } },
  { criterion: 'Mine', decision: 'forbid', reason: 'enough of it', stopReason: 'guard', context: {} },
]);
const summary = new Message({ id: 'sum', role: 'user', parts: [textPart('Before: greetings.')] });
const called = [
  new Message({ id: 'c1', role: 'assistant', parts: [textPart('I look.'), toolCallPart({ id: 'call-1', name: 'look', args: { at: 1 } })] }),
  Message.tool({ toolCallId: 'call-1', toolName: 'look', output: { type: 'text', value: 'seen' } }, { id: 'c2' }),
];
const inner = { orchestrator: 'tool-use', agentId: 'in-1', status: 'stopped', stopReason: 'guard', stepCount: 2 } as const;

const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
function passThroughCodec(step: ChatStep): ChatStep {
  const outcomeInside = getInnerOutcome(step);
  const again = outcomeInside && readOutcome(throughJson(writeOutcome(outcomeInside)), 'outcome');
  return decodeTurn(base, readObject(throughJson(encodeTurn(step)), 'step'), again);
}

describe('a turn, written and read again', () => {
  const rows: readonly { what: string; more: Partial<ChatStep> }[] = [
    { what: 'nothing more than any step', more: {} },
    { what: 'a selection', more: { selection: { by: 'round-robin' } } },
    { what: 'a selection with a reason and a problem', more: { selection: { by: 'coordinator', reason: 'r', problem: 'p' } } },
    { what: 'a run inside that waits', more: { inner: { orchestrator: 'agent', agentId: 'in-1', status: 'waiting', stepCount: 0 } } },
    {
      what: 'a run inside with calls',
      more: {
        inner: {
          ...inner,
          calls: [
            { tool: 'a', status: 'succeeded' },
            { tool: 'a', status: 'unknown' },
          ],
        },
      },
    },
    { what: 'a run inside with what was decided', more: { inner: { ...inner, outcome } } },
    { what: 'a run inside that nobody judged', more: { inner: { ...inner, outcome: ContinuationOutcome.fromEvaluations([]) } } },
    {
      what: 'a run inside whose judging failed',
      more: { inner: { ...inner, outcome: ContinuationOutcome.fromEvaluationError(new Error('x')) } },
    },
    { what: 'a window', more: { window: { folded: 1, buffered: 2 } } },
    { what: 'a window with all of it', more: { window: { folded: 3, buffered: 4, kept: ['m1', 'm2'], summary } } },
    { what: 'the input it was begun with', more: { input: 'm7' } },
    { what: 'a selection with what it used', more: { selection: { by: 'coordinator', usage: Usage.of({ input: 4, output: 2 }) } } },
    { what: 'what was called in a turn without an end', more: { unfinished: { at: 3, messages: called } } },
    { what: 'calls before anything was said', more: { unfinished: { at: 0, messages: called } } },
    { what: 'a memo', more: { memo: { round: 1, kind: 'llm' } } },
    { what: 'a memo with a state', more: { memo: { round: 2, kind: 'llm', state: { a: [1, null, 'x'] } } } },
  ];
  test.each(rows)('keeps $what', ({ more }) => {
    const step = { ...base, ...more };
    const again = passThroughCodec(step);
    expect(again).toStrictEqual(step);
  });

  test('what was decided inside is more than data: it explains itself', () => {
    const again = passThroughCodec({ ...base, inner: { ...inner, outcome } }).inner?.outcome;
    expect([again?.resolvedBy, again?.shouldContinue, again?.stopReason]).toStrictEqual(['Mine', false, 'guard']);
  });
});

describe('a damaged turn', () => {
  const whole = JSON.parse(
    JSON.stringify(
      encodeTurn({
        ...base,
        selection: { by: 'x' },
        inner: { ...inner, outcome, calls: [{ tool: 'a', status: 'failed' }] },
        window: { folded: 1, buffered: 1, kept: ['k'], summary },
        memo: { round: 1, kind: 'llm' },
      }),
    ),
  ) as JsonObject;
  const rows: readonly { what: string; damage: JsonObject }[] = [
    { what: 'a selection by nobody', damage: { selection: { reason: 'x' } } },
    { what: 'a selection that is text', damage: { selection: 'x' } },
    { what: 'a run inside without its id', damage: { innerId: 4 } },
    { what: 'a run inside with an unknown status', damage: { inner: { orchestrator: 'agent', status: 'lost', stepCount: 1 } } },
    {
      what: 'a run inside with an unknown reason',
      damage: { inner: { orchestrator: 'agent', status: 'stopped', stepCount: 1, stopReason: 'tired' } },
    },
    { what: 'a call with an unknown status', damage: { calls: [{ tool: 'a', status: 'maybe' }] } },
    { what: 'a call of nothing', damage: { calls: [{ status: 'failed' }] } },
    { what: 'a window without bounds', damage: { window: { folded: 1 } } },
    { what: 'a window that keeps numbers', damage: { window: { folded: 1, buffered: 1, kept: [4] } } },
    { what: 'a window with a strange summary', damage: { window: { folded: 1, buffered: 1, summary: 'text' } } },
    { what: 'what was called at no place', damage: { unfinished: { messages: [] } } },
    { what: 'what was called at half a place', damage: { unfinished: { at: 0.5, messages: [] } } },
    { what: 'what was called below the first place', damage: { unfinished: { at: -1, messages: [] } } },
    { what: 'nothing that was called', damage: { unfinished: { at: 1 } } },
    { what: 'text in the place of messages that were called', damage: { unfinished: { at: 1, messages: ['x'] } } },
    { what: 'an input that is no id', damage: { input: 4 } },
    { what: 'a selection with a strange usage', damage: { selection: { by: 'x', usage: 'much' } } },
    { what: 'a memo of an unknown kind', damage: { memo: { round: 1, kind: 'ghost' } } },
    { what: 'a memo of no kind', damage: { memo: { round: 1 } } },
    { what: 'a memo without a round', damage: { memo: { kind: 'llm', state: {} } } },
  ];
  test.each(rows)('with $what is refused, and says where', ({ damage }) => {
    expect(() => decodeTurn(base, readObject({ ...whole, ...damage }, 'step'))).toThrow(DamagedDataError);
  });

  test('the whole one is not', () => {
    expect(decodeTurn(base, readObject(whole, 'step')).memo).toStrictEqual({ round: 1, kind: 'llm' });
  });
});

describe('a whole chat, stored', () => {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const ask = defineTool({ name: 'ask', description: 'A tool.', input: { type: 'object' }, needsApproval: true, run: () => 'ok' });
  const model = () =>
    scriptedModel([{ text: 'May I?', toolCalls: [{ name: 'ask', id: 'c' }], usage: { input: 1, output: 1 } }, { text: 'Done.' }]);
  const open = () =>
    createChat({
      participants: [
        scriptedParticipant({ name: 's', says: ['x'] }),
        llmParticipant({ name: 'm', model: model(), tools: [ask] }),
        humanParticipant({ name: 'h' }),
      ],
      ports: { clock, ids },
    });

  test('is the same text again after reading it, at every station', async () => {
    const chat = open();
    const start = ChatState.empty({ clock, ids, metadata: { topic: 'x' } }).withUserMessage('Go.', { ids });
    const approving = await chat.run(start);
    const asking = await chat.run(approving.approve('m/c'));
    const end = await chat.run(asking.answer('h/3', 'Words.'));
    const stations = [
      start,
      approving,
      approving.approve('m/c'),
      asking,
      asking.answer('h/3', 'Words.'),
      end,
      end.withUserMessage('More.', { ids }),
    ];
    for (const state of stations) {
      const text = JSON.stringify(state);
      const again = ChatState.fromJSON(JSON.parse(text));
      expect(again).toBeInstanceOf(ChatState);
      expect(JSON.parse(JSON.stringify(again))).toStrictEqual(JSON.parse(text));
      expect([again.status, again.speaker, again.participant, again.transcript, again.waitingFor, again.explain()]).toStrictEqual([
        state.status,
        state.speaker,
        state.participant,
        state.transcript,
        state.waitingFor,
        state.explain(),
      ]);
    }
    expect(end.status).toBe('completed');
    // Written as changes from one station to the next, it is the same as well.
    let patched = start;
    for (const [index, state] of stations.entries()) {
      const change = ChatState.codec.diff(stations[index - 1] ?? start, state);
      patched = ChatState.codec.patch(patched, JSON.parse(JSON.stringify(change)));
      expect(JSON.parse(JSON.stringify(patched))).toStrictEqual(JSON.parse(JSON.stringify(state)));
    }
  });

  test.each([
    { what: 'half an outcome', innerOutcome: { decision: 'stop' }, place: 'criteria' },
    { what: 'an evaluation missing', innerOutcome: { decision: 'stop', criteria: ['A'] }, place: 'evaluations.A' },
    { what: 'text', innerOutcome: 'over', place: '' },
  ])('is refused, with its place, if a run inside has $what', async ({ innerOutcome, place }) => {
    const chat = createChat({
      participants: [llmParticipant({ name: 'm', model: scriptedModel([{ text: 'Hi.' }]) })],
      ports: { clock, ids },
    });
    const stored = (await chat.run(ChatState.empty({ clock, ids }).withUserMessage('Go.', { ids }))).toJSON();
    const copy = JSON.parse(JSON.stringify(stored)) as { data: { execution: { results: { innerOutcome: unknown }[] } } };
    expect(copy.data.execution.results[0]!.innerOutcome).toMatchObject({ decision: 'stop' });
    copy.data.execution.results[0]!.innerOutcome = innerOutcome;
    const path = `data.execution.results[0].innerOutcome${place === '' ? '' : '.'}${place}`;
    expect(() => ChatState.fromJSON(copy)).toThrow(expect.objectContaining({ code: 'damaged-data', path }) as Error);
  });

  test.each([
    { what: 'nothing', stored: undefined },
    { what: 'text', stored: 'x' },
    { what: 'an empty object', stored: {} },
    {
      what: 'a state of another kind',
      stored: { ...(JSON.parse(JSON.stringify(ChatState.empty({ clock, ids }))) as object), kind: 'agent-state' },
    },
  ])('is not read from $what', ({ stored }) => {
    expect(() => ChatState.fromJSON(stored)).toThrow();
  });

  test('a turn that waits for somebody who has left fails in words, and nothing is lost', async () => {
    const parked = await open().run(ChatState.empty({ clock, ids }).withUserMessage('Go.', { ids }));
    const others = createChat({ participants: [scriptedParticipant({ name: 's', says: ['x'] })], ports: { clock, ids } });
    const end = await others.run(ChatState.fromJSON(JSON.parse(JSON.stringify(parked))).approve('m/c'));
    expect([end.status, end.errors[0]?.code, end.transcript.length]).toStrictEqual(['failed', 'participant-changed', 2]);
  });
});
