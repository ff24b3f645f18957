import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CoolDowns } from './cool-down.ts';
import { applyRoute, listCoolingDown, sortByCoolDown, toRowNames } from './cool-down.ts';

const start = Date.UTC(2026, 0, 1);

describe('the cool-down of a model that failed while another one answered', () => {
  test.each([
    [1, 30_000],
    [2, 60_000],
    [3, 120_000],
    [4, 240_000],
    [5, 300_000],
    [6, 300_000],
    [2000, 300_000],
  ])('lasts, after failure %i in a row, %i ms', (failures, ms) => {
    let coolDowns: CoolDowns | undefined;
    for (let count = 0; count < failures; count += 1) coolDowns = applyRoute(coolDowns, { failed: ['p/a'], answered: 'p/b' }, start);
    expect(coolDowns).toStrictEqual({ 'p/a': { failures, until: start + ms } });
    expect(listCoolingDown(coolDowns, start + ms - 1)).toStrictEqual(['p/a']);
    expect(listCoolingDown(coolDowns, start + ms)).toStrictEqual([]);
  });

  test('is forgotten once the model answers', () => {
    const coolDowns = applyRoute(undefined, { failed: ['p/a', 'p/b'], answered: 'p/c' }, start);
    expect(applyRoute(coolDowns, { failed: [], answered: 'p/a' }, start)).toStrictEqual({ 'p/b': { failures: 1, until: start + 30_000 } });
    expect(
      applyRoute(applyRoute(coolDowns, { failed: [], answered: 'p/a' }, start), { failed: [], answered: 'p/b' }, start),
    ).toBeUndefined();
  });

  test('is not lengthened by a clock that was set back', () => {
    const coolDowns = applyRoute(undefined, { failed: ['p/a'], answered: 'p/b' }, start);
    expect(listCoolingDown(coolDowns, start - 3_600_000)).toStrictEqual([]);
  });
});

describe('the order in which models are asked', () => {
  const names = ['p/a', 'p/b', 'p/c'];

  test.each([
    [[], [0, 1, 2]],
    [['p/a'], [1, 2, 0]],
    [['p/b'], [0, 2, 1]],
    [
      ['p/a', 'p/b'],
      [2, 0, 1],
    ],
    [
      ['p/a', 'p/b', 'p/c'],
      [0, 1, 2],
    ],
    [['p/x'], [0, 1, 2]],
  ])('with %j cooling down is %j', (coolingDown, order) => {
    expect(sortByCoolDown(names, coolingDown)).toStrictEqual(order);
  });

  test('has every model once, whatever is cooling down', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 6 }), fc.array(fc.string()), (row, coolingDown) => {
        expect(sortByCoolDown(row, coolingDown).toSorted((left, right) => left - right)).toStrictEqual(row.map((_, index) => index));
      }),
    );
  });
});

test('models of the same name are told apart by their place', () => {
  const model = (modelId: string) => ({ provider: 'p', modelId });
  expect(toRowNames([model('a'), model('b'), model('a'), model('a')])).toStrictEqual(['p/a', 'p/b', 'p/a#2', 'p/a#3']);
});
