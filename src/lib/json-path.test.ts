import { expect, test } from 'vitest';
import { childPath } from './quote-text.ts';

test('a path reads like the code that would go there', () => {
  expect(childPath('', 'steps')).toBe('steps');
  expect(childPath('steps', 2)).toBe('steps[2]');
  expect(childPath('steps[2]', 'usage')).toBe('steps[2].usage');
  expect(childPath('usage', 'cache read')).toBe('usage["cache read"]');
  expect(childPath('', '')).toBe('[""]');
});
