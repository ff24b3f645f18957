import { describe, expect, test } from 'vitest';
import { createCountingIds, createFakeClock } from '../../lib/index.ts';
import type { Participant, Selector } from '../index.ts';
import { byMention, ChatState, createChat, scriptedParticipant } from '../index.ts';

const [clock, ids] = [createFakeClock(), createCountingIds()];
const ports = { clock, ids };
const begin = (text: string): ChatState => ChatState.empty({ clock, ids }).withUserMessage(text, { ids });
const roundTrip = (state: ChatState): ChatState => ChatState.fromJSON(JSON.parse(JSON.stringify(state)));
const order = (state: ChatState) => state.steps.map(({ participant }) => participant);

const quiet = (...names: readonly string[]): readonly Participant[] =>
  names.map((name) => scriptedParticipant({ name, says: [`${name} speaks.`] }));

const firstFor = async (text: string, names: readonly string[], otherwise?: Selector) => {
  const selector = byMention(otherwise === undefined ? {} : { otherwise });
  const [step] = (await createChat({ participants: quiet(...names), selector, ports }).nextStep(begin(text))).steps;
  return step;
};

describe('whoever is addressed has the turn', () => {
  test.each([
    { text: '@bea what do you think?', to: 'bea' },
    { text: 'What do you think, @cy?', to: 'cy' },
    { text: 'I ask @BEA.', to: 'bea' },
    { text: '@cy, then @bea', to: 'cy' },
    { text: '@nobody or else @cy', to: 'cy' },
    { text: 'This is for @bea.', to: 'bea' },
    { text: '(@bea)', to: 'bea' },
    { text: '@bea-', to: 'bea' },
    { text: 'nobody is meant', to: 'al' },
    { text: '@ bea', to: 'al' },
    { text: '@beatrice', to: 'al' },
    { text: 'bea', to: 'al' },
    { text: '', to: 'al' },
  ])('"$text" goes to $to', async ({ text, to }) => {
    expect((await firstFor(text, ['al', 'bea', 'cy']))?.participant).toBe(to);
  });

  test.each([
    { text: '@dr.no come in', names: ['x', 'dr.no', 'dr'], to: 'dr.no' },
    { text: '@dr. Come in', names: ['x', 'dr.no', 'dr'], to: 'dr' },
    { text: '@v1.0-beta_2!', names: ['x', 'v1.0-beta_2'], to: 'v1.0-beta_2' },
    { text: '@Łukasz', names: ['x', 'łukasz'], to: 'łukasz' },
  ])('names with signs in them: "$text" goes to $to', async ({ text, names, to }) => {
    expect((await firstFor(text, names))?.participant).toBe(to);
  });

  test('an address of mail is no mention of the one who is called like its host', async () => {
    expect((await firstFor('Write to ann@bea.', ['al', 'bea']))?.participant).toBe('al');
  });

  test('the reason says who asked for whom', async () => {
    expect((await firstFor('@bea?', ['al', 'bea']))?.selection).toMatchObject({
      by: 'by-mention',
      reason: expect.stringContaining('@bea') as string,
    });
  });

  test('where nobody is addressed another rule decides', async () => {
    const last: Selector = { name: 'last', select: ({ participants }) => ({ participant: participants.at(-1)?.name ?? '' }) };
    expect((await firstFor('Anybody?', ['al', 'bea', 'cy'], last))?.participant).toBe('cy');
  });
});

describe('those who take part address each other', () => {
  const chat = createChat({
    participants: [
      scriptedParticipant({ name: 'al', says: ['@cy, your view? I, @al, have none.', 'Thanks.'] }),
      scriptedParticipant({ name: 'bea', says: ['Well.'] }),
      scriptedParticipant({ name: 'cy', says: ['Back to @al.'] }),
    ],
    selector: byMention(),
    onlyCriteria: [],
    limits: { steps: 4 },
    ports,
  });
  const wanted = ['al', 'cy', 'al', 'bea'];

  test('by the last words, and nobody by their own', async () => {
    expect(order(await chat.run(begin('Begin.')))).toStrictEqual(wanted);
  });

  test('also where the conversation was stored between any two turns', async () => {
    let state = begin('Begin.');
    while (chat.hasNextStep(state)) state = roundTrip(await chat.nextStep(state));
    expect(order(state)).toStrictEqual(wanted);
  });

  test('two who keep addressing each other leave nobody out when they are done', async () => {
    const talk = createChat({
      participants: [
        scriptedParticipant({ name: 'al', says: ['@bea?', 'Enough.'] }),
        scriptedParticipant({ name: 'bea', says: ['@al!'] }),
        ...quiet('cy', 'di'),
      ],
      selector: byMention(),
      ports,
    });
    const end = await talk.run(begin('Go.'));
    expect([order(end), end.status]).toStrictEqual([['al', 'bea', 'al', 'bea', 'al', 'bea', 'al', 'cy', 'di'], 'completed']);
  });

  test('one who is always passed over has a first turn before the round gives anybody a third', async () => {
    const talk = createChat({
      participants: [scriptedParticipant({ name: 'al', says: ['@cy?'] }), ...quiet('bea', 'cy', 'di')],
      selector: byMention(),
      ports,
    });
    const end = await talk.run(begin('Go.'));
    expect([order(end), end.status]).toStrictEqual([['al', 'cy', 'di', 'al', 'cy', 'di', 'bea'], 'completed']);
  });

  test('nobody gets the turn again by addressing themselves', async () => {
    const vain = createChat({
      participants: [scriptedParticipant({ name: 'al', says: ['@al is great'] }), ...quiet('bea')],
      selector: byMention(),
      ports,
    });
    expect(order(await vain.run(begin('Go.')))).toStrictEqual(['al', 'bea']);
  });
});
