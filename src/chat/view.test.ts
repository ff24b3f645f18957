import { describe, expect, test } from 'vitest';
import { AppendOnlyList, createCountingIds, createFakeClock } from '../lib/index.ts';
import { Message, MessageStore, SectionName, textPart } from '../messages/index.ts';
import type { Part } from '../messages/index.ts';
import type { ParticipantWindow } from './index.ts';
import { ChatState, createChat, functionParticipant, scriptedParticipant } from './index.ts';
import { toView, getChangedWindow, getWindow } from './view.ts';

const [clock, ids] = [createFakeClock(), createCountingIds()];
const empty = (): ChatState => ChatState.empty({ clock, ids });
const turn = (name: string, said: string | readonly Part[], role: 'user' | 'assistant' = 'assistant'): Message =>
  new Message({ id: ids(), role, parts: typeof said === 'string' ? [textPart(said)] : said, name, metadata: { turn: true } });
const of = (...messages: readonly Message[]): ChatState => empty().withMessages(messages);
const read = (state: ChatState, participant: string): readonly string[] =>
  toView(state, participant, 'q')
    .toMessages()
    .toArray()
    .map(({ role, text }) => `${role}: ${text}`);
const createQuestion = (text: string, name?: string): Message => Message.user(text, { id: ids(), ...(name !== undefined && { name }) });

describe('roles', () => {
  test.each([
    { what: 'its own words, said as the assistant', message: turn('eve', 'Mine.'), seen: 'assistant: Mine.' },
    { what: 'its own words, said as a user', message: turn('eve', 'Mine.', 'user'), seen: 'assistant: Mine.' },
    { what: "another model's words", message: turn('max', 'His.'), seen: 'user: [max] His.' },
    { what: "a person's words", message: turn('ann', 'Hers.', 'user'), seen: 'user: [ann] Hers.' },
    { what: 'words from outside', message: createQuestion('Please.'), seen: 'user: Please.' },
    { what: 'words from outside under a name', message: createQuestion('Please.', 'Bob'), seen: 'user: [input from Bob] Please.' },
    {
      what: 'words from outside under its own name',
      message: createQuestion('I said so.', 'eve'),
      seen: 'user: [input from eve] I said so.',
    },
    { what: 'a system message from outside', message: Message.system('Be kind.', { id: 's' }), seen: 'system: Be kind.' },
  ])('$what are seen as "$seen"', ({ message, seen }) => {
    expect(read(of(message, createQuestion('And?')), 'eve')).toStrictEqual([seen, 'user: And?']);
  });

  test('the same conversation, seen by each', () => {
    const state = of(createQuestion('Go.'), turn('a', 'One.'), turn('b', 'Two.'), turn('a', 'Three.'), createQuestion('So?'));
    expect(read(state, 'a')).toStrictEqual(['user: Go.', 'assistant: One.', 'user: [b] Two.', 'assistant: Three.', 'user: So?']);
    expect(read(state, 'b')).toStrictEqual(['user: Go.', 'user: [a] One.', 'assistant: Two.', 'user: [a] Three.', 'user: So?']);
    expect(read(state, 'new')).toStrictEqual(['user: Go.', 'user: [a] One.', 'user: [b] Two.', 'user: [a] Three.', 'user: So?']);
  });

  test('messages keep their ids, and the conversation stays as it was', () => {
    const state = of(createQuestion('Go.'), turn('a', 'One.'), turn('b', 'Two.'));
    const before = JSON.stringify(state);
    expect(
      toView(state, 'a', 'q')
        .toMessages()
        .toArray()
        .map(({ id }) => id),
    ).toStrictEqual(state.messages.toArray().map(({ id }) => id));
    expect(JSON.stringify(state)).toBe(before);
  });

  test('turns in which nothing was said are not shown', () => {
    expect(read(of(createQuestion('Go.'), turn('b', ''), turn('c', '  \n')), 'a')).toStrictEqual(['user: Go.']);
  });

  test('a picture gets the name before it', () => {
    const picture: Part = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as never;
    const [, seen] = toView(of(createQuestion('Go.'), turn('b', [picture])), 'a', 'q')
      .toMessages()
      .toArray();
    expect([seen?.parts.map(({ type }) => type), seen?.text]).toStrictEqual([['text', 'image'], '[b]']);
  });
});

describe('a model is never asked without a question', () => {
  test.each([
    { what: 'nothing was said', state: of() },
    { what: 'only silence', state: of(turn('b', '')) },
    { what: 'a system message alone', state: of(Message.system('Be kind.', { id: 's' })) },
    { what: 'its own words are the last', state: of(createQuestion('Go.'), turn('a', 'Mine.')) },
    { what: 'its own words are the last but silence', state: of(createQuestion('Go.'), turn('a', 'Mine.'), turn('b', '')) },
  ])('where $what', ({ state }) => {
    const last = toView(state, 'a', 'the-question').toMessages().toArray().at(-1);
    expect([last?.role, last?.id, (last?.text ?? '') !== '']).toStrictEqual(['user', 'the-question', true]);
  });

  test('and nothing is put in where somebody has asked', () => {
    expect(read(of(createQuestion('Go.'), turn('b', 'Yours?')), 'a')).toHaveLength(2);
  });
});

const withWindow = async (window: ParticipantWindow): Promise<ChatState> => {
  const chat = createChat({
    participants: [scriptedParticipant({ name: 'a', says: ['one', 'two'] }), functionParticipant({ name: 'b', speak: () => 'yes' })],
    ports: { clock, ids },
  });
  const state = await chat.run(empty().withUserMessage('Go.', { ids }));
  const { execution } = state;
  const [first, ...others] = execution.results.toArray();
  if (first === undefined) throw new Error('no step');
  const marked = Object.assign(Object.create(Object.getPrototypeOf(first) as object) as typeof first, first, {
    step: { ...first.step, window },
  });
  return state.evolve({ execution: { ...execution, results: AppendOnlyList.from([marked, ...others]) } });
};
const summary = new Message({ id: 'sum', role: 'user', parts: [textPart('They greeted.')] });

describe('a window', () => {
  test('is found on the steps of its participant alone', async () => {
    const state = await withWindow({ folded: 1, buffered: 1, summary });
    expect([getWindow(state, 'a')?.folded, getWindow(state, 'b')]).toStrictEqual([1, undefined]);
    expect(read(state, 'b')).toContain('user: Go.');
  });

  test('shows the summary, then what is left, and never shortens the conversation', async () => {
    const state = await withWindow({ folded: 2, buffered: 2, summary });
    expect(read(state, 'a')).toStrictEqual(['user: They greeted.', 'user: [b] yes']);
    expect(state.messages.length).toBe(3);
  });

  test('keeps the buffer between the two, and messages that were kept out of the summary', async () => {
    const whole = await withWindow({ folded: 0, buffered: 0 });
    const [first] = whole.messages.toArray();
    const state = await withWindow({ folded: 1, buffered: 2, kept: [first?.id ?? ''], summary });
    expect(
      toView(state, 'a', 'q')
        .section(SectionName.Buffer)
        .toArray()
        .map(({ text }) => text),
    ).toContain('one');
  });

  test('is the same after JSON', async () => {
    const state = await withWindow({ folded: 1, buffered: 2, kept: ['k'], summary });
    const again = ChatState.fromJSON(JSON.parse(JSON.stringify(state)));
    expect(JSON.stringify(getWindow(again, 'a'))).toBe(JSON.stringify(getWindow(state, 'a')));
    expect(read(again, 'a')).toStrictEqual(read(state, 'a'));
  });
});

describe('the window that a turn leaves behind', () => {
  const [one, two, three] = [createQuestion('One.'), turn('b', 'Two.'), turn('a', 'Three.')];
  const state = of(one, two, three);
  const listRemaining = (messages: readonly Message[], buffer: readonly Message[] = [], told?: Message) => {
    const store = MessageStore.fromMessages(messages).withSection(SectionName.Buffer, buffer);
    return getChangedWindow(state, 'a', { store: told === undefined ? store : store.withSection(SectionName.Summary, [told]), made: [] });
  };

  test.each([
    { what: 'nothing where nothing was moved', window: listRemaining([one, two, three]), wanted: undefined },
    { what: 'a buffer', window: listRemaining([two, three], [one]), wanted: { folded: 0, buffered: 1 } },
    { what: 'a summary', window: listRemaining([three], [], summary), wanted: { folded: 2, buffered: 2, summary } },
    { what: 'a summary and a buffer', window: listRemaining([three], [two], summary), wanted: { folded: 1, buffered: 2, summary } },
    {
      what: 'one that was kept out of the summary',
      window: listRemaining([three], [one], summary),
      wanted: { folded: 2, buffered: 2, kept: [one.id], summary },
    },
    { what: 'everything folded', window: listRemaining([], [], summary), wanted: { folded: 3, buffered: 3, summary } },
  ])('is $what', ({ window, wanted }) => {
    expect(window).toStrictEqual(wanted);
  });
});
