import { describe, expect, test } from 'vitest';
import { when } from '../../continuation/index.ts';
import { ErrorPolicy } from '../../errors/index.ts';
import { createCountingIds, createFakeClock, InvalidArgumentError } from '../../lib/index.ts';
import type { SelectFacts, SelectFunction, Selector } from '../index.ts';
import { byMention, ChatState, createChat, scriptedParticipant, selectBy } from '../index.ts';

const ids = createCountingIds();
const participants = ['al', 'bea', 'cy'].map((name) => scriptedParticipant({ name, says: [`${name} speaks.`] }));
const roundTrip = (state: ChatState): ChatState => ChatState.fromJSON(JSON.parse(JSON.stringify(state)));
const order = (state: ChatState) => state.steps.map(({ participant }) => participant);

function setUp(selector: SelectFunction | ReturnType<typeof selectBy>, more: object = {}) {
  const clock = createFakeClock();
  const chat = createChat({
    participants,
    selector: selector as never,
    ports: { clock, ids, random: () => 1, onProblem: () => undefined },
    ...more,
  });
  return { chat, clock, start: ChatState.empty({ clock, ids }).withUserMessage('Begin.', { ids }) };
}

describe('a function gives the turn', () => {
  test.each([
    { what: 'a name', choose: () => 'bea' },
    { what: 'a promise of a name', choose: async () => 'bea' },
    { what: 'a choice', choose: () => ({ participant: 'bea', reason: 'her day' }) },
  ])('with $what', async ({ choose }) => {
    const { chat, start } = setUp(choose);
    const { currentStep } = await chat.nextStep(start);
    expect([currentStep?.participant, currentStep?.selection?.by]).toStrictEqual(['bea', 'function']);
  });

  test('under its own name, with the reason it gives', async () => {
    const { chat, start } = setUp(selectBy(() => ({ participant: 'cy', reason: 'it is late' }), { name: 'by-the-hour' }));
    expect((await chat.nextStep(start)).currentStep?.selection).toStrictEqual({ by: 'by-the-hour', reason: 'it is late' });
    expect(chat.describe().selector).toBe('by-the-hour');
  });

  test('and is told the state, who is there, who was last, who would be next, and the context', async () => {
    const seen: SelectFacts[] = [];
    const { chat, start } = setUp((facts: SelectFacts) => {
      seen.push(facts);
      return 'bea';
    });
    await chat.nextStep(await chat.nextStep(start, { context: { day: 1 } }), { context: { day: 2 } });
    expect(seen.map(({ last, next, context }) => [last, next, context])).toStrictEqual([
      [undefined, 'al', { day: 1 }],
      ['bea', 'cy', { day: 2 }],
    ]);
    expect(seen[1]?.state.transcript.at(-1)).toStrictEqual({ speaker: 'bea', text: 'bea speaks.' });
    expect(seen[0]?.participants.map(({ name, kind }) => `${name} ${kind}`)).toStrictEqual(['al scripted', 'bea scripted', 'cy scripted']);
    expect(seen[0]?.signal).toBeInstanceOf(AbortSignal);
  });

  test('that looks at the conversation chooses rightly after a JSON round trip', async () => {
    const { chat, start } = setUp(({ state }: SelectFacts) => (state.messages.at(-1)?.text === 'bea speaks.' ? 'al' : 'bea'), {
      onlyCriteria: [],
      limits: { steps: 4 },
    });
    let state = start;
    while (chat.hasNextStep(state)) state = roundTrip(await chat.nextStep(state));
    expect(order(state)).toStrictEqual(['bea', 'al', 'bea', 'al']);
  });
});

describe('a function that says that there is nothing more to say', () => {
  test.each([
    { what: 'at once', after: 0, heard: [] },
    { what: 'before everybody has spoken', after: 2, heard: ['al', 'bea'] },
  ])('$what completes the conversation, for its reason', async ({ after, heard }) => {
    const { chat, start } = setUp(({ state, next }: SelectFacts) => (state.stepCount === after ? { end: 'they agree' } : next));
    const events: string[] = [];
    const result = await chat.start(start, { onEvent: ({ type }) => events.push(type) }).result;
    const { state } = result;
    expect([result.status, state.stopReason, order(state)]).toStrictEqual(['completed', 'completed', [...heard, undefined]]);
    expect([state.lastContinuationOutcome?.resolvedBy, state.currentStep?.selection]).toStrictEqual([
      'function',
      { by: 'function', reason: 'they agree' },
    ]);
    expect([state.currentStep?.outputMessages, state.errors, state.transcript.length]).toStrictEqual([[], [], after + 1]);
    expect(state.explain()).toContain('they agree');
    expect(events.filter((type) => type === 'ParticipantSelected')).toHaveLength(after);
    expect([events.includes('AgentFailed'), events.at(-1)]).toStrictEqual([false, 'AgentFinished']);
    expect([roundTrip(state).status, roundTrip(state).explain()]).toStrictEqual([state.status, state.explain()]);
  });

  test('under its own name', async () => {
    const { chat, start } = setUp(selectBy(() => ({ end: 'enough' }), { name: 'chair' }));
    expect((await chat.run(start)).lastContinuationOutcome?.resolvedBy).toBe('chair');
  });

  test('ends this answer alone: the next input goes on where the round was', async () => {
    const { chat, start } = setUp(({ state, next }: SelectFacts) => (state.stepCount === 1 ? { end: 'one each' } : next));
    const first = await chat.run(start);
    const second = await chat.run(roundTrip(first).withUserMessage('Go on.', { ids }));
    expect([order(first), order(second), second.status]).toStrictEqual([['al', undefined], ['bea', undefined], 'completed']);
  });

  test('ends it also where rules of the host would go on for ever, and through another selector', async () => {
    const ending: Selector = {
      name: 'ending',
      select: ({ state, next }) => (state.stepCount < 2 ? { participant: next } : { end: 'two' }),
    };
    const { chat, start } = setUp(byMention({ otherwise: ending }), { criteria: [when('On', () => 'request')] });
    const end = await chat.run(start);
    expect([end.status, end.stepCount, end.lastContinuationOutcome?.resolvedBy]).toStrictEqual(['completed', 3, 'ending']);
  });

  test('is not tried again as if it had failed', async () => {
    const { chat, start } = setUp(() => ({ end: 'enough' }), { errors: ErrorPolicy.retryAll(3) });
    expect((await chat.run(start)).stepResults.length).toBe(1);
  });
});

const bad: readonly { what: string; choose: () => unknown; says: RegExp }[] = [
  { what: 'a stranger', choose: () => 'zoe', says: /zoe.*al, bea, cy/ },
  { what: 'a name in other letters', choose: () => 'AL', says: /AL/ },
  { what: 'nothing', choose: () => undefined, says: /name of a participant/ },
  { what: 'a number', choose: () => 4, says: /name of a participant/ },
  { what: 'a choice of nobody', choose: () => ({ reason: 'x' }), says: /name of a participant/ },
  { what: 'an end without a reason', choose: () => ({ end: '' }), says: /end: reason/ },
  { what: 'an end for a strange reason', choose: () => ({ end: true }), says: /end: reason/ },
  { what: 'a choice of a stranger', choose: () => ({ participant: 'zoe' }), says: /zoe/ },
  {
    what: 'an error',
    choose: () => {
      throw new Error('I cannot choose');
    },
    says: /I cannot choose/,
  },
  { what: 'a rejection', choose: () => Promise.reject(new Error('not today')), says: /not today/ },
];

describe('a function that gives', () => {
  test.each(bad)('$what makes one failed turn of nobody, and loses nothing', async ({ choose, says }) => {
    const { chat, start } = setUp(choose as SelectFunction);
    const events: string[] = [];
    const end = await chat.run(start, { onEvent: ({ type }) => events.push(type) });
    expect([end.status, end.stopReason, end.stepResults.length]).toStrictEqual(['failed', 'error', 1]);
    expect(end.errors).toMatchObject([{ code: 'turn-not-given', message: expect.stringMatching(says) as string }]);
    expect([end.currentStep?.participant, end.participant, end.transcript]).toStrictEqual([undefined, undefined, [{ text: 'Begin.' }]]);
    expect(events.filter((type) => type === 'AgentStepStarted' || type === 'ParticipantSelected')).toStrictEqual(['AgentStepStarted']);
    expect(roundTrip(end).errors).toStrictEqual(end.errors);
  });

  test('a stranger once is asked again where failures are retried', async () => {
    let asked = 0;
    const { chat, start } = setUp(() => ((asked += 1) === 1 ? 'zoe' : 'cy'), {
      errors: ErrorPolicy.retryAll(3).withBackoff({ baseMs: 0 }),
      limits: { steps: 2 },
    });
    const end = await chat.run(start);
    expect([order(end), end.steps[1]?.selection?.by]).toStrictEqual([[undefined, 'cy'], 'function']);
  });
});

describe('a function that hangs', () => {
  test.each([
    { what: 'for the time it was given', selector: selectBy(() => new Promise(() => undefined), { timeoutMs: 250 }), ms: 250 },
    { what: 'for thirty seconds', selector: selectBy(() => new Promise(() => undefined)), ms: 30_000 },
    { what: 'for thirty seconds, given as it is', selector: () => new Promise<string>(() => undefined), ms: 30_000 },
  ])('is waited for $what', async ({ selector, ms }) => {
    const { chat, start, clock } = setUp(selector);
    const begunAt = clock.monotonic();
    let endedAt = Number.NaN;
    const run = chat.run(start).then((end) => {
      endedAt = clock.monotonic();
      return end;
    });
    await clock.advance(60_000);
    const end = await run;
    expect([endedAt - begunAt, end.status, end.errors[0]?.type]).toStrictEqual([ms, 'failed', 'timeout']);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('is left when the run is aborted, and nobody is charged', async () => {
    const { chat, start, clock } = setUp(selectBy(() => new Promise(() => undefined), { timeoutMs: Infinity }));
    const host = new AbortController();
    const run = chat.run(start, { signal: host.signal });
    await clock.advance(5);
    host.abort('enough');
    await clock.advance(100);
    const end = await run;
    expect([end.stopReason, end.stepCount, end.currentStep?.participant, end.errors]).toStrictEqual(['user_requested', 1, undefined, []]);
    expect(end.currentStep?.interrupted).toBe('signal');
  });
});

test.each([undefined, 'al', {}])('selectBy(%j) is refused', (given) => {
  expect(() => selectBy(given as never)).toThrow(InvalidArgumentError);
});

test.each([
  { what: 'no time at all', options: { timeoutMs: 0 } },
  { what: 'time that is none', options: { timeoutMs: 'long' } },
  { what: 'a misspelt option', options: { timeout: 5 } },
])('selectBy() with $what is refused', ({ options }) => {
  expect(() => selectBy(() => 'al', options as never)).toThrow(InvalidArgumentError);
});
