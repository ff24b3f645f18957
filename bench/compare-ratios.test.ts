import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareRatios } from './compare-ratios.ts';

describe('ratios that are compared with stored ones', () => {
  it('may grow by half', () => {
    expect(compareRatios({ loop: 10 }, { loop: 15 })).toEqual([]);
  });

  it('name the row and both figures if they grow by more', () => {
    expect(compareRatios({ loop: 10, agent: 20 }, { loop: 15.1, agent: 20 })).toEqual([
      'loop: 15.10 × by hand, stored 10.00 ×. At most 15.00 × is allowed.',
    ]);
  });

  it('fail if a row is not stored yet', () => {
    expect(compareRatios({}, { loop: 1 })).toEqual(['loop: no ratio is stored. Store it with npm run bench -- --store.']);
  });

  it('fail if a stored row is no longer measured', () => {
    expect(compareRatios({ loop: 2 }, {})).toEqual(['loop: stored as 2.00 × by hand, but not measured. Store again if the row is gone.']);
  });

  it('fail if a figure is not a number', () => {
    expect(compareRatios({ loop: 2 }, { loop: Number.NaN })).toHaveLength(1);
  });

  it('never fail if everything became cheaper', () => {
    const ratios = fc.dictionary(fc.string({ minLength: 1 }), fc.double({ min: 0.1, max: 1e6, noNaN: true }));
    fc.assert(
      fc.property(ratios, fc.double({ min: 0.01, max: 1, noNaN: true }), (stored, factor) => {
        const measured = Object.fromEntries(Object.entries(stored).map(([name, ratio]) => [name, ratio * factor]));
        expect(compareRatios(stored, measured)).toEqual([]);
      }),
    );
  });
});
