import { expect, test } from 'vitest';
import { checkKeys, findKeyProblem } from './check-keys.ts';
import { InvalidArgumentError } from './invalid-argument-error.ts';

const known = ['model', 'instructions', 'limits', 'settings', 'errors', 'id'];

test('accepts options whose keys are all known', () => {
  expect(findKeyProblem('createAgent()', { limits: {} }, known)).toBeUndefined();
  checkKeys('createAgent()', {}, known);
});

test('throws with the unknown option and the valid ones', () => {
  const call = (): void => checkKeys('createAgent()', { color: 1 }, ['model', 'limits']);
  expect(call).toThrow(new InvalidArgumentError('Unknown option "color" in createAgent(). Valid options: model, limits.'));
});

test.each([
  ['modle', 'Did you mean "model"?'],
  ['Model', 'Did you mean "model"?'],
  ['limit', 'Did you mean "limits"?'],
  ['instruction', 'Did you mean "instructions"?'],
  ['erorrs', 'Did you mean "errors"?'],
  ['ix', 'Valid options: model, instructions, limits, settings, errors, id.'],
])('suggests the option that %s was meant to be', (name, advice) => {
  expect(findKeyProblem('createAgent()', { [name]: 1 }, known)).toBe(`Unknown option "${name}" in createAgent(). ${advice}`);
});

test.each([
  ['system', 'Use instructions.'],
  ['llm', 'Use model.'],
  ['name', 'Use id.'],
  ['maxSteps', 'Use limits.steps.'],
  ['temperature', 'Use settings.temperature.'],
])('translates %s, the name in another library', (name, advice) => {
  expect(findKeyProblem('createAgent()', { [name]: 1 }, known)).toBe(`Unknown option "${name}" in createAgent(). ${advice}`);
});

test('gives no advice that leads to an option the function does not have', () => {
  expect(findKeyProblem('limits', { maxSteps: 1 }, ['steps'])).toBe('Unknown option "maxSteps" in limits. Use steps.');
  expect(findKeyProblem('limits', { system: 1 }, ['steps'])).toBe('Unknown option "system" in limits. Valid options: steps.');
});

test('prefers advice of the function itself', () => {
  const keys = { known, hints: { system: 'There is none here.' } };
  expect(findKeyProblem('limits', { system: 1 }, keys)).toBe('Unknown option "system" in limits. There is none here.');
});

test('does not mistake methods of Object for advice', () => {
  expect(findKeyProblem('createAgent()', { toString: 1 }, ['model'])).toBe(
    'Unknown option "toString" in createAgent(). Valid options: model.',
  );
});
