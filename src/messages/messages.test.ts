import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { DamagedDataError } from '../lib/index.ts';
import type { MessageRole } from './index.ts';
import { Message, messageRoles, Messages, textPart, toolCallPart } from './index.ts';

const say = (role: MessageRole, text: string): Message => Message.of(role, text, { id: `${role}:${text}` });
const [rules, hint, question, answer, followUp] = [
  say('system', 'be kind'),
  say('developer', 'be brief'),
  say('user', 'why?'),
  say('assistant', 'because'),
  say('user', 'and?'),
];
const talk = Messages.of(rules, hint, question, answer, followUp);
const texts = (messages: Messages): readonly string[] => messages.toArray().map(({ text }) => text);
const calling = Message.assistant([textPart('let me see'), toolCallPart({ id: 'c', name: 't', args: {} })], { id: 'calling' });
const toolAnswer = (id: string): Message => Message.tool({ toolCallId: id, toolName: 't', output: { type: 'text', value: id } }, { id });

test('an empty collection has nothing', () => {
  const none = Messages.empty();
  expect([none.length, none.isEmpty, none.first, none.last, none.at(0), none.text]).toEqual([0, true, undefined, undefined, undefined, '']);
  expect(none.toArray()).toEqual([]);
});

test('messages are found by position', () => {
  expect([talk.length, talk.isEmpty]).toEqual([5, false]);
  expect([talk.first, talk.last, talk.at(1), talk.at(-2), talk.at(9)]).toEqual([rules, followUp, hint, answer, undefined]);
  expect([...talk]).toEqual([rules, hint, question, answer, followUp]);
});

test('appending, prepending and joining give new collections', () => {
  const one = Messages.of(question);
  expect(texts(one.append(answer, followUp))).toEqual(['why?', 'because', 'and?']);
  expect(texts(one.prepend(rules, hint))).toEqual(['be kind', 'be brief', 'why?']);
  expect(texts(one.concat(Messages.of(answer)))).toEqual(['why?', 'because']);
  expect(texts(one.concat([answer]))).toEqual(['why?', 'because']);
  expect(texts(one)).toEqual(['why?']);
});

test('adding nothing and taking over a collection change nothing', () => {
  expect(
    [talk.append(), talk.prepend(), talk.concat([]), talk.dropFirst(0), talk.dropLast(0), Messages.from(talk)].every(
      (same) => same === talk,
    ),
  ).toBe(true);
});

test('the first or the last ones can be left out', () => {
  expect(texts(talk.dropFirst())).toEqual(['be brief', 'why?', 'because', 'and?']);
  expect(texts(talk.dropFirst(4))).toEqual(['and?']);
  expect(texts(talk.dropLast())).toEqual(['be kind', 'be brief', 'why?', 'because']);
  expect([talk.dropFirst(99).length, talk.dropLast(99).length]).toEqual([0, 0]);
});

test('roles select and exclude', () => {
  expect(texts(talk.forRoles('user'))).toEqual(['why?', 'and?']);
  expect(texts(talk.forRoles('system', 'assistant'))).toEqual(['be kind', 'because']);
  expect(texts(talk.exceptRoles('system', 'developer'))).toEqual(['why?', 'because', 'and?']);
  expect(talk.forRoles().length).toBe(0);
});

test('the head of some roles and the tail after it make up the whole', () => {
  expect(texts(talk.headWithRoles('system', 'developer'))).toEqual(['be kind', 'be brief']);
  expect(texts(talk.tailAfterRoles('system', 'developer'))).toEqual(['why?', 'because', 'and?']);
  expect([talk.headWithRoles('user').length, talk.tailAfterRoles('user').length]).toEqual([0, 5]);
  expect([talk.headWithRoles(...messageRoles).length, talk.tailAfterRoles(...messageRoles).length]).toEqual([5, 0]);
});

test('roles are remapped, ids stay', () => {
  const mapped = talk.remapRoles({ system: 'user', developer: 'user' });
  expect(mapped.toArray().map(({ role }) => role)).toEqual(['user', 'user', 'user', 'assistant', 'user']);
  expect(mapped.toArray().map(({ id }) => id)).toEqual(talk.toArray().map(({ id }) => id));
  expect(mapped.at(2)).toBe(question);
});

test('neighbours of one role become one message', () => {
  const merged = talk.remapRoles({ system: 'user', developer: 'user' }).mergedPerRole();
  expect(texts(merged)).toEqual(['be kind\nbe brief\nwhy?', 'because', 'and?']);
  expect(merged.first?.id).toBe(rules.id);
});

test('tool messages, messages with calls and different speakers are never merged', () => {
  const spoken = Messages.of(answer, calling, toolAnswer('1'), toolAnswer('2'), answer, calling);
  expect(spoken.mergedPerRole().toArray()).toEqual(spoken.toArray());
  const speakers = Messages.of(question.withName('Ann'), question.withName('Bob'), question.withName('Bob'));
  expect(speakers.mergedPerRole().length).toBe(2);
});

test('merging keeps metadata and provider options, the later ones winning', () => {
  const merged = Messages.of(
    question.withMetadata('a', 1).withMetadata('b', 1),
    followUp.withMetadata('b', 2).withProviderOptions({ c: 3 }),
  ).mergedPerRole();
  expect(merged.last).toMatchObject({ metadata: { a: 1, b: 2 }, providerOptions: { c: 3 } });
});

test('filter, map and reversed', () => {
  expect(texts(talk.filter((message) => message.text.endsWith('?')))).toEqual(['why?', 'and?']);
  expect(texts(talk.map((message) => message.withText(message.role)))).toEqual(['system', 'developer', 'user', 'assistant', 'user']);
  expect(texts(talk.reversed())).toEqual(['and?', 'because', 'why?', 'be brief', 'be kind']);
});

test('the text is all texts, one below the other, composite messages too', () => {
  expect(Messages.of(question, toolAnswer('1'), calling, answer).text).toBe('why?\nlet me see\nbecause');
});

test('messages survive storing', () => {
  const all = talk.append(calling, toolAnswer('1'), Message.user('', { id: 'empty' }));
  expect(Messages.fromJSON(JSON.parse(JSON.stringify(all))).toArray()).toEqual(all.toArray());
  expect(() => Messages.fromJSON({})).toThrow(DamagedDataError);
  expect(() => Messages.fromJSON([{ id: '1', role: 'x', content: '' }])).toThrow('messages[0].role');
});

test('appending one by one copies nothing', () => {
  const copies = vi.spyOn(Array.prototype, 'slice');
  try {
    let grown = Messages.empty();
    for (let index = 0; index < 1_000; index += 1) grown = grown.append(question);
    expect([copies.mock.calls.length, grown.length]).toEqual([0, 1_000]);
  } finally {
    copies.mockRestore();
  }
});

test('merging changes neither the words nor their order', () => {
  const message = fc
    .tuple(fc.constantFrom<MessageRole>('user', 'assistant', 'system'), fc.string({ minLength: 1 }))
    .map(([role, text]) => say(role, text));
  fc.assert(
    fc.property(fc.array(message), (list) => {
      const merged = Messages.from(list).mergedPerRole();
      expect(merged.text).toBe(Messages.from(list).text);
      const roles = merged.toArray().map(({ role }) => role);
      expect(roles.every((role, index) => role !== roles[index + 1])).toBe(true);
    }),
  );
});

test('what was appended since an earlier version is told; of what is no beginning, nothing', () => {
  const longer = talk.append(calling, toolAnswer('1'));
  expect(longer.since(talk)?.map(({ id }) => id)).toEqual(['calling', '1']);
  expect([talk.since(talk), talk.since(Messages.empty())]).toEqual([[], talk.toArray()]);
  expect([talk.since(longer), talk.dropFirst().since(talk), talk.since(talk.dropFirst())]).toEqual([undefined, undefined, undefined]);
  expect(talk.append(answer).since(talk.append(question))).toBeUndefined();
  expect(longer.since(Messages.of(...talk))?.length).toBe(2);
});

test('a message that says the same is another one to an earlier version', () => {
  const again = Messages.fromJSON(JSON.parse(JSON.stringify(talk)));
  expect([again.since(talk), talk.since(again)]).toEqual([undefined, undefined]);
});
