import { expect, test } from 'vitest';
import type { ToolOutput } from './index.ts';
import { textPart, toolResultText } from './index.ts';

test.each<[ToolOutput, string]>([
  [{ type: 'text', value: 'as it is' }, 'as it is'],
  [{ type: 'text', value: '' }, ''],
  [{ type: 'json', value: 'as it is' }, 'as it is'],
  [{ type: 'json', value: { a: [1, null] } }, '{"a":[1,null]}'],
  [{ type: 'json', value: null }, 'null'],
  [{ type: 'json', value: true }, 'true'],
  [{ type: 'json', value: false }, 'false'],
  [{ type: 'json', value: 0 }, '0'],
  [{ type: 'error', value: 'File "a" does not exist.' }, 'File "a" does not exist.'],
  [{ type: 'rejected', reason: 'too expensive' }, 'The call was rejected: too expensive'],
  [{ type: 'rejected', reason: '' }, 'The call was rejected.'],
  [
    {
      type: 'content',
      parts: [
        textPart('see'),
        { type: 'image', data: '', mediaType: 'image/png' },
        { type: 'image', url: 'u' },
        { type: 'file', id: 'f', mediaType: 'a/b', filename: 'a.pdf' },
        { type: 'file', id: 'f', mediaType: 'a/b' },
      ],
    },
    'see\n[image image/png]\n[image]\n[file a.pdf]\n[file a/b]',
  ],
])('%j reads %j', (output, text) => {
  expect(toolResultText(output)).toBe(text);
});
