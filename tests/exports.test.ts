import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { entryPoints } from '../scripts/entry-points.mjs';
import type { ExportedNames } from '../scripts/exported-names.mjs';
import { pinsFile, readExportedNames } from '../scripts/exported-names.mjs';

const howToUpdate = 'If this change is intended, run `npm run pin-exports` and commit tests/exports.json.';
const pins = JSON.parse(readFileSync(pinsFile, 'utf8')) as Record<string, ExportedNames>;

// A name is easy to add later and hard to take back. Take one out before you raise these.
const maxRootNames = 144;
const maxNames = 620;

const compare = (names: readonly string[], pinned: readonly string[]) => ({
  added: names.filter((each) => !pinned.includes(each)),
  removed: pinned.filter((each) => !names.includes(each)),
});
const count = ({ values, types }: ExportedNames): number => values.length + types.length;

describe('the entry points of the package', () => {
  it('are the pinned ones', () => {
    expect(Object.keys(pins).sort(), howToUpdate).toEqual(entryPoints.map(({ name }) => name).sort());
  });

  it.each(entryPoints)('$name lists exactly the pinned values and types', async ({ name, source }) => {
    expect(existsSync(source), `package.json has the entry point "${name}", but there is no ${source}.`).toBe(true);
    const { values, types } = readExportedNames(source);
    const pinned = pins[name] ?? { values: [], types: [] };
    expect({ values: compare(values, pinned.values), types: compare(types, pinned.types) }, howToUpdate).toEqual({
      values: { added: [], removed: [] },
      types: { added: [], removed: [] },
    });
    expect(Object.keys((await import(source)) as object).sort()).toEqual(values);
  });

  it(`list at most ${String(maxRootNames)} names in the root and ${String(maxNames)} altogether`, () => {
    const counts = entryPoints.map(({ name, source }) => ({ name, names: count(readExportedNames(source)) }));
    expect(counts.find(({ name }) => name === '.')?.names).toBeLessThanOrEqual(maxRootNames);
    expect(counts.reduce((sum, { names }) => sum + names, 0)).toBeLessThanOrEqual(maxNames);
  });
});
