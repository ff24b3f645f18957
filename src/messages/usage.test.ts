import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DamagedDataError, InvalidArgumentError } from '../lib/index.ts';
import { Usage } from './index.ts';

const count = fc.nat({ max: 1_000_000_000 });
const usages = fc
  .record(
    { input: count, output: count, cacheRead: count, cacheWrite: count, reasoning: count, unknownCalls: count },
    { requiredKeys: ['input', 'output'] },
  )
  .map((counts) => Usage.of(counts));

test('total is input and output; cached and reasoning tokens are part of them (C59)', () => {
  const usage = Usage.of({ input: 100, output: 20, cacheRead: 80, cacheWrite: 10, reasoning: 5 });
  expect(usage).toStrictEqual({ input: 100, output: 20, total: 120, cacheRead: 80, cacheWrite: 10, reasoning: 5 });
});

test('reasoning above the output was counted beside it, and is added', () => {
  expect(Usage.of({ input: 10, output: 3, reasoning: 7 })).toStrictEqual({ input: 10, output: 10, total: 20, reasoning: 7 });
  expect(Usage.of({ input: 10, output: 7, reasoning: 7 }).total).toBe(17);
});

test('there is no upper bound (C59)', () => {
  expect(Usage.add(Usage.of({ input: 5e9, output: 0 }), Usage.of({ input: 5e9, output: 1 })).total).toBe(1e10 + 1);
});

test('none is one frozen value and unknown is not none', () => {
  expect(Usage.none()).toBe(Usage.none());
  expect(Object.isFrozen(Usage.none())).toBe(true);
  expect([Usage.isNone(Usage.none()), Usage.isNone(Usage.of({ input: 0, output: 0 })), Usage.isNone(Usage.unknown())]).toEqual([
    true,
    true,
    false,
  ]);
  expect(Usage.isNone(Usage.of({ input: 0, output: 0, cacheRead: 1 }))).toBe(false);
});

test('unknown calls stay visible in the sum', () => {
  const known = Usage.of({ input: 1, output: 2 });
  const sum = Usage.add(Usage.add(Usage.unknown(), known), Usage.unknown());
  expect(sum).toStrictEqual({ input: 1, output: 2, total: 3, unknownCalls: 2 });
});

test('adding none gives the other operand itself', () => {
  const usage = Usage.of({ input: 1, output: 2 });
  expect(Usage.add(usage, Usage.none())).toBe(usage);
  expect(Usage.add(Usage.none(), usage)).toBe(usage);
});

test('a breakdown that neither side has stays absent', () => {
  expect(Usage.add(Usage.of({ input: 1, output: 1, cacheRead: 1 }), Usage.of({ input: 1, output: 1 }))).toStrictEqual({
    input: 2,
    output: 2,
    total: 4,
    cacheRead: 1,
  });
});

test('the order of adding does not matter', () => {
  fc.assert(
    fc.property(usages, usages, usages, (a, b, c) => {
      expect(Usage.add(a, b)).toEqual(Usage.add(b, a));
      expect(Usage.add(Usage.add(a, b), c)).toEqual(Usage.add(a, Usage.add(b, c)));
    }),
  );
});

test('usage survives storing', () => {
  fc.assert(
    fc.property(usages, (usage) => {
      expect(Usage.fromJSON(JSON.parse(JSON.stringify(Usage.toJSON(usage))))).toStrictEqual(usage);
    }),
  );
});

test.each([-1, NaN, Infinity])('a count of %d is refused', (bad) => {
  expect(() => Usage.of({ input: bad, output: 0 })).toThrow(InvalidArgumentError);
  expect(() => Usage.of({ input: 0, output: bad })).toThrow('Usage.output');
  expect(() => Usage.of({ input: 0, output: 0, reasoning: bad })).toThrow(InvalidArgumentError);
  expect(() => Usage.fromJSON({ input: 0, output: 0, cacheRead: bad })).toThrow(DamagedDataError);
});

test('stored usage without its counts is damaged', () => {
  expect(() => Usage.fromJSON({ input: 1 })).toThrow('usage.output');
  expect(() => Usage.fromJSON(null, 'step.usage')).toThrow('step.usage');
});
