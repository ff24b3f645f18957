import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { findNodeProblem } from './find-node-problem.ts';

test.each(['v20.20.2', 'v22.12.0', 'v18.0.0'])('%s is too old', (version) => {
  expect(findNodeProblem(version)).toBe(`stepline needs Node 22.13 or later. This is ${version}.`);
});

test.each(['v22.13.0', 'v22.23.3', 'v24.0.0'])('%s is new enough', (version) => {
  expect(findNodeProblem(version)).toBeUndefined();
});

test('the oldest release is the one in package.json', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { engines: { node: string } };
  expect(engines.node).toBe('>=22.13');
});
