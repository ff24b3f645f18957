import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../lib/index.ts';
import { createCountingIds, DamagedDataError, toFrozen } from '../lib/index.ts';
import type { Part, ToolCall, ToolResult } from './index.ts';
import {
  createAnswerMessage,
  createResultMessage,
  Message,
  MessageRole,
  messageRoles,
  reasoningPart,
  textPart,
  toolCallPart,
  toolResultPart,
} from './index.ts';

const call: ToolCall = { id: 'c1', name: 'search', args: { q: 'x' } };
const result: ToolResult = { toolCallId: 'c1', toolName: 'search', output: { type: 'json', value: [1] } };
const throughJson = (message: Message): Message => Message.fromJSON(JSON.parse(JSON.stringify(message)));
const ofEachRole = messageRoles.map((role) => Message.of(role, 'hi', { id: role }));
const rolesThat = (asks: (message: Message) => boolean): readonly string[] => ofEachRole.filter(asks).map(({ role }) => role);

test('isUser is true for user messages only', () => {
  expect(rolesThat((message) => message.isUser())).toEqual(['user']);
});

test('isAssistant is true for assistant messages only', () => {
  expect(rolesThat((message) => message.isAssistant())).toEqual(['assistant']);
});

test('isTool is true for tool messages only', () => {
  expect(rolesThat((message) => message.isTool())).toEqual(['tool']);
});

test('isSystem is true for system and developer messages', () => {
  expect(rolesThat((message) => message.isSystem())).toEqual(['system', 'developer']);
});

test('isDeveloper is true for developer messages only', () => {
  expect(rolesThat((message) => message.isDeveloper())).toEqual(['developer']);
});

test('hasRole is true for any of the given roles, and false for none', () => {
  expect(rolesThat((message) => message.hasRole(MessageRole.User, MessageRole.Tool))).toEqual(['user', 'tool']);
  expect(rolesThat((message) => message.hasRole(MessageRole.System))).toEqual(['system']);
  expect(rolesThat((message) => message.hasRole())).toEqual([]);
});

test('a message is made from words, a part or parts', () => {
  const [text, part, parts] = [Message.user('a'), Message.user(textPart('a')), Message.user([textPart('a'), textPart('b')])];
  expect([text.parts, part.parts, parts.parts]).toEqual([[textPart('a')], [textPart('a')], [textPart('a'), textPart('b')]]);
  expect(parts.text).toBe('a\nb');
});

test('each role has its constructor', () => {
  const made = [Message.system('a'), Message.developer('a'), Message.user('a'), Message.assistant('a'), Message.tool(result)];
  expect(made.map(({ role }) => role)).toEqual(messageRoles);
});

test('the id is given, or counted, or new', () => {
  const ids = createCountingIds('m');
  expect([Message.user('a', { id: 'x', ids }).id, Message.user('a', { ids }).id, Message.user('a', { ids }).id]).toEqual([
    'x',
    'm-1',
    'm-2',
  ]);
  expect(Message.user('a').id).not.toBe(Message.user('a').id);
});

test('name, metadata and provider options are kept; what is absent has no key', () => {
  const full = Message.user('a', { id: '1', name: 'Ann', metadata: { k: 1 }, providerOptions: { p: {} } });
  expect(full).toMatchObject({ name: 'Ann', metadata: { k: 1 }, providerOptions: { p: {} } });
  expect(Object.keys(Message.user('a', { id: '1' })).sort()).toEqual(['id', 'metadata', 'parts', 'role']);
});

test('text and reasoning are read apart; parts that are neither do not count', () => {
  const message = Message.assistant([
    reasoningPart('hm'),
    textPart('a'),
    { type: 'image', url: 'u' },
    reasoningPart('so'),
    textPart('b'),
    toolCallPart(call),
  ]);
  expect([message.text, message.reasoning]).toEqual(['a\nb', 'hm\nso']);
  expect([Message.assistant([]).text, Message.assistant([]).reasoning]).toEqual(['', '']);
});

test('tool calls and results are read as such', () => {
  const raw: ToolCall = { id: 'c2', name: 'n', args: null, rawArgs: '{"q":', providerExecuted: true, providerMetadata: { a: { b: 1 } } };
  expect(Message.assistant([textPart('a'), toolCallPart(call), toolCallPart(raw)]).toolCalls).toEqual([call, raw]);
  expect(Message.tool(result).toolResults).toEqual([result]);
  expect(Message.tool([result, { ...result, toolCallId: 'c2' }]).toolResults.map(({ toolCallId }) => toolCallId)).toEqual(['c1', 'c2']);
  expect([Message.user('a').toolCalls, Message.user('a').toolResults]).toEqual([[], []]);
});

test.each<[string, Message, boolean]>([
  ['no parts', Message.user([]), true],
  ['empty text', Message.user(''), true],
  ['the text 0', Message.user('0'), false],
  ['a blank', Message.user(' '), false],
  ['a tool call', Message.assistant([textPart(''), toolCallPart(call)]), false],
  ['metadata alone', Message.user('', { metadata: { k: 1 } }), false],
])('a message with %s: isEmpty %#', (_, message, expected) => {
  expect(message.isEmpty).toBe(expected);
});

test('copies keep the id and everything that is not changed', () => {
  const message = Message.assistant('a', { id: '1', name: 'Ann', metadata: { k: 1 }, providerOptions: { p: 1 } });
  expect(message.withParts([textPart('b')])).toEqual(new Message({ ...message, parts: [textPart('b')] }));
  expect(message.withText('b').toJSON()).toEqual({ ...message.toJSON(), content: 'b' });
  expect(message.withMetadata('l', null).metadata).toEqual({ k: 1, l: null });
  expect(message.withMetadata('k', 2).metadata).toEqual({ k: 2 });
  expect(message.withName('Bob').toJSON()).toEqual({ ...message.toJSON(), name: 'Bob' });
  expect(message.withProviderOptions({ q: 2 }).toJSON()).toEqual({ ...message.toJSON(), providerOptions: { q: 2 } });
  expect(message.withRole('user').toJSON()).toEqual({ ...message.toJSON(), role: 'user' });
  expect(message.toJSON()).toEqual({
    id: '1',
    role: 'assistant',
    name: 'Ann',
    content: 'a',
    metadata: { k: 1 },
    providerOptions: { p: 1 },
  });
});

test('withText takes the place of the first text and leaves other parts alone', () => {
  const message = Message.assistant([reasoningPart('r'), textPart('a'), toolCallPart(call), textPart('b')]);
  expect(message.withText('c').parts).toEqual([reasoningPart('r'), textPart('c'), toolCallPart(call)]);
  expect(Message.assistant(toolCallPart(call)).withText('c').parts).toEqual([textPart('c'), toolCallPart(call)]);
});

test('the parts cannot be changed from outside', () => {
  const parts: Part[] = [textPart('a')];
  const message = Message.user(parts);
  parts.push(textPart('b'));
  expect(message.text).toBe('a');
  expect(Object.isFrozen(message.parts)).toBe(true);
});

test.each(['', '0', ' ', 'null', 'false', 'ü😀'])('the text %j survives storing (C60)', (text) => {
  const message = Message.user(text, { id: '1' });
  expect(message.toJSON()).toEqual({ id: '1', role: 'user', content: text });
  expect(throughJson(message)).toEqual(message);
});

test('anything but one plain text is stored as parts', () => {
  const marked = Message.user(textPart('a', { providerMetadata: { p: { cache: true } } }), { id: '1' });
  expect(marked.toJSON()).toEqual({ id: '1', role: 'user', parts: marked.parts });
  expect(Message.user([], { id: '1' }).toJSON()).toEqual({ id: '1', role: 'user', parts: [] });
  expect(throughJson(marked)).toEqual(marked);
});

test('a single text may also come as parts, and metadata under its old name', () => {
  const message = Message.fromJSON({ id: '1', role: 'user', parts: [{ type: 'text', text: 'a' }], _metadata: { k: 1 } });
  expect(message).toEqual(Message.user('a', { id: '1', metadata: { k: 1 } }));
});

test.each<[string, unknown, string]>([
  ['an unknown role', { id: '1', role: 'robot', content: '' }, 'message.role'],
  ['no role', { id: '1', content: '' }, 'message.role'],
  ['no id', { role: 'user', content: '' }, 'message.id'],
  ['neither content nor parts', { id: '1', role: 'user' }, 'message'],
  ['both content and parts', { id: '1', role: 'user', content: 'a', parts: [] }, 'message'],
  ['content that is no text', { id: '1', role: 'user', content: 5 }, 'message.content'],
  ['metadata that is no object', { id: '1', role: 'user', content: '', metadata: [1] }, 'message.metadata'],
  ['an unknown part', { id: '1', role: 'user', parts: [{ type: 'hologram' }] }, 'message.parts[0].type'],
  ['text', 'hello', 'message'],
])('%s is refused', (_, json, path) => {
  expect(() => Message.fromJSON(json)).toThrow(DamagedDataError);
  expect(() => Message.fromJSON(json)).toThrow(expect.objectContaining({ path }));
});

test('any message of texts and calls survives storing', () => {
  const text = fc.string({ unit: 'grapheme' });
  // Holds: fast-check's jsonValue makes JSON values only.
  const args = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as ToolCall['args']);
  const part = fc.oneof<fc.Arbitrary<Part>[]>(
    text.map((words) => textPart(words)),
    text.map((words) => reasoningPart(words)),
    fc.record({ id: text, name: text, args }).map(toolCallPart),
    fc.record({ toolCallId: text, toolName: text, output: args.map((value) => ({ type: 'json' as const, value })) }).map(toolResultPart),
  );
  fc.assert(
    fc.property(fc.constantFrom(...messageRoles), fc.array(part), text, (role, parts, id) => {
      const message = Message.of(role, parts, { id });
      expect(throughJson(message)).toEqual(message);
    }),
  );
});

const text = (): fc.Arbitrary<string> => fc.oneof(fc.string(), fc.constantFrom('\uD800', 'a\0b', ''));
const isFrozenThrough = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozenThrough));

test('the message of a result is the one that Message.tool makes, and nobody can change it', () => {
  fc.assert(
    fc.property(text(), text(), fc.oneof(text(), fc.jsonValue()), (toolCallId, toolName, value) => {
      const given = { toolCallId, toolName, output: { type: 'json' as const, value: JSON.parse(JSON.stringify(value)) as Json } };
      const message = createResultMessage(given, () => 'm\0');
      expect(message).toStrictEqual(Message.tool(given, { id: 'm\0' }));
      expect(isFrozenThrough(message)).toBe(true);
    }),
  );
});

test('the message of an answer that was checked is the one that Message.assistant makes', () => {
  const part = fc.oneof(
    fc.string().map((words): Part => textPart(words)),
    fc.string().map((words): Part => reasoningPart(words)),
    fc.jsonValue().map((args): Part => toolCallPart({ ...call, args: JSON.parse(JSON.stringify(args)) as Json })),
  );
  fc.assert(
    fc.property(fc.array(part), (given) => {
      const parts = toFrozen(given);
      const message = createAnswerMessage(parts, () => 'm');
      expect(message).toStrictEqual(Message.assistant(parts, { id: 'm' }));
      expect(isFrozenThrough(message)).toBe(true);
    }),
  );
});
