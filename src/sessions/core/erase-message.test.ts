import { expect, test } from 'vitest';
import type { LogEntry } from '../store/session-store.ts';
import { eraseMessage } from './erase-message.ts';

const toEntry = (n: number, body: unknown, events?: unknown): LogEntry => ({
  n,
  at: n,
  isSnapshot: false,
  body: JSON.stringify(body),
  ...(events !== undefined && { events: JSON.stringify(events) }),
});

const message = { id: 'm', role: 'user', content: 'the secret' };

test('events that name the message lose their words, and those of inner runs that repeat them', () => {
  const entries = [
    toEntry(1, { action: { type: 'send', message, at: 1 } }, [
      {},
      { type: 'UserMessageReceived', seq: 1, messageId: 'm', text: 'a secret word' },
    ]),
    toEntry(2, {}, [
      { agentId: 'a' },
      { type: 'AgentStepCompleted', seq: 2, messageId: 'inner', text: 'the secret', errorMessages: ['the secret', 'other'] },
      { type: 'AgentStepCompleted', seq: 3, messageId: 'other', text: 'the secret is safe' },
    ]),
    toEntry(3, { change: { lastSeq: 3 } }, [{}, { type: 'AgentFinished', seq: 4, status: 'completed' }]),
  ];
  const rewritten = eraseMessage('s', entries, 'm');
  expect(rewritten.map(({ n }) => n)).toEqual([1, 2]);
  const [first, second] = rewritten.map(({ body, events = '' }) => ({
    body: JSON.parse(body) as unknown,
    events: JSON.parse(events) as unknown,
  }));
  expect(first).toEqual({
    body: { action: { type: 'send', message: { ...message, content: '[erased]' }, at: 1 } },
    events: [{}, { type: 'UserMessageReceived', seq: 1, messageId: 'm', text: '[erased]' }],
  });
  expect(second?.events).toEqual([
    { agentId: 'a' },
    { type: 'AgentStepCompleted', seq: 2, messageId: 'inner', text: '[erased]', errorMessages: ['[erased]', 'other'] },
    { type: 'AgentStepCompleted', seq: 3, messageId: 'other', text: 'the secret is safe' },
  ]);
});

test('other messages that say the same stay', () => {
  const other = { id: 'other', role: 'assistant', content: 'the secret' };
  const [rewritten] = eraseMessage('s', [toEntry(1, { messages: [message, other] })], 'm');
  expect(JSON.parse(rewritten?.body ?? '')).toEqual({ messages: [{ ...message, content: '[erased]' }, other] });
});

test('pictures, files, thoughts and what a provider keeps go with the words', () => {
  const parts = [
    { type: 'reasoning', text: 'thought', providerMetadata: { p: { signature: 'x' } } },
    { type: 'image', data: 'AAAA' },
    { type: 'tool-call', toolCallId: 'c', toolName: 'find', args: { a: 1 }, rawArgs: '{"a":1}', providerMetadata: { p: {} } },
  ];
  const entry = toEntry(1, { messages: [{ id: 'm', role: 'assistant', parts, providerOptions: { p: {} } }] });
  const [rewritten] = eraseMessage('s', [entry], 'm');
  expect(JSON.parse(rewritten?.body ?? '')).toEqual({
    messages: [
      {
        id: 'm',
        role: 'assistant',
        parts: [
          { type: 'text', text: '[erased]' },
          { type: 'tool-call', toolCallId: 'c', toolName: 'find', args: {} },
        ],
      },
    ],
  });
});

test('a log that cannot be read is damage of its session', () => {
  expect(() => eraseMessage('s', [{ n: 1, at: 1, isSnapshot: true, body: '{"a' }], 'm')).toThrow(/Session "s" is damaged/);
});
