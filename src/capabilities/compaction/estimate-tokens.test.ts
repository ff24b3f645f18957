import { describe, expect, test } from 'vitest';
import type { Part } from '../../messages/index.ts';
import { Message } from '../../messages/index.ts';
import { estimateTokens } from './estimate-tokens.ts';

const ofForty = 'x'.repeat(40);

describe('the estimate', () => {
  test.each<[string, readonly Part[], number]>([
    ['nothing, which is the message itself', [], 4],
    ['words at four characters a token', [{ type: 'text', text: ofForty }], 14],
    ['a begun token as a whole one', [{ type: 'text', text: 'xxxxx' }], 6],
    ['what was thought', [{ type: 'reasoning', text: ofForty }], 14],
    ['a call with its arguments', [{ type: 'tool-call', toolCallId: '1', toolName: 'look', args: { q: 'xx' } }], 8],
    ['arguments as the model wrote them', [{ type: 'tool-call', toolCallId: '1', toolName: 'look', args: {}, rawArgs: ofForty }], 15],
    ['a result', [{ type: 'tool-result', toolCallId: '1', toolName: 'look', output: { type: 'text', value: ofForty } }], 15],
    ['a result that is JSON', [{ type: 'tool-result', toolCallId: '1', toolName: 'look', output: { type: 'json', value: [1, 22] } }], 7],
    ['a picture as 1,000, whatever its data', [{ type: 'image', data: ofForty.repeat(1000) }], 1004],
    [
      'a picture among the parts of a result',
      [
        {
          type: 'tool-result',
          toolCallId: '1',
          toolName: 'look',
          output: {
            type: 'content',
            parts: [
              { type: 'text', text: ofForty },
              { type: 'image', url: 'https://x.org/a.png' },
            ],
          },
        },
      ],
      1015,
    ],
    [
      'all parts together',
      [
        { type: 'text', text: ofForty },
        { type: 'reasoning', text: ofForty },
      ],
      24,
    ],
  ])('counts %s', (_, parts, tokens) => {
    expect(estimateTokens(Message.assistant(parts, { id: 'm' }))).toBe(tokens);
  });
});
