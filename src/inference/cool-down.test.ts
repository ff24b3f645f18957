import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scriptedModel } from '../testing/index.ts';
import type { CoolDowns, RowMember } from './cool-down.ts';
import { applyRoute, listCoolingDown, sortByCoolDown, toRow } from './cool-down.ts';
import type { Model } from './model.ts';

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
    let now = start;
    for (let count = 0; count < failures; count += 1) {
      now = coolDowns?.['p/a']?.until ?? start;
      coolDowns = applyRoute(coolDowns, { failed: ['p/a'], answered: 'p/b' }, now);
    }
    expect(coolDowns).toStrictEqual({ 'p/a': { failures, until: now + ms } });
    expect(listCoolingDown(coolDowns, now + ms - 1)).toStrictEqual(['p/a']);
    expect(listCoolingDown(coolDowns, now + ms)).toStrictEqual([]);
  });

  test('is not lengthened by failures that come while it lasts', () => {
    const route = { failed: ['p/a'], answered: 'p/b' };
    const coolDowns = applyRoute(undefined, route, start);
    expect(applyRoute(applyRoute(coolDowns, route, start), route, start + 29_999)).toStrictEqual(coolDowns);
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

const model = (modelId: string): Model => scriptedModel([], { provider: 'p', modelId });
const getNames = (row: readonly RowMember[]): string => row.map(({ name }) => name).join(' ');

describe('the order in which models are asked', () => {
  const row = toRow([model('a'), model('b'), model('c')]);

  test.each([
    [[], 'p/a p/b p/c'],
    [['p/a'], 'p/b p/c p/a'],
    [['p/b'], 'p/a p/c p/b'],
    [['p/a', 'p/b'], 'p/c p/a p/b'],
    [['p/a', 'p/b', 'p/c'], 'p/a p/b p/c'],
    [['p/x'], 'p/a p/b p/c'],
  ])('with %j cooling down is %s', (coolingDown, order) => {
    expect(getNames(sortByCoolDown(row, coolingDown))).toBe(order);
  });

  test('has every model once, whatever is cooling down', () => {
    const name = fc.constantFrom('p/a', 'p/b', 'p/c', 'p/a#2', 'p/x');
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 6 }), fc.array(name), (ids, coolingDown) => {
        const members = toRow(ids.map(model));
        expect(new Set(sortByCoolDown(members, coolingDown))).toStrictEqual(new Set(members));
      }),
    );
  });
});

test('models of the same name are told apart by their place', () => {
  expect(getNames(toRow([model('a'), model('b'), model('a'), model('a')]))).toBe('p/a p/b p/a#2 p/a#3');
});
