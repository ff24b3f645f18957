// Scripts, functions and people who are asked by a callback.
import { describe, expect, test } from 'vitest';
import { ToolFailedError } from '../../errors/index.ts';
import { createCountingIds, createFakeClock } from '../../lib/index.ts';
import { defineContext } from '../../tools/index.ts';
import type { Participant, TurnFacts } from '../index.ts';
import { ChatState, createChat, functionParticipant, humanParticipant, scriptedParticipant } from '../index.ts';

function setUp(participants: readonly Participant[], more: object = {}) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const chat = createChat({ participants, ports: { clock, ids, onProblem: () => undefined }, ...more });
  return { chat, clock, ids, start: ChatState.empty({ clock, ids }).withUserMessage('Hello.', { ids }) };
}
const roundTrip = (state: ChatState): ChatState => ChatState.fromJSON(JSON.parse(JSON.stringify(state)));
const getLastMessage = (state: ChatState) => state.messages.at(-1);
const createSpeaker = (name: string): Participant => scriptedParticipant({ name, says: ['Hm.'] });

describe('a script', () => {
  const script = scriptedParticipant({ name: 'al', says: ['one', '', 'three'] });

  test('is said in turn, from the beginning again, in the role of a user', async () => {
    const { chat, start } = setUp([script], { onlyCriteria: [], limits: { steps: 5 } });
    const end = await chat.run(start);
    expect(end.transcript.slice(1)).toStrictEqual(['one', '', 'three', 'one', ''].map((text) => ({ speaker: 'al', text })));
    expect([getLastMessage(end)?.role, getLastMessage(end)?.name, end.usage.total, end.currentStep?.inner]).toStrictEqual([
      'user',
      'al',
      0,
      undefined,
    ]);
  });

  test('knows its place after being stored, over several inputs, and in two chats at once', async () => {
    const { chat, start, ids } = setUp([script]);
    const first = await chat.run(start);
    const second = roundTrip(await chat.run(roundTrip(first).withUserMessage('And?', { ids })));
    const third = await chat.run(second.withUserMessage('And?', { ids }));
    const fresh = await chat.run(start);
    expect([first, second, third, fresh].map((state) => getLastMessage(state)?.text)).toStrictEqual(['one', '', 'three', 'one']);
  });
});

describe('a function', () => {
  test.each([
    { what: 'text', speak: () => 'Hi.', text: 'Hi.' },
    { what: 'a promise', speak: async () => 'Hi.', text: 'Hi.' },
    { what: 'nothing', speak: () => undefined, text: '' },
    { what: 'null', speak: () => null, text: '' },
    { what: 'empty text', speak: () => '', text: '' },
  ])('that gives $what has taken its turn', async ({ speak, text }) => {
    const { chat, start } = setUp([functionParticipant({ name: 'fn', speak })]);
    const end = await chat.run(start);
    expect([end.status, end.errors, getLastMessage(end)?.text, getLastMessage(end)?.name, getLastMessage(end)?.role]).toStrictEqual([
      'completed',
      [],
      text,
      'fn',
      'assistant',
    ]);
  });

  test('is told who it is, the conversation as it reads it, the state and the context', async () => {
    const seen: TurnFacts<{ n: number }>[] = [];
    const fn = functionParticipant({
      name: 'fn',
      context: defineContext<{ n: number }>(),
      speak: (turn) => {
        seen.push(turn);
        return `${turn.participant} ${turn.context.n}`;
      },
    });
    const { clock, ids, start } = setUp([createSpeaker('al')]);
    const chat = createChat({ participants: [createSpeaker('al'), fn], ports: { clock, ids } });
    const end = await chat.run(start, { context: { n: 7 } });
    expect(getLastMessage(end)?.text).toBe('fn 7');
    expect(seen[0]?.messages.map(({ role, text }) => `${role}: ${text}`)).toStrictEqual(['user: Hello.', 'user: [al] Hm.']);
    expect([seen[0]?.state.stepCount, seen[0]?.signal.aborted]).toStrictEqual([1, false]);
    await expect((chat.run as (state: ChatState) => Promise<unknown>)(start)).rejects.toThrow(/fn needs a context/);
  });

  test.each([
    { what: 'an error', speak: () => Promise.reject(new Error('out of words')), message: 'out of words', type: 'unknown' },
    { what: 'an error with a kind', speak: () => Promise.reject(new ToolFailedError('no tool')), message: 'no tool', type: 'tool' },
    {
      what: 'an error at once',
      speak: () => {
        throw new Error('at once');
      },
      message: 'at once',
      type: 'unknown',
    },
  ])('that throws $what has one failed turn with its message and its name', async ({ speak, message, type }) => {
    const { chat, start } = setUp([createSpeaker('al'), functionParticipant({ name: 'fn', speak }), createSpeaker('cy')]);
    const end = await chat.run(start);
    expect([end.status, end.stopReason, end.stepResults.length, end.participant]).toStrictEqual(['failed', 'error', 2, 'fn']);
    expect(end.errors.map((failure) => [failure.message, failure.type])).toStrictEqual([[message, type]]);
    expect(end.transcript).toStrictEqual([{ text: 'Hello.' }, { speaker: 'al', text: 'Hm.' }]);
  });

  test.each([
    { what: 'a number', given: 4 },
    { what: 'an object', given: { text: 'x' } },
    { what: 'a list', given: ['x'] },
    { what: 'true', given: true },
  ])('that gives $what has a failed turn which says what was wanted', async ({ given }) => {
    const { chat, start } = setUp([functionParticipant({ name: 'fn', speak: () => given as never })]);
    const end = await chat.run(start);
    expect(end.errors).toMatchObject([{ type: 'validation', message: expect.stringContaining('must be a string') as string }]);
    expect([end.participant, end.messages.length]).toStrictEqual(['fn', 1]);
  });

  test('may give what cannot be stored: a failed turn, and nothing lost', async () => {
    const { chat, start } = setUp([functionParticipant({ name: 'fn', speak: () => new Map() as never })]);
    const end = await chat.run(start);
    expect([end.status, end.participant, end.errors.length]).toStrictEqual(['failed', 'fn', 1]);
    expect(roundTrip(end).errors).toStrictEqual(end.errors);
  });

  test.each([
    { what: 'its own time', timeoutMs: 200, ms: 200 },
    { what: 'thirty seconds', timeoutMs: undefined, ms: 30_000 },
  ])('that hangs is waited for $what, told by its signal, and charged with it', async ({ timeoutMs, ms }) => {
    const signals: AbortSignal[] = [];
    const speak = ({ signal }: TurnFacts) => {
      signals.push(signal);
      return new Promise<string>(() => undefined);
    };
    const { chat, start, clock } = setUp([functionParticipant({ name: 'fn', speak, ...(timeoutMs !== undefined && { timeoutMs }) })]);
    const began = clock.monotonic();
    let took = Number.NaN;
    const run = chat.run(start).then((state) => {
      took = clock.monotonic() - began;
      return state;
    });
    await clock.advance(100_000);
    const end = await run;
    expect([took, end.status, end.participant, end.errors[0]?.type]).toStrictEqual([ms, 'failed', 'fn', 'timeout']);
    expect(end.errors[0]?.message).toMatch(/^The turn of fn took longer than/);
    expect([signals[0]?.aborted, clock.pendingTimers()]).toStrictEqual([true, 0]);
  });
});

describe('a person who is asked by a callback', () => {
  test.each([
    { given: 'Yes.', text: 'Yes.' },
    { given: '', text: '' },
    { given: undefined, text: '' },
  ])('says "$given", as a user', async ({ given, text }) => {
    const { chat, start } = setUp([humanParticipant({ name: 'ann', reply: async () => given })]);
    const end = await chat.run(start);
    expect([end.status, getLastMessage(end)?.text, getLastMessage(end)?.role, getLastMessage(end)?.name]).toStrictEqual([
      'completed',
      text,
      'user',
      'ann',
    ]);
  });

  test.each([{ activeMs: 60_000 }, { wallMs: 60_000 }])(
    'takes as long as people do, and none of the time of the run: %j',
    async (limits) => {
      let reply: (words: string) => void = () => undefined;
      const ann = humanParticipant({ name: 'ann', reply: () => new Promise<string>((resolve) => (reply = resolve)) });
      const { chat, start, clock } = setUp([ann], { limits });
      const run = chat.run(start);
      await clock.advance(3_600_000);
      reply('Here I am.');
      const end = await run;
      expect([end.text, end.status, end.lastStepResult?.timing.activeMs]).toStrictEqual(['Here I am.', 'completed', 0]);
    },
  );

  test.each([{ activeMs: 60_000 }, { wallMs: 60_000 }])('leaves the time of the run to those who come after: %j', async (limits) => {
    let reply: (words: string) => void = () => undefined;
    const ann = humanParticipant({ name: 'ann', reply: () => new Promise<string>((resolve) => (reply = resolve)) });
    const { chat, start, clock } = setUp([ann, scriptedParticipant({ name: 'b', says: ['And I.'] })], { limits });
    const run = chat.run(start);
    await clock.advance(3_600_000);
    reply('Here I am.');
    const end = await run;
    expect([end.status, end.stopReason, end.steps.map(({ participant }) => participant)]).toStrictEqual([
      'completed',
      'completed',
      ['ann', 'b'],
    ]);
  });

  test('may be given a time', async () => {
    const ann = humanParticipant({ name: 'ann', reply: () => new Promise<string>(() => undefined), timeoutMs: 60_000 });
    const { chat, start, clock } = setUp([ann]);
    const run = chat.run(start);
    await clock.advance(60_000);
    expect((await run).errors).toMatchObject([{ type: 'timeout' }]);
  });
});
