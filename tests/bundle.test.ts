import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleDoors } from '../scripts/bundle.mjs';
import { doors } from '../scripts/doors.mjs';
import { root } from '../scripts/run.mjs';

const cache = join(root, '.cache');
let folder = '';

beforeAll(async () => {
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, 'bundle-'));
  await bundleDoors(folder);
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const bundled = (built: string): string => join(folder, relative(join(root, 'dist'), built));

/** How much of the front door a user's bundler keeps, in characters. */
async function keptOf(names: string): Promise<number> {
  const input = join(folder, 'user.js');
  writeFileSync(input, `export ${names} from './index.js';`);
  const bundle = await rolldown({ input });
  const { output } = await bundle.generate({ minify: true });
  await bundle.close();
  return output.reduce((sum, file) => sum + (file.type === 'chunk' ? file.code.length : 0), 0);
}

describe('the bundled doors', () => {
  it('give the same object for the same name, whichever door it comes through', async () => {
    const modules = await Promise.all(
      doors.map(async ({ source, built }) => ({
        fromSource: (await import(source)) as Record<string, unknown>,
        fromBundle: (await import(bundled(built))) as Record<string, unknown>,
      })),
    );
    const split = modules.flatMap((one) =>
      modules.flatMap((other) =>
        Object.keys(one.fromSource).filter(
          (name) => one.fromSource[name] === other.fromSource[name] && one.fromBundle[name] !== other.fromBundle[name],
        ),
      ),
    );
    expect(split).toEqual([]);
  });

  it('let a bundler drop what is not used', async () => {
    const whole = await keptOf('*');
    expect(whole).toBeGreaterThan(10_000);
    expect((await keptOf('{ defineTool }')) / whole).toBeLessThan(0.4);
    // A class that needs nothing else: whatever more is kept computes something while it loads.
    expect(await keptOf('{ SteplineError }')).toBeLessThan(1000);
  });
});
