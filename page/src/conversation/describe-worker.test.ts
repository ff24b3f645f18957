import { expect, it } from 'vitest';
import { describeWorker } from './describe-worker.ts';

it.each([
  ['names the worker that runs it', { worker: { name: 'worker-1', silent_ms: 400 } }, 'run by worker-1'],
  ['says that the worker is silent', { worker: { name: 'worker-1', silent_ms: 12_000 } }, 'worker-1 gives no sign of life'],
  ['says that none runs it', {}, 'no worker runs it'],
])('%s', (_, facts, text) => {
  expect(describeWorker(facts, true)).toBe(text);
});

it('gives a worker a moment to take a session up', () => {
  expect(describeWorker({}, false)).toBeUndefined();
});
