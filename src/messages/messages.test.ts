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
const texts = (messages: Messages): readonly string[] => messages.map(({ text }) => text);
const calling = Message.assistant([textPart('let me see'), toolCallPart({ id: 'c', name: 't', args: {} })], { id: 'calling' });
const toolAnswer = (id: string): Message => Message.tool({ toolCallId: id, toolName: 't', output: { type: 'text', value: id } }, { id });

test('an empty collection has nothing', () => {
  const none = Messages.empty();
  expect([none.length, none.at(0), none.at(-1), none.text]).toEqual([0, undefined, undefined, '']);
  expect(none.toArray()).toEqual([]);
});

test('messages are found by position', () => {
  expect(talk.length).toBe(5);
  expect([talk.at(0), talk.at(-1), talk.at(1), talk.at(-2), talk.at(9)]).toEqual([rules, followUp, hint, answer, undefined]);
  expect([...talk]).toEqual([rules, hint, question, answer, followUp]);
});

test('appending and joining give new collections', () => {
  const one = Messages.of(question);
  expect(texts(one.append(answer, followUp))).toEqual(['why?', 'because', 'and?']);
  expect(texts(one.concat(Messages.of(answer)))).toEqual(['why?', 'because']);
  expect(texts(one.concat([answer]))).toEqual(['why?', 'because']);
  expect(texts(one)).toEqual(['why?']);
});

test('adding nothing and taking over a collection change nothing', () => {
  expect([talk.append(), talk.concat([]), Messages.from(talk)].every((same) => same === talk)).toBe(true);
});

test('reads like an array', () => {
  const list = [rules, hint, question, answer, followUp];
  const isQuestion = (message: Message): boolean => message.text.endsWith('?');
  expect(talk.map(({ text }, index) => `${index}: ${text}`)).toEqual(list.map(({ text }, index) => `${index}: ${text}`));
  expect(talk.flatMap(({ text, role }) => [role, text])).toEqual(list.flatMap(({ text, role }) => [role, text]));
  expect(talk.filter(isQuestion)).toEqual([question, followUp]);
  expect([talk.slice(1, 3), talk.slice(-2), talk.slice(99), talk.slice()]).toEqual([[hint, question], [answer, followUp], [], list]);
  expect([talk.find(isQuestion), talk.findLast(isQuestion), talk.find(() => false)]).toEqual([question, followUp, undefined]);
  expect([talk.some(isQuestion), talk.every(isQuestion), talk.every((message) => message.text !== '')]).toEqual([true, false, true]);
  const visited: Message[] = [];
  talk.forEach((message) => visited.push(message));
  expect([visited, [...talk]]).toEqual([list, list]);
});

test("the arrays that it gives are the reader's own", () => {
  talk.slice().pop();
  talk.filter(() => true).reverse();
  talk.map((message) => message).push(question);
  expect([...talk]).toEqual([rules, hint, question, answer, followUp]);
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
  const merged = talk.remapRoles({ system: 'user', developer: 'user' }).mergePerRole();
  expect(texts(merged)).toEqual(['be kind\nbe brief\nwhy?', 'because', 'and?']);
  expect(merged.at(0)?.id).toBe(rules.id);
});

test('tool messages, messages with calls and different speakers are never merged', () => {
  const spoken = Messages.of(answer, calling, toolAnswer('1'), toolAnswer('2'), answer, calling);
  expect(spoken.mergePerRole().toArray()).toEqual(spoken.toArray());
  const speakers = Messages.of(question.withName('Ann'), question.withName('Bob'), question.withName('Bob'));
  expect(speakers.mergePerRole().length).toBe(2);
});

test('merging keeps metadata and provider options, the later ones winning', () => {
  const merged = Messages.of(
    question.withMetadata('a', 1).withMetadata('b', 1),
    followUp.withMetadata('b', 2).withProviderOptions({ c: 3 }),
  ).mergePerRole();
  expect(merged.at(-1)).toMatchObject({ metadata: { a: 1, b: 2 }, providerOptions: { c: 3 } });
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
      const merged = Messages.from(list).mergePerRole();
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
  expect([talk.since(longer), Messages.from(talk.slice(1)).since(talk), talk.since(Messages.from(talk.slice(1)))]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(talk.append(answer).since(talk.append(question))).toBeUndefined();
  expect(longer.since(Messages.of(...talk))?.length).toBe(2);
});

test('a message that says the same is another one to an earlier version', () => {
  const again = Messages.fromJSON(JSON.parse(JSON.stringify(talk)));
  expect([again.since(talk), talk.since(again)]).toEqual([undefined, undefined]);
});
