import { expect, test } from 'vitest';
import { describeEffect, describeRefusal } from './describe-effect.ts';

test.each([
  [[], undefined],
  [['person'], undefined],
  [['approval'], 'A message gives up the waiting call. Decide above to keep it.'],
  [['approval', 'client-tool'], 'A message gives up the 2 waiting calls. Decide above to keep them.'],
])('a message while %j waits: %s', (types, words) => {
  expect(describeEffect(types.map((type) => ({ type })))).toBe(words);
});

test('a session says why it takes no message', () => {
  expect(describeRefusal([{ type: 'grant' }])).toBe('Grant more, or end here, before you send another message.');
});
