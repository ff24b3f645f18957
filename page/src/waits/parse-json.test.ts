import { describe, expect, it } from 'vitest';
import { parseJson } from './parse-json.ts';

describe('arguments that a person edits', () => {
  it.each<[string, unknown]>([
    ['{ "amount": 5 }', { amount: 5 }],
    ['[1, 2]', [1, 2]],
    ['null', null],
  ])('%s are read', (text, value) => {
    expect(parseJson(text)).toEqual({ value });
  });

  it('that are empty come with an example', () => {
    expect(parseJson('  \n')).toEqual({ problem: 'Write the arguments as JSON, for example { "amount": 5 }.' });
  });

  it('that are broken name the line', () => {
    expect(parseJson('{\n  "a": 1,\n  b: 2\n}')).toEqual({ problem: 'This is not valid JSON yet. Look at line 3, column 3.' });
    expect(parseJson('{ "a": ')).toMatchObject({ problem: expect.stringMatching(/^This is not valid JSON yet\. /) as string });
  });
});
