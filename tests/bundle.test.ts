import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleEntryPoints } from '../scripts/bundle.mjs';
import { entryPoints } from '../scripts/entry-points.mjs';
import { root } from '../scripts/run.mjs';

const cache = join(root, '.cache');
let folder = '';

beforeAll(async () => {
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, 'bundle-'));
  await bundleEntryPoints(folder);
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const toBundled = (built: string): string => join(folder, relative(join(root, 'dist'), built));

const importAll = () =>
  Promise.all(
    entryPoints.map(async ({ name, source, built }) => ({
      entry: name,
      fromSource: (await import(source)) as Record<string, unknown>,
      fromBundle: (await import(toBundled(built))) as Record<string, unknown>,
    })),
  );

/** Returns how many characters of the root a user's bundler keeps. */
async function countKept(names: string): Promise<number> {
  const input = join(folder, 'user.js');
  writeFileSync(input, `export ${names} from './entry/index.js';`);
  const bundle = await rolldown({ input });
  const { output } = await bundle.generate({ minify: true });
  await bundle.close();
  return output.reduce((sum, file) => sum + (file.type === 'chunk' ? file.code.length : 0), 0);
}

describe('the bundled entry points', () => {
  it('give the same object for the same name, whichever entry point it comes from', async () => {
    const modules = await importAll();
    const split = modules.flatMap((one) =>
      modules.flatMap((other) =>
        Object.keys(one.fromSource).filter(
          (name) => one.fromSource[name] === other.fromSource[name] && one.fromBundle[name] !== other.fromBundle[name],
        ),
      ),
    );
    expect(split).toEqual([]);
  });

  it('share their classes: a base class is the same object in every entry point', async () => {
    const modules = await importAll();
    const classes = modules.flatMap((module) => Object.keys(module.fromSource).map((name) => ({ ...module, name })));
    const pairs = classes.flatMap((child) => {
      const base: unknown = typeof child.fromSource[child.name] === 'function' ? Object.getPrototypeOf(child.fromSource[child.name]) : null;
      return classes.flatMap((parent) => (parent.fromSource[parent.name] === base ? [{ child, parent }] : []));
    });
    expect(pairs.filter(({ child, parent }) => child.entry !== parent.entry).length).toBeGreaterThan(10);
    const split = pairs.filter(
      ({ child, parent }) => Object.getPrototypeOf(child.fromBundle[child.name]) !== parent.fromBundle[parent.name],
    );
    expect(split.map(({ child, parent }) => `${child.name} extends another ${parent.name}`)).toEqual([]);
  });

  it('have the packages that they use inside, with their licences', () => {
    const files = readdirSync(join(folder, 'modules')).filter((file) => file.endsWith('.js'));
    const code = files.map((file) => readFileSync(join(folder, 'modules', file), 'utf8')).join('\n');
    expect(code).toContain('@noble/hashes');
    expect(code).not.toMatch(/from\s*["']@noble\//);
    const notices = readFileSync(join(folder, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    expect(notices).toMatch(/^@noble\/hashes \d+\.\d+\.\d+ \(MIT\)$/m);
    expect(notices).toContain('Permission is hereby granted, free of charge');
  });

  it('let a bundler drop what is not used', async () => {
    const whole = await countKept('*');
    expect(whole).toBeGreaterThan(10_000);
    expect((await countKept('{ defineTool }')) / whole).toBeLessThan(0.4);
    // A class that needs nothing else: whatever more is kept computes something while it loads.
    expect(await countKept('{ SteplineError }')).toBeLessThan(1000);
  });

  it('drop an unused module completely, even if the bundler does not know that modules have no side effects', async () => {
    const modules = readdirSync(join(folder, 'modules')).filter((file) => file.endsWith('.js'));
    expect(modules.length).toBeGreaterThan(20);
    const input = join(folder, 'unused.js');
    writeFileSync(input, modules.map((file) => `import './modules/${file}';`).join(''));
    const untold = { name: 'untold', load: (id: string) => ({ code: readFileSync(id, 'utf8'), moduleSideEffects: true }) };
    const bundle = await rolldown({ input, platform: 'neutral', external: /^[^./]|files\.js$/, plugins: [untold] });
    const { output } = await bundle.generate({ minify: true });
    await bundle.close();
    // Names that are taken out of a table of constants stay, with the table.
    expect(output[0].code.length).toBeLessThan(1000);
  });
});
