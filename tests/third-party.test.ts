// Licences of what is bundled and of what development needs.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../scripts/run.mjs';
import { countLicences, findUnknownLicences, listDevelopmentPackages, toNotices } from '../scripts/third-party.mjs';

describe('the notices of bundled code', () => {
  it('have the licence of every package that a module comes from, once', () => {
    const notices = toNotices(
      ['node_modules/commander/index.js', 'node_modules/commander/lib/option.js', 'src/cli/main.ts'].map((file) => join(root, file)),
    );
    expect(notices.match(/^commander \d+\.\d+\.\d+ \(MIT\)$/gm)).toHaveLength(1);
    expect(notices).toContain('Permission is hereby granted, free of charge');
  });
});

describe('the licences of what development needs', () => {
  const [name, version] = ['some-package', '1.0.0'];

  it('are all agreed to', () => {
    const packages = listDevelopmentPackages([
      ...['.', 'bench/peers', 'site', 'site/peers', 'tests/browser', 'tests/engines', 'tests/postgres', 'tests/release'],
    ]);
    expect(packages.length).toBeGreaterThan(300);
    expect(findUnknownLicences(packages)).toEqual([]);
  });

  it.each(['GPL-3.0-only', 'not named', '(GPL-2.0 OR AGPL-3.0)'])('do not include %s', (license) => {
    expect(findUnknownLicences([{ name, version, license }])).toHaveLength(1);
  });

  it('may be one of several to choose from', () => {
    expect(findUnknownLicences([{ name, version, license: '(AFL-2.1 OR BSD-3-Clause)' }])).toEqual([]);
  });

  it('must all be agreed to if they hold together', () => {
    const find = (license: string) => findUnknownLicences([{ name, version, license }]);
    expect(find('(Apache-2.0 AND BSD-3-Clause)')).toEqual([]);
    expect(find('Apache-2.0 AND LGPL-3.0-or-later')).toHaveLength(1);
  });

  it('have exceptions for single packages', () => {
    const license = 'LGPL-3.0-or-later';
    expect(findUnknownLicences([{ name: '@img/sharp-libvips-linux-x64', version, license }])).toEqual([]);
    expect(findUnknownLicences([{ name, version, license }])).toHaveLength(1);
  });

  it('are counted, most first', () => {
    const toPackage = (license: string) => ({ name, version, license });
    expect(countLicences(['ISC', 'MIT', 'MIT'].map(toPackage))).toEqual([
      ['MIT', 2],
      ['ISC', 1],
    ]);
  });
});
