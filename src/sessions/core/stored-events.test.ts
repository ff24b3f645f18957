import { expect, test } from 'vitest';
import { UserMessageReceived } from './action-events.ts';
import { writeBody } from './entries.ts';
import { readEvents, writeEvents } from './stored-events.ts';

const text = 'Where is my order? '.repeat(20);
const header = { id: 'x/1', seq: 1, at: 5, agentId: 'a', agentName: 'desk', sessionId: 's', executionId: 'x', stepNumber: 0 };
const by = { id: 'ann', kind: 'user' };
const event = new UserMessageReceived(header, by, { messageId: 'm', text });
const send = { type: 'send', message: { id: 'm', role: 'user', content: text }, by, at: 5 } as const;

test('a long text that the body holds is written once, and read whole', () => {
  const body = { action: send };
  const events = writeEvents([event], body);
  expect(events).not.toContain(text);
  expect(readEvents('s', { events, body: writeBody(body) })).toMatchObject([
    { type: 'UserMessageReceived', text, id: 'x/1', sessionId: 's' },
  ]);
});

test('a text that the body does not hold is written with its event', () => {
  expect(readEvents('s', { events: writeEvents([event], {}), body: '{}' })).toMatchObject([{ text }]);
});

test('a text that was erased from the body is erased from its events', () => {
  const events = writeEvents([event], { action: send });
  const body = writeBody({ action: { ...send, message: { ...send.message, content: '[erased]' } } });
  expect(readEvents('s', { events, body })).toMatchObject([{ text: '[erased]' }]);
});

test('writing an event leaves it as it was, however deep the text is in it', () => {
  const nested = new UserMessageReceived(header, by, { messageId: 'm', text: 'Hello', content: [{ type: 'text', text }] });
  const before = JSON.stringify(nested);
  const body = { action: send };
  const events = writeEvents([nested], body);
  expect(events).not.toContain(text);
  expect(JSON.stringify(nested)).toBe(before);
  expect(readEvents('s', { events, body: writeBody(body) })).toMatchObject([{ content: [{ type: 'text', text }] }]);
});
