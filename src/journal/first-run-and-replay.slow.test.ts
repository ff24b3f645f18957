// What is journaled is what the run goes on with: over many values of every kind, the first run and its replay are the same.
import { createDirectEffects } from '../effects/index.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFakeClock, toCanonical } from '../lib/index.ts';
import { createRunControl } from '../step-by-step/index.ts';
import type { EffectRow } from './journal.ts';
import { Journal } from './journal.ts';

// Node 24.21 reads a key that is one escaped character as another such key that it has read before ('{"\\\\":1}', then '{"\\"":1}').
const keys = fc.string({ unit: 'binary' }).filter((key) => !(key.length === 1 && JSON.stringify(key).length > 3));

const anything = fc.anything({
  key: keys,
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
  stringUnit: 'binary',
  maxDepth: 4,
});

const wrapRows = (rows: EffectRow[]) => {
  const journal = new Journal([...rows], (more) => (rows.push(...more), Promise.resolve()));
  const { clock, control } = { clock: createFakeClock(), control: createRunControl() };
  return journal.wrap(createDirectEffects({ clock, control, onProblem: () => undefined }));
};

test('over 100,000 values, canonical form is a fixed point, and a first run gives what its replay gives', async () => {
  let kept = 0;
  await fc.assert(
    fc.asyncProperty(anything, async (value) => {
      const canonical = toCanonical(value);
      if (canonical.ok) {
        kept += 1;
        expect(toCanonical(canonical.value)).toStrictEqual(canonical);
        expect(JSON.parse(JSON.stringify(canonical.value))).toStrictEqual(canonical.value);
      }
      const rows: EffectRow[] = [];
      const first = await wrapRows(rows).run('tool/1/0', () => value as never, { effect: 'pure' });
      const replayed = await wrapRows(rows).run('tool/1/0', () => 'must not run', { effect: 'pure' });
      expect(replayed).toStrictEqual(first);
      expect(first.ok).toBe(canonical.ok);
    }),
    { numRuns: 100_000 },
  );
  // Most values can be kept; a property that only ever saw refusals would say nothing.
  expect(kept).toBeGreaterThan(50_000);
}, 600_000);
