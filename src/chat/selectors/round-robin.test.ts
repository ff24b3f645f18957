import { describe, expect, test } from 'vitest';
import { ErrorPolicy } from '../../errors/index.ts';
import { createCountingIds, createFakeClock } from '../../lib/index.ts';
import type { Participant } from '../index.ts';
import { ChatState, createChat, functionParticipant, roundRobin, scriptedParticipant } from '../index.ts';
import { getNextAfter } from './round-robin.ts';

const [clock, ids] = [createFakeClock(), createCountingIds()];
const ports = { clock, ids, random: () => 0, onProblem: () => undefined };
const begin = (): ChatState => ChatState.empty({ clock, ids }).withUserMessage('Begin.', { ids });
const roundTrip = (state: ChatState): ChatState => ChatState.fromJSON(JSON.parse(JSON.stringify(state)));
const order = (state: ChatState) => state.steps.map(({ participant }) => participant);
const saying = (...names: readonly string[]): readonly Participant[] =>
  names.map((name) => scriptedParticipant({ name, says: [`I am ${name}.`] }));

describe('who comes after whom', () => {
  test.each([
    { last: undefined, next: 'a' },
    { last: 'a', next: 'b' },
    { last: 'b', next: 'c' },
    { last: 'c', next: 'a' },
    { last: 'somebody who has left', next: 'a' },
  ])('after $last comes $next', ({ last, next }) => {
    expect(getNextAfter(last, ['a', 'b', 'c'])).toBe(next);
  });

  test('one alone follows on itself', () => {
    expect(getNextAfter('a', ['a'])).toBe('a');
  });
});

describe('a round', () => {
  const setUpChat = (steps: number) =>
    createChat({ participants: saying('a', 'b', 'c'), selector: roundRobin(), onlyCriteria: [], limits: { steps }, ports });

  test('goes on from the beginning after the last', async () => {
    const end = await setUpChat(7).run(begin());
    expect(order(end)).toStrictEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a']);
    expect(end.steps.every(({ selection }) => selection?.by === 'round-robin')).toBe(true);
  });

  test.each([0, 1, 2, 3, 4, 5])('knows its place after it was stored at step %i', async (cut) => {
    const [chat, twin] = [setUpChat(6), setUpChat(6)];
    let state = begin();
    for (let step = 0; step < cut; step += 1) state = await chat.nextStep(state);
    // Another chat object, as on another machine: nothing is remembered but the state.
    expect(order(await twin.run(roundTrip(state)))).toStrictEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });

  test('goes on over executions: the second input does not begin with the first one again', async () => {
    const chat = setUpChat(2);
    const first = await chat.run(begin());
    const second = await chat.run(roundTrip(first).withUserMessage('And now?', { ids }));
    const third = await chat.run(roundTrip(second).withUserMessage('And then?', { ids }));
    expect([order(first), order(second), order(third)]).toStrictEqual([
      ['a', 'b'],
      ['c', 'a'],
      ['b', 'c'],
    ]);
  });

  test('two chats over one selector, and two states over one chat, do not move each other on', async () => {
    const selector = roundRobin();
    const [one, other] = [
      createChat({ participants: saying('a', 'b'), selector, ports }),
      createChat({ participants: saying('x', 'y', 'z'), selector, ports }),
    ];
    let [left, right, third] = [begin(), begin(), begin()];
    left = await one.nextStep(left);
    right = await other.nextStep(right);
    third = await one.nextStep(third);
    left = await one.nextStep(left);
    right = await other.nextStep(right);
    expect([order(left), order(right), order(third)]).toStrictEqual([['a', 'b'], ['x', 'y'], ['a']]);
  });

  test('a turn whose failure ended the run was not taken: the next input goes to the same one', async () => {
    let isBroken = true;
    const b = functionParticipant({
      name: 'b',
      speak: () => {
        if (isBroken) throw new Error('no');
        return 'yes';
      },
    });
    const [a, c] = saying('a', 'c') as [Participant, Participant];
    const chat = createChat({ participants: [a, b, c], errors: ErrorPolicy.stopOnAnyError(), ports });
    const failed = await chat.run(begin());
    isBroken = false;
    const end = await chat.run(roundTrip(failed).withUserMessage('Again?', { ids }));
    expect([failed.status, order(failed), order(end)]).toStrictEqual(['failed', ['a', 'b'], ['b', 'c', 'a']]);
  });

  test('a turn that failed where the run goes on was a turn', async () => {
    const b = functionParticipant({ name: 'b', speak: () => Promise.reject(new Error('no')) });
    const [a, c] = saying('a', 'c') as [Participant, Participant];
    const chat = createChat({ participants: [a, b, c], onlyCriteria: [], limits: { steps: 4 }, ports });
    expect(order(await chat.run(begin()))).toStrictEqual(['a', 'b', 'c', 'a']);
  });

  test('goes on behind the last speaker, but gives nobody a third turn since the last input before everyone had a first', async () => {
    const wanted = ['a', 'd', 'a', 'd'];
    const seen: (readonly [string | undefined, string])[] = [];
    const chat = createChat({
      participants: saying('a', 'b', 'c', 'd'),
      selector: ({ state, last, next }) => {
        seen.push([last, next]);
        return wanted[state.stepCount] ?? next;
      },
      onlyCriteria: [],
      limits: { steps: 8 },
      ports,
    });
    const end = await chat.run(begin());
    expect(seen).toStrictEqual([
      [undefined, 'a'],
      ['a', 'b'],
      ['d', 'a'],
      ['a', 'b'],
      // It would be the third of a, and b and c were not heard.
      ['d', 'b'],
      ['b', 'c'],
      // Everyone was heard.
      ['c', 'd'],
      ['d', 'a'],
    ]);
    expect(order(end)).toStrictEqual(['a', 'd', 'a', 'd', 'b', 'c', 'd', 'a']);
    // What was heard before the last input does not count, also after JSON; and each step says with which input it was begun.
    const next = await chat.run(roundTrip(end).withUserMessage('Again.', { ids }));
    expect(order(next)).toStrictEqual(order(end));
    const inputs = next.messages.toArray().filter(({ metadata }) => metadata['turn'] !== true);
    expect([new Set(end.steps.map(({ input }) => input)), new Set(next.steps.map(({ input }) => input))]).toStrictEqual([
      new Set([inputs[0]?.id]),
      new Set([inputs[1]?.id]),
    ]);
  });

  test('somebody who joined later gets a turn, and one who left gets none', async () => {
    const first = await createChat({ participants: saying('a', 'b'), ports }).run(begin());
    const grown = await createChat({ participants: saying('a', 'b', 'c'), ports }).run(roundTrip(first).withUserMessage('More?', { ids }));
    const shrunk = await createChat({ participants: saying('a', 'c'), ports }).run(roundTrip(grown).withUserMessage('Less?', { ids }));
    expect([order(grown), order(shrunk)]).toStrictEqual([
      ['c', 'a', 'b'],
      // Behind the last of those who are still there.
      ['c', 'a'],
    ]);
  });
});
