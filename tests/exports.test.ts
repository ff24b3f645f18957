import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { doors, pinsFile } from '../scripts/doors.mjs';

const howToUpdate = 'If this change is meant, run `npm run pin-exports` and commit tests/exports.json.';
const pins = JSON.parse(readFileSync(pinsFile, 'utf8')) as Record<string, string[]>;

describe('the doors of the package', () => {
  it('are the pinned ones', () => {
    expect(Object.keys(pins).sort(), howToUpdate).toEqual(doors.map(({ name }) => name).sort());
  });

  it.each(doors)('$name lists exactly the pinned runtime names', async ({ name, source }) => {
    expect(existsSync(source), `package.json has the door "${name}", but there is no ${source}.`).toBe(true);
    const names = Object.keys((await import(source)) as object).sort();
    const pinned = pins[name] ?? [];
    expect(
      { added: names.filter((each) => !pinned.includes(each)), removed: pinned.filter((each) => !names.includes(each)) },
      howToUpdate,
    ).toEqual({ added: [], removed: [] });
  });
});
