import { expect, test } from 'vitest';
import { renderText } from './page.ts';

const style = (_name: unknown, text: string): string => text;

test('a wrapped line keeps its indentation', () => {
  const text = 'On the way:\n  Step 1: search failed, index offline';
  expect(renderText({ width: 24, style }, text)).toBe('On the way:\n  Step 1: search failed,\n  index offline');
  expect(renderText({ width: undefined, style }, text, '> ')).toBe('> On the way:\n>   Step 1: search failed, index offline');
});
