import { describe, expect, test } from 'vitest';
import { createCountingIds } from '../../lib/index.ts';
import { Message, toolCallPart, toolResultPart } from '../../messages/index.ts';
import { messageWindow } from './message-window.ts';

// u: user, s: system, a: assistant, o: observation; c1 c2: a message with the calls 1 and 2; r1: the result of call 1.
function createMessages(sketch: string): readonly Message[] {
  const ids = createCountingIds('m');
  return sketch
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => {
      const calls = word.slice(1).split('+');
      const options = { id: word, ids };
      switch (word[0]) {
        case 's':
          return Message.system(word, options);
        case 'a':
          return Message.assistant(word, options);
        case 'o':
          return Message.user(word, { ...options, metadata: { purpose: 'observation' } });
        case 'c':
          return Message.assistant(
            calls.map((id) => toolCallPart({ id, name: 'work', args: {} })),
            options,
          );
        case 'r':
          return Message.tool(
            calls.map((id) => ({ toolCallId: id, toolName: 'work', output: { type: 'text', value: 'done' } }) as const),
            options,
          );
        default:
          return Message.user(word, options);
      }
    });
}

const listShown = (sketch: string, max: number): string =>
  messageWindow(createMessages(sketch), max)
    .messages.map(({ id }) => id)
    .join(' ');

describe('the window on a conversation', () => {
  test.each([
    // W1
    ['', 3, ''],
    ['u1 a1 u2 a2', Infinity, 'u1 a1 u2 a2'],
    ['u1 a1 u2 a2', 4, 'u1 a1 u2 a2'],
    ['u1 a1 u2 a2', 3, 'a1 u2 a2'],
    ['u1 a1 u2 a2', 1, 'a2'],
    ['u1 a1 u2 a2', 0, ''],
    // W2
    ['s1 u1 a1 u2 a2', 3, 's1 u2 a2'],
    ['s1 u1 a1 u2 a2', 2, 's1 a2'],
    ['s1 u1 a1 u2 a2', 1, 'a2'],
    ['s1 s2 u1 a1 u2 a2', 3, 'a1 u2 a2'],
    ['s1 s2 u1 a1 u2 a2', 4, 's1 s2 u2 a2'],
    ['s1 s2 s3', 2, 's2 s3'],
    ['s1 s2', 0, ''],
    // W3
    ['u1 c1 r1 a1', 3, 'c1 r1 a1'],
    ['u1 c1 r1 a1', 2, 'a1'],
    ['u1 c1+2 r1 r2 a1', 4, 'c1+2 r1 r2 a1'],
    ['u1 c1+2 r1 r2 a1', 3, 'a1'],
    ['u1 c1+2 r1 r2 a1', 2, 'a1'],
    ['u1 c1+2 r1+2', 1, ''],
    ['u1 c1 u2 r1 a1', 3, 'u2 a1'],
    ['c1 r1 c2 r2 c3 r3', 3, 'c3 r3'],
    ['s1 c1 r1 c2 r2', 4, 's1 c2 r2'],
    ['r9 u1', 5, 'u1'],
    ['u1 a1 o1 a2 o2', 4, 'a1 o1 a2 o2'],
    ['u1 a1 o1 a2 o2', 3, 'a2 o2'],
    ['u1 a1 o1', 1, ''],
  ])('of %j, %d at most, shows %j', (sketch, max, expected) => {
    expect(listShown(sketch, max)).toBe(expected);
    const { messages, dropped } = messageWindow(createMessages(sketch), max);
    expect(dropped).toBe(createMessages(sketch).length - messages.length);
  });

  test('drops a single result whose call is not shown, and keeps what else the message holds', () => {
    const result = (id: string) => toolResultPart({ toolCallId: id, toolName: 'work', output: { type: 'text', value: id } });
    const [said, both] = [createMessages('c1')[0]!, Message.of('tool', [result('1'), result('2')], { id: 'both' })];
    const { messages, dropped } = messageWindow([said, both], 5);
    expect(messages.map(({ toolResults }) => toolResults.map(({ toolCallId }) => toolCallId))).toEqual([[], ['1']]);
    expect(dropped).toBe(0);
  });

  test('looks at nothing but its own messages and the first one (W4)', () => {
    const messages = createMessages(Array.from({ length: 5000 }, (_, index) => `u${index}`).join(' '));
    const looked: number[] = [];
    const list = {
      length: messages.length,
      at: (index: number) => {
        looked.push(index);
        return messages[index];
      },
    };
    expect(messageWindow(list, 2).messages.map(({ id }) => id)).toEqual(['u4998', 'u4999']);
    expect([...new Set(looked)]).toEqual([0, 4998, 4999]);
  });
});
