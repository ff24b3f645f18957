import { describe, expect, test } from 'vitest';
import { ContinuationOutcome, readOutcome, writeOutcome } from './index.ts';
import type { ContinuationEvaluation } from './index.ts';

const toOutcome = (step: number): ContinuationOutcome => {
  const counts: ContinuationEvaluation = { criterion: 'Steps', decision: 'request', reason: `${step} of 9`, context: { step } };
  return ContinuationOutcome.fromEvaluations([counts, { criterion: 'Other', decision: 'allow', reason: 'fine', context: {} }]);
};

/** Outcomes that were written one after the other, and read again. */
function reread(count: number): readonly ContinuationOutcome[] {
  const outcomes = Array.from({ length: count }, (_, index) => toOutcome(index + 1));
  let last: ContinuationOutcome | undefined;
  return outcomes.map((outcome, index) => {
    last = readOutcome(JSON.parse(JSON.stringify(writeOutcome(outcome, outcomes[index - 1]))), 'outcome', last);
    return last;
  });
}

describe('N1: evaluations do not depend on when they are read', () => {
  test.each([
    ['the first one first', (list: readonly ContinuationOutcome[]) => list],
    ['the last one first', (list: readonly ContinuationOutcome[]) => list.toReversed()],
    ['one in the middle first', (list: readonly ContinuationOutcome[]) => [...list.slice(3), ...list.slice(0, 3)]],
  ])('%s', (_, order) => {
    const read = reread(6);
    for (const outcome of order(read)) outcome.explain();
    expect(read.map((outcome) => outcome.toJSON())).toStrictEqual(Array.from({ length: 6 }, (_, index) => toOutcome(index + 1).toJSON()));
  });

  test('they can be listed, copied and compared like any other field', () => {
    const read = reread(3).at(-1) ?? ContinuationOutcome.empty();
    expect(read).toStrictEqual(toOutcome(3));
    expect(read).not.toEqual(toOutcome(2));
    expect([Object.keys(read), { ...read }.evaluations]).toStrictEqual([Object.keys(toOutcome(3)), toOutcome(3).evaluations]);
    const { evaluations } = read;
    expect([read.evaluations === evaluations, Object.isFrozen(evaluations)]).toStrictEqual([true, true]);
  });

  test('changing the source after reading has no effect', () => {
    const written = JSON.parse(JSON.stringify(writeOutcome(toOutcome(2), toOutcome(1)))) as { evaluations: { Steps: { context: object } } };
    const read = readOutcome(written, 'outcome', toOutcome(1));
    written.evaluations.Steps.context = { step: 99 };
    expect(read.toJSON()).toStrictEqual(toOutcome(2).toJSON());
  });
});

test('N2: the last outcome of a long chain can be read first', () => {
  expect(reread(20_000).at(-1)?.evaluations[0]?.reason).toBe('20000 of 9');
});
