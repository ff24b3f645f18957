import { describe, expect, it } from 'vitest';
import { allowedNames, findCommentProblem, findNameProblem } from '../scripts/plain-words.mjs';

const findDocProblem = (text: string): string | undefined => findCommentProblem({ type: 'Block', value: `* ${text} ` });
const findLineProblem = (text: string): string | undefined => findCommentProblem({ type: 'Line', value: ` ${text}` });

describe('the lint rule for names of functions', () => {
  it.each(['settled', 'begun', 'told', 'checkedWait', 'shownPath', 'usageOf', 'wordsOf'])('refuses %s', (name) => {
    expect(findNameProblem(name)).toContain(`"${name}"`);
  });

  it.each(['settle', 'need', 'embed', 'parseWait', 'getUsage', 'stepsLimit', 'indexOfStep', 'proofread', 'of'])('accepts %s', (name) => {
    expect(findNameProblem(name)).toBeUndefined();
  });

  it.each(Object.entries(allowedNames))('accepts %s for a reason', (name, reason) => {
    expect(findNameProblem(name)).toBeUndefined();
    expect(findNameProblem(`${name}Of`)).toBeDefined();
    expect(reason.length).toBeGreaterThan(20);
  });
});

describe('the lint rule for comments', () => {
  it.each(['What a turn came to.', 'Who it is.', 'Where time comes from.', 'How it is stored.', 'Whether it is open.', 'Which one it is.'])(
    'refuses a doc comment that begins as "%s"',
    (text) => {
      expect(findDocProblem(text)).toContain('begins with');
      expect(findCommentProblem({ type: 'Block', value: `*\n * ${text}\n ` })).toContain('begins with');
      expect(findLineProblem(text)).toBeUndefined();
    },
  );

  it.each(['A slow machine is no fault.', 'Words before a call are no answer.'])('refuses "%s"', (text) => {
    expect(findDocProblem(text)).toContain(' not a …');
    expect(findLineProblem(text)).toContain(' not a …');
  });

  it.each([
    'Undefined if there is no such session.',
    'It is no longer open.',
    'Messages sent to the model.',
    'Whatever it is, it is kept.',
  ])('accepts "%s"', (text) => {
    expect(findDocProblem(text)).toBeUndefined();
  });
});
