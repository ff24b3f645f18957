// docs/migration.md: what its table calls the same is exported under that name, by that entry point.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { entryPoints } from '../scripts/entry-points.mjs';
import { readExportedNames } from '../scripts/exported-names.mjs';
import { root } from '../scripts/run.mjs';

interface Row {
  readonly names: readonly string[];
  readonly entry: string;
  readonly isSame: boolean;
}

const listCode = (cell: string): readonly string[] => Array.from(cell.matchAll(/`([^`]+)`/g), ([, code = '']) => code);

/** Names of types and functions; members stand in brackets behind their type. */
const listNames = (cell: string): readonly string[] =>
  listCode(cell.replaceAll(/\([^)]*\)/g, '')).filter((code) => /^[A-Za-z]+$/.test(code));

const page = readFileSync(join(root, 'docs/migration.md'), 'utf8');
const [, table = ''] = page.split('## Every name');
const rows: readonly Row[] = [...(table.split('\n## ')[0] ?? '').matchAll(/^\| (.+?) +\| (.+?) +\| (.*?) *\|$/gm)].map(
  ([, there = '', here = '', where = '']) => {
    const isSame = here.startsWith('same');
    return { names: listNames(isSame ? there : (here.split('(')[0] ?? '')), entry: listCode(where)[0] ?? '', isSame };
  },
);
const same = rows.filter(({ isSame, entry }) => isSame && entry !== '');

const listExports = (entry: string): readonly string[] => {
  const { values, types } = readExportedNames(entryPoints.find(({ name }) => name === entry.replace('stepline', '.'))?.source ?? '');
  return [...values, ...types];
};

describe('the table of names', () => {
  it('has many rows', () => {
    expect(same.length).toBeGreaterThan(20);
  });

  it.each(same)('calls the same what $entry exports: $names', ({ names, entry }) => {
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !listExports(entry).includes(name))).toStrictEqual([]);
  });
});
