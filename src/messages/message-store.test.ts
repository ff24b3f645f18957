import { expect, test, vi } from 'vitest';
import { DamagedDataError, InvalidArgumentError } from '../lib/index.ts';
import { Message, Messages, MessageStore, SectionName } from './index.ts';

const user = (text: string): Message => Message.user(text, { id: text });
const store = MessageStore.empty()
  .append('notes', user('n'))
  .append(SectionName.Messages, user('m1'), user('m2'))
  .append(SectionName.Summary, user('s'))
  .append(SectionName.Buffer, user('b'));
const texts = (messages: Messages): readonly string[] => messages.map(({ text }) => text);

test('an empty store has no sections', () => {
  const none = MessageStore.empty();
  expect([none.names, none.isEmpty, none.has('messages'), none.section('messages').length, none.toMessages().length]).toEqual([
    [],
    true,
    false,
    0,
    0,
  ]);
});

test('sections keep the order in which they were made', () => {
  expect(store.names).toEqual(['notes', 'messages', 'summary', 'buffer']);
  expect([store.has('notes'), store.has('other'), store.isEmpty]).toEqual([true, false, false]);
});

test('a section that is missing reads as empty, and reading does not make it', () => {
  expect(store.section('other').length).toBe(0);
  expect(store.section('other').append(user('x')).length).toBe(1);
  expect([store.section('other').length, store.has('other')]).toEqual([0, false]);
});

test('appending adds to the end of one section and leaves the old store alone', () => {
  const grown = store.append('messages', user('m3'));
  expect([texts(grown.section('messages')), texts(store.section('messages'))]).toEqual([
    ['m1', 'm2', 'm3'],
    ['m1', 'm2'],
  ]);
});

test('appending nothing does nothing, not even make a section', () => {
  expect(store.append('messages')).toBe(store);
  expect(store.append('other')).toBe(store);
});

test('a section can be replaced in its place', () => {
  const replaced = store.withSection('messages', [user('x')]);
  expect(texts(replaced.section('messages'))).toEqual(['x']);
  expect(replaced.names).toEqual(store.names);
  expect(store.withSection('other', Messages.empty()).has('other')).toBe(true);
});

test('a cleared section stays, a removed one goes', () => {
  const cleared = store.clear('messages');
  expect([cleared.has('messages'), cleared.section('messages').length, cleared.names]).toEqual([true, 0, store.names]);
  const removed = store.remove('messages');
  expect([removed.has('messages'), removed.names]).toEqual([false, ['notes', 'summary', 'buffer']]);
  expect([store.clear('other'), store.remove('other')]).toEqual([store, store]);
});

test('a renamed section keeps its place', () => {
  const renamed = store.rename('messages', 'old');
  expect(renamed.names).toEqual(['notes', 'old', 'summary', 'buffer']);
  expect(texts(renamed.section('old'))).toEqual(['m1', 'm2']);
  expect([store.rename('other', 'x'), store.rename('notes', 'notes')].every((same) => same === store)).toBe(true);
  expect(() => store.rename('messages', 'notes')).toThrow(InvalidArgumentError);
});

test('a selection follows the order in which it is asked for', () => {
  expect(texts(store.select(['messages', 'notes', 'other', 'summary']))).toEqual(['m1', 'm2', 'n', 's']);
  expect(store.select([]).length).toBe(0);
});

test('a model reads summary, buffer and messages, in this order, and no private section', () => {
  expect(texts(store.toMessages())).toEqual(['s', 'b', 'm1', 'm2']);
});

test('merging appends section by section; new sections follow', () => {
  const merged = store.merge(MessageStore.empty().append('extra', user('e')).append('messages', user('m3')));
  expect(merged.names).toEqual(['notes', 'messages', 'summary', 'buffer', 'extra']);
  expect([texts(merged.section('messages')), texts(merged.section('extra'))]).toEqual([['m1', 'm2', 'm3'], ['e']]);
  expect(store.has('extra')).toBe(false);
});

test('a store is made from messages', () => {
  expect(texts(MessageStore.fromMessages([user('a')]).section('messages'))).toEqual(['a']);
  expect(MessageStore.fromMessages(Messages.of(user('a')), 'buffer').names).toEqual(['buffer']);
});

test('a store survives storing, order and empty sections included', () => {
  const kept = store.clear('notes');
  const read = MessageStore.fromJSON(JSON.parse(JSON.stringify(kept)));
  expect(read.names).toEqual(kept.names);
  expect(read.toJSON()).toEqual(kept.toJSON());
  expect(read.section('messages').toArray()).toEqual(kept.section('messages').toArray());
});

test.each<[string, unknown, string]>([
  ['no sections', {}, 'messageStore.sections'],
  ['a section without a name', { sections: [{ messages: [] }] }, 'messageStore.sections[0].name'],
  ['a section without messages', { sections: [{ name: 'a' }] }, 'messageStore.sections[0].messages'],
  [
    'a section that comes twice',
    {
      sections: [
        { name: 'a', messages: [] },
        { name: 'a', messages: [] },
      ],
    },
    'messageStore.sections[1]',
  ],
  ['a broken message', { sections: [{ name: 'a', messages: [{}] }] }, 'messageStore.sections[0].messages[0]'],
])('%s is refused', (_, json, path) => {
  expect(() => MessageStore.fromJSON(json)).toThrow(DamagedDataError);
  expect(() => MessageStore.fromJSON(json)).toThrow(expect.objectContaining({ path }));
});

test('a conversation of thousands of messages is appended and read without copying', () => {
  const copies = vi.spyOn(Array.prototype, 'slice');
  try {
    let grown = MessageStore.empty();
    for (let index = 0; index < 2_000; index += 1) {
      grown = grown.append(SectionName.Messages, user(String(index)));
      expect(grown.toMessages()).toBe(grown.section('messages'));
    }
    expect(copies.mock.calls.filter(([from]) => from === 0)).toEqual([]);
  } finally {
    copies.mockRestore();
  }
});
