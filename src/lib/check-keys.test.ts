import { expect, test } from 'vitest';
import { checkKeys, findKeyProblem } from './check-keys.ts';
import { InvalidArgumentError } from './invalid-argument-error.ts';

const keys = { known: ['model', 'limits'], hints: { maxSteps: 'Use limits.steps.' } };

test('accepts options whose keys are all known', () => {
  expect(findKeyProblem('createAgent()', { limits: {} }, keys)).toBeUndefined();
  checkKeys('createAgent()', {}, keys);
});

test('names the unknown option, with the advice for it or the list of options', () => {
  const call = (options: object) => () => {
    checkKeys('createAgent()', options, keys);
  };
  expect(call({ maxSteps: 3 })).toThrow(new InvalidArgumentError('Unknown option "maxSteps" in createAgent(). Use limits.steps.'));
  expect(call({ modle: 1 })).toThrow(new InvalidArgumentError('Unknown option "modle" in createAgent(). It takes model, limits.'));
});

test('does not mistake methods of Object for advice', () => {
  expect(findKeyProblem('createAgent()', { toString: 1 }, keys)).toBe(
    'Unknown option "toString" in createAgent(). It takes model, limits.',
  );
});
